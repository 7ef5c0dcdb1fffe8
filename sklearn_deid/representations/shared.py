"""What a shared file holds, once it is open: `SharedRepresentation`, and the checks that every such thing passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from sys import intern
from typing import Any

import numpy as np

from ..exceptions import BundleError, SequenceError
from ..sequences import Provenance, TokenSequences, TokenVectors
from ..text import BINARY, CASING_CLASSES, I2B2_2014, MEDDOCAN, split_tag

__all__ = [
    "SharedRepresentation",
    "check_width",
    "holds_only_finite",
    "label_scheme_of",
    "row_digests",
    "sorted_tags",
    "tag_rows",
    "tag_scheme_of",
]

_BLOCK = 2**16  # rows looked at in one go, so that a mapped file is not read into memory as a whole


@dataclass(frozen=True, eq=False, repr=False)
class SharedRepresentation:
    """Vectors, tags and patients that others released.

    Attributes
    ----------
    X : TokenVectors of n sentences
        With its origin; mapped from the file as long as the file is the only one.
    y : TokenSequences of n tag sequences
        IOB2 or BIOES, as the hospital wrote them.
    groups : ndarray of shape (n,), dtype int64, or None
        Number of the patient; equal numbers, one patient.
    manifest : dict
        Counts, tag names, origin and audit as they stand in the file; for a pool also those of its ``files``.
    """

    X: TokenVectors
    y: TokenSequences
    groups: np.ndarray | None
    manifest: dict[str, Any]

    @property
    def origin(self) -> Provenance | None:
        """The representer that made the vectors."""
        return self.X.origin

    @property
    def audit(self) -> Any:
        """Figures of an audit, if the file has any."""
        return self.manifest.get("audit")

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        patients = "unknown" if self.groups is None else len(np.unique(self.groups))
        return f"SharedRepresentation(n={len(self)}, tokens={len(self.X.data)}, d={self.X.d}, patients={patients})"


def check_width(d: int, origin: Provenance) -> None:
    """Raise BundleError where vectors are not as wide as those of their origin."""
    expected = origin.n_components + len(CASING_CLASSES) * origin.casing
    if d != expected:
        raise BundleError(f"The vectors have {d} columns, those of their representer {expected}.")


def holds_only_finite(data: np.ndarray) -> bool:
    """Whether there is neither NaN nor infinity; looks at blocks.

    Examples
    --------
    >>> holds_only_finite(np.array([[1.0], [np.inf]]))
    False
    """
    return all(np.isfinite(data[start : start + _BLOCK]).all() for start in range(0, len(data), _BLOCK))


def row_digests(rows: Iterable[np.ndarray], tags: Iterable[np.ndarray]) -> list[bytes]:
    """One digest of 16 bytes for each sentence: equal where all bytes of vectors and tags are equal."""
    return [
        blake2b(np.ascontiguousarray(row).tobytes() + np.ascontiguousarray(tag).tobytes(), digest_size=16).digest()
        for row, tag in zip(rows, tags, strict=True)
    ]


def sorted_tags(tags: Iterable[str]) -> list[str]:
    """Distinct tags, "O" first; the order says nothing of the notes.

    Raises
    ------
    SequenceError
        If one is no tag: where X and y were swapped, it is a word of a note.

    Examples
    --------
    >>> sorted_tags(["B-DATE", "O", "B-AGE", "O"])
    ['O', 'B-AGE', 'B-DATE']
    """
    distinct = sorted(set(tags), key=lambda tag: (tag != "O", tag))
    for tag in distinct:
        split_tag(tag)
    return distinct


def tag_scheme_of(tags: Iterable[str]) -> str | None:
    """ "bioes" where E or S occur, else "iob2"; None where there is no PHI, which fits both.

    Examples
    --------
    >>> tag_scheme_of(["O", "B-AGE"]), tag_scheme_of(["O", "S-AGE"]), tag_scheme_of(["O"])
    ('iob2', 'bioes', None)
    """
    prefixes = {split_tag(tag)[0] for tag in tags} - {"O"}
    if not prefixes:
        return None
    return "bioes" if prefixes & {"E", "S"} else "iob2"


def label_scheme_of(tags: Iterable[str]) -> str | None:
    """Name of the first known label scheme that has all labels; None where none has, or there is no label.

    Examples
    --------
    >>> label_scheme_of(["O", "B-PATIENT"]), label_scheme_of(["B-NOMBRE_SUJETO_ASISTENCIA"]), label_scheme_of(["B-X"])
    ('i2b2-2014', 'meddocan', None)
    """
    labels = {split_tag(tag)[1] for tag in tags} - {None}
    known = (scheme.name for scheme in (I2B2_2014, MEDDOCAN, BINARY) if labels <= set(scheme.labels))
    return next(known, None) if labels else None


def tag_rows(names: Sequence[str], indices: np.ndarray, offsets: np.ndarray) -> TokenSequences:
    """Tag sequences from indices into their names.

    Raises
    ------
    BundleError
        If an index is out of range, or a name is no tag or occurs twice.
    """
    try:
        if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
            raise BundleError("The manifest names a tag twice, or one that is none.")
        sorted_tags(names)
    except (SequenceError, TypeError):
        raise BundleError("The manifest names a tag that is none.") from None
    if len(indices) and int(indices.max()) >= len(names):
        raise BundleError("A tag has a number that the manifest does not name.")
    table = np.empty(len(names), dtype=object)
    table[:] = [intern(name) for name in names]
    return TokenSequences(table[indices], offsets)
