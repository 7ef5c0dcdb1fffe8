"""Thresholds for a target: against brute force, and whether they keep their promise in simulation."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import TargetError
from sklearn_deid.metrics import missed_patient_threshold, recall_threshold
from sklearn_deid.metrics.decision_thresholds import _design_effects, reachable_recall, recall_lower_bounds

items = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5)), min_size=1, max_size=40)


@given(items, st.sampled_from([0.3, 0.5, 0.9, 0.99]))
def test_without_a_margin_it_is_the_highest_threshold_that_reaches_the_target(found, target):
    scores, patients = np.array([s / 100 for s, _ in found]), np.array([p for _, p in found])
    threshold = recall_threshold(scores, patients, target, confidence=None)
    reach = [t for t in scores if (scores >= t).mean() >= target - 1e-12]
    assert threshold == max(reach)


@given(items)
def test_design_effect_is_that_of_the_linearised_ratio(found):
    patients = np.unique([p for _, p in found], return_inverse=True)[1]
    n, n_patients = len(patients), patients.max() + 1
    if n_patients < 2:
        return
    effects = _design_effects(patients)
    for k in range(1, n):
        missed = np.bincount(patients[:k], minlength=n_patients)
        share = k / n
        variance = n_patients / (n_patients - 1) * ((missed - share * np.bincount(patients)) ** 2).sum() / n**2
        assert effects[k] == pytest.approx(variance * n / (share * (1 - share)))


@given(items, st.sampled_from([0.3, 0.5]))
def test_a_margin_never_raises_the_threshold(found, target):
    scores, patients = np.array([s / 100 for s, _ in found]), np.array([p for _, p in found])
    try:
        careful = recall_threshold(scores, patients, target, confidence=0.9)
    except ValueError:
        return
    assert careful <= recall_threshold(scores, patients, target, confidence=None)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_at_a_threshold_is_the_largest_target_that_chooses_it(seed):
    scores, patients = draw_items(np.random.default_rng(seed), 12)
    thresholds = np.sort(np.random.default_rng(seed).uniform(0, 0.5, 8))
    bounds = recall_lower_bounds(scores, patients, thresholds)
    assert (np.diff(bounds) <= 0).all() and bounds.max() <= reachable_recall(len(scores))
    for threshold, bound in zip(thresholds, bounds, strict=True):
        assert 0 < bound <= (scores >= threshold).mean()
        assert recall_threshold(scores, patients, bound - 1e-9) >= threshold
        if bound + 1e-6 < recall_lower_bounds(scores, patients, [0.0])[0]:
            assert recall_threshold(scores, patients, bound + 1e-6) < threshold


def test_the_bound_needs_items_and_low_thresholds():
    with pytest.raises(ValueError, match="no recall can be measured"):
        recall_lower_bounds([], [], [0.5])
    with pytest.raises(ValueError, match="must be at most 0.5"):
        recall_lower_bounds([0.9], ["p"], [0.6])


def draw_items(rng, n_patients):
    """Scores of PHI of patients who differ in how hard they are, and in how much of it they have."""
    sizes = rng.integers(5, 60, size=n_patients)
    ease = rng.normal(3.0, 1.0, size=n_patients)
    log_odds = np.repeat(ease, sizes) + rng.normal(size=sizes.sum())
    return 1 / (1 + np.exp(-log_odds)), np.repeat(np.arange(n_patients), sizes)


@pytest.mark.parametrize("n_patients", [30, 150])
def test_the_recall_on_others_reaches_the_target_as_often_as_promised(n_patients):
    rng = np.random.default_rng(0)
    everyone = np.sort(draw_items(rng, 20_000)[0])
    reached = []
    for _ in range(300):
        threshold = recall_threshold(*draw_items(rng, n_patients), 0.95, confidence=0.9)
        reached.append(1 - np.searchsorted(everyone, threshold) / len(everyone) >= 0.95)
    # 0.9 less four standard errors of 300 draws
    assert np.mean(reached) >= 0.9 - 4 * np.sqrt(0.9 * 0.1 / 300)


def test_without_a_margin_half_of_the_draws_fall_short():
    rng = np.random.default_rng(1)
    everyone = np.sort(draw_items(rng, 20_000)[0])
    thresholds = [recall_threshold(*draw_items(rng, 60), 0.95, confidence=None) for _ in range(200)]
    reached = np.mean([1 - np.searchsorted(everyone, t) / len(everyone) >= 0.95 for t in thresholds])
    assert 0.3 < reached < 0.7


def test_too_few_items_are_refused_with_what_could_be_shown():
    with pytest.raises(ValueError, match=r"cannot be shown with confidence 0\.95 on 2 held-out patients with 20 items"):
        recall_threshold(np.full(20, 0.9), np.repeat([0, 1], 10), 0.99)
    with pytest.raises(ValueError, match="have no PHI"):
        recall_threshold(np.zeros(0), np.zeros(0), 0.9)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=40), st.sampled_from([0.1, 0.25, 0.5]))
def test_bound_on_patients_is_the_highest_threshold_with_the_corrected_share(scores, share):
    scores = np.array(scores) / 100
    n = len(scores)

    def risk(threshold):
        return ((scores < threshold).sum() + 1) / (n + 1)

    if risk(-1.0) > share + 1e-12:
        with pytest.raises(ValueError, match="at least"):
            missed_patient_threshold(scores, share)
        return
    threshold = missed_patient_threshold(scores, share)
    assert risk(threshold) <= share + 1e-12
    higher = scores[scores > threshold]
    assert not len(higher) or risk(higher.min()) > share - 1e-12


@pytest.mark.parametrize(("n", "share"), [(19, 0.05), (40, 0.1), (25, 0.3)])
def test_conformal_guarantee_holds_exactly(n, share):
    """Mean over draws of the miss probability, which is known for uniform scores: at most the share, and near it."""
    rng = np.random.default_rng(2)
    risks = np.array([missed_patient_threshold(rng.random(n), share) for _ in range(4000)])
    allowed = np.floor(share * (n + 1) + 1e-9)
    expected = allowed / (n + 1)  # mean of that order statistic
    assert expected <= share
    assert risks.mean() == pytest.approx(expected, abs=4 * risks.std() / np.sqrt(4000))


def test_number_of_patients_needed_is_said_and_is_enough():
    with pytest.raises(ValueError, match="with 18 held-out patients: at least 19 are needed"):
        missed_patient_threshold(np.linspace(0.1, 0.9, 18), 0.05)
    assert missed_patient_threshold(np.linspace(0.1, 0.9, 19), 0.05) == pytest.approx(0.1)


def test_patients_without_identifiers_count_as_found():
    assert missed_patient_threshold(np.array([0.3, np.inf, np.inf, np.inf]), 0.4) == np.inf


def test_scores_that_are_no_numbers_are_refused():
    scores = np.array([0.9, np.nan, 0.2])
    with pytest.raises(ValueError, match="'scores' must hold numbers"):
        recall_threshold(scores, np.arange(3), 0.5, confidence=None)
    with pytest.raises(ValueError, match="'scores' must hold numbers"):
        missed_patient_threshold(scores, 0.5)


@pytest.mark.parametrize("share", [0.0, 1.0, 30])
def test_a_share_of_patients_is_a_proportion(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        missed_patient_threshold(np.array([0.9, 0.2, 0.5]), share)


@pytest.mark.parametrize("n", range(30, 60))
def test_the_bound_of_a_refusal_is_a_target_that_is_accepted(n):
    """A refusal stated the bound 0.9173, which was then refused with the same sentence."""
    scores, patients = np.full(n, 0.9), np.arange(n) % 5
    with pytest.raises(TargetError) as caught:
        recall_threshold(scores, patients, 0.99)
    stated = float(re.search(r"the bound is (0\.\d+)\.", str(caught.value))[1])
    assert recall_threshold(scores, patients, stated) == 0.9
