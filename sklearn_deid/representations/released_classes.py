"""Released word classes: each vector must be the mean vector of one of the classes that the origin names."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..exceptions import BundleError
from ..sequences import CLASS_LAW, Provenance

_DIGEST_SIZE = 8


def centroid_digests(centroids: np.ndarray) -> list[str]:
    """Return a digest of 16 hexadecimal digits for each row, for the origin of the vectors.

    Examples
    --------
    >>> import numpy as np
    >>> len(centroid_digests(np.zeros((1, 3), dtype=np.float32))[0])
    16
    """
    rows = np.ascontiguousarray(centroids, dtype=np.float32)
    return [_digest(row.tobytes()) for row in rows]


def holds_classes(origin: Provenance | None) -> bool:
    """Tell whether vectors of this origin are word classes, without noise.

    Examples
    --------
    >>> holds_classes(None)
    False
    """
    return origin is not None and origin.noise.get("law") == CLASS_LAW


def check_classes(data: np.ndarray, origin: Provenance) -> None:
    """Raise BundleError if a vector is not the mean vector of a class that the origin names.

    Parameters
    ----------
    data : ndarray of shape (n_tokens, d)
        Vectors. Columns beyond ``n_components`` hold the casing.
    origin : Provenance
        Origin of the vectors, with the law "none, k-anonymous classes".
    """
    noise = origin.noise
    size, named = noise.get("class_size"), noise.get("centroids")
    if noise.get("kind") != "classes" or type(size) is not int or size < 2 or size < origin.n_neighbors:
        raise BundleError("The origin of the vectors names no class size of at least 2.")
    if not isinstance(named, list) or not all(isinstance(digest, str) for digest in named):
        raise BundleError("The origin of the vectors does not name its classes.")
    vectors = np.ascontiguousarray(data[:, : origin.n_components], dtype=np.float32)
    found = {row.tobytes() for row in vectors}
    if not {_digest(row) for row in found} <= set(named):
        raise BundleError(
            "A vector is not the mean vector of a word class: the vectors are not as WordClassRepresenter.transform "
            "returned them."
        )


def _digest(row: bytes) -> str:
    return blake2b(row, digest_size=_DIGEST_SIZE).hexdigest()
