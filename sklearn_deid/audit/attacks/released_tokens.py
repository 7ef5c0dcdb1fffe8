"""What inversion is about: released sentences with the words behind them, and what an attacker knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

__all__ = ["InversionKnowledge", "ReleasedTokens", "surroundings"]


@dataclass(frozen=True, repr=False)
class ReleasedTokens:
    """Sentences with what is released of them, and the words behind it.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Without casing columns.
    offsets : ndarray of shape (n_sentences + 1,)
    words : ndarray of shape (n_tokens,)
        Row of the table of word vectors.
    phi : ndarray of bool, shape (n_tokens,)
    casing, labels : ndarray of int, shape (n_tokens,), or None
        Casing class (0 to 6) and tag of each token, which are released without noise.
    groups : ndarray of shape (n_sentences,) or None
        Patient of each sentence; without them each sentence counts as a patient.
    context_vectors : ndarray of shape (n_tokens, d) or None
        The vectors if all PHI words had been blotted out before. Without them, vectors at PHI tokens are set to zero;
        those of their neighbours may then still hold something of the PHI.
    """

    vectors: np.ndarray
    offsets: np.ndarray
    words: np.ndarray
    phi: np.ndarray
    casing: np.ndarray | None = None
    labels: np.ndarray | None = None
    groups: np.ndarray | None = None
    context_vectors: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = len(self.words)
        parts = (self.vectors, self.phi, self.casing, self.labels, self.context_vectors)
        if any(part is not None and len(part) != n for part in parts) or self.offsets[-1] != n:
            raise ValueError(f"Every array must have one row for each of the {n} tokens.")


@dataclass(frozen=True, repr=False)
class InversionKnowledge:
    """What the attacker holds: public word vectors, and text of his own that he represented with the public network.

    Attributes
    ----------
    table : ndarray of shape (n_words, e)
        Word vectors; words without one (zeros) cannot be recovered and are not asked for.
    train, valid : ReleasedTokens
        His own sentences, to learn from and to choose the epoch by.
    vocabulary : ndarray of int or None
        Rows of the table among which he searches; all by default. PHI words beyond it are not asked for.
    device : torch.device or str, default="cpu"
    """

    table: np.ndarray
    train: ReleasedTokens
    valid: ReleasedTokens
    vocabulary: np.ndarray | None = None
    device: torch.device | str = "cpu"


def surroundings(data: ReleasedTokens) -> ReleasedTokens:
    """The same without what was released of PHI tokens."""
    if data.context_vectors is not None:
        return replace(data, vectors=data.context_vectors)
    return replace(data, vectors=np.where(np.asarray(data.phi, dtype=bool)[:, None], 0.0, data.vectors))
