"""Saved states that somebody else has written: whole files with valid digests, and values that no `save` writes."""

import copy

import numpy as np
import pytest

from sklearn_deid.exceptions import DeidError
from sklearn_deid.federated import ExchangeRecord, ParameterServer, SparseUpdate, Worker, WorkerSettings
from sklearn_deid.federated.state_file import read_state, write_state

MODEL, SIZE = "0" * 32, 6
VALUES = [None, -(2**70), float("nan"), "x", [], {}, [[]], [["a", "b"]], {"a": 1}]


class Still:
    """A learner that learns nothing."""

    def __init__(self):
        self.vector = np.zeros(SIZE, dtype=np.float32)

    def get_flat(self):
        return self.vector

    def set_flat(self, vector):
        self.vector = vector

    def train_epoch(self):
        return {}


def new_worker():
    return Worker("a", Still(), MODEL, WorkerSettings(), random_state=0)


def saved_server(path):
    server = ParameterServer(np.zeros(SIZE), MODEL, random_state=0)
    server.upload(SparseUpdate(np.arange(SIZE), np.full(SIZE, 0.1, np.float32), SIZE, MODEL, 0), "a", 0)
    server.save(path)


def saved_worker(path):
    worker = new_worker()
    worker.local_epoch()
    worker.select_upload()
    worker.save(path)


def saved_record(path):
    record = ExchangeRecord()
    record.add("up", "a", 1, b"abc")
    record.save(path)


KINDS = {
    "parameter server": (saved_server, lambda path: ParameterServer.load(path).save(path)),
    "worker": (saved_worker, lambda path: new_worker().restore(path)),
    "exchange record": (saved_record, lambda path: len(ExchangeRecord.load(path))),
}


def leaves(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*path, key))


def with_value(state, path, value):
    state = copy.deepcopy(state)
    inner = state
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return state


def without(state, path):
    return {key: value for key, value in state.items() if key != path[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_state_is_refused_or_read_but_never_fails_otherwise(kind, tmp_path):
    save, load = KINDS[kind]
    save(tmp_path / "saved")
    state, arrays = read_state(tmp_path / "saved", kind)
    forged = [(with_value(state, path, value), arrays) for path in leaves(state) for value in VALUES]
    forged += [(without(state, path), arrays) for path in leaves(state) if len(path) == 1]
    for name, array in arrays.items():
        for other in (array[:-1], array[None], array.astype(np.float64) * np.nan):
            forged.append((state, {**arrays, name: other}))
        forged.append((state, {key: value for key, value in arrays.items() if key != name}))
    n_refused = 0
    for values in forged:
        write_state(tmp_path / "forged", kind, *values)
        try:
            load(tmp_path / "forged")
        except DeidError:
            n_refused += 1
    assert n_refused > len(forged) / 3
    load(tmp_path / "saved")


@pytest.mark.parametrize("name", ["sequence", "version", "n_epochs"])
def test_an_invalid_state_of_a_worker_changes_nothing(name, tmp_path):
    saved_worker(tmp_path / "saved")
    state, arrays = read_state(tmp_path / "saved", "worker")
    arrays["parameters"] = np.ones(SIZE, dtype=np.float32)
    write_state(tmp_path / "forged", "worker", {**state, name: "3"}, arrays)
    worker = new_worker()
    with pytest.raises(DeidError, match="not a saved worker: a field is missing or invalid"):
        worker.restore(tmp_path / "forged")
    assert not worker.learner.vector.any() and not worker.pending and worker.n_epochs == 0


@pytest.mark.parametrize("vector", [np.zeros(SIZE - 1), np.full(SIZE, np.inf)])
def test_parameters_of_another_size_or_diverged_ones_are_refused(vector, tmp_path):
    saved_worker(tmp_path / "saved")
    state, arrays = read_state(tmp_path / "saved", "worker")
    write_state(tmp_path / "forged", "worker", state, {**arrays, "parameters": vector.astype(np.float32)})
    with pytest.raises(DeidError, match="a field is missing or invalid"):
        new_worker().restore(tmp_path / "forged")
