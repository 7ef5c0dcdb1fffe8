"""Information that the released casing reveals without the vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..metrics import Estimate
from .part_bound import mean_accuracy, plain_numbers, with_estimates
from .randomized_casing import accuracy_with_casing

CASING_KINDS = ("open", "randomized", "left out")


@dataclass(frozen=True)
class CasingDisclosure:
    """How the casing is released, and the accuracy of an attacker who reads the casing alone.

    Attributes
    ----------
    kind : {"open", "randomized", "left out"}
        "open" releases the true class of each token.
    epsilon : float or None
        Privacy loss of the class of one token, for "randomized". For several tokens or releases, the epsilons add up.
    share_changed : float or None
        Share of the random pairs in which the new word belongs to another casing class, although it is written in the
        casing of the replaced token. If the casing is open, the attacker distinguishes such a pair with certainty.
    sentence_accuracy : Estimate or None
        Accuracy of an attacker who has only the casing of one release. The attacker decides which of two sentences with
        the same number of tokens was released; 0.5 is chance. None if no two different sentences of the data have the
        same number of tokens.

    Raises
    ------
    ValueError
        If the kind is unknown, or if an epsilon is given for another kind than "randomized".

    Examples
    --------
    >>> from sklearn_deid.representations import CasingDisclosure
    >>> print(CasingDisclosure("randomized", 2.0, 0.05))
    casing randomized with epsilon 2 a token; differs in 5.0 % of the pairs
    """

    kind: str
    epsilon: float | None = None
    share_changed: float | None = None
    sentence_accuracy: Estimate | None = None

    def __post_init__(self) -> None:
        if self.kind not in CASING_KINDS:
            raise ValueError(f"The 'kind' of casing must be open, randomized or left out. Got {self.kind!r}.")
        if (self.epsilon is not None) != (self.kind == "randomized"):
            raise ValueError(
                f"The 'epsilon' belongs to randomized casing. Got {self.epsilon!r} for {self.kind} casing."
            )

    @property
    def pair_epsilon(self) -> float:
        """Privacy loss of one class: 0 if no class is released, infinity if the true classes are released."""
        if self.kind == "left out":
            return 0.0
        return math.inf if self.epsilon is None else self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; the estimate becomes three numbers."""
        n = {} if self.sentence_accuracy is None else {"n_sentences": self.sentence_accuracy.n}
        return plain_numbers(self) | n

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CasingDisclosure:
        """Make the object from the values that `to_dict` returned."""
        values = dict(plain)
        return cls(**with_estimates(values, ("sentence_accuracy",), values.pop("n_sentences", 0)))

    def __str__(self) -> str:
        parts = [f"casing {self.kind}" + (f" with epsilon {self.epsilon:g} a token" if self.epsilon else "")]
        if self.share_changed is not None:
            parts.append(f"differs in {100 * self.share_changed:.1f} % of the pairs")
        if self.sentence_accuracy is not None:
            parts.append(
                f"distinguishes two sentences of equal length with accuracy {self.sentence_accuracy.value:.3f}"
            )
        return "; ".join(parts)


def casing_alone(
    casing: np.ndarray, words: np.ndarray, offsets: np.ndarray, epsilon: float, rng: np.random.Generator
) -> Estimate | None:
    """Compute the accuracy with which casing alone distinguishes a sentence from another sentence of equal length.

    Each sentence is paired with one random sentence that has the same number of tokens and other words.

    Parameters
    ----------
    casing, words : ndarray of int, shape (n_tokens,)
        Casing class, and number of the word, of each token.
    offsets : ndarray of shape (n + 1,)
        Sentence i holds the tokens ``offsets[i]:offsets[i + 1]``.
    epsilon : float
        Privacy loss of one class; infinity if the true classes are released.
    rng : numpy.random.Generator
        Random stream that draws the pairs.
    """
    lengths, n_changed = np.diff(offsets), []
    for length in np.unique(lengths[lengths > 0]).tolist():
        rows = np.flatnonzero(lengths == length)
        at = offsets[rows][:, None] + np.arange(length)  # shape: (n_rows, length)
        # Equal sentences are the same release, so each distinct sentence is a candidate once.
        at = at[np.unique(words[at], axis=0, return_index=True)[1]]
        if len(at) > 1:
            # A shift by 1 to n - 1 never draws the sentence itself, and every other sentence with equal probability.
            other = (np.arange(len(at)) + rng.integers(1, len(at), size=len(at))) % len(at)
            n_changed.append((casing[at] != casing[at[other]]).sum(axis=1))
    if not n_changed:
        return None
    changed = np.concatenate(n_changed)
    # Distance 0: this attacker does not read the vectors.
    accuracies = torch.from_numpy(accuracy_with_casing(np.zeros(len(changed)), changed, epsilon))
    return mean_accuracy(float(accuracies.mean()), accuracies)
