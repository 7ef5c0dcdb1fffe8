"""Training with differential privacy for each patient: planned noise, clipped gradients, and the ledger."""

import json
import math
import pickle
import re
import stat
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid import DeidTagger
from sklearn_deid.exceptions import ExchangeError, MissingDependencyError
from sklearn_deid.federated import (
    PatientLedger,
    PatientPrivacy,
    SparseVectorUpload,
    epsilon_of_steps,
    make_learner,
    noisy_mean,
    patient_ledger,
)
from sklearn_deid.federated.ensemble_plan import plan_of
from sklearn_deid.federated.patient_steps import clipped
from sklearn_deid.federated.worker_data import checked_part, checked_parts

from ..tagging.conftest import make_sentences
from .small_ensembles import TINY, ensemble_of, parts_of

LABELS = ["AGE", "CITY", "PATIENT"]


@pytest.fixture
def without_accountant(monkeypatch):
    """A plan of fixed noise and an epsilon of one per step: for tests of what is trained and counted."""
    module = "sklearn_deid.federated.patient_ledger.epsilon_of_steps"
    monkeypatch.setattr(module, lambda noise, rate, n, delta: 0.01 * n)


def learner_of(privacy, n_epochs=2, validation_fraction=None, **tagger):
    X, y, groups = make_sentences(24)
    options = {"n_epochs": n_epochs, "privacy": privacy, "validation_fraction": validation_fraction}
    return make_learner(DeidTagger(**{**TINY, "random_state": 0, **tagger}), X, y, groups, LABELS, **options)


class TestClipping:
    hostile = st.lists(
        st.one_of(
            st.floats(width=32, allow_nan=True, allow_infinity=True),
            st.sampled_from([1e300, -1e300, 5e-324, math.nan, math.inf, -math.inf, 1e154, -1e6]),
        ),
        min_size=1,
        max_size=8,
    )

    @given(hostile, st.sampled_from([1e-3, 1.0, 50.0]))
    @settings(max_examples=200, deadline=None)
    def test_no_patient_moves_the_sum_by_more_than_the_bound(self, values, clip):
        others = [np.full(len(values), 0.25)]

        def mean(patients):
            return noisy_mean(patients, len(values), clip, 1.0, 1.0, np.random.default_rng(0)).astype(float)

        moved = np.linalg.norm(mean([*others, np.array(values)]) - mean(others))
        # the grid and float32 round each coordinate; the noise is the same in both sums
        step = clip / 32
        assert moved <= clip * (1 + 1e-5) + step * math.sqrt(len(values))

    @given(hostile)
    @settings(max_examples=200, deadline=None)
    def test_norm_is_at_most_the_bound(self, values):
        with np.errstate(over="raise", invalid="raise"):
            bounded = clipped(np.array(values), 0.5)
        assert math.sqrt(math.fsum(v * v for v in bounded.tolist())) <= 0.5

    def test_short_gradients_are_unchanged(self):
        short = np.array([0.3, -0.4])
        np.testing.assert_array_equal(clipped(short, 0.5), short)


class TestNoise:
    def test_moments_are_those_of_the_stated_law(self):
        noise = noisy_mean([], 20_000, 0.5, 3.0, 2.0, np.random.default_rng(0))
        std = 3.0 * 0.5 / 2.0
        assert abs(noise.mean()) < 4 * std / math.sqrt(20_000)
        assert noise.std() == pytest.approx(std, rel=4 / math.sqrt(40_000))

    def test_seeds_of_the_training_do_not_reach_the_noise(self, without_accountant):
        """Equal seeds, equal notes, and other noise: whoever knows the seed can subtract nothing."""
        first, second = (learner_of(PatientPrivacy(8.0)) for _ in range(2))
        np.testing.assert_array_equal(first.get_flat(), second.get_flat())
        for learner in (first, second):
            learner.train_epoch()
        assert not np.array_equal(first.get_flat(), second.get_flat())

    def test_a_search_of_seeds_finds_nothing(self, monkeypatch, without_accountant):
        """An attacker who tries all seeds of 10 bits for every generator finds the noise of a seeded generator only."""
        sizes = 64

        def found(noise):
            return any(
                np.array_equal(noise, noisy_mean([], sizes, 1.0, 1.0, 1.0, np.random.default_rng(seed)))
                for seed in range(1024)
            )

        from sklearn_deid._randomness import release_generator

        assert found(noisy_mean([], sizes, 1.0, 1.0, 1.0, np.random.default_rng(777))), "the positive control"
        assert not found(noisy_mean([], sizes, 1.0, 1.0, 1.0, release_generator()))

    def test_every_step_asks_for_a_new_key(self, monkeypatch, without_accountant):
        asked = []

        def watched(*arguments):
            asked.append(arguments)
            return np.random.default_rng(len(asked))

        monkeypatch.setattr("sklearn_deid.federated.patient_steps.release_generator", watched)
        learner = learner_of(PatientPrivacy(8.0, sampling_rate=0.3))
        learner.train_epoch()
        assert asked == [()] * 4  # 1 / 0.3, rounded up; no seed is passed


