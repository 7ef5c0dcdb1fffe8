"""Content that a worker sends again is refused, also with small changes, under a new version, and after a restart."""

import math

import numpy as np
import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ParameterServer, ServerLimits, SparseUpdate

MODEL, SIZE = "0" * 32, 20_000


def update(values, version=0):
    return SparseUpdate(np.arange(SIZE), np.asarray(values, np.float32), SIZE, MODEL, version)


@pytest.fixture
def server():
    return ParameterServer(np.ones(SIZE), MODEL, random_state=0)


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(0, 0.01, SIZE)


@pytest.mark.parametrize(
    "change", [lambda v: 1.001 * v, lambda v: 0.5 * v, lambda v: v + 1e-4, lambda v: np.round(v, 3)]
)
def test_old_content_with_small_changes_is_refused(server, values, change):
    server.upload(update(values), "a", 0)
    with pytest.raises(ExchangeError, match="direction of an earlier update"):
        server.upload(update(change(values), version=1), "a", 1)
    assert server.version == 1
    assert server.upload(update(change(values), version=1), "b", 0)  # sites may learn the same


def test_updates_of_a_training_are_not_alike(server, values):
    """Neighbours with a cosine of 0.7 are added; in a training of three sites it was at most 0.47."""
    rng = np.random.default_rng(1)
    for number in range(20):
        values = 0.7 * values + 0.7 * rng.normal(0, 0.01, SIZE)  # cosine of neighbours: 0.7
        assert server.upload(update(values, version=number), "a", number)


def test_a_repeated_request_is_no_repeated_content(server, values):
    assert server.upload(update(values), "a", 0)
    assert not server.upload(update(values), "a", 0)


def test_a_restart_remembers(server, values, tmp_path):
    server.upload(update(values), "a", 0)
    server.save(tmp_path / "server.state")
    again = ParameterServer.load(tmp_path / "server.state")
    with pytest.raises(ExchangeError, match="direction of an earlier update"):
        again.upload(update(0.9 * values), "a", 1)


def test_a_failed_checkpoint_forgets(server, values, tmp_path):
    server.checkpoint = tmp_path / "missing" / "server.state"
    with pytest.raises(OSError, match="missing"):
        server.upload(update(values), "a", 0)
    server.checkpoint = None
    assert server.upload(update(values), "a", 0)


def test_no_limit(values):
    server = ParameterServer(np.ones(SIZE), MODEL, ServerLimits(max_similarity=math.inf), random_state=0)
    assert all(server.upload(update((1 + number) * values), "a", number) for number in range(2))


def test_few_parameters_are_alike_by_chance():
    server = ParameterServer(np.zeros(4), MODEL, ServerLimits(max_norm=10), random_state=0)
    for number in range(2):
        values = np.full(4, 0.1 + number, np.float32)
        assert server.upload(SparseUpdate(np.arange(4), values, 4, MODEL), "a", number)
