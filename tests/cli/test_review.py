"""``review``: a page for the notes, and ``redact --reviewed``: the spans of the reader leave."""

import json
import os
import re
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import Corpus, Document, Span, load, write_corpus
from sklearn_deid.cli.reading import warn_of_later_save
from sklearn_deid.cli.review import EPILOG
from sklearn_deid.review import note_uncertainties

from .conftest import assert_no_note_text, contents


def data_of(page):
    """What a page holds."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    return json.loads(data[1])


def notes_of(page):
    """What a page holds of each note."""
    return data_of(page)["notes"]


@pytest.fixture(scope="module")
def work(model, raw, tmp_path_factory):
    from sklearn_deid.cli import main

    folder = tmp_path_factory.mktemp("work")
    assert main(["review", str(raw), "--model", str(model), "--output", str(folder)]) == 0
    return folder


def test_the_example_reads_no_file_from_the_folder_of_the_page():
    """A page can only write into the downloads folder. The example read work/reviewed.jsonl, which nothing writes."""
    folder = re.search(r"review \S+ .*--output (\S+)", EPILOG)[1]
    read = re.findall(r"\S+\.jsonl", EPILOG)
    assert read and not any(name.startswith(folder) for name in read)


def test_the_page_holds_all_notes_with_the_spans_of_the_model(work, model, notes):
    held = {note["id"]: note for note in notes_of(work / "review.html")}
    found = load(model).annotate(notes)
    assert {n.doc_id: n.text for n in notes} == {doc_id: note["text"] for doc_id, note in held.items()}
    for note, spans in zip(notes, found, strict=True):
        assert [row[:4] for row in held[note.doc_id]["spans"]] == [[s.start, s.end, s.label, s.category] for s in spans]
        assert [row[4] for row in held[note.doc_id]["spans"]] == pytest.approx([s.confidence for s in spans], abs=1e-5)


def test_the_reader_can_choose_every_label_of_the_model(run, notes, tmp_path):
    """Labels without a category were missing if the model had found none in these notes."""
    mine = [replace(n, spans=tuple(replace(s, label=f"MY-{s.label}", category=None) for s in n.spans)) for n in notes]
    write_corpus(mine, tmp_path / "mine.jsonl")
    options = ("--from", "none", "--epochs", "1", "--model", tmp_path / "model", "--quiet")
    assert run("train", tmp_path / "mine.jsonl", *options)[0] == 0
    write_corpus([Document("n1", "No pain.")], tmp_path / "raw.jsonl")
    assert run("review", tmp_path / "raw.jsonl", "--model", tmp_path / "model", "--output", tmp_path)[0] == 0
    labels = dict(data_of(tmp_path / "review.html")["labels"])
    assert {span.label for note in mine for span in note.spans} <= labels.keys()
    assert "" not in labels and labels["PATIENT"] == "NAME"


def test_least_certain_notes_come_first(work, model, notes):
    order = [note["id"] for note in notes_of(work / "review.html")]
    unsure = dict(zip((n.doc_id for n in notes), note_uncertainties(load(model), notes), strict=True))
    assert np.all(np.diff([unsure[doc_id] for doc_id in order]) <= 1e-6)
    assert len(set(unsure.values())) > 10


def test_only_the_owner_reads_the_page(work):
    assert (work / "review.html").stat().st_mode & 0o077 == 0


def test_a_page_that_another_run_has_written_in_the_meantime_is_kept(run, tmp_path, monkeypatch):
    """The page was looked for before the notes were tagged, and then replaced without --overwrite."""
    write_corpus([Document("n1", "No pain.")], tmp_path / "raw.jsonl")
    page = tmp_path / "work" / "review.html"

    def other_run(_):
        page.parent.mkdir()
        page.write_text("another page")
        return {"DATE": "DATE"}

    monkeypatch.setattr("sklearn_deid.cli.review._labels", other_run)
    code, _, err = run("review", tmp_path / "raw.jsonl", "--output", tmp_path / "work")
    assert (code, "exists already" in err, page.read_text()) == (2, True, "another page")


def test_an_existing_page_is_kept(run, work, raw, model):
    code, _, err = run("review", raw, "--model", model, "--output", work)
    assert (code, "The output exists already" in err) == (2, True)


def test_withheld_notes_are_listed(run, with_broken, model, tmp_path, notes):
    code, out, err = run("review", with_broken, "--model", model, "--output", tmp_path / "work")
    assert code == 1
    assert "1 withheld" in out and "left out: " in err and "Zyxwvutski" not in err
    assert_no_note_text(out + err, notes)


def test_the_reasons_are_listed_where_no_note_is_left(run, tmp_path):
    """The command only said that there was no note."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "n1.txt").write_bytes("Seen by Dr. Zyxwvutski.".encode("utf-16"))
    code, _, err = run("review", tmp_path / "raw", "--output", tmp_path)
    assert (code, "There is no note to review" in err) == (2, True)
    assert "left out: The file is not in the encoding" in err


