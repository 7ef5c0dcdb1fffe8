"""Tests of noise that is taken again from a short pool of numbers, or from another dimension of a token far away."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from .noise_checks import Check

_FAULT = "Numbers of the noise are repeated: the noise of numbers {} apart is not independent."
# Numbers that are compared, and numbers that a sum over one distance has at least.
_MOST, _FEWEST = 2**20, 64


def repeated_numbers(z: np.ndarray) -> Check:
    """Test of the correlation between all numbers of the noise at each distance, token by token and without a border
    between tokens.

    A program that fills the noise of a release from a pool of numbers starts again in the middle of a token. The tokens
    then share no vector of noise, and no dimension repeats another dimension of a near token.

    Parameters
    ----------
    z : ndarray of shape (n_tokens, d)
        Residuals in the order of the release; standard normal if the noise is as stated.

    Notes
    -----
    A number of the noise is independent of all numbers before it. Given these, its product with an earlier number is
    Gaussian, with the square of the earlier number as its variance. The sum of the products at one distance is
    therefore compared with a Gaussian number whose variance is the sum of these squares. The probability is multiplied
    by the number of distances (Bonferroni).

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).standard_normal((400, 5))
    >>> repeated_numbers(z).p > 1e-3
    True
    >>> repeated_numbers(np.resize(z.reshape(-1)[:701], (400, 5))).fault
    'Numbers of the noise are repeated: the noise of numbers 701 apart is not independent.'
    """
    flat = z.reshape(-1)[:_MOST]
    scores = _scores(flat, flat)[1:]
    far = int(scores.argmax()) if len(scores) else 0
    return Check("repeated numbers", _p_of_scores(scores), _FAULT.format(far + 1))


def p_of_repeated_numbers(one: np.ndarray, other: np.ndarray) -> float:
    """Upper bound of the probability that numbers of one release agree with numbers of another release as observed, at
    any distance.

    Parameters
    ----------
    one, other : ndarray of equal shapes (n_tokens, d)
        Residuals of two releases of the same sentences.

    Examples
    --------
    >>> import numpy as np
    >>> pool = np.random.default_rng(0).standard_normal(4000)
    >>> one, other, anew = pool[:2000].reshape(400, 5), pool[703:2703].reshape(400, 5), pool[2000:].reshape(400, 5)
    >>> p_of_repeated_numbers(one, other) < 1e-12, p_of_repeated_numbers(one, anew) > 1e-3
    (True, True)
    """
    first, second = (values.reshape(-1)[:_MOST] for values in (one, other))
    return _p_of_scores(np.concatenate([_scores(first, second), _scores(second, first)[1:]]))


def _scores(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Standardised sums of products of ``first`` and later numbers of ``second``, for the distances 0, 1, 2, ..."""
    n = len(first)
    if n <= _FEWEST:
        return np.zeros(0)
    # Padded, so that the end of the release does not meet its beginning.
    size = next_fast_len(2 * n, real=True)
    sums = irfft(np.conj(rfft(first, size)) * rfft(second, size), size)[: n - _FEWEST + 1]
    variances = np.cumsum(np.square(first))[: _FEWEST - 2 : -1]
    # Rounding errors of the sums are no correlation, even if most numbers are 0.
    return np.abs(sums) / np.sqrt(np.maximum(variances, 1.0))


def _p_of_scores(scores: np.ndarray) -> float:
    return float(min(1.0, 2.0 * max(1, len(scores)) * ndtr(-scores.max(initial=0.0))))
