"""Plans of who does what when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.federated import SCHEDULES, plan_steps


def plan(schedule, n_workers, n_epochs, seed=0, mean_delay=1.0):
    return plan_steps(schedule, n_workers, n_epochs, np.random.default_rng(seed), mean_delay)


def staleness(steps):
    """Uploads that arrive between the download and the upload of each worker and epoch, counted by hand."""
    found = {}
    for i, step in enumerate(steps):
        if step.action == "upload":
            start = steps.index(("download", step.worker, step.epoch))
            found[step.worker, step.epoch] = sum(s.action == "upload" for s in steps[start:i])
    return found


@given(st.sampled_from(SCHEDULES), st.integers(0, 5), st.integers(0, 5), st.integers(0, 20), st.floats(0, 5))
def test_every_worker_does_everything_once_and_in_order(schedule, n_workers, n_epochs, seed, mean_delay):
    steps = plan(schedule, n_workers, n_epochs, seed, mean_delay)
    assert len(steps) == len(set(steps)) == 3 * n_workers * n_epochs
    for worker in range(n_workers):
        own = [step for step in steps if step.worker == worker]
        busy = [(step.action, step.epoch) for step in own if step.action != "upload"]
        assert busy == [(action, epoch) for epoch in range(n_epochs) for action in ("download", "train")]
        for epoch in range(n_epochs):
            assert own.index(("train", worker, epoch)) < own.index(("upload", worker, epoch))


def test_sequential_is_never_stale():
    assert set(staleness(plan("sequential", 4, 3)).values()) == {0}


def test_concurrent_is_stale_by_the_workers_before():
    assert staleness(plan("concurrent", 4, 2)) == {(w, e): w for w in range(4) for e in range(2)}


def test_random_delays_are_stale_and_differ_by_seed():
    steps = plan("random-delay", 5, 20)
    assert steps == plan("random-delay", 5, 20)
    assert steps != plan("random-delay", 5, 20, seed=1)
    found = list(staleness(steps).values())
    assert max(found) > 4 > min(found)


def test_longer_delays_are_staler():
    means = [np.mean(list(staleness(plan("random-delay", 5, 40, 0, delay)).values())) for delay in (0.0, 1.0, 4.0)]
    assert means[0] < means[1] < means[2]


def test_one_worker_without_delay_waits_for_itself():
    assert plan("random-delay", 1, 4, mean_delay=0.0) == plan("sequential", 1, 4)


def test_own_uploads_may_arrive_after_the_next_download():
    steps = plan("random-delay", 1, 10, mean_delay=3.0)
    assert any(steps.index(("upload", 0, e)) > steps.index(("download", 0, e + 1)) for e in range(9))


def test_wrong_plans():
    with pytest.raises(ValueError, match="one of sequential, concurrent, random-delay. Got 'all'"):
        plan("all", 1, 1)
    with pytest.raises(ValueError, match="'mean_delay'"):
        plan("random-delay", 1, 1, mean_delay=-1)
