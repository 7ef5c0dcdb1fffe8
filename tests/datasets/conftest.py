"""One corpus for the tests that only look at it."""

from __future__ import annotations

import pytest

from sklearn_deid.datasets import make_clinical_notes
from sklearn_deid.text import Corpus


@pytest.fixture(scope="session")
def notes() -> Corpus:
    """300 notes of 100 patients."""
    return make_clinical_notes(n_notes=300, random_state=0)
