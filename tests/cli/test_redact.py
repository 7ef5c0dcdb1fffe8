"""``redact``: nothing that failed is written, nothing that is finished gets lost."""

import json
import os
import shutil
import signal
import sys

import pytest

from sklearn_deid import Document, Span, load, write_corpus
from sklearn_deid.cli.note_output import NoteOutput
from sklearn_deid.tagging.note_tagger import NoteTagger

from .conftest import assert_no_note_text, contents


@pytest.fixture(scope="module")
def expected(model, notes):
    """Redacted texts by id, made by the library."""
    texts = load(model).redact([document.text for document in notes])
    assert any("[" + span.label + "]" in text for d, text in zip(notes, texts, strict=True) for span in d.spans)
    return {document.doc_id: text for document, text in zip(notes, texts, strict=True)}


def as_files(expected):
    return {f"{doc_id}.txt": text for doc_id, text in expected.items()}


def test_folder_to_folder(run, raw, model, tmp_path, expected, notes):
    code, out, err = run("redact", raw, "--model", model, "--output", tmp_path / "out")
    assert (code, out) == (0, "")
    assert contents(tmp_path / "out") == as_files(expected)
    assert f"{len(notes)} notes redacted, 0 withheld." in err
    assert f"{len(notes)}/{len(notes)}" in err, "the progress bar counts"
    assert_no_note_text(err, notes)


@pytest.mark.parametrize("mode", ["mask", "remove"])
def test_modes(run, raw, model, tmp_path, notes, mode):
    assert run("redact", raw, "--model", model, "--output", tmp_path, "--mode", mode)[0] == 0
    texts = load(model).redact([document.text for document in notes], mode=mode)
    assert list(contents(tmp_path).values()) == texts


def test_jsonl_holds_ids_and_redacted_texts_alone(run, notes, model, tmp_path, expected):
    write_corpus(notes, tmp_path / "notes.jsonl")
    output = tmp_path / "out.jsonl"
    assert run("redact", tmp_path / "notes.jsonl", "--model", model, "--output", output)[0] == 0
    records = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert {record["doc_id"]: record["text"] for record in records} == expected
    assert all(record.keys() == {"doc_id", "text"} for record in records)
    assert not any(document.patient_id in output.read_text(encoding="utf-8") for document in notes)


def test_one_file(run, raw, model, tmp_path, expected):
    note = raw / "note-00003.txt"
    assert run("redact", note, "--model", model, "--output", tmp_path)[0] == 0
    assert contents(tmp_path) == {note.name: expected["note-00003"]}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/stdin")
def test_standard_input(run, model, tmp_path, notes, expected):
    before, (end, beginning) = os.dup(0), os.pipe()
    os.write(beginning, notes[0].text.encode("utf-8"))
    os.dup2(end, 0)
    for descriptor in (beginning, end):
        os.close(descriptor)
    try:
        assert run("redact", "-", "--model", model, "--output", tmp_path, "--quiet")[0] == 0
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert contents(tmp_path) == {"stdin.txt": expected[notes[0].doc_id]}


def test_broken_note_is_withheld_and_reported(run, with_broken, model, tmp_path, expected, notes):
    code, out, err = run("redact", with_broken, "--model", model, "--output", tmp_path / "out")
    assert (code, out) == (1, "")
    assert contents(tmp_path / "out") == as_files(expected)
    assert f"{len(notes)} notes redacted, 1 withheld." in err
    assert "withheld: The file is not in the encoding utf-8 (byte 14). Pass --encoding NAME" in err
    assert "document note-00000]" in err
    assert "Zyxwvutski" not in err
    assert_no_note_text(err, notes)


def test_note_that_the_tagger_fails_on_is_withheld(run, raw, model, tmp_path, expected, notes, monkeypatch):
    spans = NoteTagger._spans

    def fail_on_one(self, texts, *patients):
        if notes[4].text in texts:
            raise RuntimeError(f"cannot tag {notes[4].text}")
        return spans(self, texts, *patients)

    monkeypatch.setattr(NoteTagger, "_spans", fail_on_one)
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path)
    assert code == 1
    assert contents(tmp_path) == {k: v for k, v in as_files(expected).items() if k != f"{notes[4].doc_id}.txt"}
    assert f"withheld: The note cannot be processed: RuntimeError. [document {notes[4].doc_id}]" in err
    assert_no_note_text(err, notes)


