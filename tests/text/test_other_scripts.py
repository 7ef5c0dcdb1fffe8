"""Names in other scripts are read in Latin letters; symbols of medicine and sentences in other languages are not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import load_model
from sklearn_deid.tagging.note_likeness import measure
from sklearn_deid.tagging.note_sentences import NormalizedSegmenter
from sklearn_deid.text.other_scripts import words_of_other_scripts

NAMES = {
    "Cyrillic": ("\u041e\u043b\u0435\u0433", "\u041a\u0443\u0437\u043d\u0435\u0446\u043e\u0432"),
    "Greek": ("\u039d\u03af\u03ba\u03bf\u03c2", "\u0392\u03bb\u03ac\u03c7\u03bf\u03c2"),
    "Hebrew": ("\u05d3\u05d5\u05d3", "\u05db\u05d4\u05df"),
    "Arabic": ("\u0623\u062d\u0645\u062f", "\u0627\u0644\u062d\u0633\u0646"),
    "Devanagari": ("\u0930\u093e\u092e", "\u0936\u0930\u094d\u092e\u093e"),
    "Thai": ("\u0e27\u0e34\u0e0a\u0e31\u0e22", "\u0e43\u0e08\u0e14\u0e35"),
    "Chinese": ("\u5c0f\u660e", "\u738b"),
    "Japanese": ("\u3055\u304f\u3089", "\u305f\u306a\u304b"),
    "Korean": ("\ubbfc\uc900", "\uae40"),
}
NOTE = (
    "Patient: {0} {1}\n\n{0} {1} was admitted with chest pain. Discussed with {0} {1} at the bedside. "
    "Follow up with Dr. {1} in two weeks.\n"
)


@pytest.mark.parametrize("script", NAMES)
def test_names_in_other_scripts_are_hidden(script):
    """The starter left Hebrew, Chinese and Thai names in sentences without a title, and single letters of others."""
    given, family = NAMES[script]
    redacted = load_model().set_params(on_unlike="pass").redact([NOTE.format(given, family)])[0]
    assert not set(redacted) & set(given + family)


def test_cyrillic_letters_among_latin_letters_are_read_in_latin_letters():
    """Small letters stayed, and the starter left the end of the name in the note."""
    note = NOTE.format("Bri\u0430n", "Quimb\u0443")
    assert [edit.replacement for edit in words_of_other_scripts(note)][:2] == ["a", "u"]
    assert "Quimb" not in load_model().set_params(on_unlike="pass").redact([note])[0]


@pytest.mark.parametrize(
    "text",
    [
        "Given 5 \u03bcg and a \u03b2-blocker; \u0394P rose, \u03b1\u03b2 T cells, \u03a3 and \u03a9.",
        "She said \u0431\u043e\u043b\u044c\u043d\u043e \u0432 \u0433\u0440\u0443\u0434\u0438 at noon.",
        "The mother wrote seven words in a row: " + "\u05d3\u05d5\u05d3 " * 7,
        "BP 120, \u0661\u0662\u0663 \u2126 \u2103 \u2192 \u20ac \u201cfine\u201d",
        "pt \u738b\u5c0f\u660e",  # most letters are Chinese
    ],
)
def test_other_texts_stay(text):
    assert not words_of_other_scripts(text * (2 if len(text) > 9 else 1))


def test_likeness_measures_words_as_written():
    """Otherwise, notes in two languages would be like the training notes."""
    text = "Seen at noon by a nurse. " + "\u5c0f\u660e\u738b, \u05d3\u05d5\u05d3."
    cut = NormalizedSegmenter().segment(text)
    assert cut.tokens.texts[-4].isascii() and cut.tokens.texts[-2] == "Davada"
    assert measure(cut, 0, text).sums[6] == 4  # three ideographs, one word


@given(st.text())
def test_edits_are_sorted_and_cover_letters(text):
    at = 0
    for start, end, letters in words_of_other_scripts("patient " * 20 + text):
        assert at <= start < end and letters.isascii() and letters.isalpha()
        at = end


@pytest.mark.parametrize("piece", ["\u05d3 ", "\u05d3", "\u0301\u0663", "\u0416.a", "a\u738b\u3001"])
def test_the_time_is_linear(piece):
    start = time.process_time()
    words_of_other_scripts("a" * 400_000 + piece * (400_000 // len(piece)))
    assert time.process_time() - start < 8
