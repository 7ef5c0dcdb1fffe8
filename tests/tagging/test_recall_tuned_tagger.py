"""RecallTunedTagger: what it promises on patients that nobody saw, legal tags, and scikit-learn's tools."""

import pickle
import warnings
from itertools import product
from threading import Barrier
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit, KFold, ShuffleSplit
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    Corpus,
    DeidTagger,
    Document,
    NoteDeidentifier,
    RecallTunedTagger,
    RuleTagger,
    Span,
    VotingTagger,
)
from sklearn_deid.exceptions import LowPrecisionWarning, SequenceError, TargetError
from sklearn_deid.metrics import (
    phi_precision_score,
    phi_recall_score,
    reachable_recall,
    recall_lower_bounds,
    recall_threshold,
)
from sklearn_deid.tagging import recall_price
from sklearn_deid.tagging.held_out import HoldOutPlan, _splits
from sklearn_deid.tagging.marginals import PhiMarginals
from sklearn_deid.text import is_allowed, split_tag

from .conftest import QUICK, SMALL, assert_rows_equal
from .oracle_taggers import Oracle, make_patients


class Meeting(Oracle):
    """Begins to train when as many others do."""

    barriers: ClassVar[dict[int, Barrier]] = {}

    def __init__(self, parties, offset=0.0):
        super().__init__(offset)
        self.parties = parties

    def fit(self, X, y, *, groups=None):
        self.barriers.setdefault(self.parties, Barrier(self.parties)).wait(timeout=120)
        return super().fit(X, y, groups=groups)


def prefit(**parameters):
    return RecallTunedTagger(Oracle().fit([], []), cv="prefit", **parameters)


@pytest.fixture(scope="module")
def patients():
    return make_patients(150, np.random.default_rng(0))


@pytest.fixture(scope="module")
def precisions(patients):
    """Precision of each bias that a tagger may choose."""
    X, y, groups = patients
    found = {}
    for bias in np.arange(0, 10.5, 0.5):
        fixed = prefit(decision_bias=bias, min_precision=0).fit(X, y, groups=groups)
        found[bias] = phi_precision_score(y, fixed.predict(X), level="token", binary=True)
    return found


@st.composite
def marginals(draw):
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = rng.dirichlet(np.full(7, 0.3), size=sum(lengths))
    return PhiMarginals(["A", "C", "D"], data, np.concatenate(([0], np.cumsum(lengths))))


