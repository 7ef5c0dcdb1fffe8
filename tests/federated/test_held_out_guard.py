"""A worker tests downloads on its held-out patients: what a hostile site sends does not reach its own network."""

import math

import numpy as np
import pytest

from sklearn_deid import DeidTagger
from sklearn_deid.federated import HeldOutGuard, StrategyPlan, WorkerSettings, make_learner, run_strategy

from ..tagging.conftest import make_sentences
from .small_ensembles import ALL, TINY

LABELS = ["AGE", "CITY", "PATIENT"]
N_EPOCHS = 7


class Measured:
    """A learner whose loss and F1 are given."""

    def __init__(self, loss=1.0, f1=0.0):
        self.loss, self.f1, self.vector = loss, f1, np.zeros(2, np.float32)

    def held_out(self):
        return None if self.loss is None else (self.loss, self.f1)

    def get_flat(self):
        return self.vector

    def set_flat(self, vector):
        self.vector = vector


class Hostile:
    """Trains like the learner, and sends the changed update."""

    def __init__(self, learner, change):
        self.learner, self.change = learner, change
        self.get_flat, self.set_flat, self.held_out = learner.get_flat, learner.set_flat, learner.held_out

    def train_epoch(self):
        before = self.learner.get_flat()
        self.learner.train_epoch()
        self.learner.set_flat(before + self.change(self.learner.get_flat() - before))


ATTACKS = {
    "-20 times": lambda update: -20 * update,
    "1e6": lambda update: np.full_like(update, 1e6),
}


def learners_of(change):
    learners = {}
    for place in range(3):
        X, y, groups = make_sentences(32, seed=place)
        tagger = DeidTagger(**{**TINY, "lr": 0.04, "random_state": place})
        learner = make_learner(tagger, X, y, groups, LABELS, n_epochs=N_EPOCHS, validation_fraction=0.3)
        learners[f"site-{place}"] = learner if change is None or place else Hostile(learner, change)
    return learners


def train(strategy, change=None, guarded=True):
    learners = learners_of(change)
    settings = WorkerSettings(**ALL)
    plan = StrategyPlan(strategy, n_epochs=N_EPOCHS, settings=settings, guarded=guarded)
    first = next(iter(learners.values())).get_flat()
    model = learners["site-1"].layout.fingerprint
    training = run_strategy(plan, learners, first, model, random_state=0)
    for worker in training.workers:
        worker.settle()
    return training.workers[1:]


def f1_of(workers):
    X, y, _ = make_sentences(60, seed=9)
    return [worker.learner.tagger.score(X, y) for worker in workers]


@pytest.fixture(scope="module")
def alone():
    return f1_of(train("local"))


@pytest.mark.parametrize(("strategy", "attack"), [("fedavg", "-20 times"), ("dssgd", "1e6")])
def test_honest_workers_lose_at_most_a_point_to_a_hostile_site(strategy, attack, alone):
    """Against training alone, which no other site can harm."""
    workers = train(strategy, ATTACKS[attack])
    assert all(worker.guard.n_refused for worker in workers)
    for f1, own in zip(f1_of(workers), alone, strict=True):
        assert f1 >= own - 0.01


def test_without_a_guard_the_attack_succeeds(alone):
    assert max(f1_of(train("fedavg", ATTACKS["1e6"], guarded=False))) < min(alone) / 2


def test_honest_downloads_stay():
    assert [worker.guard.n_refused for worker in train("fedavg")] == [0, 0]


class TestGuard:
    @pytest.mark.parametrize("loss", [2.1, 1e6, math.inf, math.nan])
    def test_bad_downloads_are_refused(self, loss):
        guard, before = HeldOutGuard(), np.zeros(2, np.float32)
        assert guard.accepts(Measured(4.0), before)
        guard.after_epoch(Measured(1.0))
        assert not guard.accepts(Measured(loss), before)
        assert guard.accepts(Measured(1.9), before)
        assert guard.n_refused == 1

    def test_downloads_that_are_worse_than_the_first_weights_are_refused(self):
        guard, before = HeldOutGuard(), np.zeros(2, np.float32)
        assert guard.accepts(Measured(4.0), before)
        assert not guard.accepts(Measured(4.1), before)

    def test_parameters_for_which_there_is_no_f1_are_refused(self):
        """The loss is finite, and the tags of such scores are an error, which ended the session."""
        X, y, groups = make_sentences(32)
        tagger = DeidTagger(**{**TINY, "head": "crf", "random_state": 0})
        learner = make_learner(tagger, X, y, groups, LABELS, n_epochs=1, validation_fraction=0.3)
        before, guard = learner.get_flat(), HeldOutGuard()
        learner.set_flat(np.full_like(before, 1e30))
        assert not guard.accepts(learner, before)

    def test_huge_parameters_are_refused_whatever_their_loss(self):
        guard, learner = HeldOutGuard(), Measured(1.0)
        learner.vector = np.array([10.5, 0.0], np.float32)
        assert not guard.accepts(learner, np.array([0.5, 1.0], np.float32))
        assert guard.accepts(learner, np.array([0.5, 1.1], np.float32))

    def test_without_held_out_patients_everything_is_accepted(self):
        guard = HeldOutGuard()
        assert guard.accepts(Measured(None), np.zeros(2))
        guard.after_epoch(Measured(None))
        assert not guard.settle(Measured(None))

    def test_the_best_parameters_return(self):
        guard, learner = HeldOutGuard(), Measured(1.0, 0.8)
        guard.after_epoch(learner)
        learner.vector, learner.f1 = np.ones(2, np.float32), 0.5
        guard.after_epoch(learner)
        assert guard.settle(learner)
        assert learner.vector.tolist() == [0.0, 0.0]

    def test_a_small_loss_of_f1_is_chance(self):
        guard, learner = HeldOutGuard(), Measured(1.0, 0.8)
        guard.after_epoch(learner)
        learner.f1 = 0.795
        assert not guard.settle(learner)
