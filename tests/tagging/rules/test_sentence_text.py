"""Sentences rebuilt from tokens: the way back, and how much of the rules survives it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.tagging.rules import find_phi, rebuild_sentence, sentence_readings
from sklearn_deid.text import tokenize


@given(tokens=st.lists(st.text(min_size=1, max_size=4), max_size=12))
def test_tokens_are_where_it_says(tokens):
    sentence = rebuild_sentence(tokens)
    assert [sentence.text[a:b] for a, b in zip(sentence.starts, sentence.ends, strict=True)] == tokens


@given(text=st.text(alphabet="aB1 .-/@", max_size=30))
def test_only_space_and_marks_differ(text):
    rebuilt = rebuild_sentence(tokenize(text).texts).text
    assert "".join(rebuilt.split()) == "".join(text.split())


@given(tokens=st.lists(st.sampled_from(["a", "B", "91", "-", "/", ".", "+", "org"]), max_size=12))
def test_tokens_of_every_reading(tokens):
    readings = sentence_readings(tokens)
    assert readings[0] == rebuild_sentence(tokens)
    assert len({reading.text for reading in readings}) == len(readings)
    for reading in readings:
        assert [reading.text[a:b] for a, b in zip(reading.starts, reading.ends, strict=True)] == tokens


@pytest.mark.parametrize("text", [
    "white97@example.org", "J.Smith97@mail.example.org", "https://my.example.net/results", "192.0.2.182",
    "(555) 010-0142", "MRN88213pt", "905-54-6175", "12/03/2019", "05MAY11", "May 23rd, 1997", "06-Oct-1950",
    "a 76-year-old man", "43yo", "Unit No: 5776771", "Member ID: G9K4US3DS42", "NASS: 90 78234615 13",
    "NºCol: 31 08 51204", "Tlf. 609 518571", "Plainton, MD 41823", "3 de mayo de 2011", "Edad: 55 años",
])  # fmt: skip
def test_same_finds_as_on_raw_text(text):
    tokens = tokenize(text)
    sentence = rebuild_sentence(tokens.texts)
    raw, rebuilt = find_phi(text), find_phi(sentence.text)
    assert raw
    # As token numbers, which both have in common.
    as_tokens = [(s.label, tokens.starts.index(s.start), tokens.ends.index(s.end)) for s in raw]
    assert as_tokens == [(s.label, sentence.starts.index(s.start), sentence.ends.index(s.end)) for s in rebuilt]


@pytest.mark.parametrize(("text", "found"), [
    ("Madrid. ana@example.org", "ana@example.org"),  # the full stop belongs to the sentence before
    ("ana@example.org. Next", "ana@example.org"),
    ("ana@example.org 33", "ana@example.org"),
])  # fmt: skip
def test_what_rebuilding_attaches_is_cut_off(text, found):
    sentence = rebuild_sentence(tokenize(text).texts)
    (span,) = find_phi(sentence.text, recognizers=["email"])
    assert sentence.text[span.start : span.end] == found


def test_what_is_lost_is_as_documented():
    lost = rebuild_sentence(tokenize("12 - 3/4/2019").texts).text
    assert lost == "12-3/4/2019"
    assert [(span.start, span.end) for span in find_phi(lost)] == [(0, 11)]
    assert repr(rebuild_sentence(["secret"])) == "SentenceText(6 characters, 1 tokens)"


def test_underscore_of_an_address_is_kept_before_a_separator():
    """The separator counted as white space, so that the underscore before it was read as a space."""
    text = rebuild_sentence(tokenize("Mail ann_roe97@example.org").texts).text
    assert text == "Mail ann_roe\x1f97@example.org"
    assert [text[span.start : span.end] for span in find_phi(text)] == ["ann_roe\x1f97@example.org"]