def test_note_that_cannot_be_written_is_withheld(run, model, tmp_path):
    lines = [{"doc_id": "../a", "text": "Seen by Dr. Alder."}, {"doc_id": "b", "text": "Fine."}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    code, _, err = run("redact", tmp_path / "in.jsonl", "--model", model, "--output", tmp_path / "out")
    assert code == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.txt"]
    assert "1 note redacted, 1 withheld" in err and "[document ../a]" in err


def test_other_files_are_counted(run, raw, model, tmp_path):
    shutil.copytree(raw, tmp_path / "notes")
    (tmp_path / "notes" / "letters").mkdir()
    (tmp_path / "notes" / "scan.pdf").write_bytes(b"")
    (tmp_path / "notes" / ".note.txt").write_text("A note that was lost without a word.")
    _, _, err = run("redact", tmp_path / "notes", "--model", model, "--output", tmp_path / "out")
    assert "3 other files and sub-folders of the input folder were not read." in err


@pytest.mark.parametrize("output", ["out", "out.jsonl"])
def test_existing_output_is_refused(run, raw, model, tmp_path, output):
    command = ["redact", raw, "--model", model, "--output", tmp_path / output]
    assert run(*command)[0] == 0
    code, _, err = run(*command)
    assert code == 2
    assert "The output exists already. Use --resume" in err
    assert run(*command, "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("notes", "notes"),
        ("notes", "notes/out"),
        ("notes", "notes/o.jsonl"),
        ("notes/note-00001.txt", "notes"),
        ("notes", "."),
    ],
)
def test_output_among_the_notes_is_refused(run, raw, model, tmp_path, source, output):
    shutil.copytree(raw, tmp_path / "notes")
    before = contents(tmp_path / "notes")
    code, _, err = run("redact", tmp_path / source, "--model", model, "--output", tmp_path / output, "--overwrite")
    assert code == 2
    assert "The output must not lie in the folder of the notes." in err
    assert contents(tmp_path / "notes") == before


@pytest.mark.parametrize(
    ("output", "message"),
    [("a.txt", "needs a folder"), ("folder.jsonl", "but the path is a folder"), ("f", "needs a folder")],
)
def test_output_of_another_kind_is_refused(run, raw, model, tmp_path, output, message):
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "f").write_text("", encoding="utf-8")
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path / output, "--overwrite")
    assert code == 2
    assert message in err