def test_without_a_model_the_annotations_are_shown(run, gold, notes, tmp_path, known_keys):
    assert run("review", gold, "--format", "brat", "--surrogates", "--output", tmp_path)[0] == 0
    held = notes_of(tmp_path / "review.html")
    assert [n["id"] for n in held] == [n.doc_id for n in notes], "in their order"
    assert sum(len(n["spans"]) for n in held) == notes.n_spans
    replaced = [(n["text"][a:b], put) for n in held for a, b, label, _, _, put in n["spans"] if label == "PATIENT"]
    assert replaced and all(put and put != text for text, put in replaced)


def test_without_a_model_and_a_format_the_annotations_are_shown(run, gold, raw, notes, tmp_path):
    """A folder of brat was read as raw notes, and a reader saw no annotation of the model."""
    assert run("review", gold, "--output", tmp_path)[0] == 0
    assert sum(len(n["spans"]) for n in notes_of(tmp_path / "review.html")) == notes.n_spans
    assert run("review", gold / f"{notes[1].doc_id}.txt", "--output", tmp_path, "--overwrite")[0] == 0
    assert len(notes_of(tmp_path / "review.html")[0]["spans"]) == len(notes[1].spans)
    assert run("review", raw, "--output", tmp_path, "--overwrite")[0] == 0
    assert [n["spans"] for n in notes_of(tmp_path / "review.html")] == [[]] * len(notes)


# The name in the characters of tags, from right to left, and in base64.
UNSEEN = {
    "tags": "Seen by Alder. " + "".join(chr(0xE0000 + ord(letter)) for letter in "Zyxwvutski"),
    "turned": "Seen by Alder. \u202eikstuvwxyZ\u202c",
    "body": "Seen by Alder.\n" + b64encode(b"Zyxwvutski was seen here. " * 20).decode(),
}


def test_what_a_reader_cannot_see_is_withheld(run, tmp_path):
    """Such notes were in the page, and left with exit code 0 and the name in them."""
    marked = [Document(name, text, (Span(8, 13, "DOCTOR"),)) for name, text in UNSEEN.items()]
    marked.append(Document("seen", "Seen by Alder.", (Span(8, 13, "DOCTOR"),)))
    write_corpus(marked, tmp_path / "reviewed.jsonl")
    write_corpus(marked, tmp_path / "raw", "text", lossy=True)
    assert run("review", tmp_path / "reviewed.jsonl", "--output", tmp_path)[0] == 1
    assert [note["id"] for note in notes_of(tmp_path / "review.html")] == ["seen"]
    options = ("--reviewed", tmp_path / "reviewed.jsonl", "--output", tmp_path / "out")
    assert run("redact", tmp_path / "raw", *options)[0] == 1
    assert contents(tmp_path / "out") == {"seen.txt": "Seen by [DOCTOR]."}


def test_no_notes_make_no_page(run, tmp_path):
    (tmp_path / "none.jsonl").write_text("")
    assert run("review", tmp_path / "none.jsonl", "--output", tmp_path / "work")[0] == 2
    assert not (tmp_path / "work").exists()


@pytest.fixture
def reviewed(notes, tmp_path):
    """A reader has finished two notes: one without any span, one as it was annotated."""
    path = tmp_path / "reviewed.jsonl"
    write_corpus([replace(notes[0], spans=()), notes[1]], path)
    return path


