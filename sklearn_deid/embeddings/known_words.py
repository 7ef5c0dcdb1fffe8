"""Vectors of character n-grams, followed by the public vectors of frequent words in few bytes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from .subwords import SubwordTable, normalise_words

_MOST_CENTROIDS = 256  # a code is one byte
_STEPS = 30  # of the clustering
_N_CLUSTERED = 60_000  # words that the centroids are computed from: all words give the same error


class KnownWordTable(SubwordTable):
    """Vectors of character n-grams, followed by the vector of the word and a 1 if the word is known. The vector of an
    unknown word is followed by zeros.

    A tagger that was trained on generated texts knows few words. Public vectors, such as GloVe's, tell it which other
    words are used alike: drugs, foods, jobs, towns, first names. The vectors are stored by product quantization: each
    vector is cut into parts, and a part is replaced by the nearest of 256 centroids, so that a vector of 50 dimensions
    needs 10 bytes. Words are stored as hashes of 32 bits. Anyone with the table can test whether a word is known: take
    the words from public vectors, never from notes.

    Parameters
    ----------
    ngrams : SubwordTable
        Vectors of n-grams.
    hashes : ndarray of uint32, shape (n_known,)
        Hashes of the known words, in ascending order.
    codes : ndarray of uint8, shape (n_known, n_parts)
        Number of the centroid of each part of each vector.
    centroids : ndarray of float32, shape (n_parts, n_centroids, width)
        Centroids of each part.

    References
    ----------
    Jégou, Douze & Schmid (2011), Product quantization for nearest neighbor search, section 2.

    Examples
    --------
    >>> ngrams = SubwordTable(np.eye(10, 4, dtype=np.float32))
    >>> table = KnownWordTable.of(ngrams, ["aspirin", "toast"], np.eye(2, dtype=np.float32), n_parts=1)
    >>> table.vectors_for(["Toast", "Okafor"])[:, 4:].tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, ngrams: SubwordTable, hashes: np.ndarray, codes: np.ndarray, centroids: np.ndarray) -> None:
        super().__init__(ngrams.table, ngrams.min_n, ngrams.max_n, lower=ngrams.lower, is_public=ngrams.is_public)
        types = (hashes.dtype, codes.dtype, centroids.dtype)
        if types != (np.uint32, np.uint8, np.float32) or (hashes.ndim, codes.ndim, centroids.ndim) != (1, 2, 3):
            raise ValueError("A KnownWordTable needs hashes (uint32), codes (uint8) and centroids (float32) of words.")
        if codes.shape != (len(hashes), len(centroids)) or (codes.size and codes.max() >= centroids.shape[1]):
            raise ValueError("The hashes, codes and centroids of a KnownWordTable do not fit together.")
        self.hashes, self.codes, self.centroids = hashes, codes, centroids

    @classmethod
    def of(
        cls,
        ngrams: SubwordTable,
        words: Sequence[str],
        vectors: np.ndarray,
        *,
        n_parts: int = 10,
        random_state: int = 0,
    ) -> KnownWordTable:
        """Store the vectors of words, rounded to centroids.

        Parameters
        ----------
        ngrams : SubwordTable
            Vectors of n-grams.
        words : sequence of str
            Distinct words, frequent words first. Casing is ignored. Of two words with the same hash, the first is kept.
        vectors : ndarray of shape (n_words, d)
            Vectors of the words.
        n_parts : int, default=10
            Number of parts of a vector, and of bytes that are stored for it. A divisor of d.
        random_state : int, default=0
            Random seed of the clustering.

        Raises
        ------
        ValueError
            If a vector cannot be cut into parts of the same width, or if a word lacks its vector.
        """
        from sklearn.cluster import KMeans

        if vectors.ndim != 2 or vectors.shape[1] % n_parts or len(words) != len(vectors):
            raise ValueError(
                f"'vectors' must have a row for each of {len(words)} words, and a multiple of {n_parts} columns. "
                f"Got {vectors.shape} instead."
            )
        # shape: (n_parts, n_words, width)
        parts = np.asarray(vectors, dtype=np.float32).reshape(len(words), n_parts, -1).transpose(1, 0, 2)
        n_centroids = min(_MOST_CENTROIDS, len(words))
        means = [
            KMeans(n_centroids, n_init=1, max_iter=_STEPS, random_state=random_state).fit(part[:_N_CLUSTERED])
            for part in parts
        ]
        hashes, first = np.unique(_hashes(words), return_index=True)
        # shape: (n_words, n_parts)
        codes = np.stack([mean.predict(part) for mean, part in zip(means, parts, strict=True)], axis=1)
        centroids = np.stack([mean.cluster_centers_ for mean in means]).astype(np.float32)
        return cls(ngrams, hashes, codes[first].astype(np.uint8), centroids)

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return super().dim + self.centroids.shape[0] * self.centroids.shape[2] + 1

    @property
    def checksum(self) -> str:
        """Hash of the content (32 hexadecimal digits), computed once."""
        if self._checksum is None:
            digest = blake2b(super().checksum.encode(), digest_size=16)
            for array in (self.hashes, self.codes, self.centroids):
                digest.update(f"{array.shape}".encode() + array.astype(array.dtype.newbyteorder("<")).tobytes())
            self._checksum = digest.hexdigest()
        return self._checksum

    def vectors_for(self, words: Sequence[str], *, unit: bool = False) -> np.ndarray:
        """Vectors of words, float32 of shape (n_words, dim). With ``unit``, each vector is scaled to length 1."""
        both = np.concatenate([super().vectors_for(words), self._known(words)], axis=1)
        if unit:
            lengths = np.linalg.norm(both, axis=1, keepdims=True)
            np.divide(both, lengths, out=both, where=lengths > 0)
        return both

    def _known(self, words: Sequence[str]) -> np.ndarray:
        """Vector and mark of each known word, zeros for others; shape (n_words, d + 1)."""
        out = np.zeros((len(words), self.dim - super().dim), dtype=np.float32)
        if not len(self.hashes) or not len(words):
            return out
        wanted = _hashes(words)
        rows = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        (known,) = np.nonzero(self.hashes[rows] == wanted)
        # shape: (n_known, n_parts, width)
        parts = self.centroids[np.arange(len(self.centroids)), self.codes[rows[known]]]
        out[known, :-1] = parts.reshape(len(known), out.shape[1] - 1)
        out[known, -1] = 1
        return out

    def __repr__(self) -> str:
        return f"KnownWordTable({super().__repr__()}, {len(self.hashes)} known words)"


def _hashes(words: Sequence[str]) -> np.ndarray:
    """Hashes of words in lower case, shape (n_words,)."""
    written = (word.encode("utf-8", "surrogatepass") for word in normalise_words(words))
    return np.frombuffer(b"".join(blake2b(w, digest_size=4).digest() for w in written), dtype="<u4").astype(np.uint32)
