"""Baselines against counts by hand."""

import numpy as np
import pytest

from benchmarks.baselines import features, guess, linear_crf, look, word_list
from benchmarks.corpora import drawn
from benchmarks.noise_ranks import phi_words, spelled
from sklearn_deid import Corpus, Document, Span, WordVectors, make_clinical_notes


def sentences(*texts_and_names):
    documents = []
    for number, (text, names) in enumerate(texts_and_names):
        spans = tuple(Span(text.index(name), text.index(name) + len(name), "PATIENT") for name in names)
        documents.append(Document(str(number), text, spans))
    return Corpus(documents).to_sentences()


TRAIN = sentences(
    ("Alder came.", ["Alder"]), ("Alder went.", ["Alder"]), ("Birch came.", ["Birch"]), ("May came.", ["May"]),
    ("In May again.", []),
)  # fmt: skip


def test_the_word_list_gives_the_commonest_tag_with_one_count_more_for_none():
    test = sentences(("Alder saw Birch in May with Cedar.", []))
    # Alder: 2 against 1 for "O"; Birch: 1 against 1, "O" counted first; May: 1 against 2; Cedar: never seen
    assert list(word_list(TRAIN, test)[0]) == ["B-PATIENT", *["O"] * 7]


def test_the_guess_has_the_frequencies_of_the_training_notes():
    many = make_clinical_notes(40, random_state=0).to_sentences()
    tags = [tag for row in guess(many, many, np.random.default_rng(0)) for tag in row]
    gold = [tag for row in many.y for tag in row]
    assert abs(tags.count("O") / len(tags) - gold.count("O") / len(gold)) < 0.01


def test_features_are_of_the_token_and_of_two_neighbours_on_either_side():
    found = features(["Mr", "Alder", "aged", "81", "came"])
    assert found[0]["begin"] and not found[0]["end"] and "-1:word" not in found[0]
    assert found[2]["-2:word"] == "mr" and found[2]["2:word"] == "came" and "3:word" not in found[2]
    assert look("A1b-")["shape"] == "A0a-"


def test_the_linear_crf_learns_a_cue():
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite (extra 'benchmarks') is not installed")
    names = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]
    train = sentences(*((f"Patient: {name} was here.", [name]) for name in names))
    test = sentences(("Patient: Ginkgo was here.", []))
    assert list(linear_crf(train, test)[0])[2] == "B-PATIENT"


def test_a_smaller_share_of_a_seed_is_part_of_a_larger_one():
    notes = make_clinical_notes(20, random_state=0)
    small, large = ({note.doc_id for note in drawn(notes, n, seed=3)} for n in (4, 12))
    assert len(small) == 4 and small < large
    assert small != {note.doc_id for note in drawn(notes, 4, seed=4)}


def test_spelled_counts_neighbours_that_contain_the_word():
    vectors = WordVectors(["ann", "anna", "joann", "tree"], np.array([[1, 0], [1, 0.1], [1, 0.2], [0, 1.0]]))
    assert spelled(vectors, ["ann"]) == 2.0
    assert spelled(vectors, ["ann", "tree"]) == 1.0


def test_phi_words_are_words_with_a_vector():
    vectors = WordVectors(["alder", "May", "came"], np.eye(3))
    assert sorted(phi_words(TRAIN, vectors, 10, seed=0)) == ["May", "alder"]
    assert len(phi_words(TRAIN, vectors, 1, seed=0)) == 1
