"""PHI tokens that a bound covers and does not cover, counted by hand."""

import numpy as np
import pytest

from sklearn_deid import NeighborPseudonymizer, PrivateRepresenter, WordVectors
from sklearn_deid.representations import PhiCoverage
from sklearn_deid.representations.phi_coverage import phi_coverage
from sklearn_deid.sequences import TokenSequences

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY

WORDS = ["alder", "birch", "cedar", "the", "12", "13", ",", "void"]
TABLE = np.random.default_rng(0).standard_normal((len(WORDS), 4))
TABLE[-1] = 0.0  # a word without direction counts as unknown
VECTORS = WordVectors(WORDS, TABLE, is_public=True)
X = TokenSequences.from_rows([["Alder", ",", "the", "Unseen", "99", "12", "Void"], ["birch", "pain"]])
TAGS = TokenSequences.from_rows([["B-NAME", *["I-NAME"] * 3, "B-ID", "I-ID", "B-NAME"], ["B-CITY", "O"]])


def counted(labels=None, **parameters):
    made = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=3, exclude=["the"], random_state=0, **parameters)
    return phi_coverage(X, TAGS, made.fit([], []).mechanism_, labels)


def test_every_token_has_one_reason():
    found = counted(digits="same")
    assert found == PhiCoverage(
        n_phi_tokens=8,
        n_covered=3,  # Alder, 12 and birch
        n_label_not_protected=0,
        n_punctuation=1,
        n_stop_words=1,
        n_numbers_without_vector=1,
        n_words_without_vector=2,
        n_without_neighbor=0,
    )
    assert found.share_not_covered == pytest.approx(5 / 8)
    assert repr(found).startswith("PhiCoverage(62.5 % of 8 PHI tokens not covered: 1 punctuation, 1 stop words")
    assert PhiCoverage.from_dict(found.to_dict()) == found


def test_labels_that_are_not_protected():
    found = counted(labels={"CITY"}, digits="same")
    assert (found.n_phi_tokens, found.n_covered, found.n_label_not_protected) == (8, 1, 7)


def test_covered_tokens_are_those_that_can_move():
    rows, tags, groups = make_sentences(80)
    representer = PrivateRepresenter(**TINY).fit(rows, tags, groups)
    bound = representer.certify(rows, tags, groups, random_state=0)
    data = representer.pair_data(rows, tags)
    counts = bound.coverage.to_dict()
    n_every = counts.pop("n_phi_tokens")
    assert counts["n_covered"] == len(data.eligible) and sum(counts.values()) == n_every


def test_no_phi_is_covered_as_a_whole():
    nothing = phi_coverage(X, TokenSequences.from_rows([["O"] * 7, ["O"] * 2]), _mechanism())
    assert nothing.n_phi_tokens == 0 and nothing.share_not_covered == 0.0


def _mechanism():
    made = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=2, exclude=None, random_state=0)
    return made.fit([], []).mechanism_
