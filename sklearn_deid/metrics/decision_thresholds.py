"""Where to put the threshold of a tagger: a target recall, or a bound on the share of patients with a miss."""

from __future__ import annotations

import math
from math import ceil, floor

import numpy as np
from scipy.stats import norm

from .estimate import Estimate
from .intervals import wilson_interval


def recall_threshold(scores: np.ndarray, patients: np.ndarray, target: float, confidence: float | None = 0.95) -> float:
    """Highest threshold at which the recall on other patients reaches a target.

    An item (a gold token or span) is found if its score is not below the threshold. The recall at a threshold is the
    share of items found; its lower bound is Wilson's, one-sided, for as many independent items as the spread between
    patients is worth (design effect of the linearised ratio, Kish 1965). Where so few items are missed that no spread
    can be seen, the design effect is the largest one at the thresholds above, up to 0.5. The bound rises as the
    threshold falls, so that the highest threshold whose bound reaches the target controls the recall with the
    confidence asked for (Bates et al. 2021, section 2, with this asymptotic bound in the place of an exact one).

    Parameters
    ----------
    scores : ndarray of shape (n_items,)
        Probability of PHI at each gold item of held-out patients.
    patients : ndarray of shape (n_items,)
        Patient of each item.
    target : float in (0, 1)
        Recall to reach.
    confidence : float in (0.5, 1) or None, default=0.95
        Probability, over the draw of the held-out patients, that the recall is reached. None takes the recall on the
        held-out patients as it is, without a margin.

    Returns
    -------
    float
        One of the scores.

    Raises
    ------
    ValueError
        If there is no item, or there are too few for the confidence even if none of them is missed.

    References
    ----------
    Bates, Angelopoulos, Lei, Malik & Jordan (2021), Distribution-free, risk-controlling prediction sets, J. ACM.

    Examples
    --------
    >>> recall_threshold(np.array([0.9, 0.8, 0.2, 0.7]), np.array(["p", "p", "q", "q"]), 0.75, confidence=None)
    0.7
    """
    ordered, patient = _ascending(scores, patients)
    n = len(ordered)
    if not n:
        raise ValueError("The held-out patients have no PHI: no recall can be measured on them.")
    if confidence is None:
        return float(ordered[_allowed(1 - target, n)])
    low = _lower_bounds(ordered, patient, target, float(norm.ppf(confidence)))
    reached = np.flatnonzero(low >= target)
    if not len(reached):
        raise ValueError(
            f"A recall of {target:g} cannot be shown with confidence {confidence:g} on {len(np.unique(patient))} "
            f"held-out patients with {n} items of PHI: {low[0]:.4f} could be, if not one item were missed. Hold out "
            "more patients, or lower the target or the confidence."
        )
    return float(ordered[reached[-1]])


def missed_patient_threshold(scores: np.ndarray, max_share: float) -> float:
    """Threshold that bounds the share of patients of whom something is missed.

    Conformal risk control (Angelopoulos et al. 2022, theorem 1) with the loss "1 if any item of the patient is below
    the threshold": the highest threshold at which ``(n_missed + 1) / (n_patients + 1) <= max_share``. If the held-out
    patients and a new one are exchangeable, the probability that something of the new one is missed is at most
    ``max_share``: exactly, for any n and any tagger, taken over the draw of held-out patients and new patient together.

    Parameters
    ----------
    scores : ndarray of shape (n_patients,)
        Of each held-out patient, the smallest probability of PHI at an item of theirs; infinity without any.
    max_share : float in (0, 1)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are too few patients: fewer than ``1 / max_share - 1``.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei & Schuster (2022), Conformal risk control, arXiv:2208.02814.

    Examples
    --------
    >>> missed_patient_threshold(np.array([0.9, 0.2, 0.5, 0.8]), 0.4)
    0.5
    """
    n = len(scores)
    allowed = _allowed(max_share, n + 1) - 1
    if allowed < 0:
        raise ValueError(
            f"A share of {max_share:g} of patients with a miss cannot be guaranteed with {n} held-out patients: at "
            f"least {_patients_needed(max_share)} are needed. Hold out more patients, or allow a larger share."
        )
    return float(np.sort(np.asarray(scores, dtype=float))[min(allowed, n - 1)])


