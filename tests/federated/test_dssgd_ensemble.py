"""DSSGDEnsemble: the same numbers as plain training where they must be, splits, messages, privacy, scikit-learn."""

import math
import pickle
from hashlib import sha256
from itertools import combinations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from sklearn_deid import DeidTagger, DSSGDEnsemble, load, save
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import ExchangeError, SequenceError, TrainingInterruptedWarning
from sklearn_deid.federated import FederatedAveraging, RandomDelay
from sklearn_deid.federated.tagger_learner import TaggerLearner
from sklearn_deid.federated.worker_data import split_patients
from sklearn_deid.metrics import phi_f1_score
from sklearn_deid.tagging.marginals import majority_tags

from ..tagging.conftest import assert_rows_equal, make_sentences
from .small_ensembles import ALL, FEW, INVENTING, TINY, both_prefixes, ensemble_of, parts_of, weights


@pytest.fixture(scope="module")
def data():
    return make_sentences(32)


@pytest.fixture(scope="module")
def trained(data):
    X, y, groups = data
    ensemble = ensemble_of(n_workers=3, keep_exchange=True, validation_fraction=0.3)
    return ensemble.fit(X, y, groups=groups)


class TestPlainTraining:
    """One worker that shares everything trains as the tagger alone does, without altered copies."""

    def plain(self, ensemble, X, y, **changed):
        settings = {**TINY, "augmenter": None, "span_swap": INVENTING, **changed}
        return DeidTagger(**settings, max_epochs=2, random_state=ensemble.estimators_[0].random_state)

    def test_centralized_is_fit(self):
        X, y, groups = both_prefixes()
        ensemble = ensemble_of(span_swap=INVENTING, strategy="centralized", n_epochs=2).fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y).fit(X, y, groups=groups)
        for tagger in (ensemble.estimators_[0], ensemble.global_estimator_):
            np.testing.assert_array_equal(weights(tagger), weights(plain))
        assert_rows_equal(ensemble.predict_proba(X), plain.predict_proba(X))
        assert ensemble.history_.column("train_loss") == [row["train_loss"] for row in plain.history]

    @pytest.mark.parametrize("strategy", ["dssgd", "fedavg", "round_robin", "local"])
    def test_one_worker_is_fit(self, strategy):
        X, y, groups = both_prefixes()
        settings = {"n_workers": 1, "n_epochs": 2, "predict_with": "vote", "span_swap": INVENTING, **ALL}
        ensemble = ensemble_of(strategy=strategy, **settings)
        ensemble.fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y).fit(X, y, groups=groups)
        # The server adds a difference to what it was taken from, which rounds in float32.
        taggers = [ensemble.estimators_[0], *([] if strategy == "local" else [ensemble.global_estimator_])]
        for tagger in taggers:
            np.testing.assert_allclose(weights(tagger), weights(plain), atol=2e-4)

    def test_rounds_of_one_worker_are_partial_fit(self):
        X, y, groups = both_prefixes()
        ensemble = ensemble_of(span_swap=INVENTING, n_workers=1, **ALL)
        for _ in range(3):
            ensemble.partial_fit(X, y, groups=groups)
        plain = self.plain(ensemble, X, y, span_swap=TINY["span_swap"])
        for _ in range(3):
            plain.partial_fit(X, y)
        np.testing.assert_allclose(weights(ensemble.global_estimator_), weights(plain), atol=2e-4)

    def test_without_uploads_dssgd_is_local(self, data):
        X, y, groups = data
        alone = ensemble_of(strategy="local", predict_with="vote").fit(X, y, groups=groups)
        silent = ensemble_of(upload_fraction=0.0, download_fraction=0.0).fit(X, y, groups=groups)
        for a, b in zip(alone.estimators_, silent.estimators_, strict=True):
            np.testing.assert_array_equal(weights(a), weights(b))

    def test_where_everything_is_shared_there_is_nothing_to_feed_back(self, data):
        X, y, groups = data
        plain = ensemble_of(**ALL).fit(X, y, groups=groups)
        fed = ensemble_of(**ALL, error_feedback=True, download_selection="most-changed").fit(X, y, groups=groups)
        np.testing.assert_array_equal(weights(fed.global_estimator_), weights(plain.global_estimator_))
        small = {**ALL, "upload_fraction": 0.1}
        plain = ensemble_of(**small).fit(X, y, groups=groups)
        fed = ensemble_of(**small, error_feedback=True).fit(X, y, groups=groups)
        assert not np.array_equal(weights(fed.global_estimator_), weights(plain.global_estimator_))

    def test_all_workers_begin_with_the_same_weights_and_own_seeds(self, data):
        X, y, groups = data
        still = DeidTagger(**{**TINY, "lr": 1e-30})
        ensemble = DSSGDEnsemble(still, **FEW, strategy="local", predict_with="vote").fit(X, y, groups=groups)
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
            {"strategy": FederatedAveraging("median"), "n_workers": 3},
            {"strategy": "local", "predict_with": "vote"},
            {"strategy": "dssgd", "predict_with": 0},
            {"strategy": "dssgd", "predict_with": "vote", "selection": "largest"},
            {
                "upload_fraction": 0.1,
                "selection": "largest",
                "error_feedback": True,
                "download_selection": "most-changed",
            },
            {"strategy": "dssgd", "predict_with": "vote", "schedule": RandomDelay(0.5)},
            {"strategy": "dssgd", "schedule": "sequential", "upload_fraction": 1.0, "download_fraction": 1.0},
        ],
        ids=str,
    )
    def test_learns(self, parameters):
        X, y, groups = make_sentences(40)
        ensemble = ensemble_of(lr=0.08, n_epochs=8, **parameters).fit(X, y, groups=groups)
        assert ensemble.score(*make_sentences(60, seed=1)[:2]) > 0.8

    def test_rounds(self, data):
        X, y, groups = data
        for strategy in ("centralized", "round_robin", "dssgd", "local", "fedavg"):
            ensemble = ensemble_of(strategy=strategy, predict_with="vote")
            for _ in range(2):
                ensemble.partial_fit(X, y, groups=groups)
            n_workers = 1 if strategy == "centralized" else 2
            assert sorted(ensemble.history_.column("epoch")) == sorted([1, 2] * n_workers)
            assert len(ensemble.predict(X)) == len(X)

    def test_rounds_go_on_where_fit_ended(self, data):
        X, y, groups = data
        for strategy in ("dssgd", "local"):
            ensemble = ensemble_of(strategy=strategy, predict_with="vote").fit(X, y, groups=groups)
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
            aggregation: ensemble_of(strategy=FederatedAveraging(aggregation), lr=0.06, n_epochs=5)
            .fit_workers(parts)
            .score(X, y)
            for aggregation in ("median", "trimmed_mean")
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
            with pytest.warns(TrainingInterruptedWarning, match="after 1 complete local epochs") as told:
                ensemble.fit(X, y, groups=groups)
            assert told[0].filename == __file__
            assert ensemble.history_.interrupted
            assert set(ensemble.history_.column("epoch")) == {1}
            assert len(ensemble.predict(X)) == len(X)

    @pytest.mark.parametrize("strategy", ["dssgd", "fedavg", "local"])
    def test_interruption_of_the_first_epoch_leaves_nothing(self, data, strategy, monkeypatch):
        """The ensemble passed for a fitted one, and a network with its first weights tagged notes."""
        X, y, groups = (part[:8] for part in data)
        begun = []

        def train_epoch(learner):
            begun.append(learner)
            if len(begun) == 2:  # the first worker has completed its epoch
                raise KeyboardInterrupt
            return {}

        monkeypatch.setattr(TaggerLearner, "train_epoch", train_epoch)
        ensemble = ensemble_of(strategy=strategy, predict_with=0)
        with pytest.raises(KeyboardInterrupt):
            ensemble.fit(X, y, groups=groups)
        with pytest.raises(NotFittedError):
            ensemble.predict(X)
        assert not hasattr(ensemble, "_training")


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
        from sklearn_deid.federated.tagger_learner import TaggerLearner

        seen = []
        plan = TaggerLearner.plan
        monkeypatch.setattr(TaggerLearner, "plan", lambda self, part, *a: (seen.append(part), plan(self, part, *a))[1])
        X, y, groups = data
        ensemble = ensemble_of(n_workers=3, n_epochs=1, strategy="local", predict_with="vote").fit(X, y, groups=groups)
        ensemble.partial_fit(X, y, groups=groups)
        for first, second in zip(seen[:3], seen[3:], strict=True):
            assert set(first.groups) == set(second.groups)
        assert sum(len(set(part.groups)) for part in seen[:3]) == len(set(groups))

    def test_looking_at_a_learner_changes_nothing(self, data):
        from sklearn_deid.federated.tagger_learner import TaggerLearner
        from sklearn_deid.federated.worker_data import checked_part

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
        with pytest.raises(SequenceError, match="8 patients are too few for 9 workers: 1 workers have no"):
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
        ensemble = ensemble_of(strategy="local", predict_with="vote", validation_fraction=0.5, n_epochs=1)
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
        voting = clone_state(trained).set_params(predict_with="vote")
        answers = [tagger.predict(X) for tagger in trained.estimators_]
        for row, predicted in enumerate(voting.predict(X)):
            for place, tag in enumerate(predicted):
                votes = [answer[row][place] for answer in answers]
                if votes.count(tag) < 2:  # only where a tag was made legal, or all three differ
                    assert tag.startswith(("B-", "I-"))
        expected = np.mean([tagger.predict_proba(X)[0] for tagger in trained.estimators_], axis=0)
        np.testing.assert_allclose(voting.predict_proba(X)[0], expected, atol=1e-6)

    @pytest.mark.parametrize(
        ("votes", "tag"),
        [
            ("O O B-A I-A", "B-A"),
            ("O O B-A B-B B-C", "B-A"),
            ("O O I-B B-A I-B", "B-B"),
            ("O O O B-A B-B", "O"),
            ("O O", "O"),
        ],
    )
    def test_votes_for_different_phi_tags_are_votes_against_o(self, votes, tag):
        """Three of five workers found PHI, and the token was left as it was."""
        assert majority_tags([[[vote]] for vote in votes.split()])[0] == [[tag]]

    def test_ties_hide_and_tags_become_legal(self):
        tags, sure = majority_tags([[["O", "B-A", "O"], []], [["B-B", "I-A", "I-B"], []]])
        assert tags == [["B-B", "B-A", "B-B"], []]
        assert [row.tolist() for row in sure] == [[0.5, 0.5, 0.5], []]
        assert majority_tags([[["O"]], [["B-A"]], [["B-A"]]], [[[0.9]], [[0.6]], [[0.9]]])[1][0][0] == pytest.approx(
            0.5
        )

    def test_one_worker(self, trained, data):
        X, y, _ = data
        one = clone_state(trained).set_params(predict_with=2)
        assert_rows_equal(one.predict(X), trained.estimators_[2].predict(X))
        assert one.score(X, y) == trained.score_workers(X, y)[2]
        with pytest.raises(ValueError, match="'predict_with' parameter .* from 0 to 2. Got 3 instead"):
            one.set_params(predict_with=3).predict(X)

    @pytest.mark.parametrize("predict_with", ["global", "vote", 1])
    def test_confidence_and_empty_input(self, trained, data, predict_with):
        X, _, _ = data
        ensemble = clone_state(trained).set_params(predict_with=predict_with)
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

    def test_a_failed_fit_leaves_nothing_of_an_earlier_one(self, data):
        """The labels were those of the failed training, and the taggers those of the earlier one."""
        ensemble = ensemble_of(n_epochs=1).fit_workers(parts_of(data))
        ensemble.set_params(estimator__lr=1e30, labels=["AGE", "CITY", "DATE", "PATIENT"], n_epochs=2)
        with pytest.raises(ExchangeError, match="Lower its learning rate"):
            ensemble.fit_workers(parts_of(data))
        with pytest.raises(NotFittedError):
            ensemble.predict(data[0][:1])
        ensemble.set_params(estimator__lr=0.01).partial_fit_workers(parts_of(data))
        assert ensemble.history_.column("epoch") == [1, 1]

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
        # A hash of few patients can be searched.
        for held_out in (some for n in (1, 2, 3) for some in combinations(sorted(set(groups)), n)):
            assert sha256(repr(list(held_out)).encode()).hexdigest().encode() not in stored
        with pytest.raises(ValueError, match="The workers of the patients are unknown.*partial_fit_workers"):
            pickle.loads(stored).partial_fit(X, y, groups=groups)
        more = pickle.loads(stored).partial_fit_workers(parts_of(data, 3))
        assert more.history_.column("epoch")[-1] == 3

    def test_repr_shows_no_word(self, trained):
        shown = repr(trained) + trained._repr_html_() + repr(trained.history_)
        assert not any(word in shown for word in ("Juniper", "Northwick", "patient-"))

    def test_the_global_tagger_can_be_saved(self, trained, data, tmp_path):
        X, _, _ = data
        save(trained.global_estimator_, tmp_path / "model")
        assert_rows_equal(load(tmp_path / "model").predict(X), trained.predict(X))

    def test_taggers_keep_no_seed_that_nobody_has_set(self, data):
        """A saved common network held the drawn seed of the first worker, with which its training can be repeated."""
        X, y, groups = (part[:8] for part in data)
        options = {"n_epochs": 1, "random_state": None, "strategy": "fedavg"}
        ensemble = ensemble_of(**options).fit(X, y, groups=groups)
        assert all(t.random_state is None for t in (ensemble.global_estimator_, *ensemble.estimators_))

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
            ("predict_with", "mean"),
            ("predict_with", -1),
            ("upload_dtype", "int8"),
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

    @pytest.mark.parametrize(("name", "value"), [("optimizer", "SGD"), ("lr", -1.0), ("encoder", "rnn")])
    def test_bad_values_of_the_estimator_are_named(self, name, value):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of DeidTagger must be"):
            DSSGDEnsemble(DeidTagger(**{name: value})).fit([["a"]], [["O"]], groups=[1])


@pytest.mark.parametrize("strategy", ["dssgd", "fedavg"])
def test_the_messages_of_all_rounds_are_kept_or_none(strategy):
    """An audit of some rounds reported less than the server has seen."""
    X, y, groups = both_prefixes()
    ensemble = ensemble_of(strategy=strategy, keep_exchange=True).partial_fit(X, y, groups=groups)
    assert len(ensemble.partial_fit(X, y, groups=groups).exchange_.uploads()) == len(ensemble.history_) == 4
    assert not hasattr(ensemble.set_params(keep_exchange=False).partial_fit(X, y, groups=groups), "exchange_")
    with pytest.raises(ValueError, match="'keep_exchange' must be True from the first round on"):
        ensemble.set_params(keep_exchange=True).partial_fit(X, y, groups=groups)
    assert len(ensemble.history_) == 6
