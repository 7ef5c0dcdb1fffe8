import numpy as np
import pytest

from sklearn_deid import WordVectors

WORDS = ["alder", "birch", "maple", "Maple", "oak", "oaks", "12", "17", "1984", "pain", "straße", "the"]


@pytest.fixture(scope="session")
def vectors():
    """Twelve words in five dimensions, two of them alike but for the casing."""
    table = np.random.default_rng(0).standard_normal((len(WORDS), 5))
    return WordVectors(WORDS, table, is_public=True)
