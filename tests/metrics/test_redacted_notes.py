"""What is left of a note, from spans and from redacted texts."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import Document, Span
from sklearn_deid.exceptions import DeidError, SequenceError
from sklearn_deid.metrics.redacted_notes import (
    PLACEHOLDER,
    _blocks_between_placeholders,
    align_redacted,
    original_notes,
)
from sklearn_deid.text import redact

TEXT = "Seen by Ana Mar of Leeds, 12 May."
SPANS = (Span(8, 15, "DOCTOR"), Span(19, 24, "CITY"), Span(26, 32, "DATE"))
KEPT = [True, True, False, False, True, False, True, False, False, True]


@pytest.mark.parametrize("mode", ["label", "mask", "remove"])
def test_spans_and_redacted_texts_agree(mode):
    notes = original_notes([Document("n", TEXT)])
    by_spans = align_redacted(notes, [Document("n", TEXT, SPANS)])
    by_text = align_redacted(notes, [redact(TEXT, SPANS, mode)])
    for side in (by_spans, by_text):
        assert side.kept[0].tolist() == KEPT
        assert side.tokens[0] == ["Seen", "by", "of", ",", "."]
    assert by_spans.texts[0].split() == by_text.texts[0].split() == ["Seen", "by", "of", ",", "."]


def test_a_note_without_a_patient_is_no_note_of_the_patient_whose_id_it_has():
    notes = [Document("7", TEXT), Document("8", TEXT), Document("9", TEXT, patient_id="7")]
    assert len(set(original_notes(notes).groups)) == 3
    assert len(set(original_notes([*notes, TEXT]).groups)) == 4


@given(
    tokens=st.lists(st.sampled_from(["ab", "cd", "Ef", ".", "12"]), min_size=1, max_size=12),
    removed=st.sets(st.integers(0, 11)),
)
def test_as_many_tokens_are_left_as_the_text_holds(tokens, removed):
    text = " ".join(tokens)
    starts = np.cumsum([0, *[len(t) + 1 for t in tokens]])
    spans = [Span(int(starts[i]), int(starts[i]) + len(tokens[i]), "X_Y") for i in removed if i < len(tokens)]
    notes = original_notes([text])
    exact = align_redacted(notes, [Document("number 0", text, tuple(spans))])
    aligned = align_redacted(notes, [redact(text, spans, "remove")])
    assert exact.kept[0].tolist() == [i not in removed for i in range(len(tokens))]
    assert aligned.tokens[0] == exact.tokens[0]
    assert aligned.kept[0].sum() <= exact.kept[0].sum()


def test_a_token_is_gone_if_a_character_is():
    side = align_redacted(original_notes(["Alder"]), [Document("n", "Alder", (Span(0, 2, "DOCTOR"),))])
    assert side.kept[0].tolist() == [False]


def test_a_placeholder_of_the_original_stays():
    notes = original_notes(["Pain: [YES] Seen by Ana"])
    side = align_redacted(notes, ["Pain: [YES] Seen by [DOCTOR]"])
    assert side.tokens[0] == ["Pain", ":", "[YES]", "Seen", "by"]
    assert side.texts[0].split() == ["Pain:", "[YES]", "Seen", "by"]


def test_mimic_placeholders_and_surrogates():
    notes = original_notes(["Seen by Ana in Leeds"])
    side = align_redacted(notes, ["Seen by [**First Name 12**] in York"])
    assert side.tokens[0] == ["Seen", "by", "in", "York"]
    assert side.kept[0].tolist() == [True, True, False, True, False]


def test_placeholders_in_a_long_repetitive_note_need_no_search_for_common_runs(monkeypatch):
    """The time grew with the cube of the length: 0.5 seconds for a table of 100 lines, and 3.7 for 200 lines."""
    monkeypatch.delattr("sklearn_deid.metrics.redacted_notes.SequenceMatcher")
    lines = [f"BP 120/80, HR 80, {name}, nurse {name}\n" for name in ["Ana", "Mar", "Ana Mar"] * 20]
    text = "".join(lines)
    spans = [Span(m.start(), m.end(), "DOCTOR") for m in re.finditer("Ana Mar|Ana|Mar", text)]
    notes = original_notes([text])
    exact = align_redacted(notes, [Document("number 0", text, tuple(spans))])
    for mode in ("label", "mask"):
        aligned = align_redacted(notes, [redact(text, spans, mode)])
        assert aligned.kept[0].tolist() == exact.kept[0].tolist() and aligned.tokens == exact.tokens


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ana came.", "[X_Y] left."),  # another word
        ("Ana came.", "Ana came.[X_Y]"),  # nothing was removed
        ("A b c", "b [X_Y]"),  # the first word is gone
        ("A b c", "c [X_Y] A"),  # another order
        ("[X_Y] b c", "[X_Y] b [X_Y]"),  # a placeholder of the original
        ("Ana came.", "Ana came."),
    ],
)
def test_runs_that_are_not_all_there_are_searched_for(before, after):
    pattern = re.compile(PLACEHOLDER)
    assert _blocks_between_placeholders(before.split(), after.replace("[", " [").split(), pattern) is None


def test_documents_are_matched_by_id_and_texts_by_position():
    documents = [Document("a", "one"), Document("b", "two")]
    notes = original_notes(documents)
    assert align_redacted(notes, documents[::-1]).tokens == [["one"], ["two"]]
    assert align_redacted(original_notes(["one", "two"]), documents).tokens == [["one"], ["two"]]


def test_a_withheld_note_has_nothing_left():
    side = align_redacted(original_notes(["one two", "three"]), [None, "three"])
    assert side.n_withheld == 1
    assert side.tokens == [[], ["three"]]
    assert side.kept[0].tolist() == [False, False]


class TestErrors:
    notes = original_notes([Document("n1", TEXT), Document("n2", TEXT)])

    def test_another_number(self):
        with pytest.raises(SequenceError, match="one note for each of 2 original notes. Got 1 instead"):
            align_redacted(self.notes, [TEXT])

    def test_a_document_without_partner(self):
        with pytest.raises(SequenceError, match=r"'gold' lacks a note.*document n2"):
            align_redacted(self.notes, [Document("n1", TEXT), Document("n3", TEXT)], "gold")

    def test_two_documents_of_one_id(self):
        """The spans of the last one counted for both."""
        notes = [Document("n1", TEXT), Document("n1", TEXT, (Span(0, 4, "DATE"),))]
        with pytest.raises(SequenceError, match=r"ids must be distinct.*document n1"):
            align_redacted(original_notes(notes), notes)

    def test_another_text(self):
        with pytest.raises(DeidError, match=r"the original text.*document n2") as caught:
            align_redacted(self.notes, [Document("n1", TEXT), Document("n2", "Zyxwvut")])
        assert "Zyxwvut" not in str(caught.value)

    def test_one_text_instead_of_notes(self):
        with pytest.raises(TypeError, match="'redacted' must be a sequence of notes. Got str"):
            align_redacted(self.notes, TEXT)

    def test_something_else(self):
        with pytest.raises(TypeError, match=r"must hold texts or Documents. Got int .*n2"):
            align_redacted(self.notes, [TEXT, 3])
        with pytest.raises(TypeError, match="'original' must hold texts"):
            original_notes([None])

    def test_no_note(self):
        with pytest.raises(SequenceError, match="holds no note"):
            original_notes([])


def test_reprs_show_no_text():
    shown = repr(TestErrors.notes) + repr(align_redacted(TestErrors.notes, [TEXT, None]))
    assert shown == "OriginalNotes(2 notes)RedactedNotes(2 notes, 1 withheld)"