def test_reviewed_notes_leave_with_the_spans_of_the_reader(run, raw, model, notes, reviewed, tmp_path):
    command = ["redact", raw, "--output", tmp_path / "out", "--reviewed", reviewed, "--model", model]
    code, _, err = run(*command)
    assert (code, f"1 reviewed note has no span and was written unchanged, such as '{notes[0].doc_id}'" in err) == (
        0,
        True,
    )
    written = contents(tmp_path / "out")
    assert written[f"{notes[0].doc_id}.txt"] == notes[0].text, "the reader found no PHI"
    first = notes[1].spans[0]
    assert written[f"{notes[1].doc_id}.txt"].startswith(notes[1].text[: first.start] + f"[{first.label}]")
    others = load(model).redact([note.text for note in notes[2:]])
    assert [written[f"{note.doc_id}.txt"] for note in notes[2:]] == others
    reviewed.write_text("")
    code, _, err = run(*command, "--resume")
    assert (code, "differs from this one in: reviewed" in err) == (2, True)


def test_reviewed_notes_keep_their_place(run, raw, model, notes, tmp_path):
    """The notes of a reader were written before the other notes of their batch, also before notes of the patient."""
    write_corpus([notes[2], notes[5]], tmp_path / "reviewed.jsonl")
    options = ("--reviewed", tmp_path / "reviewed.jsonl", "--output")
    assert run("redact", raw, "--model", model, *options, tmp_path / "out.jsonl")[0] == 0
    written = [json.loads(line)["doc_id"] for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert written == sorted(note.doc_id for note in notes)


def test_reviewed_notes_are_not_overwritten(run, raw, model, reviewed):
    """The work of a reader would be lost."""
    before = reviewed.read_bytes()
    code, _, _ = run("redact", raw, "--output", reviewed, "--reviewed", reviewed, "--model", model, "--overwrite")
    assert (code, reviewed.read_bytes() == before) == (2, True)


def test_other_notes_are_withheld_without_a_model(run, raw, notes, reviewed, tmp_path):
    code, _, err = run("redact", raw, "--output", tmp_path / "out", "--reviewed", reviewed)
    assert code == 1
    assert sorted(contents(tmp_path / "out")) == [f"{note.doc_id}.txt" for note in notes[:2]]
    assert "The note is not among the reviewed notes" in err
    assert run("redact", raw, "--output", tmp_path / "other")[0] == 2


def test_spans_of_a_model_that_nobody_has_read_are_counted(run, raw, model, notes, reviewed, tmp_path):
    """The output of `suggest` or `tag` was taken for the work of a reader without a word."""
    run("suggest", raw, "--model", model, "--notes", 3, "--output", tmp_path / "next.jsonl")
    command = ["redact", raw, "--model", model, "--output"]
    code, _, err = run(*command, tmp_path / "a", "--reviewed", tmp_path / "next.jsonl")
    assert (code, "All spans of 3 reviewed notes have the confidence of a model" in err) == (0, True)
    assert "confidence" not in run(*command, tmp_path / "b", "--reviewed", reviewed)[2]


def test_a_changed_note_is_withheld(run, raw, model, notes, tmp_path):
    changed = Corpus([replace(notes[0], text=notes[0].text + " ")])
    write_corpus(changed, tmp_path / "reviewed.jsonl")
    options = ["--model", model, "--reviewed", tmp_path / "reviewed.jsonl"]
    code, _, err = run("redact", raw, "--output", tmp_path / "out", *options)
    assert code == 1
    assert f"{notes[0].doc_id}.txt" not in contents(tmp_path / "out")
    assert "differs from the text of the reviewed note" in err
    assert_no_note_text(err, notes)


def test_a_renamed_note_is_noticed(run, raw, model, notes, reviewed, tmp_path):
    """Its id is the name of the file: the model, and not the reader, finds its PHI."""
    (raw / f"{notes[0].doc_id}.txt").rename(raw / "renamed.txt")
    command = ["redact", raw, "--output", tmp_path / "out", "--reviewed", reviewed, "--model", model]
    for options in ([], ["--resume"]):
        code, _, err = run(*command, *options)
        assert (code, f"1 reviewed note was not among the notes, such as '{notes[0].doc_id}'" in err) == (1, True)
    (raw / "renamed.txt").rename(raw / f"{notes[0].doc_id}.txt")
    assert run(*command, "--overwrite")[0] == 0
    assert run(*command, "--resume")[0] == 0, "skipped notes came, too"


def test_tasks_that_nobody_annotated_are_not_reviewed(run, raw, model, notes, tmp_path):
    """Label Studio exports new tasks, too. They left as they were, as notes in which a reader found no PHI."""
    tasks = [{"data": {"doc_id": note.doc_id, "text": note.text}, "annotations": []} for note in notes]
    span = notes[1].spans[0]
    value = {"start": span.start, "end": span.end, "labels": [span.label]}
    tasks[1]["annotations"] = [{"result": [{"type": "labels", "value": value}]}]
    tasks[2]["predictions"] = [{"result": []}]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    options = ["--reviewed", tmp_path / "export.json", "--model", model]
    assert run("redact", raw, "--output", tmp_path / "out", *options)[0] == 0
    written = contents(tmp_path / "out")
    others = load(model).redact([note.text for note in (notes[0], *notes[2:])])
    assert [written[f"{note.doc_id}.txt"] for note in (notes[0], *notes[2:])] == others
    expected = notes[1].text[: span.start] + f"[{span.label}]" + notes[1].text[span.end :]
    assert written[f"{notes[1].doc_id}.txt"] == expected


@pytest.mark.parametrize("name", ["reviewed (1).jsonl", "reviewed(2).jsonl", "reviewed-1.jsonl"])
def test_a_later_save_beside_the_reviewed_notes_is_pointed_out(run, raw, notes, reviewed, tmp_path, name):
    """A browser does not replace the file of the first save: its notes left without what was marked since."""
    later = tmp_path / name
    later.write_bytes(reviewed.read_bytes())
    (tmp_path / "reviewed-2 (1).jsonl").touch()
    os.utime(reviewed, (10, 10))
    os.utime(later, (20, 20))
    message = f"{name} is beside reviewed.jsonl, and is newer."
    one = raw / f"{notes[1].doc_id}.txt"
    assert message in run("redact", one, "--output", tmp_path / "a.jsonl", "--reviewed", reviewed)[2]
    assert "is newer" not in run("redact", one, "--output", tmp_path / "b.jsonl", "--reviewed", later)[2]
    assert message in run("convert", reviewed, tmp_path / "c.jsonl", "--to", "jsonl", "--lossy")[2]


@pytest.mark.parametrize(
    ("names", "later"),
    [
        (["reviewed-1.jsonl", "reviewed-2.jsonl", "reviewed.jsonl"], "reviewed-2.jsonl"),
        (["batch-1.jsonl", "batch-2.jsonl"], None),
        (["batch-1.jsonl", "batch-1 (1).jsonl", "batch-2.jsonl"], "batch-1 (1).jsonl"),
        (["reviewed.jsonl", "reviewed-2026.jsonl", "reviewed-1.json", "reviewed-x-1.jsonl"], None),
        (["reviewed (1).jsonl", "reviewed (2).jsonl"], "reviewed (2).jsonl"),
    ],
)
def test_which_files_a_browser_has_saved_later(tmp_path, capsys, names, later):
    """Safari appends "-1"; files that a person has numbered are no later saves."""
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (20, 20) if name == later else (10, 10))
    for name in names[1:] if later is None else ():
        os.utime(tmp_path / name, (30, 30))
    warn_of_later_save(tmp_path / names[0])
    err = capsys.readouterr().err
    assert f"{later} is beside {names[0]}, and is newer." in err if later is not None else err == ""


@pytest.mark.parametrize("spans", [{}, {"spans": []}])
def test_raw_notes_are_no_reviewed_notes(run, raw, model, notes, tmp_path, spans):
    lines = [json.dumps({"doc_id": note.doc_id, "text": note.text, **spans}) + "\n" for note in notes]
    (tmp_path / "raw.jsonl").write_text("".join(lines))
    for options in ([], ["--model", model]):
        code, _, err = run("redact", raw, "--output", tmp_path / "out", "--reviewed", tmp_path / "raw.jsonl", *options)
        assert (code, "No reviewed note of this file has a span" in err) == (2, True)
    assert not (tmp_path / "out").exists()
