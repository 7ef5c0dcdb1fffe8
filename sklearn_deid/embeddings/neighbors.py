"""Which words of a table are nearest to a word, by cosine, exactly."""

from __future__ import annotations

import os
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from .neighbor_search import search_neighbors
from .neighbor_store import NeighborFolder, NeighborTable, RecentTables, take_known
from .vectors import WordVectors

_VERSION = 1
# Room for 60,000 words with 1,000 neighbours.
_RECENT = RecentTables(max_bytes=256 * 2**20)


class NeighborIndex:
    """Exact cosine neighbours over a table of word vectors, searched once for each word.

    A word is its own first neighbour, as in Friedrich et al. (2019), section 4, so that N = 1 changes nothing. The
    others follow by falling cosine, and words of equal cosine by row number. The result for a word depends neither on
    the other words asked for, nor on their order, ``n_jobs`` or earlier calls.

    What is found is kept for the run: in the index, and up to 256 MiB for all indices of the process, so that clones of
    an estimator in a grid search find it (see :func:`forget_neighbors`). A smaller N is read off a larger one.

    Parameters
    ----------
    vectors : WordVectors
        A table that is not of unit length is copied while a search runs (76 MiB for 400,000 x 50).
    candidates : array-like of bool, shape (n_words,), default=None
        Which words may be neighbours of others; ``None`` means all. Words without a vector (zeros) never are.
    n_jobs : int, default=None
        Threads; ``None`` means 1 unless in a ``joblib.parallel_config`` context, -1 all cores.
    cache_dir : path, default=None
        Folder that keeps results for later runs; ``None`` writes nothing. **Its files name the rows of words that occur
        in the notes, and are as sensitive as the notes.** A missing folder is made for its owner alone (mode 0700), and
        so are the files (0600). Files that are damaged or belong to other vectors are passed over.
    verbose : int, default=0
        Above 0: a progress bar on standard error.

    Attributes
    ----------
    n_candidates : int
        Words that may be neighbours; the largest N.

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
        """Words that may be neighbours: candidates that have a vector."""
        return len(self._ids)

    def query(self, rows: Any, n_neighbors: int) -> NeighborTable:
        """Nearest words of some words, themselves included.

        Parameters
        ----------
        rows : array-like of int, shape (n,)
            Rows of the word vectors, in any order, repeated or not.
        n_neighbors : int
            N, from 1 to ``n_candidates``.

        Returns
        -------
        NeighborTable
            ``rows``: the distinct rows asked for, rising. ``neighbors``: shape (n_distinct, n_neighbors), int32, not
            writeable; column 0 is the word itself, whether or not it is a candidate.

        Raises
        ------
        ValueError
            If N is below 1 or above ``n_candidates``, a row is outside the table, or the vector of a row is zero.
        """
        asked = distinct_rows(rows, self.vectors)
        if not 1 <= n_neighbors <= self.n_candidates:
            raise ValueError(
                f"The 'n_neighbors' parameter must be an int from 1 to the number of words that may be neighbours, "
                f"{self.n_candidates}. Got {n_neighbors} instead."
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
        neighbors.flags.writeable = False  # it may be shared with later callers
        self._latest = NeighborTable(asked, neighbors)
        return self._latest

    def _known(self, rows: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        tables = [] if self._latest is None else [self._latest]
        tables += _RECENT.find(self._key, n_neighbors)
        neighbors, known = take_known(tables, rows, n_neighbors)
        if self._folder is None or known.all():
            return neighbors, known
        return take_known(tables + self._folder.tables(), rows, n_neighbors)

    def _search(self, rows: np.ndarray, n_neighbors: int) -> np.ndarray:
        ids = self._ids
        table = self.vectors.matrix() if len(ids) == len(self.vectors) else self.vectors.vectors_at(ids)
        queries = self.vectors.vectors_at(rows)
        found = search_neighbors(table, ids, queries, rows, n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose)
        found.flags.writeable = False
        result = NeighborTable(rows, found)
        _RECENT.add(self._key, result)
        if self._folder is not None:
            self._folder.write(result)
        return found

    @cached_property
    def _ids(self) -> np.ndarray:
        """Rows of all words that may be neighbours."""
        allowed = np.concatenate([block.any(axis=1) for block in self.vectors.blocks()] or [np.zeros(0, dtype=bool)])
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
        # What was asked for names words of the notes; a pickle of an index holds none of it.
        derived = ("_folder", "_ids", "_key")
        return {**{k: v for k, v in vars(self).items() if k not in derived}, "_latest": None}

    def __repr__(self) -> str:
        kept = ", on disk" if self.cache_dir is not None else ""
        return f"NeighborIndex(n_words={len(self.vectors)}, n_candidates={self.n_candidates}{kept})"


def forget_neighbors() -> None:
    """Free the neighbours that the process keeps for all indices; an index keeps its latest result.

    Examples
    --------
    >>> forget_neighbors()
    """
    _RECENT.clear()


def _check_mask(candidates: Any, n_words: int) -> np.ndarray:
    mask = np.array(candidates)  # a copy: later changes must not reach the index
    if mask.dtype != np.bool_ or mask.shape != (n_words,):
        raise ValueError(
            f"The 'candidates' parameter must be a bool array of shape ({n_words},). "
            f"Got {mask.dtype} of shape {mask.shape} instead."
        )
    return mask


def distinct_rows(rows: Any, vectors: WordVectors) -> np.ndarray:
    """Rows asked for, rising, each once; int64.

    Raises
    ------
    ValueError
        If they are not integers, lie outside the table, or their vector is zero.
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
