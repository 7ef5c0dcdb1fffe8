"""Noise from a pool that is shorter than the release, and single dimensions that are copied, are found."""

import numpy as np
import pytest

from sklearn_deid.audit.attacks import NoiseAttack, NoiseTemplate, NoisyVectors, RepeatedReleases, ReplayAttack
from sklearn_deid.audit.attacks.noise_residuals import released_with
from sklearn_deid.audit.attacks.repeated_numbers import p_of_repeated_numbers, repeated_numbers
from sklearn_deid.audit.attacks.replay import p_of_shared

N, D = 1200, 8


def from_a_pool(rng):
    return np.resize(rng.standard_normal(6007), (N, D))


def from_a_pool_by_dimension(rng):
    return np.resize(rng.standard_normal(7001), (D, N)).T


def one_dimension_of_another_note(rng):
    eps = rng.standard_normal((N, D))
    eps[500:, 3] = eps[:-500, 5]
    return eps


@pytest.mark.parametrize("noise", [from_a_pool, from_a_pool_by_dimension, one_dimension_of_another_note])
@pytest.mark.parametrize("unit_norm", [True, False])
def test_repeated_numbers_of_a_release_are_named(noise, unit_norm):
    """Such a release passed: tokens 32 apart, dimensions 8 tokens apart, and whole vectors were compared."""
    rng = np.random.default_rng(0)
    template = NoiseTemplate(0.3 * rng.normal(size=(N, D)), np.linspace(0.4, 0.6, D), unit_norm, 2.0**-6, False)
    attack, offsets = NoiseAttack(controls=False, random_state=0).fit(template), np.arange(0, N + 1, 6)
    found = attack.attack(NoisyVectors(released_with(template, noise(rng)), offsets))
    assert any(fault.startswith("Numbers of the noise are repeated") for fault in found.faults), found.faults
    intact = attack.attack(NoisyVectors(released_with(template, rng.standard_normal((N, D))), offsets))
    assert intact.faults == ()


def test_two_calls_that_use_one_pool_are_found():
    pool = np.random.default_rng(1).standard_normal(20_011)
    one, other = pool[: N * D].reshape(N, D), np.roll(pool, 9_001)[: N * D].reshape(N, D)
    assert p_of_shared(one, other) < 1e-12 and p_of_shared(other, one) < 1e-12


@pytest.mark.parametrize("size", [7_501, None])
def test_a_pool_that_is_longer_than_two_calls_is_found(size):
    """Only pairs of calls were compared, and each pair took other numbers of the pool."""
    rng, names = np.random.default_rng(3), ("call", "second call", "sample", "second sample")
    numbers = rng.standard_normal((4, 400, D)) if size is None else np.resize(rng.standard_normal(size), (4, 400, D))
    template = NoiseTemplate(0.3 * rng.normal(size=(400, D)), np.full(D, 0.5), True, 2.0**-6, False)
    releases = {name: released_with(template, eps) for name, eps in zip(names, numbers, strict=True)}
    drawn = RepeatedReleases(releases, (("call", "second call", "Shared."),), successive=names)
    found = ReplayAttack(random_state=0).fit(template).attack(drawn)
    assert found.faults == (() if size is None else ("Successive calls take their noise again from the same numbers.",))


def test_independent_noise_has_the_stated_rate_of_alarms():
    """A rate of .01 gives more than 12 of 400 alarms with a probability of .0003."""
    rng = np.random.default_rng(2)
    few = [repeated_numbers(rng.standard_normal((40, 4))).p for _ in range(400)]
    pairs = [p_of_repeated_numbers(*rng.standard_normal((2, 40, 4))) for _ in range(400)]
    assert sum(p < 0.01 for p in few) <= 12 and sum(p < 0.01 for p in pairs) <= 12


def test_little_noise_and_zeros_are_no_repetition():
    """With means of 0 on the grid, residuals can be exactly 0; rounding errors of the transform are then no sums."""
    sparse = np.zeros((100, 5))
    sparse[50] = 1.0
    assert repeated_numbers(sparse).p == 1.0 and p_of_repeated_numbers(sparse, sparse[::-1]) == 1.0
    assert repeated_numbers(np.ones((3, 4))).p == 1.0 and repeated_numbers(np.zeros((0, 4))).p == 1.0
