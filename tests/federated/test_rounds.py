"""Whole exchanges, against hand computation, the literal algorithm and plain SGD."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    SCHEDULES,
    ExchangeRecord,
    ParameterServer,
    Worker,
    WorkerSettings,
    plan_steps,
    run_rounds,
)
from sklearn_deid.federated.server_limits import NO_LIMITS

from .learners import MODEL, LogisticSGD, Quadratic, Scripted, blobs
from .literal import LiteralServer, literal_candidates, literal_largest

ALL = WorkerSettings(upload_fraction=1.0, download_fraction=1.0, threshold=0.0, clip=float("inf"))
PAPER = WorkerSettings(upload_fraction=0.5, download_fraction=0.25, threshold=1e-4, clip=10.0)


def rng(seed=0):
    return np.random.default_rng(seed)


def team(learners, options=ALL, size=None, limits=NO_LIMITS):
    size = len(learners[0].get_flat()) if size is None else size
    workers = [Worker(f"site-{i}", learner, MODEL, options, random_state=i) for i, learner in enumerate(learners)]
    return ParameterServer(np.zeros(size), MODEL, limits, random_state=99), workers


def logistic(n_workers=4, d=6):
    X, y = blobs(40 * n_workers, d, seed=1)
    return [LogisticSGD(X[i::n_workers], y[i::n_workers], seed=i) for i in range(n_workers)]


def test_three_workers_and_eight_parameters_by_hand():
    """Binary fractions, so that sums are exact: threshold 1/4, clip 2, the 4 largest up, the 3 most updated down."""
    epochs = [
        ([1, -3, 0.25, 0.5, 0, 0, 0, 4], [0, 0, 1, 0, 0, 0, 0, 0]),
        ([0.5, -1, 0, 0, 2.5, 0.375, 0.75, 0], [-0.5, 0, 0, 0, 0, 0, 0, -0.5]),
        ([0, 8, 0, 0, 0, 0, 0.25, 0.3125], [0.125] * 8),
    ]
    options = WorkerSettings(0.5, 0.375, clip=2.0, threshold=0.25, selection="largest")
    server, workers = team([Scripted(8, two) for two in epochs], options)

    first = run_rounds(server, workers, "concurrent", 1)
    # sent: (1, -2, 1/2 at 3, 2 at 7), (1/2, -1, 2 at 4, 3/4 at 6), (2 at 1, 5/16 at 7)
    assert server.parameters.tolist() == [1.5, -1, 0, 0.5, 2, 0, 0.75, 2.3125]
    assert server.counts.tolist() == [2, 3, 0, 1, 1, 0, 1, 2]
    assert first.column("n_up") == [4, 4, 2]
    assert first.column("n_candidates") == [4, 5, 2]
    assert first.column("n_clipped") == [2, 1, 1]

    second = run_rounds(server, workers, "concurrent", 1)
    # all download the parameters 0, 1 and 7; the last worker has nothing above the threshold
    assert server.parameters.tolist() == [1, -1, 1, 0.5, 2, 0, 0.75, 1.8125]
    assert server.counts.tolist() == [3, 3, 1, 1, 1, 0, 1, 3]
    assert workers[0].learner.get_flat().tolist() == [1.5, -1, 1.25, 0.5, 0, 0, 0, 2.3125]
    assert workers[1].learner.get_flat().tolist() == [1, -1, 0, 0, 2.5, 0.375, 0.75, 1.8125]
    assert workers[2].learner.get_flat().tolist() == [1.625, -0.875, 0.125, 0.125, 0.125, 0.125, 0.375, 2.4375]
    assert second.column("n_up") == [1, 2, 0]
    assert second.column("staleness") == first.column("staleness") == [0, 1, 2]
    assert second.column("n_down") == [3, 3, 3]


def literal_run(schedule, learners, fraction, n_epochs, tau=1e-3, gamma=0.5):
    """The paper's loop with the largest updates and all parameters downloaded, so that chance decides nothing."""
    size = len(learners[0].get_flat())
    server, local = LiteralServer([0.0] * size), [np.zeros(size, np.float32) for _ in learners]
    n_up = int(fraction * size)
    for _ in range(n_epochs):
        messages = []
        for i, learner in enumerate(learners):
            if schedule == "sequential":
                local[i] = np.array(server.p, np.float32)
            elif i == 0:
                local = [np.array(server.p, np.float32) for _ in learners]
            learner.set_flat(local[i])
            learner.train_epoch()
            pairs = literal_largest(local[i], learner.get_flat(), tau, gamma, n_up)
            if schedule == "sequential":
                server.upload(pairs)
            messages.append(pairs)
        if schedule == "concurrent":
            for pairs in messages:
                server.upload(pairs)
    return server


