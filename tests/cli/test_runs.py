"""No run takes anything for its output that it has not made from this note, with this model and these options."""

import base64
import errno
import json
import os
import quopri
import shutil
import signal
import stat
import subprocess
import sys
import time

import pytest

from sklearn_deid import NoteDeidentifier, load, save
from sklearn_deid.cli.annotating import load_deidentifier
from sklearn_deid.cli.note_output import NoteOutput
from sklearn_deid.cli.run_record import RunRecord
from sklearn_deid.cli.table_output import TableOutput
from sklearn_deid.exceptions import DeidError
from sklearn_deid.text import Document

from .conftest import contents

NOTE = "Seen by Dr. Alder on 3/4/2021."
OUTPUTS = ["out", "out.jsonl"]


@pytest.fixture
def command(raw, model, tmp_path):
    """Arguments of a run over a copy of the notes."""
    shutil.copytree(raw, tmp_path / "notes")

    def make(output="out", **options):
        given = [part for name, value in options.items() for part in (f"--{name}", value)]
        return ["redact", tmp_path / "notes", "--model", model, "--output", tmp_path / output, "--quiet", *given]

    return make


def everything(folder, output):
    return contents(folder / output) if (folder / output).is_dir() else (folder / output).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_the_record_is_private_and_holds_neither_text_nor_names(run, command, tmp_path, notes):
    assert run(*command())[0] == 0
    record = tmp_path / "out.run"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    written = record.read_text(encoding="ascii")
    assert not any(document.doc_id in written or document.text[:20] in written for document in notes)
    head, *rows = map(json.loads, written.splitlines())
    assert set(head["stamp"]) >= {"version", "model", "mode", "encoding", "input_format", "output_format", "command"}
    assert len(rows) == len(notes)


def test_a_raw_note_in_the_output_folder_is_no_output(run, command, tmp_path, notes):
    """Half a copy of the raw notes lies in the output folder: it must not count as finished."""
    (tmp_path / "out").mkdir()
    raw = tmp_path / "out" / f"{notes[0].doc_id}.txt"
    raw.write_text(notes[0].text, encoding="utf-8")
    for option in ("--resume", "--overwrite"):
        code, _, err = run(*command(), option)
        assert code == 2
        assert "There is no record of an earlier run" in err or "no output of the run: it may be a raw note" in err
        assert raw.read_text(encoding="utf-8") == notes[0].text, "not even removed"
    raw.unlink()
    assert run(*command())[0] == 0
    (tmp_path / "out" / "other.txt").write_text("Mr. Alder", encoding="utf-8")
    for option in ("--resume", "--overwrite"):
        code, _, err = run(*command(), option)
        assert (code, "other.txt" in err, "it may be a raw note" in err) == (2, True, True)
    (tmp_path / "out" / "other.txt").unlink()
    raw.write_text(notes[0].text, encoding="utf-8")
    code, _, err = run(*command(), "--resume")
    assert (code, "was changed after the run wrote it" in err) == (2, True)
    assert run(*command(), "--overwrite")[0] == 0
    assert raw.read_text(encoding="utf-8") != notes[0].text


def test_a_raw_line_in_the_output_file_is_no_output(run, command, tmp_path, notes):
    assert run(*command("out.jsonl"))[0] == 0
    whole = (tmp_path / "out.jsonl").read_bytes()
    raw = json.dumps({"doc_id": notes[0].doc_id, "text": notes[0].text, "spans": []}).encode() + b"\n"
    for name in ("out.jsonl", "out.jsonl.part"):
        (tmp_path / name).write_bytes(raw + whole.split(b"\n", 1)[1])
        code, _, err = run(*command("out.jsonl"), "--resume")
        assert (code, "Line 1 is no output of the run" in err) == (2, True)
        (tmp_path / name).write_bytes(whole)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("options", "named"),
    [({"mode": "mask"}, "mode"), ({"encoding": "latin-1"}, "encoding"), ({"format": "text"}, "input")],
)
def test_other_options_are_not_mixed(run, command, tmp_path, output, options, named):
    assert run(*command(output))[0] == 0
    before = everything(tmp_path, output)
    code, _, err = run(*command(output, **options), "--resume")
    assert code == 2
    assert f"differs from this one in: {named}" in err and "--overwrite to begin anew" in err
    assert "0 notes" not in err, "nothing was begun, so that there is nothing to account for"
    assert everything(tmp_path, output) == before