def bootstrap_ratio(
    hits: np.ndarray, totals: np.ndarray, confidence: float = 0.95, n_draws: int = 2000, seed: int = 0
) -> Estimate:
    """Ratio of two sums over patients, with a percentile interval of a bootstrap over patients.

    Parameters
    ----------
    hits, totals : ndarray of shape (n_patients,)
    confidence : float in (0, 1), default=0.95
    n_draws : int, default=2000
    seed : int, default=0
        Of the draws; equal figures give equal intervals.

    Returns
    -------
    Estimate
        NaN without an interval if all totals are 0; without an interval if there is one patient.

    Examples
    --------
    >>> found = bootstrap_ratio(np.array([9.0, 9.0, 9.0]), np.array([10.0, 10.0, 10.0]))
    >>> found.value, found.low, found.high
    (0.9, 0.9, 0.9)
    """
    hits, totals = np.asarray(hits, dtype=float), np.asarray(totals, dtype=float)
    hits, totals = hits[totals > 0], totals[totals > 0]
    n = len(totals)
    value, total = float(hits.sum() / totals.sum()) if n else math.nan, int(totals.sum())
    if n < 2:
        return Estimate(value, n=total, confidence=confidence, n_groups=n)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=n_draws)
    ratios = (draws @ hits) / (draws @ totals)
    low, high = np.quantile(ratios, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Estimate(value, min(float(low), value), max(float(high), value), total, confidence, n)


def _ascending(scores: np.ndarray, patients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores from the lowest, and the number of the patient of each."""
    scores = np.asarray(scores, dtype=float)
    order = np.argsort(scores, kind="stable")
    _, number = np.unique(np.asarray(patients, dtype=str), return_inverse=True)
    return scores[order], number[order]


def _lower_bounds(scores: np.ndarray, patient: np.ndarray, target: float, z: float) -> np.ndarray:
    """Lower bound of the recall if the k lowest items are missed, for k = 0, ..., shape (n_missed + 1,)."""
    n = len(scores)
    # beyond the tagger's own decision and twice the misses allowed nothing is looked for
    most = min(n - 1, max(int((scores < 0.5).sum()), 2 * _allowed(1 - target, n), 1))
    effect = _design_effects(patient)[: most + 1]
    effect = np.maximum.accumulate(effect[::-1])[::-1]
    k = np.arange(most + 1)
    trials = np.minimum(n, n / effect)
    p = 1 - k / n
    # a bound that fails at fewer misses fails at more
    return np.minimum.accumulate(wilson_interval(p, trials, z)[0])


def _design_effects(patient: np.ndarray) -> np.ndarray:
    """Variance of the share of the k lowest items, over that of independent items, for k = 0, ..., n - 1."""
    n, size = len(patient), np.bincount(patient)
    n_patients = len(size)
    if n_patients < 2:
        return np.full(n, float(n))
    before = _number_within(patient)
    # sums over patients of m^2 and m * n after each further miss, m being the misses of the patient
    squares = np.concatenate(([0.0], np.cumsum(2.0 * before + 1)[:-1]))
    products = np.concatenate(([0.0], np.cumsum(size[patient].astype(float))[:-1]))
    share = np.arange(n) / n
    spread = squares - 2 * share * products + share**2 * float((size.astype(float) ** 2).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = n_patients / (n_patients - 1) * spread / (n * share * (1 - share))
    return np.where(share > 0, effect, 1.0)


def _number_within(patient: np.ndarray) -> np.ndarray:
    """How many items of the same patient come before each item."""
    order = np.argsort(patient, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(patient))[:-1]))
    out = np.empty(len(patient), dtype=np.int64)
    out[order] = np.arange(len(patient)) - starts[patient[order]]
    return out


def _allowed(share: float, n: int) -> int:
    # 0.05 * 20 and (1 - 0.99) * 100 must not fall short of a whole number by rounding
    return min(n - 1, floor(share * n + 1e-9))


def _patients_needed(share: float) -> int:
    return max(1, ceil(1 / share - 1 - 1e-9))
