"""The exact worst case of representers whose vectors depend on one word each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from ..embeddings import WordVectors
from .gaussian_bound import attack_accuracy, sampling_slack
from .network import Representer

__all__ = ["WorstCase", "worst_case"]

_WORDS_AT_ONCE = 8192


@dataclass(frozen=True)
class WorstCase:
    """The pair of words that a release tells apart best.

    Attributes
    ----------
    gdp_mu : float
        Largest d' over all words looked at and their N nearest words. One release is mu-Gaussian differentially
        private with this mu, for neighbouring sentences that differ in one token moved within these neighbours.
    accuracy : float
        Of the best attacker on that pair, ``Phi(mu / 2)`` and the slack of the one vector that differs.
    n_words, n_pairs : int
        Words looked at, and pairs.
    """

    gdp_mu: float
    accuracy: float
    n_words: int
    n_pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self)


@torch.no_grad()
def worst_case(representer: Representer, vectors: WordVectors, moves: Any, rows: np.ndarray) -> WorstCase:
    """Largest distance d' between a word and the words it may become, over all given words.

    Parameters
    ----------
    representer : Representer
        Of kind "dense", without noise at its input.
    vectors : WordVectors
    moves : UniformNeighbors or DigitsApart
        Where each word may go.
    rows : ndarray of shape (n,)
        Words to look at, as rows of the vectors.
    """
    means = _means(representer, vectors)
    largest, n_pairs = 0.0, 0
    for start in range(0, len(rows), _WORDS_AT_ONCE):
        block = rows[start : start + _WORDS_AT_ONCE]
        targets, _ = moves.support(block)
        for row, near in zip(block.tolist(), targets, strict=True):
            near = near[near >= 0]
            if len(near):
                squared = ((means[near] - means[row]) ** 2).sum(axis=1)
                largest, n_pairs = max(largest, float(squared.max())), n_pairs + int((near != row).sum())
    mu = float(np.sqrt(largest))
    accuracy = float(attack_accuracy(torch.tensor(mu, dtype=torch.float64)))
    accuracy = min(1.0, accuracy + sampling_slack(representer.output_std(), 1))
    return WorstCase(mu, accuracy, len(rows), n_pairs)


def _means(representer: Representer, vectors: WordVectors) -> np.ndarray:
    """Mean of every word's representation in units of the noise, shape (n_words, d)."""
    device = representer.project.weight.device
    std = representer.output_std()
    parts = []
    for block in vectors.blocks():
        x = torch.from_numpy(np.ascontiguousarray(block)).to(device) * float(np.sqrt(vectors.dim))
        # One word a sentence, so that nothing depends on where it stands.
        mu = representer.mean(x.unsqueeze(1), torch.ones(len(x), 1, dtype=torch.bool, device=device))
        parts.append((mu.squeeze(1) / std).cpu().numpy())
    return np.concatenate(parts)