class TestDecoding:
    @given(marginals(), st.floats(0, 1), st.floats(0, 1))
    def test_laws(self, found, one, other):
        """Legal; exactly the tokens above the threshold; labels stay, and sure spans too, as the threshold falls."""
        low, high = sorted((one, other))
        more, fewer = found.decode(low)[0], found.decode(high)[0]
        for row in more:
            assert all(is_allowed(a, b) for a, b in zip([None, *row], [*row, None], strict=True))
        assert ((more.data != "O") == (found.phi >= low)).all()
        for a, b in zip(more.data, fewer.data, strict=True):
            assert b == "O" or split_tag(a)[1] == split_tag(b)[1]
        if high <= 0.5:
            sure = found.phi >= 0.5
            assert (more.data[sure] == found.decode(0.5)[0].data[sure]).all()

    @given(marginals())
    def test_sure_runs_have_the_best_legal_tags(self, found):
        """Against every sequence of tags."""
        logs = np.log(found.data[:, 1:] + 1e-12)
        tags = list(found.classes[1:])
        for start, stop in zip(found.offsets[:-1], found.offsets[1:], strict=True):
            row = found.decode(0.5)[0].data[start:stop]
            position = 0
            while position < len(row):
                end = position
                while end < len(row) and row[end] != "O":
                    end += 1
                if 0 < end - position <= 3:
                    run = range(start + position, start + end)
                    every = [
                        (sum(logs[t, tags.index(tag)] for t, tag in zip(run, choice, strict=True)), choice)
                        for choice in product(tags, repeat=end - position)
                        if all(is_allowed(a, b) for a, b in zip([None, *choice], [*choice, None], strict=True))
                    ]
                    chosen = sum(logs[t, tags.index(tag)] for t, tag in zip(run, row[position:end], strict=True))
                    assert chosen == pytest.approx(max(score for score, _ in every))
                position = max(end, position + 1)

    @given(marginals(), st.floats(0, 1))
    def test_confidence_is_the_probability_of_the_label(self, found, threshold):
        tags, sure = found.decode(threshold)
        columns = [split_tag(tag)[1] for tag in found.classes]
        for token, (tag, value) in enumerate(zip(tags.data, sure.data, strict=True)):
            of_label = [i for i, label in enumerate(columns) if label == split_tag(tag)[1]]
            assert value == pytest.approx(found.data[token, of_label].sum())
        assert found.of_tags(tags).data == pytest.approx(sure.data)

    def test_bioes_is_read_as_iob2(self, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(**{**SMALL, "tag_scheme": "bioes", "max_epochs": 1}).fit(X, y)
        tuned = RecallTunedTagger(tagger, cv="prefit", decision_bias=0.0).fit(X, y)
        assert {tag[0] for tag in tuned.classes_} == {"O", "B", "I"}
        raw = np.concatenate(list(tagger.predict_proba(X)))
        place = {tag: i for i, tag in enumerate(tuned.classes_)}
        mine = np.concatenate(list(tuned.predict_proba(X)))
        begins = raw[:, [i for i, tag in enumerate(tagger.classes_) if tag in ("B-CITY", "S-CITY")]].sum(1)
        np.testing.assert_allclose(mine[:, place["B-CITY"]], begins, atol=1e-6)
        np.testing.assert_allclose(mine.sum(1), 1, atol=1e-5)

    @pytest.mark.parametrize("tokens", [1, 3, 50])
    def test_parts_of_any_size_give_the_same(self, patients, tokens, monkeypatch):
        """Long notes are decoded part by part; sentences may be empty or longer than a part."""
        X, y, groups = patients
        tuned = prefit(target_recall=0.9).fit(X, y, groups=groups)
        rows = [[], *X[:3], X[0] + X[1], [], ["0.9"], []]
        whole, sure = tuned.predict(rows, return_confidence=True)
        monkeypatch.setattr("sklearn_deid.tagging.marginals._TOKENS", tokens)
        parts, of_parts = tuned.predict(rows, return_confidence=True)
        assert_rows_equal(parts, whole)
        assert all((a == b).all() for a, b in zip(of_parts, sure, strict=True))
        assert [len(row) for row in parts] == [len(row) for row in rows]


class TestPromises:
    def test_recall_on_other_patients(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.97).fit(X, y, groups=groups)
        other_X, other_y, _ = make_patients(2000, np.random.default_rng(1))
        found, plain = tuned.predict(other_X), Oracle().fit([], []).predict(other_X)
        recall = {"level": "token", "binary": True}
        assert phi_recall_score(other_y, plain, **recall) < 0.95
        assert phi_recall_score(other_y, found, **recall) >= 0.97
        # and not by tagging everything
        assert phi_precision_score(other_y, found, **recall) > phi_precision_score(
            other_y, [["B-NAME"] * len(row) for row in other_y], **recall
        )

    def test_share_of_patients_with_a_miss(self):
        """The guarantee is a mean over draws; 30 draws of 60 patients, each with 60 others."""
        rng = np.random.default_rng(2)
        shares = []
        for _ in range(30):
            X, y, groups = make_patients(60, rng, n_tokens=8)
            tuned = prefit(target_recall=None, max_missed_patients=0.2).fit(X, y, groups=groups)
            other_X, other_y, _ = make_patients(60, rng, n_tokens=8)
            missed = [
                any(g != "O" and f == "O" for g, f in zip(gold, found, strict=True))
                for gold, found in zip(other_y, tuned.predict(other_X), strict=True)
            ]
            shares.append(np.mean(missed))
        # floor(0.2 * 61) / 61 is what is expected where the bias is above 0
        assert np.mean(shares) <= 0.2 + 3 * np.std(shares) / np.sqrt(30)
        assert np.mean(shares) > 0.1

    def test_report_repeats_what_the_scores_say(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.95).fit(X, y, groups=groups)
        tags = tuned.predict(X)
        report = tuned.report_
        assert report.recall.value == pytest.approx(phi_recall_score(y, tags, level="token", binary=True))
        assert report.precision.value == pytest.approx(phi_precision_score(y, tags, level="token", binary=True))
        missed = [any(g != "O" and f == "O" for g, f in zip(*rows, strict=True)) for rows in zip(y, tags, strict=True)]
        assert report.missed_patients.value == pytest.approx(np.mean(missed))
        assert report.recall.low < report.recall.value < report.recall.high
        assert report.untuned_recall.value < 0.95 <= report.recall.value
        assert (report.n_patients, report.n_tokens) == (150, 3000)
        assert "150 held-out patients" in str(report)
        assert tuned.threshold_ == pytest.approx(1 / (1 + np.exp(tuned.decision_bias_)))

    def test_no_miss_among_few_patients_proves_little(self, patients):
        """The interval of 0 missed patients of 12 was 0 to 0, that of a recall of 1 was 1 to 1."""
        X, y, groups = (part[:12] for part in patients)
        report = prefit(decision_bias=20.0, min_precision=0).fit(X, y, groups=groups).report_
        assert (report.n_patients, report.recall.value, report.missed_patients.value) == (12, 1.0, 0.0)
        assert report.recall.low < 0.8 and report.missed_patients.high > 0.2

    def test_both_aims_take_the_lower_threshold(self, patients):
        X, y, groups = patients
        biases = [
            prefit(**aims).fit(X, y, groups=groups).decision_bias_
            for aims in (
                {"target_recall": 0.97},
                {"target_recall": None, "max_missed_patients": 0.3},
                {"target_recall": 0.97, "max_missed_patients": 0.3},
            )
        ]
        assert biases[2] == max(biases[:2])

    @pytest.mark.parametrize("aims", [{"target_recall": 0.97}, {"target_recall": None, "max_missed_patients": 0.05}])
    def test_a_saved_bias_is_not_the_score_of_a_token(self, patients, aims):
        """With all digits, a guess of the note with this token could be confirmed with the model."""
        X, y, groups = patients
        tuned = prefit(**aims).fit(X, y, groups=groups)
        assert tuned.decision_bias_ > 0 and (64 * tuned.decision_bias_).is_integer()
        assert not any((phi == tuned.threshold_).any() for phi in (1 - row[:, 0] for row in tuned.predict_proba(X)))

    def test_a_target_that_is_met_changes_nothing(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.3).fit(X, y, groups=groups)
        assert tuned.decision_bias_ == 0.0
        assert_rows_equal(tuned.predict(X), Oracle().fit([], []).predict(X))

    def test_spans_and_labels_ask_for_more(self):
        X, y = [["0.9", "0.3"], ["0.8", "0.1"]] * 50, [["B-NAME", "I-NAME"], ["B-AGE", "O"]] * 50
        options = {"confidence": None, "target_recall": 0.5}
        assert prefit(level="token", **options).fit(X, y).threshold_ == 0.5
        assert prefit(level="span", **options).fit(X, y).threshold_ == 0.5  # the ages: their label does not count
        # The first step of the bias with a threshold of at most 0.3.
        assert prefit(level="span", binary=False, **options).fit(X, y).decision_bias_ == 55 / 64
        with pytest.raises(ValueError, match="out of reach"):
            prefit(level="span", binary=False, confidence=None, target_recall=0.9).fit(X, y)


class TestWhoIsHeldOut:
    @pytest.mark.parametrize("cv", [0.25, 0.5])
    def test_patients_are_on_one_side(self, cv):
        X, y, groups = make_patients(40, np.random.default_rng(3))
        tuned = RecallTunedTagger(Oracle(), target_recall=0.5, cv=cv, random_state=0).fit(
            X * 2, y * 2, groups=groups * 2
        )
        assert tuned.report_.n_patients == 40 * cv
        assert len(tuned.estimator_.groups_) == 40 * (1 - cv)
        assert tuned.estimator_.n_seen_ == 80 * (1 - cv)

    def test_folds_speak_about_everyone_and_the_last_tagger_sees_everyone(self):
        X, y, groups = make_patients(30, np.random.default_rng(3))
        for cv in (3, GroupKFold(5)):
            tuned = RecallTunedTagger(Oracle(), target_recall=0.5, cv=cv, refit=True).fit(X, y, groups=groups)
            assert (tuned.report_.n_patients, tuned.estimator_.n_seen_) == (30, 30)
        # the oracle learns nothing, so that folds decide as the prefit one does
        assert tuned.decision_bias_ == prefit(target_recall=0.5).fit(X, y, groups=groups).decision_bias_

    @pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
    def test_splitters_that_separate_sentences_of_a_patient_are_refused(self):
        X, y, groups = make_patients(10, np.random.default_rng(3))
        groups = [f"patient-{group}" for group in groups] * 2
        for estimator in (
            RecallTunedTagger(Oracle(), target_recall=0.5, cv=KFold(2)),
            RecallTunedTagger(
                Oracle(), target_recall=None, max_missed_patients=0.5, cv=ShuffleSplit(1, random_state=0)
            ),
            DeidTagger(**SMALL, validation_fraction=KFold(2)),
        ):
            with pytest.raises(SequenceError, match=r"sentences of \d+ patients into both parts"):
                estimator.fit(X * 2, y * 2, groups=groups)

    def test_overlapping_folds_are_refused(self):
        X, y, groups = make_patients(10, np.random.default_rng(3))
        cv = GroupShuffleSplit(3, test_size=0.5, random_state=0)
        with pytest.raises(SequenceError, match="holds sentences out several times"):
            RecallTunedTagger(Oracle(), target_recall=0.5, cv=cv).fit(X, y, groups=groups)

    @pytest.mark.parametrize("cv", [np.int64(4), np.float32(0.25)])
    def test_numbers_of_numpy_keep_patients_on_one_side(self, cv):
        X, y, groups = make_patients(10, np.random.default_rng(3))
        aims = {"target_recall": 0.5, "confidence": None, "min_precision": 0.0, "random_state": 0}
        tuned, usual = (
            RecallTunedTagger(Oracle(), cv=number, **aims).fit(X * 3, y * 3, groups=groups * 3)
            for number in (cv, cv.item())
        )
        assert tuned.report_ == usual.report_
        splits = _splits(HoldOutPlan(cv, True, None, 0), 30, np.array(groups * 3))
        assert not any({*np.array(groups * 3)[train]} & {*np.array(groups * 3)[held]} for train, held in splits)

    def test_folds_and_the_last_tagger_train_at_the_same_time(self):
        """Each training waits until all three have begun: a training that follows the others would break the wait."""
        X, y, groups = make_patients(30, np.random.default_rng(3))
        folds = {"target_recall": 0.5, "cv": 2, "n_jobs": 3, "random_state": 0}
        with parallel_config("threading"):
            tuned = RecallTunedTagger(Meeting(3), **folds).fit(X, y, groups=groups)
        alone = RecallTunedTagger(Oracle(), **{**folds, "n_jobs": None}).fit(X, y, groups=groups)
        assert (tuned.report_, tuned.estimator_.n_seen_) == (alone.report_, 30)

    def test_seeds(self):
        X, y, groups = make_patients(30, np.random.default_rng(3))
        held = [
            RecallTunedTagger(Oracle(), target_recall=0.5, cv=0.25, random_state=seed).fit(X, y, groups=groups).report_
            for seed in (0, 0, 1)
        ]
        assert held[0] == held[1] != held[2]

    def test_a_fixed_bias_holds_nobody_out(self):
        X, y, groups = make_patients(30, np.random.default_rng(3))
        tuned = RecallTunedTagger(Oracle(), decision_bias=1.5).fit(X, y, groups=groups)
        assert (tuned.decision_bias_, tuned.report_, tuned.estimator_.n_seen_) == (1.5, None, 30)
        shown = prefit(decision_bias=1.5).fit(X, y, groups=groups)
        assert shown.report_.decision_bias == 1.5
        assert_rows_equal(tuned.predict(X), shown.predict(X))


class TestFewNotes:
    def test_auto_cross_fits_few_patients_and_holds_out_one_set_of_many(self, patients):
        X, y, groups = patients
        tuned = RecallTunedTagger(Oracle(), target_recall=0.5, random_state=0).fit(X, y, groups=groups)
        assert (tuned.report_.n_patients, tuned.estimator_.n_seen_) == (150, 150)
        bounded = RecallTunedTagger(
            Oracle(), target_recall=None, max_missed_patients=0.3, min_precision=0, random_state=0
        )
        bounded.fit(X, y, groups=groups)
        assert (bounded.report_.n_patients, bounded.estimator_.n_seen_) == (38, 112)
        many = make_patients(300, np.random.default_rng(1), n_tokens=3)
        tuned = RecallTunedTagger(Oracle(), target_recall=0.5, random_state=0).fit(many[0], many[1], groups=many[2])
        assert (tuned.report_.n_patients, tuned.estimator_.n_seen_) == (75, 225)

    @pytest.mark.parametrize("cv", ["auto", 0.25, "prefit"])
    def test_a_target_that_cannot_be_shown_is_refused_before_the_training(self, patients, cv):
        class Untrained(Oracle):
            def fit(self, X, y, *, groups=None):
                raise AssertionError("trained")

        X, y, groups = patients
        rows = slice(0, 20)
        held = {"auto": range(20), "prefit": range(20), 0.25: None}[cv]
        tagger = Oracle().fit([], []) if cv == "prefit" else Untrained()
        with pytest.raises(ValueError, match="without any missed token the bound would be") as caught:
            RecallTunedTagger(tagger, target_recall=0.999, cv=cv, random_state=0).fit(
                X[rows], y[rows], groups=groups[rows]
            )
        if held is not None:
            n = sum(tag != "O" for i in held for tag in y[i])
            assert f"on {n} tokens" in str(caught.value) and f"{reachable_recall(n):.4f}" in str(caught.value)

    def test_the_bound_without_a_miss_is_what_the_threshold_accepts(self):
        scores, patients = np.full(60, 0.9), np.arange(60)
        best = reachable_recall(60)
        assert recall_threshold(scores, patients, 0.99 * best) == 0.9
        with pytest.raises(ValueError, match="cannot be shown"):
            recall_threshold(scores, patients, best + 1e-9)

    def test_low_precision_warns_and_the_offer_keeps_the_precision(self, patients):
        X, y, groups = patients
        with pytest.warns(LowPrecisionWarning, match="below min_precision=0.9") as caught:
            tuned = prefit(target_recall=0.99, min_precision=0.9).fit(X, y, groups=groups)
        assert tuned.report_.precision.value < 0.9
        offered = float(str(caught[0].message).partition("target_recall=")[2].split()[0])
        again = prefit(target_recall=offered, min_precision=0.9).fit(X, y, groups=groups)
        assert again.report_.precision.value >= 0.9
        assert tuned.price_curve_.best_target(1.0) is None

    def test_the_warning_names_the_labels_that_cost_the_precision(self):
        """Nine names and one relative a patient; relatives look as the 20 words without PHI do, one name is missed."""
        X = [["0.9"] * 9 + ["0.001"] * 21] * 40 + [["0.1"]]
        y = [["B-NAME"] * 9 + ["B-RELATIVE"] + ["O"] * 20] * 40 + [["B-NAME"]]
        with pytest.warns(LowPrecisionWarning, match=r"those of RELATIVE \(40 of 40 tokens\): annotate"):
            tuned = prefit(target_recall=0.95).fit(X, y)
        assert tuned.report_.precision.value == pytest.approx(401 / 1201)
        with warnings.catch_warnings():
            warnings.simplefilter("error", LowPrecisionWarning)
            with pytest.raises(LowPrecisionWarning, match="RELATIVE"):
                tuned.fit(X, y)
        with pytest.raises(NotFittedError):
            tuned.predict(X)
        refusal = r"below min_precision=0\.8; target_recall=0\.\d+ keeps it.*RELATIVE.*Lower the target"
        with pytest.raises(TargetError, match=refusal):
            tuned.set_params(on_low_precision="raise").fit(X, y)
        with pytest.raises(NotFittedError):
            tuned.predict(X)
        with pytest.warns(LowPrecisionWarning, match=r"no target keeps it\. The attribute"):
            prefit(target_recall=0.5).fit([["0.9", "0.9"]] * 40, [["B-NAME", "O"]] * 40)

    @pytest.mark.parametrize("least", [0.5, 0.9, 0.97])
    def test_highest_recall_is_the_largest_bias_that_keeps_the_precision(self, patients, precisions, least):
        X, y, groups = patients
        tuned = prefit(target_recall="highest", min_precision=least).fit(X, y, groups=groups)
        assert tuned.decision_bias_ == pytest.approx(max(b for b, found in precisions.items() if found >= least))
        assert tuned.report_.precision.value >= least

    def test_a_target_at_the_stated_precision_is_not_refused(self, patients):
        X, y, groups = patients
        tuned, warned = (
            prefit(target_recall=0.9, min_precision=0.5, on_low_precision=on).fit(X, y, groups=groups)
            for on in ("raise", "warn")
        )
        assert tuned.report_.precision.value >= 0.5
        assert tuned.decision_bias_ == warned.decision_bias_

    def test_highest_recall_warns_if_no_bias_keeps_the_precision(self, patients):
        X, y, groups = patients
        with pytest.warns(LowPrecisionWarning, match="no target keeps it"):
            tuned = prefit(target_recall="highest", min_precision=0.99999).fit(X, y, groups=groups)
        assert tuned.decision_bias_ == 0

    def test_a_precision_that_is_too_low_is_not_shown_as_high_enough(self, patients):
        """A precision of 0.796 was stated as "0.80, below min_precision=0.8"."""
        X, y, groups = patients
        for bias in range(5):
            precision = prefit(decision_bias=bias, min_precision=0).fit(X, y, groups=groups).report_.precision.value
            least = np.ceil(100 * precision) / 100
            if not precision < least < 1:
                continue
            with pytest.warns(LowPrecisionWarning) as caught:
                prefit(decision_bias=bias, min_precision=least).fit(X, y, groups=groups)
            assert f"is {least - 0.01:.2f}, below min_precision={least:g}" in str(caught[0].message)

    def test_price_curve_repeats_reports_at_each_bias(self, patients):
        X, y, groups = patients
        curve = prefit(target_recall=0.5).fit(X, y, groups=groups).price_curve_
        assert curve == recall_price(Oracle().fit([], []), X, y, groups=groups)
        for place in (0, 3, 9):
            bias = curve.biases[place]
            fixed = prefit(decision_bias=bias, min_precision=0).fit(X, y, groups=groups)
            assert curve.recall[place] == pytest.approx(fixed.report_.recall.value)
            assert curve.precision[place] == pytest.approx(fixed.report_.precision.value)
            hidden = [tag != "O" for row in fixed.predict(X) for tag in row]
            assert curve.hidden[place] == pytest.approx(np.mean(hidden))
            # A target just below the bound chooses this bias or a smaller one.
            target = curve.reachable[place] - 1e-6
            assert prefit(target_recall=target, min_precision=0).fit(X, y, groups=groups).decision_bias_ <= bias + 1e-9
        assert list(curve.reachable) == sorted(curve.reachable) and list(curve.recall) == sorted(curve.recall)
        assert str(curve).count("\n") == len(curve.biases)

    @pytest.mark.parametrize("wrong", [{"level": "tokens"}, {"confidence": np.nan}, {"confidence": 2.0}])
    def test_settings_of_the_curve(self, patients, wrong):
        X, y, groups = patients
        with pytest.raises(ValueError, match="The 'level' of recall_price is 'token' or 'span', and its 'confidence'"):
            recall_price(Oracle().fit([], []), X, y, groups=groups, **wrong)

    def test_curve_needs_phi(self):
        with pytest.raises(ValueError, match="no PHI"):
            recall_price(Oracle().fit([], []), [["0.1"]], [["O"]])
        with pytest.raises(ValueError, match="at most 0.5"):
            recall_lower_bounds(np.ones(3), np.arange(3), np.array([0.6]))
        # Two patients who miss the same share have no variance between them.
        even = recall_lower_bounds(np.array([0.1, 0.9] * 2), np.array(["p", "p", "q", "q"]), np.array([0.5]))
        assert 0 < even[0] < 0.5
        assert recall_lower_bounds(np.zeros(3), np.arange(3), np.array([0.5, 0.0])).tolist()[0] == 0


class TestMistakes:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"target_recall": 1.0}, "'target_recall' parameter of RecallTunedTagger must be a float"),
            ({"max_missed_patients": 0}, "'max_missed_patients' parameter"),
            ({"confidence": 0.4}, "'confidence' parameter"),
            ({"level": "character"}, "'level' parameter"),
            ({"cv": "fit"}, "'cv' parameter"),
            ({"cv": 1}, "'cv' parameter"),
            ({"estimator": RuleTagger()}, "'estimator' parameter"),
            ({"target_recall": None}, "must not be None"),
            ({"max_missed_patients": 0.1}, "needs the patient of each sentence"),
            ({"cv": 3, "refit": False, "target_recall": 0.3}, "pass refit=True"),
            ({"min_precision": 1.0}, "'min_precision' parameter"),
            ({"direct_labels": ["AGE"], "target_recall": 0.3}, "labels that y does not hold"),
            ({"direct_labels": [], "target_recall": 0.3}, "must name at least one label"),
        ],
    )
    def test_parameters(self, parameters, message):
        X, y, _ = make_patients(30, np.random.default_rng(0))
        with pytest.raises(ValueError, match=message):
            RecallTunedTagger(**{"estimator": Oracle(), **parameters}).fit(X, y)

    def test_too_few_patients(self):
        X, y, groups = make_patients(18, np.random.default_rng(0))
        with pytest.raises(ValueError, match="at least 19 are needed"):
            prefit(target_recall=None, max_missed_patients=0.05).fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="cannot be shown with confidence"):
            prefit(target_recall=0.999).fit(X, y, groups=groups)
        with pytest.raises(SequenceError, match="at least two patients"):
            RecallTunedTagger(Oracle(), cv=0.25).fit(X[:1], y[:1])
        with pytest.raises(SequenceError, match="2 folds need at least 2 patients"):
            RecallTunedTagger(Oracle()).fit(X[:1], y[:1])
        with pytest.raises(SequenceError, match="4 folds need at least 4 patients"):
            RecallTunedTagger(Oracle(), cv=4, refit=True).fit(X[:3], y[:3])

    def test_unfitted(self):
        with pytest.raises(NotFittedError):
            RecallTunedTagger(Oracle()).predict([["0.5"]])
        with pytest.raises(NotFittedError):
            RecallTunedTagger(Oracle(), cv="prefit").fit([["0.5"]], [["O"]])

    def test_a_tagger_that_gives_the_wrong_shape(self):
        class Short(Oracle):
            def predict_proba(self, X):
                return super().predict_proba(X)[:-1]

        X, y, _ = make_patients(5, np.random.default_rng(0))
        with pytest.raises(SequenceError, match=r"Short\.predict_proba must give one array of shape \(n_tokens, 3\)"):
            RecallTunedTagger(Short(), decision_bias=0.0).fit(X, y).predict(X)

    @pytest.mark.parametrize("value", [np.nan, 5.0, -1.0])
    def test_a_tagger_whose_probabilities_are_none(self, value):
        class Broken(Oracle):
            def predict_proba(self, X):
                return [np.where(np.arange(3) == 1, value, row) for row in super().predict_proba(X)]

        X, y, _ = make_patients(5, np.random.default_rng(0))
        broken = VotingTagger([("oracle", Oracle()), ("broken", Broken())]).fit(X, y)
        with pytest.raises(SequenceError, match=r"Broken\.predict_proba must give probabilities"):
            broken.predict(X)
        with pytest.raises(SequenceError, match=r"Broken\.predict_proba must give probabilities"):
            RecallTunedTagger(Broken(), decision_bias=0.0).fit(X, y).predict(X)

    def test_a_tagger_without_a_probability_of_any_tag(self):
        class Silent(Oracle):
            def predict_proba(self, X):
                return [0 * row for row in super().predict_proba(X)]

        X, y, _ = make_patients(5, np.random.default_rng(0))
        with pytest.raises(SequenceError, match=r"Silent\.predict_proba must give probabilities, .* add up to 1"):
            VotingTagger([("silent", Silent())]).fit(X, y).predict(X)

    def test_a_bias_after_the_fit_is_refused(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.5, confidence=None).fit(X, y, groups=groups)
        tuned.set_params(decision_bias=20.0)
        with pytest.raises(ValueError, match="changed after the fit to 20"):
            tuned.predict(X)
        tuned.set_params(decision_bias=tuned.decision_bias_)
        assert len(tuned.predict(X)) == len(X)

    def test_sample_weight(self, patients):
        X, y, _ = patients
        with pytest.raises(ValueError, match="does not take sample weights"):
            prefit(decision_bias=0.0).fit(X, y).score(X, y, sample_weight=[1])


