"""A small model on disk, made once."""

import shutil

import pytest

from sklearn_deid import DeidTagger, save

X = [["Mr", "Alder", "was", "seen"], ["No", "pain", "today"], ["Dr", "Birch", "left", "Northwick", "."], []]
Y = [["O", "B-PATIENT", "O", "O"], ["O", "O", "O"], ["O", "B-DOCTOR", "O", "B-CITY", "O"], []]
SMALL = {
    "max_epochs": 3,
    "lr": 0.02,
    "hidden_size": 6,
    "embeddings": None,
    "random_state": 0,
    "device": "cpu",
}


def fit_small(**parameters):
    return DeidTagger(**{**SMALL, **parameters}).fit(X * 4, Y * 4)


@pytest.fixture(scope="session")
def small():
    return fit_small()


@pytest.fixture(scope="session")
def saved(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    save(small, folder)
    return folder


@pytest.fixture
def bundle(saved, tmp_path):
    """A copy of the saved model, to be damaged."""
    return shutil.copytree(saved, tmp_path / "model")