@pytest.mark.parametrize("schedule", ["sequential", "concurrent"])
@pytest.mark.parametrize("fraction", [0.5, 1.0])
def test_a_training_is_the_literal_one_to_the_last_bit(schedule, fraction):
    expected = literal_run(schedule, logistic(), fraction, 5)
    options = WorkerSettings(fraction, 1.0, clip=0.5, threshold=1e-3, selection="largest")
    server, workers = team(logistic(), options)
    run_rounds(server, workers, schedule, 5)
    assert server.parameters.tolist() == expected.p
    assert server.counts.tolist() == expected.stat


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_worker_that_shares_everything_is_plain_sgd(schedule):
    (learner,), (plain,) = logistic(1), logistic(1)
    server, workers = team([learner], ALL)
    steps = plan_steps(schedule, 1, 8, rng(), mean_delay=0.0)
    run_rounds(server, workers, steps)
    for _ in range(8):
        plain.train_epoch()
    # before + (after - before) differs from after by rounding at most
    np.testing.assert_allclose(server.parameters, plain.get_flat(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(learner.get_flat(), plain.get_flat(), rtol=1e-5, atol=1e-6)


def test_sequential_and_concurrent_differ_on_a_quadratic_as_computed():
    """Three workers that close half of the gap to 1: one by one 1/8 of it remains, at the same time they overshoot."""
    ends = {}
    for schedule in ("sequential", "concurrent"):
        server, workers = team([Quadratic([1.0]) for _ in range(3)])
        history = run_rounds(server, workers, schedule, 3)
        ends[schedule] = 1 - server.parameters[0]
        assert history.column("staleness") == [0, 0, 0] * 3 if schedule == "sequential" else [0, 1, 2] * 3
    assert ends == {"sequential": 0.125**3, "concurrent": (-0.5) ** 3}


def test_a_smaller_step_takes_the_overshoot_away():
    server, workers = team([Quadratic([1.0]) for _ in range(4)], limits=replace(NO_LIMITS, step=0.25))
    run_rounds(server, workers, "concurrent", 3)
    assert 1 - server.parameters[0] == 0.125


@settings(max_examples=30)
@given(st.sampled_from(SCHEDULES), st.integers(1, 4), st.integers(0, 4), st.integers(0, 50), st.data())
def test_the_sum_of_what_was_sent_is_the_change_of_the_global_parameters(schedule, n_workers, n_epochs, seed, data):
    whole = st.lists(st.integers(-3, 3), min_size=7, max_size=7)
    scripts = [[data.draw(whole) for _ in range(n_epochs)] for _ in range(n_workers)]
    options = WorkerSettings(data.draw(st.sampled_from([0.3, 0.6, 1.0])), 0.5, clip=2.0, threshold=0.5)
    server, workers = team([Scripted(7, script) for script in scripts], options)
    record = ExchangeRecord()
    history = run_rounds(server, workers, schedule, n_epochs, rng(seed), record)
    sent = [message.decode() for message in record.uploads()]
    assert len(sent) == len(history) == n_workers * n_epochs == server.version
    np.testing.assert_array_equal(server.parameters, sum((u.dense() for u in sent), np.zeros(7)))
    np.testing.assert_array_equal(server.counts, sum((np.isin(np.arange(7), u.indices) for u in sent), np.zeros(7)))
    limit = int(options.upload_fraction * 7 + 1e-6)
    assert all(len(u) <= limit and u.largest() <= 2 for u in sent)
    for worker, script in zip(workers, scripts, strict=True):
        assert not worker.pending
        candidates = [{(j, float(v)) for j, v in literal_candidates([0] * 7, new, 0.5, 2.0)} for new in script]
        for update in (m.decode() for m in record.uploads(worker.name)):
            pairs = set(zip(update.indices.tolist(), update.values.tolist(), strict=True))
            assert any(pairs <= allowed for allowed in candidates)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_same_seeds_same_training(schedule):
    def train(seed):
        server, workers = team(logistic(), PAPER)
        history = run_rounds(server, workers, schedule, 3, rng(seed))
        return server.parameters.tolist(), history.to_list()

    assert train(3) == train(3)
    assert schedule != "random-delay" or train(3) != train(4)


@pytest.mark.parametrize("schedule", ["sequential", "concurrent"])
def test_rounds_may_be_run_one_by_one(schedule):
    one, two = team(logistic(), PAPER), team(logistic(), PAPER)
    whole = run_rounds(*one, schedule, 4)
    parts = run_rounds(*two, schedule, 1)
    for _ in range(3):
        parts.extend(run_rounds(*two, schedule, 1))
    assert one[0].parameters.tolist() == two[0].parameters.tolist()
    assert parts.to_list() == whole.to_list()
    assert (parts.bytes_up, parts.bytes_down) == (whole.bytes_up, whole.bytes_down)


def pickled(function, learners):
    """As from another process: copies are trained, in the end all at once."""
    sent = [pickle.dumps(learner) for learner in learners]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, [pickle.loads(data) for data in sent]))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_where_epochs_run_does_not_matter(schedule):
    one, two = team(logistic(), PAPER), team(logistic(), PAPER)
    here = run_rounds(*one, schedule, 3, rng())
    there = run_rounds(*two, schedule, 3, rng(), map_epochs=pickled)
    assert here.to_list() == there.to_list()
    assert one[0].parameters.tolist() == two[0].parameters.tolist()
    for a, b in zip(one[1], two[1], strict=True):
        assert a.learner.get_flat().tolist() == b.learner.get_flat().tolist()


