"""Casing classes released by randomised response, and the accuracy of an attacker who reads the classes."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import torch
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from torch import Tensor

from .._compat import Interval


class RandomizedCasing(BaseEstimator):
    """Randomised response for casing classes, for the ``casing`` parameter of `PrivateRepresenter`.

    A token keeps its casing class with probability ``exp(epsilon) / (exp(epsilon) + 6)``. If the class is not kept, one
    of the six other classes is drawn, each with the same probability. The release of one token's class is
    epsilon-differentially private. The epsilons of tokens add up: epsilon is n times as large for a sentence of n
    tokens, and r n times as large for r releases of the sentence.

    Parameters
    ----------
    epsilon : float, default=2.0
        Privacy loss of one token, positive.

        ======== ====================
        epsilon  class is kept
        ======== ====================
        1        31 % of the tokens
        2        55 %
        4        90 %
        ======== ====================

    Notes
    -----
    Probabilities are rounded to multiples of 2^-53, so that the epsilon of a release differs from ``epsilon`` by less
    than 1e-13 for epsilon up to 5. The epsilon of a release is at most ``epsilon`` for larger values, and at most 38.6.

    References
    ----------
    Kairouz, Oh & Viswanath (2016), Extremal mechanisms for local differential privacy, section 4.1: randomised response
    with k classes.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter
    >>> from sklearn_deid.representations import RandomizedCasing
    >>> PrivateRepresenter(casing=RandomizedCasing(epsilon=4.0)).get_params()["casing__epsilon"]
    4.0
    """

    _parameter_constraints: dict[str, list] = {"epsilon": [Interval(Real, 0, None, closed="neither")]}
    key = "randomized"

    def __init__(self, *, epsilon: float = 2.0) -> None:
        self.epsilon = epsilon


def response_probabilities(epsilon: float, n_classes: int) -> tuple[float, float]:
    """Return the probability that a class is kept, and the probability of each other class.

    Examples
    --------
    >>> keep, other = response_probabilities(2.0, 7)
    >>> round(keep, 3), round(other, 3), round(keep + 6 * other, 9)
    (0.552, 0.075, 1.0)
    """
    # Written with exp(-epsilon), which cannot overflow.
    other = math.exp(-epsilon) / (1.0 + (n_classes - 1) * math.exp(-epsilon))
    return 1.0 - (n_classes - 1) * other, other


def respond(classes: np.ndarray, epsilon: float, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a released class in place of each true class, shape (n,).

    Parameters
    ----------
    classes : ndarray of int, shape (n,)
        True classes, from 0 to ``n_classes - 1``.
    epsilon : float
        Privacy loss of one class.
    n_classes : int
        k, number of classes.
    rng : numpy.random.Generator
        Random stream; for a release, the stream of the key of the release.
    """
    keep, _ = response_probabilities(epsilon, n_classes)
    keep = math.nextafter(keep, 0.0)  # rounded down: from an epsilon of 40 on, the probability 1 kept every class
    step = 1 + rng.integers(n_classes - 1, size=len(classes))  # never 0: a step leads to another class
    return np.where(rng.random(len(classes)) < keep, classes, (classes + step) % n_classes)


def respond_in_training(classes: Tensor, epsilon: float, n_classes: int, generator: torch.Generator) -> Tensor:
    """Draw a released class for each class of a batch, on its device; distribution as in `respond`."""
    keep, _ = response_probabilities(epsilon, n_classes)
    step = torch.randint(1, n_classes, classes.shape, generator=generator, device=classes.device)
    stays = torch.rand(classes.shape, generator=generator, device=classes.device) < keep
    return torch.where(stays, classes, (classes + step) % n_classes)


def accuracy_with_casing(distance: Any, n_changed: Any, epsilon: float, n_classes: int = 7) -> np.ndarray:
    """Compute the accuracy of the best attacker who sees noisy vectors and released casing classes, shape (n,).

    The attacker adds the log likelihood ratio of the vectors and the log likelihood ratios of the classes, which are
    independent. The log ratio of the vectors is Gaussian with mean d'^2 / 2 and variance d'^2. The log ratio of each
    changed class is epsilon with the probability that a class is kept, -epsilon with the probability of a single other
    class, and 0 otherwise.

    Parameters
    ----------
    distance : array-like of shape (n,)
        Distance d' of the vectors.
    n_changed : array-like of int, shape (n,)
        Number of released classes in which the two candidates differ.
    epsilon : float
        Privacy loss of one class. Infinity if the true classes are released.
    n_classes : int, default=7
        k, number of classes.

    Examples
    --------
    >>> accuracy_with_casing([0.0, 0.0, 0.0], [0, 1, 1], float("inf")).tolist()
    [0.5, 1.0, 1.0]
    >>> accuracy_with_casing([0.0, 0.5], [1, 1], 2.0).round(3).tolist()
    [0.739, 0.775]
    """
    distance, n_changed = np.asarray(distance, dtype=np.float64), np.asarray(n_changed, dtype=np.int64)
    # Without a changed class, the casing reveals nothing, and the vectors alone decide.
    out = ndtr(distance / 2.0)
    for n in np.unique(n_changed[n_changed > 0]).tolist():
        here = n_changed == n
        # An infinite epsilon releases the true classes: one changed class distinguishes the sentences.
        if math.isinf(epsilon):
            out[here] = 1.0
            continue
        ratio, probability = _ratios(n, epsilon, n_classes)
        d = distance[here, None]
        # Vectors without information leave ties of the classes to a guess: the sign of 0 is 0, and Phi(0) is 1/2.
        # Limit of ratio / d for d to 0.
        alone = np.where(ratio == 0.0, 0.0, np.copysign(np.inf, ratio))
        with np.errstate(over="ignore"):  # for tiny distances the quotient is infinite, which is its limit
            quotient = ratio / np.where(d > 0.0, d, 1.0)  # shape: (n_here, 2 n + 1)
        shifted = np.where(d > 0.0, quotient + d / 2.0, alone)
        # Given the sum s of the log ratios of the classes, the log ratio of the vectors is Gaussian with mean d^2 / 2
        # and variance d^2 under the truth. An attacker with both ratios is right with Phi(d / 2 + s / d); the mean over
        # s follows.
        out[here] = ndtr(shifted) @ probability
    return out


def _ratios(n: int, epsilon: float, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of n log likelihood ratios and their probabilities, both of shape (2 n + 1,)."""
    keep, other = response_probabilities(epsilon, n_classes)
    # Log likelihood ratio of one changed class: -epsilon if the draw is the class of the other sentence, 0 if it is
    # neither, +epsilon if it is the true one.
    one = np.array([other, 1.0 - keep - other, keep])
    probability = np.ones(1)
    for _ in range(n):
        # Independent draws: the law of a sum is the convolution of the laws. Exact, where a normal approximation is
        # poor for the one or two classes that usually change.
        probability = np.convolve(probability, one)
    return epsilon * np.arange(-n, n + 1), probability
