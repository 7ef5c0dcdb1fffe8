"""Low bits that follow from each other are named; independent bits are not."""

from itertools import product

import numpy as np
import pytest

from sklearn_deid._randomness import to_grid
from sklearn_deid.audit.attacks import NoiseAttack, NoiseTemplate, NoisyVectors
from sklearn_deid.audit.attacks.low_bit_relations import _has_relation, relation_checks

N, D = 300, 9
OFFSETS = np.append(np.arange(0, N, 7), N)
SENTENCE = np.repeat(np.arange(len(OFFSETS) - 1), np.diff(OFFSETS))


def counter(steps, plane):
    """The bit of a generator whose numbers are alternately even and odd; with an odd d, each column alternates, too."""
    return np.arange(N * D).reshape(N, D) % 2


def shift_register(steps, plane):
    bits = [1, 0, 1, 1, 0, 0, 1]
    while len(bits) < N * D:
        bits.append(bits[-7] ^ bits[-6])
    return np.reshape(bits, (N, D))


def even_sum(steps, plane):
    """The steps of a lattice whose vectors have even sums, which is finer than the grid for its rounding errors."""
    bits = steps >> plane & 1
    bits[:, -1] = bits[:, :-1].sum(axis=1) % 2
    return bits


def copied(steps, plane):
    """Each token has the bits of the token before it, moved by one dimension and with the opposite value."""
    bits = steps >> plane & 1
    for before, after in zip(bits, bits[1:], strict=False):
        after[1:] = 1 - before[:-1]
    return bits


def faults_of(steps, mean, width=32.0):
    return {check.fault for check in relation_checks(steps + mean, mean, SENTENCE, width) if check.p < 1e-12}


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    return np.rint(32.0 * rng.standard_normal((N, D))).astype(int), rng.integers(-90, 90, (N, D))


@pytest.mark.parametrize("plane", [0, 1, 2])
@pytest.mark.parametrize("rule", [counter, shift_register, even_sum, copied])
def test_bits_that_follow_from_others_are_named(rule, plane):
    steps, mean = drawn()
    steps += (rule(steps, plane) - (steps >> plane & 1)) << plane
    assert len(faults_of(steps, mean)) == 1
    # Noise of few steps does not hide its bits. Of too few tokens, bits agree by chance.
    assert faults_of(steps, mean, width=2.0) == set()
    assert list(relation_checks(steps[:60], mean[:60], SENTENCE[:60], 32.0)) == []


def test_independent_bits_are_not_named():
    assert all(faults_of(*drawn(seed)) == set() for seed in range(40))


def test_relations_are_those_of_an_enumeration():
    """All sums of three columns of noise with all sums of the constant and one given column, for small matrices."""
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        given, noise = rng.integers(0, 2, (7, 1), dtype=np.uint8), rng.integers(0, 2, (7, 3), dtype=np.uint8)
        sums = {tuple((noise @ a) % 2) for a in product((0, 1), repeat=3) if any(a)}
        known = {tuple((c + given[:, 0] * b) % 2) for b in (0, 1) for c in (0, 1)}
        found.append(bool(sums & known))
        assert _has_relation(given, noise) == found[-1]
    assert 20 < sum(found) < 180


@pytest.mark.parametrize("unit_norm", [False, True])
@pytest.mark.parametrize("is_counter", [False, True])
def test_the_noise_test_names_a_counter_in_the_parity(unit_norm, is_counter):
    """Whoever knows the parity of the noise reads the parity of each noise-free number: the word follows from it."""
    steps, mean = drawn()
    steps += is_counter * (counter(steps, 0) - steps) % 2
    template = NoiseTemplate(mean / 32.0, np.full(D, 1.0), unit_norm, 2.0**-5, False)
    vectors = (steps + mean) / 32.0
    if unit_norm:
        vectors = to_grid(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), 2.0**-20)
    released = NoisyVectors(vectors, OFFSETS)
    faults = " ".join(NoiseAttack(controls=False, random_state=0).fit(template).attack(released).faults)
    assert ("they follow from other bits" in faults) == is_counter
    assert is_counter or not faults