def test_epochs_that_do_not_depend_on_each_other_are_trained_together():
    sizes = {}
    for schedule in SCHEDULES:
        sizes[schedule] = []

        def count(function, learners, seen=sizes[schedule]):
            seen.append(len(learners))
            return map(function, learners)

        run_rounds(*team(logistic(), PAPER), schedule, 3, rng(), map_epochs=count)
    assert sizes["sequential"] == [1] * 12
    assert sizes["concurrent"] == [4] * 3
    assert sum(sizes["random-delay"]) == 12
    assert max(sizes["random-delay"]) > 1


def test_all_begin_with_the_first_global_parameters():
    """Also in a sequential schedule, where the first worker uploads before the second one downloads."""
    learners = [Scripted(2, [[1, 1]]) for _ in range(2)]
    for learner in learners:
        learner.set_flat([50, 50])
    options = WorkerSettings(upload_fraction=1.0, download_fraction=0.0)
    server, workers = team(learners, options)
    record = ExchangeRecord()
    history = run_rounds(server, workers, "sequential", 1, record=record)
    assert [learner.get_flat().tolist() for learner in learners] == [[1, 1], [1, 1]]
    assert server.parameters.tolist() == [2, 2]
    assert history.bytes_start == 2 * (52 + 8)
    assert [(m.direction, m.worker) for m in record][:2] == [("down", "site-0"), ("down", "site-1")]


def test_bytes_are_those_of_the_messages():
    server, workers = team(logistic(), PAPER)
    record = ExchangeRecord()
    history = run_rounds(server, workers, "concurrent", 3, record=record)
    assert history.bytes_up == sum(len(m.data) for m in record.uploads())
    assert history.bytes_down == sum(len(m.data) for m in record.downloads())
    assert all(line.bytes_up >= 52 and line.bytes_down >= 52 for line in history)