class TestTraining:
    def test_without_noise_a_step_is_the_gradient_of_the_mean_of_patients(self, monkeypatch, without_accountant):
        """Sampling rate 1, no noise and no clipping: one step equals a step on the mean loss of patients."""
        import torch

        monkeypatch.setattr("sklearn_deid.federated.patient_steps.noisy_mean", plain_mean)
        options = {"optimizer": torch.optim.SGD, "lr": 0.1, "dropout": 0.0, "weight_average": 0.0}
        learner = learner_of(PatientPrivacy(8.0, sampling_rate=1.0), 1, callbacks__lr_decay=None, **options)
        before, tagger = learner.get_flat(), learner.tagger
        X, y, groups = make_sentences(24)
        alone = []
        for patient in sorted(set(groups)):
            rows = [i for i, g in enumerate(groups) if g == patient]
            other = make_learner(tagger, [X[i] for i in rows], [y[i] for i in rows], None, LABELS, n_epochs=1)
            other.set_flat(before)
            (data,) = other._data[0]
            batch, tags = data.collate(range(len(rows)))
            other.tagger.module_.eval()
            other.tagger.get_loss(other.tagger.infer(batch), tags, X=batch, training=True).backward()
            grads = {name: p.grad.numpy() for name, p in other.tagger.module_.named_parameters()}
            alone.append(other.layout.flatten(grads))
        learner.train_epoch()
        np.testing.assert_allclose(learner.get_flat(), before - 0.1 * np.mean(alone, axis=0), atol=2e-6)

    def test_a_patient_changes_no_gradient_of_the_others(self, monkeypatch, without_accountant):
        """Dropout of one stream for all patients drew other units for the patients after one more patient."""

        def gradients_of(drawn):
            kept = []

            def collected(gradients, *rest):
                kept.extend(gradients)
                return plain_mean(kept, *rest)

            def keyed():
                first = np.where(np.isin(np.arange(6), drawn), 0.0, 1.0)
                return SimpleNamespace(random=lambda n: first[:n], integers=np.random.default_rng(3).integers)

            monkeypatch.setattr("sklearn_deid.federated.patient_steps.noisy_mean", collected)
            monkeypatch.setattr("sklearn_deid.federated.patient_steps.release_generator", keyed)
            learner = learner_of(PatientPrivacy(8.0, sampling_rate=1.0), 1, dropout=0.5)
            learner.train_epoch()
            return kept

        (alone,), both = gradients_of([4]), gradients_of([1, 4])
        np.testing.assert_array_equal(both[1], alone)
        assert not np.array_equal(both[0], alone)

    def test_all_drawn_patients_and_no_others_give_a_gradient(self, monkeypatch, without_accountant):
        counts = []

        def counting(gradients, *rest):
            gradients = list(gradients)
            counts.append(len(gradients))
            return plain_mean(gradients, *rest)

        monkeypatch.setattr("sklearn_deid.federated.patient_steps.noisy_mean", counting)
        monkeypatch.setattr("sklearn_deid.federated.patient_steps.release_generator", lambda: np.random.default_rng(5))
        learner = learner_of(PatientPrivacy(8.0, sampling_rate=0.5))
        learner.train_epoch()
        expected = int((np.random.default_rng(5).random(6) < 0.5).sum())
        assert counts == [expected] * 2

    def test_an_ensemble_reports_the_epsilon_of_each_patient(self, without_accountant):
        data = make_sentences(16)
        private = ensemble_of(strategy="fedavg", privacy=PatientPrivacy(8.0), labels=LABELS).fit_workers(parts_of(data))
        ledgers = [worker.learner.ledger for worker in private._training.workers]
        assert [(ledger.n_spent, ledger.n_left) for ledger in ledgers] == [(8, 0)] * 2
        assert plan_of(private, checked_parts(DeidTagger(), parts_of(data)), 1).weights is None

    def test_an_epoch_in_another_process_is_counted_in_this_one(self, without_accountant):
        learner = learner_of(PatientPrivacy(8.0))
        for n_spent in (4, 8):
            elsewhere = pickle.loads(pickle.dumps(learner))
            elsewhere.train_epoch()
            learner = pickle.loads(pickle.dumps(elsewhere.without_data())).with_data_of(learner)
            assert learner.ledger.n_spent == n_spent
        with pytest.raises(ExchangeError, match="budget is spent"):
            learner.train_epoch()

    @pytest.mark.parametrize(
        ("own", "message"),
        [
            ({"labels": None}, "'labels' parameter of DSSGDEnsemble must be set"),
            ({"privacy": PatientPrivacy(1.0, ledger="file")}, "'ledger' of PatientPrivacy must be None"),
            ({"privacy": PatientPrivacy(1.0, delta=0.5)}, "'delta' is 0.5, but must be below 1 / 2"),
            ({"privacy": PatientPrivacy(1000.0)}, "'epsilon' is 1000, which promises nothing"),
        ],
    )
    def test_settings_that_promise_nothing_are_refused(self, own, message, without_accountant):
        with pytest.raises(ValueError, match=message):
            ensemble_of(**{"privacy": PatientPrivacy(1.0), "labels": LABELS, **own}).fit_workers(
                parts_of(make_sentences(16))
            )

    def test_no_epsilon_without_noise(self, without_accountant):
        """An epsilon of 0 was told of workers without noise, and a training without noise went on."""
        parts = parts_of(make_sentences(16))
        ensemble = ensemble_of(strategy="fedavg", labels=LABELS, n_epochs=1).fit_workers(parts)
        ensemble.set_params(privacy=PatientPrivacy(1.0))
        assert not hasattr(ensemble, "epsilon_")
        with pytest.raises(ExchangeError, match="Use fit or fit_workers"):
            ensemble.partial_fit_workers(parts)

    def test_a_second_plan_forgets_no_steps(self, without_accountant):
        learner = learner_of(PatientPrivacy(8.0))
        learner.train_epoch()
        X, y, groups = make_sentences(24)
        with pytest.raises(ExchangeError, match="plans the noise for all epochs"):
            learner.plan(checked_part(learner.tagger, X, y, groups), 2)
        assert learner.ledger.n_spent == 4

    def test_noise_of_a_later_round_does_not_come_from_an_earlier_seed(self):
        """The same two seeded rounds, the second one without a seed: its noise was that of the seed."""
        sent = []
        for _ in range(2):
            ensemble = ensemble_of(labels=LABELS, n_epochs=1, clip=0.001, upload_fraction=0.1, keep_exchange=True)
            ensemble.set_params(privacy=SparseVectorUpload(1.0), n_jobs=1)
            ensemble.partial_fit_workers(parts_of(make_sentences(16)))
            ensemble.set_params(random_state=None).partial_fit_workers(parts_of(make_sentences(16)))
            sent.append([message.data for message in ensemble.exchange_.uploads("worker-0")])
        assert sent[0][0] == sent[1][0]
        assert sent[0][1] != sent[1][1]

    @pytest.mark.parametrize("order", [(True, False), (False, True)])
    def test_one_round_without_noise_has_no_epsilon(self, order):
        parts, noise = parts_of(make_sentences(16)), SparseVectorUpload(1.0)
        ensemble = ensemble_of(labels=LABELS, n_epochs=1, upload_fraction=0.01, clip=0.001, random_state=None)
        for is_noisy in order:
            ensemble.set_params(privacy=noise if is_noisy else None).partial_fit_workers(parts)
        assert ensemble.epsilon_.tolist() == [math.inf, math.inf]

    def test_patients_must_be_known(self, without_accountant):
        X, y, _ = make_sentences(8)
        with pytest.raises(ExchangeError, match="pass 'groups'"):
            make_learner(DeidTagger(**TINY), X, y, None, LABELS, n_epochs=1, privacy=PatientPrivacy(1.0))
        parts = [part[:2] for part in parts_of(make_sentences(16))]
        for strategy in ("centralized", "fedavg"):
            # Joined parts got numbers of sentences as patients: an epsilon for each sentence.
            with pytest.raises(ExchangeError, match="pass 'groups'"):
                ensemble_of(strategy=strategy, privacy=PatientPrivacy(1.0), labels=LABELS).fit_workers(parts)
        with pytest.raises(ExchangeError, match="'class_weight' that is not counted"):
            learner_of(PatientPrivacy(1.0), class_weight="balanced")
        with pytest.raises(ExchangeError, match="Use fit or fit_workers"):
            ensemble_of(privacy=PatientPrivacy(1.0), labels=LABELS).partial_fit_workers(parts_of(make_sentences(16)))


