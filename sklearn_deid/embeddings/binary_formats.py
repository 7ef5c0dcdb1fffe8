"""Word vectors as binary files: word2vec .bin and fastText .bin."""

from __future__ import annotations

import struct
from typing import BinaryIO, NamedTuple

import numpy as np

from .subwords import SubwordTable
from .vector_files import RawVectors, VectorFile, parse_header, without_duplicates

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_FASTTEXT_VERSION = 12
_END_OF_SENTENCE = "</s>"
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
        """Bytes up to ``mark``, which is passed over."""
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
        """Little-endian values by ``struct`` layout."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout), what))

    def rest_is_blank(self) -> bool:
        """Whether nothing but line breaks follows."""
        return not (self.data[self.position :].strip() or self.stream.read(1 << 10).strip())


def read_word2vec_binary(file: VectorFile) -> RawVectors:
    """Read the binary format of word2vec: a header line, then words, each with a space and float32 numbers.

    Raises
    ------
    EmbeddingsFormatError
        With the number of the word: cut off, not finite, in another encoding; or if something follows the last word.
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
            words.append(buffer.until(b" ", what).lstrip(b"\n"))
            numbers += buffer.take(4 * dim, what)
        if wanted == n_words and not buffer.rest_is_blank():
            raise file.error(f"More follows the {n_words} words that the header announces.")
    vectors = np.frombuffer(numbers, dtype="<f4").reshape(len(words), dim)
    file.check_finite(vectors)
    return without_duplicates(file.decode(words, 1, "word"), vectors)


class _Dictionary(NamedTuple):
    words: list[str]
    dim: int
    bucket: int
    min_n: int
    max_n: int


def read_fasttext_binary(file: VectorFile) -> tuple[RawVectors, SubwordTable | None]:
    """Read a model saved by fastText: word vectors made of word and n-gram vectors, and the n-gram table.

    Only unsupervised, not quantised models. The vector of a word is the mean of its own and those of its n-grams; the
    end of a sentence (``</s>``) has no n-grams. Written here because gensim's loader never returns from a file that
    is cut off in its dictionary, and takes minutes for two million words.

    Returns
    -------
    vectors : RawVectors
    subwords : SubwordTable or None
        None for a model without n-grams.

    Raises
    ------
    EmbeddingsFormatError
        If the file is cut off, supervised, quantised, or of another version.
    """
    with file.open() as stream:
        buffer = _Buffer(file, stream)
        dictionary = _read_dictionary(file, buffer)
        matrix = _read_matrix(file, buffer, dictionary)
    n_words = len(dictionary.words)
    if dictionary.bucket == 0:
        return without_duplicates(dictionary.words, matrix), None
    subwords = SubwordTable(matrix[n_words:], dictionary.min_n, dictionary.max_n, lower=False)
    kept = file.wanted(n_words)
    words = dictionary.words[:kept]
    return without_duplicates(words, _compose(words, matrix[: len(words)], subwords)), subwords


def _read_dictionary(file: VectorFile, buffer: _Buffer) -> _Dictionary:
    """Settings and words, up to where the matrix begins."""
    magic, version = buffer.unpack("4si", "the header")
    if magic != FASTTEXT_MAGIC or version > _FASTTEXT_VERSION:
        raise file.error("This is no fastText model of a known version.")
    settings = buffer.unpack("12id", "the settings")
    dim, bucket, min_n, max_n = settings[0], settings[8], settings[9], settings[10]
    size, n_words, n_labels, _, n_pruned = buffer.unpack("3i2q", "the dictionary")
    if n_labels or n_pruned > 0 or size != n_words:
        raise file.error("Only unsupervised fastText models that are not quantised hold vectors of words.")
    if dim < 1 or bucket < 0 or n_words < 0:
        raise file.error("The settings are garbled.")
    raw = []
    for number in range(1, n_words + 1):
        raw.append(buffer.until(b"\0", f"word {number} of {n_words}"))
        buffer.take(9, f"word {number} of {n_words}")  # its count and kind
    min_n = max(min_n, 1)  # n-grams of 0 characters do not exist
    return _Dictionary(file.decode(raw, 1, "word"), dim, bucket if max_n >= min_n else 0, min_n, max_n)


def _read_matrix(file: VectorFile, buffer: _Buffer, dictionary: _Dictionary) -> np.ndarray:
    """Vectors of words, then of n-grams, shape (n_words + bucket, dim)."""
    quantised, n_rows, dim = buffer.unpack("?2q", "the matrix")
    n_words, n_ngrams = len(dictionary.words), dictionary.bucket
    if quantised:
        raise file.error("Quantised fastText models cannot be read.")
    if dim != dictionary.dim or n_rows < n_words + n_ngrams:
        raise file.error("The matrix does not have the shape that the settings announce.")
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
    """Mean of the vector of each word and those of its n-grams; overwrites ``own``."""
    ends = [(row, own[row].copy()) for row, word in enumerate(words) if word == _END_OF_SENTENCE]
    for start in range(0, len(words), _ROWS_AT_ONCE):
        some = words[start : start + _ROWS_AT_ONCE]
        n_ngrams = np.diff(subwords.ngram_ids(some)[1])[:, None]
        composed = (own[start : start + len(some)] + subwords.vectors_for(some) * n_ngrams) / (n_ngrams + 1)
        own[start : start + len(some)] = composed
    for row, vector in ends:
        own[row] = vector
    return own
