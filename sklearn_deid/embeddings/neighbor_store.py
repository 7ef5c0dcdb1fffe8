"""Cache of neighbours: in memory for the process, and on disk if a folder is set."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from .._atomic import new_file

_READ_AT_ONCE = 2**20


class NeighborTable(NamedTuple):
    """Neighbours of some words of a table of word vectors.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
        Distinct rows of the query words in ascending order.
    neighbors : ndarray of int32, shape (n, n_neighbors)
        Rows of the nearest words, the nearest first. Column 0 is the word itself.
    """

    rows: np.ndarray
    neighbors: np.ndarray

    # The repr shows counts only: rows reveal words of notes.
    def __repr__(self) -> str:
        return f"NeighborTable(n={self.neighbors.shape[0]}, n_neighbors={self.neighbors.shape[1]})"


def take_known(tables: Sequence[NeighborTable], rows: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of ``rows`` from tables with at least ``n_neighbors`` neighbours.

    Returns
    -------
    neighbors : ndarray of int32, shape (n, n_neighbors)
        Neighbours of each row; undefined for rows that are not in the tables.
    known : ndarray of bool, shape (n,)
        Whether the tables contain each row.
    """
    usable = [table for table in tables if table.neighbors.shape[1] >= n_neighbors and len(table.rows)]
    for table in usable:
        # A table with exactly these rows is returned without a copy.
        if np.array_equal(table.rows, rows):
            return table.neighbors[:, :n_neighbors], np.ones(len(rows), dtype=bool)
    neighbors = np.empty((len(rows), n_neighbors), dtype=np.int32)
    known = np.zeros(len(rows), dtype=bool)
    for table in usable:
        missing = np.flatnonzero(~known)
        # A row above all rows of the table has no place. The last place fails the comparison below.
        place = np.minimum(np.searchsorted(table.rows, rows[missing]), len(table.rows) - 1)
        here = table.rows[place] == rows[missing]
        neighbors[missing[here]] = table.neighbors[place[here], :n_neighbors]
        known[missing[here]] = True
    return neighbors, known


class RecentTables:
    """Tables in memory, up to a number of bytes. The least recently used table is removed first.

    Parameters
    ----------
    max_bytes : int
        Largest total size of the tables in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._tables: OrderedDict[tuple[str, int], NeighborTable] = OrderedDict()
        self._count, self._lock = 0, Lock()

    @property
    def n_bytes(self) -> int:
        """Total size of the tables in bytes."""
        return sum(table.rows.nbytes + table.neighbors.nbytes for table in self._tables.values())

    def find(self, key: str, n_neighbors: int) -> list[NeighborTable]:
        """Tables of a key with at least ``n_neighbors`` neighbours."""
        with self._lock:
            fitting = [
                place
                for place, table in self._tables.items()
                if place[0] == key and table.neighbors.shape[1] >= n_neighbors
            ]
            for place in fitting:
                self._tables.move_to_end(place)
            return [self._tables[place] for place in fitting]

    def add(self, key: str, table: NeighborTable) -> None:
        """Add a table. Removes tables that the new table covers, and old tables beyond ``max_bytes``."""
        with self._lock:
            # A table is covered if the new table has all of its rows and at least as many neighbours.
            covered = [
                place
                for place, old in self._tables.items()
                if place[0] == key
                and old.neighbors.shape[1] <= table.neighbors.shape[1]
                and np.isin(old.rows, table.rows).all()
            ]
            for place in covered:
                del self._tables[place]
            self._count += 1
            self._tables[key, self._count] = table
            while self._tables and self.n_bytes > self.max_bytes:
                self._tables.popitem(last=False)

    def clear(self) -> None:
        """Remove all tables."""
        with self._lock:
            self._tables.clear()


class _Digest:
    """Stream that stores no content and computes the file name for the written content."""

    def __init__(self, key: str) -> None:
        self._key, self._digest = key, blake2b(key.encode(), digest_size=16)

    def write(self, part: bytes) -> int:
        self._digest.update(part)
        return len(part)

    @property
    def name(self) -> str:
        return f"{self._key}-{self._digest.hexdigest()}.npy"


class NeighborFolder:
    """Tables on disk. Each table is a ``.npy`` file that is memory-mapped; its column 0 holds the rows of the query.

    The name of a file consists of the key and a digest of key and content. A file that is damaged or belongs to other
    vectors does not match its name and is ignored. Damaged and foreign files are never deleted. A file is replaced only
    by the same table. A file is renamed to its final name when its content is complete, so several processes may write
    at the same time.

    Parameters
    ----------
    path : path
        Folder of the files. A missing folder is created for its owner only (mode 0700). An existing folder keeps its
        mode. Files have mode 0600.
    key : str
        Digest of the word vectors and candidates.
    n_words : int
        Number of words of the word vectors. A file with a larger row is ignored.
    """

    def __init__(self, path: str | os.PathLike[str], key: str, n_words: int) -> None:
        self.path, self.key, self.n_words = Path(path), key, n_words
        self._read: dict[str, NeighborTable | None] = {}

    def tables(self) -> list[NeighborTable]:
        """All tables of the key. Each file is checked when it is read for the first time."""
        if not self.path.is_dir():
            return []
        for file in sorted(self.path.glob(f"{self.key}-*.npy")):
            if self._read.get(file.name) is None:
                self._read[file.name] = self._load(file)
        return [table for table in self._read.values() if table is not None]

    def write(self, table: NeighborTable) -> None:
        """Add a table.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        neighbors = np.ascontiguousarray(table.neighbors, dtype="<i4")
        # The name contains a digest of the content, so that a first pass computes the digest without a copy in memory.
        content = _Digest(self.key)
        np.save(content, neighbors, allow_pickle=False)
        with new_file(self.path / content.name, private=True) as stream:
            np.save(stream, neighbors, allow_pickle=False)

    def _name(self, file: Path) -> str:
        content = _Digest(self.key)
        with file.open("rb") as stream:
            while part := stream.read(_READ_AT_ONCE):
                content.write(part)
        return content.name

    def _load(self, file: Path) -> NeighborTable | None:
        try:
            if not file.is_file() or self._name(file) != file.name:
                return None
            neighbors = np.lib.format.open_memmap(file, mode="r")
        except (OSError, ValueError, TypeError, MemoryError, RecursionError):
            # A damaged file counts as missing: its neighbours are searched again.
            return None
        if neighbors.ndim != 2 or neighbors.dtype != np.dtype("<i4") or not neighbors.size:
            return None
        # A word is its own nearest neighbour, so that column 0 holds the rows of the query.
        rows = np.array(neighbors[:, 0], dtype=np.int64)
        in_table = neighbors.min() >= 0 and neighbors.max() < self.n_words
        return NeighborTable(rows, neighbors) if in_table and (np.diff(rows) > 0).all() else None
