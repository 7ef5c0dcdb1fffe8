"""Array of rows with different lengths, stored as a flat array with offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import SequenceError
from .row_ids import has_missing, row_ids

if TYPE_CHECKING:
    from typing_extensions import Self


class RaggedArray:
    """Array of rows with different lengths, stored as a flat array with offsets.

    The array has ``shape == (n,)`` and supports ``X[key]`` and ``X[key, ...]``, the two forms of indexing in
    scikit-learn. Without the attribute ``shape``, scikit-learn would convert the array to a list at the first split.

    Parameters
    ----------
    data : ndarray of shape (n_items,) or (n_items, d)
        Items of all rows in order.
    offsets : ndarray of shape (n + 1,), dtype int64
        Borders of the rows. Row ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    documents : ndarray of shape (n,), dtype int64, or None
        Number of the document of each row; None if the documents are unknown (see `with_documents`). Indexing, copying
        and pickling keep the documents. Comparisons ignore the documents.
    patients : ndarray of shape (n,), dtype int64, or None
        Number of the patient of each row, stored like ``documents``. None if a tagger reads each note without the other
        notes of the patient.
    """

    __slots__ = ("data", "documents", "offsets", "patients")
    # None makes numpy use our ``__eq__`` for ``ndarray == self`` instead of broadcasting.
    __array_ufunc__ = None

    def __init__(self, data: np.ndarray, offsets: np.ndarray | None = None) -> None:
        if offsets is None:
            name = type(self).__name__
            raise SequenceError(f"{name} needs a flat array and 'offsets'. Sentences are given to {name}.from_rows.")
        # np.asarray would turn np.memmap into a plain array, and the file would no longer be mapped.
        self.data = data if isinstance(data, np.memmap) else np.asarray(data)
        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.documents: np.ndarray | None = None
        self.patients: np.ndarray | None = None
        if self.offsets.ndim != 1 or not len(self.offsets) or self.offsets[0] != 0:
            raise SequenceError("'offsets' must be one-dimensional and start at 0.")
        if (np.diff(self.offsets) < 0).any() or self.offsets[-1] != len(self.data):
            raise SequenceError("'offsets' must not decrease and must end at len(data).")

    @property
    def shape(self) -> tuple[int]:
        """Number of rows, as the tuple ``(n,)``."""
        return (len(self.offsets) - 1,)

    @property
    def ndim(self) -> int:
        """Number of dimensions, always 1."""
        return 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of items in each row, shape (n,)."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """Size of the two arrays in bytes."""
        return self.data.nbytes + self.offsets.nbytes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        bounds = self.offsets.tolist()
        for start, stop in zip(bounds[:-1], bounds[1:], strict=True):
            yield self._row(start, stop)

    def _row(self, start: int, stop: int) -> Any:
        return self.data[start:stop]

    def __getitem__(self, key: Any) -> Any:
        # scikit-learn indexes arrays as X[key, ...].
        if isinstance(key, tuple):
            if any(part is not Ellipsis for part in key[1:]):
                raise IndexError(f"{type(self).__name__} has one dimension.")
            key = key[0]
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"There is no row {key} in an array of {len(self)} rows.")
            row = int(key) % len(self)
            return self._row(int(self.offsets[row]), int(self.offsets[row + 1]))
        return self._take(np.arange(len(self))[key if isinstance(key, slice) else _as_index(key, len(self))])

    def _take(self, rows: np.ndarray) -> Self:
        if isinstance(self.data, np.memmap) and len(rows) and (np.diff(rows) == 1).all():
            # Consecutive rows of a mapped file are a slice of the file and need no copy.
            bounds = self.offsets[rows[0] : rows[-1] + 2]
            return self._part(self._with(self.data[bounds[0] : bounds[-1]], bounds - bounds[0]), rows)
        # Item j of the result comes from item j + shift[j] of the data: a single gather without a loop over rows.
        # shape: lengths (n_rows,), offsets (n_rows + 1,), shift (n_items,)
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        shift = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return self._part(self._with(self.data[np.arange(offsets[-1]) + shift], offsets), rows)

    def _part(self, part: Self, rows: np.ndarray) -> Self:
        """Array of some rows, with their documents and patients."""
        return part.with_documents(*(None if of is None else of[rows] for of in (self.documents, self.patients)))

    def with_documents(self, documents: Any, patients: Any = None) -> Self:
        """Copy of the array that also stores the document of each row. The data are shared, not copied.

        Parameters
        ----------
        documents : array-like of shape (n,), or None
            Document of each row, as numbers or as ids of any kind. The array stores only which rows belong to the same
            document, not the ids. The rows of a document must be in the order of the document.
        patients : array-like of shape (n,), optional
            Patient of each row, stored like the documents. With ``patients``, a tagger with a memory of PHI words uses
            the words of all notes of a patient.

        Examples
        --------
        >>> from sklearn_deid.sequences import TokenSequences
        >>> X = TokenSequences.from_rows([["Dr", "Who"], ["left"], ["No", "pain"]]).with_documents(["a", "a", "b"])
        >>> X[1:].documents.tolist()
        [0, 1]
        """
        new = self._with(self.data, self.offsets)
        new.documents, new.patients = self._numbers(documents, "documents"), self._numbers(patients, "patients")
        return new

    def _numbers(self, given: Any, name: str) -> np.ndarray | None:
        """Ids as small integers, so that no id of a document or patient remains in the container."""
        if given is None:
            return None
        ids = row_ids(given)
        if ids.shape != self.shape:
            raise SequenceError(f"{name!r} must hold one id for each of {len(self)} rows. Got {ids.shape} instead.")
        # Rows without an id would be rows of one document, and ids of several types cannot be sorted.
        if not has_missing(ids):
            with suppress(TypeError):
                return np.unique(ids, return_inverse=True)[1].astype(np.int64)
        raise SequenceError(f"{name!r} must hold ids of one type, and no id may be missing.")

    def _with(self, data: np.ndarray, offsets: np.ndarray) -> Self:
        """New array of the same class and with the same further attributes. Subclasses extend this method."""
        return type(self)(data, offsets)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return object_rows(self)

    def __reduce__(self) -> tuple:
        # Unknown documents are left out of the pickle, so that the hashes and caches of joblib stay valid.
        if self.documents is None and self.patients is None:
            return (type(self), self._arguments())
        patients = () if self.patients is None else (self.patients,)
        return (_with_documents, (type(self), self._arguments(), self.documents, *patients))

    def _arguments(self) -> tuple:
        return (self.data, self.offsets)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    # The repr shows counts only: the items are note text.
    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)}, items={len(self.data)})"

    def tolist(self) -> list[list]:
        """The rows as plain lists."""
        return [list(row) for row in self]


def object_rows(rows: Iterable[Any]) -> np.ndarray:
    """1-D object array of rows. ``np.array`` would make a 2-D array of rows with equal lengths."""
    items = list(rows)
    # Assignment to single places keeps each row as one object, whatever its length.
    out = np.empty(len(items), dtype=object)
    for i, row in enumerate(items):
        out[i] = row
    return out


def _with_documents(
    cls: type[RaggedArray], arguments: tuple, documents: np.ndarray | None, patients: np.ndarray | None = None
) -> RaggedArray:
    return cls(*arguments).with_documents(documents, patients)


def _as_index(key: Any, n: int) -> np.ndarray:
    index = np.asarray(key)
    # shape: (n_chosen,), or (n,) for a boolean index
    if index.ndim != 1:
        raise IndexError(f"An index needs one dimension. Got {index.ndim} instead.")
    if index.dtype == bool and index.shape != (n,):
        raise IndexError(f"A boolean index needs shape ({n},). Got {index.shape} instead.")
    return index if index.size else index.astype(np.intp)
