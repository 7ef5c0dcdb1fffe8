"""Grid steps: found again behind unit vectors, and low bits that depend on tokens."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid._randomness import to_grid
from sklearn_deid.audit.attacks.noise_checks import alarms
from sklearn_deid.audit.attacks.noise_steps import bit_checks, step_checks, whole_steps
from sklearn_deid.audit.attacks.noise_template import NoiseTemplate

STD, GRID = 1.5, 2.0**-5
WIDTH = STD / GRID


def released(d=12, n=400, seed=0, unit_norm=True):
    """Steps, and vectors that were released from them."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n, d))
    steps = np.rint((mean + STD * rng.standard_normal((n, d))) / GRID)
    length = np.linalg.norm(steps, axis=1, keepdims=True)
    vectors = to_grid(steps / length, 2.0**-20) if unit_norm else steps * GRID
    return NoiseTemplate(mean, np.full(d, STD), unit_norm, GRID, False), steps, vectors.astype(np.float32)


@pytest.mark.parametrize("unit_norm", [False, True])
@pytest.mark.parametrize("d", [8, 12, 50])
def test_the_steps_are_found_again(d, unit_norm):
    template, steps, vectors = released(d, unit_norm=unit_norm)
    tokens, found, faults = whole_steps(vectors, template)
    # Vectors of which all steps are even look like those of half the steps.
    divisor = np.gcd.reduce(steps.astype(int), axis=1)[:, None] if unit_norm else 1
    assert len(tokens) == len(steps) and faults == [] and (found * divisor == steps).all()


def test_vectors_off_the_grid_of_the_noise_are_named():
    template, steps, vectors = released()
    off = steps + np.random.default_rng(1).uniform(-0.5, 0.5, steps.shape)
    unit = to_grid(off / np.linalg.norm(off, axis=1, keepdims=True), 2.0**-20)
    for changed in (unit, vectors + np.float32(2.0**-20)):
        assert "low bits disclose more" in whole_steps(changed, template)[2][0]


@pytest.mark.parametrize("bit", [0, 1, 2])
def test_bits_that_depend_on_the_word_are_named(bit):
    _, steps, _ = released()
    words = np.arange(len(steps)) % 40
    told = np.random.default_rng(2).integers(2, size=(40, 3))[words]
    marked = steps.copy()
    marked[:, :3] += (told - np.floor(marked[:, :3] / 2**bit) % 2) * 2**bit
    failed, _ = alarms(bit_checks(marked, {"word": words}, WIDTH), 1e-4)
    told_by_word = "The low bits of the released numbers are no noise: they are shared by word."
    assert told_by_word in {check.fault for check in failed}
    assert alarms(bit_checks(steps, {"word": words}, WIDTH), 1e-4)[0] == []
    # Noise of a few steps does not hide its low bits, which are then not tested.
    assert list(bit_checks(steps, {}, 3.0)) == []


def faults_of(template, vectors):
    tokens, steps, faults = whole_steps(vectors, template)
    words = {"word": (np.arange(len(template)) % 40)[tokens]}
    checks = step_checks(steps, words, replace(template, mean=template.mean[tokens]))
    return faults + [check.fault for check in alarms(checks, 1e-4)[0]]


def with_noise(template, noise, coarser=1):
    noisy = to_grid(template.mean + noise, template.grid * coarser)
    return to_grid(noisy / np.linalg.norm(noisy, axis=1, keepdims=True), 2.0**-20) if template.unit_norm else noisy


@pytest.mark.parametrize("unit_norm", [False, True])
@pytest.mark.parametrize("coarser", [2, 3, 4, 5, 7, 8, 12])
@pytest.mark.parametrize("whole", [True, False])
def test_coarser_grids_are_named(coarser, whole, unit_norm):
    """The whole vector, or its noise alone, lies on a grid that is several times as coarse as stated."""
    template = released(unit_norm=unit_norm)[0]
    noise = STD * np.random.default_rng(5).standard_normal(template.mean.shape)
    assert faults_of(template, with_noise(template, noise)) == []
    coarse = with_noise(template, noise, coarser) if whole else with_noise(template, to_grid(noise, GRID * coarser))
    assert "The low bits of the released numbers" in faults_of(template, coarse)[0]


def test_noise_behind_unit_vectors_that_is_cut_off_is_named():
    """Lengths that the audit draws hide the tails; the steps show them. Of 300,000 numbers 19 are beyond 4."""
    template = released(d=50, n=6000)[0]
    rng = np.random.default_rng(6)
    noise = rng.standard_normal(template.mean.shape)
    assert faults_of(template, with_noise(template, STD * noise)) == []
    while (beyond := np.abs(noise) > 4.0).any():
        noise[beyond] = rng.standard_normal(beyond.sum())
    assert faults_of(template, with_noise(template, STD * noise)) == ["The noise has other tails than Gaussian noise."]


def test_the_probabilities_of_all_remainders_are_upper_bounds():
    words, p = np.arange(60) % 20, []
    for i in range(100):
        steps = np.random.default_rng(i).integers(-840, 840, (60, 4))
        p += [check.p for check in bit_checks(steps, {"word": words}, 16.0)]
    for level in (0.05, 0.01, 0.002):
        assert np.mean(np.array(p) < level) <= level


def test_the_probability_is_an_upper_bound():
    """Of 400 intact releases about 4 may have a p of at most .01."""
    words = np.arange(60) % 20
    low = [
        min(check.p for check in bit_checks(np.random.default_rng(i).integers(-99, 99, (60, 4)), {"word": words}, 4.0))
        for i in range(400)
    ]
    assert sum(p < 0.005 for p in low) <= 10
