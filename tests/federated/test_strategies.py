"""The five strategies, against loops written out."""

import numpy as np
import pytest

from sklearn_deid.federated import (
    STRATEGIES,
    ExchangeRecord,
    FixedPoint,
    GaussianUpload,
    ServerLimits,
    StrategyPlan,
    WorkerSettings,
    run_rounds,
    run_strategy,
)

from .learners import MODEL, LogisticSGD, Quadratic, Scripted, blobs

DIM, EPOCHS = 6, 4
X, Y = blobs(160, DIM, seed=1)
FIRST = np.linspace(-0.1, 0.1, DIM).astype(np.float32)
DENSE = 52 + 4 * DIM


def learners(n=4):
    return {f"site-{i}": LogisticSGD(X[i::n], Y[i::n], seed=i) for i in range(n)}


def run(strategy, team=None, record=None, **fields):
    plan = StrategyPlan(strategy, n_epochs=EPOCHS, **fields)
    return run_strategy(plan, learners() if team is None else team, FIRST, MODEL, random_state=0, record=record)


def test_centralized_is_plain_sgd():
    (alone,) = learners(1).values()
    alone.set_flat(FIRST)
    for _ in range(EPOCHS):
        alone.train_epoch()
    done = run("centralized", learners(1))
    np.testing.assert_array_equal(done.parameters, alone.get_flat())
    assert (done.history.bytes_up, done.history.bytes_down, len(done.history)) == (0, 0, EPOCHS)


def test_local_is_plain_sgd_of_everybody():
    done, own = run("local"), learners()
    for worker, (name, learner) in zip(done.workers, own.items(), strict=True):
        learner.set_flat(FIRST)
        for _ in range(EPOCHS):
            learner.train_epoch()
        assert worker.name == name
        np.testing.assert_array_equal(worker.learner.get_flat(), learner.get_flat())
    assert done.parameters is None
    assert done.history.bytes_up == done.history.bytes_down == 0


def test_round_robin_hands_the_model_on():
    vector, own = FIRST, learners()
    for _ in range(EPOCHS):
        for learner in own.values():
            learner.set_flat(vector)
            learner.train_epoch()
            vector = learner.get_flat()
    record = ExchangeRecord()
    done = run("round_robin", record=record)
    np.testing.assert_array_equal(done.parameters, vector)
    assert done.history.column("worker")[:5] == ["site-0", "site-1", "site-2", "site-3", "site-0"]
    assert done.history.bytes_down == done.history.bytes_up == 4 * EPOCHS * DENSE
    assert len(record.downloads()) == 4 * EPOCHS


def test_one_worker_makes_round_robin_centralized():
    np.testing.assert_array_equal(
        run("round_robin", learners(1)).parameters, run("centralized", learners(1)).parameters
    )


@pytest.mark.parametrize("weights", [None, {"site-0": 1, "site-1": 2, "site-2": 3, "site-3": 4}])
def test_fedavg_is_the_weighted_mean_of_local_models(weights):
    vector, own = FIRST.astype(np.float64), learners()
    share = np.ones(4) / 4 if weights is None else np.arange(1, 5) / 10
    for _ in range(EPOCHS):
        local = []
        for learner in own.values():
            learner.set_flat(vector)
            learner.train_epoch()
            local.append(learner.get_flat().astype(np.float64))
        vector = share @ np.array(local)
    record = ExchangeRecord()
    done = run("fedavg", record=record, weights=weights)
    np.testing.assert_allclose(done.parameters, vector, rtol=1e-5, atol=1e-6)
    assert done.history.bytes_up == done.history.bytes_down == 4 * EPOCHS * DENSE
    assert len(record.uploads()) == len(record.downloads()) == 4 * EPOCHS
    assert done.history.column("sent_norm") == done.history.column("update_norm")


