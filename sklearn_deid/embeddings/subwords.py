"""Word vectors from hashed character n-grams. The table stores no word.

The vector of a word is the mean of the vectors of its character n-grams. The hash of an n-gram selects its row. The
number of rows does not depend on the words. The table can therefore be saved with a model that must not contain tokens
of its training notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from unicodedata import normalize

import numpy as np

# FNV-1a in 32 bits, the hash of fastText: another hash could not read its n-gram vectors.
_FNV_OFFSET, _FNV_PRIME = 2166136261, 16777619
_WORDS_AT_ONCE = 20_000  # keeps the working arrays of a lookup below about 100 MiB


def normalise_words(words: Iterable[str], *, lower: bool = True) -> list[str]:
    """Compose accents (NFC) and, with ``lower``, lower-case words. Training and lookup use this form of a word.

    Examples
    --------
    >>> normalise_words(["Hospital", "JOSE\\u0301"])
    ['hospital', 'josé']
    """
    if lower:
        return [word.lower() if word.isascii() else normalize("NFC", word).lower() for word in words]
    return [word if word.isascii() else normalize("NFC", word) for word in words]


def ngram_hashes(words: Sequence[str], min_n: int = 3, max_n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of the character n-grams of ``<word>``, for many words at once.

    The function computes the hash of fastText: FNV-1a over the UTF-8 bytes as signed bytes. Bytes above 127 therefore
    flip the upper 24 bits. The n-grams of a word are ordered by first character, then by length.

    Parameters
    ----------
    words : sequence of str
        Words. The function does not normalise the words.
    min_n, max_n : int, default=3 and 6
        Shortest and longest n-gram in characters, brackets included.

    Returns
    -------
    hashes : ndarray of uint32, shape (n_ngrams,)
        Hashes of the n-grams of all words.
    offsets : ndarray of int64, shape (n_words + 1,)
        Borders of the words. The n-grams of word ``i`` are ``hashes[offsets[i]:offsets[i + 1]]``.

    References
    ----------
    Bojanowski, Grave, Joulin & Mikolov (2017), Enriching Word Vectors with Subword Information, section 3.2; the bytes
    are signed as in the reference implementation (``Dictionary::hash``).

    Examples
    --------
    >>> hashes, offsets = ngram_hashes(["cat", "a"])
    >>> offsets.tolist()  # <ca <cat <cat> cat cat> at>, and <a>
    [0, 6, 7]
    """
    if not 1 <= min_n <= max_n:
        raise ValueError(f"The 'min_n' parameter must be in [1, max_n]. Got min_n={min_n}, max_n={max_n} instead.")
    # UTF-8 cannot encode a lone surrogate. It is hashed nevertheless, so that a token of a broken file does not stop a
    # tagger.
    encoded = [f"<{word}>".encode("utf-8", "surrogatepass") for word in words]
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    first_byte = np.flatnonzero((data & 0xC0) != 0x80)  # shape: (n_characters,)
    width = np.diff(first_byte, append=len(data))  # bytes of each character
    ends_at = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
    word_of = np.searchsorted(ends_at, first_byte, side="right")
    ends = np.searchsorted(first_byte, ends_at)  # one past the last character of each word
    left = ends[word_of] - np.arange(len(first_byte))  # characters from here to the end of the word
    # fastText hashes signed bytes: a byte above 127 sets the upper bits, too.
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)

    # shape: (n_characters,): running hash of the n-gram that starts at each character
    state = np.full(len(first_byte), _FNV_OFFSET, dtype=np.uint32)
    # shape: (n_characters, number of n-gram lengths)
    hashes = np.empty((len(first_byte), max_n - min_n + 1), dtype=np.uint32)
    chosen = np.zeros(hashes.shape, dtype=bool)
    for n in range(1, max_n + 1):
        live = np.flatnonzero(left >= n)
        _absorb(state, live, first_byte, width, signed, n - 1)
        if n >= min_n:
            hashes[live, n - min_n] = state[live]
            chosen[live, n - min_n] = True
    # The n-grams "<" and ">" are in every word and carry no information.
    if min_n == 1:
        chosen[ends - 1, 0] = False
        chosen[np.append(0, ends[:-1])[: len(ends)], 0] = False
    counts = np.bincount(word_of, weights=chosen.sum(1), minlength=len(encoded)).astype(np.int64)
    return hashes[chosen], np.concatenate(([0], np.cumsum(counts)))


def _absorb(
    state: np.ndarray, live: np.ndarray, first_byte: np.ndarray, width: np.ndarray, signed: np.ndarray, ahead: int
) -> None:
    """Update the running hash of each position in ``live`` with the bytes of the character ``ahead``, in place."""
    character = live + ahead
    for byte in range(4):
        rows = width[character] > byte
        if not rows.any():
            return
        at = live[rows]
        state[at] = (state[at] ^ signed[first_byte[character[rows]] + byte]) * np.uint32(_FNV_PRIME)


