"""VotingTagger and TemperatureScaledTagger: the probabilities they give, and scikit-learn's tools."""

import itertools
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    DeidTagger,
    HybridTagger,
    NoteDeidentifier,
    NotePriorTagger,
    RecallTunedTagger,
    RuleTagger,
    TemperatureScaledTagger,
    VotingTagger,
    WordBiasTagger,
    make_clinical_notes,
)
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import expected_calibration_error, phi_confidences
from sklearn_deid.sequences import object_rows
from sklearn_deid.tagging.marginals import PhiMarginals, tag_columns
from sklearn_deid.text import is_allowed

from .conftest import SMALL, assert_rows_equal
from .oracle_taggers import Oracle, make_patients

TINY = {**SMALL, "max_epochs": 1}
TWO = [("one", Oracle()), ("two", Oracle(offset=0.3))]


class TestVoting:
    def test_tags_have_the_largest_product_of_marginals(self):
        rng, offsets, columns = np.random.default_rng(0), np.array([0, 0, 4, 5, 8]), tag_columns(["A", "B"])
        for _ in range(40):
            found = PhiMarginals(["A", "B"], rng.dirichlet(np.full(5, 0.7), 8), offsets)
            tags, sure = found.best_tags()
            for (start, end), row in zip(itertools.pairwise(offsets.tolist()), tags, strict=True):
                legal = [
                    path
                    for path in itertools.product(range(5), repeat=end - start)
                    if all(is_allowed(a, b) for a, b in itertools.pairwise([None, *columns[list(path)], None]))
                ]
                best = max(legal, key=lambda path: found.data[np.arange(start, end), list(path)].prod())
                assert list(row) == columns[list(best)].tolist()
            np.testing.assert_allclose(sure.data, found.of_tags(tags).data)

    def test_marginals_are_weighted_means(self):
        X, y = [["0.1", "0.5"], []], [["O", "B-NAME"], []]
        for weights, share in ((None, 0.5), ([3, 1], 0.25), ([0, 2], 1.0)):
            voting = VotingTagger(TWO, weights=weights).fit(X, y)
            expected = [[0.1 + 0.3 * share, 0.5 + 0.3 * share], []]
            for row, p in zip(voting.predict_proba(X), expected, strict=True):
                np.testing.assert_allclose(row[:, 1], p, atol=1e-6)
        assert voting.classes_.tolist() == ["O", "B-NAME", "I-NAME"]

    def test_members_of_other_schemes_and_rules(self, sentences):
        X, y, groups = (part[:24] for part in sentences)
        members = [
            ("iob2", DeidTagger(**TINY)),
            ("bioes", DeidTagger(**TINY, tag_scheme="bioes")),
            ("rules", RuleTagger(recognizers=["age"])),
        ]
        voting = VotingTagger(members).fit(X, y, groups=groups)
        proba = voting.predict_proba(X)
        assert all(np.allclose(row.sum(1), 1, atol=1e-5) for row in proba)
        tags, sure = voting.predict(X, return_confidence=True)
        for row in tags:
            assert all(is_allowed(a, b) for a, b in zip([None, *row], [*row, None], strict=True))
        assert [len(row) for row in sure] == [len(row) for row in X]
        one = voting.named_estimators_["iob2"].predict_proba(X)[0]
        only = clone(voting).set_params(bioes="drop", rules="drop").fit(X, y, groups=groups)
        assert len(only.estimators_) == 1
        place = {tag: i for i, tag in enumerate(only.classes_)}
        columns = [place[tag] for tag in voting.named_estimators_["iob2"].classes_]
        np.testing.assert_allclose(only.predict_proba(X)[0][:, columns], one, atol=1e-6)

    def test_groups_reach_who_takes_them(self):
        X, y, groups = make_patients(6, np.random.default_rng(0))
        voting = VotingTagger([("a", Oracle()), ("pipe", Pipeline([("p", "passthrough"), ("o", Oracle())]))])
        voting.fit(X, y, groups=groups)
        assert voting.estimators_[0].groups_ == voting.estimators_[1][-1].groups_ == set(groups)

    def test_jobs_and_search(self):
        X, y, groups = make_patients(12, np.random.default_rng(0))
        alone = VotingTagger(TWO).fit(X, y)
        with joblib.parallel_config(backend="threading"):
            together = VotingTagger(TWO, n_jobs=2).fit(X, y)
        assert_rows_equal(alone.predict_proba(X), together.predict_proba(X))
        grid = {"two__offset": [0.0, 0.2], "weights": [None, [1, 2]], "one": [Oracle(), "drop"]}
        search = GridSearchCV(VotingTagger(TWO), grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
        assert len(search.cv_results_["params"]) == 8

    def test_taggers_that_are_dropped_after_the_training_are_left_out(self):
        """The call ended with an error about the lengths of zip."""
        X, y = [["0.1", "0.5"]], [["O", "B-NAME"]]
        voting = VotingTagger(TWO, weights=[3, 1]).fit(X, y).set_params(one="drop")
        assert_rows_equal(voting.predict_proba(X), VotingTagger(TWO[1:]).fit(X, y).predict_proba(X))
        with pytest.raises(ValueError, match="are dropped"):
            voting.set_params(two="drop").predict(X)
        later = VotingTagger(TWO).set_params(one="drop").fit(X, y).set_params(one=Oracle())
        with pytest.raises(NotFittedError, match="have changed"):
            later.predict(X)

    def test_inside_a_recall_tuned_tagger_and_a_note_deidentifier(self):
        X, y, groups = make_patients(40, np.random.default_rng(0))
        tuned = RecallTunedTagger(VotingTagger(TWO), target_recall=0.6, random_state=0).fit(X, y, groups=groups)
        assert tuned.predict(X).shape == (40,)
        notes = make_clinical_notes(3, random_state=0)
        rules = HybridTagger(RuleTagger(), VotingTagger([("a", DeidTagger(**TINY)), ("r", RuleTagger())]))
        assert NoteDeidentifier(rules).fit(notes).annotate(["Seen on 3 May 2019."])[0] is not None

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"estimators": []}, r"must be a list of at least one pair \(name, estimator\)"),
            ({"estimators": [Oracle()]}, r"must be a list of at least one pair \(name, estimator\)"),
            ({"estimators": "one"}, "'estimators' parameter"),
            ({"estimators": [("a", Oracle()), ("a", Oracle())]}, "not unique"),
            ({"estimators": [("a", "drop")]}, "are dropped"),
            ({"estimators": [("a", 1)]}, "has no fit and predict"),
            ({"weights": [1]}, "must hold 2 numbers"),
            ({"weights": [1, -1]}, "must hold 2 numbers"),
            ({"weights": [0, 0]}, "must not be 0 for all"),
        ],
    )
    def test_mistakes(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            VotingTagger(**{"estimators": TWO, **parameters}).fit([["0.5"]], [["O"]])

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda tuned: tuned,
            lambda tuned: Pipeline([("p", "passthrough"), ("t", tuned)]),
            lambda tuned: FrozenEstimator(tuned.fit([["0.2"]], [["B-NAME"]])),
            lambda tuned: TemperatureScaledTagger(tuned, cv=0.5),
        ],
    )
    def test_threshold_that_the_vote_would_not_use_is_refused(self, wrap):
        """The token has the probability 0.2 of PHI. Alone, the tuned tagger finds it."""
        tuned = RecallTunedTagger(Oracle(), decision_bias=3)
        assert clone(tuned).fit([["0.2"]], [["B-NAME"]]).predict([["0.2"]]).tolist() == [["B-NAME"]]
        with pytest.raises(ValueError, match="'two' of VotingTagger decides by a threshold"):
            VotingTagger([("one", Oracle()), ("two", wrap(tuned))]).fit([["0.2"]] * 4, [["B-NAME"]] * 4)
        for reader in (NotePriorTagger, WordBiasTagger):
            with pytest.raises(ValueError, match=f"The tagger of {reader.__name__} decides by a threshold"):
                reader(wrap(tuned)).fit([["0.2"]] * 4, [["B-NAME"]] * 4)
        # A HybridTagger votes with its tags, so that the threshold counts.
        VotingTagger([("one", Oracle()), ("two", HybridTagger(Oracle(), tuned))]).fit([["0.2"]], [["B-NAME"]])

    def test_unfitted_weights_and_pickle(self):
        with pytest.raises(NotFittedError):
            VotingTagger(TWO).predict([["0.5"]])
        fitted = VotingTagger(TWO).fit([["0.5"]], [["O"]])
        with pytest.raises(ValueError, match="does not take sample weights"):
            fitted.score([["0.5"]], [["O"]], sample_weight=[1])
        assert_rows_equal(pickle.loads(pickle.dumps(fitted)).predict([["0.5"]]), [["B-NAME"]])
        with pytest.raises(SequenceError):
            fitted.fit([["0.5"]], [["O", "O"]])

    def test_metadata_routing(self):
        X, y, groups = make_patients(6, np.random.default_rng(0))
        with sklearn.config_context(enable_metadata_routing=True):
            voting = VotingTagger([("a", Oracle().set_fit_request(groups=True))]).set_fit_request(groups=True)
            pipe = Pipeline([("p", "passthrough"), ("v", voting)]).fit(X, y, groups=groups)
            assert pipe[-1].estimators_[0].groups_ == set(groups)


