"""Shared parts of the readers of vector files: opening, counting, decoding, and errors with the number of the line."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from .._parameters import check_parameter
from ..exceptions import EmbeddingsFormatError

_ROWS_AT_ONCE = 20_000


class RawVectors(NamedTuple):
    """Words, their unscaled vectors of shape (n_words, dim), and the number of skipped repeated words."""

    words: list[str]
    vectors: np.ndarray
    n_duplicates: int


@dataclass(frozen=True)
class VectorFile:
    """File of word vectors with the settings for reading its words.

    Parameters
    ----------
    path : Path
        Path of the file. A path that ends with ``.gz`` is decompressed.
    encoding : str, default="utf-8"
        Encoding of the words. The encoding must be a superset of ASCII.
    encoding_errors : {"strict", "replace", "ignore"}, default="strict"
        Treatment of words that cannot be decoded.
    max_words : int, optional
        Largest number of words to read from the start of the file. Public files usually start with the most frequent
        words.
    """

    path: Path
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    max_words: int | None = None

    def __post_init__(self) -> None:
        owner, errors, most = "read_word_vectors", self.encoding_errors, self.max_words
        is_known = errors in ("strict", "replace", "ignore")
        check_parameter(owner, "encoding_errors", errors, is_known, "'strict', 'replace' or 'ignore'")
        check_parameter(owner, "max_words", most, most is None or not most < 1, "at least 1 or None")
        # Lines are split as bytes before words are decoded. The bytes of separators and digits must therefore be ASCII.
        is_ascii = "\n 0<".encode(self.encoding) == b"\n 0<"
        check_parameter(owner, "encoding", self.encoding, is_ascii, "a superset of ASCII")

    def open(self) -> BinaryIO:
        """Open the file for reading decompressed bytes."""
        if self.path.suffix == ".gz":
            return gzip.open(self.path, "rb")  # type: ignore[return-value]
        return open(self.path, "rb")

    def wanted(self, n_words: int | None) -> int | None:
        """Number of words to read, if the file has ``n_words`` (None if unknown). None means all words of the file."""
        counts = [count for count in (n_words, self.max_words) if count is not None]
        return min(counts) if counts else None

    def decode(self, words: list[bytes], unit: str, numbers: Iterable[int] | None = None) -> list[str]:
        """Decode words. An error gives the number of the ``unit`` ("line" or "word"); by default counted from 1."""
        decoded = []
        for number, word in zip(range(1, len(words) + 1) if numbers is None else numbers, words, strict=True):
            try:
                decoded.append(word.decode(self.encoding, self.encoding_errors))
            except UnicodeDecodeError:
                raise self.error(
                    f"The word in {unit} {number} is not {self.encoding}. Pass the encoding of the file as 'encoding', "
                    "or encoding_errors='replace'."
                ) from None
        return decoded

    def check_finite(self, vectors: np.ndarray) -> None:
        """Raise an error with the number of the first vector that contains NaN or infinity."""
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            wrong = ~np.isfinite(vectors[start : start + _ROWS_AT_ONCE]).all(axis=1)
            if wrong.any():
                raise self.error(f"Vector {start + int(wrong.argmax()) + 1} holds NaN or infinity.")

    def error(self, message: str) -> EmbeddingsFormatError:
        """Make an error about this file."""
        return EmbeddingsFormatError(message, path=str(self.path))


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Numbers of words and dimensions from the header line of the word2vec formats; None for any other line.

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
    """Keep only the first row of each word."""
    # In reversed order the first row of a word overwrites all later rows of the word.
    first = {word: row for row, word in reversed(list(enumerate(words)))}
    n_duplicates = len(words) - len(first)
    if not n_duplicates:
        return RawVectors(words, vectors, 0)
    rows = np.sort(np.fromiter(first.values(), dtype=np.int64, count=len(first)))
    return RawVectors([words[row] for row in rows], vectors[rows], n_duplicates)
