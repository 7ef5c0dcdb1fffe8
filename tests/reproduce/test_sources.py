"""Finished runs are recognised by what they hold, wherever they lie."""

import numpy as np
import pytest

from benchmarks.reproduce.sources import read_sources, script_of, value_at
from benchmarks.resumable import interval

from .canned_runs import baseline, perturbation, private, worker, write

ROW = {"a": {"b": [0.5, 0.4, 0.6]}, "workers": [1.0, 2.0, 6.0], "topics": {"x, y": {"mean": {"value": 3}}}, "on": True}


@pytest.mark.parametrize(
    "path, value",
    [
        ("a.b.0", 0.5),
        ("a.b.-1", 0.6),
        ("workers.mean", 3.0),
        ("workers.min", 1.0),
        ("workers.max", 6.0),
        ("topics.x, y.mean.value", 3.0),
        ("a.b.7", None),
        ("a.c", None),
        ("a", None),
        ("on", None),
    ],
)
def test_a_figure_is_found_by_its_path(path, value):
    assert value_at(ROW, path) == value


def test_rows_say_which_script_wrote_them():
    rows = {
        "baselines": baseline("crf", 0, 0.5),
        "perturbations": perturbation("raw", 0, 0.5),
        "private_representation": private("raw", 0, 0.5),
        "dssgd": worker("A", 0, 0.5),
    }
    assert {name: script_of(row) for name, row in rows.items()} == {name: name for name in rows}
    assert script_of({"step": "x", "arm": "raw", "seed": 0, "cpu_seconds": 1.0}) is None
    assert script_of({"scores": {}}) is None


def test_runs_of_the_same_settings_in_several_folders_are_one_source(tmp_path):
    write(tmp_path / "here" / "runs", "a", [perturbation("raw", 0, 0.9), perturbation("raw", 1, 0.8)])
    write(tmp_path / "there", "b", [perturbation("raw", 0, 0.1), perturbation("raw", 2, 0.7)])
    other = {**perturbation("raw", 0, 0.4), "notes": 1000}
    write(tmp_path / "there", "c", [other])
    small, large = read_sources([tmp_path / "here", tmp_path / "there"])
    assert small.seeds == [0, 1, 2] and large.seeds == [0]
    assert small.values("raw", "strict_f1") == {0: 0.9, 1: 0.8, 2: 0.7}  # the first folder counts
    assert (small.key, large.key) == ("R1", "R2") and "1000 notes" in large.label()


def test_one_file_can_be_named_and_a_place_that_is_not_there_is_refused(tmp_path):
    write(tmp_path, "a", [perturbation("raw", 0, 0.9)])
    write(tmp_path, "b", [perturbation("raw", 1, 0.9)])
    (source,) = read_sources([tmp_path / "b.jsonl"])
    assert source.seeds == [1]
    with pytest.raises(FileNotFoundError, match="no runs at"):
        read_sources([tmp_path / "absent"])


def test_the_interval_is_that_of_the_seeds(tmp_path):
    values = [0.9, 0.8, 0.85]
    write(tmp_path, "a", [perturbation("raw", seed, value) for seed, value in enumerate(values)])
    (source,) = read_sources([tmp_path])
    found = source.measured("raw", "scores.absent.f1|strict_f1", 100.0)
    assert found is not None and found.stand_in and found.seeds == (0, 1, 2)
    assert np.allclose((found.mean, found.low, found.high), 100 * np.array(interval(values)))
    assert source.measured("zeros", "strict_f1") is None


def test_meddocan_has_no_more_notes_than_it_has(tmp_path):
    write(tmp_path, "a", [{**private("raw", 0, 0.9), "notes": 1000}])
    (source,) = read_sources([tmp_path])
    assert source.label() == "R1: meddocan, all 500 notes"