@pytest.mark.parametrize("how", ["median", "trimmed_mean"])
def test_robust_fedavg_is_not_spoiled_by_one_worker(how):
    def team():
        return {f"site-{i}": Quadratic(np.full(DIM, 1e6 if i == 4 else 1.0)) for i in range(5)}

    assert np.abs(run("fedavg", team(), aggregation=how).parameters - 1).max() < 0.2
    assert run("fedavg", team()).parameters.min() > 1e5


class Scaled(Quadratic):
    """A worker whose update is a multiple of an honest one."""

    factor = -20

    def train_epoch(self):
        before = self.vector
        super().train_epoch()
        self.vector = before + np.float32(self.factor) * (self.vector - before)


@pytest.mark.parametrize("factor", [-20, 6, 1e6])
def test_fedavg_leaves_out_what_is_much_longer_than_usual(factor):
    def team(names):
        return {name: (Scaled if name == "bad" else Quadratic)(np.full(DIM, 1.0)) for name in names}

    bad = team(["a", "bad", "b"])
    bad["bad"].factor = factor
    done = run("fedavg", bad, max_ratio=5.0)
    np.testing.assert_array_equal(done.parameters, run("fedavg", team("ab")).parameters)
    refused = [line.worker for line in done.history if line.refused is not None]
    assert refused == ["bad"] * EPOCHS
    assert not np.array_equal(run("fedavg", bad).parameters, done.parameters), "without the limit"


@pytest.mark.parametrize("factor", [-4.9, -3, -1, -0.5])
def test_fedavg_leaves_out_what_points_against_most_others(factor):
    def team(names):
        return {name: (Scaled if name == "bad" else Quadratic)(np.full(DIM, 1.0)) for name in names}

    bad = team(["a", "bad", "b"])
    bad["bad"].factor = factor
    done = run("fedavg", bad, max_ratio=5.0, screened=True)
    np.testing.assert_array_equal(done.parameters, run("fedavg", team("ab")).parameters)
    refused = [(line.worker, line.refused) for line in done.history if line.refused is not None]
    assert [name for name, _ in refused] == ["bad"] * EPOCHS and "points against" in refused[0][1]
    assert not np.array_equal(run("fedavg", bad, max_ratio=5.0).parameters, done.parameters), "without the screen"


class Growing(Scaled):
    """A worker whose updates become longer than those of others after the first round."""

    longest = 4

    def train_epoch(self):
        super().train_epoch()
        self.factor = self.longest


def test_screened_fedavg_shrinks_what_is_longer_than_before():
    def trained(longest, **fields):
        workers = {name: (Growing if name == "c" else Quadratic)(np.full(DIM, 1.0)) for name in "abc"}
        workers["c"].factor, workers["c"].longest = 1, longest
        plan = StrategyPlan("fedavg", n_epochs=3, **fields)  # in a fourth round, 1.5 would be usual for it
        return run_strategy(plan, workers, FIRST, MODEL, random_state=0).parameters

    done = trained(4, screened=True)
    np.testing.assert_allclose(done, trained(1.5), rtol=1e-5, atol=1e-6)
    assert not np.allclose(done, trained(4), atol=1e-3), "without the screen"
    np.testing.assert_array_equal(trained(1, screened=True), trained(1))


def test_fedavg_keeps_updates_of_usual_lengths():
    """Three workers of unequal sites, and two workers, of which none is the majority."""
    team = {f"site-{i}": Quadratic(np.full(DIM, float(i))) for i in (1, 2, 4)}
    same = run("fedavg", team).parameters
    np.testing.assert_array_equal(run("fedavg", team, max_ratio=5.0).parameters, same)
    two = {"a": Quadratic(np.full(DIM, 1.0)), "b": Quadratic(np.full(DIM, 1e3))}
    np.testing.assert_array_equal(run("fedavg", two, max_ratio=5.0).parameters, run("fedavg", two).parameters)


def test_fedavg_with_a_norm_bound():
    team = {"a": Quadratic(np.full(DIM, 1e6)), "b": Quadratic(FIRST)}
    done = run("fedavg", team, limits=ServerLimits(max_norm=0.5))
    assert np.linalg.norm(done.parameters - FIRST) <= 0.25 * EPOCHS + 1e-6


