"""``redact --mode surrogate``: keys, mappings and what must not lie beside the output."""

import errno
import json
import os

import pytest

from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span, load, save, write_corpus
from sklearn_deid.cli import surrogate_options
from sklearn_deid.cli.note_output import NoteOutput
from sklearn_deid.cli.table_output import TableOutput
from sklearn_deid.io.tables import json_lines
from sklearn_deid.surrogates import MappingFile, SurrogateEngine, read_mapping, read_or_make_key

from .conftest import assert_no_note_text, contents


def test_key_file_repeats_a_run(run, raw, model, tmp_path, notes):
    command = ("redact", raw, "--model", model, "--mode", "surrogate", "--key-file", tmp_path / "key")
    code, out, err = run(*command, "--output", tmp_path / "one")
    assert (code, out) == (0, "")
    assert_no_note_text(err, notes)
    assert run(*command, "--output", tmp_path / "two")[0] == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert run(*command[:-2], "--output", tmp_path / "three")[0] == 0
    assert contents(tmp_path / "one") != contents(tmp_path / "three")


def test_the_folder_of_a_key_must_exist(run, raw, model, tmp_path):
    options = ("--mode", "surrogate", "--key-file", tmp_path / "secret" / "key", "--output", tmp_path / "out")
    code, _, err = run("redact", raw, "--model", model, *options)
    assert (code, "The folder of the key file does not exist." in err) == (2, True)


def test_a_new_key_is_said_because_it_may_be_a_misspelt_one(run, raw, model, tmp_path):
    """The patients of an earlier run had other names and dates, and nothing said so."""
    options = ("--mode", "surrogate", "--key-file", tmp_path / "key", "--output")
    code, _, err = run("redact", raw, "--model", model, *options, tmp_path / "first")
    assert (code, f"There was no key file {tmp_path / 'key'}" in err) == (0, True)
    code, _, err = run("redact", raw, "--model", model, *options, tmp_path / "second")
    assert (code, "no key file" in err) == (0, False)


