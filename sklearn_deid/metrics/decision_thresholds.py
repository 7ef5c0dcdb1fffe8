"""Thresholds for a tagger: reach a target recall, or bound the proportion of patients with missed PHI."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from scipy.stats import norm

from ..exceptions import TargetError
from .intervals import wilson_interval


def recall_threshold(scores: np.ndarray, patients: np.ndarray, target: float, confidence: float | None = 0.95) -> float:
    """Highest threshold at which the recall on new patients reaches a target.

    An item is a gold token or a gold span. The threshold finds an item if the score of the item is not below the
    threshold. The recall is the proportion of items found. The function computes a one-sided lower Wilson bound of the
    recall. The bound uses an effective number of independent items that follows from the variance between patients
    (design effect of the linearised ratio, Kish 1965). A threshold with very few missed items has no measurable
    variance. For a threshold without a measurable variance, the function takes the largest design effect of all higher
    thresholds up to 0.5. The lower bound rises as the threshold falls. The highest threshold whose bound reaches the
    target therefore controls the recall with the requested confidence (Bates et al. 2021, section 2, with this
    asymptotic bound instead of an exact bound).

    Parameters
    ----------
    scores : ndarray of shape (n_items,)
        Probability of PHI at each gold item of held-out patients.
    patients : ndarray of shape (n_items,)
        Patient of each item.
    target : float in (0, 1)
        Recall to reach.
    confidence : float in (0.5, 1) or None, default=0.95
        Probability, over the draw of the held-out patients, that the target recall is reached. None uses the recall on
        the held-out patients without a safety margin.

    Returns
    -------
    float
        Threshold. The threshold is always one of the scores.

    Raises
    ------
    TargetError
        If there is no item, or if there are too few items to prove the target even without a missed item.

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
    if confidence is None:
        # With k = allowed misses, the k lowest scores may lie below the threshold.
        return float(ordered[_allowed(1 - target, n)])
    low = _lower_bounds(ordered, patient, target, float(norm.ppf(confidence)))
    # The bound never rises with the number of misses, so that the last position is the highest threshold.
    reached = np.flatnonzero(low >= target)
    if not len(reached):
        raise TargetError(
            f"A recall of {target:g} cannot be shown with confidence {confidence:g} on {len(np.unique(patient))} "
            f"held-out patients with {n} items of PHI: without any missed item the bound is "
            f"{floor(1e4 * low[0]) / 1e4:.4f}. Hold out more patients, or lower the target or the confidence."
        )
    return float(ordered[reached[-1]])


def reachable_recall(n_items: int, confidence: float = 0.95) -> float:
    """Highest recall that held-out items can prove: the lower bound if no item is missed. You can compute this recall
    before any training.

    Items of one patient depend on each other, so that the largest target that `recall_threshold` accepts is often
    lower.

    Parameters
    ----------
    n_items : int
        Number of gold tokens or spans of all held-out patients.
    confidence : float in (0.5, 1), default=0.95
        Confidence level of the one-sided lower bound.

    Returns
    -------
    float
        Recall; 0 without items.

    Examples
    --------
    >>> [round(reachable_recall(n), 3) for n in (0, 27, 267)]
    [0.0, 0.909, 0.99]
    """
    z = float(norm.ppf(confidence))
    return n_items / (n_items + z * z)


def recall_lower_bounds(
    scores: np.ndarray, patients: np.ndarray, thresholds: np.ndarray, confidence: float = 0.95
) -> np.ndarray:
    """Lower confidence bound of the recall at each threshold, as in `recall_threshold`.

    Parameters
    ----------
    scores : ndarray of shape (n_items,)
        Probability of PHI at each gold item of held-out patients.
    patients : ndarray of shape (n_items,)
        Patient of each item.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds of at most 0.5.
    confidence : float in (0.5, 1), default=0.95
        Confidence level of the one-sided lower bound.

    Returns
    -------
    ndarray of shape (n_thresholds,)
        Lower bounds.

    Raises
    ------
    ValueError
        If there is no item, or a threshold is above 0.5.

    Examples
    --------
    >>> scores, patients = np.array([0.9, 0.8, 0.2, 0.7]), np.array(["p", "q", "r", "s"])
    >>> recall_lower_bounds(scores, patients, np.array([0.5, 0.1])).round(2)
    array([0.31, 0.53])
    """
    ordered, patient = _ascending(scores, patients)
    thresholds = np.asarray(thresholds, dtype=float)
    if (thresholds > 0.5).any():
        raise ValueError("Thresholds must be at most 0.5.")
    missed = np.searchsorted(ordered, thresholds, side="left")
    z = float(norm.ppf(confidence))
    return np.array([_largest_target(ordered, patient, int(k), z) for k in missed])


def _largest_target(ordered: np.ndarray, patient: np.ndarray, missed: int, z: float) -> float:
    """Largest target that `recall_threshold` accepts with this number of missed items."""
    target = 1.0
    # The bound of a lower target uses more misses for its design effect, and is never higher: the sequence falls.
    for _ in range(20):
        low = _lower_bounds(ordered, patient, target, z)
        bound = float(low[missed]) if missed < len(low) else 0.0
        if bound >= target:
            return target
        target = bound
    return 0.0


