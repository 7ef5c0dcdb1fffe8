"""Candidate sentences of a lookup attack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics import Estimate
from ...representations.pair_batches import PairBatches
from ...representations.pair_data import PairData
from .released_tokens import Ranks, expected_hits


@dataclass(frozen=True, repr=False)
class CandidateSet:
    """Sentences of equal length. The audit released one of these sentences.

    Attributes
    ----------
    row : int
        Row of the released sentence in the data.
    words : ndarray of shape (C, time)
        Rows in the table of word vectors. The candidates are in random order.
    truth : int
        Position of the released candidate.
    casing : ndarray of shape (C, time) or None
        Casing class of each token.
    """

    row: int
    words: np.ndarray
    truth: int
    casing: np.ndarray | None


class CandidateRanks:
    """Ranks of true candidates. Tied candidates count as if they were ordered at random (expected value).

    Parameters
    ----------
    groups : ndarray or None
        Patient of each sentence of the release.
    """

    def __init__(self, groups: np.ndarray | None) -> None:
        self.groups = groups
        self.rows: list[int] = []
        self._n: list[int] = []
        self._ranks: list[tuple[int, int]] = []

    def rank(self, row: int, truth: int, scores: np.ndarray) -> tuple[int, int]:
        """Add a sentence by the scores of its candidates, shape (C,). Return the number of scores above the score of
        the true candidate, and the number of scores equal to this score."""
        own = scores[truth]
        self.rows.append(row)
        self._n.append(len(scores))
        self._ranks.append((int((scores > own).sum()), int((scores == own).sum())))
        return self._ranks[-1]

    def hits(self, k: int = 1) -> np.ndarray:
        """Probability that the truth is among the first k, with ties in random order, shape (n_sentences,).

        Raises
        ------
        ValueError
            If no sentence was added.
        """
        if not self.rows:
            raise ValueError("No sentence that was released has candidates: there is nothing to look up.")
        return expected_hits(Ranks(*np.array(self._ranks).T), k)

    def share(self, confidence: float, hits: Any = None) -> Estimate:
        """Mean of ``hits``, by default of the hits at rank 1, with a confidence interval over patients."""
        where = np.asarray(self.rows) if self.groups is None else np.asarray(self.groups)[self.rows]
        return Estimate.from_hits(self.hits() if hits is None else hits, where, confidence)

    def chance(self, k: int = 1) -> float:
        """Expected success of a random guess among the candidates."""
        return float(np.mean([min(1.0, k / n) for n in self._n]))

    @property
    def mean_candidates(self) -> float:
        """Mean number of candidates."""
        return float(np.mean(self._n))


def one_token_candidates(
    data: PairData, n_candidates: int, rng: np.random.Generator, rows: np.ndarray | None = None
) -> Iterator[CandidateSet]:
    """For each sentence with a replaceable PHI token, yield the sentence and its variants with one replaced token.

    The replacement is a neighbour of the token, written in the casing of the token, so that the casing carries no
    information.

    Each sentence has one replaced token, which is drawn uniformly. Pairs for adversaries and for the certified bound
    are drawn in the same way.

    Parameters
    ----------
    data : PairData
        Sentences and their possible replacements.
    n_candidates : int
        Largest number of candidates, the sentence included. If a token has more neighbours, the neighbours are sampled.
    rng : numpy Generator
        Random generator.
    rows : ndarray of int, optional
        Ascending rows of the sentences; all sentences by default.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.audit.attacks.candidates import one_token_candidates
    >>> from sklearn_deid.representations import PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> [(c.row, sorted(c.words.tolist())) for c in one_token_candidates(data, 10, np.random.default_rng(0))]
    [(1, [[1, 2], [1, 3]])]
    """
    rows = np.arange(len(data)) if rows is None else rows
    data = data.take(rows)
    first = np.searchsorted(data.eligible, data.offsets)
    for row in PairBatches(data).pair_rows:
        start, stop = data.offsets[row], data.offsets[row + 1]
        words = data.words[start:stop]
        able = [k for k in range(first[row], first[row + 1]) if len(_others(data, k))]
        which = able[rng.integers(len(able))]
        others = _others(data, which)
        others = rng.permutation(others)[: n_candidates - 1]
        at = data.eligible[which] - start
        # shape: (C, time)
        candidates = np.tile(words, (len(others) + 1, 1))
        candidates[1:, at] = others
        casing = None if data.casing is None else np.tile(data.casing[start:stop], (len(candidates), 1))
        yield _shuffled(int(rows[row]), candidates, casing, rng)


def unrelated_candidates(data: PairData, n_candidates: int, rng: np.random.Generator) -> Iterator[CandidateSet]:
    """For each sentence, yield the sentence and other sentences with equally many tokens.

    The release shows the number of tokens, so that the attacker can exclude all sentences of other lengths. Sentences
    without another sentence of equal length are left out.

    Parameters
    ----------
    data : PairData
        Sentences.
    n_candidates : int
        Largest number of candidates, the sentence included.
    rng : numpy Generator
        Random generator.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.audit.attacks.candidates import unrelated_candidates
    >>> from sklearn_deid.representations import PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 2, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> [c.words.shape for c in unrelated_candidates(data, 10, np.random.default_rng(0))]
    [(3, 1), (3, 1), (3, 1)]
    """
    lengths = np.diff(data.offsets)
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        # shape: (n_rows, length)
        at = data.offsets[rows][:, None] + np.arange(length)
        # Equal sentences are a single candidate: no attacker can distinguish them.
        distinct, first, same = np.unique(data.words[at], axis=0, return_index=True, return_inverse=True)
        for row, own in zip(rows, same.reshape(-1), strict=True):
            others = np.delete(np.arange(len(distinct)), own)
            if len(others):
                chosen = np.concatenate([[own], rng.permutation(others)[: n_candidates - 1]])
                casing = None if data.casing is None else data.casing[at[first[chosen]]]
                if casing is not None:
                    casing[0] = data.casing[at[rows == row][0]]  # type: ignore[index]
                yield _shuffled(int(row), distinct[chosen], casing, rng)


def _others(data: PairData, which: int) -> np.ndarray:
    """Words that may replace an eligible token, without the token's own word."""
    found = np.unique(data.alternatives[data.choices_[which]])
    return found[(found >= 0) & (found != data.words[data.eligible[which]])]


def _shuffled(row: int, words: np.ndarray, casing: np.ndarray | None, rng: np.random.Generator) -> CandidateSet:
    """Shuffle the candidates: rounding must not distinguish the first row of a batch from the other rows."""
    order = rng.permutation(len(words))
    return CandidateSet(row, words[order], int(np.argmin(order)), None if casing is None else casing[order])