@pytest.mark.parametrize("output", ["out", "out.jsonl"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_goes_on(run, raw, model, tmp_path, monkeypatch, output, number, expected):
    whole = ["redact", raw, "--model", model, "--output", tmp_path / "whole" / output]
    assert run(*whole)[0] == 0
    write, written = NoteOutput.write, []

    def interrupted(self, document, note):
        if len(written) == 5:
            signal.raise_signal(number)
        written.append(document.doc_id)
        write(self, document, note)

    command = ["redact", raw, "--model", model, "--output", tmp_path / output]
    with monkeypatch.context() as patch:
        patch.setattr(NoteOutput, "write", interrupted)
        code, _, err = run(*command)
    assert code == 130
    assert "5 notes redacted" in err and "interrupted" in err
    if output == "out":
        assert contents(tmp_path / "out") == {k: v for k, v in as_files(expected).items() if k[:-4] in written}
    else:
        assert not (tmp_path / output).exists()
        assert len((tmp_path / "out.jsonl.part").read_bytes().splitlines()) == 5

    assert run(*command)[0] == 2, "neither --resume nor --overwrite"
    code, _, err = run(*command, "--resume")
    assert code == 0
    assert f"{len(expected) - 5} notes redacted, 0 withheld, 5 were finished before." in err
    if output == "out":
        assert contents(tmp_path / "out") == contents(tmp_path / "whole" / "out")
    else:
        assert (tmp_path / output).read_bytes() == (tmp_path / "whole" / output).read_bytes()


def test_resume_makes_what_is_missing_and_no_more(run, raw, model, tmp_path, expected):
    command = ["redact", raw, "--model", model, "--output", tmp_path]
    run(*command)
    for path in sorted(tmp_path.iterdir())[::2]:
        path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "note-00001.txt.part").write_text("half a no", encoding="utf-8")
    assert run(*command, "--resume")[0] == 0
    assert contents(tmp_path) == as_files(expected)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_resume_cuts_a_half_line_off(run, raw, model, tmp_path):
    command = ["redact", raw, "--model", model, "--output"]
    run(*command, tmp_path / "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    (tmp_path / "half.jsonl.part").write_bytes(whole[: len(whole) // 2])
    shutil.copyfile(tmp_path / "whole.jsonl.run", tmp_path / "half.jsonl.run")
    assert run(*command, tmp_path / "half.jsonl", "--resume")[0] == 0
    assert (tmp_path / "half.jsonl").read_bytes() == whole


def test_resume_tries_withheld_notes_again(run, with_broken, model, tmp_path, expected):
    command = ["redact", with_broken, "--model", model, "--output", tmp_path / "out.jsonl"]
    assert run(*command)[0] == 1
    (with_broken / "note-00000.txt").write_text("Fine.", encoding="utf-8")
    code, _, err = run(*command, "--resume")
    assert code == 0
    assert f"1 note redacted, 0 withheld, {len(expected)} were finished before." in err


def test_overwriting_leaves_no_old_output_of_a_withheld_note(run, with_broken, model, tmp_path):
    command = ["redact", with_broken, "--model", model, "--output", tmp_path / "out", "--overwrite"]
    assert run(*command, "--encoding", "latin-1")[0] == 0
    assert (tmp_path / "out" / "note-00000.txt").exists()
    assert run(*command)[0] == 1
    assert not (tmp_path / "out" / "note-00000.txt").exists()


def test_second_note_of_an_id_does_not_take_the_first_one_away(run, model, tmp_path):
    lines = ['{"doc_id": "a", "text": "One."}', '{"doc_id": "a", "text": "Two."}']
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "first.jsonl").write_text(lines[0], encoding="utf-8")
    for notes, code in (("first", 0), ("in", 1)):
        output = ("--output", tmp_path / notes, "--overwrite")
        assert run("redact", tmp_path / f"{notes}.jsonl", "--model", model, *output)[0] == code
    assert contents(tmp_path / "in") == contents(tmp_path / "first") != {}


def test_wrong_input_leaves_no_output(run, model, tmp_path):
    (tmp_path / "empty").mkdir()
    for notes in ("empty", "nothing"):
        code, _, err = run("redact", tmp_path / notes, "--model", model, "--output", tmp_path / "out.jsonl")
        assert (code, err.count("\n")) in ((2, 1), (2, 2))
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_full_disk_is_fatal(run, raw, model, tmp_path, monkeypatch):
    def full(self, document, note):
        raise OSError(28, "No space left on device", "x.txt")

    monkeypatch.setattr(NoteOutput, "write", full)
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path)
    assert code == 2
    assert "sklearn-deid: error: No space left on device. [file x.txt]" in err


def test_unknown_device_is_fatal(run, raw, model, tmp_path):
    code, _, err = run("redact", raw, "--model", model, "--output", tmp_path / "o", "--device", "cuda:77")
    assert (code, "There is no device cuda:77" in err) == (2, True)
    assert "--device must be auto, cpu" in run("redact", raw, "--model", model, "--output", "o", "--device", "tpu")[2]


@pytest.mark.parametrize("label", ["x] Zyxw [", "Dr Zyxw", "ZYXW", "Zyxw", "a" * 65])
def test_a_label_that_holds_text_is_not_written(run, tmp_path, label):
    """Labels of a file are written into the redacted notes: a name as a label left with exit code 0."""
    write_corpus([Document("n1", "Seen by Zyxw.", (Span(8, 12, label),))], tmp_path / "reviewed.jsonl")
    write_corpus([Document("n1", "Seen by Zyxw.")], tmp_path / "notes", format="text")
    options = ("--reviewed", tmp_path / "reviewed.jsonl", "--output", tmp_path / "redacted")
    code, _, err = run("redact", tmp_path / "notes", *options)
    assert (code, "Zyxw" in err, list(tmp_path.glob("redacted*"))) == (2, False, [])
    assert "a label is not a plain word" in err.lower()
