"""What all readers of vector files share: opening, counting, words from bytes, and errors that say where."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from ..exceptions import EmbeddingsFormatError

_ROWS_AT_ONCE = 20_000


class RawVectors(NamedTuple):
    """Words, their vectors as the file has them (n_words, dim), and how many repeated words were left out."""

    words: list[str]
    vectors: np.ndarray
    n_duplicates: int


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors and how to read its words.

    Parameters
    ----------
    path : Path
        Ending in ``.gz`` if it is compressed.
    encoding : str, default="utf-8"
        Of the words; one in which a line break and a space are the bytes of ASCII.
    encoding_errors : {"strict", "replace", "ignore"}, default="strict"
        What to do with a word that is not in that encoding.
    max_words : int, optional
        Read so many words at most, from the start, where public files have the most frequent ones.
    """

    path: Path
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    max_words: int | None = None

    def __post_init__(self) -> None:
        if self.encoding_errors not in ("strict", "replace", "ignore"):
            raise ValueError(
                "The 'encoding_errors' parameter must be 'strict', 'replace' or 'ignore'. "
                f"Got {self.encoding_errors!r} instead."
            )
        if self.max_words is not None and self.max_words < 1:
            raise ValueError(f"The 'max_words' parameter must be at least 1 or None. Got {self.max_words} instead.")
        if "\n 0<".encode(self.encoding) != b"\n 0<":
            raise ValueError(f"The 'encoding' parameter must be a superset of ASCII. Got {self.encoding!r} instead.")

    def open(self) -> BinaryIO:
        """Open for reading bytes, decompressed."""
        if self.path.suffix == ".gz":
            return gzip.open(self.path, "rb")  # type: ignore[return-value]
        return open(self.path, "rb")

    def wanted(self, n_words: int | None) -> int | None:
        """How many of ``n_words`` (None: unknown) words to read; None for all there are."""
        counts = [count for count in (n_words, self.max_words) if count is not None]
        return min(counts) if counts else None

    def decode(self, words: list[bytes], first: int, unit: str) -> list[str]:
        """Words from bytes; an error names the ``unit`` ("line" or "word") by its number, counted from ``first``."""
        decoded = []
        for number, word in enumerate(words, first):
            try:
                decoded.append(word.decode(self.encoding, self.encoding_errors))
            except UnicodeDecodeError:
                raise self.error(
                    f"The word in {unit} {number} is not {self.encoding}. Pass the encoding of the file as 'encoding', "
                    "or encoding_errors='replace'."
                ) from None
        return decoded

    def check_finite(self, vectors: np.ndarray) -> None:
        """Raise with the number of the first word that has NaN or infinity."""
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            wrong = ~np.isfinite(vectors[start : start + _ROWS_AT_ONCE]).all(axis=1)
            if wrong.any():
                raise self.error(f"Vector {start + int(wrong.argmax()) + 1} holds NaN or infinity.")

    def error(self, message: str) -> EmbeddingsFormatError:
        """An error about this file."""
        return EmbeddingsFormatError(message, path=str(self.path))


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Numbers of words and dimensions from the first line of the word2vec formats; None if it is no such line.

    Examples
    --------
    >>> parse_header(b"400000 50\\n"), parse_header(b"the 0.418 0.24968\\n")
    ((400000, 50), None)
    """
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) <= 12 for field in fields):
        return None
    return int(fields[0]), int(fields[1])


def without_duplicates(words: list[str], vectors: np.ndarray) -> RawVectors:
    """Keep the first row of each word."""
    first = {word: row for row, word in reversed(list(enumerate(words)))}
    n_duplicates = len(words) - len(first)
    if not n_duplicates:
        return RawVectors(words, vectors, 0)
    rows = np.sort(np.fromiter(first.values(), dtype=np.int64, count=len(first)))
    return RawVectors([words[row] for row in rows], vectors[rows], n_duplicates)
