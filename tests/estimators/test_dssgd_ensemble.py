"""DSSGDEnsemble: the same numbers as plain training where they must be, splits, messages, privacy, scikit-learn."""

import math
import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from sklearn_deid import DeidTagger, DSSGDEnsemble, WordVectors, load_model, save_model
from sklearn_deid._sequences import Representation
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.estimators._privacy_spent import spent_epsilon
from sklearn_deid.estimators._votes import majority_tags
from sklearn_deid.estimators._worker_data import split_patients
from sklearn_deid.exceptions import ExchangeError, MissingDependencyError, SequenceError
from sklearn_deid.federated import GaussianUpload, PrivacyEvent, PrivacyLedger, SparseVectorUpload
from sklearn_deid.metrics import phi_f1_score

from .conftest import assert_rows_equal, make_sentences

TINY = {"hidden_size": 8, "batch_size": 40, "lr": 0.01, "embeddings": None, "characters": "cnn", "device": "cpu"}
FEW = {"n_workers": 2, "n_epochs": 2, "random_state": 0}
ALL = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0, "clip": math.inf}


@pytest.fixture(scope="module")
def data():
    return make_sentences(32)


@pytest.fixture(scope="module")
def trained(data):
    X, y, groups = data
    ensemble = DSSGDEnsemble(DeidTagger(**TINY), **{**FEW, "n_workers": 3}, keep_exchange=True, validation_fraction=0.3)
    return ensemble.fit(X, y, groups=groups)


def ensemble_of(lr=0.01, **parameters):
    return DSSGDEnsemble(DeidTagger(**{**TINY, "lr": lr}), **{**FEW, **parameters})


def both_prefixes(n=24):
    """Sentences in which each label begins and goes on, so that label set and tag set give the same classes."""
    X, y, groups = make_sentences(n)
    X = [[*row, "Elm", "Fir", "Northwick", "Eastham", "7", "8"] for row in X]
    y = [[*row, "B-PATIENT", "I-PATIENT", "B-CITY", "I-CITY", "B-AGE", "I-AGE"] for row in y]
    return X, y, groups


def weights(tagger):
    return np.concatenate([p.detach().numpy().ravel() for p in tagger.module_.parameters()])


def parts_of(data, n=2):
    X, y, groups = data
    cut = len(X) // n
    return [tuple(column[i * cut : (i + 1) * cut] for column in (X, y, groups)) for i in range(n)]


class TestPlainTraining:
    """One worker that shares everything trains as the tagger alone does."""

    def plain(self, ensemble, X, y, **changed):
        return DeidTagger(**{**TINY, **changed}, max_epochs=4, random_state=ensemble.estimators_[0].random_state)

    def test_centralized_is_fit(self):
        X, y, groups = both_prefixes()
        ensemble = ensemble_of(strategy="centralized", n_epochs=4).fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y).fit(X, y)
        for tagger in (ensemble.estimators_[0], ensemble.global_estimator_):
            np.testing.assert_array_equal(weights(tagger), weights(plain))
        assert_rows_equal(ensemble.predict_proba(X), plain.predict_proba(X))
        assert ensemble.history_.column("train_loss") == [row["train_loss"] for row in plain.history]

    @pytest.mark.parametrize("strategy", ["dssgd", "fedavg", "round_robin", "local"])
    def test_one_worker_is_fit(self, strategy):
        X, y, groups = both_prefixes()
        ensemble = ensemble_of(strategy=strategy, n_workers=1, n_epochs=4, aggregate="vote", **ALL)
        ensemble.fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y).fit(X, y)
        # The server adds a difference to what it was taken from, which rounds in float32.
        taggers = [ensemble.estimators_[0], *([] if strategy == "local" else [ensemble.global_estimator_])]
        for tagger in taggers:
            np.testing.assert_allclose(weights(tagger), weights(plain), atol=2e-4)

    def test_rounds_of_one_worker_are_partial_fit(self):
        X, y, groups = both_prefixes()
        ensemble = ensemble_of(n_workers=1, **ALL)
        for _ in range(3):
            ensemble.partial_fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y)
        for _ in range(3):
            plain.partial_fit(X, y)
        np.testing.assert_allclose(weights(ensemble.global_estimator_), weights(plain), atol=2e-4)

    def test_without_uploads_dssgd_is_local(self, data):
        X, y, groups = data
        alone = ensemble_of(strategy="local", aggregate="vote").fit(X, y, groups=groups)
        silent = ensemble_of(upload_fraction=0.0, download_fraction=0.0).fit(X, y, groups=groups)
        for a, b in zip(alone.estimators_, silent.estimators_, strict=True):
            np.testing.assert_array_equal(weights(a), weights(b))

    def test_all_workers_begin_with_the_same_weights_and_own_seeds(self, data):
        X, y, groups = data
        still = DeidTagger(**{**TINY, "lr": 1e-30})
        ensemble = DSSGDEnsemble(still, **FEW, strategy="local", aggregate="vote").fit(X, y, groups=groups)
        first, second = ensemble.estimators_
        np.testing.assert_allclose(weights(first), weights(second), atol=1e-7)
        assert first.random_state != second.random_state


