"""Runs are kept one by one, and the same command goes on where it was interrupted."""

import json

import pytest

from benchmarks.reproduce import running
from benchmarks.reproduce.__main__ import parse_arguments, shown_command
from benchmarks.reproduce.plan import Step

from . import toy_script


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(running, "module_of", lambda script: toy_script)
    toy_script.RAN.clear()
    return toy_script


def prepared(tmp_path, **options):
    step = Step("toy-generated", "friedrich", "toy", "generated", options)
    return {step: running.argv_of(step, tmp_path, {}, "cpu")}


def kept(tmp_path):
    path = tmp_path / "runs" / "toy-generated.jsonl"
    return [(row["arm"], row["seed"]) for row in map(json.loads, path.read_text().splitlines())]


def test_everything_is_run_once_first_seeds_first(toy, tmp_path, capsys):
    steps = prepared(tmp_path, seeds=[0, 1])
    assert running.run_all(steps, tmp_path, 1, "loky") == 4
    assert kept(tmp_path) == [("left", 0), ("right", 0), ("left", 1), ("right", 1)] == toy.RAN
    assert "[4/4] toy-generated: right, seed 1" in capsys.readouterr().err
    assert running.run_all(steps, tmp_path, 1, "loky") == 0
    assert len(toy.RAN) == 4


def test_after_an_interruption_only_the_rest_is_run(toy, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        running.run_all(prepared(tmp_path, arms=["left", "fails", "right"]), tmp_path, 1, "loky")
    assert kept(tmp_path) == [("left", 0)]
    assert running.run_all(prepared(tmp_path, arms=["left", "right"], seeds=[0, 1]), tmp_path, 1, "loky") == 3
    assert sorted(kept(tmp_path)) == sorted(set(toy.RAN)) == sorted(toy.RAN)


def test_runs_with_other_settings_are_not_mixed(toy, tmp_path):
    running.run_all(prepared(tmp_path), tmp_path, 1, "loky")
    with pytest.raises(SystemExit, match="other settings"):
        running.run_all(prepared(tmp_path, notes=4), tmp_path, 1, "loky")


def test_costs_and_summaries_are_written_and_summaries_not_made_again(toy, tmp_path):
    steps = prepared(tmp_path)
    running.run_all(steps, tmp_path, 1, "loky")
    running.summarise(steps, tmp_path)
    summary = tmp_path / "toy-generated.json"
    assert len(json.loads(summary.read_text())["rows"]) == 2
    assert len((tmp_path / "costs.jsonl").read_text().splitlines()) == 2
    summary.write_text("kept")
    running.summarise(steps, tmp_path)
    assert summary.read_text() == "kept"


def test_processes_give_the_same_rows_as_one(tmp_path):
    step = Step("words", "friedrich", "baselines", "generated", {"arms": ["word-list"], "notes": 3, "test_notes": 2})
    rows = []
    for jobs in (1, 2):
        steps = {step: running.argv_of(step, tmp_path / str(jobs), {}, None)}
        running.run_all(steps, tmp_path / str(jobs), jobs, "threading" if jobs == 2 else "loky")
        rows.append(json.loads((tmp_path / str(jobs) / "runs" / "words.jsonl").read_text()))
    assert rows[0]["scores"] == rows[1]["scores"]


def test_a_missing_cluster_library_is_named(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(running.importlib, "import_module", absent)
    with pytest.raises(ModuleNotFoundError, match="distributed"), running.chosen_backend("dask", 2):
        pass


def test_data_folders(tmp_path):
    (tmp_path / "meddocan").mkdir()
    for folder in (tmp_path, tmp_path / "meddocan"):
        assert parse_arguments(["--data", f"meddocan={folder}"]).data == {"meddocan": str(tmp_path.resolve())}
    for wrong in ("mimic=.", "meddocan", f"i2b2={tmp_path / 'absent'}"):
        with pytest.raises(SystemExit):
            parse_arguments(["--data", wrong])


def test_the_report_names_no_folder(tmp_path):
    arguments = parse_arguments(["--quick", "--data", f"i2b2={tmp_path}", "--only", "ahmed", "--jobs", "3"])
    assert shown_command(arguments) == (
        "python -m benchmarks.reproduce --quick --only ahmed --data i2b2=FOLDER --jobs 3"
    )