def test_texts_are_those_of_the_library(run, notes, model, tmp_path):
    write_corpus(notes, tmp_path / "notes.jsonl")
    options = ("--mode", "surrogate", "--key-file", tmp_path / "key", "--locale", "en", "--date-shift", 100)
    assert run("redact", tmp_path / "notes.jsonl", "--model", model, "--output", tmp_path / "o.jsonl", *options)[0] == 0
    engine = SurrogateEngine(key=read_or_make_key(tmp_path / "key"), locale="en", date_shift=100)
    expected = NoteDeidentifier(load(model)).redact(notes, mode=engine) if not hasattr(load(model), "redact") else None
    expected = expected or load(model).redact(notes, mode=engine)
    lines = (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == expected
    assert not any(document.patient_id in "".join(lines) for document in notes)


@pytest.mark.parametrize("changed", ["RULES", "version"])
def test_a_run_does_not_go_on_with_other_rules_or_lists(run, raw, model, tmp_path, monkeypatch, changed):
    """The same key gives other surrogates there, so that one person would get two."""
    options = ("--mode", "surrogate", "--key-file", tmp_path / "key", "--output", tmp_path / "out")
    assert run("redact", raw, "--model", model, *options)[0] == 0
    assert run("redact", raw, "--model", model, *options, "--resume")[0] == 0
    changes = {"RULES": surrogate_options.RULES + 1, "version": lambda name: "0"}
    monkeypatch.setattr(surrogate_options, changed, changes[changed])
    code, _, err = run("redact", raw, "--model", model, *options, "--resume")
    assert (code, {"RULES": "rules", "version": "faker"}[changed] in err) == (2, True)


def test_bare_years_move_with_the_other_dates(run, tmp_path):
    """Oracle: a model that hides all dates. A year that stays would tell the shift."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "n.txt").write_text("Operated in 1999 and seen on 3 May 2019.")
    done = {}
    for labels in ("all", "hipaa"):
        save(NoteDeidentifier(RuleTagger(["date"]).fit([]), labels=labels), tmp_path / labels)
        command = ("redact", tmp_path / "raw", "--model", tmp_path / labels, "--output")
        options = ("--mode", "surrogate", "--key-file", tmp_path / "key", "--locale", "en")
        assert run(*command, tmp_path / f"{labels}-surrogates", *options)[0] == 0
        assert run(*command, tmp_path / f"{labels}-labels")[0] == 0
        done[labels] = contents(tmp_path / f"{labels}-surrogates")
        assert ("1999" in contents(tmp_path / f"{labels}-labels")["n.txt"]) == (labels == "hipaa")
    assert done["all"] == done["hipaa"]


def test_mapping_leads_back(run, raw, model, tmp_path, notes):
    pytest.importorskip("cryptography")
    secret = tmp_path / "secret"
    secret.mkdir()
    options = ("--mode", "surrogate", "--key-file", secret / "key", "--mapping", secret / "mapping")
    assert run("redact", raw, "--model", model, "--output", tmp_path / "out", *options)[0] == 0
    texts = contents(tmp_path / "out")
    originals = {document.doc_id: document.text for document in notes}
    rows = list(read_mapping(secret / "mapping", read_or_make_key(secret / "key")))
    assert len(rows) == len(notes)
    for row in rows:
        for one in row["replacements"]:
            assert originals[row["doc_id"]][one["start"] : one["end"]] == one["original"]
            assert one["surrogate"] in texts[f"{row['doc_id']}.txt"]


def test_a_mapping_does_not_begin_or_end_in_a_resumed_run(run, raw, model, tmp_path):
    """The originals of the other notes were in no mapping, and the exit code was 0."""
    pytest.importorskip("cryptography")
    secret = tmp_path / "secret"
    secret.mkdir()
    options = ("--mode", "surrogate", "--key-file", secret / "key", "--quiet")
    for number, given in enumerate(([], ["--mapping", secret / "mapping"])):
        command = ("redact", raw, "--model", model, "--output", tmp_path / f"out{number}", *options)
        assert run(*command, *given)[0] == 0
        others = ["--mapping", secret / "other"] if not given else []
        code, _, err = run(*command, *others, "--resume")
        assert (code, "differs from this one in: mapping" in err) == (2, True)
        assert run(*command, *given, "--resume")[0] == 0


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), None])
def test_a_mapping_that_cannot_be_written_ends_the_run(run, raw, model, tmp_path, monkeypatch, failure):
    """With a full disk under the mapping, each note was withheld by itself, and the run went on to the last one."""
    pytest.importorskip("cryptography")
    secret, write, append, seen = tmp_path / "secret", MappingFile.write, MappingFile._append, []
    secret.mkdir()

    def written(self, note, replacements):
        seen.append(note)
        if len(seen) == 3 and failure is None:
            with self.path.open("ab") as other:
                other.write(b"line of another run\n")
        write(self, note, replacements)

    def appended(self, line):
        if len(seen) == 3 and failure is not None:
            raise failure
        append(self, line)

    with monkeypatch.context() as patch:
        patch.setattr(MappingFile, "write", written)
        patch.setattr(MappingFile, "_append", appended)
        options = ("--mode", "surrogate", "--key-file", secret / "key", "--mapping", secret / "mapping")
        command = ("redact", raw, "--model", model, "--output", tmp_path / "out", *options, "--quiet")
        code, _, err = run(*command)
    assert (code, len(seen), len(list((tmp_path / "out").glob("*.txt")))) == (2, 3, 2)
    reason = "Another run is writing to this mapping file" if failure is None else failure.strerror
    assert f"error: {reason}. [file {secret / 'mapping'}]" in err and "2 notes redacted, 0 withheld." in err
    if failure is not None:
        assert run(*command, "--resume")[0] == 0
        assert len(list(read_mapping(secret / "mapping", read_or_make_key(secret / "key")))) == len(
            list(raw.glob("*.txt"))
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--key-file", "key"), "--key-file needs --mode surrogate"),
        (("--locale", "en"), "--locale needs --mode surrogate"),
        (("--mode", "surrogate", "--mapping", "m"), "--mapping needs --key-file"),
        (("--mode", "surrogate", "--resume"), "--resume needs --key-file"),
        (("--mode", "surrogate", "--key-file", "out/key"), "The key and the mapping must not be in the output"),
    ],
)
def test_wrong_options(run, raw, model, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("redact", raw, "--model", model, "--output", "out", *options)
    assert code == 2 and message in err
    assert not (tmp_path / "out").exists()


def test_shifts_that_no_engine_accepts_are_wrong_usage(run, raw, model, tmp_path):
    """Too large a shift ended with a traceback, whose message was hidden as possible text of a note."""
    longest = surrogate_options.days("36500")
    assert SurrogateEngine(date_shift=longest).settings.date_shift == longest
    with pytest.raises(ValueError, match="36500"):
        SurrogateEngine(date_shift=longest + 1)
    command = ("redact", raw, "--model", model, "--output", tmp_path / "out", "--mode", "surrogate")
    code, _, said = run(*command, "--date-shift", longest + 1)
    assert code == 2 and "must be a whole number of days from 1 to 36500, not '36501'" in said
    assert not (tmp_path / "out").exists() and "Traceback" not in said


def test_key_among_the_notes_is_refused(run, raw, model, tmp_path):
    options = ("--mode", "surrogate", "--key-file", raw / "key")
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path / "out", *options)
    assert code == 2 and "must not lie in the folder of the notes" in err


@pytest.fixture
def one_patient(tmp_path, monkeypatch):
    """Three notes of one person, and a model that finds the names, which are whole lines."""
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "model")
    rows = [
        {"doc_id": f"n{n}", "patient_id": "p1", "text": f"Seen today:\n{name}\nNo pain."}
        for n, name in enumerate(["Maria Quillwick", "M. Quilwick", "MQ"])
    ]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def annotated(self, notes):
        for note in notes:
            yield note, (Span(12, note.text.rfind("\n"), "PATIENT"),)

    monkeypatch.setattr(NoteDeidentifier, "iter_annotate", annotated)
    return tmp_path / "notes.jsonl"


@pytest.mark.parametrize(
    "more", [(), ("--text-column", "text", "--id-column", "doc_id", "--patient-column", "patient_id")]
)
def test_resumed_run_knows_the_names_of_finished_notes(run, one_patient, tmp_path, monkeypatch, more):
    """After a stop, "M. Quilwick" was another person than "Maria Quillwick" of the finished note."""
    monkeypatch.setattr(json_lines, "CHUNK_ROWS", 1)
    options = ("--mode", "surrogate", "--locale", "en", "--key-file", tmp_path / "key", *more)
    command = ("redact", one_patient, "--model", tmp_path / "model", "--quiet", *options)
    assert run(*command, "--output", tmp_path / "whole.jsonl")[0] == 0
    expected = (tmp_path / "whole.jsonl").read_bytes()
    for n_done in (1, 2):
        output = tmp_path / f"out-{n_done}.jsonl"
        stopping, calls = TableOutput if more else NoteOutput, []
        write = stopping.write

        def stop(*arguments, calls=calls, write=write, n_done=n_done):
            calls.append(1)
            if len(calls) > n_done:
                raise KeyboardInterrupt
            write(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(stopping, "write", stop)
            assert run(*command, "--output", output)[0] == 130
        code, _, err = run(*command, "--output", output, "--resume")
        assert code == 0 and f"{3 - n_done} " in err and f"{n_done} were finished before" in err
        assert output.read_bytes() == expected


@pytest.mark.parametrize("more", [(), ("--text-column", "text", "--id-column", "doc_id")])
def test_a_mapping_holds_each_note_once_after_a_stop(run, one_patient, tmp_path, monkeypatch, more):
    """The note at which the run was stopped was in the mapping twice, and in a table, all notes of its block."""
    pytest.importorskip("cryptography")
    (tmp_path / "secret").mkdir()
    key, mapping = tmp_path / "secret" / "key", tmp_path / "secret" / "mapping"
    options = ("--mode", "surrogate", "--locale", "en", "--key-file", key, "--mapping", mapping, *more)
    command = (
        "redact",
        one_patient,
        "--model",
        tmp_path / "model",
        "--quiet",
        *options,
        "--output",
        tmp_path / "o.jsonl",
    )

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TableOutput if more else NoteOutput, "write", stop)
        assert run(*command)[0] == 130
    assert run(*command, "--resume")[0] == 0
    ids = [row["doc_id"] for row in read_mapping(mapping, read_or_make_key(key))]
    assert len(ids) == len(set(ids)) == 3


@pytest.mark.parametrize("more", [(), ("--text-column", "text", "--id-column", "doc_id")])
def test_a_resumed_run_completes_a_mapping_that_has_lost_lines(run, one_patient, tmp_path, monkeypatch, more):
    """After a power failure, or if the mapping was moved away, the originals of finished notes were in no mapping."""
    pytest.importorskip("cryptography")
    monkeypatch.setattr(json_lines, "CHUNK_ROWS", 1)
    (tmp_path / "secret").mkdir()
    key, mapping = tmp_path / "secret" / "key", tmp_path / "secret" / "mapping"
    options = ("--mode", "surrogate", "--locale", "en", "--key-file", key, "--mapping", mapping, "--quiet", *more)
    command = ("redact", one_patient, "--model", tmp_path / "model", *options, "--output", tmp_path / "o.jsonl")

    def rows():
        return {row["doc_id"]: row["replacements"] for row in read_mapping(mapping, read_or_make_key(key))}

    assert run(*command)[0] == 0
    whole, lines = rows(), mapping.read_bytes().splitlines(keepends=True)
    assert len(whole) == 3
    for n_kept in (3, 1):
        mapping.write_bytes(b"".join(lines[: n_kept + 1]))
        assert run(*command, "--resume")[0] == 0
        assert rows() == whole and len(mapping.read_bytes().splitlines()) == 4
    mapping.unlink()
    assert run(*command, "--resume")[0] == 0
    assert rows() == whole

    def full(self, line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    mapping.write_bytes(lines[0])
    monkeypatch.setattr(MappingFile, "_append", full)
    assert run(*command, "--resume")[0] == 2


def test_a_resumed_run_over_documents_completes_the_mapping(run, one_patient, tmp_path):
    pytest.importorskip("cryptography")
    for name in ("secret", "raw"):
        (tmp_path / name).mkdir()
    (tmp_path / "raw" / "a.txt").write_text("Seen today:\nMaria Quillwick\nNo pain.", encoding="utf-8")
    key, mapping = tmp_path / "secret" / "key", tmp_path / "secret" / "mapping"
    options = ("--mode", "surrogate", "--locale", "en", "--key-file", key, "--mapping", mapping, "--quiet")
    command = ("redact", tmp_path / "raw", "--documents", "--model", tmp_path / "model", *options)
    assert run(*command, "--output", tmp_path / "out")[0] == 0
    mapping.unlink()
    assert run(*command, "--output", tmp_path / "out", "--resume")[0] == 0
    assert [row["doc_id"] for row in read_mapping(mapping, read_or_make_key(key))] == ["a.txt"]


@pytest.mark.parametrize(("marks_years", "with_model"), [(False, False), (False, True), (True, False)])
def test_years_that_a_reader_leaves_do_not_reveal_the_shift(run, tmp_path, marks_years, with_model):
    """After a review by the Safe Harbor rule, dates moved beside years that stayed."""
    year, date = "Room 2010. Stroke in 2019, dose 2000 mg. ", "Seen on 3/5/2019."
    spans = [Span(5, 9, "ROOM"), *([Span(21, 25, "DATE")] if marks_years else [])]
    spans.append(Span(len(year) + 8, len(year) + 16, "DATE"))
    write_corpus([Document("n1", year + date, tuple(spans))], tmp_path / "read.jsonl")
    write_corpus([Document("n1", year + date)], tmp_path / "raw", format="text")
    save(NoteDeidentifier(RuleTagger(recognizers=["date"]).fit([]), labels="hipaa"), tmp_path / "model")
    options = ["--reviewed", tmp_path / "read.jsonl", "--mode", "surrogate", "--locale", "en"]
    options += ["--model", tmp_path / "model"] if with_model else []
    code, _, err = run("redact", tmp_path / "raw", *options, "--output", tmp_path / "out")
    if not marks_years and not with_model:
        assert (code, "nobody has marked" in err, contents(tmp_path / "out")) == (1, True, {})
    else:
        (text,) = contents(tmp_path / "out").values()
        assert code == 0 and "2019" not in text and "dose 2000 mg" in text
        # One marked year does not show that all readers of the file mark years.
        assert ("1 reviewed note has a date that was moved, and a number like a year" in err) is marks_years
    if not marks_years:  # nothing moves, so that nothing is revealed
        options[3] = "label"
        assert run("redact", tmp_path / "raw", *options[:4], "--output", tmp_path / "plain")[0] == 0
        assert list(contents(tmp_path / "plain").values()) == [year.replace("2010", "[ROOM]") + "Seen on [DATE]."]


def test_years_that_the_model_misses_too_are_counted(run, tmp_path):
    """The years that a model found were replaced, and nobody learned of those beside moved dates that it had missed."""
    texts = {
        "n1": "Operated 1999, and again in 2019. Seen on 3/5/2019.",
        "n2": "Stroke in 2019, dose 2000 mg. Seen on 3/5/2019.",
        "n3": "Operated 1999. Seen today.",
    }
    read = []
    for name, text in texts.items():
        start = text.find("3/5/2019")
        read.append(Document(name, text, (Span(start, start + 8, "DATE"),) if start > 0 else ()))
    write_corpus(read, tmp_path / "read.jsonl")
    write_corpus([Document(*row) for row in texts.items()], tmp_path / "raw", format="text")
    save(NoteDeidentifier(RuleTagger(recognizers=["date"]).fit([]), labels="hipaa"), tmp_path / "model")
    options = ("--reviewed", tmp_path / "read.jsonl", "--mode", "surrogate", "--locale", "en")
    options += ("--model", tmp_path / "model", "--output", tmp_path / "out")
    code, _, err = run("redact", tmp_path / "raw", *options)
    written = contents(tmp_path / "out")
    assert code == 0 and not any("2019" in text for text in written.values())
    assert ["1999" in written[f"{name}.txt"] for name in texts] == [True, False, True]
    assert "1 reviewed note has a date that was moved, and a number like a year" in err and "such as 'n1'" in err
