"""Escape sequences of HL7 version 2: what is written with other words reads as these words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io.tables.hl7_escapes import EscapedText, Separators

MARKS = Separators(*"|^~\\&")
TEXT = st.text("ab 1|^~\\&ä", max_size=30)
SOURCE = st.lists(st.sampled_from(["a", "birch", " ", "\\F\\", "\\E\\", "\\H\\", "\\.br\\", "\\X41\\", "\\.sp+2\\"]))


@given(SOURCE.map("".join), TEXT)
def test_a_new_text_is_read_as_it_was_given(source, new):
    written = EscapedText(source, MARKS, "utf-8").changed(new)
    assert EscapedText(written, MARKS, "utf-8").text == new


@given(SOURCE.map("".join))
def test_the_same_text_keeps_its_source(source):
    text = EscapedText(source, MARKS, "utf-8")
    assert text.changed(text.text) == source


@pytest.mark.parametrize("source", ["a \\ b", "\\Q\\", "\\XZZ\\", "\\XFF\\", "\\X00\\", "\\.sp1000\\"])
def test_other_sequences_are_refused_without_their_text(source):
    with pytest.raises(CorpusFormatError) as caught:
        EscapedText(f"Birch {source}", MARKS, "utf-8")
    assert "Birch" not in str(caught.value)
    assert caught.value.__context__ is None