class TestStrategies:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"strategy": "centralized"},
            {"strategy": "round_robin"},
            {"strategy": "fedavg"},
            {"strategy": "fedavg", "combine": "median", "n_workers": 3},
            {"strategy": "local", "aggregate": "vote"},
            {"strategy": "dssgd", "aggregate": "worker"},
            {"strategy": "dssgd", "aggregate": "vote", "selection": "largest"},
            {"strategy": "dssgd", "aggregate": "vote", "schedule": "random-delay", "mean_delay": 0.5},
            {"strategy": "dssgd", "schedule": "sequential", "upload_fraction": 1.0, "download_fraction": 1.0},
        ],
        ids=str,
    )
    def test_learns(self, parameters):
        X, y, groups = make_sentences(60)
        ensemble = ensemble_of(lr=0.03, n_epochs=12, **parameters).fit(X, y, groups=groups)
        assert ensemble.score(*make_sentences(60, seed=1)[:2]) > 0.8

    def test_rounds(self, data):
        X, y, groups = data
        for strategy in ("centralized", "round_robin", "dssgd", "local", "fedavg"):
            ensemble = ensemble_of(strategy=strategy, aggregate="vote")
            for _ in range(2):
                ensemble.partial_fit(X, y, groups=groups)
            n_workers = 1 if strategy == "centralized" else 2
            assert sorted(ensemble.history_.column("epoch")) == sorted([1, 2] * n_workers)
            assert len(ensemble.predict(X)) == len(X)

    def test_rounds_go_on_where_fit_ended(self, data):
        X, y, groups = data
        for strategy in ("dssgd", "local"):
            ensemble = ensemble_of(strategy=strategy, aggregate="vote").fit(X, y, groups=groups)
            before = weights(ensemble.estimators_[0])
            ensemble.partial_fit(X, y, groups=groups)
            assert ensemble.history_.column("epoch")[-1] == 3
            assert np.abs(weights(ensemble.estimators_[0]) - before).max() < 0.2

    def test_a_malicious_worker_is_outvoted(self, data):
        X, y, _ = data
        wrong = [["B-CITY" if tag == "O" else "O" for tag in row] for row in y]
        third = len(X) // 3
        parts = [(X, y), (X, y), (X[:third], wrong[:third])]
        f1 = {
            combine: ensemble_of(strategy="fedavg", combine=combine, lr=0.03, n_epochs=8).fit_workers(parts).score(X, y)
            for combine in ("median", "trimmed_mean")
        }
        assert min(f1.values()) > 0.8

    def test_interruption_leaves_what_is_finished(self, data):
        from skorch.callbacks import Callback

        class Interrupt(Callback):
            def on_epoch_end(self, net, **kwargs):
                if len(net.history) == 2:
                    raise KeyboardInterrupt

        X, y, groups = data
        for strategy in ("dssgd", "fedavg", "centralized"):
            ensemble = DSSGDEnsemble(DeidTagger(**TINY, callbacks=[Interrupt()]), **FEW, strategy=strategy)
            ensemble.fit(X, y, groups=groups)
            assert ensemble.history_.interrupted
            assert set(ensemble.history_.column("epoch")) == {1}
            assert len(ensemble.predict(X)) == len(X)