class SubwordTable:
    """Word vectors from hashed character n-grams, without any word.

    Parameters
    ----------
    table : ndarray of shape (bucket, dim)
        Vector of each hash modulo ``bucket``, stored as float32. A float32 array is not copied, and a memory-mapped
        array stays memory-mapped.
    min_n, max_n : int, default=3 and 6
        Shortest and longest n-gram in characters.
    lower : bool, default=True
        Whether to lower-case words before they are split into n-grams. Accents are always composed (NFC).
    is_public : bool, default=False
        Whether the table was trained on public text only. A table trained on notes contains no word, but its vectors
        depend on the notes.

    Notes
    -----
    A SubwordTable object is immutable. Copies, such as those of ``sklearn.base.clone``, are therefore the object itself
    and need no memory.

    Examples
    --------
    >>> table = SubwordTable(np.eye(10, 4, dtype=np.float32))
    >>> table
    SubwordTable(bucket=10, dim=4, n-grams 3-6)
    >>> table.vectors_for(["chart", "Chart"]).shape
    (2, 4)
    """

    def __init__(
        self, table: np.ndarray, min_n: int = 3, max_n: int = 6, *, lower: bool = True, is_public: bool = False
    ) -> None:
        self.table = np.asanyarray(table, dtype=np.float32).view()
        if self.table.ndim != 2 or not len(self.table):
            raise ValueError(
                f"The 'table' parameter of SubwordTable must have shape (bucket, dim). Got {self.table.shape} instead."
            )
        if not 1 <= min_n <= max_n:
            raise ValueError(f"The 'min_n' parameter must be in [1, max_n]. Got min_n={min_n}, max_n={max_n} instead.")
        self.table.flags.writeable = False
        self.min_n, self.max_n = int(min_n), int(max_n)
        self.lower, self.is_public = bool(lower), bool(is_public)
        self._checksum: str | None = None

    @property
    def bucket(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return int(self.table.shape[1])

    @property
    def checksum(self) -> str:
        """Hash of the content (32 hexadecimal digits), computed once."""
        if self._checksum is None:
            digest = blake2b(f"{self.table.shape} {self.min_n} {self.max_n} {self.lower}".encode(), digest_size=16)
            for start in range(0, self.bucket, _WORDS_AT_ONCE):
                digest.update(self.table[start : start + _WORDS_AT_ONCE].tobytes())
            self._checksum = digest.hexdigest()
        return self._checksum

    def ngram_ids(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the table for the n-grams of each word.

        Parameters
        ----------
        words : sequence of str
            Words to look up.

        Returns
        -------
        ids : ndarray of int64, shape (n_ngrams,)
            Rows of all words in order, the form of input that ``torch.nn.EmbeddingBag`` expects.
        offsets : ndarray of int64, shape (n_words + 1,)
            Borders of the words. The rows of word ``i`` are ``ids[offsets[i]:offsets[i + 1]]``. A word that is shorter
            than the shortest n-gram has no rows.
        """
        if isinstance(words, str):
            raise TypeError("Words must come as a sequence of strings. Got one string; wrap it: [word].")
        hashes, offsets = ngram_hashes(normalise_words(words, lower=self.lower), self.min_n, self.max_n)
        return (hashes % np.uint32(self.bucket)).astype(np.int64), offsets

    def vectors_for(self, words: Sequence[str], *, unit: bool = False) -> np.ndarray:
        """Mean of the n-gram vectors of each word.

        Parameters
        ----------
        words : sequence of str
            Words. Pass distinct words: a repeated word is computed again at each occurrence.
        unit : bool, default=False
            Whether to scale each vector to length 1. The vector of a word without n-grams stays zero.

        Returns
        -------
        ndarray of float32, shape (n_words, dim)
            Vector of each word.
        """
        # A sparse matrix product sums the rows without gathering them first (0.1 s instead of 0.8 s for 20k words).
        # shape: (n_words, bucket) @ (bucket, dim) -> (n_words, dim)
        from scipy.sparse import csr_array

        out = np.zeros((len(words), self.table.shape[1]), dtype=np.float32)
        for start in range(0, len(words), _WORDS_AT_ONCE):
            ids, offsets = self.ngram_ids(words[start : start + _WORDS_AT_ONCE])
            ones = np.ones(len(ids), dtype=np.float32)
            # shape: (n_some, dim)
            sums = csr_array((ones, ids, offsets), shape=(len(offsets) - 1, self.bucket)) @ self.table
            out[start : start + len(sums)] = sums / np.maximum(np.diff(offsets), 1)[:, None]
        if unit:
            lengths = np.linalg.norm(out, axis=1, keepdims=True)
            np.divide(out, lengths, out=out, where=lengths > 0)
        return out

    def __copy__(self) -> SubwordTable:
        # The table is read-only, so that copies share it.
        return self

    def __deepcopy__(self, memo: dict) -> SubwordTable:
        return self

    def __repr__(self) -> str:
        return f"SubwordTable(bucket={self.bucket}, dim={self.table.shape[1]}, n-grams {self.min_n}-{self.max_n})"
