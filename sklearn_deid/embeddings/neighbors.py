"""Exact search for the nearest words of a word by cosine."""

from __future__ import annotations

import os
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from .neighbor_search import search_neighbors
from .neighbor_store import NeighborFolder, NeighborTable, RecentTables, take_known
from .vectors import WordVectors

# Part of the name of a stored neighbour list: a later rule for neighbours must not read lists of the present rule.
_VERSION = 1
# Room for 60,000 words with 1,000 neighbours.
_RECENT = RecentTables(max_bytes=256 * 2**20)


class NeighborIndex:
    """Exact cosine neighbours in a table of word vectors. The neighbours of each word are computed once.

    The first neighbour of a word is the word itself, as in Friedrich et al. (2019), section 4. With N = 1, the only
    neighbour of a word is therefore the word itself. The other neighbours follow by falling cosine. Words with equal
    cosine follow by row number. The result for a word does not depend on the other words of the query, their order,
    ``n_jobs`` or earlier calls.

    The index keeps its results in memory. All indices of the process share a cache of up to 256 MiB, so clones of an
    estimator in a grid search reuse the results (see :func:`forget_neighbors`). Results for a smaller N are taken from
    results for a larger N.

    Parameters
    ----------
    vectors : WordVectors
        Word vectors. Vectors that are not stored with unit length are copied during a search (76 MiB for 400,000 x 50).
    candidates : array-like of bool, shape (n_words,), default=None
        Whether each word may be a neighbour of other words; ``None`` means all words. Words with a zero vector are
        never neighbours.
    n_jobs : int, default=None
        Number of threads. ``None`` means 1 unless in a ``joblib.parallel_config`` context. -1 means all cores.
    cache_dir : path, default=None
        Folder that keeps results for later runs; ``None`` writes nothing. **The files contain the rows of words that
        occur in the notes. Protect the files like the notes.** Only the owner can access a new folder (mode 0700) and
        its files (mode 0600). Files that are damaged or belong to other vectors are ignored.
    verbose : int, default=0
        A value above 0 shows a progress bar on standard error.

    Attributes
    ----------
    n_candidates : int
        Number of words that may be neighbours. N must not be larger than this number.

    Raises
    ------
    ValueError
        If ``candidates`` is not boolean or has another shape.

    References
    ----------
    Friedrich, M., Köhn, A., Wiedemann, G., Biemann, C. (2019). Adversarial Learning of Privacy-Preserving Text
    Representations for De-Identification of Medical Records. ACL 2019, sections 4 and 9.

    Examples
    --------
    >>> vectors = WordVectors(["pain", "ache", "fever", "unit"], [[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1]])
    >>> index = NeighborIndex(vectors)
    >>> index
    NeighborIndex(n_words=4, n_candidates=4)
    >>> index.query([3, 0], n_neighbors=2).neighbors.tolist()
    [[0, 1], [3, 2]]
    """

    def __init__(
        self,
        vectors: WordVectors,
        *,
        candidates: Any = None,
        n_jobs: int | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.vectors, self.n_jobs, self.cache_dir, self.verbose = vectors, n_jobs, cache_dir, verbose
        self._candidates = None if candidates is None else _check_mask(candidates, len(vectors))
        self._latest: NeighborTable | None = None

    @property
    def n_candidates(self) -> int:
        """Number of words that may be neighbours: candidates with a vector other than zero."""
        return len(self._ids)

    def query(self, rows: Any, n_neighbors: int) -> NeighborTable:
        """Find the nearest words of some words. The first neighbour of a word is the word itself.

        Parameters
        ----------
        rows : array-like of int, shape (n,)
            Rows of the words in the table of word vectors, in any order. Rows may be repeated.
        n_neighbors : int
            Number N of neighbours, from 1 to ``n_candidates``.

        Returns
        -------
        NeighborTable
            ``rows`` holds the distinct rows of the query in ascending order. ``neighbors`` is a read-only int32 array
            of shape (n_distinct, n_neighbors). Column 0 of the array is the word itself, even if the word is not a
            candidate.

        Raises
        ------
        ValueError
            If N is below 1 or above ``n_candidates``, a row is outside of the table, or the vector of a row is zero.
        """
        asked = distinct_rows(rows, self.vectors)
        if not 1 <= n_neighbors <= self.n_candidates:
            raise ValueError(
                "The 'n_neighbors' parameter of NeighborIndex.query must be an int from 1 to the number of possible "
                f"neighbours, {self.n_candidates}. Got {n_neighbors} instead."
            )
        neighbors, known = self._known(asked, n_neighbors)
        if not known.all():
            missing = asked[~known]
            found = self._search(missing, n_neighbors)
            if len(missing) == len(asked):
                neighbors = found
            else:
                neighbors[~known] = found
        neighbors = neighbors.view()
        # Later callers may receive the same array, so nobody may write into it.
        neighbors.flags.writeable = False
        self._latest = NeighborTable(asked, neighbors)
        return self._latest

    def _known(self, rows: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        tables = [] if self._latest is None else [self._latest]
        tables += _RECENT.find(self._key, n_neighbors)
        neighbors, known = take_known(tables, rows, n_neighbors)
        # Files are read only if the tables in memory are not sufficient.
        if self._folder is None or known.all():
            return neighbors, known
        return take_known(tables + self._folder.tables(), rows, n_neighbors)

    def _search(self, rows: np.ndarray, n_neighbors: int) -> np.ndarray:
        ids = self._ids
        table = self.vectors.matrix() if len(ids) == len(self.vectors) else self.vectors.vectors_at(ids)
        queries = self.vectors.vectors_at(rows)
        found = search_neighbors(table, ids, queries, rows, n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose)
        found.flags.writeable = False
        # Only the rows of this search are new. Known rows are in a table already.
        result = NeighborTable(rows, found)
        _RECENT.add(self._key, result)
        if self._folder is not None:
            self._folder.write(result)
        return found

    @cached_property
    def _ids(self) -> np.ndarray:
        """Rows of all words that may be neighbours."""
        allowed = self.vectors.has_direction()
        return np.flatnonzero(allowed if self._candidates is None else allowed & self._candidates)

    @cached_property
    def _key(self) -> str:
        digest = blake2b(f"neighbours {_VERSION} {self.vectors.checksum}".encode(), digest_size=16)
        digest.update(self._ids.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def _folder(self) -> NeighborFolder | None:
        return None if self.cache_dir is None else NeighborFolder(self.cache_dir, self._key, len(self.vectors))

    def __getstate__(self) -> dict[str, Any]:
        # Results reveal words of the notes, so a pickle of an index contains no results.
        derived = ("_folder", "_ids", "_key")
        return {**{k: v for k, v in vars(self).items() if k not in derived}, "_latest": None}

    def __repr__(self) -> str:
        kept = ", on disk" if self.cache_dir is not None else ""
        return f"NeighborIndex(n_words={len(self.vectors)}, n_candidates={self.n_candidates}{kept})"


def forget_neighbors() -> None:
    """Clear the neighbour cache of the process. Each index keeps its latest result.

    Examples
    --------
    >>> forget_neighbors()
    """
    _RECENT.clear()


def _check_mask(candidates: Any, n_words: int) -> np.ndarray:
    # The mask is copied, so that later changes by the caller do not affect the index.
    mask = np.array(candidates)
    if mask.dtype != np.bool_ or mask.shape != (n_words,):
        raise ValueError(
            f"The 'candidates' parameter of NeighborIndex must be a bool array of shape ({n_words},). "
            f"Got {mask.dtype} of shape {mask.shape} instead."
        )
    return mask


def distinct_rows(rows: Any, vectors: WordVectors) -> np.ndarray:
    """Distinct rows of a query in ascending order, int64.

    Raises
    ------
    ValueError
        If rows are not integers, lie outside of the table, or have a zero vector.
    """
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise ValueError(
            f"The 'rows' parameter must be a 1-D array of int. Got {array.dtype} of shape {array.shape} instead."
        )
    distinct = np.unique(array.astype(np.int64))
    n_outside = int(((array < 0) | (array >= len(vectors))).sum())
    if n_outside:
        raise ValueError(
            f"The 'rows' parameter must hold rows from 0 to {len(vectors) - 1}. {n_outside} of them are not."
        )
    n_zero = int((~vectors.vectors_at(distinct).any(axis=1)).sum())
    if n_zero:
        raise ValueError(f"{n_zero} of {len(distinct)} 'rows' have a vector of zeros, which has no neighbours.")
    return distinct
