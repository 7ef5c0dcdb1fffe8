"""The contextual attacker gains where prior and release each tell a part, and gains nothing from a blind release."""

import copy

import numpy as np
import pytest

from sklearn_deid import NeighborPseudonymizer, WordVectors
from sklearn_deid.audit.attacks import ContextualAttack, PseudonymisedText, PseudonymKnowledge, PublicNotes
from sklearn_deid.sequences import TokenSequences

from ...representations.test_private_representer import VECTORS
from ..audited_toys import audited_sentences, auditor

# Two clusters of two names: a surrogate tells the cluster, the title tells which of two names is the usual one.
NAMES = WordVectors(["alder", "birch", "cedar", "drake"], [[1, 0.0], [1, 0.1], [0, 1.0], [0.1, 1.0]], is_public=True)


def sentences(n, seed, usual=0.8):
    rng, X = np.random.default_rng(seed), []
    for _ in range(n):
        title, other = rng.integers(2), rng.random() > usual
        name = ["Alder", "Birch", "Cedar", "Drake"][2 * rng.integers(2) + int(title ^ other)]
        X.append([["Dr", "Mr"][title], name, "left"])
    return TokenSequences.from_rows(X), TokenSequences.from_rows([["O", "B-NAME", "O"]] * n)


def decoded(n_neighbors, n=1500, n_known=4000):
    X, y = sentences(n, 0)
    moved = NeighborPseudonymizer(embeddings=NAMES, n_neighbors=n_neighbors, random_state=1).fit(X, y)
    known = PublicNotes(sentences(n_known, 2)[0], PseudonymKnowledge(moved, {"NAME": dict.fromkeys(set(X.data), 1)}))
    attack = ContextualAttack(n_sentences=None, random_state=0).fit(known)
    return attack.attack(PseudonymisedText(moved.sample(X, y), X, y))


def test_prior_and_release_tell_more_together():
    """The cluster is certain from the surrogate, the usual name of a title right in 80 %: 40 %, 50 % and 80 %."""
    found = decoded(2)
    assert found.status == "ok" and found.positive_control.value == 1.0
    assert found.baseline.value == pytest.approx(0.4, abs=0.05)
    assert found.details["release alone"] == pytest.approx(0.5, abs=0.01)
    assert found.attack.value == pytest.approx(0.8, abs=0.03)
    gain = found.details["gain over the prior"]
    assert gain["value"] == pytest.approx(found.attack.value - found.baseline.value) and gain["low"] > 0.3


def test_release_of_the_whole_vocabulary_tells_nothing():
    found = decoded(4, 300, 800)
    assert found.attack.value == found.baseline.value and found.details["gain over the prior"]["value"] == 0.0
    assert found.details["release alone"] == pytest.approx(0.25)


def test_words_without_a_move_are_read():
    found = decoded(1, 300, 800)
    assert found.attack.value == 1.0 and found.advantage == 1.0


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


def test_audit_of_text(data):
    X, y, groups = data
    moved = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, random_state=0).fit(X, y)
    (found,) = auditor(["contextual"]).audit(moved, X, y, groups).results
    assert found.status == "ok" and found.threat == "pseudonymised text" and found.family == "contextual"
    assert found.details["both"] == found.attack.value >= found.details["prior alone"] - 0.1


def test_audit_of_vectors(data, trained_leaky):
    X, y, groups = data
    (found,) = auditor(["contextual"]).audit(copy.deepcopy(trained_leaky), X, y, groups).results
    assert found.status == "ok" and found.threat == "representation"
    assert found.attack.value > 0.9 and found.attack.value > found.baseline.value
    assert found.details["release alone"] == pytest.approx(found.attack.value, abs=0.1)


def test_nothing_to_decode_is_refused():
    X, _ = sentences(3, 0)
    y = TokenSequences.from_rows([["O", "O", "O"]] * 3)
    known = PublicNotes(
        X, PseudonymKnowledge(NeighborPseudonymizer(embeddings=NAMES, n_neighbors=2).fit(X, y), {"a": 1})
    )
    with pytest.raises(ValueError, match="no word of PHI that could be decoded"):
        ContextualAttack().fit(known).attack(PseudonymisedText(X, X, y))
