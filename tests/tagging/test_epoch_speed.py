"""The benchmark of epochs beside another checkout: its notes, its processes and its ratios."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.epoch_speed import HERE, compared, measured, write_notes
from sklearn_deid import make_clinical_notes


def test_ratio_is_that_of_the_fastest_turns_and_below_one_if_this_checkout_is_slower():
    turns = [({"epoch": 9.0, "tagging": 4.0}, {"epoch": 12.0, "tagging": 2.0})]
    turns.append(({"epoch": 10.0, "tagging": 3.0}, {"epoch": 10.0, "tagging": 6.0}))
    result = compared(turns)
    assert result["seconds"] == {"other": {"epoch": 9.0, "tagging": 3.0}, "this": {"epoch": 10.0, "tagging": 2.0}}
    assert result["ratio"] == {"epoch": 0.9, "tagging": 1.5}
    assert result["ratio_of_turns"] == {"epoch": [0.75, 1.0], "tagging": [2.0, 0.5]}


def test_written_notes_hold_text_spans_and_patients(tmp_path: Path):
    notes = make_clinical_notes(3, random_state=0)
    write_notes(notes[:2], notes[2:], tmp_path / "notes.json")
    train, test = json.loads((tmp_path / "notes.json").read_text(encoding="utf-8"))
    assert [len(train), len(test)] == [2, 1]
    for written, note in zip([*train, *test], notes, strict=True):
        assert (written["id"], written["text"], written["patient"]) == (note.doc_id, note.text, note.patient_id)
        found = [(note.text[start:end], label) for start, end, label in written["spans"]]
        assert found == [(note.text[span.start : span.end], span.label) for span in note.spans]


def test_a_process_trains_and_tags_with_the_package_of_the_checkout(tmp_path: Path):
    notes = make_clinical_notes(4, random_state=0)
    write_notes(notes[:3], notes[3:], tmp_path / "notes.json")
    assert min(measured(HERE, tmp_path / "notes.json", n_epochs=1, seed=0).values()) > 0


def test_a_process_with_the_package_of_another_folder_ends_at_once(tmp_path: Path, capfd: pytest.CaptureFixture):
    with pytest.raises(subprocess.CalledProcessError):
        measured(tmp_path, tmp_path / "missing.json", n_epochs=1, seed=0)
    assert f"not from {tmp_path}" in capfd.readouterr().err
