"""Public vectors as a further input of a trained tagger."""

import numpy as np
import pytest

from benchmarks.starter import public_vectors
from sklearn_deid import DeidTagger
from sklearn_deid.embeddings import SubwordTable, WordVectors
from tests.tagging.conftest import SMALL, make_sentences

NGRAMS = SubwordTable(np.random.default_rng(0).normal(size=(50, 4)))
WORDS = ["patient", "was", "mr", "zyx", "1990", "rare"]


@pytest.fixture
def glove(monkeypatch):
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 10)).astype(np.float32)
    monkeypatch.setattr(public_vectors, "load_glove", lambda: WordVectors(WORDS, vectors))
    monkeypatch.setattr(public_vectors, "ordinary_words", lambda: frozenset(["rare"]))
    return vectors


def test_listed_words_come_first_and_numbers_have_no_vector(glove, monkeypatch):
    monkeypatch.setattr(public_vectors, "N_KNOWN", 3)
    rows = public_vectors.known_word_table(NGRAMS).vectors_for(WORDS)[:, 4:]
    assert rows[:, -1].tolist() == [1, 1, 0, 0, 0, 1]
    np.testing.assert_allclose(np.linalg.norm(rows[0, :-1]), 3.5, rtol=1e-4)
    np.testing.assert_allclose(rows[5, :-1] / 3.5, glove[5] / np.linalg.norm(glove[5]), atol=1e-4)


def test_further_inputs_change_nothing_before_training(glove):
    X, y, _ = make_sentences(20)
    tagger = DeidTagger(**{**SMALL, "embeddings": NGRAMS, "max_epochs": 1, "warm_start": True, "random_state": 0})
    before = tagger.fit(X, y).predict_proba(X)
    wide = public_vectors.with_public_vectors(tagger)
    for left, right in zip(before, wide.predict_proba(X), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-6)
    # Training uses them.
    place = wide.module_.words.n_casings + NGRAMS.dim
    read = wide.fit(X, y).module_.encoder.ahead[0].weight_ih_l0[:, place : place + 11]
    assert read.abs().max() > 0
