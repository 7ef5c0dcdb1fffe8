"""Released word classes: each vector must be the mean vector of a class whose digest is in the provenance."""

from __future__ import annotations

import re
from hashlib import blake2b

import numpy as np

from ..exceptions import BundleError
from ..sequences import CLASS_LAW, Provenance
from .casing_kinds import mixed_kinds
from .word_classes import class_means

_DIGEST_SIZE = 8
_DIGEST = re.compile(f"[0-9a-f]{{{2 * _DIGEST_SIZE}}}")


def centroid_digests(centroids: np.ndarray) -> list[str]:
    """Return a digest of 16 hexadecimal digits for each row; the provenance of the vectors stores the digests.

    Examples
    --------
    >>> import numpy as np
    >>> len(centroid_digests(np.zeros((1, 3), dtype=np.float32))[0])
    16
    """
    rows = np.ascontiguousarray(centroids, dtype=np.float32)
    return [_digest(row.tobytes()) for row in rows]


def holds_classes(origin: Provenance | None) -> bool:
    """Whether vectors of this provenance are word classes, without noise.

    Examples
    --------
    >>> holds_classes(None)
    False
    """
    return origin is not None and origin.noise.get("law") == CLASS_LAW


def check_classes(data: np.ndarray, origin: Provenance) -> None:
    """Raise BundleError if a vector is not the mean vector of a class whose digest is in the provenance.

    Parameters
    ----------
    data : ndarray of shape (n_tokens, d)
        Vectors. Columns beyond ``n_components`` hold the casing.
    origin : Provenance
        Provenance of the vectors, whose noise law is "none, k-anonymous classes".
    """
    noise = origin.noise
    size, named = noise.get("class_size"), noise.get("centroids")
    if noise.get("kind") != "classes" or type(size) is not int or size < 2 or size < origin.n_neighbors:
        raise BundleError("The origin of the vectors states no class size of at least 2.")
    if not isinstance(named, list) or not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in named):
        raise BundleError("The origin of the vectors does not state its classes.")
    if noise.get("seeded", False) is not False:
        raise BundleError("The origin of the vectors states a random seed, which word classes do not have.")
    vectors = np.ascontiguousarray(data[:, : origin.n_components], dtype=np.float32)
    # Distinct rows first: a release repeats few thousand centroids for millions of tokens.
    found = {row.tobytes() for row in vectors}
    if not {_digest(row) for row in found} <= set(named):
        raise BundleError(
            "A vector is not the mean vector of a word class: the vectors are not as WordClassRepresenter.transform "
            "returned them."
        )


def wrong_classes(
    table: np.ndarray, classes: np.ndarray, centroids: np.ndarray, k: int, kinds: np.ndarray | None = None
) -> str | None:
    """Return a sentence on the first fault of classes of public words; None without a fault.

    Each class holds at least k words with a vector, and its centroid is the mean of their vectors. The last class holds
    the words without a vector; its centroid is zero. If the casing is also released, all words of a class are of a
    single kind, and words of a kind with fewer than k words are in the last class.

    Parameters
    ----------
    table : ndarray of shape (n_words, d)
        Public word vectors, from which the centroids are computed.
    classes : ndarray of int, shape (n_words,)
        Class of each word.
    centroids : ndarray of shape (n_classes + 1, d), dtype float32
        Vector of each class.
    k : int
        Size of the smallest class that is allowed.
    kinds : ndarray of int, shape (n_words,), optional
        Kind of each word (`casing_kinds`), if the casing of tokens is released together with their classes.

    Examples
    --------
    >>> table = np.array([[1.0, 0.0], [3.0, 0.0]])
    >>> wrong_classes(table, np.array([0, 0]), np.array([[2.0, 0.0], [0.0, 0.0]], dtype=np.float32), 2) is None
    True
    """
    n = len(centroids) - 1
    if classes.shape != table.shape[:1] or classes.dtype.kind != "i" or n < 1:
        return "The classes are not those of the words."
    if centroids.dtype != np.float32 or centroids.shape[1:] != table.shape[1:] or not np.isfinite(centroids).all():
        return "The vectors of the classes are not of the kind of the word vectors."
    if classes.min() < 0 or classes.max() > n:
        return "A word has a class without a vector."
    known = table.any(axis=1)
    if kinds is not None:
        kind, size = np.unique(kinds[known], return_counts=True)
        # Words of a kind with fewer than k words cannot form a class. They belong to the class without a vector.
        known = known & np.isin(kinds, kind[size >= k])
        if mixed_kinds(classes, kinds, n):
            return (
                "A class holds words that cannot be written in the same casing: the released casing distinguishes them."
            )
    if ((classes == n) == known).any() or centroids[n].any():
        return "The class of words without a vector holds other words, or has a vector."
    if np.bincount(classes, minlength=n + 1)[:n].min() < k:
        return f"A class has fewer than {k} words."
    # A vector that is no mean could hide a mark of the sender or of a patient. The tolerance covers sums in another
    # order.
    if not np.allclose(class_means(table[known], classes[known]), centroids[:n], rtol=1e-5, atol=1e-6):
        return "The vector of a class is not the mean of the vectors of its words."
    return None


def _digest(row: bytes) -> str:
    return blake2b(row, digest_size=_DIGEST_SIZE).hexdigest()
