"""Estimates lie in their intervals, and the intervals cover what they should."""

import json
import math
import pickle

import numpy as np
import pytest
from scipy.stats import binomtest, t, ttest_rel

from sklearn_deid.metrics import Estimate
from sklearn_deid.metrics.intervals import exact_interval, mean_interval, normal_quantile, wilson_interval


@pytest.mark.parametrize("n_right", [0, 1, 37, 100])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_independent_trials_get_wilsons_interval(n_right, confidence):
    expected = binomtest(n_right, 100).proportion_ci(confidence, method="wilson")
    found = Estimate.from_hits(np.arange(100) < n_right, confidence=confidence)
    np.testing.assert_allclose([found.low, found.high], expected, atol=1e-12)
    assert (found.value, found.n) == (n_right / 100, 100)


def test_interval_over_patients_is_never_narrower_and_grows_with_their_differences():
    hits = np.arange(200) < 100
    apart, together = np.arange(200) % 20, np.arange(200) // 10
    alone, mixed, same = (Estimate.from_hits(hits, g) for g in (None, apart, together))
    assert mixed.high - mixed.low >= alone.high - alone.low - 1e-12
    assert same.high - same.low > 2 * (alone.high - alone.low)
    assert Estimate.from_hits(hits, np.zeros(200)).covers(0.0)