class TestSplit:
    def test_patients_are_never_split_and_workers_are_similar(self):
        rng = np.random.default_rng(0)
        for n_workers in (1, 2, 5):
            groups = np.array([f"p{i}" for i in rng.integers(0, 40, 400)])
            rows = split_patients(groups, 400, n_workers, rng)
            assert sorted(np.concatenate(rows).tolist()) == list(range(400))
            owners = [set(groups[chosen]) for chosen in rows]
            assert sum(map(len, owners)) == len(set(groups))
            assert max(map(len, rows)) - min(map(len, rows)) <= np.unique(groups, return_counts=True)[1].max()

    def test_known_patients_stay(self):
        known = {}
        groups = np.arange(20) // 2
        first = split_patients(groups, 20, 3, np.random.default_rng(0), known)
        again = split_patients(np.append(groups, 99), 21, 3, np.random.default_rng(5), known)
        for a, b in zip(first, again, strict=True):
            assert set(a) <= set(b)
        assert known[99] in (0, 1, 2)

    def test_workers_get_their_part(self, data, monkeypatch):
        from sklearn_deid.estimators._tagger_learner import TaggerLearner

        seen = []
        plan = TaggerLearner.plan
        monkeypatch.setattr(TaggerLearner, "plan", lambda self, part, *a: (seen.append(part), plan(self, part, *a))[1])
        X, y, groups = data
        ensemble = ensemble_of(n_workers=3, n_epochs=1, strategy="local", aggregate="vote").fit(X, y, groups=groups)
        ensemble.partial_fit(X, y, groups=groups)
        for first, second in zip(seen[:3], seen[3:], strict=True):
            assert set(first.groups) == set(second.groups)
        assert sum(len(set(part.groups)) for part in seen[:3]) == len(set(groups))

    def test_looking_at_a_learner_changes_nothing(self, data):
        from sklearn_deid.estimators._tagger_learner import TaggerLearner
        from sklearn_deid.estimators._worker_data import checked_part

        X, y, groups = data
        # Vectors that all know, which a learner puts away while it trains.
        vectors = SubwordTable(np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32), is_public=True)
        found = []
        for watched in (False, True):
            tagger = DeidTagger(**{**TINY, "embeddings": vectors}, max_epochs=2, random_state=0)
            part = checked_part(tagger, X, y, groups)
            learner = TaggerLearner(tagger, part, sorted({tag[2:] for row in y for tag in row} - {""}))
            learner.plan(part, 2)
            for _ in range(2):
                learner.train_epoch()
                tags = learner.predict(X) if watched else None
            found.append(learner.get_flat())
            learner.finish()
        assert_rows_equal(tags, tagger.predict(X))
        np.testing.assert_array_equal(*found)

    def test_missing_groups_warn(self, data):
        X, y, _ = data
        with pytest.warns(UserWarning, match="Without 'groups' each sentence counts as a patient") as caught:
            ensemble_of(n_epochs=1).fit(X, y)
        assert caught[0].filename == __file__
        ensemble_of(n_epochs=1, strategy="centralized").fit(X, y)  # nothing is split

    def test_too_few_patients(self, data):
        X, y, groups = data
        with pytest.raises(SequenceError, match="8 patients do not give each of 9 workers one: 1 workers have no"):
            ensemble_of(n_workers=9).fit(X, y, groups=groups)
        with pytest.raises(SequenceError, match="at least two patients"):
            ensemble_of(n_workers=8, validation_fraction=0.5).fit(X, y, groups=groups)
        with pytest.raises(SequenceError, match="worker 1 have no token|worker 0 have no token"):
            ensemble_of().fit([["a"], []], [["O"], []], groups=[1, 2])

    def test_apart_already(self, data):
        ensemble = ensemble_of(n_workers=7, n_epochs=1).fit_workers(parts_of(data, 3))
        assert len(ensemble.estimators_) == 3
        central = ensemble_of(strategy="centralized", n_epochs=1, validation_fraction=0.5).fit_workers(parts_of(data))
        assert len(central.estimators_) == 1
        pairs = [part[:2] for part in parts_of(data)]
        assert ensemble_of(n_epochs=1).fit_workers(pairs).partial_fit_workers(pairs).history_.column("epoch")[-1] == 2


