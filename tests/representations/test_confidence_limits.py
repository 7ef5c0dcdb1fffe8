"""Upper limits for other patients: known special cases, and how often they hold."""

import numpy as np
import pytest
from scipy.stats import beta, ttest_1samp

from sklearn_deid.representations import mean_limit, share_limit
from sklearn_deid.representations.confidence_limits import n_held_out


def test_limit_of_a_mean_is_the_t_interval_of_independent_values():
    values = np.random.default_rng(0).normal(size=12)
    interval = ttest_1samp(values, 0.0).confidence_interval(0.90)
    assert mean_limit(values, np.arange(12)) == pytest.approx(interval.high)
    # Equal values of a patient say no more than one of them.
    assert mean_limit(np.repeat(values, 5), np.repeat(np.arange(12), 5)) == pytest.approx(interval.high)


@pytest.mark.parametrize("n_events", [0, 1, 7, 20])
def test_limit_of_a_share_is_near_the_exact_one_of_independent_events(n_events):
    beyond = np.arange(60)[None] < n_events
    exact = beta.ppf(0.95, n_events + 1, 60 - n_events)
    assert share_limit(beyond, np.arange(60)) == pytest.approx(exact, rel=0.02)
    # Four equal draws are one draw; five equal sentences of a patient are one sentence.
    assert share_limit(np.repeat(beyond, 4, axis=0), np.arange(60)) == pytest.approx(exact, rel=0.02)
    if n_events:
        repeated = share_limit(np.repeat(beyond, 5, axis=1), np.repeat(np.arange(60), 5))
        assert repeated == pytest.approx(exact, rel=0.05)


def test_draws_that_differ_make_the_limit_of_a_share_tighter():
    beyond = np.random.default_rng(0).random((16, 100)) < 0.1
    share = beyond.mean()
    assert share < share_limit(beyond, np.arange(100)) < share + 0.3 * (share_limit(beyond[:1], np.arange(100)) - share)


def test_limits_of_rare_events_hold():
    rng = np.random.default_rng(0)
    risk = rng.gamma(2.0, 0.025, size=(400, 10, 1, 1)).clip(max=1.0)  # patients differ; 0.05 on average
    beyond = rng.random((400, 10, 4, 30)) < risk
    patients = np.repeat(np.arange(10), 30)
    held = [share_limit(np.concatenate(list(draw), axis=1), patients) >= 0.05 for draw in beyond]
    assert np.mean(held) > 0.9


def test_no_limit_follows_from_a_single_sentence():
    assert mean_limit(np.array([2.0]), np.array([0])) == 2.0
    assert share_limit(np.zeros((4, 1), dtype=bool), np.array([0])) == 1.0
    assert share_limit(np.ones((4, 3), dtype=bool), np.arange(3)) == 1.0


@pytest.mark.parametrize(
    ("n_patients", "n_sentences", "held_out"),
    [(40, 500, 10), (500, 6_000, 50), (263, 380, 65), (1_000, 1_500, 100), (3_000, 4_000, 300), (3, 9, 1), (20, 20, 5)],
)
def test_patients_with_one_sentence_are_held_out_in_greater_number(n_patients, n_sentences, held_out):
    """26 of 263 queries were held out: one sentence with a large distance made the noise five times as large."""
    assert n_held_out(n_patients, n_sentences) == held_out
    # As many sentences as an upper 95 % limit of 5 % needs, unless that would be more than a quarter of the patients.
    n_held = held_out * n_sentences / n_patients
    limit = share_limit(np.zeros((1, int(n_held)), dtype=bool), np.arange(int(n_held)))
    assert limit <= 0.05 or held_out == n_patients // 4 or n_patients < 4
