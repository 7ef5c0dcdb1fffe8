"""Randomised maps from a word of a table to a word of the same table; input and output are rows of the table.

The probabilities of each class are known, so that an audit can compute the information in a release
(`audit.bayes.bayes_reidentification`). The exception is `NoisyNearest`, whose probabilities have no closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from ..embeddings import NeighborIndex, WordVectors

# Cells of a float32 block over the whole table: 128 MiB.
_CELLS = 2**25
_SMALLEST_EPSILON = 1e-15


class WordMoves(Protocol):
    """Interface of a map between words, which `TokenMechanism` uses."""

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw new rows and their similarity ranks (1 is the word itself, -1 is unknown), both of shape (n,)."""
        ...


class UniformNeighbors:
    """Uniform choice among the N nearest words; the nearest word is the word itself.

    Parameters
    ----------
    index : NeighborIndex
        Index that finds the nearest words.
    n_neighbors : int
        N, number of words to choose from.
    guard_substring : bool
        Whether to leave out words that contain the source word, and words inside the source word. The source word
        itself is also left out. The next nearest words replace the words that are left out.
    """

    def __init__(self, index: NeighborIndex, n_neighbors: int, guard_substring: bool = False) -> None:
        self.index, self.n_neighbors, self.guard_substring = index, n_neighbors, guard_substring
        self._guarded: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def support(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the possible surrogates of each word, and their ranks, both (n, N); short rows end with -1."""
        if self.guard_substring:
            pairs = self._guarded_support(rows)
            return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
        distinct, inverse = np.unique(rows, return_inverse=True)
        # The search is the expensive step, so each distinct word is searched once; shape: (n, N)
        neighbors = self.index.query(distinct, self.n_neighbors).neighbors[inverse]
        return neighbors, np.broadcast_to(np.arange(1, self.n_neighbors + 1), neighbors.shape)

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw uniformly for each row; return the new rows and their ranks."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        if not len(distinct):
            return rows.copy(), rows.copy()
        targets, ranks = self.support(distinct)
        # Every rank has equal probability, so that a random column is a uniform choice. Shape: (n,)
        column = (rng.random(len(rows)) * self.n_neighbors).astype(np.int64)
        return targets[inverse, column].astype(np.int64), ranks[inverse, column].astype(np.int64)

    def probabilities(self, rows: np.ndarray) -> csr_array:
        """Probability of each word of the table, shape (n, n_words)."""
        targets, _ = self.support(rows)
        return _sparse_rows(targets, np.full(targets.shape, 1.0 / self.n_neighbors), len(self.index.vectors))

    def n_without_enough(self, rows: np.ndarray) -> np.ndarray:
        """Return which rows have fewer than N possible target words; shape (n,), bool."""
        return np.any(self.support(rows)[0] < 0, axis=1) if self.guard_substring else np.zeros(len(rows), dtype=bool)

    def _guarded_support(self, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        missing = np.array(sorted(set(rows.tolist()) - set(self._guarded)), dtype=np.int64)
        most, asked = self.index.n_candidates, self.n_neighbors
        # Guarded words shorten the list by an unknown number, so the search is repeated with more neighbours until N
        # remain.
        while len(missing):
            # The number of neighbours doubles, so that few searches suffice even if most neighbours are guarded.
            asked = min(2 * asked + 16, most)
            table = self.index.query(missing, asked)
            short = []
            for row, neighbors in zip(table.rows.tolist(), table.neighbors, strict=True):
                free = self._free_of_substrings(row, neighbors)
                if len(free) < self.n_neighbors and asked < most:
                    short.append(row)
                    continue
                # Missing words are -1. `n_without_enough` finds such rows, and the estimator refuses them.
                free = np.pad(free, (0, max(0, self.n_neighbors - len(free))), constant_values=-1)
                self._guarded[row] = (np.where(free < 0, -1, neighbors[free]), free + 1)
            missing = np.array(short, dtype=np.int64)
        return [self._guarded[row] for row in rows.tolist()]

    def _free_of_substrings(self, row: int, neighbors: np.ndarray) -> np.ndarray:
        """Return the columns of the first N neighbours that neither contain the word nor are inside the word."""
        words = self._folded_words()
        source = words[row]
        free = []
        for column, neighbor in enumerate(neighbors.tolist()):
            if source not in words[neighbor] and words[neighbor] not in source:
                free.append(column)
                if len(free) == self.n_neighbors:
                    break
        return np.asarray(free, dtype=np.int64)

    def _folded_words(self) -> list[str]:
        if not hasattr(self, "_words"):
            self._words = [word.casefold() for word in self.index.vectors.words]
        return self._words

    def __getstate__(self) -> dict[str, Any]:
        # The cached rows name words of the notes. They must not be pickled with the transformer.
        return {**{k: v for k, v in vars(self).items() if k != "_words"}, "_guarded": {}}


class ExponentialNeighbors(UniformNeighbors):
    """Exponential mechanism over the N nearest words: probability proportional to exp(epsilon u / 2).

    The score u is the cosine, scaled to 0 for the farthest of the N words and to 1 for the word itself.
    """

    def __init__(self, index: NeighborIndex, n_neighbors: int, epsilon: float) -> None:
        super().__init__(index, n_neighbors)
        self.epsilon = epsilon

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw with the probabilities of each row; return the new rows and their ranks."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        targets = np.empty(len(rows), dtype=np.int64)
        ranks = np.empty(len(rows), dtype=np.int64)
        for block in _blocks(len(distinct), self.n_neighbors):
            # shape of both: (block, N)
            neighbors, weights = self._weights(distinct[block])
            members = np.flatnonzero((inverse >= block.start) & (inverse < block.stop))
            local = inverse[members] - block.start
            column = _columns_drawn(weights, local, rng)
            targets[members], ranks[members] = neighbors[local, column], column + 1
        return targets, ranks

    def probabilities(self, rows: np.ndarray) -> csr_array:
        """Probability of each word of the table, shape (n, n_words)."""
        return _sparse_rows(*self._weights(rows), len(self.index.vectors))

    def _weights(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        neighbors, _ = self.support(rows)
        vectors = self.index.vectors
        score = np.empty(neighbors.shape)
        for i, row in enumerate(rows.tolist()):  # a row at a time, since n * N vectors may not fit into memory
            score[i] = vectors.vectors_at(neighbors[i]).astype(np.float64) @ vectors.vectors_at([row])[0]
        # Scores are scaled to [0, 1], so that their sensitivity is 1. The ends are those of the scores, not of the
        # search: in float32, vectors of one direction differ in length, and any of them can have the best score.
        least, span = score.min(axis=1, keepdims=True), np.ptp(score, axis=1, keepdims=True)
        score = (score - least) / np.where(span > 0, span, 1.0)
        # Subtracting the largest score, 1, changes no probability and avoids overflow.
        weights = np.exp(self.epsilon / 2 * (score - 1.0))
        return neighbors, weights / weights.sum(axis=1, keepdims=True)


class DigitsApart:
    """Pair of maps: all-digit words are replaced by all-digit words, and other words through the other map."""

    def __init__(self, others: UniformNeighbors, digits: UniformNeighbors, is_digits: np.ndarray) -> None:
        self.others, self.digits, self._is_digits = others, digits, is_digits

    def support(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the possible surrogates of each word, and their ranks; short rows end with -1."""
        parts = [(which, moves.support(rows[which])) for which, moves in self._parts(rows)]
        width = max((targets.shape[1] for _, (targets, _) in parts), default=0)
        targets = np.full((len(rows), width), -1, dtype=np.int64)
        ranks = targets.copy()
        for which, (near, rank) in parts:
            targets[which, : near.shape[1]], ranks[which, : near.shape[1]] = near, rank
        return targets, ranks

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw for each row; return the new rows and their ranks among the possible words."""
        targets = np.empty(len(rows), dtype=np.int64)
        ranks = np.empty(len(rows), dtype=np.int64)
        for which, moves in self._parts(rows):
            targets[which], ranks[which] = moves.draw(rows[which], rng)
        return targets, ranks

    def probabilities(self, rows: np.ndarray) -> csr_array:
        """Probability of each word of the table, shape (n, n_words)."""
        parts = list(self._parts(rows))
        if not parts:
            return csr_array((0, len(self._is_digits)))
        order = np.concatenate([which for which, _ in parts])
        stacked = vstack([moves.probabilities(rows[which]) for which, moves in parts], format="csr")
        # The parts are stacked map by map; argsort restores the order of the given rows.
        return csr_array(stacked[np.argsort(order)])

    def n_without_enough(self, rows: np.ndarray) -> np.ndarray:
        """Rows with fewer than N possible target words; shape (n,), bool."""
        short = np.zeros(len(rows), dtype=bool)
        for which, moves in self._parts(rows):
            short[which] = moves.n_without_enough(rows[which])
        return short

    def _parts(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, UniformNeighbors]]:
        for moves, mine in ((self.others, ~self._is_digits[rows]), (self.digits, self._is_digits[rows])):
            if mine.any():
                yield np.flatnonzero(mine), moves


class _WholeTable:
    """Maps that may draw any word of the table."""

    def __init__(self, vectors: WordVectors, candidates: np.ndarray, epsilon: float) -> None:
        if not candidates.any():
            raise ValueError("No word of the word vectors can be a surrogate: all vectors are zero or several words.")
        self.vectors, self.candidates, self.epsilon = vectors, candidates, epsilon
        self._matrix: np.ndarray | None = None

    def _table(self) -> np.ndarray:
        """Return all unit vectors, (n_words, dim); cached, since scaling takes as long as a block of products."""
        if self._matrix is None:
            self._matrix = self.vectors.matrix()
        return self._matrix

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_matrix": None}


class ExponentialVocabulary(_WholeTable):
    """Exponential mechanism over the table: probability proportional to exp(-epsilon d / 2).

    The distance d is the Euclidean distance between unit vectors, from 0 to 2.
    """

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw with the probabilities of each row; return the new rows and their ranks."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        targets = np.empty(len(rows), dtype=np.int64)
        ranks = np.empty(len(rows), dtype=np.int64)
        for block in _blocks(len(distinct), len(self.vectors)):
            weights = self.probabilities(distinct[block])
            members = np.flatnonzero((inverse >= block.start) & (inverse < block.stop))
            local = inverse[members] - block.start
            targets[members] = _columns_drawn(weights, local, rng)
            # A nearer word has a larger probability, so the rank is one more than the number of more probable words.
            at_target = weights[local, targets[members]]
            ranks[members] = [1 + int((weights[i] > p).sum()) for i, p in zip(local, at_target, strict=True)]
            own = targets[members] == distinct[inverse[members]]
            ranks[members] = np.where(own, 1, ranks[members])
        return targets, ranks

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Compute the probability of each word of the table, shape (n, n_words). Pass at most a few hundred rows."""
        # In float32, two words with equal vectors would be 0.0003 apart: the guarantee is about the exact distance.
        table = self._table().astype(np.float64)
        squares = np.einsum("ij,ij->i", table, table)
        # |a - b|^2 = |a|^2 + |b|^2 - 2 a.b; rounding could make the difference negative. Shape: (n, n_words)
        distance = np.sqrt(np.maximum(squares[rows][:, None] + squares - 2.0 * (table[rows] @ table.T), 0.0))
        # Words that cannot be a surrogate have probability 0. So has the word itself, or it would show the original.
        weights = np.where(self.candidates, np.exp(-self.epsilon / 2 * distance), 0.0)
        return weights / weights.sum(axis=1, keepdims=True)


class NoisyNearest(_WholeTable):
    """MADLIB: add a noise vector z whose density falls as ``exp(-epsilon |z|)``, and take the nearest word.

    The probabilities of the words have no closed form.
    """

    def noisy(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the vectors of words with noise, shape (n, dim), float32."""
        dim = self.vectors.dim
        # A Gaussian vector has a uniform direction; the Gamma length gives the density exp(-epsilon |z|).
        direction = rng.standard_normal((len(rows), dim))  # shape: (n, dim)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        # Beyond this scale, the word changes no digit of the sum, and squares would overflow.
        length = rng.gamma(dim, 1.0 / max(self.epsilon, _SMALLEST_EPSILON), size=(len(rows), 1))
        return (self.vectors.vectors_at(rows) + direction * length).astype(np.float32)

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest word of each noisy vector; the rank is 1 for the word itself and otherwise -1 (unknown)."""
        table, noisy = self._table(), self.noisy(rows, rng)
        targets = np.empty(len(rows), dtype=np.int64)
        excluded = np.flatnonzero(~self.candidates)
        for block in _blocks(len(rows), len(table)):
            # shape: (block, n_words)
            cosine = noisy[block] @ table.T  # table rows have length 1, so the largest product is the nearest word
            # Also the word itself, if it is no candidate: as a surrogate it would show the original.
            cosine[:, excluded] = -np.inf
            targets[block] = cosine.argmax(axis=1)
        return targets, np.where(targets == rows, 1, -1)


def _sparse_rows(columns: np.ndarray, values: np.ndarray, width: int) -> csr_array:
    n, k = columns.shape
    return csr_array((values.ravel(), columns.ravel().astype(np.int64), np.arange(n + 1) * k), shape=(n, width))


def _columns_drawn(weights: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a column for each of ``rows`` of ``weights``, with the weights of the row as probabilities."""
    # Inverse transform sampling: the drawn column is where the cumulative sum passes a uniform number.
    cumulative = weights.cumsum(axis=1)
    # Rounding leaves the last sum below or above 1, and a point beyond it would have no column.
    cumulative /= cumulative[:, -1:]
    point = rng.random(len(rows))
    drawn = [np.searchsorted(cumulative[row], p, side="right") for row, p in zip(rows.tolist(), point, strict=True)]
    return np.asarray(drawn, dtype=np.int64)


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
