"""The gold spans follow every change of a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.datasets.notes.context import Style
from sklearn_deid.datasets.notes.writing import add_noise
from sklearn_deid.surrogates import Chance
from sklearn_deid.text import I2B2_2014

PLAIN = st.tuples(st.text("ab .\n\tMr", max_size=12), st.none())
PHI = st.tuples(st.sampled_from(["Hope", "De Luca", "12/3", "O'Brien, May", "x"]), st.sampled_from(["PATIENT", "DATE"]))


def fill(pieces: list) -> NoteBuilder:
    note = NoteBuilder()
    for value, label in pieces:
        note.text(value) if label is None else note.phi(value, label)
    return note


@given(st.lists(st.one_of(PLAIN, PHI), max_size=12))
def test_spans_cover_what_was_put_in(pieces):
    document = fill(pieces).build("n", patient_id="p")

    assert document.text == "".join(value for value, _ in pieces)
    expected = [(value, label, I2B2_2014.category(label)) for value, label in pieces if label]
    assert [(document.text[s.start : s.end], s.label, s.category) for s in document.spans] == expected


@given(
    st.lists(st.one_of(PLAIN, PHI), max_size=12), st.integers(5, 20), st.booleans(), st.booleans(), st.integers(0, 9)
)
def test_spans_survive_an_untidy_writer(pieces, width, capitals, crlf, seed):
    style = Style("3/14/11", 0, 0, "Title", True, "- ", "\n", width, capitals, crlf, sloppy=True)
    note = fill(pieces)
    add_noise(note, style, Chance(seed))
    document = note.build("n", patient_id="p")

    covered = [" ".join(document.text[s.start : s.end].split()) for s in document.spans]
    assert covered == [value.upper() if capitals else value for value, label in pieces if label]
    assert document.text == document.text.upper() or not capitals
    assert "\n" not in document.text.replace("\r\n", "") or not crlf


@given(st.text("ab \n", max_size=60), st.integers(3, 12))
def test_wrapping_changes_spaces_only(text, width):
    note = NoteBuilder().text(text)
    note.wrap(width)
    wrapped = "".join(value for value, _ in note.pieces)

    assert wrapped.replace("\n", " ") == text.replace("\n", " ")
    # A line may be longer only where it has no space to break at.
    assert all(len(line) <= width or " " not in line[1 : width + 1] for line in wrapped.split("\n"))


@pytest.mark.parametrize("value", ["", " May", "May\n"])
def test_phi_with_white_space_at_its_ends_is_refused(value):
    with pytest.raises(ValueError, match="A span of type DATE must neither be empty nor begin or end with white space"):
        NoteBuilder().phi(value, "DATE")
