"""Document linkage: what links is found, what does not link is not, by words, labels, casing and vectors."""

import os
import subprocess
import sys

import numpy as np
import pytest

from sklearn_deid.audit import Attack
from sklearn_deid.audit.attacks import LinkageAttack, PairFeatures, ReleasedSentences, SentencePairs, draw_pairs
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.text import casing_ids


def sentences(seed, n_patients=20, each=4, coherent=True, tagged=True, n_names=60):
    """Sentences with one surrogate: the same throughout a patient, or drawn for each sentence."""
    rng = np.random.default_rng(seed)
    rows, groups = [], np.repeat(np.arange(n_patients), each)
    own = rng.integers(n_names, size=n_patients)
    for patient in groups:
        name = own[patient] if coherent else rng.integers(n_names)
        rows.append(["seen", f"Name{name}", ["today", "again", "late"][rng.integers(3)]])
    return ReleasedSentences(rows, groups, [["O", "B-PATIENT", "O"]] * len(rows) if tagged else None)


def run(known, released, seed=0, **options):
    return LinkageAttack(**{"n_pairs": 300, "random_state": seed, **options}).fit(known).attack(released)


@pytest.mark.parametrize("tagged", [True, False])
def test_one_surrogate_throughout_a_patient_links_their_sentences(tagged):
    result = run(sentences(0, tagged=tagged), sentences(1, tagged=tagged))
    assert result.attack.low > 0.9
    assert result.details["area under the curve"] > 0.95
    assert result.status == "ok", result.failures
    assert isinstance(LinkageAttack(), Attack)


def test_surrogates_drawn_for_each_sentence_do_not_link():
    result = run(sentences(0, coherent=False), sentences(1, coherent=False))
    assert result.attack.covers(0.5)
    assert result.status == "ok", result.failures


def test_intervals_cover_chance_where_nothing_links():
    known = sentences(500, n_patients=15, coherent=False, n_names=6)
    found = [
        run(known, sentences(seed, n_patients=15, coherent=False, n_names=6), seed, n_pairs=60) for seed in range(100)
    ]
    assert sum(result.attack.covers(0.5) for result in found) >= 93
    assert sum(result.status == "ok" for result in found) >= 98


def vectors(seed, shared, n_patients=20, each=4):
    """Sentences of vectors; of one patient they share one of them."""
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((n_patients, 8))
    groups = np.repeat(np.arange(n_patients), each)
    X = [np.vstack([rng.standard_normal((3, 8)), own[p] if shared else rng.standard_normal(8)]) for p in groups]
    return ReleasedSentences(X, groups)


def test_vectors_that_repeat_link():
    result = run(vectors(0, True), vectors(1, True))
    assert result.threat == "representation"
    assert result.attack.value > 0.95
    assert result.attack.low > 0.8
    assert result.status == "ok", result.failures
    nothing = run(vectors(0, False), vectors(1, False))
    assert nothing.attack.covers(0.5)
    assert nothing.status == "ok", nothing.failures


def test_vectors_without_noise_link_like_their_words():
    """Most words of two sentences agree, as in notes: a vector links sentences if it is rare."""
    table = np.random.default_rng(0).standard_normal((2000, 8))

    def both(seed, coherent):
        rng = np.random.default_rng(seed)
        own, groups = rng.integers(60, 2000, size=20), np.repeat(np.arange(20), 6)
        names = own[groups] if coherent else rng.integers(60, 2000, size=len(groups))
        rows = [np.append(rng.choice(30, size=12), name) for name in names]
        return (
            ReleasedSentences([table[row] for row in rows], groups),
            ReleasedSentences([[f"w{i}" for i in row] for row in rows], groups),
        )

    for coherent in (True, False):
        vectors, words = (
            run(known, released) for known, released in zip(both(1, coherent), both(2, coherent), strict=True)
        )
        assert vectors.status == words.status == "ok", (vectors.failures, words.failures)
        assert vectors.attack.value > 0.95 if coherent else vectors.attack.covers(0.5)


