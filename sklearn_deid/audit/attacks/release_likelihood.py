"""How likely a release is for each candidate: Gaussian vectors, Gaussian vectors of unit length, and plain cosines.

Given its mean and standard deviations a token's vector is Gaussian before it is scaled to length 1. After that, only
its direction is left, and its density is that of a projected normal distribution.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["cosine_score", "log_likelihood_of_directions", "log_likelihood_of_vectors"]

# Noise below this share of a template's size is as good as none; dividing by it would overflow.
_SMALLEST = 1e-6


def log_likelihood_of_vectors(released: Tensor, mu: Tensor, std: Tensor) -> Tensor:
    """Log-likelihood of releases for each candidate, up to a constant, shape (C,).

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
        r releases of one sentence, not scaled to length 1.
    mu : Tensor of shape (C, time, d)
        Mean of each candidate.
    std : Tensor of shape (d,)

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.release_likelihood import log_likelihood_of_vectors
    >>> log_likelihood_of_vectors(torch.zeros(2, 1, 1), torch.tensor([[[0.0]], [[3.0]]]), torch.tensor([1.0])).tolist()
    [0.0, -9.0]
    """
    s = _usable(std, mu)
    # Sums of squares to each release and to their mean differ by the same number for all candidates.
    centre = released.double().mean(0)
    return -0.5 * len(released) * ((centre - mu.double()) / s).square().sum((1, 2)) + 0.0


def log_likelihood_of_directions(released: Tensor, mu: Tensor, std: Tensor) -> Tensor:
    """The same for releases that were scaled to length 1 (projected normal distribution).

    The length x that was divided out is integrated over: with ``a = u'Au``, ``b = u'A mu`` and ``A = diag(1/std^2)``
    the density of the direction u is proportional to ``exp((b^2/a - mu'A mu)/2)`` times the integral of
    ``x^(d-1) exp(-(x - b/sqrt(a))^2 / 2)`` over x > 0.

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
        Unit vectors.
    mu : Tensor of shape (C, time, d)
        Means before the scaling.
    std : Tensor of shape (d,)

    References
    ----------
    Wang & Gelfand (2013), Directional data analysis under the general projected normal distribution.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.release_likelihood import log_likelihood_of_directions
    >>> u, mu = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 0.0]], [[-1.0, 0.0]]])
    >>> (log_likelihood_of_directions(u, mu, torch.ones(2)).diff() < 0).item()
    True
    """
    s = _usable(std, mu)
    d = released.shape[2]
    scaled_mu, u = mu.double() / s, released.double() / s
    root_a = u.norm(dim=2).clamp_min(1e-300)
    # shape: (r, C, time)
    t = torch.einsum("rtd,ctd->rct", u, scaled_mu) / root_a.unsqueeze(1)
    exponent = 0.5 * (t.square() - scaled_mu.square().sum(2))
    return (exponent + _log_length_integral(t, d - 1)).sum((0, 2))


def cosine_score(released: Tensor, template: Tensor) -> Tensor:
    """Mean cosine over the tokens between the mean of the releases and each template, shape (C,).

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
    template : Tensor of shape (C, time, d)

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.release_likelihood import cosine_score
    >>> cosine_score(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]]])).tolist()
    [1.0, 0.0]
    """
    return F.cosine_similarity(released.double().mean(0, keepdim=True), template.double(), dim=2).mean(1)


def _log_length_integral(t: Tensor, power: int) -> Tensor:
    """Log of the integral of ``x^power exp(-(x - t)^2 / 2)`` over x > 0, by the trapezoidal rule in log x."""
    k = power + 1
    root = (t.square() + 4.0 * k).sqrt()
    # The larger root of x(x - t) = k, without cancellation: there the integrand over log x is largest.
    peak = torch.where(t > 0, 0.5 * (t + root), 2.0 * k / (root - t).clamp_min(1e-300))
    width = (peak * (2.0 * peak - t)).rsqrt()
    z = torch.linspace(-10.0, 8.0, 55, dtype=t.dtype, device=t.device)
    log_x = peak.log().unsqueeze(-1) + width.unsqueeze(-1) * z
    values = k * log_x - 0.5 * (log_x.exp() - t.unsqueeze(-1)).square()
    return values.logsumexp(-1) + width.log() + (z[1] - z[0]).log()


def _usable(std: Tensor, mu: Tensor) -> Tensor:
    largest = mu.double().abs().max() if mu.numel() else mu.new_zeros((), dtype=torch.float64)
    return std.double().clamp_min(float(largest) * _SMALLEST + 1e-12)
