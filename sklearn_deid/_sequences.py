"""Ragged X and y: the one place where they are made and checked.

X is a sequence of sentences, each a sequence of tokens (or a 2-D array of token vectors); y is a sequence of tag
sequences. Lists of lists are accepted everywhere and converted once, to one flat array plus offsets: the containers
here look like a 1-D array of ``n`` sentences to scikit-learn's splitters, caches and joblib.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from ._origin import RepresentationOrigin
from .exceptions import SequenceError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "RaggedArray",
    "Representation",
    "RepresentationOrigin",
    "TokenSequences",
    "check_groups",
    "check_sequences",
    "check_tags",
    "object_rows",
]


class RaggedArray:
    """Rows of different lengths, stored as one flat array plus offsets.

    Has ``shape == (n,)`` and takes ``X[key]`` and ``X[key, ...]``, the two forms in which scikit-learn indexes; without
    ``shape`` it would turn into a plain list at the first split.

    Parameters
    ----------
    data : ndarray of shape (n_items,) or (n_items, d)
        All rows, one after the other.
    offsets : ndarray of shape (n + 1,), dtype int64
        Row ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    documents : ndarray of shape (n,), dtype int64, or None
        Number of the document that each row comes from, where it is known (see `with_documents`). Kept by indexing,
        copies and pickles; it is no part of equality.
    """

    __slots__ = ("data", "documents", "offsets")
    __array_ufunc__ = None  # so that ``ndarray == self`` asks us instead of broadcasting

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        # A file stays mapped: np.asarray would turn np.memmap into a plain array.
        self.data = data if isinstance(data, np.memmap) else np.asarray(data)
        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.documents: np.ndarray | None = None
        if self.offsets.ndim != 1 or not len(self.offsets) or self.offsets[0] != 0:
            raise SequenceError("'offsets' must be one-dimensional and start at 0.")
        if (np.diff(self.offsets) < 0).any() or self.offsets[-1] != len(self.data):
            raise SequenceError("'offsets' must not decrease and must end at len(data).")

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: the number of rows."""
        return (len(self.offsets) - 1,)

    @property
    def ndim(self) -> int:
        """Always 1."""
        return 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of items in each row, shape (n,)."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """Bytes held by the two arrays."""
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
        if isinstance(key, tuple):  # scikit-learn asks for X[key, ...]
            if any(part is not Ellipsis for part in key[1:]):
                raise IndexError(f"{type(self).__name__} has one dimension.")
            key = key[0]
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"Row {key} of {len(self)} rows.")
            row = int(key) % len(self)
            return self._row(int(self.offsets[row]), int(self.offsets[row + 1]))
        return self._take(np.arange(len(self))[key if isinstance(key, slice) else _as_index(key, len(self))])

    def _take(self, rows: np.ndarray) -> Self:
        if isinstance(self.data, np.memmap) and len(rows) and (np.diff(rows) == 1).all():
            bounds = self.offsets[rows[0] : rows[-1] + 2]  # neighbours in the file need no copy
            part = self._with(self.data[bounds[0] : bounds[-1]], bounds - bounds[0])
            return part.with_documents(None if self.documents is None else self.documents[rows])
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        shift = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        part = self._with(self.data[np.arange(offsets[-1]) + shift], offsets)
        return part.with_documents(None if self.documents is None else self.documents[rows])

    def with_documents(self, documents: Any) -> Self:
        """The same rows, which know their documents.

        Parameters
        ----------
        documents : array-like of shape (n,), or None
            Document of each row, as numbers or as ids of any kind; only which rows have the same one is kept. Rows of
            one document stand in its order.

        Examples
        --------
        >>> X = TokenSequences.from_rows([["Dr", "Who"], ["left"], ["No", "pain"]]).with_documents(["a", "a", "b"])
        >>> X[1:].documents.tolist()
        [0, 1]
        """
        new = self._with(self.data, self.offsets)
        if documents is not None:
            ids = np.asarray(documents)
            if ids.shape != self.shape:
                raise SequenceError(f"'documents' must hold one id for each of {len(self)} rows. Got {ids.shape}.")
            new.documents = np.unique(ids, return_inverse=True)[1].astype(np.int64)
        return new

    def _with(self, data: np.ndarray, offsets: np.ndarray) -> Self:
        """Some of the rows, with what else belongs to them."""
        return type(self)(data, offsets)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return object_rows(self)

    def __reduce__(self) -> tuple:
        # What is not known leaves no trace: hashes of joblib, and so its caches, stay valid.
        if self.documents is None:
            return (type(self), self._arguments())
        return (_with_documents, (type(self), self._arguments(), self.documents))

    def _arguments(self) -> tuple:
        return (self.data, self.offsets)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:  # counts only: the items are note text
        return f"{type(self).__name__}(n={len(self)}, items={len(self.data)})"

    def tolist(self) -> list[list]:
        """The rows as plain lists."""
        return [list(row) for row in self]


class TokenSequences(RaggedArray):
    """Sentences of tokens, or tag sequences: a flat object array of interned strings plus offsets.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Dr", ".", "Who"], ["left"]])
    >>> X.shape, X.lengths.tolist(), X[1]
    ((2,), [3, 1], ['left'])
    """

    __slots__ = ()

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, name: str = "X") -> TokenSequences:
        """Convert rows of strings; raises SequenceError that names the row."""
        flat: list[str] = []
        offsets = [0]
        for number, row in enumerate(rows):
            if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
                raise SequenceError(
                    f"'{name}' must be a sequence of sentences, each a sequence of tokens. Row {number} is a "
                    f"{type(row).__name__}. A single sentence must be wrapped: [tokens]."
                )
            tokens = list(row)  # a row may be an iterator, which a second look would find half empty
            try:
                flat.extend(list(map(intern, tokens)))
            except TypeError:  # a str subclass such as numpy.str_, or no string at all
                flat.extend([intern(_as_str(token, name, number)) for token in tokens])
            offsets.append(len(flat))
        data = np.empty(len(flat), dtype=object)
        data[:] = flat
        return cls(data, np.asarray(offsets))

    def _row(self, start: int, stop: int) -> list[str]:
        return self.data[start:stop].tolist()


class Representation(RaggedArray):
    """Sentences of token vectors: one flat float32 array of shape (n_tokens, d) plus offsets.

    Parameters
    ----------
    data : ndarray or memmap of shape (n_tokens, d)
        All vectors; a memmap stays one as long as no copy is needed.
    offsets : ndarray of shape (n + 1,), dtype int64
        Sentence ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
    origin : RepresentationOrigin, default=None
        The representer that made the vectors. Kept by indexing, copies and pickles, part of equality; None where it is
        not known, or where data of different origins are joined.
    """

    __slots__ = ("origin",)

    def __init__(self, data: np.ndarray, offsets: np.ndarray, origin: RepresentationOrigin | None = None) -> None:
        super().__init__(data, offsets)
        if origin is not None and not isinstance(origin, RepresentationOrigin):
            raise SequenceError(f"'origin' must be a RepresentationOrigin or None. Got {type(origin).__name__}.")
        self.origin = origin

    @classmethod
    def concatenate(cls, parts: Sequence[Representation]) -> Representation:
        """Join sentences of several representations of one d; the origin stays if all have the same.

        Examples
        --------
        >>> part = Representation.from_rows([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
        >>> Representation.concatenate([part, part[:1]]).lengths.tolist()
        [1, 2, 1]
        """
        if not parts or len({part.data.shape[1:] for part in parts}) != 1:
            raise SequenceError("Only representations of one dimension d can be joined, and at least one is needed.")
        offsets = np.concatenate(([0], np.cumsum(np.concatenate([part.lengths for part in parts]))))
        same = all(part.origin == parts[0].origin for part in parts)
        return cls(np.concatenate([part.data for part in parts]), offsets, parts[0].origin if same else None)

    def _with(self, data: np.ndarray, offsets: np.ndarray) -> Self:
        return type(self)(data, offsets, self.origin)

    def _arguments(self) -> tuple:
        return super()._arguments() if self.origin is None else (self.data, self.offsets, self.origin)

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is True and isinstance(other, Representation):
            return self.origin == other.origin
        return same

    __hash__ = None

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str = "X") -> Representation:
        """Convert rows of 2-D arrays (n_tokens, d); raises SequenceError that names the row."""
        arrays = [_as_vectors(row, name, number) for number, row in enumerate(rows)]
        widths = {a.shape[1:] for a in arrays if a.size}
        if len(widths) > 1 or any(len(w) != 1 for w in widths):
            raise SequenceError(f"Every row of '{name}' must have shape (n_tokens, d) with one d.")
        (d,) = widths.pop() if widths else (0,)
        offsets = np.concatenate(([0], np.cumsum([len(a) for a in arrays], dtype=np.int64)))
        kept = [a for a in arrays if a.size]
        data = np.concatenate(kept) if kept else np.empty((0, d), dtype=np.float32)
        if not np.isfinite(data).all():
            raise SequenceError(f"'{name}' holds NaN or infinity.")
        return cls(data, offsets)

    @property
    def d(self) -> int:
        """Dimension of a token vector."""
        return int(self.data.shape[1])


def check_sequences(X: Any, *, name: str = "X") -> TokenSequences | Representation:
    """Convert X once to a ragged container.

    Parameters
    ----------
    X : TokenSequences, Representation, or sequence of sentences
        A sentence is a sequence of str, or an array of shape (n_tokens, d).
    name : str, default="X"
        How the argument is called in errors.

    Raises
    ------
    SequenceError
        If X is one sentence, one string, holds anything but strings, or mixes widths.

    Examples
    --------
    >>> check_sequences([["a", "b"], []])
    TokenSequences(n=2, items=2)
    """
    if isinstance(X, (TokenSequences, Representation)):
        return X
    if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
        raise SequenceError(f"'{name}' must be a sequence of sentences. Got {type(X).__name__} instead.")
    rows = list(X)
    first = next((row for row in rows if not isinstance(row, str) and hasattr(row, "__len__") and len(row)), None)
    vectors = first is not None and np.ndim(first[0]) == 1 and not isinstance(first[0], str)
    return (Representation if vectors else TokenSequences).from_rows(rows, name=name)


def check_tags(y: Any, X: RaggedArray) -> TokenSequences:
    """Convert y and compare its row lengths with those of X.

    Raises
    ------
    SequenceError
        If y is missing, has another number of rows, or a row has another length than its sentence.
    """
    if y is None:
        raise SequenceError("y is required: one tag sequence for each sentence of X.")
    tags = y if isinstance(y, TokenSequences) else TokenSequences.from_rows(y, name="y")
    if len(tags) != len(X):
        raise SequenceError(f"X has {len(X)} sentences, y has {len(tags)}.")
    wrong = np.flatnonzero(tags.lengths != X.lengths)
    if wrong.size:
        i = int(wrong[0])
        raise SequenceError(
            f"{wrong.size} rows of y have another length than their sentence; the first is row {i}: "
            f"{X.lengths[i]} tokens, {tags.lengths[i]} tags."
        )
    return tags


def check_groups(groups: Any, n: int) -> np.ndarray | None:
    """One group (patient id) for each sentence, or None."""
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (n,):
        raise SequenceError(f"'groups' must hold one patient id for each of {n} sentences. Got shape {array.shape}.")
    return array


def object_rows(rows: Iterable[Any]) -> np.ndarray:
    """A 1-D object array of rows; ``np.array`` would turn rows of equal length into two dimensions."""
    items = list(rows)
    out = np.empty(len(items), dtype=object)
    for i, row in enumerate(items):
        out[i] = row
    return out


def _with_documents(cls: type[RaggedArray], arguments: tuple, documents: np.ndarray) -> RaggedArray:
    return cls(*arguments).with_documents(documents)


def _as_index(key: Any, n: int) -> np.ndarray:
    index = np.asarray(key)
    if index.ndim != 1:
        raise IndexError(f"An index needs one dimension. Got {index.ndim}.")
    if index.dtype == bool and index.shape != (n,):
        raise IndexError(f"A boolean index needs shape ({n},). Got {index.shape}.")
    return index if index.size else index.astype(np.intp)


def _as_vectors(row: Any, name: str, number: int) -> np.ndarray:
    try:
        return np.asarray(row, dtype=np.float32)
    except (TypeError, ValueError):  # NumPy's own message quotes what is no number: a word of a note
        raise SequenceError(f"Row {number} of '{name}' must be an array of numbers, shape (n_tokens, d).") from None


def _as_str(token: Any, name: str, row: int) -> str:
    if not isinstance(token, str):
        raise SequenceError(f"'{name}' must hold strings. Row {row} holds a {type(token).__name__}.")
    return str(token)
