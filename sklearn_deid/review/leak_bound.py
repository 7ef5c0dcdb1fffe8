"""`LeakBound`: upper bound on the share of notes or PHI items that leak, from a random sample of notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics.intervals import ratio_variance

_MOST_CASES = 1e12


@dataclass(frozen=True)
class LeakBound:
    """Measured share of leaks, and upper bound on the true share.

    Attributes
    ----------
    n_leaks, n : int
        Leaking cases and all cases of the sample: notes, or PHI items.
    share : float
        Estimated share of leaking cases in [0, 1]; NaN without a case.
    upper : float
        Upper bound on the share: for a fraction ``confidence`` of all random samples, the bound is at least the true
        share (see the notes for an exception). 1.0 without a case.
    confidence : float in (0, 1)
        One-sided confidence level.
    n_patients : int
        Patients with a case. Notes without a patient count as patients of their own.
    n_effective : float
        Effective sample size: number of independent cases with as much information as the sample, at most ``n``.

    Notes
    -----
    Cases of one patient are not independent, and a sample may contain different proportions of each type of notes. The
    bound is therefore the one-sided Clopper-Pearson bound for the effective number of cases. This number is computed
    from the variance between patients, with Student's quantile (Korn & Graubard 1998). Without any leak, or with leaks
    only, the variance cannot be estimated. The effective number is then at most the number of patients, and smaller if
    a few patients have most cases (Kish's formula). A few leaks can give a lower bound than no leak; Kish's formula is
    then used, too. With one case for each patient and equal weights, the bound is the exact Clopper-Pearson bound. With
    other weights, the effective number is limited, so that the bound for a sample without leaks holds for any
    distribution of the leaks over the types of notes.

    If a note can have more than one case, as with PHI items, the bound is too low if leaking notes are rare and have
    more items than other notes: most samples then contain no such note, or only one. Example: 1 % of the notes leak,
    each with 100 items, other notes have 10 hidden items, and 100 notes were read. The 95 % bound on the items then
    holds for about 65 % of the samples, and the bound on the notes for more than 95 %.

    References
    ----------
    Clopper & Pearson (1934), The use of confidence or fiducial limits, Biometrika 26(4). Korn & Graubard (1998),
    Confidence intervals for proportions with small expected number of positive counts estimated from survey data,
    Survey Methodology 24.

    Examples
    --------
    >>> bound = LeakBound.from_notes([0] * 100, [1] * 100, range(100))
    >>> bound.share, round(bound.upper, 4)
    (0.0, 0.0295)
    """

    n_leaks: int
    n: int
    share: float
    upper: float
    confidence: float
    n_patients: int
    n_effective: float

    @classmethod
    def from_notes(
        cls,
        leaks: Sequence[int],
        cases: Sequence[int],
        patients: Sequence[Any],
        weights: Sequence[float] | None = None,
        confidence: float = 0.95,
    ) -> LeakBound:
        """Bound from the counts of each note that was read.

        Parameters
        ----------
        leaks, cases : sequence of int, one for each note
            Leaking cases and all cases of the note.
        patients : sequence, one for each note
            Patient of the note.
        weights : sequence of float, one for each note, optional
            Number of notes of the release that this note of the sample represents. By default equal weights.
        confidence : float in (0, 1), default=0.95
            One-sided confidence level.

        Raises
        ------
        ValueError
            If a note has more leaks than cases, a weight is not above 0, or ``confidence`` is not between 0 and 1.
        """
        hits, totals = np.asarray(leaks, dtype=float), np.asarray(cases, dtype=float)  # shape: (n_notes,)
        if not 0 < confidence < 1:
            raise ValueError(f"The 'confidence' parameter must be between 0 and 1. Got {confidence!r} instead.")
        if ((hits < 0) | (hits > totals)).any():
            raise ValueError("A note cannot have more leaks than cases.")
        weight = np.ones(len(hits)) if weights is None else np.asarray(weights, dtype=float)
        if not ((weight > 0) & np.isfinite(weight)).all():
            raise ValueError("The weight of a note must be a finite number above 0.")
        numbers = np.unique([str(patient) for patient in patients], return_inverse=True)[1]
        n_hits, n_cases = (np.bincount(numbers, weights=v * weight) for v in (hits, totals))  # shape: (n_patients,)
        counted = n_cases > 0
        n_hits, n_cases, n = n_hits[counted], n_cases[counted], int(totals.sum())
        if not n:
            return cls(0, 0, math.nan, 1.0, confidence, 0, 0.0)
        share = min(1.0, float(n_hits.sum() / n_cases.sum()))
        simple = len(n_cases) == n and bool(np.ptp(weight) == 0)
        # One case for each patient and equal weights: the cases are independent, and the exact bound needs no
        # correction.
        effective = float(n)
        if not simple:
            most = _most(weight, totals, confidence)
            effective = min(most, _effective(n_hits, n_cases, share, n, confidence))
            alone = min(most, _alone(n_cases, n))
            # One leak says nothing about the variance between patients: a leak must not give a lower bound than none.
            if upper_bound(share * effective, effective, confidence) < upper_bound(0, alone, confidence):
                effective = alone
        upper = upper_bound(share * effective, effective, confidence)
        return cls(int(hits.sum()), n, share, upper, confidence, len(n_cases), effective)

    def cases_needed(self, bound: float, *, more_leaks: bool) -> float:
        """Return the effective number of cases that a bound needs; infinity if no number up to 10^12 reaches the bound.

        Parameters
        ----------
        bound : float in (0, 1)
            Requested upper bound.
        more_leaks : bool
            Whether further cases leak at the measured share. With False, no further case leaks.
        """
        if not 0 < bound < 1:
            raise ValueError(f"The 'bound' parameter must be between 0 and 1. Got {bound!r} instead.")
        share = 0.0 if math.isnan(self.share) else self.share
        if more_leaks and share >= bound:
            return math.inf
        low, high = 0.0, 1.0
        # Doubling finds a bracket, bisection the number: the bound falls with n, but has no inverse in closed form.
        while self._upper_with(high, share, more_leaks) > bound:
            low, high = high, 2 * high
            # A weighted share can be below an equal bound by a rounding error. No number of notes tells them apart, and
            # the bisection of still larger numbers would not end.
            if high > _MOST_CASES:
                return math.inf
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if self._upper_with(middle, share, more_leaks) <= bound else (middle, high)
        return high

    def _upper_with(self, n: float, share: float, more_leaks: bool) -> float:
        # Either further notes leak at the measured rate, or none of them leaks.
        hits = share * n if more_leaks else share * self.n_effective
        return upper_bound(min(hits, n), n, self.confidence)


def upper_bound(hits: float, n: float, confidence: float) -> float:
    """Return the one-sided Clopper-Pearson bound; both counts may be fractional.

    Examples
    --------
    >>> round(upper_bound(0, 59, 0.95), 3), upper_bound(3, 3, 0.95)
    (0.05, 1.0)
    """
    from scipy.special import betaincinv

    # Less than one case is not enough for any bound.
    return 1.0 if hits >= n else float(betaincinv(hits + 1, n - hits, confidence))


def _most(weights: np.ndarray, cases: np.ndarray, confidence: float) -> float:
    """Number of cases of equal weight with the same bound for a sample without leaks as cases of these weights.

    Let ``p`` be the probability of a leak in each case. The bound is the largest weighted mean of ``p`` for which a
    sample without leaks has a probability of at least one minus the confidence. At the bound, ``1 - p = min(1, c /
    weight)``: leaks are in types of notes of which few notes were read.
    """
    weights, cases = weights[cases > 0], cases[cases > 0]
    order = np.argsort(-weights)
    weights, cases = weights[order] / weights.max(), cases[order]
    alpha = math.log1p(-confidence)
    # Shape: (n_notes,). The logarithm of the chance of no leak is a concave function of log c, with one straight piece
    # for each number of weights above c. The last piece to reach alpha gives c.
    roots = (alpha + np.cumsum(cases * np.log(weights))) / np.cumsum(cases)
    chances = np.maximum(0.0, 1 - math.exp(roots.max()) / weights)
    return alpha / math.log1p(-float((cases * weights * chances).sum() / (cases * weights).sum()))


def _effective(n_hits: np.ndarray, n_cases: np.ndarray, share: float, n: int, confidence: float) -> float:
    """Effective number of cases from the weighted counts of each patient."""
    from scipy.special import ndtri, stdtrit

    n_patients = len(n_cases)
    if share in (0.0, 1.0) or n_patients < 2:
        return _alone(n_cases, n)
    variance = ratio_variance(n_hits, n_cases, share)
    if variance == 0:
        return _alone(n_cases, n)
    # As for `Estimate.from_groups`: a variance that is estimated from few patients makes the trials fewer. At 0.5 both
    # quantiles are 0, and their ratio is smaller at higher levels.
    level = max(confidence, 0.75)
    quantiles = float(ndtri(level) / stdtrit(n_patients - 1, level))
    return min(float(n), share * (1 - share) / variance * quantiles**2)


def _alone(n_cases: np.ndarray, n: int) -> float:
    """Return Kish's effective number of patients; a patient's weight is the weighted number of the patient's cases."""
    return min(float(n), float(n_cases.sum() ** 2 / (n_cases**2).sum()))