class TestHistory:
    def test_bytes_are_those_of_the_messages(self, trained):
        history, exchange = trained.history_, trained.exchange_
        assert history.bytes_up == sum(len(message.data) for message in exchange.uploads())
        assert history.bytes_down == sum(len(message.data) for message in exchange.downloads())
        assert [line.bytes_up for line in history] == [len(message.data) for message in exchange.uploads()]
        assert history.bytes_start > 0

    @pytest.mark.parametrize("strategy", ["fedavg", "round_robin"])
    def test_bytes_of_other_strategies(self, data, strategy):
        X, y, groups = data
        ensemble = ensemble_of(strategy=strategy, n_epochs=1, keep_exchange=True).fit(X, y, groups=groups)
        down = [len(message.data) for message in ensemble.exchange_.downloads()]
        assert ensemble.history_.column("bytes_down") == down
        if strategy == "fedavg":
            assert ensemble.history_.column("bytes_up") == [len(m.data) for m in ensemble.exchange_.uploads()]

    def test_a_share_is_sent(self, trained):
        n = len(weights(trained.global_estimator_))
        assert max(trained.history_.column("n_up")) <= 0.5 * n
        assert set(trained.history_.column("n_down")) == {n // 10}

    def test_lines(self, trained):
        assert trained.history_.column("staleness") == [0, 1, 2] * 2
        f1 = trained.history_.table("f1")
        assert sorted(f1) == ["worker-0", "worker-1", "worker-2"]
        assert all(len(values) == 2 and ((values >= 0) & (values <= 1)).all() for values in f1.values())

    def test_held_out_patients_are_not_trained_on(self, data):
        X, y, groups = data
        ensemble = ensemble_of(strategy="local", aggregate="vote", validation_fraction=0.5, n_epochs=1)
        full = clone(ensemble).set_params(validation_fraction=None).fit(X, y, groups=groups)
        assert not np.array_equal(
            weights(full.estimators_[0]), weights(ensemble.fit(X, y, groups=groups).estimators_[0])
        )
        assert math.isnan(full.history_.column("f1")[0])

    def test_verbose_prints_numbers_and_no_tokens(self, data, capsys):
        X, y, groups = data
        ensemble_of(verbose=1).fit(X, y, groups=groups).partial_fit(X, y, groups=groups)
        printed = capsys.readouterr().out
        assert "worker-1, epoch 2 of 2: train_loss" in printed
        assert "worker-1, epoch 3: train_loss" in printed
        assert not any(token in printed for row in X for token in row if len(token) > 3)


class TestWhoPredicts:
    def test_vote_is_the_majority(self, trained, data):
        X, _, _ = data
        voting = clone_state(trained).set_params(aggregate="vote")
        answers = [tagger.predict(X) for tagger in trained.estimators_]
        for row, predicted in enumerate(voting.predict(X)):
            for place, tag in enumerate(predicted):
                votes = [answer[row][place] for answer in answers]
                if votes.count(tag) < 2:  # only where a tag was made legal, or all three differ
                    assert tag.startswith(("B-", "I-"))
        expected = np.mean([tagger.predict_proba(X)[0] for tagger in trained.estimators_], axis=0)
        np.testing.assert_allclose(voting.predict_proba(X)[0], expected, atol=1e-6)

    def test_ties_hide_and_tags_become_legal(self):
        tags, sure = majority_tags([[["O", "B-A", "O"], []], [["B-B", "I-A", "I-B"], []]])
        assert tags == [["B-B", "B-A", "B-B"], []]
        assert [row.tolist() for row in sure] == [[0.5, 0.5, 0.5], []]
        assert majority_tags([[["O"]], [["B-A"]], [["B-A"]]], [[[0.9]], [[0.6]], [[0.9]]])[1][0][0] == pytest.approx(
            0.5
        )

    def test_one_worker(self, trained, data):
        X, y, _ = data
        one = clone_state(trained).set_params(aggregate="worker", worker=2)
        assert_rows_equal(one.predict(X), trained.estimators_[2].predict(X))
        assert one.score(X, y) == trained.score_workers(X, y)[2]
        with pytest.raises(ValueError, match="'worker' parameter must be from 0 to 2. Got 3"):
            one.set_params(worker=3).predict(X)

    @pytest.mark.parametrize("aggregate", ["global", "vote", "worker"])
    def test_confidence_and_empty_input(self, trained, data, aggregate):
        X, _, _ = data
        ensemble = clone_state(trained).set_params(aggregate=aggregate)
        tags, sure = ensemble.predict(X, return_confidence=True)
        assert_rows_equal(tags, ensemble.predict(X))
        assert [len(row) for row in sure] == [len(row) for row in X]
        assert all(((row >= 0) & (row <= 1 + 1e-6)).all() for row in sure)
        assert ensemble.predict([]).shape == (0,)
        assert [len(row) for row in ensemble.predict([[], ["a"]])] == [0, 1]

    def test_score_is_f1_of_spans(self, trained, data):
        X, y, _ = data
        assert trained.score(X, y) == phi_f1_score(y, trained.predict(X))
        with pytest.raises(ValueError, match="does not take sample weights"):
            trained.score(X, y, sample_weight=[1.0])

    def test_local_has_no_global_network(self, data):
        X, y, groups = data
        with pytest.raises(ValueError, match="strategy='local' has no global network"):
            ensemble_of(strategy="local").fit(X, y, groups=groups)

    def test_unfitted(self):
        for ask in (lambda e: e.predict([["a"]]), lambda e: e.epsilon_, lambda e: e.score_workers([["a"]], [["O"]])):
            with pytest.raises(NotFittedError):
                ask(ensemble_of())


def clone_state(ensemble):
    return pickle.loads(pickle.dumps(ensemble))


class TestScikitLearn:
    def test_grid_search_over_fractions(self, data):
        X, y, groups = data
        grid = {"upload_fraction": [0.1, 1.0], "download_fraction": [0.5], "estimator__hidden_size": [4]}
        with config_context(enable_metadata_routing=True):
            ensemble = ensemble_of(n_epochs=1).set_fit_request(groups=True)
            search = GridSearchCV(ensemble, grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.best_estimator_.estimators_[0].hidden_size == 4
        assert ensemble.estimator.hidden_size == 8

    def test_cross_validation_without_routing_warns_of_groups(self, data):
        X, y, _ = data
        with pytest.warns(UserWarning, match="Without 'groups'"):
            assert len(cross_val_score(ensemble_of(n_epochs=1), X, y, cv=2)) == 2

    def test_clone_and_parameters(self, trained):
        copy = clone(trained)
        assert not hasattr(copy, "estimators_")
        assert {k: v for k, v in copy.get_params(deep=False).items() if k != "estimator"} == {
            k: v for k, v in trained.get_params(deep=False).items() if k != "estimator"
        }
        copy.set_params(estimator__lr=0.5, clip=2.0)
        assert (copy.estimator.lr, copy.clip, trained.estimator.lr) == (0.5, 2.0, 0.01)

    def test_pickle_tags_the_same_and_holds_no_word_and_no_patient(self, trained, data):
        X, y, groups = data
        stored = pickle.dumps(trained)
        assert_rows_equal(pickle.loads(stored).predict_proba(X), trained.predict_proba(X))
        for text in ("Juniper", "Northwick", "patient-"):
            assert text.encode() not in stored
        with pytest.raises(ValueError, match="Which patient belongs to which worker is not known.*partial_fit_workers"):
            pickle.loads(stored).partial_fit(X, y, groups=groups)
        more = pickle.loads(stored).partial_fit_workers(parts_of(data, 3))
        assert more.history_.column("epoch")[-1] == 3

    def test_repr_shows_no_word(self, trained):
        shown = repr(trained) + trained._repr_html_() + repr(trained.history_)
        assert not any(word in shown for word in ("Juniper", "Northwick", "patient-"))

    def test_the_global_tagger_can_be_saved(self, trained, data, tmp_path):
        X, _, _ = data
        save_model(trained.global_estimator_, tmp_path / "model")
        assert_rows_equal(load_model(tmp_path / "model").predict(X), trained.predict(X))

    def test_random_state_repeats_and_jobs_do_not_matter(self, trained, data):
        X, y, groups = data
        expected = [weights(t) for t in [trained.global_estimator_, *trained.estimators_]]
        for n_jobs in (None, 2):
            again = clone(trained).set_params(n_jobs=n_jobs).fit(X, y, groups=groups)
            for tagger, vector in zip([again.global_estimator_, *again.estimators_], expected, strict=True):
                np.testing.assert_array_equal(weights(tagger), vector)
            assert again.history_.to_list() == trained.history_.to_list()
        other = clone(trained).set_params(random_state=1).fit(X, y, groups=groups)
        assert not np.array_equal(weights(other.global_estimator_), expected[0])

    def test_global_generators_are_left_alone(self, data):
        import torch

        X, y, groups = data
        torch.manual_seed(7)
        before = torch.get_rng_state(), np.random.get_state()[1].copy()
        ensemble_of(n_epochs=1).fit(X, y, groups=groups)
        assert torch.equal(before[0], torch.get_rng_state())
        np.testing.assert_array_equal(before[1], np.random.get_state()[1])

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("estimator", "tagger"),
            ("n_workers", 0),
            ("strategy", "gossip"),
            ("upload_fraction", 1.1),
            ("download_fraction", -0.1),
            ("clip", 0.0),
            ("threshold", -1.0),
            ("selection", "first"),
            ("schedule", "parallel"),
            ("server_step", 0.0),
            ("n_epochs", 0),
            ("aggregate", "mean"),
            ("worker", -1),
            ("combine", "sum"),
            ("max_norm", 0.0),
            ("privacy", 1.0),
            ("delta", 1.0),
            ("validation_fraction", 1.0),
            ("n_jobs", 0.5),
        ],
    )
    def test_bad_values_are_named(self, name, value):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of DSSGDEnsemble must be"):
            DSSGDEnsemble(**{name: value}).fit([["a"]], [["O"]], groups=[1])


