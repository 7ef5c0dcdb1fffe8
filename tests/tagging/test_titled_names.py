"""Titles in front of names: hidden with the name, and nothing else with them."""

import pytest

from sklearn_deid import Span
from sklearn_deid.tagging.titled_names import with_titles


def titled(text, *names, label="DOCTOR"):
    spans = []
    for name in names:
        start = text.index(name, spans[-1].end if spans else 0)
        spans.append(Span(start, start + len(name), label, confidence=0.5))
    found = with_titles(spans, text)
    assert [(s.end, s.label, s.confidence) for s in found] == [(s.end, s.label, s.confidence) for s in spans]
    return [text[span.start : span.end] for span in found]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Seen by Dr. Alder.", "Alder", "Dr. Alder"),
        ("seen by dr alder", "alder", "dr alder"),
        ("SEEN BY DR.ALDER", "ALDER", "DR.ALDER"),
        ("Mrs Alder", "Alder", "Mrs Alder"),
        # Typed with two spaces, and copied from a Word file.
        ("Mrs.  Alder", "Alder", "Mrs.  Alder"),
        ("Prof.\u00a0Dr.\u202fAlder", "Alder", "Prof.\u00a0Dr.\u202fAlder"),
        ("an Prof. Dr. med. Alder", "Alder", "Prof. Dr. med. Alder"),
        ("Univ.-Prof. Dr. rer. nat. Alder", "Alder", "Univ.-Prof. Dr. rer. nat. Alder"),
        ("Visto por la Dra. Roble hoy", "Roble", "Dra. Roble"),
        ("Frau Alder kam", "Alder", "Frau Alder"),
        ("Nurse Practitioner Alder", "Alder", "Nurse Practitioner Alder"),
        ("Mrs.\u2003Alder", "Alder", "Mrs.\u2003Alder"),
        ("Dr.\u200bAlder", "Alder", "Dr.\u200bAlder"),
        ("Dr .Alder", "Alder", "Dr .Alder"),
        ("Dr.\u2028Alder", "Alder", "Alder"),
        # No title, or not directly in front of the name.
        ("The patient Alder has pain and was seen", "Alder", "Alder"),
        ("Her father Alder has pain and was seen", "Alder", "Alder"),
        ("with her sister Dr. Alder", "Alder", "Dr. Alder"),
        ("seine Schwester Alder", "Alder", "Alder"),
        ("NYHA class III. Alder was seen", "Alder", "Alder"),
        ("what to do Alder said", "Alder", "Alder"),
        ("Pt. Alder was seen", "Alder", "Alder"),
        ("FA Dr. Alder", "Alder", "FA Dr. Alder"),
        ("Prof. h. c. Alder", "Alder", "Prof. h. c. Alder"),
        ("It was told to me Alder was not seen", "Alder", "Alder"),
        ("Dr.\nAlder", "Alder", "Alder"),
        ("Dr. and Alder", "Alder", "Alder"),
        ("Dr: Alder", "Alder", "Alder"),
        ("XDr Alder", "Alder", "Alder"),
        ("Alder", "Alder", "Alder"),
    ],
)
def test_title_in_front_belongs_to_the_name(text, name, expected):
    assert titled(text, name) == [expected]


def test_span_does_not_grow_into_the_span_before_it():
    assert titled("Alder Dr. Birch Mr. Cedar", "Alder Dr.", "Birch", "Cedar") == ["Alder Dr.", "Birch", "Mr. Cedar"]


def test_spans_that_overlap_stay_as_they_are():
    """The start of the second span became the end of the first, which was an error behind its own end."""
    spans = (Span(5, 21, "PATIENT"), Span(10, 15, "DOCTOR"), Span(17, 25, "DOCTOR"), Span(30, 35, "DOCTOR"))
    found = with_titles(spans, "Mrs. Anna Alder Birch Cedar Mr Maple")
    assert [(span.start, span.end) for span in found] == [(0, 21), (10, 15), (17, 25), (30, 35)]


def test_other_labels_stay_as_they_are():
    assert titled("Dr. 0142", "0142", label="PHONE") == ["0142"]


def test_long_text_in_front_takes_no_time():
    text = "Dr. " * 50_000 + "Alder"
    assert titled(text, "Alder")[0].startswith("Dr. Dr. ")