def cased(seed):
    """Constant vectors; a patient's notes are all in capitals, or none."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(20), 4)
    loud = rng.integers(2, size=20)
    casing = [casing_ids(["SEEN", "LATE"] if loud[p] else ["seen", "late"]) for p in groups]
    return ReleasedSentences([np.ones((2, 3))] * 80, groups, casing=casing)


def test_casing_beside_constant_vectors_links_and_can_be_left_out():
    assert run(cased(0), cased(1)).attack.value > 0.65
    without = run(cased(0), cased(1), use_casing=False)
    assert without.attack.value == pytest.approx(0.5)
    assert "casing" not in without.name


def test_labels_link_and_can_be_left_out():
    def rare(seed):
        loud = np.random.default_rng(seed).integers(2, size=20)
        tags = [["B-AGE" if loud[i // 4] else "O"] for i in range(80)]
        return ReleasedSentences([[f"w{seed}-{i}"] for i in range(80)], np.repeat(np.arange(20), 4), tags)

    assert run(rare(0), rare(1), use_casing=False).attack.value > 0.65
    assert run(rare(0), rare(1), use_tags=False, use_casing=False).attack.value == pytest.approx(0.5)


def test_pairs_are_balanced_for_each_patient_and_cross_documents():
    X = [["a"]] * 12
    groups, documents = np.repeat(["p", "q", "r"], 4), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4])
    released = ReleasedSentences(X, groups, documents=documents)
    pairs = draw_pairs(released, 100, np.random.default_rng(0))
    assert (groups[pairs.first] == groups[pairs.second]).tolist() == pairs.same.tolist()
    assert (documents[pairs.first] != documents[pairs.second]).all()
    # The third patient has one document, and is in no pair, not even as a stranger.
    assert "r" not in groups[np.concatenate([pairs.first, pairs.second])]
    for patient in np.unique(pairs.patients):
        assert pairs.same[pairs.patients == patient].mean() == 0.5


def test_shared_words_weigh_as_much_as_they_are_rare():
    released = ReleasedSentences(
        [["Al", "x"], ["al", "y"], ["z", "x"], ["q"]], [0, 0, 1, 1], [["B-A", "O"], ["B-A", "O"], ["O", "O"], ["O"]]
    )
    pairs = SentencePairs(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([True, False, False]), np.zeros(3))
    found = PairFeatures(released, use_casing=False, use_tags=True)(pairs)
    weight = np.log(5 / 2)  # two of four sentences
    assert found[:, 1].tolist() == pytest.approx([weight, 0, 0])
    assert found[:, 3].tolist() == pytest.approx([0, weight, 0])


def test_best_cosines_of_two_sentences():
    """Unit vectors of two dimensions, at angles in degrees; the second sentence of the last pair has no token."""
    angles = [[0, 90, 45], [0, 30], [180], []]
    radians = np.deg2rad([angle for row in angles for angle in row])
    vectors = np.column_stack([np.cos(radians), np.sin(radians)])
    X = TokenVectors.from_rows(np.split(vectors, np.cumsum([len(row) for row in angles])[:-1]))
    pairs = SentencePairs(np.array([0, 1, 2, 0]), np.array([1, 0, 0, 3]), np.array([True] * 4), np.zeros(4))
    found = PairFeatures(ReleasedSentences(X, [0, 0, 1, 1]), use_casing=False, use_tags=False)(pairs)[:, 4:8]
    c15, c30, c45, c60 = np.cos(np.deg2rad([15, 30, 45, 60]))
    # The means are at 45, 15 and 180 degrees.
    expected = [[c30, 1, (1 + c60 + c15) / 3, 1], [c30, 1, (1 + c15) / 2, 1], [-c45, 0, 0, 0], [0, 0, 0, 0]]
    assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="at least two patients"):
        run(sentences(0), ReleasedSentences([["a"], ["b"]], ["p", "q"]))
    with pytest.raises(ValueError, match="both be words"):
        run(sentences(0), vectors(0, True))
    with pytest.raises(SequenceError, match="'groups'"):
        ReleasedSentences([["a"]], None)
    with pytest.raises(ValueError, match="'n_pairs'"):
        LinkageAttack(n_pairs=1)
    assert "Name" not in repr(sentences(0))


def test_shared_words_add_up_to_the_same_bits_in_every_process():
    """Words of a sentence are a set, whose order hangs on the hash seed of the process."""
    code = (
        "import numpy as np; from sklearn_deid.audit.attacks import PairFeatures, ReleasedSentences, SentencePairs; "
        "X = [[f'w{i}' for i in range(150)]] * 2 + [[f'w{j}' for j in range(i)] for i in range(1, 150)]; "
        "pair = SentencePairs(np.array([0]), np.array([1]), np.array([True]), np.array([0])); "
        "print(PairFeatures(ReleasedSentences(X, range(len(X))), False, False)(pair)[0, 0].hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in "0123"
    }
    assert len(found) == 1
