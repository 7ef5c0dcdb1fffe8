"""Randomised uploads: distributions, what they depend on, and the promise, by numerical integration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    FixedPoint,
    GaussianUpload,
    PatientPrivacy,
    PrivacyEvent,
    PrivacyLedger,
    SparseVectorUpload,
    bounded_epsilon,
    check_promise,
    spent_epsilon,
)
from sklearn_deid.federated.noise import _above_threshold
from sklearn_deid.federated.ranking import random_subset
from sklearn_deid.federated.robust import clip_norm


def rng(seed=0):
    return np.random.default_rng(seed)


def vector(*values):
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("settings", "plain"),
    [
        (lambda n: PatientPrivacy(n(8), sampling_rate=n(1)), PatientPrivacy(8, sampling_rate=1)),
        (lambda n: GaussianUpload(n(3), n(1)), GaussianUpload(3, 1)),
        (lambda n: SparseVectorUpload(n(2)), SparseVectorUpload(2)),
        (lambda n: FixedPoint(n(1), np.int64(32)), FixedPoint(1, 32)),
    ],
)
@pytest.mark.parametrize("number", [np.int64, np.float32])
def test_numbers_of_numpy_are_numbers(settings, plain, number):
    """An epsilon of an array of integers was refused as no number."""
    assert settings(number) == plain
    assert not any(isinstance(value, np.generic) for value in vars(settings(number)).values())


# Gaussian noise


def test_places_do_not_depend_on_the_data():
    mechanism = GaussianUpload(0.5, 1.0)
    for n in (10, 20_000):
        one, _ = mechanism.select(np.zeros(n, np.float32), 0.3, 0.0, 1.0, rng())
        two, _ = mechanism.select(rng(1).normal(size=n).astype(np.float32), 0.3, 0.0, 1.0, rng())
        np.testing.assert_array_equal(one.indices, two.indices)
        assert len(one.indices) == 3 * n // 10
        # and neither does the noise: without data there is nothing else
        stream = rng()
        np.testing.assert_array_equal(one.indices, np.flatnonzero(random_subset(np.ones(n, bool), 3 * n // 10, stream)))
        noise = stream.standard_normal(3 * n // 10) * 0.5
        step = mechanism.grid()
        np.testing.assert_array_equal(one.values, np.rint(noise / step) * step)
        # what was rounded is half a step at most
        clipped = clip_norm(np.clip(rng(1).normal(size=n)[two.indices], -1, 1).astype(np.float32), 1.0)
        assert np.abs(two.values - (clipped + noise)).max() <= step / 2


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=30), st.floats(0.1, 10), st.floats(0.1, 10))
def test_without_noise_it_is_clipping_by_value_and_by_norm(values, clip, bound):
    delta = vector(*values)
    chosen, _ = GaussianUpload(1e-12, bound).select(delta, 1.0, 0.0, clip, rng())
    clipped = np.clip(delta.astype(np.float64), -clip, clip)
    norm = np.linalg.norm(clipped)
    np.testing.assert_allclose(chosen.values, clipped * min(1.0, bound / max(norm, 1e-30)), rtol=1e-5, atol=1e-6)
    assert np.linalg.norm(chosen.values.astype(np.float64)) <= bound * (1 + 1e-6)
    assert chosen.n_clipped == (np.abs(delta) > clip).sum()


def test_the_noise_is_normal_with_the_standard_deviation_that_was_asked_for():
    chosen, event = GaussianUpload(1.5, 2.0).select(np.zeros(100_000, np.float32), 1.0, 0.0, 1.0, rng())
    scaled = np.sort(chosen.values / 3.0)
    assert abs(scaled.mean()) < 5 / np.sqrt(100_000)
    assert abs(scaled.std() - 1) < 5 / np.sqrt(200_000)
    for point, share in ((-1.0, 0.158655), (0.0, 0.5), (1.0, 0.841345), (2.0, 0.977250)):
        assert abs((scaled < point).mean() - share) < 0.008
    assert event == PrivacyEvent("gaussian", noise_multiplier=1.5)


@pytest.mark.parametrize(
    "fields",
    [
        (0.0, 1.0),
        (-1.0, 1.0),
        (1.0, 0.0),
        (1.0, float("inf")),
        (float("nan"), 1.0),
        # Their squares and products would overflow.
        (1e-200, 1.0),
        (1e308, 1e308),
        (8.0, 1e-320),
        (10**400, 1.0),
        (True, 1.0),
        ("1", 1.0),
    ],
)
def test_wrong_gaussian(fields):
    with pytest.raises(ValueError, match="noise_multiplier|norm_bound"):
        GaussianUpload(*fields)


def test_a_threshold_is_refused_with_gaussian_noise():
    with pytest.raises(ValueError, match="set threshold=0.0"):
        GaussianUpload(1.0, 1.0).select(vector(1, 2), 0.5, 1e-4, 1.0, rng())


# sparse vector technique


def laplace_cdf(x, scale):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0) / scale), 1 - 0.5 * np.exp(-np.maximum(x, 0) / scale))


def outcome(magnitudes, tau, scale, released):
    """Probability that of these magnitudes, visited in this order, none is above, or only the last one."""
    t = np.linspace(-60 * scale, 60 * scale, 200_001)
    weight = np.exp(-np.abs(t) / scale) / (2 * scale) * (t[1] - t[0])
    below = [laplace_cdf(tau + t - m, 2 * scale) for m in magnitudes]
    if released:
        below[-1] = 1 - below[-1]
    return float((weight * np.prod(below, axis=0)).sum())


def test_frequencies_are_those_of_the_integral():
    """Two places, one value may be sent: nothing, the first or the second."""
    mechanism, tau, clip = SparseVectorUpload(6.0), 0.3, 1.0
    scale, value_scale = mechanism.scales(1, clip)
    a, b = 0.9, -0.4
    expected = {
        (): outcome([a, -b], tau, scale, False),
        (0,): 0.5 * outcome([a], tau, scale, True) + 0.5 * outcome([-b, a], tau, scale, True),
        (1,): 0.5 * outcome([-b], tau, scale, True) + 0.5 * outcome([a, -b], tau, scale, True),
    }
    assert sum(expected.values()) == pytest.approx(1, abs=1e-4)
    generator, n = rng(), 20_000
    found, values = dict.fromkeys(expected, 0), []
    for _ in range(n):
        chosen, _ = mechanism.select(vector(a, b), 0.5, tau, clip, generator)
        found[tuple(chosen.indices.tolist())] += 1
        values.extend(chosen.values[chosen.indices == 0].tolist())
    for key, share in expected.items():
        assert abs(found[key] / n - share) < 5 * np.sqrt(share * (1 - share) / n)
    # the value of the first place: 0.9 and noise, clamped
    for point in (-0.9, 0.0, 0.5, 0.95):
        share = float(laplace_cdf(np.array(point - a), value_scale))
        assert abs(np.mean(np.array(values) < point) - share) < 5 * np.sqrt(share * (1 - share) / len(values))
    assert np.abs(values).max() <= 1


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_the_promise_holds_for_the_worst_neighbours(epsilon):
    """Log ratios of all outcomes of one sent value, for data in which every place is as different as it can be."""
    mechanism, tau, gamma = SparseVectorUpload(epsilon), 0.2, 1.0
    scale, value_scale = mechanism.scales(1, gamma)
    value_cost = 2 * gamma / value_scale  # from gamma to -gamma
    largest = 0.0
    for n in (1, 2, 5, 40):
        one, two = [gamma] * (n - 1) + [0.0], [0.0] * (n - 1) + [gamma]
        for released in (True, False):
            ratio = abs(np.log(outcome(one, tau, scale, released) / outcome(two, tau, scale, released)))
            largest = max(largest, ratio + (value_cost if released else 0.0))
    assert largest <= mechanism.exact_epsilon() * (1 + 1e-6)
    assert largest > 0.5 * mechanism.exact_epsilon()  # the bound says something
    assert mechanism.exact_epsilon() == pytest.approx(epsilon * 5 / 9)


@given(st.floats(0.01, 100), st.integers(1, 1000), st.floats(0.01, 10))
def test_epsilon_does_not_depend_on_how_many_may_be_sent(epsilon, n_most, clip):
    mechanism = SparseVectorUpload(epsilon)
    threshold_scale, value_scale = mechanism.scales(n_most, clip)
    cost = n_most * (2 * clip / threshold_scale + 2 * clip / value_scale)
    assert cost == pytest.approx(mechanism.exact_epsilon())
    # with the general sensitivity of twice the clip for the tests as well, as the papers count
    assert n_most * (4 * clip / threshold_scale + 2 * clip / value_scale) == pytest.approx(epsilon)


def test_without_noise_it_is_the_threshold_in_random_order():
    delta = rng().normal(size=300).astype(np.float32)
    mechanism = SparseVectorUpload(1e12)
    chosen, event = mechanism.select(delta, 1.0, 0.5, 1.0, rng())
    np.testing.assert_array_equal(chosen.indices, np.flatnonzero(np.abs(delta) > 0.5))
    np.testing.assert_allclose(chosen.values, np.clip(delta, -1, 1)[chosen.indices], rtol=1e-6)
    few, _ = mechanism.select(delta, 0.1, 0.5, 1.0, rng())
    assert len(few.indices) == 30
    assert set(few.indices) < set(chosen.indices)
    assert few.indices.max() > 200  # not the first ones
    assert event.epsilon == pytest.approx(5e12 / 9)


def test_the_threshold_is_drawn_anew_after_each_sent_value():
    """Against the loop written out, with the same stream of random numbers."""
    magnitudes, scale, tau = np.abs(rng(3).normal(size=200)), 0.7, 0.5
    found = _above_threshold(magnitudes, tau, scale, 40, rng(5))
    stream = rng(5)
    order = stream.permutation(200)
    bar = tau + stream.laplace(scale=scale)
    noise = stream.laplace(scale=2 * scale, size=200)
    expected = []
    for place, extra in zip(order, noise, strict=True):
        if magnitudes[place] + extra >= bar:
            expected.append(place)
            if len(expected) == 40:
                break
            bar = tau + stream.laplace(scale=scale)
    assert found.tolist() == expected


def test_nothing_may_be_sent():
    chosen, event = SparseVectorUpload(1.0).select(vector(1, 2, 3), 0.1, 0.0, 1.0, rng())
    assert len(chosen.indices) == 0
    assert event.epsilon > 0


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("inf"), float("nan"), 1e-320, 10**400, True, "8"])
def test_wrong_epsilon(epsilon):
    with pytest.raises(ValueError, match="'epsilon'"):
        SparseVectorUpload(epsilon)


@pytest.mark.parametrize("mechanism", [GaussianUpload(1.0, 1.0), SparseVectorUpload(1.0)])
def test_diverged_updates_are_not_sent(mechanism):
    with pytest.raises(ExchangeError, match="diverged"):
        mechanism.select(vector(np.nan, 1), 0.5, 0.0, 1.0, rng())


# the ledger


def test_pure_epsilons_add_up_and_a_ledger_comes_back():
    ledger = PrivacyLedger()
    assert spent_epsilon(ledger, 1e-5) == 0.0
    ledger.add(PrivacyEvent("sparse-vector", epsilon=0.5), count=4)
    ledger.add(PrivacyEvent("sparse-vector", epsilon=0.25))
    assert (spent_epsilon(ledger, 1e-5), len(ledger)) == (2.25, 5)
    ledger.add(PrivacyEvent("gaussian", noise_multiplier=2.0), count=3)
    assert PrivacyLedger.from_list(ledger.to_list()).counts() == ledger.counts()
    assert [count for _, count in ledger.counts()] == [4, 1, 3]


@pytest.mark.parametrize(("multiplier", "n"), [(40.0, 3), (8.0, 25), (2.0, 25), (0.5, 2)])
def test_the_closed_form_is_above_the_accountant_and_near_it(multiplier, n):
    pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
    ledger = PrivacyLedger()
    ledger.add(PrivacyEvent("gaussian", noise_multiplier=multiplier), n)
    ledger.add(PrivacyEvent("sparse-vector", epsilon=0.25), 2)
    exact = spent_epsilon(ledger, 1e-5)
    assert exact <= bounded_epsilon(ledger, 1e-5) < 1.2 * exact + 0.1


def test_noise_is_refused_by_the_total_of_all_uploads():
    event = GaussianUpload(2.0, 1.0).event()
    assert len(check_promise(event, 10)) == 10
    with pytest.raises(ValueError, match="for the 200 planned uploads. An epsilon of this size promises nothing"):
        check_promise(event, 200)


@pytest.mark.parametrize(
    "costs",
    [{}, {"epsilon": float("nan")}, {"noise_multiplier": 0.0}, {"noise_multiplier": float("inf")}, {"epsilon": -1}],
)
def test_an_event_without_a_cost_is_refused(costs):
    with pytest.raises(ValueError, match="one positive number"):
        check_promise(PrivacyEvent("gaussian", **costs), 10)


@pytest.mark.parametrize("count", [-5, 1.5, True, float("nan"), None])
def test_a_ledger_counts_whole_numbers_only(count):
    events = [{"mechanism": "sparse-vector", "noise_multiplier": None, "epsilon": 1.0, "count": count}]
    with pytest.raises(ValueError, match="whole number"):
        PrivacyLedger.from_list(events)


def test_a_total_that_is_no_number_promises_nothing():
    with pytest.raises(ValueError, match="promises nothing"):
        check_promise(GaussianUpload(2.0, 1.0).event(), 10, delta=float("nan"))
