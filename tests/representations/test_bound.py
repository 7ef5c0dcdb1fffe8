"""The bound against the attacker it speaks of, simulated, and against its formula written out."""

import math
from statistics import NormalDist

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.representations import (
    attack_accuracy,
    distance_of_accuracy,
    pair_distance,
    privacy_bound,
    released_r_times,
)


def toy_pair(d_prime, seed=0):
    """Means of two sentences of 4 tokens and one of padding, at a distance, with an uneven std."""
    generator = torch.Generator().manual_seed(seed)
    mu, step = (torch.randn(1, 5, 3, generator=generator) for _ in range(2))
    std = torch.tensor([0.3, 1.0, 2.5])
    mask = torch.tensor([[True, True, True, True, False]])
    step = step * mask.unsqueeze(2)
    other = mu + step * d_prime / pair_distance(mu, mu + step, std, mask)
    return mu, other, std, mask


def likelihood_ratio_accuracy(pair, n_releases, n=20_000):
    """Share of right answers of the likelihood-ratio test, fed with simulated releases of both sentences."""
    mu, other, std, mask = pair
    generator = torch.Generator().manual_seed(1)
    truth = torch.arange(n) % 2 == 1
    mean = torch.where(truth[:, None, None, None], other, mu)
    released = mean + std * torch.randn(n, n_releases, *mu.shape[1:], generator=generator)

    def log_density(candidate):
        density = torch.distributions.Normal(candidate, std).log_prob(released)
        return (density * mask[..., None]).sum((1, 2, 3))

    return ((log_density(other) > log_density(mu)) == truth).double().mean().item()


@pytest.mark.parametrize("d_prime", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("n_releases", [1, 4])
def test_best_attacker_reaches_the_bound_and_no_more(d_prime, n_releases):
    pair = toy_pair(d_prime)
    distance = pair_distance(*pair)
    assert distance.item() == pytest.approx(d_prime, rel=1e-5)
    bound = attack_accuracy(released_r_times(distance, n_releases)).item()
    # Four standard errors of a share among 20,000.
    interval = 4 * math.sqrt(bound * (1 - bound) / 20_000)
    assert likelihood_ratio_accuracy(pair, n_releases) == pytest.approx(bound, abs=interval)


def test_distance_is_the_sum_written_out():
    generator = torch.Generator().manual_seed(0)
    mu, other = (torch.randn(3, 4, 2, generator=generator) for _ in range(2))
    std, lengths = torch.tensor([0.5, 2.0]), [4, 1, 2]
    mask = torch.arange(4) < torch.tensor(lengths)[:, None]
    expected = [
        math.sqrt(sum(((mu[i, t, k] - other[i, t, k]).item() / std[k].item()) ** 2 for t in range(n) for k in range(2)))
        for i, n in enumerate(lengths)
    ]
    assert pair_distance(mu, other, std, mask).tolist() == pytest.approx(expected, rel=1e-5)


def test_padding_never_counts_whatever_it_holds():
    mu, other, std, mask = toy_pair(1.0)
    expected = pair_distance(mu, other, std, mask)
    for junk in (1e6, math.inf, math.nan):
        mu[:, 4], other[:, 4] = junk, -junk
        leaf = mu.clone().requires_grad_()
        distance = pair_distance(leaf, other, std, mask)
        assert distance.item() == expected.item()
        distance.sum().backward()
        assert leaf.grad.isfinite().all()
        assert (leaf.grad[:, 4] == 0).all()


def test_gradient_is_that_of_the_formula():
    mu, other, std, mask = toy_pair(1.0)
    leaves = [x.double().requires_grad_() for x in (mu, other, std)]
    assert torch.autograd.gradcheck(lambda *x: attack_accuracy(pair_distance(*x, mask)), leaves)


def test_gradient_at_distance_zero_is_zero_and_close_to_it_finite():
    mu, _, std, mask = toy_pair(1.0)
    for step in (0.0, 1e-30, 1e-12):
        left, right, spread = mu.clone().requires_grad_(), (mu * 0).requires_grad_(), std.clone().requires_grad_()
        loss = attack_accuracy(pair_distance(left - left.detach(), right + step, spread, mask)).sum()
        loss.backward()
        for x in (left, right, spread):
            assert x.grad.isfinite().all()
        if step == 0.0:
            assert loss.item() == 0.5
            assert (left.grad == 0).all()
            assert (spread.grad == 0).all()


def test_without_noise_a_difference_is_seen_with_certainty_and_its_absence_is_none():
    mask, silent = torch.ones(2, 1, dtype=torch.bool), torch.tensor([0.0, 1.0])
    mu = torch.zeros(2, 1, 2)
    other = torch.tensor([[[1e-3, 0.0]], [[0.0, 2.0]]])
    distance = pair_distance(mu, other, silent, mask)
    assert distance.tolist() == [math.inf, 2.0]
    assert attack_accuracy(distance)[0] == 1.0


def test_an_undefined_mean_is_not_hidden():
    mu, other, std, mask = toy_pair(1.0)
    mu[0, 0, 0] = math.nan
    assert pair_distance(mu, other, std, mask).isnan().all()


@given(st.floats(0.5, 1.0))
def test_inverse_and_normal_distribution_of_the_standard_library(accuracy):
    distance = distance_of_accuracy(accuracy)
    assert distance >= 0.0
    assert attack_accuracy(torch.tensor(distance, dtype=torch.float64)).item() == pytest.approx(accuracy, abs=1e-12)
    if accuracy < 1.0:
        assert NormalDist().cdf(distance / 2) == pytest.approx(accuracy, abs=1e-12)


def test_ends_of_the_scale():
    assert distance_of_accuracy(0.5) == 0.0
    assert distance_of_accuracy(1.0) == math.inf
    assert attack_accuracy(torch.tensor([0.0, math.inf])).tolist() == [0.5, 1.0]


@given(st.floats(0, 10), st.integers(1, 50), st.integers(1, 50))
def test_releases_multiply(distance, r, s):
    d = torch.tensor(distance, dtype=torch.float64)
    again = released_r_times(released_r_times(d, r), s).item()
    assert again == pytest.approx(released_r_times(d, r * s).item(), rel=1e-12)
    assert again**2 == pytest.approx(r * s * distance**2, rel=1e-9)


@pytest.mark.parametrize("accuracy", [0.49, 1.01, math.nan])
def test_accuracy_outside_the_scale(accuracy):
    with pytest.raises(ValueError, match="'accuracy' parameter must be between 0.5 and 1"):
        distance_of_accuracy(accuracy)


@pytest.mark.parametrize("n_releases", [0, -1, 1.5, math.nan])
def test_no_release_is_no_question(n_releases):
    with pytest.raises(ValueError, match=f"must be a whole number of at least 1. Got {n_releases}"):
        released_r_times(torch.ones(1), n_releases)


@pytest.mark.parametrize("quantile", [0.0, -0.1, 1.1, math.nan])
def test_quantile_outside_the_scale(quantile):
    with pytest.raises(ValueError, match=f"'quantile' parameter must be above 0 and at most 1. Got {quantile}"):
        privacy_bound(torch.ones(3), quantile=quantile)