@pytest.mark.parametrize("output", OUTPUTS)
def test_another_model_is_not_mixed(run, command, tmp_path, model, output):
    assert run(*command(output))[0] == 0
    deidentifier = load(model)
    save(NoteDeidentifier(deidentifier.estimator_, batch_size=5), tmp_path / "other")
    other = command(output)
    other[other.index("--model") + 1] = tmp_path / "other"
    code, _, err = run(*other, "--resume")
    assert (code, "differs from this one in: model." in err) == (2, True)


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_changed_note_does_not_keep_its_old_output(run, command, tmp_path, notes, output):
    assert run(*command(output))[0] == 0
    changed = notes[2].doc_id
    (tmp_path / "notes" / f"{changed}.txt").write_text(NOTE, encoding="utf-8")
    code, _, err = run(*command(output), "--resume")
    assert code == 1
    assert "The note has changed since its output was written, which is now removed. Run again with --resume. " in err
    assert f"[document {changed}]" in err
    assert changed not in str(everything(tmp_path, output))
    code, _, err = run(*command(output), "--resume")
    assert (code, "1 note redacted, 0 withheld" in err) == (0, True)
    expected = run(*command(f"again-{output}"))[0]
    assert expected == 0
    if output == "out":
        assert contents(tmp_path / output) == contents(tmp_path / f"again-{output}")
    else:
        lines = [set((tmp_path / name).read_bytes().splitlines()) for name in (output, f"again-{output}")]
        assert lines[0] == lines[1]


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_of_notes_that_are_gone_are_counted(run, command, tmp_path, notes, output):
    """The output of a patient whose notes were taken out stayed, and no line told it."""
    assert run(*command(output))[0] == 0
    for note in notes[:2]:
        (tmp_path / "notes" / f"{note.doc_id}.txt").unlink()
    code, _, err = run(*command(output), "--resume")
    assert (code, "2 outputs of the earlier run stay whose notes are not there any more" in err) == (0, True)
    assert "outputs of the earlier run" not in run(*command(output), "--overwrite")[2]
    assert notes[0].doc_id not in str(everything(tmp_path, output))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOLCK, "The record of the run cannot be locked: No locks available. A second run"),
        (errno.EACCES, "Another run is writing to this output"),  # a lock of another process on some network drives
    ],
)
def test_a_drive_without_locks_is_not_taken_for_another_run(tmp_path, monkeypatch, number, message):
    """The message was to wait for a run that did not exist."""

    def refused(stream):
        raise OSError(number, "No locks available")

    monkeypatch.setattr("sklearn_deid.cli.run_record._lock_file", refused)
    with pytest.raises(DeidError, match=message):
        RunRecord(tmp_path / "out").open({})


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("option", [[], ["--resume"], ["--overwrite"]])
def test_a_second_run_into_the_same_output_is_refused(run, command, tmp_path, output, option):
    running = RunRecord(tmp_path / output)
    running.open({})
    code, _, err = run(*command(output), *option)
    assert (code, "Another run is writing to this output. Wait until it has ended" in err) == (2, True)
    assert not (tmp_path / output).exists()
    running.close()
    assert run(*command(output))[0] == 0


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_output_that_another_run_finished_in_the_meantime_is_refused(run, command, tmp_path, monkeypatch, output):
    """The second run emptied the record of the first run, whose outputs then counted as foreign."""

    def load_slowly(arguments):
        monkeypatch.undo()
        assert run(*command(output))[0] == 0
        return load_deidentifier(arguments)

    monkeypatch.setattr("sklearn_deid.cli.redact.load_deidentifier", load_slowly)
    code, _, err = run(*command(output))
    assert (code, "The output exists already" in err) == (2, True)
    assert run(*command(output), "--resume")[0] == 0


def test_overwriting_removes_the_whole_earlier_run(run, command, tmp_path, notes):
    assert run(*command())[0] == 0
    gone = notes[0].doc_id
    (tmp_path / "notes" / f"{gone}.txt").unlink()
    assert run(*command(), "--overwrite")[0] == 0
    assert sorted(contents(tmp_path / "out")) == sorted(f"{d.doc_id}.txt" for d in notes[1:])