class TestComposition:
    def test_clone_and_search(self):
        X, y, groups = make_patients(40, np.random.default_rng(0))
        tuned = RecallTunedTagger(Oracle(), target_recall=0.5, random_state=0)
        assert clone(tuned).get_params()["estimator__offset"] == 0.0
        grid = {"estimator__offset": [0.0, 0.1], "decision_bias": [None, 2.0]}
        search = GridSearchCV(tuned, grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
        assert search.predict(X).shape == (40,)

    def test_around_and_inside_pipelines(self, sentences):
        # So short a training that another one would predict other tags.
        X, y, groups = (column[:60] for column in sentences)
        pipe = Pipeline([("same", "passthrough"), ("tag", DeidTagger(**{**QUICK, "max_epochs": 2}))])
        tuned = RecallTunedTagger(pipe, target_recall=0.6, random_state=0).fit(X, y, groups=groups)
        outer = Pipeline([("same", "passthrough"), ("tag", clone(tuned))]).fit(X, y, tag__groups=groups)
        assert_rows_equal(outer.predict(X), tuned.predict(X))
        assert 0 <= tuned.score(X, y) <= 1

    def test_metadata_routing(self):
        X, y, groups = make_patients(40, np.random.default_rng(0))
        with sklearn.config_context(enable_metadata_routing=True):
            inner = Oracle().set_fit_request(groups=True)
            tuned = RecallTunedTagger(inner, target_recall=0.5).set_fit_request(groups=True)
            pipe = Pipeline([("same", "passthrough"), ("tag", tuned)]).fit(X, y, groups=groups)
            assert len(pipe[-1].estimator_.groups_) == 40

    def test_in_a_note_deidentifier(self):
        notes = Corpus([Document(f"n{i}", "often never seldom", (Span(0, 5, "NAME"),), f"p{i % 9}") for i in range(30)])
        tagger = RecallTunedTagger(
            FrozenEstimator(Words().fit([], [])), cv="prefit", decision_bias=1.0, min_precision=0
        )
        deidentifier = NoteDeidentifier(tagger).fit(notes)
        spans = deidentifier.annotate(["often never seldom"])[0]
        assert [(span.start, span.confidence) for span in spans] == [(0, pytest.approx(0.9)), (12, pytest.approx(0.4))]
        assert deidentifier.estimator_.report_.n_patients == 9

    def test_pickle_and_repr(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.9).fit(X, y, groups=groups)
        assert_rows_equal(pickle.loads(pickle.dumps(tuned)).predict(X), tuned.predict(X))
        assert X[0][0] not in repr(tuned) + tuned._repr_html_() + str(tuned.report_)

    def test_empty_input(self, patients):
        X, y, groups = patients
        tuned = prefit(target_recall=0.9).fit(X, y, groups=groups)
        assert tuned.predict([]).shape == (0,)
        tags, sure = tuned.predict([[], ["0.9"]], return_confidence=True)
        assert (tags.tolist(), [len(row) for row in sure]) == ([[], ["B-NAME"]], [0, 1])
        assert_rows_equal(tuned.predict(object_lists(X)), tuned.predict(X))


class Words(Oracle):
    """Reads words instead of numbers, which the tokenizer would cut."""

    def predict_proba(self, X):
        numbers = {"often": "0.9", "seldom": "0.4"}
        return super().predict_proba([[numbers.get(token, "0.1") for token in row] for row in X])


def object_lists(X):
    out = np.empty(len(X), dtype=object)
    out[:] = [tuple(row) for row in X]
    return out