def plain_mean(gradients, size, clip, noise_multiplier, expected, rng):
    return (np.sum(list(gradients), axis=0) / expected).astype(np.float32) + np.zeros(size, np.float32)


@pytest.mark.parametrize(
    "own",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"epsilon": True},
        {"epsilon": "8"},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": math.nan},
        {"clip": 0.0},
        {"clip": math.inf},
        {"sampling_rate": 0.0},
        {"sampling_rate": 1.5},
        # Numbers that overflow in the noise or in the accountant
        {"epsilon": 10**400},
        {"delta": 5e-324},
        {"clip": 1e-320},
        {"clip": 1e308},
        {"clip": 10**400},
        {"sampling_rate": 1e-320},
        {"sampling_rate": 1e-9},
    ],
)
def test_ranges(own):
    with pytest.raises(ValueError, match=f"The '{next(iter(own))}' parameter of PatientPrivacy must be"):
        PatientPrivacy(**{"epsilon": 1.0, **own})


class TestLedger:
    def ledger(self, path=None, **own):
        values = {"sampling_rate": 0.25, "noise_multiplier": 2.0, "n_planned": 8, "path": path, **own}
        return PatientLedger(8.0, 1e-5, **values)

    def test_survives_a_restart_and_refuses_when_spent(self, tmp_path):
        path = tmp_path / "ledger.json"
        ledger = self.ledger(path)
        ledger.charge(5)
        again = PatientLedger.load(path)
        assert (again.n_spent, again.noise_multiplier) == (5, 2.0)
        with pytest.raises(ExchangeError, match="budget is spent: 3 of 8 steps are left, and 4 are needed"):
            again.charge(4)
        assert PatientLedger.load(path).n_spent == 5
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_steps_are_charged_before_they_are_trained(self, tmp_path, monkeypatch, without_accountant):
        path = tmp_path / "ledger.json"
        learner = learner_of(PatientPrivacy(8.0, ledger=path))

        def interrupted(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr("sklearn_deid.federated.patient_steps.noisy_mean", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.train_epoch()
        assert PatientLedger.load(path).n_spent == 4

    def test_ledger_behind_a_link_counts_the_steps(self, tmp_path):
        """The link was replaced by a file, and the ledger behind the link still said that nothing was spent."""
        path, link = tmp_path / "ledger.json", tmp_path / "link.json"
        link.symlink_to(path)
        self.ledger(path)._write()
        PatientLedger.load(link).charge(5)
        assert link.is_symlink()
        assert PatientLedger.load(path).n_spent == 5

    def test_two_trainings_with_one_ledger_forget_no_step(self, tmp_path, without_accountant):
        """The second one wrote its own number of steps over the larger one."""
        path = tmp_path / "ledger.json"
        first, second = (PatientPrivacy(8.0, ledger=path).open_ledger(6, 2) for _ in range(2))
        first.charge(4)
        with pytest.raises(ExchangeError, match="Another training has charged the privacy ledger"):
            second.charge(4)
        assert (PatientLedger.load(path).n_spent, second.n_spent) == (4, 0)
        PatientLedger.load(path).charge(4)
        assert PatientLedger.load(path).n_left == 0

    def test_other_plans_are_refused(self, tmp_path, without_accountant):
        path = tmp_path / "ledger.json"
        learner_of(PatientPrivacy(8.0, ledger=path))
        assert learner_of(PatientPrivacy(8.0, ledger=path)).ledger.n_left == 8
        with pytest.raises(ExchangeError, match="another plan: epsilon differ"):
            learner_of(PatientPrivacy(9.0, ledger=path))
        with pytest.raises(ExchangeError, match="another plan: n_planned differ"):
            learner_of(PatientPrivacy(8.0, ledger=path), n_epochs=3)

    @pytest.mark.parametrize(
        "change",
        [
            {"n_spent": 9},
            {"n_spent": -1},
            {"n_spent": 1.5},
            {"noise_multiplier": 0.0},
            {"delta": 2.0},
            {"epsilon": 10**400},
            {"noise_multiplier": 10**400},
            {"n_planned": 10**400},
            {"kind": "x"},
            {"extra": 1},
        ],
    )
    def test_files_that_are_no_ledger_are_refused(self, tmp_path, change):
        path = tmp_path / "ledger.json"
        self.ledger(path).charge(1)
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(ExchangeError):
            PatientLedger.load(path)
        path.write_text("{")
        with pytest.raises(ExchangeError, match="cannot be read"):
            PatientLedger.load(path)

    def test_missing_accountant_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "dp_accounting", None)
        with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[privacy\]"):
            PatientPrivacy(8.0).open_ledger(6, 2)


class TestAccountant:
    """Against the accountant's own figures. Needs the extra ``privacy``."""

    @pytest.fixture(autouse=True)
    def accountant(self):
        pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")

    def test_ledger_equals_the_accountant_within_one_percent(self):
        import dp_accounting as dp
        from dp_accounting import rdp

        ledger = PatientPrivacy(8.0, sampling_rate=0.1).open_ledger(60, 12)
        accountant = rdp.RdpAccountant()
        step = dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(ledger.noise_multiplier))
        for n_steps in (1, 119):
            ledger.charge(n_steps)
            accountant.compose(step, n_steps)
            assert ledger.spent_epsilon() == pytest.approx(accountant.get_epsilon(1e-5), rel=0.01)
            shown = float(re.search(r"epsilon ([\d.]+) of", ledger.line()).group(1))
            assert ledger.spent_epsilon() <= shown < ledger.spent_epsilon() + 0.001, "rounded up"
        assert 7.9 < ledger.spent_epsilon() <= 8.0
        assert "of 8 spent at delta 1e-05, 120 of 120 steps" in ledger.line()

    @pytest.mark.parametrize("n_steps", [0, -1, 1.5, float("nan"), True])
    def test_steps_are_whole_numbers(self, n_steps):
        """NaN was charged, and left a ledger that nobody can read."""
        ledger = PatientLedger(8.0, 1e-5, sampling_rate=0.25, noise_multiplier=2.0, n_planned=8)
        with pytest.raises(ExchangeError, match="whole number of steps"):
            ledger.charge(n_steps)
        assert ledger.n_spent == 0

    def test_ledger_with_less_noise_than_its_epsilon_needs_is_refused(self, tmp_path):
        path = tmp_path / "ledger.json"
        noise = PatientPrivacy(8.0, sampling_rate=0.1, ledger=path).open_ledger(60, 12).noise_multiplier
        assert PatientLedger.load(path).noise_multiplier == noise
        path.write_text(json.dumps({**json.loads(path.read_text()), "noise_multiplier": 0.9 * noise}))
        with pytest.raises(ExchangeError, match="less noise than its epsilon needs"):
            PatientPrivacy(8.0, sampling_rate=0.1, ledger=path).open_ledger(60, 12)

    def test_full_batches_agree_with_the_exact_gaussian(self):
        """Sampling rate 1: n steps of noise z are one Gaussian of z / sqrt(n) (Balle & Wang 2018)."""
        from .test_dssgd_inputs_and_privacy import gaussian_epsilon

        exact = gaussian_epsilon(2.0, 1e-5)
        assert exact < epsilon_of_steps(4.0, 1.0, 4, 1e-5) < 1.15 * exact

    def test_impossible_plans_are_refused(self):
        with pytest.raises(ExchangeError, match="No noise keeps"):
            PatientPrivacy(1e-9, sampling_rate=1.0).open_ledger(6, 100)

    def test_orders_that_do_not_converge_are_left_out_without_a_word(self, caplog):
        """`federate site` printed 30 lines of the accountant before the line for the officer."""
        for computed_once in (patient_ledger.epsilon_of_steps, patient_ledger._least_noise):
            computed_once.cache_clear()
        with caplog.at_level("WARNING"):
            PatientLedger.planned(epsilon=8.0, delta=1e-5, sampling_rate=0.5, n_planned=100).line()
        assert caplog.records == []


