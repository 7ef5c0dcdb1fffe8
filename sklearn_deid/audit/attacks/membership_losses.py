"""How much the loss of a sentence speaks for its having been trained on."""

from __future__ import annotations

import numpy as np

__all__ = ["best_threshold", "membership_scores"]

# Beyond that, confidences are 0 or 1 in single precision.
_LOSS_RANGE = (1e-7, 30.0)


def membership_scores(losses: np.ndarray, shadows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Logarithm of the likelihood ratio of each sentence's loss, with it in the training set against without.

    Losses are taken as log odds of the mean probability of a tag, which are nearly normal. Means are each sentence's
    own; the two variances are those of all sentences together, since shadows are few.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Of the attacked model.
    shadows : ndarray of shape (n_shadows, n)
    inside : ndarray of bool, shape (n_shadows, n)
        At least one True and one False for each sentence.

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    Carlini et al. (2022), algorithm 1, with the variances of section VI.

    Examples
    --------
    >>> shadows = np.array([[0.1, 0.9], [0.9, 0.1], [0.11, 1.0], [1.0, 0.12]])
    >>> inside = np.array([[True, False], [False, True], [True, False], [False, True]])
    >>> (membership_scores(np.array([0.1, 0.95]), shadows, inside) > 0).tolist()
    [True, False]
    """
    target, seen = _log_odds(losses), _log_odds(shadows)
    densities = []
    for mask in (inside, ~inside):
        n = mask.sum(axis=0)
        mean = np.where(mask, seen, 0.0).sum(axis=0) / np.maximum(n, 1)
        spread = np.where(mask, (seen - mean) ** 2, 0.0).sum()
        # A mean of n shadows differs from the truth itself, by a share of 1 / n of the variance.
        variance = max(float(spread / max(1, (n - 1).sum())), 1e-6) * (1.0 + 1.0 / np.maximum(n, 1))
        densities.append(-0.5 * ((target - mean) ** 2 / variance + np.log(variance)))
    return densities[0] - densities[1]


def _log_odds(losses: np.ndarray) -> np.ndarray:
    clipped = np.clip(losses, *_LOSS_RANGE)
    return -clipped - np.log(-np.expm1(-clipped))


def best_threshold(losses: np.ndarray, inside: np.ndarray) -> float:
    """Loss that divides what shadows were trained on from what they were not, with the fewest errors."""
    values, order = np.unique(losses.reshape(-1), return_inverse=True)
    member = inside.reshape(-1)
    below_in = np.cumsum(np.bincount(order.reshape(-1)[member], minlength=len(values))) / member.sum()
    below_out = np.cumsum(np.bincount(order.reshape(-1)[~member], minlength=len(values))) / (~member).sum()
    best = int((below_in - below_out).argmax())
    # Half way to the next, so that no training loss lies on the line.
    return float(values[best : best + 2].mean())
