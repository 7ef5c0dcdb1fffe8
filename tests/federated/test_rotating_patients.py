"""Patients take turns in testing downloads: all are trained on, and a broken download is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import DeidTagger
from sklearn_deid.federated import (
    RotatingGuard,
    RotatingPatients,
    learner_from_state,
    learner_to_state,
    make_learner,
)

from ..tagging.conftest import make_sentences
from .small_ensembles import TINY, ensemble_of, parts_of

LABELS = ["AGE", "CITY", "PATIENT"]


def learner_of(validation_fraction="rotating", n_epochs=8, n_parts=1, n=24, **options):
    X, y, groups = make_sentences(n)
    tagger = DeidTagger(**{**TINY, "random_state": 0, **options})
    plan = {"n_epochs": n_epochs, "n_parts": n_parts, "validation_fraction": validation_fraction}
    return make_learner(tagger, X, y, groups, LABELS, **plan), np.asarray(groups)


class TestPatients:
    @given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 99))
    def test_every_patient_has_one_turn(self, patients, seed):
        rotating = RotatingPatients(np.array(patients), seed)
        turns = [rotating.rows(turn) for turn in range(rotating.n_turns)]
        assert sorted(np.concatenate(turns).tolist()) == list(range(len(patients)))
        found = [set(np.array(patients)[rows].tolist()) for rows in turns]
        assert sum(map(len, found)) == len(set(patients)), "no patient in two turns"
        assert max(map(len, found)) - min(map(len, found)) <= 1
        assert rotating.n_turns == min(10, len(set(patients)))

    @given(st.lists(st.integers(0, 30), max_size=60), st.integers(0, 20))
    def test_an_epoch_has_none_of_them_and_those_of_the_pass_before_twice(self, patients, number):
        patients = np.array([*patients, 31, 32])
        rotating = RotatingPatients(patients, 0)
        count = np.bincount(rotating.drawn(np.arange(len(patients)), number), minlength=len(patients))
        expected = np.ones(len(patients), dtype=int)
        expected[rotating.rows(number)] = 0
        expected[rotating.rows(number + rotating.n_turns - 1)] = 2
        assert count.tolist() == expected.tolist()

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 20))
    def test_all_patients_are_read_equally_often(self, patients, first):
        rotating, rows = RotatingPatients(np.array(patients), 0), np.arange(len(patients))
        drawn = [rotating.drawn(rows, first + turn) for turn in range(rotating.n_turns)]
        assert (np.bincount(np.concatenate(drawn), minlength=len(patients)) == rotating.n_turns).all()

    def test_an_epoch_without_other_patients_reads_all(self):
        rotating = RotatingPatients(np.array(["a", "a", "b"]), 0)
        assert rotating.drawn(rotating.rows(0), 0).tolist() == list(range(len(rotating.rows(0))))

    def test_an_epoch_of_very_few_sentences_leaves_nobody_out(self):
        """Without the patient with most sentences, an update was the gradient of the only sentence of the other."""
        patients = np.array(["a"] * 20 + ["b"])
        one, ten = RotatingPatients(patients, 0), RotatingPatients(patients, 0, fewest=10)
        assert min(len(set(one.drawn(np.arange(21), number))) for number in range(2)) == 1
        assert all(ten.drawn(np.arange(21), number).tolist() == list(range(21)) for number in range(4))
        assert len(ten.drawn(np.array([], dtype=int), 0)) == 0


class TestLearner:
    @pytest.mark.parametrize(("n_parts", "n"), [(1, 48), (2, 48), (1, 6)])
    def test_the_tests_read_only_patients_who_were_not_in_the_last_epoch(self, n_parts, n, monkeypatch):
        learner, groups = learner_of(n_parts=n_parts, n=n)
        rotating, read, seen = learner._rotating, [], set()
        original = type(learner._data[0][0]).collate

        def spied(data, units):
            rows = [i for i, own in enumerate(learner._data[0]) if own is data]
            if rows:
                read.extend(rotating._items[rows[0]][data.drawn[list(units)]].tolist())
            return original(data, units)

        monkeypatch.setattr(type(learner._data[0][0]), "collate", spied)
        for number in range(8):
            read.clear()
            learner.train_epoch()
            tested = set(groups[rotating.rows(number // n_parts)].tolist())
            assert tested.isdisjoint(groups[read].tolist())
            assert learner._held_out_data() is rotating._tests[number // n_parts % rotating.n_turns]
            assert learner.held_out_loss() > 0
            seen |= set(groups[read].tolist())
        assert seen == set(groups.tolist()), "all patients are trained on"

    def test_a_restored_learner_leaves_the_same_patients_out(self):
        whole, first, second = (learner_of(n=48, n_epochs=4)[0] for _ in range(3))
        for _ in range(4):
            whole.train_epoch()
        for _ in range(2):
            first.train_epoch()
        second.set_flat(first.get_flat())
        learner_from_state(second, *learner_to_state(first))
        assert second.held_out_loss() == first.held_out_loss()
        for _ in range(2):
            second.train_epoch()
        assert np.array_equal(second.get_flat(), whole.get_flat())

    @pytest.mark.parametrize("n_parts", [1, 2])
    def test_the_rate_falls_to_the_end_and_not_before_however_much_a_patient_has(self, n_parts):
        X, y, _ = make_sentences(40)
        tagger = DeidTagger(**{**TINY, "random_state": 0})
        plan = {"n_epochs": 12, "n_parts": n_parts, "validation_fraction": "rotating"}
        learner = make_learner(tagger, X, y, ["a"] * 30 + ["b"] * 10, LABELS, **plan)
        shares, batches, full = [], set(), tagger.lr
        for _ in range(12):
            learner.train_epoch()
            # rate of the last batch of the epoch; the end of the training puts the full rate back
            shares.append(learner.tagger.optimizer_.param_groups[0]["lr"] / full)
            batches.add(learner.tagger.n_training_batches_)
        assert max(batches) > 1.5 * min(batches), "the patients have different numbers of batches"
        expected = 1 - np.arange(1, 12) / 12
        # one batch of an epoch is not done yet
        np.testing.assert_array_less(np.abs(shares[1:-1] - expected[1:]), 1 / 12 / min(batches) + 1e-6)

    def test_no_f1_of_patients_in_the_training_is_reported(self):
        assert "f1" not in learner_of()[0].train_epoch()

    def test_no_span_of_a_patient_who_is_left_out_is_read(self):
        X = [["Mr", f"Name{i}", "came"] for i in range(6)]
        y = [["O", "B-PATIENT", "O"]] * 6
        tagger = DeidTagger(**{**TINY, "span_swap": 1.0, "random_state": 0})
        learner = make_learner(tagger, X, y, range(6), LABELS, n_epochs=12, validation_fraction="rotating")
        data, swapped = learner._data[0][0], 0
        original = data.words.copy()
        for number in range(12):
            learner.train_epoch()
            is_read = np.isin(np.arange(6), data.drawn)
            names, (left_out,) = data.words.reshape(6, 3)[:, 1], learner._rotating.rows(number)
            assert original[3 * left_out + 1] not in names[is_read]
            swapped += (names != original[1::3])[is_read].sum()
        assert swapped > 12

    @pytest.mark.parametrize("n", [1, 2])
    def test_a_single_patient_trains_bit_for_bit_as_without_tests(self, n):
        X, y, _ = make_sentences(20)
        flat = []
        for fraction in ("rotating", None):
            options = {"n_epochs": 3, "validation_fraction": fraction}
            tagger = DeidTagger(**{**TINY, "random_state": 0})
            learner = make_learner(tagger, X, y, [f"p{i % n}" for i in range(20)], LABELS, **options)
            for _ in range(3):
                assert (learner.held_out_loss() is None) is (fraction is None)
                learner.train_epoch()
            flat.append(learner.get_flat())
        assert np.array_equal(*flat) is (n == 1)


class Measured:
    """A learner whose loss is its first parameter."""

    def __init__(self, loss):
        self.set_flat(np.array([loss], np.float32))

    def held_out_loss(self):
        return float(self.vector[0])

    def get_flat(self):
        return self.vector

    def set_flat(self, vector):
        self.vector = vector


class TestGuard:
    @pytest.mark.parametrize(("loss", "taken"), [(0.5, True), (6.0, True), (6.1, False), (9.9, False)])
    def test_the_loss_of_a_download_is_compared_with_that_of_the_own_network(self, loss, taken):
        guard, learner = RotatingGuard(), Measured(loss)
        assert guard.accepts(learner, np.ones(1, np.float32)) is taken
        assert guard.n_refused == (not taken)
        assert learner.vector.tolist() == [np.float32(loss)], "the worker puts its own parameters back"

    def test_many_bad_downloads_do_not_lead_far_away(self):
        """Each of them has five times the loss of the network that the last one has left behind."""
        guard, learner = RotatingGuard(), Measured(1.0)
        taken, own = [], 1.0
        for _ in range(4):
            learner.vector = np.array([5 * own], np.float32)
            taken.append(guard.accepts(learner, np.array([own], np.float32)))
            own = 5 * own if taken[-1] else own
        assert (taken, own) == ([True, False, False, False], 5.0)

    @pytest.mark.parametrize("loss", [math.nan, math.inf, 1e6])
    def test_huge_and_broken_parameters_are_refused(self, loss):
        assert not RotatingGuard().accepts(Measured(loss), np.ones(1, np.float32))

    def test_the_last_good_parameters_return(self):
        guard, learner = RotatingGuard(), Measured(1.0)
        assert not guard.settle(learner)
        guard.accepts(learner, np.ones(1, np.float32))
        assert not guard.settle(learner)
        learner.vector = np.array([2.1], np.float32)
        assert guard.settle(learner)
        assert learner.vector.tolist() == [1.0]


@pytest.mark.parametrize("strategy", ["fedavg", "dssgd"])
def test_an_honest_training_refuses_nothing(strategy):
    ensemble = ensemble_of(strategy=strategy, n_workers=3, n_epochs=4, validation_fraction="rotating")
    ensemble.fit_workers(parts_of(make_sentences(48), 3))
    assert [worker.guard.n_refused for worker in ensemble._training.workers] == [0, 0, 0]
