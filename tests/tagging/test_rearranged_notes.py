"""Spans of a second reading are added to those of the first one, in the unchanged note."""

import pytest

from sklearn_deid import NoteDeidentifier, Span
from sklearn_deid.tagging.rearranged_notes import rearranged, with_spans_of
from sklearn_deid.text.rearranged_text import RearrangedText

TEXT = "08:00 Seen by Otis\n08:03 Alder."
READING = RearrangedText(TEXT, [(6, 18), (25, 31)])  # "Seen by Otis\nAlder."


def merged(spans, further):
    found = with_spans_of([Span(*span) for span in spans], [Span(*span) for span in further], READING, TEXT)
    return [(TEXT[span.start : span.end], span.label) for span in found]


def test_a_name_over_two_lines_is_found_without_the_prefix():
    assert merged([], [(8, 18, "DOCTOR")]) == [("Otis", "DOCTOR"), ("Alder", "DOCTOR")]


def test_spans_of_the_first_reading_stay():
    assert merged([(0, 5, "DATE"), (14, 18, "CITY")], [(8, 18, "DOCTOR")]) == [
        ("08:00", "DATE"),
        ("Otis", "CITY"),
        ("Alder", "DOCTOR"),
    ]
    assert merged([(27, 29, "CITY")], [(13, 18, "DOCTOR")]) == [("Al", "DOCTOR"), ("de", "CITY"), ("r", "DOCTOR")]


def test_a_longer_span_of_the_same_label_replaces_its_parts():
    assert merged([(14, 16, "DOCTOR"), (17, 18, "DOCTOR")], [(8, 12, "DOCTOR")]) == [("Otis", "DOCTOR")]
    assert merged([(14, 18, "DOCTOR")], [(8, 10, "DOCTOR")]) == [("Otis", "DOCTOR")]


def test_signs_alone_are_not_added():
    assert merged([(25, 30, "DOCTOR")], [(13, 19, "DOCTOR")]) == [("Alder.", "DOCTOR")]
    assert merged([(25, 30, "CITY")], [(13, 19, "DOCTOR")]) == [("Alder", "CITY")]


def test_a_name_in_circled_letters_stays():
    """Such letters are no letters of Unicode, so that the span that replaced the first one was left out."""
    text = "08:00 Seen\n08:03 \u24c7\u24de\u24d4"
    found = with_spans_of(
        [Span(17, 20, "DOCTOR")], [Span(5, 8, "DOCTOR")], RearrangedText(text, [(6, 10), (17, 20)]), text
    )
    assert found == [Span(17, 20, "DOCTOR")]


LINES = ["Seen by Otis", "Alder.", "Call 555-123-", "4567 or 555-765-4321.", "Then home", "on May 3.", "No pain."]


@pytest.mark.parametrize("memory_unit", ["note", "patient"])
def test_a_number_that_goes_on_behind_a_prefix_is_found(memory_unit):
    """The rules find no number that the text of an export divides."""
    from sklearn_deid import RuleTagger

    prefixed = "\n".join(f"OBX|{i}|TX|{line}" for i, line in enumerate(LINES, 1))
    assert rearranged(prefixed).text == "\n".join(LINES)
    reader = NoteDeidentifier(RuleTagger().fit([]), memory_unit=memory_unit)
    (spans, _) = reader.annotate([prefixed, "No pain."])
    found = [prefixed[span.start : span.end] for span in spans]
    assert "4567" in " ".join(found)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert "OBX" not in "".join(found)
