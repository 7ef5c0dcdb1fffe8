"""Dates that a line break divides: one span, so that the year and the day move together."""

import pytest

from sklearn_deid import Document, RuleTagger, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.tagging.dates_over_lines import with_dates_over_lines
from sklearn_deid.tagging.note_tagger import NoteTagger


def joined(text, *parts, label="DATE"):
    spans = []
    for part in parts:
        start = text.index(part, spans[-1].end if spans else 0)
        spans.append(Span(start, start + len(part), label, confidence=1 - len(spans) / 4))
    return [text[span.start : span.end] for span in with_dates_over_lines(spans, text)]


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ("Seen on March 4,\n2019 for pain.", ["March 4"], "March 4,\n2019"),
        ("Seen on March 4,  \r\n    2019 for pain.", ["March 4"], "March 4,  \r\n    2019"),
        ("Seen March\n4, 2019 for pain", ["March", "4, 2019"], "March\n4, 2019"),
        ("Seen on March 4,\n2019", ["March 4", "2019"], "March 4,\n2019"),
        ("He was born in June\n1950 in a town.", ["June"], "June\n1950"),
        ("Seen on the 4th of\nMarch 2019 for pain", ["March 2019"], "4th of\nMarch 2019"),
        ("Seen on the 4th\nof March 2019 for pain", ["March 2019"], "4th\nof March 2019"),
        ("admitted 03/04/\n2019 with cough", ["03/04/"], "03/04/\n2019"),
        ("Vu le 4\nmars 2019 pour la toux.", ["mars 2019"], "4\nmars 2019"),
        ("Der Patient wurde am 4. März\n2019 und der Befund", ["4. März"], "4. März\n2019"),
        ("Der Patient wurde am 4.\n3.2019 und der Befund", ["3.2019"], "4.\n3.2019"),
        ("Visto el 4 de marzo\nde 2019 por la tos en la consulta", ["4 de marzo"], "4 de marzo\nde 2019"),
    ],
)
def test_parts_of_a_date_on_two_lines_are_one_date(text, parts, expected):
    assert joined(text, *parts) == [expected]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        # Other numbers and words of the next line, and numbers of a list.
        ("Seen on March 4\n2000 ml of fluid given", "March 4"),
        ("Seen on March 4\n2019-0004 is the number", "March 4"),
        ("Seen on Monday\n12 mg given", "Monday"),
        ("last seen in May\n2 tablets", "May"),
        ("Seen on March 4,\n\n2019 was good", "March 4"),
        ("1.\nMarch 2019 was good", "March 2019"),
        ("Na 140\n3/4/2019 10:30\n12 K", "3/4/2019"),
        ("Seen on 3/4/2019\nMay go home", "3/4/2019"),
        ("1. HTN since 2012\n2. DM since May\n3. CAD", "May"),
        ("1) DM since\r\n   last May\r\n 2) CAD", "May"),
        ("seen in May\n1. HTN\n2. CAD", "May"),
        ("since March\n2 weeks of cough", "March"),
        ("seen in March\n10 patients, a", "March"),
        ("seen in May\n12-year-old boy", "May"),
        ("seen in March\n4 x daily", "March"),
        ("Room 12\nMay 4: stable", "May 4"),
    ],
)
def test_other_lines_are_no_part_of_a_date(text, part):
    assert joined(text, part) == [part]


def test_two_dates_on_three_lines_of_one_span():
    """The note was withheld, with an IndexError: the first joined date had taken the place of the span."""
    assert joined("seen on 5\nMay, June\n2019 x", "5", "May, June") == ["5\nMay, June\n2019"]
    assert joined("seen on 5\nMay, June\n2019 x", "5", "May, June", "2019") == ["5\nMay, June\n2019"]
    assert joined("seen in May\n2. He was born in June\n1950.", "May", "June") == ["May\n2", "June\n1950"]


def test_a_date_takes_no_other_phi_and_other_phi_takes_no_year():
    text = "Seen on March 4,\n2019 is the number"
    other = [Span(8, 15, "DATE"), Span(17, 21, "IDNUM")]
    assert with_dates_over_lines(other, text) == other
    assert joined("Seen by April,\n2019 was good", "April", label="DOCTOR") == ["April"]


def test_a_joined_date_has_the_smallest_confidence():
    text = "Seen on March 4,\n2019"
    spans = [Span(8, 15, "DATE", confidence=0.9), Span(17, 21, "DATE", confidence=0.6)]
    assert with_dates_over_lines(spans, text) == [Span(8, 21, "DATE", confidence=0.6)]


def test_the_year_on_the_next_line_moves_with_the_day():
    text = "Seen on March 4,\n2019 for pain. Seen on March 6, 2019."
    spans = NoteTagger(RuleTagger().fit([]), {})([text])[0]
    new = SurrogateEngine(key=bytes(32), locale="en").rewrite(Document("n", text, tuple(spans))).text
    first, second = new.split(" for pain. Seen on ")
    assert "2019" not in new
    assert first.replace("\n", " ").rsplit(" ", 1)[1] + "." == second.rsplit(" ", 1)[1]