# ---- names, and inputs that are no files


def test_long_names_are_withheld_or_numbered(run, model, tmp_path):
    ids = ["a" * 246, "a" * 247, "\u00e9" * 130, "b" * 300, "c"]
    lines = [json.dumps({"doc_id": doc_id, "text": NOTE}) for doc_id in ids]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    base = ["redact", tmp_path / "in.jsonl", "--model", model, "--quiet"]
    code, _, err = run(*base, "--output", tmp_path / "out")
    assert code == 1
    assert sorted(contents(tmp_path / "out")) == [f"{ids[0]}.txt", "c.txt"]
    assert err.count("The document id is too long for a file name. Write into one .jsonl file") == 3
    assert "--format" not in err, "which is the format of the notes"
    assert run(*base, "--output", tmp_path / "out.jsonl")[0] == 0
    assert run(*base, "--output", tmp_path / "numbered", "--number-outputs", tmp_path / "key.csv")[0] == 0
    assert len(contents(tmp_path / "numbered")) == 5
    again = run(*base, "--output", tmp_path / "out", "--overwrite")
    assert again[0] == 1


def test_ids_that_a_spreadsheet_would_run_do_not_enter_the_key_file(run, model, tmp_path):
    ids = ['=HYPERLINK("http://x.example")', "+1+1", "@SUM(A1)", "-2+3", " =1", "-7", "fine"]
    lines = [json.dumps({"doc_id": doc_id, "text": NOTE}) for doc_id in ids]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    base = ["redact", tmp_path / "in.jsonl", "--model", model, "--quiet", "--output", tmp_path / "out"]
    code, _, err = run(*base, "--number-outputs", tmp_path / "key.csv")
    assert (code, err.count("that a spreadsheet would run as a formula")) == (1, 5)
    assert "HYPERLINK" not in (tmp_path / "key.csv").read_text(encoding="utf-8")


