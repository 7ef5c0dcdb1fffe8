"""The benchmark of epochs beside another checkout: its notes, its processes and its ratios."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.epoch_speed import HERE, MEASURES, compared, mean_epoch, measured, write_notes
from sklearn_deid import make_clinical_notes


def test_ratio_is_that_of_the_fastest_turns_and_below_one_if_this_checkout_is_slower():
    seconds = [[(9, 4, 4), (12, 5, 2)], [(10, 6, 3), (10, 8, 6)]]
    result = compared([tuple(dict(zip(MEASURES, side, strict=True)) for side in turn) for turn in seconds])
    assert list(result["seconds"]["other"].values()) == [9, 4, 3]
    assert list(result["seconds"]["this"].values()) == [10, 5, 2]
    assert list(result["ratio"].values()) == [0.9, 0.8, 1.5]
    assert list(result["ratio_of_turns"].values()) == [[0.75, 1.0], [0.8, 0.75], [2.0, 0.5]]


@pytest.mark.parametrize("n_copied, n_plain", [(1, 0), (2, 0), (2, 1), (4, 1), (16, 4)])
def test_epochs_with_and_without_copies_count_by_their_number(n_copied, n_plain):
    n_epochs = n_copied + n_plain
    # Other load slows down all epochs of a kind but one.
    seconds = np.append(np.linspace(3, 4, n_copied)[::-1], np.linspace(1.5, 2, n_plain)[::-1])
    assert mean_epoch(seconds) == pytest.approx((3 * n_copied + 1.5 * n_plain) / n_epochs)


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
    notes = make_clinical_notes(2, random_state=0)
    write_notes(notes[:1], notes[1:], tmp_path / "notes.json")
    assert min(measured(HERE, tmp_path / "notes.json", n_epochs=1, seed=0).values()) > 0


def test_a_process_with_the_package_of_another_folder_ends_at_once(tmp_path: Path, capfd: pytest.CaptureFixture):
    with pytest.raises(subprocess.CalledProcessError):
        measured(tmp_path, tmp_path / "missing.json", n_epochs=1, seed=0)
    assert f"not from {tmp_path}" in capfd.readouterr().err
