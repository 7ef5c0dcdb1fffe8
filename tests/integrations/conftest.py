"""Taggers that need no training, and a small trained model on disk."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_deid import DeidTagger, NoteDeidentifier, RuleTagger, save
from sklearn_deid.sequences import object_rows

X = [["Mr", "Alder", "was", "seen"], ["No", "pain", "today"], ["Dr", "Birch", "left", "Northwick", "."]]
Y = [["O", "B-PATIENT", "O", "O"], ["O", "O", "O"], ["O", "B-DOCTOR", "O", "B-CITY", "O"]]
#: A word that makes a tagger fail; it must not be in any message.
TRAP = "Zyxwvut"


class CapitalTagger(BaseEstimator):
    """Every token that begins with a capital is a name, as sure as it is long; fails on one word."""

    classes_ = np.array(["O", "B-NAME", "I-NAME"], dtype=object)

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X, return_confidence=False):
        if any(TRAP in row for row in X):
            raise ValueError(f"cannot tag {TRAP}")
        tags = object_rows([["B-NAME" if token[:1].isupper() else "O" for token in row] for row in X])
        sure = object_rows([[min(1.0, len(token) / 8) for token in row] for row in X])
        return (tags, sure) if return_confidence else tags


@pytest.fixture(scope="session")
def capitals():
    return NoteDeidentifier(CapitalTagger().fit([]))


@pytest.fixture(scope="session")
def rules_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(RuleTagger().fit([]), folder)
    return folder


@pytest.fixture(scope="session")
def small():
    return DeidTagger(max_epochs=20, lr=0.05, hidden_size=6, embeddings=None, random_state=0, device="cpu").fit(
        X * 4, Y * 4
    )


@pytest.fixture(scope="session")
def small_path(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "model"
    save(NoteDeidentifier(small), folder)
    return folder