@pytest.mark.parametrize("n_patients", [6, 40])
def test_interval_over_patients_covers_the_truth(n_patients):
    """400 runs with 10 dependent trials of each patient; also where patients are few."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        hits = rng.random((n_patients, 10)) < rng.beta(2, 2, size=n_patients)[:, None]
        covered += Estimate.from_hits(hits.ravel(), np.repeat(np.arange(n_patients), 10)).covers(0.5)
    assert covered >= 372


@pytest.mark.parametrize("hits", [[], [2.0], [math.nan], [[1.0]]])
def test_what_is_no_share_is_refused(hits):
    with pytest.raises(ValueError, match="must hold at least one number, all from 0 to 1"):
        Estimate.from_hits(hits)


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="one group for each of 2 trials"):
        Estimate.from_hits([1, 0], ["p"])


class TestFromGroups:
    @pytest.mark.parametrize("hits", [[3, 1], [-1, 1], [math.nan, 1]])
    def test_more_hits_than_trials_are_refused(self, hits):
        """Two of one trials were a proportion of 2, without an interval."""
        with pytest.raises(ValueError, match="more hits than trials"):
            Estimate.from_groups(np.array(hits), np.array([1, 1]), np.array(["p", "q"]))

    def test_a_patient_with_one_note_each_is_wilsons_interval(self):
        hits = np.array([1] * 300 + [0] * 100)
        share = Estimate.from_groups(hits, np.ones(400), np.arange(400))
        # n - 1 in the variance over patients makes 399 trials of 400, and Student's quantile is 1.966.
        z = binomtest(300, 400).proportion_ci(method="wilson")
        assert share.value == 0.75
        assert share.low == pytest.approx(z.low, abs=4e-4)
        assert share.high == pytest.approx(z.high, abs=4e-4)

    @pytest.mark.parametrize("n_patients", [5, 8, 12])
    def test_few_patients_are_covered_too(self, n_patients):
        """1,000 runs with 20 dependent notes of each patient; the normal quantile covers 89 to 92 % of them."""
        rng, covered = np.random.default_rng(0), 0
        groups = np.repeat(np.arange(n_patients), 20)
        for _ in range(1000):
            hits = rng.random((n_patients, 20)) < rng.beta(2, 2, size=n_patients)[:, None]
            share = Estimate.from_groups(hits.ravel(), np.ones(len(groups)), groups)
            covered += share.low <= 0.5 <= share.high
        assert covered >= 938

    def test_notes_that_repeat_their_patient_tell_nothing_new(self):
        hits, groups = np.array([1, 0, 1, 1, 0, 1]), np.arange(6)
        once = Estimate.from_groups(hits, np.ones(6), groups)
        thrice = Estimate.from_groups(np.repeat(hits, 3), np.ones(18), np.repeat(groups, 3))
        assert (thrice.value, thrice.low, thrice.high) == pytest.approx((once.value, once.low, once.high))
        assert (once.n, thrice.n, thrice.n_groups) == (6, 18, 6)

    def test_no_hit_counts_each_patient_once(self):
        share = Estimate.from_groups(np.zeros(20), np.full(20, 100), np.repeat(np.arange(10), 2))
        assert share.value == share.low == 0.0
        assert share.high == pytest.approx(binomtest(0, 10).proportion_ci(method="wilson").high)

    def test_one_patient_or_nothing_to_count(self):
        assert Estimate.from_groups(np.array([1]), np.array([2]), np.array(["p"])) == Estimate(0.5, n=2, n_groups=1)
        nothing = Estimate.from_groups(np.zeros(2), np.zeros(2), np.arange(2))
        assert np.isnan(nothing.value) and not nothing.has_interval and not nothing.covers(0.5)

    def test_difference_is_students_paired_interval(self):
        rng = np.random.default_rng(0)
        a, b = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
        found = Estimate.from_differences(a - b, np.arange(30))
        wanted = ttest_rel(a, b).confidence_interval()
        assert (found.value, found.low, found.high) == pytest.approx(((a - b).mean(), wanted.low, wanted.high))

    def test_equal_differences_have_no_interval(self):
        """Ten notes without a difference had the interval [0, 0]."""
        assert Estimate.from_differences(np.zeros(10), np.arange(10)) == Estimate(0.0, n=10, n_groups=10)

    @pytest.mark.parametrize("pair", [(1.0, -1.0), (0.1, 0.2)])
    def test_patients_with_equal_differences_have_no_interval(self, pair):
        """The notes of a patient cancelled out, and the interval had the width 0."""
        found = Estimate.from_differences(np.array(pair * 7), np.repeat(np.arange(7), 2))
        assert not found.has_interval and found.value == pytest.approx(sum(pair) / 2)

    @pytest.mark.parametrize("n_patients", [2, 30])
    def test_patients_with_equal_shares_count_once_whatever_the_rounding(self, n_patients):
        """15 of 22 tokens of each of 30 patients: a rounding error made 660 independent tokens of 30 patients."""
        for n in range(2, 60):
            for k in range(1, n):
                hits, totals = np.full(n_patients, k), np.full(n_patients, n)
                found = Estimate.from_groups(hits, totals, np.arange(n_patients))
                wanted = Estimate.from_counts(k / n * n_patients, n_patients)
                assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


class TestEstimate:
    @pytest.mark.parametrize("ends", [(0.6, 0.7), (0.1, 0.4), (math.nan, 0.7), (0.1, math.nan)])
    def test_a_value_outside_its_interval_is_refused(self, ends):
        with pytest.raises(ValueError, match="lies within its interval"):
            Estimate(0.5, *ends)

    def test_a_value_that_is_no_number_has_no_interval(self):
        with pytest.raises(ValueError, match="lies within its interval"):
            Estimate(math.nan, 0.0, 1.0)
        assert not Estimate(math.nan).has_interval

    @pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"confidence": 0.0}, {"n": -1}])
    def test_attributes_out_of_range_are_refused(self, wrong):
        with pytest.raises(ValueError, match="'confidence' must be in"):
            Estimate(0.5, 0.4, 0.6, **wrong)

    def test_estimates_without_an_interval_compare_equal(self):
        assert Estimate(0.5, float("nan"), float("nan")) == Estimate(0.5)
        assert hash(Estimate(float("nan"))) == hash(Estimate(np.nan))
        copy = pickle.loads(pickle.dumps(Estimate(0.5)))  # its NaN is another object
        assert copy == Estimate(0.5) and hash(copy) == hash(Estimate(0.5))
        assert Estimate(0.5) not in (Estimate(0.5, 0.4, 0.6), Estimate(0.6), Estimate(float("nan")), 0.5)

    def test_as_a_dict_it_is_strict_json(self):
        plain = json.loads(json.dumps(Estimate(0.5, n=3).to_dict(), allow_nan=False))
        assert plain == {"value": 0.5, "low": None, "high": None, "n": 3, "confidence": 0.95, "n_groups": None}

    def test_interval_is_cut_at_what_is_possible(self):
        cut = Estimate(0.5, -0.2, 1.3).within(0.0, 1.0)
        assert (cut.value, cut.low, cut.high) == (0.5, 0.0, 1.0)
        assert Estimate(0.5).within(0.0, 1.0) == Estimate(0.5)

    def test_of_repeats_is_students_interval(self):
        values = np.random.default_rng(0).normal(size=7)
        wanted = t.interval(0.9, 6, values.mean(), values.std(ddof=1) / np.sqrt(7))
        found = Estimate.from_repeats(values, 0.9)
        assert (found.low, found.high) == pytest.approx(wanted)
        assert Estimate.from_repeats([0.5]) == Estimate(0.5, n=1)


class TestIntervals:
    @pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
    @pytest.mark.parametrize("n_hits", [0, 1, 37, 99, 100])
    def test_wilson_and_exact_are_scipys(self, n_hits, confidence):
        test = binomtest(n_hits, 100)
        wilson = wilson_interval(n_hits / 100, 100, normal_quantile(confidence))
        np.testing.assert_allclose(wilson, test.proportion_ci(confidence, method="wilson"), atol=1e-12)
        exact = test.proportion_ci(confidence, method="exact")
        assert exact_interval(n_hits, 100, confidence) == (exact.low, exact.high)

    def test_wilson_of_arrays_is_that_of_each_and_holds_the_share(self):
        share, n = np.array([0.0, 0.3, 1.0]), np.array([10.5, 20.0, 3.0])
        low, high = wilson_interval(share, n, 2.0)
        each = [wilson_interval(p, m, 2.0) for p, m in zip(share, n, strict=True)]
        assert [*zip(low, high, strict=True)] == each
        assert (low <= share).all() and (share <= high).all() and low[0] == 0.0 and high[2] == 1.0

    def test_mean_of_one_value_has_none(self):
        assert np.isnan(mean_interval([1.0], 0.95)).all()
