"""LabelLineTagger: a value below its label is read as on the line of the label, and nothing else changes."""

import numpy as np
import pytest

from sklearn_deid import LabelLineTagger, RecallTunedTagger, TokenSequences, load_model
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.tagging.marginals import TokenTagger


class AfterColons(TokenTagger):
    """Every token behind a colon of its sentence is a patient, as far as the length of the sentence says."""

    classes_ = np.array(["O", "B-PATIENT", "I-PATIENT"], dtype=object)

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict_proba(self, X):
        found = np.empty(len(X), dtype=object)
        for i, row in enumerate(X):
            phi = [
                0.9 * any(isinstance(token, str) and token == ":" for token in list(row)[:place]) + 0.001 * len(row)
                for place in range(len(row))
            ]
            found[i] = np.array([[1 - p, p / 2, p / 2] for p in phi]).reshape(-1, 3)
        return found


Y = [["B-PATIENT"], ["O"]]
MODEL = LabelLineTagger(AfterColons()).fit([["a"], ["b"]], Y)


def phi_of(rows, documents=None):
    X = TokenSequences.from_rows(rows)
    X = X if documents is None else X.with_documents(documents)
    return [row[:, 1:].sum(axis=1) for row in MODEL.predict_proba(X)]


@pytest.mark.parametrize("label", [["Attending", ":"], ["Next", "of", "kin", ":"], ["Dr", ".", ":"]])
def test_a_value_has_the_probabilities_that_it_has_behind_its_label(label):
    value = ["Roe", ",", "Ann"]
    _, below = phi_of([label, value], [0, 0])
    (joined,) = phi_of([[*label, *value]], [0])
    np.testing.assert_allclose(below, joined[len(label) :])


@pytest.mark.parametrize(
    ("rows", "documents"),
    [
        ([["Attending", ":"], ["Roe"]], None),
        ([["Attending", ":"], ["Roe"]], [0, 1]),
        ([["Attending", ":"], ["Nurse", ":"]], [0, 0]),
        ([["Attending"], ["Roe"]], [0, 0]),
        ([["attending", ":"], ["Roe"]], [0, 0]),
        ([[":"], ["Roe"], []], [0, 0, 0]),
        ([["Seen", "at", "9", ":"], ["Roe"]], [0, 0]),
        ([["We", "saw", "them", "on", "the", "ward", "again", ":"], ["Roe"]], [0, 0]),
        ([], []),
    ],
    ids=["no document", "other note", "label", "no colon", "small", "sign", "number", "sentence", "empty"],
)
def test_other_sentences_do_not_change(rows, documents):
    alone = AfterColons().predict_proba(TokenSequences.from_rows(rows))
    for found, expected in zip(phi_of(rows, documents), alone, strict=True):
        np.testing.assert_allclose(found, expected[:, 1:].sum(axis=1))


def test_many_values_keep_their_places_over_the_parts_of_a_long_note():
    rows = [["Attending", ":"], ["Roe"], ["Plan"], []] * 9000
    found = phi_of(rows, np.zeros(len(rows), dtype=int))
    assert [len(row) for row in found] == [2, 1, 1, 0] * 9000
    assert {round(float(row[0]), 3) for row in found[1::4]} == {0.903}
    assert {round(float(row[0]), 3) for row in found[2::4]} == {0.001}


def test_vectors_are_read_as_they_are():
    X = TokenVectors.from_rows([np.ones((2, 3)), np.ones((1, 3))])
    assert [row.shape for row in LabelLineTagger(AfterColons()).fit(X, [["O", "O"], ["O"]]).predict_proba(X)] == [
        (2, 3),
        (1, 3),
    ]


def test_a_threshold_inside_is_refused():
    with pytest.raises(ValueError, match="threshold"):
        LabelLineTagger(RecallTunedTagger(decision_bias=1.0)).fit([["a"]], [["O"]])


def test_the_starter_finds_names_below_their_labels_and_in_other_cells():
    names = ["Lindqvist", "Oyelaran", "Duc", "Banerjee", "Kowalczyk"]
    forms = [
        "Location:\nER\nAttending:\n{}\nStatus:\nFinal",
        "Lungs clear.\n\nCollected By\n{}\nSpecimen\nUrine",
        "Lungs clear.\n\nSurgeon - {}\nAnesthesia - General",
        "Patient\tAge\tSex\n{}\t45\tF",
    ]
    notes = [form.format(name) for form in forms for name in names]
    assert not [note for note, text in zip(notes, load_model().redact(notes), strict=True) if note[:40] == text[:40]]
