"""Escape sequences of HL7 version 2: what is written with other words reads as these words."""

from __future__ import annotations

from difflib import SequenceMatcher

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


@given(SOURCE.map("".join), TEXT)
def test_a_text_of_many_windows_is_read_as_it_was_given(source, new):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_deid.io.tables.hl7_escapes._WINDOW", 3)
        written = EscapedText(source, MARKS, "utf-8").changed(new)
    assert EscapedText(written, MARKS, "utf-8").text == new


def test_a_long_text_is_compared_in_windows_and_keeps_its_sequences(monkeypatch):
    """All words at a time took minutes for a field of 30,000 words."""
    sizes = []

    class Watched(SequenceMatcher):
        def __init__(self, isjunk, a, b, **options):
            sizes.append(len(a))
            super().__init__(isjunk, a, b, **options)

    monkeypatch.setattr("sklearn_deid.io.tables.hl7_escapes.SequenceMatcher", Watched)
    line = r"Seen by Ann Birch-Elm on 3 May 2024,\.br\and \H\again\N\ by Birch \T\ Co. on day {}.\.br\ "
    source = "".join(line.format(day) for day in range(400))
    text = EscapedText(source, MARKS, "utf-8")
    written = text.changed(text.text.replace("Ann Birch-Elm", "[NAME]").replace("3 May 2024", "[DATE]"))
    assert written == source.replace("Ann Birch-Elm", "[NAME]").replace("3 May 2024", "[DATE]")
    assert max(sizes) <= 256


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
