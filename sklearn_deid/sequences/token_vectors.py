"""Container for sentences of token vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import SequenceError
from .provenance import Provenance
from .ragged_array import RaggedArray

if TYPE_CHECKING:
    from typing_extensions import Self


class TokenVectors(RaggedArray):
    """Sentences of token vectors, stored as a flat float32 array of shape (n_tokens, d) with offsets.

    Parameters
    ----------
    data : ndarray or memmap of shape (n_tokens, d)
        All vectors. A memmap is kept as long as no operation needs a copy.
    offsets : ndarray of shape (n + 1,), dtype int64
        Borders of the sentences. Sentence ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
    origin : Provenance, default=None
        Provenance of the vectors: a record of the representer. Indexing, copying and pickling keep the origin, and
        comparisons include the origin. None means that the origin is unknown, or that data of different origins were
        joined.
    tagger : fitted DeidTagger, default=None
        Public tagger of token vectors from the same representer. A `DeidTagger` that is fitted on the vectors starts
        from the weights of this tagger (see `with_tagger`). Indexing, copying and pickling keep the tagger. Comparisons
        ignore the tagger.
    """

    __slots__ = ("origin", "tagger")

    def __init__(
        self, data: np.ndarray, offsets: np.ndarray | None = None, origin: Provenance | None = None, tagger: Any = None
    ) -> None:
        super().__init__(data, offsets)
        if origin is not None and not isinstance(origin, Provenance):
            raise SequenceError(f"'origin' must be a Provenance or None. Got {type(origin).__name__} instead.")
        self.origin, self.tagger = origin, tagger

    def with_tagger(self, tagger: Any) -> Self:
        """Copy of the container with another public tagger. The vectors are shared, not copied.

        Parameters
        ----------
        tagger : fitted DeidTagger or None
            Tagger from whose weights a `DeidTagger` starts in `fit`. With None, the training starts from random
            weights.

        Examples
        --------
        >>> X = TokenVectors.from_rows([[[1.0, 2.0]]])
        >>> X.with_tagger(None) == X
        True
        """
        return type(self)(self.data, self.offsets, self.origin, tagger).with_documents(self.documents, self.patients)

    @classmethod
    def concatenate(cls, parts: Sequence[TokenVectors]) -> TokenVectors:
        """Join the sentences of several containers with the same d. Keep the origin and the tagger if all containers
        have an equal origin and the same tagger object.

        Examples
        --------
        >>> part = TokenVectors.from_rows([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
        >>> TokenVectors.concatenate([part, part[:1]]).lengths.tolist()
        [1, 2, 1]
        """
        if not parts or len({part.data.shape[1:] for part in parts}) != 1:
            raise SequenceError("Only representations of one dimension d can be joined, and at least one is needed.")
        # shape: offsets (n_rows + 1,), data of the result (n_items, d)
        offsets = np.concatenate(([0], np.cumsum(np.concatenate([part.lengths for part in parts]))))
        same = all(part.origin == parts[0].origin for part in parts)
        tagger = parts[0].tagger if all(part.tagger is parts[0].tagger for part in parts) else None
        data = np.concatenate([part.data for part in parts])
        return cls(data, offsets, parts[0].origin if same else None, tagger)

    def _with(self, data: np.ndarray, offsets: np.ndarray) -> Self:
        return type(self)(data, offsets, self.origin, self.tagger)

    def _arguments(self) -> tuple:
        # Attributes without a value are left out, so that the hashes and caches of joblib stay valid.
        if self.tagger is not None:
            return (self.data, self.offsets, self.origin, self.tagger)
        return super()._arguments() if self.origin is None else (self.data, self.offsets, self.origin)

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is True and isinstance(other, TokenVectors):
            return self.origin == other.origin
        return same

    __hash__ = None

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str = "X") -> TokenVectors:
        """Convert rows of 2-D arrays (n_tokens, d). An invalid row raises a SequenceError with the row number."""
        arrays = [_as_vectors(row, name, number) for number, row in enumerate(rows)]
        # Empty rows have no second axis and say nothing about d.
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


def representer_of(X: Any) -> str | None:
    """Return the fingerprint of the representer of token vectors; None for other data, or if the origin is unknown.

    Examples
    --------
    >>> representer_of(TokenVectors.from_rows([[[1.0, 2.0]]])) is None
    True
    """
    origin = getattr(X, "origin", None)
    return origin.fingerprint if isinstance(origin, Provenance) else None


def check_representer(X: Any, trained: str | None) -> None:
    """Raise an error for vectors of another representer, in which equal numbers would mean other words.

    Parameters
    ----------
    X : TokenVectors, or other data, which passes
        Vectors of new sentences.
    trained : str or None
        Fingerprint of the representer of the training vectors. None means unknown: all vectors are accepted.

    Examples
    --------
    >>> check_representer(TokenVectors.from_rows([[[1.0, 2.0]]]), "0f3a")
    """
    given = representer_of(X)
    if None not in (trained, given) and trained != given:
        raise SequenceError(
            "The vectors of X come from another representer than those of the training. Encode the notes with that "
            "representer, or train a tagger on its vectors."
        )


def _as_vectors(row: Any, name: str, number: int) -> np.ndarray:
    try:
        values = np.asarray(row)
        if values.dtype.kind == "c":  # the imaginary parts would be lost
            raise TypeError
        # A number that is too large becomes infinity, which is refused.
        with np.errstate(over="ignore"):
            return values.astype(np.float32, copy=False)
    # The message of NumPy would quote the invalid value, which may be a word of a note.
    except (TypeError, ValueError):
        raise SequenceError(f"Row {number} of '{name}' must be an array of numbers, shape (n_tokens, d).") from None
