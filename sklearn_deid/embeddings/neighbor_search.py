"""Exact nearest words by cosine: products in float32 select candidates, and sums in float64 sort the candidates."""

from __future__ import annotations

import sys
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

# Numbers of queries and of table rows in a matrix product. Its float32 scores have 2 MiB and fit the cache of a core.
_QUERIES, _TABLE_ROWS = 128, 4096
# Every 32nd word is scored first. The scores determine a threshold that about twice the requested words pass.
_STRIDE, _SPREAD = 32, 4.0
# Largest number of words in a task that pass their threshold, with 24 bytes for each word.
_MOST_PASSING = 2**22

# The number of BLAS threads is a setting of the process. Two simultaneous searches would reset each other's setting.
_ONE_AT_A_TIME = Lock()


def search_neighbors(
    table: np.ndarray,
    ids: np.ndarray,
    queries: np.ndarray,
    rows: np.ndarray,
    n_neighbors: int,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> np.ndarray:
    """Nearest words of each query: the word itself first, then words by falling cosine, equal cosines by row.

    The cosine is the float64 sum of products of the float32 unit vectors. The result therefore depends neither on the
    order of queries nor on the number of threads.

    The alternative is ``sklearn.neighbors.NearestNeighbors(algorithm="brute")``. For 5,000 queries, 1,000 neighbours
    and a table of 400,000 x 50, the search took 7.1 s with scikit-learn and 4.1 s with this function on two idle cores.
    On busy cores, the times were 15.2 s and 7.4 s (`benchmarks/neighbor_search.py`). Scikit-learn keeps a heap of 1,000
    words for each query. This function estimates a threshold from a sample of the table, so that only 1,800 words
    remain to sort.

    Parameters
    ----------
    table : ndarray of float32, shape (n_candidates, dim)
        Unit vectors of the words that may be neighbours.
    ids : ndarray of int64, shape (n_candidates,)
        Rows of the candidates in ascending order.
    queries : ndarray of float32, shape (n, dim)
        Unit vectors of the query words.
    rows : ndarray of int64, shape (n,)
        Rows of the query words. The rows need not be among ``ids``.
    n_neighbors : int
        Number of neighbours, from 1 to ``n_candidates``, including the word itself.
    n_jobs : int, optional
        Number of threads. ``None`` means 1 unless a `joblib.parallel_config` sets another number.
    verbose : int, default=0
        A value above 0 shows a progress bar.

    Returns
    -------
    ndarray of int32, shape (n, n_neighbors)
        Rows of the neighbours of each query.
    """
    from joblib import Parallel, delayed
    from tqdm import tqdm

    found = np.empty((len(rows), n_neighbors), dtype=np.int32)
    found[:, 0] = rows
    if n_neighbors == 1 or not len(rows):
        return found
    search = _Search(table, ids, n_neighbors)
    starts = range(0, len(rows), search.n_queries)
    parts = [slice(start, start + search.n_queries) for start in starts]
    with _ONE_AT_A_TIME, _thread_pools().limit(limits=1, user_api="blas"):
        results = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
            delayed(search)(queries[part], rows[part]) for part in parts
        )
        with tqdm(total=len(rows), desc="neighbours", unit=" words", disable=verbose < 1, file=sys.stderr) as bar:
            for part, others in zip(parts, results, strict=True):
                found[part, 1:] = others
                bar.update(len(others))
    return found


@cache
def _thread_pools() -> Any:
    """Thread pools of the loaded libraries. Finding the pools takes longer than a search for few words."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Search:
    """Task of a search: a batch of queries against the whole table."""

    def __init__(self, table: np.ndarray, ids: np.ndarray, n_neighbors: int) -> None:
        self.table, self.ids, self.n_neighbors = table, ids, n_neighbors
        self.sample = np.ascontiguousarray(table[::_STRIDE])
        share = n_neighbors * len(self.sample) / len(table)
        # The number of neighbours in the sample is about Poisson distributed: mean plus four standard deviations.
        self.sample_rank = int(np.ceil(share + _SPREAD * (np.sqrt(share) + 1.0)))
        passing = min(len(table), self.sample_rank * _STRIDE)
        self.n_queries = int(np.clip(_MOST_PASSING // passing, 1, _QUERIES))
        # The error of a float32 dot product of unit vectors is at most dim * 2**-24 (Higham 2002, sec. 3.1). The
        # additional 8 covers vectors whose length is not exactly 1, and the rounding of the bounds.
        self.error = (table.shape[1] + 8) * 2.0**-24

    def __call__(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Neighbours of each query without the word itself, shape (n, n_neighbors - 1)."""
        thresholds = self._thresholds(queries)
        positions, scores, ends = self._passing(queries, thresholds)
        others = np.empty((len(rows), self.n_neighbors - 1), dtype=np.int32)
        for i, (query, row) in enumerate(zip(queries, rows.tolist(), strict=True)):
            part = slice(ends[i], ends[i + 1])
            near = self._near(positions[part], scores[part], float(thresholds[i]))
            # If too few words passed the threshold, all words are compared.
            if near is None:
                everything = np.arange(len(self.table))
                near = self._near(everything, self.table @ query, -np.inf)
                assert near is not None
            ordered = self._ordered(near, query)
            others[i] = ordered[ordered != row][: self.n_neighbors - 1]
        return others

    def _thresholds(self, queries: np.ndarray) -> np.ndarray:
        """Threshold of each query, estimated from a sample: slightly more words pass than requested; shape (n,)."""
        n_sampled = len(self.sample)
        if self.sample_rank >= n_sampled:
            return np.full(len(queries), -np.inf, dtype=np.float32)
        place = n_sampled - self.sample_rank
        return np.partition(queries @ self.sample.T, place, axis=1)[:, place]

    def _passing(self, queries: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Table positions and scores of all words that pass, sorted by query, and the borders of the queries."""
        who, positions, scores = [], [], []
        for start in range(0, len(self.table), _TABLE_ROWS):
            block = queries @ self.table[start : start + _TABLE_ROWS].T  # shape: (n, at most _TABLE_ROWS)
            hits = np.flatnonzero(block > thresholds[:, None])
            query, column = np.divmod(hits, block.shape[1])
            who.append(query.astype(np.int16))
            positions.append((column + start).astype(np.int32))
            scores.append(block.ravel()[hits])
        numbers = np.concatenate(who)
        order = np.argsort(numbers, kind="stable")  # within a query the positions keep rising
        ends = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(queries)))])
        return np.concatenate(positions)[order], np.concatenate(scores)[order], ends

    def _near(self, positions: np.ndarray, scores: np.ndarray, threshold: float) -> np.ndarray | None:
        """Positions that certainly include the nearest words; None if a nearest word may have failed the threshold."""
        if len(scores) < self.n_neighbors:
            return None
        last = float(np.partition(scores, len(scores) - self.n_neighbors)[len(scores) - self.n_neighbors])
        # Each score differs from its true cosine by at most one error. A word that is truly among the nearest therefore
        # scores at most two errors below the lowest of the best n_neighbors scores.
        bound = last - 2.0 * self.error
        return positions[scores >= bound] if bound > threshold else None

    def _ordered(self, positions: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Rows by falling cosine. Positions are ascending, so a stable sort keeps equal cosines in row order."""
        # A matrix product is not used: its rounding depends on the position of a row, and equal vectors must have equal
        # cosines.
        cosines = np.multiply(self.table[positions], query, dtype=np.float64).sum(axis=1)
        return self.ids[positions[np.argsort(-cosines, kind="stable")]]
