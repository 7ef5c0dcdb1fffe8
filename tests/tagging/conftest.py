"""Small annotated sentences, and settings of taggers that learn them in a second."""

import gc
import pickle
import signal
from concurrent.futures import BrokenExecutor, Future

import numpy as np
import pytest

from sklearn_deid.tagging import SpanSwap, note_processes

SMALL = {
    "max_epochs": 10,
    "lr": 0.03,
    "hidden_size": 12,
    "batch_size": 60,
    "random_state": 0,
    "device": "cpu",
    "embeddings": None,
    # The few names below are all that these taggers need to know.
    "span_swap": SpanSwap(invented=0),
}

# Learns from half of the sentences of the fixture what the settings above learn from all of them.
QUICK = {**SMALL, "max_epochs": 5, "lr": 0.06}

SURNAMES = ["Alder", "Birch", "Cedar", "Damson", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper"]
TOWNS = ["Northwick", "Eastham", "Southby", "Westerley"]


def make_sentences(n, seed=0):
    """n sentences, their IOB2 tags and the patient of each."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        name, town, age = rng.choice(SURNAMES), rng.choice(TOWNS), str(rng.integers(20, 90))
        sentence, tags = [
            (["Mr", ".", name, "was", "seen"], ["O", "O", "B-PATIENT", "O", "O"]),
            (["Lives", "in", town, town], ["O", "O", "B-CITY", "I-CITY"]),
            (["Aged", age, "years", "."], ["O", "B-AGE", "O", "O"]),
            (["No", "pain", "."], ["O", "O", "O"]),
        ][rng.integers(4)]
        X.append([str(token) for token in sentence])
        y.append(tags)
    return X, y, [f"patient-{i // 4}" for i in range(n)]


def assert_rows_equal(a, b):
    assert len(a) == len(b)
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


class LocalPool:
    """Stands for the processes: the tagger travels as bytes, and batches are tagged when they are submitted."""

    shut = 0

    def __init__(self, n_jobs, initializer, initargs):
        initializer(*pickle.loads(pickle.dumps(initargs)))

    def submit(self, function, *batches):
        future = Future()
        if any("end" in batch.texts for batch in batches):
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(batches))))))
        return future

    def shutdown(self, wait, kill_workers):
        assert wait and kill_workers
        LocalPool.shut += 1


@pytest.fixture
def local_processes(monkeypatch):
    """Several jobs without processes, each of which would import torch."""
    monkeypatch.setattr(LocalPool, "shut", 0)
    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", LocalPool)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(note_processes, "_end_with", lambda *_: None)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    yield
    note_processes._taggers.clear()