class TestInputs:
    def test_auto_is_a_public_table_and_the_same_for_all(self, data):
        X, y, groups = data
        tagger = DeidTagger(**{**TINY, "embeddings": "auto"})
        ensemble = DSSGDEnsemble(tagger, **FEW).fit(X, y, groups=groups)
        tables = [t._vectors for t in [*ensemble.estimators_, ensemble.global_estimator_]]
        assert all(isinstance(table, SubwordTable) and table.is_public for table in tables)
        assert len({table.checksum for table in tables}) == 1
        assert tagger.embeddings == "auto"

    def test_public_vectors(self, data):
        X, y, groups = data
        public = WordVectors(["pain", "years"], np.eye(2, dtype=np.float32), is_public=True)
        tagger = DeidTagger(**{**TINY, "embeddings": public})
        ensemble = DSSGDEnsemble(tagger, **FEW, n_jobs=2).fit(X, y, groups=groups)
        assert all(t._vectors is t.embeddings and t._vectors.checksum == public.checksum for t in ensemble.estimators_)
        assert len(ensemble.predict(X)) == len(X)

    def test_private_vectors_are_refused(self, data):
        X, y, groups = data
        private = WordVectors(["pain"], [[1.0]])
        for embeddings, message in (
            ("corpus", "embeddings='corpus' trains word vectors on each worker's own notes.*cannot be shared"),
            (private, "not known to be public"),
            (SubwordTable(np.ones((2, 2))), "not known to be public"),
        ):
            with pytest.raises(ValueError, match=message):
                DSSGDEnsemble(DeidTagger(**{**TINY, "embeddings": embeddings})).fit(X, y, groups=groups)

    def test_representations(self):
        rng = np.random.default_rng(0)
        X = Representation.from_rows([rng.normal(size=(n, 4)) for n in rng.integers(1, 6, 80)])
        y = [["B-AGE" if v[0] > 0 else "O" for v in row] for row in X]
        ensemble = ensemble_of(strategy="fedavg", lr=0.03, n_epochs=10).fit(X, y, groups=np.arange(80) // 4)
        assert ensemble.n_features_in_ == 4
        assert ensemble.score(X, y) > 0.8
        other = Representation.from_rows([np.ones((2, 3))])
        parts = [(X, y), (other, [["O", "O"]])]
        with pytest.raises(SequenceError, match="worker 0 has vectors of width 4, but worker 1 has vectors of width 3"):
            ensemble.fit_workers(parts)
        with pytest.raises(SequenceError, match="worker 0 has vectors of width 4, but worker 1 has tokens"):
            ensemble.fit_workers([(X, y), ([["a"]], [["O"]])])
        with pytest.raises(SequenceError, match="the network reads vectors of width 4, but worker 0 has vectors of"):
            ensemble.partial_fit_workers([(other, [["O", "O"]])] * 2)

    def test_labels_are_united(self):
        parts = [([["Elm"]] * 2, [["B-PATIENT"]] * 2), ([["40"]] * 2, [["B-AGE"]] * 2)]
        ensemble = ensemble_of(n_epochs=1).fit_workers(parts)
        assert ensemble.labels_ == ["AGE", "PATIENT"]
        assert ensemble.classes_.tolist() == ["O", "B-AGE", "B-PATIENT", "I-AGE", "I-PATIENT"]
        with pytest.raises(SequenceError, match="1 labels that the workers have not agreed on, such as 'CITY'"):
            ensemble.partial_fit_workers([([["Elm"]], [["B-CITY"]]), ([["40"]], [["B-AGE"]])])
        with pytest.raises(SequenceError, match="Name all labels in the 'labels' parameter"):
            ensemble_of(labels=["AGE"]).fit_workers(parts)
        wide = ensemble_of(n_epochs=1, labels=["AGE", "CITY", "PATIENT"]).fit_workers(parts)
        wide.partial_fit_workers([([["Elm"]], [["B-CITY"]]), ([["40"]], [["B-AGE"]])])

    def test_workers_without_data_are_named(self):
        good = ([["a"]], [["O"]])
        for parts, message in (
            ([good, ([], [])], "Worker 1: X holds no token"),
            ([good, ([["a", "b"]], [["O"]])], "Worker 1: .*2 tokens, 1 tags"),
            ([], "Each worker needs a pair"),
            ([good, [["a"]]], "Each worker needs a pair"),
        ):
            with pytest.raises(SequenceError, match=message):
                ensemble_of().fit_workers(parts)
        ensemble = ensemble_of(n_epochs=1).fit_workers([good, good])
        with pytest.raises(SequenceError, match="There are 2 workers, but data of 3"):
            ensemble.partial_fit_workers([good] * 3)
        with pytest.raises(ValueError, match="trained with strategy='dssgd'; call fit"):
            ensemble.set_params(strategy="fedavg").partial_fit_workers([good] * 2)

    @pytest.mark.parametrize(("name", "value"), [("train_split", 0.5), ("patience", 3), ("augmenter", "any")])
    def test_parameters_of_the_tagger_that_make_no_sense_here(self, name, value):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of the estimator must be None"):
            DSSGDEnsemble(DeidTagger(**{name: value})).fit([["a"]], [["O"]], groups=[1])

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_divergence_names_the_worker(self, data, n_jobs):
        X, y, groups = data
        wild = DeidTagger(**{**TINY, "lr": 1e38, "gradient_clip": None, "weight_average": 0.0})
        with pytest.raises(ExchangeError, match="Worker worker-0: .*not finite.*learning rate"):
            DSSGDEnsemble(wild, **{**FEW, "n_workers": 4}, n_jobs=n_jobs).fit(X, y, groups=groups)


class TestPrivacy:
    def test_sparse_vectors_report_their_exact_epsilon(self, data):
        X, y, groups = data
        noisy = ensemble_of(privacy=SparseVectorUpload(epsilon=0.9), upload_fraction=0.01, clip=0.001)
        assert noisy.fit(X, y, groups=groups).epsilon_ == pytest.approx([2 * 0.5, 2 * 0.5])  # 5/9 of 0.9, two epochs
        assert noisy.partial_fit(X, y, groups=groups).epsilon_ == pytest.approx([1.5, 1.5])

    def test_gaussian_noise_is_accounted_by_the_library(self, data, monkeypatch):
        """With a stand-in that writes down what it is told."""
        told = []

        class Accountant:
            def compose(self, event, count):
                told.append((event, count))

            def get_epsilon(self, delta):
                return 100 * delta

        package, accounting = ModuleType("dp_accounting"), ModuleType("dp_accounting.rdp")
        package.GaussianDpEvent, accounting.RdpAccountant = float, Accountant
        monkeypatch.setitem(sys.modules, "dp_accounting", package)
        monkeypatch.setitem(sys.modules, "dp_accounting.rdp", accounting)
        X, y, groups = data
        private = ensemble_of(privacy=GaussianUpload(3.0, 0.1), threshold=0.0, delta=0.01).fit(X, y, groups=groups)
        assert private.epsilon_.tolist() == [1.0, 1.0]
        assert told == [(1.5, 2)] * 2  # half the multiplier: data are replaced, not left out

    def test_the_accountant(self):
        pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
        ledger = PrivacyLedger()
        ledger.add(PrivacyEvent("gaussian", noise_multiplier=8.0), 4)
        ledger.add(PrivacyEvent("sparse-vector", epsilon=0.25))
        # Four of multiplier 8, halved, are one of multiplier 2, whose exact curve is known (Balle & Wang 2018).
        exact = gaussian_epsilon(2.0, 1e-5)
        assert exact < spent_epsilon(ledger, 1e-5) - 0.25 < 1.15 * exact

    def test_missing_library_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "dp_accounting", None)
        ledger = PrivacyLedger()
        assert spent_epsilon(ledger, 1e-5) == 0.0
        ledger.add(PrivacyEvent("gaussian", noise_multiplier=1.0))
        with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[privacy\]"):
            spent_epsilon(ledger, 1e-5)

    def test_settings_that_do_not_protect_are_refused(self, data, trained):
        X, y, groups = data
        with pytest.raises(ValueError, match="threshold=0.0 and selection='random'"):
            ensemble_of(privacy=GaussianUpload(1.0, 1.0)).fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="Randomised uploads belong to strategy='dssgd'"):
            ensemble_of(privacy=SparseVectorUpload(1.0), strategy="fedavg").fit(X, y, groups=groups)
        with pytest.raises(AttributeError, match="only if 'privacy' is set"):
            _ = trained.epsilon_


def gaussian_epsilon(multiplier, delta):
    """Smallest epsilon of one Gaussian mechanism, by bisection of the analytic curve."""
    from scipy.stats import norm

    def delta_of(eps):
        a, b = 0.5 / multiplier, eps * multiplier
        return norm.cdf(a - b) - math.exp(eps) * norm.cdf(-a - b)

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return high
