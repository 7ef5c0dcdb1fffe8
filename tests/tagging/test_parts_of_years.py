"""Quarters and weeks are parts of the date whose year a tagger finds."""

import pytest

from sklearn_deid import RuleTagger, Span
from sklearn_deid.tagging.note_tagger import NoteTagger
from sklearn_deid.tagging.parts_of_years import with_parts_of_years

WHOLE = """seen in <Q3 [2019]> for|the <second quarter of [2019]>|<1Q[2019]>|<Q1'[19]>|<[2019]Q3>|<[2019]-W10-1>
since <4th quarter [2018]>|in <week 23 of [2019]>|in <KW 10/[2019]>|im <zweiten Quartal [2019]>|<3. Quartal [2019]>
el <segundo trimestre de [2019]>|au <deuxi\u00e8me trimestre [2019]>|en la <semana 10 de [2019]>"""
YEARS = "a week 3 visit in [2019]|12 weeks in [2019]|HR 80 [2019]|a quarter of [2019] patients|q4 [2019]|[2019] Q waves"


@pytest.mark.parametrize("text", WHOLE.replace("\n", "|").split("|"))
def test_a_year_contains_its_quarter_or_week(text):
    """ "Second quarter of 2019": the quarter stayed, with labels and beside moved years."""
    plain = text.translate({ord(sign): None for sign in "<>[]"})
    year, start = text[text.index("[") + 1 : text.index("]")], text.index("<")
    span = Span(plain.index(year), plain.index(year) + len(year), "DATE", "DATE", 0.5)
    (found,) = with_parts_of_years([span], plain)
    whole = text[start + 1 : text.index(">")].translate({ord(sign): None for sign in "[]"})
    assert (plain[found.start : found.end], found.start) == (whole, start)
    assert (found.label, found.confidence) == ("DATE", 0.5)


@pytest.mark.parametrize("text", YEARS.split("|"))
def test_other_words_beside_a_year_stay(text):
    start, end = text.index("["), text.index("]") - 1
    spans = [Span(start, end, "DATE")]
    assert with_parts_of_years(spans, text.replace("[", "").replace("]", "")) == spans


def test_other_spans_and_other_dates_stay():
    text = "Q3 2019, Q3 May 2019, Q3 2019"
    spans = [Span(0, 3, "IDNUM"), Span(3, 7, "DATE"), Span(12, 20, "DATE"), Span(25, 29, "IDNUM")]
    assert with_parts_of_years(spans, text) == spans


def test_safe_harbor_removes_the_quarter_of_a_year():
    (spans,) = NoteTagger(RuleTagger().fit([]), {}, labels="hipaa")(["Seen in 2018 and in the second quarter of 2019."])
    assert [(span.start, span.end) for span in spans] == [(24, 46)]
