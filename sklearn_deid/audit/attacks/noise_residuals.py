"""Residuals of released vectors against their noise-free template: standard normal if the noise is as stated.

Without scaling, the residual is ``z = (r - mu) / sigma``. Scaling to length 1 hides the length of a noisy vector, so
that the residual cannot be computed directly. Divide by the standard deviations first: ``y = (mu + sigma eps) / sigma``
is Gaussian with mean ``m = mu / sigma`` and unit covariance. The direction v of y is known, because ``r / sigma`` has
the same direction. Given v, the length R of y has the density

    p(R | v)  proportional to  R^(d-1) exp(-(R - v'm)^2 / 2),   R > 0,

since ``|R v - m|^2 = (R - v'm)^2 + |m|^2 - (v'm)^2``. If R is drawn from this distribution, the vector ``R v`` has
exactly the distribution of y. The residual ``z = R v - m`` is therefore standard normal in all d dimensions,
independently for each token. If the noise is not as stated, z is not standard normal: the audit draws only one of d
dimensions, and the other d - 1 dimensions come from the release.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from ..._randomness import FINEST_STEP, to_grid
from .noise_template import NoiseTemplate

_STEPS, _REACH, _CHUNK = 240, 9.0, 4096
# With this number of steps, the integral is exact to many digits if the density is flat enough at length 0.
_FEW_STEPS, _FLAT_D = 60, 5
_KNOTS = 2048
# Sizes of the noise, relative to the stated size, among which the most likely size is searched.
_SIZES = np.geomspace(0.02, 4.0, 64)


def standardised(vectors: np.ndarray, template: NoiseTemplate, rng: np.random.Generator) -> np.ndarray:
    """Residuals of shape (n_tokens, d), standard normal if the noise is as stated.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns.
    template : NoiseTemplate
        Noise-free vectors and stated noise of the same tokens; all standard deviations positive.
    rng : numpy Generator
        Generator for drawing the lengths that the scaling to length 1 has hidden.

    Raises
    ------
    ValueError
        If a released number is infinite or not a number (NaN).

    Examples
    --------
    >>> import numpy as np
    >>> template = NoiseTemplate(np.zeros((1, 2)), np.array([1.0, 2.0]), False, 2.0**-5, False)
    >>> standardised(np.array([[1.0, 1.0]]), template, np.random.default_rng(0)).tolist()
    [[1.0, 0.5]]
    """
    if not np.isfinite(vectors).all():
        raise ValueError("The released vectors must be finite numbers.")
    m, r = template.mean / template.std, np.asarray(vectors, dtype=np.float64) / template.std
    if not template.unit_norm:
        return r - m
    v = r / np.maximum(np.linalg.norm(r, axis=1, keepdims=True), 1e-300)
    along = np.einsum("ij,ij->i", v, m)
    return v * _drawn_lengths(along, m.shape[1], rng)[:, None] - m


def released_with(template: NoiseTemplate, eps: np.ndarray) -> np.ndarray:
    """Vectors as released with the given standard normal noise, shape (n_tokens, d)."""
    noisy = np.rint((template.mean + template.std * eps) / template.grid) * template.grid
    if not template.unit_norm:
        return noisy
    length = np.linalg.norm(noisy, axis=1, keepdims=True)
    return to_grid(noisy / np.where(length > 0.0, length, 1.0), FINEST_STEP)


def noise_size(vectors: np.ndarray, template: NoiseTemplate) -> float:
    """Maximum-likelihood size of the noise relative to the stated size; near 0 if the vectors equal the template.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns.
    template : NoiseTemplate
        Noise-free vectors and stated noise of the same tokens.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> template = NoiseTemplate(rng.normal(size=(500, 8)) * 3, np.ones(8), True, 2.0**-5, False)
    >>> 0.45 < noise_size(released_with(template, 0.5 * rng.normal(size=(500, 8))), template) < 0.55
    True
    """
    m, r = template.mean / template.std, np.asarray(vectors, dtype=np.float64) / template.std
    if not template.unit_norm:
        return float(np.sqrt(np.mean((r - m) ** 2)))
    some = slice(None, None, max(1, len(m) // 512))
    m, r = m[some], r[some]
    v = r / np.maximum(np.linalg.norm(r, axis=1, keepdims=True), 1e-300)
    along, square, d = np.einsum("ij,ij->i", v, m), np.square(m).sum(axis=1), m.shape[1]

    if not (len(along) and np.isfinite(along).all() and np.isfinite(square).all()):
        return 1.0
    # Noise of size c is noise of the stated size around a mean that is smaller by c. The integral is one function of
    # ``along / c`` for all tokens and sizes, and is interpolated with an error below 1e-4. Half of the square is added
    # before the interpolation for negative arguments, and after it for positive ones: the interpolated values stay
    # small. In large values, which vectors far above the noise would have, the differences between sizes are lost.
    scaled = np.arcsinh(along / _SIZES[:, None])
    knots = np.linspace(scaled.min() - 0.01, scaled.max() + 0.01, _KNOTS)
    at = np.sinh(knots)
    lengths = _log_lengths(at, d, _STEPS if d < _FLAT_D else _FEW_STEPS)[2] + np.minimum(at, 0.0) ** 2 / 2.0
    squares = (np.maximum(along, 0.0) ** 2 - square) / (2.0 * _SIZES[:, None] ** 2)
    found = (CubicSpline(knots, lengths)(scaled) + squares).sum(axis=1)
    # Directions around a mean of 0 are uniform for every size of the noise, so that there is no evidence against the
    # stated size.
    if not found.max() - found.min() > 1.0:
        return 1.0
    return float(_SIZES[int(np.argmax(found))])


def _log_lengths(along: np.ndarray, d: int, n_steps: int = _STEPS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid of lengths around the mode for each token, log densities, and the logarithm of their integral."""
    mode = (along + np.sqrt(along**2 + 4.0 * (d - 1))) / 2.0
    mode = np.maximum(mode, 1e-6)
    # The curvature of the log density at the mode; it is at least 1, so that 9 widths hold all but 1e-18.
    width = 1.0 / np.sqrt(1.0 + (d - 1) / mode**2)
    # shape: (n_tokens, n_steps), cell by cell
    at = width[:, None] * np.linspace(-_REACH, _REACH, n_steps)
    at += mode[:, None]
    outside = at <= 0.0
    is_cut = bool(outside.any())
    if is_cut:
        at[outside] = 1.0
    log, rest = np.log(at), at - along[:, None]
    log *= d - 1
    np.square(rest, out=rest)
    rest /= 2.0
    log -= rest
    if is_cut:
        log[outside] = -np.inf
    top = log.max(axis=1, keepdims=True)
    log -= top
    step = width * 2.0 * _REACH / (n_steps - 1)
    total = top[:, 0] + np.log(np.exp(log, out=rest).sum(axis=1) * step)
    return at, log, total


def _drawn_lengths(along: np.ndarray, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw each hidden length from its distribution, by the inverse of the distribution function on the grid."""
    out = np.empty(len(along))
    for start in range(0, len(along), _CHUNK):
        rows = slice(start, start + _CHUNK)
        at, log, _ = _log_lengths(along[rows], d)
        total = np.cumsum(np.exp(log), axis=1)
        target = rng.random(len(at)) * total[:, -1]
        cell = np.minimum((total < target[:, None]).sum(axis=1), _STEPS - 1)
        step = at[:, -1] - at[:, -2]
        # Uniform within the cell, whose middle is the grid point.
        out[rows] = at[np.arange(len(at)), cell] + (rng.random(len(at)) - 0.5) * step
    return np.maximum(out, 0.0)