def missed_patient_threshold(scores: np.ndarray, max_share: float) -> float:
    """Threshold that bounds the proportion of patients with missed PHI.

    The function applies conformal risk control (Angelopoulos et al. 2022, theorem 1). The loss of a patient is 1 if any
    item of the patient is below the threshold, and 0 otherwise. The result is the highest threshold at which
    ``(n_missed + 1) / (n_patients + 1) <= max_share``. The guarantee assumes that the held-out patients and a new
    patient are exchangeable. The probability of missed PHI in a new patient is then at most ``max_share``. The
    guarantee is exact for any number of patients and any tagger. The probability is over the joint draw of the held-out
    patients and the new patient.

    Parameters
    ----------
    scores : ndarray of shape (n_patients,)
        Smallest probability of PHI among the gold items of each held-out patient; infinity for a patient without items.
    max_share : float in (0, 1)
        Highest acceptable proportion of patients with missed PHI.

    Returns
    -------
    float
        Threshold.

    Raises
    ------
    ValueError
        If there are fewer than ``1 / max_share - 1`` patients, a score is not a number, or ``max_share`` is not a
        proportion.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei & Schuster (2022), Conformal risk control, arXiv:2208.02814.

    Examples
    --------
    >>> missed_patient_threshold(np.array([0.9, 0.2, 0.5, 0.8]), 0.4)
    0.5
    """
    _check_numbers(scores)
    if not 0 < max_share < 1:
        raise ValueError(f"The 'max_share' parameter must be between 0 and 1. Got {max_share!r} instead.")
    n = len(scores)
    # Exchangeable patients: the new patient is any of n + 1, so that one miss is reserved for this patient.
    allowed = _allowed(max_share, n + 1) - 1
    if allowed < 0:
        raise TargetError(
            f"A proportion of {max_share:g} of patients with a miss cannot be guaranteed with {n} held-out patients: "
            f"at least {_patients_needed(max_share)} are needed. Hold out more patients, or allow a larger proportion."
        )
    return float(np.sort(np.asarray(scores, dtype=float))[min(allowed, n - 1)])


def _check_numbers(scores: np.ndarray) -> None:
    """Refuse scores that are not numbers: NaN would be sorted last and count as found."""
    if np.isnan(np.asarray(scores, dtype=float)).any():
        raise ValueError("'scores' must hold numbers. Got nan instead.")


def _ascending(scores: np.ndarray, patients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores in ascending order, and the patient of each score as a number; TargetError if there is no score."""
    _check_numbers(scores)
    if not len(scores):
        raise TargetError("The held-out patients have no PHI: no recall can be measured on them.")
    scores = np.asarray(scores, dtype=float)
    order = np.argsort(scores, kind="stable")
    _, number = np.unique(np.asarray(patients, dtype=str), return_inverse=True)
    return scores[order], number[order]


def _lower_bounds(scores: np.ndarray, patient: np.ndarray, target: float, z: float) -> np.ndarray:
    """Lower bound of the recall if the k lowest items are missed, for k = 0, 1, ...; shape (n_missed + 1,)."""
    n = len(scores)
    # The search stops at the larger of two numbers of misses: the misses at the threshold 0.5, and twice the misses
    # that the target allows.
    most = min(n - 1, max(int((scores < 0.5).sum()), 2 * _allowed(1 - target, n), 1))
    effect = _design_effects(patient)[: most + 1]
    # With few misses the variance is hardly measurable, so the largest effect at more misses replaces the own effect.
    effect = np.maximum.accumulate(effect[::-1])[::-1]
    k = np.arange(most + 1)
    # An effect below 1, also of 0 if all patients miss the same share, adds no trials.
    trials = n / np.maximum(effect, 1.0)
    p = 1 - k / n
    # The bound must not rise with the number of misses: if the target fails at k misses, the target fails at k + 1.
    return np.minimum.accumulate(wilson_interval(p, trials, z)[0])


def _design_effects(patient: np.ndarray) -> np.ndarray:
    """Design effect for k missed items, k = 0, ..., n - 1.

    The design effect is the variance of the proportion of missed items divided by the variance for independent items.
    """
    n, size = len(patient), np.bincount(patient)
    n_patients = len(size)
    if n_patients < 2:
        return np.full(n, float(n))
    before = _number_within(patient)
    # Sums over patients of m^2 and of m * n after each further miss. m is the number of misses of the patient, n the
    # number of items of the patient. One more miss raises m^2 by 2 m + 1 and m * n by n, so cumulative sums suffice.
    squares = np.concatenate(([0.0], np.cumsum(2.0 * before + 1)[:-1]))
    products = np.concatenate(([0.0], np.cumsum(size[patient].astype(float))[:-1]))
    # Sum over patients of (m - share * n)^2, expanded into three sums.
    share = np.arange(n) / n
    spread = squares - 2 * share * products + share**2 * float((size.astype(float) ** 2).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        # Ratio of the variance between patients to the variance of as many independent items (Kish 1965).
        effect = n_patients / (n_patients - 1) * spread / (n * share * (1 - share))
    return np.where(share > 0, effect, 1.0)


def _number_within(patient: np.ndarray) -> np.ndarray:
    """Number of items of the same patient before each item."""
    order = np.argsort(patient, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(patient))[:-1]))
    out = np.empty(len(patient), dtype=np.int64)
    # A stable sort puts the items of a patient in a row. The number of an item is its place minus the start of the row.
    out[order] = np.arange(len(patient)) - starts[patient[order]]
    return out


def _allowed(share: float, n: int) -> int:
    # Floating-point rounding must not lower 0.05 * 20 or (1 - 0.99) * 100 below the next whole number.
    return min(n - 1, floor(share * n + 1e-9))


def _patients_needed(share: float) -> int:
    return max(1, ceil(1 / share - 1 - 1e-9))
