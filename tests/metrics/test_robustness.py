"""Alterations keep the place of each character; the table counts what a reader of the altered note would see."""

import math

import numpy as np
import pytest

from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span, make_clinical_notes
from sklearn_deid.metrics import ALTERATIONS, robustness_table
from sklearn_deid.metrics.alterations import Alteration
from sklearn_deid.text import normalize, unreadable_reason

NOTE = Document(
    "n", "Mr. John Alder of Northwick, 45yo.\nCall 555-0142.", (Span(4, 14, "PATIENT"), Span(40, 48, "PHONE"))
)
BY_NAME = {alteration.name: alteration for alteration in ALTERATIONS}


def altered(name, note=NOTE, seed=0):
    return BY_NAME[name].altered(note, np.random.default_rng(seed))


@pytest.mark.parametrize("name", BY_NAME)
def test_places_cut_the_altered_text_into_the_pieces(name):
    for note in [NOTE, *make_clinical_notes(5, random_state=2)]:
        result = altered(name, note)
        assert len(result.places) == len(note.text) + 1
        assert result.places[0] == 0 and result.places[-1] == len(result.text)
        assert all(a <= b for a, b in zip(result.places[:-1], result.places[1:], strict=True))
        assert altered(name, note).text == result.text, "the same seed, the same text"
        assert unreadable_reason(result.text) is None


@pytest.mark.parametrize("name", BY_NAME)
def test_only_one_alteration_changes_nothing(name):
    notes = make_clinical_notes(20, random_state=2)
    assert any(altered(name, note).text != note.text for note in notes) == (name != "unchanged")


def test_some_by_hand():
    assert altered("lower case").text.startswith("mr. john alder")
    assert altered("title case").text.startswith("Mr. John Alder Of Northwick, 45yo.\nCall")
    assert altered("punctuation lost").text == "Mr John Alder of Northwick 45yo\nCall 555-0142"
    assert altered("line breaks in PHI").text.startswith("Mr. John\nAlder of")
    assert altered("en dashes").text.endswith("555\u20130142.")
    assert altered("entities").text.startswith("&#77;&#114;. &#74;")
    assert altered("hyphenated over lines").text[4:].startswith(("John Al-\nder", "John Ald-\ner"))
    assert max(map(len, altered("wrapped at 20").text.split("\n"))) <= 20


@pytest.mark.parametrize("name", [alteration.name for alteration in ALTERATIONS if alteration.evasive])
def test_evasive_alterations_are_read_as_the_note(name):
    read = normalize(altered(name).text).text
    assert "".join(read.split()) == "".join(NOTE.text.split())


class Finds:
    """Finds given passages of a text; withholds notes with a given word."""

    def __init__(self, *passages, withhold=None):
        self.passages, self.withhold = passages, withhold

    def annotate(self, texts):
        return [None if self.withhold and self.withhold in text else self._spans(text) for text in texts]

    def _spans(self, text):
        return [Span(text.index(p), text.index(p) + len(p), "X") for p in self.passages if p in text]


def row(deidentifier, notes=(NOTE,), name="unchanged"):
    (found,) = robustness_table(deidentifier, notes, [BY_NAME[name]]).rows
    return found


def test_tokens_are_counted_as_by_hand():
    # PHI tokens: John, Alder, 555, 0142; others: Mr, of, Northwick, 45yo, Call
    found = row(Finds("John Ald", "Northwick"))
    assert (found.recall, found.name_recall) == (1 / 4, 1 / 2), "Alder is not covered wholly"
    assert (found.precision, found.false_alarms, found.withheld) == (1 / 2, 1 / 5, 0)
    assert row(Finds("John Alder", "555-0142")).recall == 1
    assert row(Finds("John"), name="hyphenated over lines").name_recall == 1 / 2
    nothing = row(Finds())
    assert nothing.recall == 0 and math.isnan(nothing.precision)


def test_signs_between_letters_need_not_be_covered():
    spread = Alteration("stars", True, lambda document, rng: [c + "*" for c in document.text])
    text = spread.altered(NOTE, np.random.default_rng(0)).text
    letters = Finds(*dict.fromkeys(c for c in "JohnAlder"))
    (found,) = robustness_table(Finds(text[8:28]), [NOTE], [spread]).rows
    assert found.name_recall == 1
    assert letters.annotate(["x"]) == [[]]


def test_withheld_notes_are_told_and_not_counted():
    other = Document("o", "Ann is here", (Span(0, 3, "PATIENT"),))
    found = row(Finds("John Alder", "555-0142", withhold="Ann"), [NOTE, other])
    assert (found.recall, found.withheld) == (1, 0.5)


def test_no_notes_and_the_forms_of_the_table():
    with pytest.raises(ValueError, match="'notes' parameter holds no note"):
        robustness_table(Finds(), [])
    table = robustness_table(NoteDeidentifier(RuleTagger().fit([])), [NOTE])
    assert table.to_dict()["n_notes"] == 1
    assert [r["name"] for r in table.to_dict()["rows"]] == list(BY_NAME)
    assert str(table).splitlines()[2].startswith("| unchanged | ")
    assert "Alder" not in str(table) + repr(altered("unchanged"))


def test_rules_find_the_phone_number_however_it_is_written():
    table = robustness_table(NoteDeidentifier(RuleTagger().fit([])), [Document("p", NOTE.text, NOTE.spans[1:])])
    assert {r.name for r in table.rows if r.evasive and r.recall < 1} == set()
