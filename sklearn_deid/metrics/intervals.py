"""Formulas of the confidence intervals. All other modules use the intervals of this module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np


@lru_cache(maxsize=1024)
def normal_quantile(confidence: float) -> float:
    """Quantile of the standard normal distribution for a two-sided interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from scipy.stats import norm

    return float(norm.ppf(0.5 + confidence / 2))


@lru_cache(maxsize=1024)
def student_quantile(confidence: float, degrees: int) -> float:
    """Quantile of Student's distribution for a two-sided interval.

    Examples
    --------
    >>> round(student_quantile(0.95, 11), 4)
    2.201
    """
    from scipy.stats import t as student

    return float(student.ppf(0.5 + confidence / 2, degrees))


def wilson_interval(share: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Wilson's score interval of a proportion, within [0, 1].

    Parameters
    ----------
    share : float or ndarray
        Observed proportion in [0, 1].
    n : float or ndarray
        Number of trials, above 0. An effective number of trials may be fractional.
    z : float
        Quantile of the normal distribution, or of Student's distribution if the number of trials is estimated.

    Returns
    -------
    low, high : float or ndarray
        Ends of the interval, with ``low <= share <= high`` despite rounding errors.

    Notes
    -----
    `scipy.stats.binomtest` computes the same interval, but only for integer counts and the normal quantile. For integer
    counts and the normal quantile, the two functions agree to 1e-12.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22(158).

    Examples
    --------
    >>> low, high = wilson_interval(0.62, 100, normal_quantile(0.95))
    >>> round(float(low), 3), round(float(high), 3)
    (0.522, 0.709)
    """
    # Solution of (p - share)^2 = z^2 p (1 - p) / n for p: the center of the interval, and half of its width.
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The exact formula stays within [0, 1] and encloses the proportion; both are restored after rounding errors.
    low, high = np.maximum(0.0, center - half), np.minimum(1.0, center + half)
    return np.minimum(low, share), np.maximum(high, share)


def ratio_variance(hits: np.ndarray, totals: np.ndarray, share: float) -> float:
    """Variance of a proportion between patients, by linearisation of the ratio (Kish 1965).

    The variance is exactly 0 if all patients have the same proportion: callers then count patients instead of trials,
    and a rounding error must not decide between the two.

    Parameters
    ----------
    hits, totals : ndarray of shape (n_patients,)
        Sums for each patient; at least two patients.
    share : float
        Sum of the hits divided by the sum of the totals.

    Examples
    --------
    >>> ratio_variance(np.array([1.0, 3.0]), np.array([4.0, 4.0]), 0.5)
    0.0625
    """
    # First-order expansion of a ratio of two sums: the residual of a patient is hits - share * totals.
    n, expected = len(totals), share * totals
    residuals = np.where(np.isclose(hits, expected, rtol=1e-12, atol=0.0), 0.0, hits - expected)
    return n / (n - 1) * float((residuals**2).sum()) / float(totals.sum()) ** 2


def exact_interval(n_hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Clopper-Pearson interval of a proportion; its coverage is at least ``confidence`` for every true proportion.

    Parameters
    ----------
    n_hits, n : int
        Numbers of successes and of independent trials.
    confidence : float in (0, 1)
        Confidence level of the interval.

    References
    ----------
    Clopper & Pearson (1934), The use of confidence or fiducial limits, Biometrika 26(4).

    Examples
    --------
    >>> low, high = exact_interval(0, 10, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.308)
    """
    from scipy.stats import binomtest

    found = binomtest(n_hits, n).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def mean_interval(values: Sequence[float] | np.ndarray, confidence: float) -> tuple[float, float]:
    """Student's interval of the mean of independent values; NaN for fewer than two values.

    Examples
    --------
    >>> low, high = mean_interval([1.0, 2.0, 3.0], 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return float("nan"), float("nan")
    half = student_quantile(confidence, n - 1) * float(np.std(values, ddof=1)) / sqrt(n)
    return mean - half, mean + half
