"""The program around the commands: help, versions, errors that tell nothing."""

import gc
import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import sklearn_deid
from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span, save, write_corpus
from sklearn_deid.cli import annotating, main, program
from sklearn_deid.cli.failures import CrashReport, one_line, remember_interrupts
from sklearn_deid.cli.run_record import RunRecord
from sklearn_deid.exceptions import WithheldWarning

COMMANDS = ("train", "tag", "redact", "serve", "evaluate", "convert", "demo")


def in_new_process(*arguments, **options):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


PIPES = """
import os, sys
from sklearn_deid.cli import main

read, write = os.pipe()
os.close(read)
{}
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "streams",
    ["os.dup2(write, 1), os.dup2(write, 2)", "sys.stdout = sys.stderr = None", "os.dup2(os.open('/dev/full', 1), 2)"],
    ids=["readers that went away", "no console", "a full log"],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux")
def test_streams_that_nobody_reads_end_no_run(tmp_path, streams):
    """``redact ... 2>&1 | head`` ended with code 1, as if some notes were withheld, and a training lost its model."""
    (tmp_path / "raw").mkdir()
    for name in "abc":
        (tmp_path / "raw" / f"{name}.txt").write_text("Seen on 3 May 2020.", encoding="utf-8")
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "model")
    command = ["redact", "raw", "--model", "model", "--output", "out"]
    done = in_new_process("-u", "-c", PIPES.format(streams), *command, cwd=tmp_path)
    assert (done.returncode, len(list((tmp_path / "out").iterdir()))) == (0, 3)


def test_results_that_a_full_disk_cannot_hold_are_an_error(tmp_path):
    code = PIPES.format("os.dup2(os.open('/dev/full', 1), 1)")
    write_corpus([Document("a", "Ann", (Span(0, 3, "PATIENT"),))], tmp_path / "in.jsonl")
    done = in_new_process("-c", code, "convert", "in.jsonl", "out", "--to", "brat", cwd=tmp_path)
    assert (done.returncode, "No space left" in done.stderr) == (2, True)


def test_letters_that_the_encoding_of_an_output_lacks_are_codes(tmp_path):
    """Where output is redirected, Windows may write code page 1252: an id ended ``evaluate`` with a traceback."""
    gold = Document("\u0141ukasz", "Ann", (Span(0, 3, "PATIENT"),))
    write_corpus([gold], tmp_path / "gold.jsonl")
    write_corpus([replace(gold, spans=())], tmp_path / "found.jsonl")
    command = ["-m", "sklearn_deid", "evaluate", "gold.jsonl", "found.jsonl", "--leaks"]
    done = in_new_process(*command, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "cp1252"})
    assert (done.returncode, "\\u0141ukasz" in done.stdout) == (0, True)


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs /dev/stdin")
@pytest.mark.parametrize(
    "command",
    [
        "train /dev/stdin --format jsonl --model out --epochs 1",
        "evaluate /dev/stdin in.jsonl --format jsonl",
        "convert /dev/stdin out.jsonl --from jsonl --to jsonl",
        "signoff - --output out --sample 1",
        "audit --redacted - --names names.txt --output out.json",
    ],
)
def test_what_is_read_twice_is_no_pipe(tmp_path, command):
    """The second reading found nothing: unread notes were trained on, and a sign-off showed an empty note."""
    lines = '{"doc_id": "a", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "NAME"}]}\n'
    lines += '{"doc_id": "b", "text": "Zyxwvutski"}\n'
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "names.txt").write_text("Roe", encoding="utf-8")
    done = in_new_process("-m", "sklearn_deid", *command.split(), cwd=tmp_path, input=lines)
    assert (done.returncode, "a pipe only once" in done.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "names.txt"]


def test_version_of_the_module():
    done = in_new_process("-m", "sklearn_deid", "--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"sklearn-deid {sklearn_deid.__version__}")


@pytest.mark.parametrize("arguments", [["--help"], ["redact", "--help"], ["demo", "--help"]])
def test_help_does_not_import_torch(arguments):
    code = (
        "import sys\nfrom sklearn_deid.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    print(sys.modules.keys() & {{'torch', 'sklearn'}})"
    )
    assert in_new_process("-c", code).stdout.splitlines()[-1] == "set()"


def test_models_of_rules_import_no_torch_and_torch_takes_the_threads_of_the_command(tmp_path):
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "model")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Mail roe@example.org")
    arguments = ["redact", "notes", "--model", "model", "--output", "out", "--threads", "1"]
    code = (
        f"import sys\nfrom sklearn_deid.cli import main\nprint(main({arguments!r}), 'torch' in sys.modules)\n"
        "import torch\nprint(torch.get_num_threads())"
    )
    done = in_new_process("-c", code, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.stdout.splitlines() == ["0 False", "1"]


def test_help_names_all_commands_and_exit_codes(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(f"\n    {command} " in out for command in COMMANDS)
    assert all(f"\n  {number} " in out for number in (0, 1, 2, 130))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example_that_parses(command, run):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert "exit codes: 0" in out
    examples = [line.split() for line in out.splitlines() if line.startswith("  sklearn-deid ")]
    assert command in [example[1] for example in examples]
    for example in examples:
        assert sklearn_deid.cli.program.build_parser().parse_args(example[1:]).run


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["redact"],
        ["train", "notes", "--model", "m", "--validation-fraction", "1.5"],
        ["train", "notes", "--model", "m", "--epochs", "0"],
        ["train", "notes", "--model", "m", "--seed", "-1"],
        ["redact", "notes", "--model", "m", "--output", "o", "--resume", "--overwrite"],
        ["redact", "notes", "--model", "m", "--output", "o", "--encoding", "base64"],
        ["redact", "notes", "--model", "m", "--output", "o", "--mode", "nothing"],
    ],
)
def test_wrong_usage_is_2(arguments, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: sklearn-deid")


def test_error_is_one_line(run, raw, tmp_path):
    code, out, err = run("redact", raw, "--model", tmp_path / "nothing", "--output", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("sklearn-deid: error: There is no saved model or representation")
    assert err.count("\n") == 1


def test_mistake_of_the_program_shows_no_message_and_no_locals(run, raw, model, tmp_path, monkeypatch):
    def fail(self, texts):
        secret = "Zyxwvutski"
        raise KeyError(secret + " lives in Northwick")
        yield

    monkeypatch.setattr(NoteDeidentifier, "iter_annotate", fail)
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path / "out")
    assert code == 2
    assert "KeyError" in err and "Traceback" in err and "in fail" in err
    assert "Zyxwvutski lives" not in err and "in Northwick'" not in err


def test_crash_report_leaves_interrupts_and_exits_alone():
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error), CrashReport():
            raise error


def test_crash_report_drops_the_chain_of_causes(capsys):
    with pytest.raises(SystemExit) as end, CrashReport():
        try:
            raise ValueError("Zyx" + "wvutski")
        except ValueError as cause:
            raise RuntimeError("Abc" + "defghi") from cause
    assert end.value.code == 2
    assert end.value.__cause__ is None and end.value.__suppress_context__
    assert "Zyxwvutski" not in (err := capsys.readouterr().err) and "Abcdefghi" not in err


def test_signals_are_remembered_and_handlers_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with remember_interrupts() as seen:
        for number in (signal.SIGINT, signal.SIGTERM):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
    assert seen == [signal.SIGINT, signal.SIGTERM]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_warnings_are_one_line(run, gold, notes, tmp_path, monkeypatch):
    write_corpus([replace(note, spans=()) for note in notes], tmp_path, format="brat")

    def warn(*arguments, **options):
        warnings.warn("Note withheld: it is\nodd", WithheldWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("sklearn_deid.metrics.deid_report", warn)
    code, _, err = run("evaluate", gold, tmp_path)
    assert (code, err) == (0, "sklearn-deid: warning: Note withheld: it is odd\n")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Pass encoding=... with the encoding of the file.", "Pass --encoding NAME with the encoding of the file."),
        ("pass overwrite=True to replace it", "pass --overwrite to replace it"),
        ("read with format='text'.", "read with the format text."),
        ("as format=.", "as the format."),
        ("below min_precision=0.8; target_recall=0.972.", "below --precision-at-least 0.8; --target-recall 0.972."),
        ("[file a\r\nb\x1b[31m]", "[file a  b [31m]"),
    ],
)
def test_messages_speak_of_options(message, line):
    assert one_line(message) == line


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sklearn-deid", "--version"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert sklearn_deid.__version__ in capsys.readouterr().out


def test_garbage_collection_goes_on_after_a_command(run, raw, model, tmp_path):
    count = getattr(gc.get_freeze_count, "__wrapped__", gc.get_freeze_count)
    before = count()  # of the tests themselves (tests/conftest.py)
    assert run("redact", raw, "--model", model, "--output", tmp_path / "out", "--quiet")[0] == 0
    assert gc.isenabled() and count() <= before


@pytest.mark.parametrize("n_frozen", [0, 7])
def test_garbage_is_not_searched_for_in_models(run, raw, model, tmp_path, monkeypatch, n_frozen):
    called = []
    counted = SimpleNamespace(
        get_freeze_count=lambda: n_frozen,
        freeze=lambda: called.append("freeze"),
        unfreeze=lambda: called.append("unfreeze"),
    )
    monkeypatch.setattr(annotating, "gc", counted)
    monkeypatch.setattr(program, "gc", counted)
    assert run("redact", raw, "--model", model, "--output", tmp_path / "out", "--quiet")[0] == 0
    # A program that has frozen its own objects keeps them so.
    assert called == ([] if n_frozen else ["freeze", "unfreeze"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("redact", "NOTES", "--model", "m", "--output", "-"),
        ("suggest", "NOTES", "--model", "m", "--output", "-"),
        ("convert", "SRC", "-", "--to", "jsonl"),
    ],
)
def test_nothing_is_written_to_standard_output(run, arguments):
    # The notes went into a folder named "-".
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "must be a folder or a file. Nothing is written to standard output" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("redact", "NOTES", "--model", "m", "--output", "/"),
        ("suggest", "NOTES", "--model", "m", "--output", "/."),
        ("convert", "SRC", "/", "--to", "jsonl"),
    ],
)
def test_the_root_of_a_drive_is_no_output(run, arguments):
    """A memory stick under Windows: nothing can lie beside its root, and the commands ended with a traceback."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith("must not be the root of a drive. Name a folder or a file in it")


def test_a_model_is_not_saved_into_the_root_of_a_drive(run, gold):
    code, _, err = run("train", gold, "--model", "/")
    assert (code, err) == (
        2,
        "sklearn-deid: error: The root of a drive cannot be replaced. Name a folder in it. [file /]\n",
    )


def test_a_release_in_the_root_of_a_drive_has_no_record(tmp_path):
    assert RunRecord(Path(tmp_path.anchor)).stamp() is None


@pytest.mark.parametrize(
    "arguments",
    [("serve", "--model", "m"), ("federate", "plan", "f", "--server", "s.example", "--lead", "r@example.org")],
)
def test_a_port_that_does_not_exist_is_refused_before_the_model_is_loaded(run, arguments):
    # The message asked to report an OverflowError.
    code, _, err = run(*arguments, "--port", "99999")
    assert (code, "argument --port: must be a whole number from 1 to 65535, not '99999'" in err) == (2, True)