class TestTrainedLayers:
    """Each trained parameter receives the same noise: a training that starts from a tagger trains the last layers."""

    @pytest.fixture
    def started(self, without_accountant):
        def make(**privacy):
            X, y, groups = make_sentences(8)
            privacy = PatientPrivacy(8.0, sampling_rate=0.5, **privacy)
            tagger = DeidTagger(warm_start_from="starter-en", random_state=0)
            return make_learner(tagger, X, y, groups, LABELS, n_epochs=1, privacy=privacy)

        return make

    @pytest.mark.parametrize(("layers", "is_last"), [("auto", True), ("last", True), ("all", False)])
    def test_the_encoder_stays_as_it_was(self, started, layers, is_last):
        learner = started(layers=layers)
        before = learner.layout.unflatten(learner.get_flat())
        learner.train_epoch()
        after = learner.layout.unflatten(learner.get_flat())
        moved = {name for name in before if not np.array_equal(before[name], after[name])}
        last = {name for name in before if name.startswith(("emit.", "crf."))}
        assert moved == (last if is_last else set(before))
        learner.finish()
        assert all(p.requires_grad for p in learner.tagger.module_.parameters()), "its user may train it on"

    def test_the_noise_covers_the_trained_layers_only(self, started, monkeypatch):
        sizes = []
        original = noisy_mean

        def spied(gradients, size, *rest):
            sizes.append(size)
            return original(gradients, size, *rest)

        monkeypatch.setattr("sklearn_deid.federated.patient_steps.noisy_mean", spied)
        learner = started()
        learner.train_epoch()
        last = (p for name, p in learner.tagger.module_.named_parameters() if name.startswith(("emit.", "crf.")))
        assert set(sizes) == {sum(p.numel() for p in last)}

    @pytest.mark.parametrize(("labels", "factor"), [(LABELS, 0.3), ([*LABELS, "FECHAS"], 16 * 2 / 100), (["X"], None)])
    def test_the_rate_grows_with_the_patients_if_labels_are_new(self, without_accountant, labels, factor):
        """Eight sentences have two patients."""
        X, y, groups = make_sentences(8)
        if factor is None:
            y = [["B-X" if tag.startswith("B") else "O" for tag in row] for row in y]
            X, y, groups = ([*rows * 20] for rows in (X, y, groups))
            groups = [f"p{i // 4}" for i in range(len(X))]
        tagger = DeidTagger(warm_start_from="starter-en", random_state=0)
        privacy = PatientPrivacy(8.0, sampling_rate=0.5)
        learner = make_learner(tagger, X, y, groups, labels, n_epochs=1, privacy=privacy)
        share = dict(learner.tagger.callbacks_)["lr_decay"].share
        assert share == pytest.approx(16 * len(set(groups)) / 100 if factor is None else factor)

    def test_a_training_from_random_weights_trains_all_layers(self, without_accountant):
        learner = learner_of(PatientPrivacy(8.0, sampling_rate=0.5))
        assert all(p.requires_grad for p in learner.tagger.module_.parameters())

    def test_other_layers_are_refused(self):
        with pytest.raises(ValueError, match="must be auto, all or last"):
            PatientPrivacy(8.0, layers="first")
