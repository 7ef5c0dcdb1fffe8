"""A Dask cluster of two worker processes gives exactly what one process gives: rows, searches, reproduction plans."""

import json
import os

import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV

from benchmarks.reproduce import running
from benchmarks.reproduce.plan import Step
from sklearn_deid import DeidTagger
from sklearn_deid.integrations import redact_dask
from sklearn_deid.integrations.row_redactor import RowRedactor

from .conftest import X, Y

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
bag = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

NOTES = ["Mr Alder was seen", "a\x00b", "Dr Birch left Northwick .", None, "{\\rtf1 Zyxwvutski}", "", "No pain \ud800"]
NOTES += [f"Dr Birch was seen on 3/{n}/2019 \u2028 é" for n in range(1, 6)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    settings["local_directory"] = str(tmp_path_factory.mktemp("dask"))
    method = "forkserver" if hasattr(os, "fork") else "spawn"  # as Windows needs
    with dask.config.set({"distributed.worker.multiprocessing-method": method}):
        # The workers are forked from a process that imports the packages of others, once: they take seconds.
        distributed.utils.get_mp_context().set_forkserver_preload(
            ["distributed", "pandas", "sklearn.model_selection", "skorch", "torch._dynamo"]
        )
        with distributed.Client(**settings) as client:
            yield client


def test_rows_are_those_of_one_process(cluster, small_path):
    alone = RowRedactor(small_path, "note")({"note": NOTES}, len(NOTES))
    assert [n for n, reason in enumerate(alone["withheld"]) if reason] == [1, 4, 6]
    records = [{"n": n, "note": note} for n, note in enumerate(NOTES)]
    found = redact_dask(small_path, bag.from_sequence(records, npartitions=4), "note").compute()
    assert [(row["n"], row["note"], row["withheld"]) for row in found] == [
        (n, *values) for n, values in enumerate(zip(alone["note"], alone["withheld"], strict=True))
    ]
    # Arrow, which carries the strings of a Dask frame, holds no half of a surrogate pair.
    frame = pd.DataFrame([row for row in records if row["n"] != 6])
    done = redact_dask(small_path, dd.from_pandas(frame, npartitions=4), "note").compute()
    for name in ("note", "withheld"):
        expected = [value for n, value in enumerate(alone[name]) if n != 6]
        assert [None if pd.isna(value) else value for value in done[name]] == expected
    assert done["n"].equals(frame["n"])


def test_search_gives_the_scores_of_one_process(cluster):
    tagger = DeidTagger(max_epochs=3, hidden_size=4, embeddings=None, random_state=0, device="cpu")
    search = GridSearchCV(tagger, {"lr": [0.001, 0.1]}, cv=2, refit=False)
    alone = search.fit(X * 4, Y * 4).cv_results_["mean_test_score"]
    with parallel_config(backend="dask"):
        shared = search.fit(X * 4, Y * 4).cv_results_["mean_test_score"]
    assert shared.tolist() == alone.tolist() and alone.max() > 0


def test_reproduction_plan_gives_the_rows_of_one_process(cluster, tmp_path):
    options = {"arms": ["word-list"], "seeds": [0, 1], "notes": 3, "test_notes": 2}
    step, rows = Step("words", "friedrich", "baselines", "generated", options), {}
    for backend in ("threading", "dask"):
        steps = {step: running.argv_of(step, tmp_path / backend, {}, None)}
        assert running.run_all(steps, tmp_path / backend, 2, backend) == 2
        written = (tmp_path / backend / "runs" / "words.jsonl").read_text().splitlines()
        rows[backend] = {row["seed"]: row["scores"] for row in map(json.loads, written)}
    assert rows["dask"] == rows["threading"] and set(rows["dask"]) == {0, 1}
