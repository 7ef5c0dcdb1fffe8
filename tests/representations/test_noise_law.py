"""Ten million numbers of the noise of a release, against the law that the documentation states.

The key is fixed, so that the figures are the same at every run.
"""

import math

import numpy as np
import pytest
import torch
from randomgen import ChaCha
from scipy.stats import binom, chi2, norm

from sklearn_deid._randomness import grid_step, on_grid, to_grid
from sklearn_deid.representations import GaussianNoise, Representer, sampling_slack
from sklearn_deid.representations.release_noise import ReleaseNoise

ALPHA = 1e-6
STD, D, ROWS, BATCHES = 0.75, 50, 25_000, 8
N = D * ROWS * BATCHES


def representer(std=STD, d=D, unit_norm=False):
    noise = GaussianNoise(d, kind="fixed", init=1.0)
    noise.weight.copy_(torch.as_tensor(std).expand(d))
    return Representer(4, d, kind="dense", output_noise=noise, unit_norm=unit_norm)


def drawn(network, means, key=2**200 + 5):
    """Releases of means, batch by batch, as `transform` makes them."""
    generator = np.random.Generator(ChaCha(key=key))
    with ReleaseNoise(network, generator, [len(mean) for mean in means]) as noise:
        out = []
        for mean in means:
            embeddings = torch.zeros(1, len(mean), 4)
            noise.input_eps(embeddings, torch.ones(1, len(mean), dtype=torch.bool))
            out.append(noise.released(mean))
    return np.concatenate(out)


@pytest.fixture(scope="module")
def values():
    """Noise in units of its standard deviation, shape (n_tokens, d)."""
    found = drawn(representer(), [np.zeros((ROWS, D), dtype=np.float32)] * BATCHES)
    assert found.dtype == np.float32 and on_grid(found, grid_step(STD))
    return found.astype(np.float64) / STD


def z(alpha=ALPHA, tests=1):
    return norm.isf(alpha / 2 / tests)


def test_moments(values):
    x, h = values.ravel(), grid_step(STD) / STD
    assert len(x) == N == 10**7
    assert abs(x.mean()) < z() / math.sqrt(N)
    # rounding adds the variance of a uniform number, up to exp(-2 pi^2 / h^2)
    variance = 1 + h**2 / 12
    assert abs(x.var() - variance) < z() * math.sqrt(2 / N)
    x = (x - x.mean()) / x.std()
    assert abs((x * x * x).mean()) < z() * math.sqrt(6 / N)
    assert abs((x * x * x * x).mean() - 3) < z() * math.sqrt(24 / N)


@pytest.mark.parametrize("sigmas", [2, 3, 4, 5])
def test_tails(values, sigmas):
    h = grid_step(STD) / STD
    first = math.ceil(sigmas / h)  # steps
    for tail in (values >= first * h - h / 4, values <= -first * h + h / 4):
        share = norm.sf((first - 0.5) * h)
        low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], N, share)
        assert low <= tail.sum() <= high


def test_cells_of_the_grid(values):
    h = grid_step(STD) / STD
    steps = np.rint(values / h).astype(int).ravel()
    last = int(4.5 / h)
    counts = np.bincount(np.clip(steps, -last, last) + last, minlength=2 * last + 1)
    edges = (np.arange(-last, last) + 0.5) * h
    expected = N * np.diff(norm.cdf(edges), prepend=0.0, append=1.0)
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert chi2.isf(1 - ALPHA / 2, 2 * last) < statistic < chi2.isf(ALPHA / 2, 2 * last)


def test_independence(values):
    flat = values.ravel()
    for lag in (1, 2, 3, 7, D, 2 * D, 256, ROWS * D):
        assert abs((flat[lag:] * flat[:-lag]).mean()) < z(tests=8) / math.sqrt(N - lag)
    for power in (values, values * values):
        between = np.corrcoef(power, rowvar=False)[np.triu_indices(D, 1)]
        assert np.abs(between).max() < z(tests=len(between)) / math.sqrt(ROWS * BATCHES)


def test_each_dimension_has_its_own_size():
    std = torch.tensor([0.1, 0.5, 2.0, 30.0])
    found = drawn(representer(std, 4), [np.zeros((250_000, 4), dtype=np.float32)])
    assert grid_step(std.numpy()) == 2.0**-9 and on_grid(found, 2.0**-9)
    np.testing.assert_allclose(found.std(axis=0, dtype=np.float64) / std.numpy(), 1, atol=z(tests=4) / math.sqrt(5e5))


@pytest.mark.parametrize("size", [0.0, 1.0, 1e3])
def test_noise_is_added_to_the_mean_before_it_is_rounded(size):
    means = [np.random.default_rng(i).normal(0, size, (500, D)).astype(np.float32) for i in range(3)]
    plain = np.random.Generator(ChaCha(key=2**200 + 5))
    expected = []
    for mean in means:
        plain.standard_normal((len(mean), 4))  # the noise of the embeddings
        expected.append(to_grid(mean + STD * plain.standard_normal((len(mean), D)), grid_step(STD)))
    np.testing.assert_array_equal(drawn(representer(), means), np.concatenate(expected))


@pytest.mark.parametrize("unit_norm", [False, True])
def test_zeros_do_not_tell_from_which_side_the_mean_was_rounded(unit_norm):
    """-0.0 came out only if the mean itself lay in the half cell below zero: no noise hid this."""
    below, above = (np.full((40_000, 2), side * grid_step(STD) / 4, dtype=np.float32) for side in (-1, 1))
    for found in (drawn(representer(d=2, unit_norm=unit_norm), [mean]) for mean in (below, above)):
        assert (found == 0).any() and not np.signbit(found[found == 0]).any()
    assert not np.signbit(to_grid(np.array([-0.1, -0.0]), 0.5)).any()


def test_unit_vectors_lie_on_the_finest_grid_and_are_those_of_the_noisy_ones():
    mean = [np.random.default_rng(0).normal(size=(2_000, D)).astype(np.float32)]
    noisy, unit = drawn(representer(), mean).astype(np.float64), drawn(representer(unit_norm=True), mean)
    assert on_grid(unit, 2.0**-20) and not on_grid(unit, 2.0**-19)
    expected = noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
    assert np.abs(unit - expected).max() <= 2.0**-21


def test_a_vector_that_is_rounded_to_zero_stays_zero():
    found = drawn(representer(torch.tensor([1e-30]), 1, unit_norm=True), [np.zeros((3, 1), dtype=np.float32)])
    assert found.tolist() == [[0.0]] * 3


def test_slack_is_tiny_and_grows_with_tokens_and_finer_grids():
    one = sampling_slack(torch.ones(D), 1)
    assert one == pytest.approx(D * 2.0**-43) and sampling_slack(torch.ones(D), 10) == pytest.approx(10 * one)
    unequal = sampling_slack(torch.tensor([1.0, 2.0**10]), 1)
    assert unequal == pytest.approx(2.0**-49 * (64 + 2.0**15))
    assert sampling_slack(torch.tensor([1e-9]), 1) == pytest.approx(2.0**-43)
