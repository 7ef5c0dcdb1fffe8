"""Small tables, and their neighbours by a full sort."""

from __future__ import annotations

from unittest import mock

import numpy as np

from sklearn_deid.embeddings import (
    WordVectors,
    neighbors,
)


def table_of(array, **options) -> WordVectors:
    return WordVectors([f"word{i}" for i in range(len(array))], array, **options)


def cosines_of(vectors: WordVectors, rows) -> np.ndarray:
    unit = vectors.matrix().astype(np.float64)
    return unit[rows] @ unit.T


def sorted_in_full(vectors, rows, n_neighbors, candidates=None) -> np.ndarray:
    """The oracle: all cosines in float64, the word itself first, equal ones by row."""
    allowed = vectors.matrix().any(axis=1)
    allowed = allowed if candidates is None else allowed & candidates
    found = []
    for row in rows:
        cosine = np.round(cosines_of(vectors, [row])[0], 12)  # the product's rounding depends on the place of a row
        cosine[~allowed] = -np.inf
        cosine[row] = np.inf
        found.append(np.argsort(-cosine, kind="stable")[:n_neighbors])
    return np.array(found)


def usable_rows(vectors: WordVectors) -> np.ndarray:
    return np.flatnonzero(vectors.matrix().any(axis=1))


def without_search():
    """Fails if anything is searched rather than remembered."""
    return mock.patch.object(neighbors, "search_neighbors", side_effect=AssertionError("searched"))
