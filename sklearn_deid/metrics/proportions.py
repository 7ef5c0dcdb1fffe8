"""Shares and differences with intervals, where the notes of a patient are not independent of each other."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

__all__ = ["Proportion", "clustered_share", "paired_difference"]


class Proportion(NamedTuple):
    """A figure and the ends of its interval, None where there is none."""

    value: float
    low: float | None
    high: float | None


def clustered_share(hits: np.ndarray, totals: np.ndarray, groups: np.ndarray, confidence: float = 0.95) -> Proportion:
    """Share of hits over all notes, with an interval over patients.

    The interval is Wilson's for as many independent trials as the spread between patients is worth (design effect of
    the linearised ratio, Kish 1965). That spread is itself estimated: with Student's quantile, of one degree of freedom
    less than patients, instead of the normal one the interval holds its level for a dozen patients too (Korn &
    Graubard 1998). Where all or none are hits there is no spread to estimate, and each patient counts as one trial: on
    the wide side.

    Parameters
    ----------
    hits, totals : ndarray of shape (n_notes,)
        Counts of each note.
    groups : ndarray of shape (n_notes,)
        Patient of each note.
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    Proportion
        NaN without an interval if all totals are 0; without an interval if there is one patient.

    Examples
    --------
    >>> clustered_share(np.array([9, 8]), np.array([10, 10]), np.array(["p", "q"])).value
    0.85

    References
    ----------
    Korn & Graubard (1998), Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data, Survey Methodology 24.
    """
    n_hits, n = _by_group(hits, groups), _by_group(totals, groups)
    n_hits, n = n_hits[n > 0], n[n > 0]
    total = float(n.sum())
    if not total:
        return Proportion(float("nan"), None, None)
    p = float(n_hits.sum()) / total
    if len(n) < 2:
        return Proportion(p, None, None)
    variance = len(n) / (len(n) - 1) * float(((n_hits - p * n) ** 2).sum()) / total**2
    if variance > 0 and 0 < p < 1:
        trials, z = min(total, p * (1 - p) / variance), student.ppf(0.5 + confidence / 2, len(n) - 1)
    else:
        trials, z = min(total, float(len(n))), norm.ppf(0.5 + confidence / 2)
    return Proportion(p, *_wilson(p, trials, float(z)))


def paired_difference(
    values: np.ndarray, reference: np.ndarray, groups: np.ndarray, confidence: float = 0.95
) -> Proportion:
    """Mean difference of the notes' values, with Student's interval over patients.

    Parameters
    ----------
    values, reference : ndarray of shape (n_notes,)
    groups : ndarray of shape (n_notes,)
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    Proportion
        Without an interval if there is one patient.

    Examples
    --------
    >>> paired_difference(np.array([1, 0]), np.array([1, 1]), np.array(["p", "q"])).value
    -0.5
    """
    difference = np.asarray(values, dtype=float) - np.asarray(reference, dtype=float)
    mean = float(difference.mean())
    sums = _by_group(difference - mean, groups)
    if len(sums) < 2:
        return Proportion(mean, None, None)
    error = sqrt(len(sums) / (len(sums) - 1) * float((sums**2).sum())) / len(difference)
    half = float(student.ppf(0.5 + confidence / 2, len(sums) - 1)) * error
    return Proportion(mean, mean - half, mean + half)


def _by_group(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    _, number = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    return np.bincount(number, weights=np.asarray(values, dtype=float))


def _wilson(p: float, n: float, z: float) -> tuple[float, float]:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)
