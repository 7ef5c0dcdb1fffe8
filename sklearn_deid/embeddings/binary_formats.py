"""Readers for binary files of word vectors: word2vec .bin and fastText .bin."""

from __future__ import annotations

import struct
from typing import BinaryIO, NamedTuple

import numpy as np

from .subwords import SubwordTable
from .vector_files import RawVectors, VectorFile, parse_header, without_duplicates

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_FASTTEXT_VERSION = 12
_END_OF_SENTENCE = "</s>"
# Files are read in pieces, so that a file that states a wrong number of words fails before memory does.
_BYTES_AT_ONCE = 1 << 24
_LONGEST_WORD = 1 << 16
_ROWS_AT_ONCE = 20_000


class _Buffer:
    """A stream read in large pieces."""

    def __init__(self, file: VectorFile, stream: BinaryIO) -> None:
        self.file, self.stream = file, stream
        self.data, self.position = b"", 0

    def _more(self) -> bool:
        piece = self.stream.read(_BYTES_AT_ONCE)
        self.data, self.position = self.data[self.position :] + piece, 0
        return bool(piece)

    def until(self, mark: bytes, what: str) -> bytes:
        """Bytes up to ``mark``. The position moves past ``mark``."""
        while (end := self.data.find(mark, self.position, self.position + _LONGEST_WORD)) < 0:
            if len(self.data) - self.position >= _LONGEST_WORD or not self._more():
                raise self.file.error(f"The file is garbled or cut off at {what}.")
        found = self.data[self.position : end]
        self.position = end + len(mark)
        return found

    def take(self, n_bytes: int, what: str) -> memoryview:
        """The next ``n_bytes``."""
        while len(self.data) - self.position < n_bytes:
            if not self._more():
                raise self.file.error(f"The file is cut off at {what}.")
        self.position += n_bytes
        return memoryview(self.data)[self.position - n_bytes : self.position]

    def unpack(self, layout: str, what: str) -> tuple:
        """Little-endian values of a ``struct`` layout."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout), what))

    def rest_is_blank(self) -> bool:
        """Whether only white space follows."""
        return not (self.data[self.position :].strip() or self.stream.read(1 << 10).strip())


def read_word2vec_binary(file: VectorFile) -> RawVectors:
    """Read the binary format of word2vec: a header line, then each word with a space and its float32 numbers.

    Raises
    ------
    EmbeddingsFormatError
        If the file is truncated, a number is not finite, a word cannot be decoded, or data follow the last word. The
        message gives the number of the word.
    """
    words: list[bytes] = []
    numbers = bytearray()
    with file.open() as stream:
        buffer = _Buffer(file, stream)
        header = parse_header(buffer.until(b"\n", "the header"))
        if header is None or header[1] < 1:
            raise file.error("The first line must hold the numbers of words and dimensions.")
        n_words, dim = header
        wanted = file.wanted(n_words)
        for number in range(1, (n_words if wanted is None else wanted) + 1):
            what = f"word {number} of {n_words}"
            # Some programs write a line feed after each vector.
            words.append(buffer.until(b" ", what).lstrip(b"\n"))
            numbers += buffer.take(4 * dim, what)
        if wanted == n_words and not buffer.rest_is_blank():
            raise file.error(f"The file continues after the {n_words} words of its header.")
    # shape: (n_words, dim)
    vectors = np.frombuffer(numbers, dtype="<f4").reshape(len(words), dim)
    file.check_finite(vectors)
    return without_duplicates(file.decode(words, "word"), vectors)


class _Dictionary(NamedTuple):
    words: list[str]
    dim: int
    bucket: int
    min_n: int
    max_n: int


def read_fasttext_binary(file: VectorFile) -> tuple[RawVectors, SubwordTable | None]:
    """Read a model saved by fastText: the composed word vectors and the table of n-gram vectors.

    The function reads only unsupervised models without quantisation. The composed vector of a word is the mean of its
    own vector and the vectors of its n-grams. The end of a sentence (``</s>``) has no n-grams. The function does not
    use gensim's loader, which does not terminate on a file with a truncated dictionary, and takes minutes for two
    million words.

    Returns
    -------
    vectors : RawVectors
        Words and their composed vectors.
    subwords : SubwordTable or None
        Table of n-gram vectors; None for a model without n-grams.

    Raises
    ------
    EmbeddingsFormatError
        If the file is truncated or of another version, or the model is supervised or quantised.
    """
    with file.open() as stream:
        buffer = _Buffer(file, stream)
        dictionary = _read_dictionary(file, buffer)
        matrix = _read_matrix(file, buffer, dictionary)
    n_words = len(dictionary.words)
    # Without n-grams, the matrix holds the vectors of the words only.
    if dictionary.bucket == 0:
        return without_duplicates(dictionary.words, matrix), None
    subwords = SubwordTable(matrix[n_words:], dictionary.min_n, dictionary.max_n, lower=False)
    kept = file.wanted(n_words)
    words = dictionary.words[:kept]
    return without_duplicates(words, _compose(words, matrix[: len(words)], subwords)), subwords


def _read_dictionary(file: VectorFile, buffer: _Buffer) -> _Dictionary:
    """Read settings and words, up to the start of the matrix."""
    magic, version = buffer.unpack("4si", "the header")
    if magic != FASTTEXT_MAGIC or version > _FASTTEXT_VERSION:
        raise file.error("The file is not a fastText model of a known version.")
    settings = buffer.unpack("12id", "the settings")
    # The other settings concern the training.
    dim, bucket, min_n, max_n = settings[0], settings[8], settings[9], settings[10]
    size, n_words, n_labels, _, n_pruned = buffer.unpack("3i2q", "the dictionary")
    if n_labels or n_pruned > 0 or size != n_words:
        raise file.error("Only unsupervised fastText models without quantisation can be read.")
    if dim < 1 or bucket < 0 or n_words < 0:
        raise file.error("The settings are garbled.")
    raw = []
    for number in range(1, n_words + 1):
        raw.append(buffer.until(b"\0", f"word {number} of {n_words}"))
        # Nine bytes with the count and the kind of the word are skipped.
        buffer.take(9, f"word {number} of {n_words}")
    # The setting may be 0, but n-grams of 0 characters do not exist.
    min_n = max(min_n, 1)
    return _Dictionary(file.decode(raw, "word"), dim, bucket if max_n >= min_n else 0, min_n, max_n)


def _read_matrix(file: VectorFile, buffer: _Buffer, dictionary: _Dictionary) -> np.ndarray:
    """Read the vectors of words, then of n-grams, shape (n_words + bucket, dim)."""
    quantised, n_rows, dim = buffer.unpack("?2q", "the matrix")
    n_words, n_ngrams = len(dictionary.words), dictionary.bucket
    if quantised:
        raise file.error("Quantised fastText models cannot be read.")
    if dim != dictionary.dim or n_rows < n_words + n_ngrams:
        raise file.error("The shape of the matrix differs from the settings.")
    # The memory grows with the bytes that are read, so that a false size in the header reserves nothing.
    numbers = bytearray()
    missing = 4 * n_rows * dim
    while missing:
        piece = buffer.take(min(missing, _BYTES_AT_ONCE), "the matrix")
        numbers += piece
        missing -= len(piece)
    matrix = np.frombuffer(numbers, dtype="<f4").reshape(n_rows, dim)[: n_words + n_ngrams]
    file.check_finite(matrix)
    return matrix


def _compose(words: list[str], own: np.ndarray, subwords: SubwordTable) -> np.ndarray:
    """Mean of each word's own vector and the vectors of its n-grams. The function overwrites ``own``."""
    # The end of a sentence has no n-grams, so its own vector is saved here and restored at the end.
    ends = [(row, own[row].copy()) for row, word in enumerate(words) if word == _END_OF_SENTENCE]
    for start in range(0, len(words), _ROWS_AT_ONCE):
        some = words[start : start + _ROWS_AT_ONCE]
        n_ngrams = np.diff(subwords.ngram_ids(some)[1])[:, None]
        # vectors_for returns the mean of the n-grams; times n_ngrams it is their sum.
        # shape: (n_some, dim)
        composed = (own[start : start + len(some)] + subwords.vectors_for(some) * n_ngrams) / (n_ngrams + 1)
        own[start : start + len(some)] = composed
    for row, vector in ends:
        own[row] = vector
    return own
