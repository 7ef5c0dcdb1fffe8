"""A measured figure with its interval: `Estimate`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .intervals import mean_interval, normal_quantile, wilson_interval


@dataclass(frozen=True)
class Estimate:
    """A figure and its confidence interval.

    Attributes
    ----------
    value : float
        NaN for a share of nothing.
    low, high : float, default=NaN
        Ends of the interval; both NaN where the data give none, as those of a single patient.
    n : int, default=0
        Trials that the figure was measured on; 0 for a figure that is known and not measured.
    confidence : float in (0, 1), default=0.95
        Of the interval.
    n_groups : int or None, default=None
        Patients, or other groups of dependent trials; None for independent trials.

    Raises
    ------
    ValueError
        If the value is not in the interval, or an attribute is out of range.

    Examples
    --------
    >>> from sklearn_deid.metrics import Estimate
    >>> found = Estimate.from_hits([True] * 62 + [False] * 38)
    >>> found.value, round(found.low, 3), round(found.high, 3), found.covers(0.5)
    (0.62, 0.522, 0.709, False)
    >>> Estimate.exact(0.5)
    Estimate(value=0.5, low=0.5, high=0.5, n=0, confidence=0.95, n_groups=None)
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    confidence: float = 0.95
    n_groups: int | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            if math.isnan(getattr(self, name)):
                object.__setattr__(self, name, math.nan)  # one object: estimates without an interval compare equal
        if not (self.low is self.high is math.nan or self.low <= self.value <= self.high):
            raise ValueError(f"An estimate lies within its interval. Got {self.value} in [{self.low}, {self.high}].")
        if not 0.0 < self.confidence < 1.0 or self.n < 0:
            raise ValueError(f"'confidence' must be in (0, 1), 'n' not negative. Got {self.confidence}, {self.n}.")

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A figure that is known, such as one half for a guess between two."""
        return cls(float(value), float(value), float(value), 0)

    @classmethod
    def from_counts(cls, n_right: float, n: int, confidence: float = 0.95) -> Estimate:
        """Share of ``n`` independent trials, with Wilson's interval; ties may count as fractions."""
        if not 0 <= n_right <= n or n < 1:
            raise ValueError(f"Of {n} trials {n_right} cannot have succeeded.")
        share = n_right / n
        low, high = wilson_interval(share, n, normal_quantile(confidence))
        return cls(share, float(low), float(high), int(n), confidence)

    @classmethod
    def from_hits(cls, hits: Any, groups: Any = None, confidence: float = 0.95) -> Estimate:
        """Share of trials that succeeded: Wilson's interval, over groups where they are given.

        Parameters
        ----------
        hits : array-like of shape (n,)
            Booleans, or numbers in [0, 1] (one half for a tie of two); at least one.
        groups : array-like of shape (n,), optional
            Trials of one group are not independent: the patient, or the sentence that several trials are about. The
            interval is that of `from_groups`; with one group it is [0, 1].
        confidence : float in (0, 1), default=0.95

        Raises
        ------
        ValueError
            If there is no trial, a number is not in [0, 1], or groups do not match.
        """
        hits = np.asarray(hits, dtype=float)
        numbers = np.arange(len(hits)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if hits.ndim != 1 or not len(hits) or not ((hits >= 0.0) & (hits <= 1.0)).all():
            raise ValueError("'hits' must hold at least one number, all from 0 to 1.")
        if numbers.shape != hits.shape:
            raise ValueError(f"'groups' must hold one group for each of {len(hits)} trials.")
        if groups is None:
            return cls.from_counts(float(hits.sum()), len(hits), confidence)
        found = cls.from_groups(hits, np.ones(len(hits)), numbers, confidence)
        return found if found.has_interval else cls(found.value, 0.0, 1.0, found.n, confidence, found.n_groups)

    @classmethod
    def from_groups(
        cls, hits: np.ndarray, totals: np.ndarray, groups: np.ndarray, confidence: float = 0.95
    ) -> Estimate:
        """Share of hits over all notes, with an interval over patients.

        The interval is Wilson's for as many independent trials as the spread between patients is worth (design effect
        of the linearised ratio, Kish 1965), and never narrower than for independent trials. The spread is itself
        estimated: with Student's quantile, of one degree of freedom less than patients, instead of the normal one the
        interval holds its level for a dozen patients too (Korn & Graubard 1998). Where all or none are hits there is no
        spread to estimate, and each patient counts as one trial: on the wide side.

        Parameters
        ----------
        hits, totals : ndarray of shape (n_notes,)
            Counts of each note.
        groups : ndarray of shape (n_notes,)
            Patient of each note.
        confidence : float in (0, 1), default=0.95

        Returns
        -------
        Estimate
            NaN if all totals are 0; without an interval if there is one patient. ``n`` is the sum of the totals,
            ``n_groups`` the number of patients with a total above 0.

        Examples
        --------
        >>> Estimate.from_groups(np.array([9, 8]), np.array([10, 10]), np.array(["p", "q"])).value
        0.85

        References
        ----------
        Korn & Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data, Survey Methodology 24.
        """
        from scipy.stats import t as student

        n_hits, n = _sums(hits, groups), _sums(totals, groups)
        n_hits, n = n_hits[n > 0], n[n > 0]
        total = float(n.sum())
        share = float(n_hits.sum()) / total if total else math.nan
        if len(n) < 2:
            return cls(share, n=int(total), confidence=confidence, n_groups=len(n))
        variance = len(n) / (len(n) - 1) * float(((n_hits - share * n) ** 2).sum()) / total**2
        if variance > 0 and 0 < share < 1:
            trials = min(total, share * (1 - share) / variance)
            z = float(student.ppf(0.5 + confidence / 2, len(n) - 1))
        else:
            trials, z = min(total, float(len(n))), normal_quantile(confidence)
        low, high = wilson_interval(share, trials, z)
        return cls(share, float(low), float(high), int(total), confidence, len(n))

    @classmethod
    def from_differences(cls, differences: np.ndarray, groups: np.ndarray, confidence: float = 0.95) -> Estimate:
        """Mean of the differences of notes, with Student's interval over patients.

        Parameters
        ----------
        differences : ndarray of shape (n_notes,)
        groups : ndarray of shape (n_notes,)
            Patient of each note.
        confidence : float in (0, 1), default=0.95

        Returns
        -------
        Estimate
            Without an interval if there is one patient.

        Examples
        --------
        >>> Estimate.from_differences(np.array([0.0, -1.0]), np.array(["p", "q"])).value
        -0.5
        """
        from scipy.stats import t as student

        values = np.asarray(differences, dtype=float)
        mean = float(values.mean())
        sums = _sums(values - mean, groups)
        if len(sums) < 2:
            return cls(mean, n=len(values), confidence=confidence, n_groups=len(sums))
        error = math.sqrt(len(sums) / (len(sums) - 1) * float((sums**2).sum())) / len(values)
        half = float(student.ppf(0.5 + confidence / 2, len(sums) - 1)) * error
        return cls(mean, mean - half, mean + half, len(values), confidence, len(sums))

    @classmethod
    def from_repeats(cls, values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> Estimate:
        """Mean of independent repetitions, with Student's interval; without an interval for one repetition.

        Examples
        --------
        >>> found = Estimate.from_repeats([0.5, 0.6, 0.7])
        >>> round(found.value, 3), round(found.low, 3), found.n
        (0.6, 0.352, 3)
        """
        low, high = mean_interval(values, confidence)
        return cls(float(np.mean(values)), low, high, len(values), confidence)

    @property
    def has_interval(self) -> bool:
        """Whether the data gave an interval."""
        return not math.isnan(self.low)

    def covers(self, value: float) -> bool:
        """Whether a value lies in the interval; False without an interval."""
        return self.low <= value <= self.high

    def within(self, least: float, most: float) -> Estimate:
        """The same figure, with the interval cut at the ends of what is possible."""
        low, high = (max(least, self.low), min(most, self.high)) if self.has_interval else (math.nan, math.nan)
        return Estimate(self.value, low, high, self.n, self.confidence, self.n_groups)

    def to_dict(self) -> dict[str, Any]:
        """Attributes by name, for JSON: None instead of NaN, which JSON does not have."""
        plain = asdict(self)
        return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in plain.items()}


def _sums(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sum of the values of each group."""
    _, number = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    return np.bincount(number, weights=np.asarray(values, dtype=float))
