"""``suggest``: the chosen notes with the spans of the model, without those that are annotated already."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from sklearn_deid import load, read_corpus, write_corpus
from sklearn_deid.review import suggest_notes


def test_the_best_notes_are_written_in_order(run, raw, model, notes, tmp_path):
    output = tmp_path / "next.jsonl"
    assert run("suggest", raw, "--model", model, "--notes", 4, "--output", output)[0] == 0
    deidentifier = load(model)
    written = read_corpus(output)
    assert [n.doc_id for n in written] == [notes[place].doc_id for place in suggest_notes(deidentifier, notes, 4)]
    assert [len(n.spans) for n in written] == [len(s) for s in deidentifier.annotate(written)]
    assert run("suggest", raw, "--model", model, "--output", output)[0] == 2, "the output exists"
    assert output.stat().st_mode & 0o077 == 0, "raw notes, as private as the review page"


def test_half_a_file_of_a_killed_run_is_named_before_the_notes_are_tagged(run, raw, tmp_path):
    """The run tagged all notes, and then advised --resume, which suggest lacks."""
    (tmp_path / "next.jsonl.part").write_text("{")
    code, _, err = run("suggest", raw, "--model", tmp_path / "no-model", "--output", tmp_path / "next.jsonl")
    assert (code, "Use --overwrite" in err, "next.jsonl.part" in err, "--resume" in err) == (2, True, True, False)


def test_annotated_notes_are_not_chosen_again(run, raw, model, notes, tmp_path):
    write_corpus(notes[:9], tmp_path / "known.jsonl")
    command = ["suggest", raw, "--model", model, "--output", tmp_path / "next.jsonl"]
    assert run(*command, "--exclude", tmp_path / "known.jsonl")[0] == 0
    assert sorted(n.doc_id for n in read_corpus(tmp_path / "next.jsonl")) == [n.doc_id for n in notes[9:]]

    write_corpus(notes, tmp_path / "all.jsonl")
    code, _, err = run(
        "suggest", raw, "--model", model, "--output", tmp_path / "none.jsonl", "--exclude", tmp_path / "all.jsonl"
    )
    assert (code, "no note is left to choose" in err, (tmp_path / "none.jsonl").exists()) == (2, True, False)


def test_unanswered_tasks_are_chosen_again(run, raw, model, notes, tmp_path):
    """An export of Label Studio with all tasks, of which the reader has answered nine."""
    export = tmp_path / "export.json"
    write_corpus(notes, export, "labelstudio")
    tasks = json.loads(export.read_text(encoding="utf-8"))
    for task in tasks[9:]:
        task["annotations"] = []
    export.write_text(json.dumps(tasks), encoding="utf-8")
    command = ["suggest", raw, "--model", model, "--output", tmp_path / "next.jsonl"]
    assert run(*command, "--exclude", export)[0] == 0
    assert sorted(n.doc_id for n in read_corpus(tmp_path / "next.jsonl")) == [n.doc_id for n in notes[9:]]


def test_broken_notes_are_listed(run, with_broken, model, tmp_path):
    code, out, err = run("suggest", with_broken, "--model", model, "--output", tmp_path / "next.jsonl", "--notes", 2)
    assert (code, "1 withheld" in out, "left out" in err, "Zyxwvutski" in err) == (1, True, True, False)
    assert run("suggest", with_broken, "--model", model, "--output", tmp_path / "next.txt")[0] == 2


def test_without_a_note_to_choose_no_file_is_written(run, model, tmp_path):
    """If all notes were withheld, an empty file was written."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "n1.txt").write_bytes(b"Zyxwvutski \xff")
    code, _, err = run("suggest", tmp_path / "raw", "--model", model, "--output", tmp_path / "next.jsonl")
    assert (code, "no note to choose" in err, "left out" in err, "Zyxwvutski" in err) == (2, True, True, False)
    assert not (tmp_path / "next.jsonl").exists()


def test_the_work_of_a_reader_is_not_replaced(run, raw, model, notes, tmp_path):
    write_corpus(notes[:9], tmp_path / "reviewed.jsonl")
    before = (tmp_path / "reviewed.jsonl").read_bytes()
    known = ["--exclude", tmp_path / "reviewed.jsonl", "--output", tmp_path / "reviewed.jsonl", "--overwrite"]
    assert run("suggest", raw, "--model", model, *known)[0] == 2
    assert (tmp_path / "reviewed.jsonl").read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
def test_a_file_name_that_is_not_utf_8_withholds_its_note(run, raw, model, notes, tmp_path):
    """`suggest` ended without an output, and the page saved such ids with other characters."""
    folder = Path(shutil.copytree(raw, tmp_path / "raw"))
    for name in (b"M\xfcller.txt", b"M\xf6ller.txt"):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_text("Seen today.", encoding="utf-8")
    command = [folder, "--model", model, "--output"]
    code, out, _ = run("suggest", *command, tmp_path / "next.jsonl", "--notes", 90)
    assert (code, f"{len(notes)} of {len(notes)} notes" in out, "2 withheld" in out) == (1, True, True)
    code, out, _ = run("review", *command, tmp_path / "work")
    assert (code, f"{len(notes)} notes are" in out, "2 withheld" in out) == (1, True, True)


def test_notes_without_a_found_span_are_no_notes_that_somebody_has_read(run, model, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.txt").write_text("No pain.", encoding="utf-8")
    assert run("suggest", tmp_path / "raw", "--model", model, "--output", tmp_path / "next.jsonl")[0] == 0
    assert json.loads((tmp_path / "next.jsonl").read_text(encoding="utf-8")) == {"doc_id": "a", "text": "No pain."}