def test_dssgd_sends_less_and_can_go_on():
    options = WorkerSettings(upload_fraction=0.5, download_fraction=0.5)
    done = run("dssgd", settings=options)
    assert done.history.bytes_up < run("fedavg").history.bytes_up
    assert max(done.history.column("n_up")) == 3
    np.testing.assert_array_equal(done.parameters, done.server.parameters)
    assert len(run_rounds(done.server, done.workers, n_epochs=1)) == 4
    assert done.server.version == 4 * (EPOCHS + 1)
    assert not np.array_equal(done.parameters, done.server.parameters)


def test_settings_are_private_to_each_worker():
    options = {f"site-{i}": WorkerSettings(upload_fraction=(i + 1) / 6, threshold=0.0) for i in range(4)}
    done = run("dssgd", settings=options)
    assert {name: set(table.tolist()) for name, table in done.history.table("n_up").items()} == {
        f"site-{i}": {i + 1} for i in range(4)
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_seeds_same_training_and_all_begin_with_the_same(strategy):
    n = 1 if strategy == "centralized" else 4
    teams = [learners(n), learners(n)]
    for learner in teams[1].values():
        learner.set_flat(np.full(DIM, 7))
    one, two = (run(strategy, team) for team in teams)
    assert one.history.to_list() == two.history.to_list()
    for a, b in zip(one.workers, two.workers, strict=True):
        np.testing.assert_array_equal(a.learner.get_flat(), b.learner.get_flat())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_interruption_gives_what_was_finished(strategy):
    n = 1 if strategy == "centralized" else 3
    team = {f"site-{i}": Scripted(2, [[1, 1]] * EPOCHS) for i in range(n)}
    team[f"site-{n - 1}"].updates[2] = KeyboardInterrupt()
    done = run_strategy(StrategyPlan(strategy, n_epochs=EPOCHS), team, np.zeros(2), MODEL, random_state=0)
    assert done.history.interrupted
    assert len(done.history) == 3 * n - 1
    assert all(worker.learner.get_flat().max() < 50 for worker in done.workers)
    if strategy == "fedavg":
        assert done.parameters.tolist() == [2, 2]  # the third round adds nothing
    if strategy == "round_robin":
        assert done.parameters.tolist() == [8, 8]
    if strategy == "centralized":
        assert done.parameters.tolist() == [2, 2]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_figures_are_those_after_each_local_epoch(strategy):
    n = 1 if strategy == "centralized" else 2
    team = {f"site-{i}": Quadratic(np.ones(DIM)) for i in range(n)}
    seen = []

    def evaluate(name, learner):
        seen.append(name)
        return {"f1": float(learner.get_flat().mean())}

    plan = StrategyPlan(strategy, n_epochs=2)
    done = run_strategy(plan, team, np.zeros(DIM), MODEL, random_state=0, evaluate=evaluate)
    assert len(seen) == len(done.history) == 2 * n
    assert done.history[0].metrics["f1"] == 0.5
    assert np.isfinite(done.history.column("f1")).all()


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"strategy": "all"}, "'strategy' parameter of StrategyPlan must be one of centralized, .*Got 'all'"),
        ({"strategy": "fedavg", "aggregation": "mode"}, "'aggregation' parameter of StrategyPlan must be one of"),
        ({"strategy": "fedavg", "privacy": GaussianUpload(1.0, 1.0)}, "belong to strategy='dssgd'"),
        ({"strategy": "fedavg", "masks": FixedPoint(), "weights": {"a": 1.0}}, "without 'weights'"),
        ({"privacy": GaussianUpload(0.001, 1000.0), "n_epochs": 25}, "means epsilon 5.0048e.07 at delta 1e-05"),
    ],
)
def test_wrong_plans(fields, match):
    with pytest.raises(ValueError, match=match):
        StrategyPlan(**fields)


def test_centralized_has_one_learner():
    with pytest.raises(ValueError, match="a single learner on all data. Got 4"):
        run("centralized")