def test_an_empty_file_is_redacted_and_an_empty_folder_is_an_error(run, model, tmp_path):
    """An export of a day can be empty. A folder without notes is a wrong path or a wrong format."""
    (tmp_path / "in.jsonl").touch()
    (tmp_path / "table.csv").write_text("note,id\n")
    (tmp_path / "folder").mkdir()
    base = ("redact", "--model", model, "--quiet")
    assert run(*base, tmp_path / "in.jsonl", "--output", tmp_path / "out.jsonl")[0] == 0
    assert run(*base, tmp_path / "table.csv", "--output", tmp_path / "out.csv", "--text-column", "note")[0] == 0
    code, _, err = run(*base, tmp_path / "folder", "--output", tmp_path / "out")
    assert (code, "holds no file ending in .txt" in err) == (2, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_devices_and_links_are_no_notes(run, model, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "elsewhere.txt").write_text(NOTE, encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    (folder / "fine.txt").write_text(NOTE, encoding="utf-8")
    start = time.monotonic()
    code, _, err = run("redact", folder, "--model", model, "--output", tmp_path / "out", "--quiet")
    assert time.monotonic() - start < 60
    assert code == 1
    assert list(contents(tmp_path / "out")) == ["fine.txt"]
    assert err.count("The file is a symbolic link") == 2 and "[file" in err
    assert "This is no regular file, but a pipe, a device or a folder." in err
    for name, message in {
        "notes/pipe.txt": "no regular file",
        "notes/link.txt": "symbolic link. Name the file itself",
        "notes/zero.txt": "symbolic link",
    }.items():
        code, _, err = run("redact", tmp_path / name, "--model", model, "--output", tmp_path / "o2")
        assert (code, message in err) == (2, True)
    assert run("redact", "/dev/zero", "--model", model, "--output", tmp_path / "o2", "--format", "text")[0] == 2


def test_undecoded_notes_are_withheld_with_the_reason(run, model, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        (folder / f"{encoding}.txt").write_bytes(NOTE.encode(encoding))
    (folder / "letter.txt").write_text(r"{\rtf1\ansi " + NOTE + "}", encoding="utf-8")
    (folder / "fine.txt").write_text(NOTE, encoding="utf-8")
    code, _, err = run("redact", folder, "--model", model, "--output", tmp_path / "out", "--quiet")
    assert code == 1
    assert list(contents(tmp_path / "out")) == ["fine.txt"]
    for encoding in ("utf-16-le", "utf-32-be"):
        assert f"that was not decoded. Pass --encoding {encoding} when you read the file. [document {encoding}]" in err
    assert "The note is RTF." in err and "Alder" not in err
    (tmp_path / "wide").mkdir()
    shutil.copyfile(folder / "utf-16-le.txt", tmp_path / "wide" / "fine.txt")
    base = ["redact", tmp_path / "wide", "--model", model, "--quiet", "--encoding", "utf-16-le"]
    assert run(*base, "--output", tmp_path / "decoded")[0] == 0
    assert contents(tmp_path / "decoded") == contents(tmp_path / "out")


def test_bodies_of_mails_are_decoded_where_the_format_is_named(run, model, tmp_path):
    folder, text = tmp_path / "notes", NOTE + " Mu\u00f1oz is well."
    folder.mkdir()
    for form, content in {
        "quoted-printable": quopri.encodestring(text.encode()),
        "base64": base64.encodebytes(text.encode()),
    }.items():
        (folder / "a.txt").write_bytes(content)
        base = ["redact", folder, "--model", model, "--quiet", "--output", tmp_path / form]
        code, _, err = run(*base)
        assert (code, "--transfer-encoding on the command line, except for tables" in err) == (1, True)
        assert run(*base, "--overwrite", "--transfer-encoding", form)[0] == 0
        assert contents(tmp_path / form) == {"a.txt": load(model).redact([text])[0]}
        (folder / "a.txt").write_text(text, encoding="utf-8")
        code, _, err = run(*base, "--overwrite", "--transfer-encoding", form)
        assert (code, contents(tmp_path / form)) == (1, {})
        assert "Mu" not in err and "not in the encoding ascii" in err
    (folder / "a.txt").write_text("plain words!", encoding="utf-8")
    code, _, err = run(*base, "--overwrite", "--transfer-encoding", "base64")
    assert (code, "The note is not base64 text of the encoding utf-8. [document a]" in err) == (1, True)


# ---- kills


@pytest.fixture(scope="module")
def start(model):
    """Start a run in a process of its own, from one that has loaded all modules before; returns the number."""
    command = [sys.executable, "-c", FORKING, str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def start(*arguments):
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield start
        process.kill()


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has neither SIGKILL nor forks")
@pytest.mark.parametrize("output", OUTPUTS)
def test_killed_runs_end_with_the_same_outputs(run, command, start, tmp_path, output):
    assert run(*command(f"whole-{output}"))[0] == 0
    arguments = [str(argument) for argument in command(output)]
    for n_lines in (2, 9):
        record, end = tmp_path / f"{output}.run", time.monotonic() + 240
        pid = start(str(record), n_lines, *arguments, "--resume")
        while time.monotonic() < end and not (record.exists() and record.read_bytes().count(b"\n") > n_lines):
            assert lives(pid), "the run has ended by itself"
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        while lives(pid) and time.monotonic() < end:
            time.sleep(0.005)
        assert not lives(pid)
        assert not (tmp_path / "out.jsonl").exists()
    assert run(*command(output), "--resume")[0] == 0
    whole = everything(tmp_path, f"whole-{output}")
    assert everything(tmp_path, output) == whole


# One note at a time, with a pause after each. The run waits for its kill in the middle: the test may be slow as well.
FORKING = """
import json, os, signal, sys, time
from pathlib import Path
from sklearn_deid import load
from sklearn_deid.cli import main
from sklearn_deid.cli.annotating import load_deidentifier
from sklearn_deid.cli.note_output import NoteOutput
load(sys.argv[1])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
write = NoteOutput.write
for line in sys.stdin:
    if pid := os.fork():
        print(pid, flush=True)
        continue
    record, n_lines, *arguments = json.loads(line)
    def slow(self, document, note):
        write(self, document, note)
        time.sleep(600 if Path(record).read_bytes().count(b"\\n") > n_lines else 0.05)
    NoteOutput.write = slow
    os._exit(main(arguments))
"""


# ---- the record itself


def test_a_record_without_its_last_half_line_goes_on(tmp_path):
    record, note = RunRecord(tmp_path / "out"), Document("a", "Seen.")
    record.open({"mode": "label"})
    record.add("a", note, [b"Seen."])
    record.close()
    whole = record.path.read_bytes()
    record.path.write_bytes(whole + b'{"name": "half')
    again = RunRecord(tmp_path / "out")
    again.open({"mode": "label"}, resume=True)
    assert again.has_note("a", note) and again.has_output("a", b"Seen.") and not again.has_output("a", b"Other")
    again.close()
    assert record.path.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense\n",
        b'{"kind": "other"}\n',
        b'{"kind": "sklearn-deid run 1"}\n',
        b'{"kind": "sklearn-deid run 1", "key": "00"}\n',
        b'{"kind": "sklearn-deid run 1", "key": "00", "stamp": "label"}\n',
        b"[]\n",
    ],
)
def test_what_is_no_record(tmp_path, content):
    record = RunRecord(tmp_path / "out")
    record.path.write_bytes(content)
    with pytest.raises(DeidError, match="There is no record of an earlier run into this output"):
        record.open({}, resume=True)
    record.close()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("option", ["--key-file", "--mapping", "--number-outputs"])
def test_files_of_the_user_are_not_replaced_by_the_record(run, command, tmp_path, option):
    """A key that the record of the run had replaced would be lost, with exit code 0."""
    pytest.importorskip("cryptography")
    given = {"--key-file": tmp_path / "key", option: tmp_path / "out.run"}
    if option == "--number-outputs":
        del given["--key-file"]
    options = [part for pair in given.items() for part in pair]
    code, _, err = run(*command(mode="label" if option == "--number-outputs" else "surrogate"), *options)
    assert (code, "would replace this file" in err, (tmp_path / "out").exists()) == (2, True, False)
    assert (tmp_path / "out.run").stat().st_size > 0


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.csv"])
def test_overwrite_replaces_outputs_of_runs_only(run, command, tmp_path, name):
    mine = tmp_path / name
    mine.write_text("note\nkeep me\n")
    arguments = command(name)
    if name.endswith(".csv"):
        (tmp_path / "in.csv").write_text("note\nSeen.\n")
        arguments[1] = tmp_path / "in.csv"
        arguments += ["--text-column", "note"]
    code, _, err = run(*arguments, "--overwrite")
    assert (code, "no output of a recorded run" in err) == (2, True)
    assert mine.read_text() == "note\nkeep me\n"


@pytest.mark.parametrize(
    ("kind", "option"),
    [(kind, option) for kind in ("jsonl", "csv") for option in ("NOTES", "--key-file")]
    + [("jsonl", "--number-outputs")],
)
def test_files_of_the_user_are_not_taken_for_unfinished_outputs(run, model, tmp_path, kind, option):
    """``--overwrite`` removed them, also if they were the notes, with exit code 0."""
    (tmp_path / "out.csv.pieces").mkdir()
    mine = {"jsonl": tmp_path / "out.jsonl.part", "csv": tmp_path / "out.csv.pieces" / "mine.csv"}[kind]
    content = {"--key-file": f"{'0' * 64}\n", "--number-outputs": "output,note\n"}
    content["NOTES"] = {"jsonl": '{"doc_id":"a","text":"Seen."}\n', "csv": "text\nSeen.\n"}[kind]
    notes = tmp_path / f"in.{kind}"
    for path, text in ((notes, content["NOTES"]), (mine, content[option])):
        path.write_text(text)
        path.chmod(0o600)
    given = ["--model", model, "--output", tmp_path / f"out.{kind}", "--overwrite", "--quiet"]
    given += ["--format", "jsonl"] if kind == "jsonl" else ["--text-column", "text"]
    given += [] if option == "NOTES" else [option, mine]
    given += ["--mode", "surrogate"] if option == "--key-file" else []
    # With the record of an earlier run, too.
    for _ in range(2):
        code, _, err = run("redact", mine if option == "NOTES" else notes, *given)
        assert (code, "unfinished output" in err) == (2, True)
        assert mine.read_text() == content[option]
        record = RunRecord(tmp_path / f"out.{kind}")
        record.open({})
        record.close()


@pytest.mark.parametrize("name", ["out", "out.jsonl", "out.csv"])
def test_an_interrupted_run_with_overwrite_leaves_no_earlier_output_and_goes_on(
    run, command, tmp_path, monkeypatch, name
):
    """The output of the earlier run stayed under the name of the new one, and no ``--resume`` continued the new run."""
    arguments, kind = command(name), NoteOutput
    if name.endswith(".csv"):
        (tmp_path / "in.csv").write_text("note\n" + "Seen on 3/4/2021.\n" * 700)
        arguments[1], kind = tmp_path / "in.csv", TableOutput
        arguments += ["--text-column", "note"]
    assert run(*arguments)[0] == 0
    arguments += ["--mode", "mask"]
    calls, write = [], kind.write

    def interrupted(self, *content):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        write(self, *content)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "write", interrupted)
        assert run(*arguments, "--overwrite")[0] == 130
    written = everything(tmp_path, name) if (tmp_path / name).exists() else {}
    assert "[DATE]" not in str(written) and len(written) == 2 * (name == "out")
    assert run(*arguments, "--resume")[0] == 0
    arguments[arguments.index("--output") + 1] = tmp_path / f"new-{name}"
    assert run(*arguments)[0] == 0 and everything(tmp_path, name) == everything(tmp_path, f"new-{name}")


def test_overwrite_removes_no_unfinished_output_without_a_record(run, command, tmp_path):
    (tmp_path / "out.jsonl.part").write_text("keep me\n")
    code, _, err = run(*command("out.jsonl"), "--overwrite")
    assert (code, "no output of a recorded run" in err) == (2, True)
    assert (tmp_path / "out.jsonl.part").read_text() == "keep me\n"


def test_a_link_in_the_place_of_the_record_is_not_followed(run, command, tmp_path):
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    (tmp_path / "out.run").symlink_to(tmp_path / "precious")
    assert run(*command())[0] == 2
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "kept"


def test_a_model_that_is_replaced_while_it_is_loaded_is_refused(run, raw, model, tmp_path, monkeypatch):
    """The stamp of the run would name a model that has not read the notes."""
    import shutil

    from sklearn_deid import RuleTagger, save
    from sklearn_deid.tagging import saving

    shutil.copytree(model, tmp_path / "model")
    load = saving.load_tagger

    def swapped(*args, **options):
        save(RuleTagger().fit([["Seen"]], [["O"]]), tmp_path / "model", overwrite=True)
        return load(*args, **options)

    monkeypatch.setattr(saving, "load_tagger", swapped)
    code, _, err = run("redact", raw, "--model", tmp_path / "model", "--output", tmp_path / "redacted")
    assert (code, "replaced while it was loaded" in err) == (2, True), err
    assert not list(tmp_path.glob("redacted/*"))


def test_lines_of_an_output_are_compared_with_one_set(tmp_path):
    """A set of all lines was made for each line: a resumed run over 20,000 notes began after a minute."""

    class Counting(dict):
        n_read = 0

        def values(self):
            self.n_read += 1
            return super().values()

    record = RunRecord(tmp_path / "out.jsonl")
    record.open({})
    record._outputs = outputs = Counting()
    for n in range(50):
        record.add(f"n{n}", Document(f"n{n}", "Fine."), [b"line %d" % n])
    assert all(record.has_line(b"line %d" % n) for n in range(50)) and outputs.n_read == 1
    record.add("n3", Document("n3", "Fine."), [b"other"])
    assert [record.has_line(line) for line in (b"line 3", b"other", b"line 4")] == [False, True, True]
    record.close()


def test_a_run_that_was_killed_before_its_record_had_a_line_can_be_resumed(run, raw, model, tmp_path):
    """A repeated command with --resume was refused for ever, although nothing was written."""
    command = ("redact", raw, "--model", model, "--output", tmp_path / "out", "--quiet", "--resume")
    record = tmp_path / "out.run"
    for content in (b"", b'{"kind": "sklearn-deid run'):
        record.write_bytes(content)
        assert run(*command)[0] == 0
        assert contents(tmp_path / "out")
        shutil.rmtree(tmp_path / "out")
    for foreign in (b"Seen by a doctor.", b"Seen by a doctor.\n"):
        record.write_bytes(foreign)
        assert run(*command)[0] == 2 and record.read_bytes() == foreign