def test_figures_of_the_history():
    server, workers = team([Quadratic([3.0, 4.0])])
    history = run_rounds(
        server, workers, n_epochs=2, evaluate=lambda name, learner: {"f1": float(learner.get_flat()[0])}
    )
    assert history.column("update_norm") == [2.5, 1.25]
    assert history.column("sent_norm") == [2.5, 1.25]
    assert history.column("f1") == [1.5, 2.25]
    assert history.column("loss") == [6.25, 1.5625]
    assert history.column("epoch") == [1, 2]
    assert history.table("f1")["site-0"].tolist() == [1.5, 2.25]


def test_refused_uploads_are_in_the_history_and_the_others_go_on():
    learners = [Quadratic([1.0]), Quadratic([1e6])]
    server, workers = team(learners, limits=replace(NO_LIMITS, max_abs=10))
    history = run_rounds(server, workers, "sequential", 2)
    assert [line.refused is None for line in history] == [True, False, True, False]
    assert "value beyond 10" in history[1].refused
    assert server.parameters.tolist() == [0.75]
    assert (server.n_refused, server.refusals[0].worker) == (2, "site-1")
    assert not workers[1].pending


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_interrupted_training_can_go_on(schedule):
    def scripts(stop):
        return [[[1, 0]] * 4, [[0, 1], *([KeyboardInterrupt()] if stop else []), *[[0, 1]] * 3], [[1, 1]] * 4]

    server, workers = team([Scripted(2, script) for script in scripts(True)])
    steps = plan_steps(schedule, 3, 2, rng(), mean_delay=0.5)
    history = run_rounds(server, workers, steps)
    assert history.interrupted
    assert 3 <= len(history) < 6
    assert all(line.bytes_up for line in history)
    assert all(np.isfinite(worker.learner.get_flat()).all() for worker in workers)
    assert all(worker.learner.get_flat().max() < 50 for worker in workers)
    n_waiting = sum(len(worker.pending) for worker in workers)
    assert server.version + n_waiting == len(history)
    again = run_rounds(server, workers, "concurrent", 1)
    assert not again.interrupted
    assert (again.bytes_repeated > 0) == (n_waiting > 0)
    assert server.version == len(history) + 3
    assert not any(worker.pending for worker in workers)


def test_an_error_of_a_learner_comes_out_and_leaves_everything_usable():
    server, workers = team([Scripted(1, [[1], [1]]), Scripted(1, [RuntimeError("disk full"), [1]])])
    with pytest.raises(RuntimeError, match="disk full"):
        run_rounds(server, workers, "concurrent", 1)
    assert [worker.learner.get_flat().tolist() for worker in workers] == [[1], [0]]
    history = run_rounds(server, workers, "concurrent", 1)
    assert len(history) == 2
    assert server.parameters.tolist() == [3]


def test_divergence_names_the_worker():
    server, workers = team([Scripted(1, [[1]]), Scripted(1, [[np.nan]])])
    with pytest.raises(ExchangeError, match="Worker site-1: .*diverged. Lower its learning rate"):
        run_rounds(server, workers)
    assert np.isfinite(workers[1].learner.get_flat()).all()


def test_workers_need_names_of_their_own():
    server, workers = team([Quadratic([1.0]), Quadratic([1.0])])
    workers[1].name = workers[0].name
    with pytest.raises(ValueError, match="different names"):
        run_rounds(server, workers)


def test_nobody_learns_more_from_a_record_than_the_server_saw():
    server, workers = team(logistic(), PAPER)
    silent, loud = copy.deepcopy((server, workers)), copy.deepcopy((server, workers))
    record = ExchangeRecord()
    without, with_record = run_rounds(*silent, n_epochs=2), run_rounds(*loud, n_epochs=2, record=record)
    assert without.to_list() == with_record.to_list()
    assert silent[0].parameters.tolist() == loud[0].parameters.tolist()
    assert len(record.uploads("site-1")) == 2
    assert repr(record) == f"ExchangeRecord({4 * (1 + 2 + 2)} messages)"
    assert repr(without).startswith("History(8 local epochs, ")
