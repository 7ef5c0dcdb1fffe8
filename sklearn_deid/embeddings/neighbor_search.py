"""Exact nearest words by cosine: float32 products pick a few, float64 puts them in order."""

from __future__ import annotations

import sys
from threading import Lock

import numpy as np

# Queries and table rows of one product: 2 MiB of float32 scores, which stay in the cache of a core.
_QUERIES, _TABLE_ROWS = 128, 4096
# Every 32nd word is scored first, for a threshold that about twice the words asked for pass.
_STRIDE, _SPREAD = 32, 4.0
# Words of one task that pass their threshold, at 24 bytes each.
_MOST_PASSING = 2**22

# BLAS threads are set for the process: two searches that overlap would restore each other's limit.
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
    """Nearest words of each query, the word itself first, then by falling cosine, equal ones by row.

    The cosine is the float64 sum of products of the float32 unit vectors, so neither the order of queries nor the
    number of threads changes the result.

    Not ``sklearn.neighbors.NearestNeighbors(algorithm="brute")``: 5,000 queries, 1,000 neighbours, 400,000 x 50 took it
    7.1 s on two idle cores and this 4.1 s; 15.2 s and 7.4 s on busy ones (`benchmarks/neighbor_search.py`). It keeps a
    heap of 1,000 for each query; here a threshold from a sample of the table leaves 1,800 words to sort.

    Parameters
    ----------
    table : ndarray of float32, shape (n_candidates, dim)
        Unit vectors of the words that may be neighbours.
    ids : ndarray of int64, shape (n_candidates,)
        Their rows, rising.
    queries : ndarray of float32, shape (n, dim)
        Unit vectors of the words asked for.
    rows : ndarray of int64, shape (n,)
        Their rows; they need not be among ``ids``.
    n_neighbors : int
        From 1 to ``n_candidates``, the word itself included.
    n_jobs : int, optional
        Threads; ``None`` is 1 unless a `joblib.parallel_config` says otherwise.
    verbose : int, default=0
        Above 0: a progress bar.

    Returns
    -------
    ndarray of int32, shape (n, n_neighbors)
    """
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    found = np.empty((len(rows), n_neighbors), dtype=np.int32)
    found[:, 0] = rows
    if n_neighbors == 1 or not len(rows):
        return found
    search = _Search(table, ids, n_neighbors)
    starts = range(0, len(rows), search.n_queries)
    parts = [slice(start, start + search.n_queries) for start in starts]
    with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"):
        results = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
            delayed(search)(queries[part], rows[part]) for part in parts
        )
        with tqdm(total=len(rows), desc="neighbours", unit=" words", disable=verbose < 1, file=sys.stderr) as bar:
            for part, others in zip(parts, results, strict=True):
                found[part, 1:] = others
                bar.update(len(others))
    return found


class _Search:
    """One task of a search: some queries against the whole table."""

    def __init__(self, table: np.ndarray, ids: np.ndarray, n_neighbors: int) -> None:
        self.table, self.ids, self.n_neighbors = table, ids, n_neighbors
        self.sample = np.ascontiguousarray(table[::_STRIDE])
        share = n_neighbors * len(self.sample) / len(table)
        self.sample_rank = int(np.ceil(share + _SPREAD * (np.sqrt(share) + 1.0)))
        passing = min(len(table), self.sample_rank * _STRIDE)
        self.n_queries = int(np.clip(_MOST_PASSING // passing, 1, _QUERIES))
        # A float32 dot product of unit vectors is off by at most dim * 2**-24 (Higham 2002, sec. 3.1), and a little
        # for vectors that are not quite of unit length and for rounding the bounds themselves.
        self.error = (table.shape[1] + 8) * 2.0**-24

    def __call__(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """All neighbours but the word itself, shape (n, n_neighbors - 1)."""
        thresholds = self._thresholds(queries)
        positions, scores, ends = self._passing(queries, thresholds)
        others = np.empty((len(rows), self.n_neighbors - 1), dtype=np.int32)
        for i, (query, row) in enumerate(zip(queries, rows.tolist(), strict=True)):
            part = slice(ends[i], ends[i + 1])
            near = self._near(positions[part], scores[part], float(thresholds[i]))
            if near is None:  # too few passed: look at all of them
                everything = np.arange(len(self.table))
                near = self._near(everything, self.table @ query, -np.inf)
                assert near is not None
            ordered = self._ordered(near, query)
            others[i] = ordered[ordered != row][: self.n_neighbors - 1]
        return others

    def _thresholds(self, queries: np.ndarray) -> np.ndarray:
        """A score for each query that hardly more words pass than are asked for; judged from the sample."""
        n_sampled = len(self.sample)
        if self.sample_rank >= n_sampled:
            return np.full(len(queries), -np.inf, dtype=np.float32)
        place = n_sampled - self.sample_rank
        return np.partition(queries @ self.sample.T, place, axis=1)[:, place]

    def _passing(self, queries: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions in the table and scores of all words that pass, query by query, and where each query begins."""
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
        """Positions among which the nearest are for certain, or None if some of those may not have passed."""
        if len(scores) < self.n_neighbors:
            return None
        last = float(np.partition(scores, len(scores) - self.n_neighbors)[len(scores) - self.n_neighbors])
        # Whoever is truly among the nearest scores at most two errors below the last of the nearest by score.
        bound = last - 2.0 * self.error
        return positions[scores >= bound] if bound > threshold else None

    def _ordered(self, positions: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Rows by falling cosine; positions rise, so that a stable sort leaves equal ones in row order."""
        # Not a matrix product: its rounding depends on where a row stands, and equal vectors must get equal cosines.
        cosines = np.multiply(self.table[positions], query, dtype=np.float64).sum(axis=1)
        return self.ids[positions[np.argsort(-cosines, kind="stable")]]