class TooSure(Oracle):
    """Doubles the log odds."""

    def predict_proba(self, X):
        rows = [row**2 for row in super().predict_proba(X)]
        return object_rows([row / row.sum(1, keepdims=True) for row in rows])


def calibrated(n, seed):
    """Tokens that are PHI as often as they say."""
    rng = np.random.default_rng(seed)
    p = np.clip(1 / (1 + np.exp(-2 * rng.normal(size=(n, 10)))), 1e-6, 1 - 1e-6)
    X = [[f"{value:.9f}" for value in row] for row in p]
    return X, [["B-NAME" if right else "O" for right in row] for row in rng.random(p.shape) < p]


class TestTemperature:
    def test_finds_the_temperature_and_lowers_the_error_on_others(self):
        X, y = calibrated(400, 0)
        scaled = TemperatureScaledTagger(TooSure().fit([], []), cv="prefit").fit(X, y)
        assert scaled.temperature_ == pytest.approx(2.0, rel=0.1)
        assert TemperatureScaledTagger(Oracle(), random_state=0).fit(X, y).temperature_ == pytest.approx(1.0, rel=0.2)
        X, y = calibrated(400, 1)
        errors = [
            expected_calibration_error(*phi_confidences(y, one.predict_proba(X), one.classes_))
            for one in (scaled.estimator_, scaled)
        ]
        assert errors[1] < 0.03 < errors[0]

    @pytest.mark.parametrize("X", [[], [[]]])
    def test_no_token_shows_no_temperature(self, X):
        with pytest.raises(SequenceError, match="hold no token, from which a temperature could be chosen"):
            TemperatureScaledTagger(TooSure().fit([], []), cv="prefit").fit(X, X)

    def test_notes_without_phi_show_no_temperature(self):
        """The temperature was about 0.05, and each span had a confidence of 1."""
        with pytest.raises(SequenceError, match="hold no PHI, from which a temperature could be chosen"):
            TemperatureScaledTagger(TooSure().fit([], []), cv="prefit").fit([["0.1", "0.2"]] * 5, [["O", "O"]] * 5)

    def test_tags_stay_and_confidence_is_that_of_the_label(self):
        X, y = calibrated(50, 0)
        scaled = TemperatureScaledTagger(TooSure().fit([], []), cv="prefit").fit(X, y)
        tags, sure = scaled.predict(X, return_confidence=True)
        assert_rows_equal(tags, scaled.estimator_.predict(X))
        for row, proba, confidence in zip(tags, scaled.predict_proba(X), sure, strict=True):
            chosen = [p[1] if tag == "B-NAME" else p[0] for p, tag in zip(proba, row, strict=True)]
            np.testing.assert_allclose(confidence, chosen, atol=1e-6)

    def test_composition(self):
        X, y, groups = make_patients(40, np.random.default_rng(0))
        scaled = TemperatureScaledTagger(Oracle(), cv=4, refit=True, random_state=0)
        tuned = RecallTunedTagger(scaled, target_recall=0.6, random_state=0).fit(X, y, groups=groups)
        assert clone(tuned).get_params()["estimator__cv"] == 4
        assert tuned.predict_proba(X)[0].shape == (20, 3)
        with pytest.raises(NotFittedError):
            TemperatureScaledTagger(FrozenEstimator(Oracle()), cv="prefit").fit(X, y)
        with pytest.raises(ValueError, match="'cv' parameter of TemperatureScaledTagger"):
            TemperatureScaledTagger(Oracle(), cv=0).fit(X, y)
        with pytest.raises(ValueError, match="does not take sample weights"):
            tuned.estimator_.score(X, y, sample_weight=[1])
        assert 0 <= tuned.estimator_.score(X, y) <= 1
