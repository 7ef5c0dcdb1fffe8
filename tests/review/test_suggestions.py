"""Suggestions: against brute force, and for invariances of a batch."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_deid import Document, NoteDeidentifier, RuleTagger
from sklearn_deid.exceptions import DeidError
from sklearn_deid.review import note_uncertainties, suggest_notes
from sklearn_deid.sequences import object_rows
from sklearn_deid.tagging.note_tagger import NoteTagger

UNSURE = {"maybe": 0.5, "perhaps": 0.6, "likely": 0.9, "sure": 1.0}


class Fake:
    """A tagger that is as sure of a word as the table says, and calls every word O."""

    def fit(self, X, y):
        return self

    def predict(self, X, return_confidence=False):
        tags = object_rows([["O"] * len(row) for row in X])
        sure = [np.array([UNSURE.get(str(word), 1.0) for word in row]) for row in X]
        return (tags, sure) if return_confidence else tags


class Model:
    batch_size = 2

    def __init__(self, tagger=None):
        self.tagger = Fake() if tagger is None else tagger

    def note_tagger(self):
        return NoteTagger(self.tagger, {})


NOTES = ["sure", "maybe", "maybe maybe", "perhaps", "likely perhaps", "", "sure sure maybe", "maybe maybe"]


def value(notes):
    """The sum over words and the label of log(1 + the sum of the probabilities of an error)."""
    sums = {}
    for word in " ".join(notes).split():
        for feature in (word, "O"):
            sums[feature] = sums.get(feature, 0.0) + 1 - UNSURE[word]
    return sum(np.log1p(total) for total in sums.values())


def test_each_choice_has_the_largest_gain():
    chosen = suggest_notes(Model(), NOTES, 5)
    for place, number in enumerate(chosen):
        before = [NOTES[earlier] for earlier in chosen[:place]]
        others = set(range(len(NOTES))) - set(chosen[:place])
        best = max(value([*before, NOTES[other]]) for other in others)
        assert value([*before, NOTES[number]]) == pytest.approx(best)
    assert len(set(chosen)) == 5


def test_a_batch_is_nearly_the_best_of_all_batches():
    best = max(value([NOTES[number] for number in batch]) for batch in combinations(range(len(NOTES)), 3))
    assert value([NOTES[number] for number in suggest_notes(Model(), NOTES, 3)]) >= (1 - 1 / np.e) * best


def test_a_copy_is_worth_less_than_another_unsure_note():
    first, second = suggest_notes(Model(), ["maybe maybe", "maybe maybe", "perhaps perhaps"], 2)
    assert (first, second) == (0, 2)


def test_uncertainty_is_the_expected_number_of_wrong_tags():
    expected = [sum(1 - UNSURE[word] for word in note.split()) for note in NOTES]
    np.testing.assert_allclose(note_uncertainties(Model(), NOTES), expected)
    documents = [Document(str(number), note) for number, note in enumerate(NOTES)]
    assert suggest_notes(Model(), documents, 99) == suggest_notes(Model(), NOTES, 8)
    assert suggest_notes(Model(), ["", " "], 1) == [0]


class Form(Fake):
    """A tagger that calls a name PHI, and is unsure, only behind its label in the same line."""

    def predict(self, X, return_confidence=False):
        behind = [[place > 0 and row[place - 1] == ":" for place in range(len(row))] for row in map(list, X)]
        tags = object_rows([["B-DOCTOR" if is_name else "O" for is_name in row] for row in behind])
        sure = [np.array([0.6 if is_name else 1.0 for is_name in row]) for row in behind]
        return (tags, sure) if return_confidence else tags


def test_a_value_in_the_line_below_its_label_counts_as_it_is_redacted():
    """The suggestions lacked the second reading: a name of a form that was hidden in doubt was a certain "O"."""
    model, note = Model(Form()), "Nurse\nZyxw\n"
    assert [(span.start, span.end) for span in model.note_tagger()([note])[0]] == [(6, 10)]
    np.testing.assert_allclose(note_uncertainties(model, ["Seen today.", note]), [0.0, 0.4])


class Start(Fake):
    """A tagger that calls a name PHI, and is unsure, only at the start of a line."""

    def predict(self, X, return_confidence=False):
        names = [[place == 0 and token == "Zyxw" for place, token in enumerate(row)] for row in X]
        tags = object_rows([["B-DOCTOR" if is_name else "O" for is_name in row] for row in names])
        sure = [np.array([0.6 if is_name else 1.0 for is_name in row]) for row in names]
        return (tags, sure) if return_confidence else tags


def test_a_name_behind_the_prefix_of_its_line_counts_as_it_is_redacted():
    """The suggestions lacked the reading without prefixes: a name that was hidden in doubt was a certain "O"."""
    model, note = Model(Start()), "\n".join(f"10:{i} {'Zyxw' if i == 45 else 'Seen.'}" for i in range(42, 50))
    assert [note[span.start : span.end] for span in model.note_tagger()([note])[0]] == ["Zyxw"]
    np.testing.assert_allclose(note_uncertainties(model, [note, "Seen today."]), [0.4, 0.0])


def test_nonsense_is_refused():
    rules = NoteDeidentifier(RuleTagger().fit([]))
    with pytest.raises(DeidError, match="no probabilities"):
        suggest_notes(rules, ["Seen today."])
    with pytest.raises(DeidError, match="NUL characters") as caught:
        suggest_notes(Model(), [Document("n1", "Zyxwvut\x00")])
    assert "Zyxwvut" not in str(caught.value)
    for n in (0, 1.5, True):
        with pytest.raises(ValueError, match="'n'"):
            suggest_notes(Model(), NOTES, n)
