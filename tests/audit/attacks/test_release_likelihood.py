"""Densities against numerical integration and against draws."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from sklearn_deid.audit.attacks.lookup import (
    cosine_score,
    log_likelihood_of_directions,
    log_likelihood_of_vectors,
)


def density_of_direction(u, mu, std):
    """Integral of the Gaussian density over the ray through u."""
    gauss = multivariate_normal(mu, np.diag(std**2))
    return quad(lambda x: x ** (len(u) - 1) * gauss.pdf(x * u), 0, np.inf, epsabs=0, limit=200)[0]


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [0.1, 1.0, 3.0])
def test_directions_have_the_density_of_the_integral(d, size):
    rng = np.random.default_rng(d)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    mu, std = size * rng.normal(size=(4, d)), rng.uniform(0.5, 1.5, d)
    found = log_likelihood_of_directions(*(torch.tensor(a) for a in (u[None, None], mu[:, None], std)))
    expected = np.log([density_of_direction(u, m, std) for m in mu])
    np.testing.assert_allclose(found.numpy() - found[0].item(), expected - expected[0], rtol=2e-3, atol=2e-3)


def test_vectors_have_the_gaussian_density():
    rng = np.random.default_rng(0)
    released, mu, std = rng.normal(size=(3, 2, 4)), rng.normal(size=(5, 2, 4)), rng.uniform(0.5, 2, 4)
    found = log_likelihood_of_vectors(*(torch.tensor(a) for a in (released, mu, std))).numpy()
    gauss = [
        sum(multivariate_normal(m[t], np.diag(std**2)).logpdf(r[t]) for r in released for t in range(2)) for m in mu
    ]
    np.testing.assert_allclose(found - found[0], np.array(gauss) - gauss[0], atol=1e-9)


def test_many_dimensions_and_hardly_any_noise_stay_finite():
    rng = torch.Generator().manual_seed(0)
    mu = torch.randn(6, 3, 50, generator=rng)
    u = torch.nn.functional.normalize(mu[:1] + 1e-4 * torch.randn(1, 3, 50, generator=rng), dim=2)
    for std in (1e-4, 1.0, 1e3):
        found = log_likelihood_of_directions(u, mu, torch.full((50,), std))
        assert torch.isfinite(found).all() and int(found.argmax()) == 0
    assert torch.isfinite(log_likelihood_of_vectors(u, mu, torch.zeros(50))).all()


def test_likelihood_of_directions_beats_cosine_where_dimensions_differ_in_noise():
    rng = torch.Generator().manual_seed(0)
    std, n = torch.tensor([3.0] * 4 + [0.3] * 4), 400
    mu = torch.randn(n, 2, 1, 8, generator=rng)  # of two candidates each; the first is released
    u = torch.nn.functional.normalize(mu[:, 0] + std * torch.randn(n, 1, 8, generator=rng), dim=2)
    right = {"likelihood": 0, "cosine": 0}
    for one, two in zip(u, mu, strict=True):
        right["likelihood"] += int(log_likelihood_of_directions(one.unsqueeze(0), two, std).argmax() == 0)
        right["cosine"] += int(cosine_score(one.unsqueeze(0), two).argmax() == 0)
    assert right["likelihood"] > right["cosine"] + 30
