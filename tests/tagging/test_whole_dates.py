"""A date of which a tagger finds a part contains its year, which the tagger may have read as an age."""

import time
from types import SimpleNamespace

import pytest

from sklearn_deid import Span
from sklearn_deid.tagging.note_tagger import NoteTagger
from sklearn_deid.tagging.whole_dates import with_whole_dates

WHOLE = """DOB <[3/4]/60> F|DOB/Sex: <[10/24]/79> / M|<[24].10.1979>|<24.[10.79]>, well|seen <2019-[03-04]>|<[2019]-3-4>
DOB: <[Nov 24], 61>, MRN|DOB <[3 May] 60>; F|born on <[May 3,] 60>, in|<3/[4/]'60>|born <[3-4]-60>
HD <[Mar 3], 5, and 7>: well|<[March 3], 5 & 7, 2019>, in|on <[Mar 3rd] and 5th> for pain|<[Mar 3], 5+7>"""
ALONE = """on [3/4], 60 F|seen [May 3], 60 yo|[May 3] 60 mg|born [May 3], 10 weeks early|pain [3/4]/5|[3/4]/60/2
[13/14]/19|DOB [3/4/60]/F
[Mar 3] and 2 sisters|[Mar 3] and 60, in|[Mar 3], 5 mg|[Mar 3] and 5:30|[3 Mar] and 5, in|[Mar 3] and 4 to 5 tablets
[Mar 3] and 5.5|since [March] 60|v[1.2].19|[3/4] /60 kg, [3/4]-60"""


def spans_of(text, label):
    """Plain text, and the spans in square brackets."""
    spans, plain = [], ""
    for n, part in enumerate(text.replace("<", "").replace(">", "").replace("]", "[").split("[")):
        if n % 2:
            spans.append(Span(len(plain), len(plain) + len(part), label, label, 0.5))
        plain += part
    return plain, spans


@pytest.mark.parametrize("text", WHOLE.replace("\n", "|").split("|"))
def test_a_date_contains_its_year_its_month_and_its_day(text):
    plain, spans = spans_of(text, "DATE")
    (found,) = with_whole_dates(spans, plain)
    whole = text[text.index("<") + 1 : text.index(">")].replace("[", "").replace("]", "")
    assert (plain[found.start : found.end], found.label, found.confidence) == (whole, "DATE", 0.5)


@pytest.mark.parametrize("text", ALONE.replace("\n", "|").split("|"))
def test_other_numbers_beside_a_day_stay(text):
    plain, spans = spans_of(text, "DATE")
    assert with_whole_dates(spans, plain) == spans


def test_other_phi_is_no_part_of_a_date():
    text = "3/4/60, 3/4/60 3/4/60"
    spans = [Span(0, 3, "DATE"), Span(4, 6, "IDNUM"), Span(8, 11, "IDNUM"), Span(15, 18, "DATE"), Span(19, 21, "DATE")]
    assert with_whole_dates(spans, text) == [*spans[:3], Span(15, 21, "DATE")]


MISSED = """Ann Roe <3/4/77> F|<12/24/1979>, <1979-12-24>|born <4.3.1960>.|<3-4-1960>|<03/14/19> 10:42
(<3/4/60>)|had <3/4/60>|<3/4/77>M|<3/4/60> Min Li|St. Louis <3/4/60> MO"""
MEASURES = """BiPAP 12/6/40|set 12/6/40%|NPH 10/8/12 units|10/12/14 mg|3-4-60|3.4.60|13/14/60|3/4/60/2|A3/4/60
3/4/605|0/4/60|3/4/5|Apgars: 8/9/10|v1.2.2019|days 1/8/15|D 1/8/15|weeks 2/4/12
at 3/6/12 months|BP at 5/10/15 min|3/6/12-month visits|6/12/24h|SIMV 12/8/40|PS/PEEP/FiO2 10/5/40|BiPAP at 12/6/40
Apgar scores of 7/9/10|vent settings were 12/8/40"""


@pytest.mark.parametrize("text", MISSED.replace("\n", "|").split("|"))
def test_dates_that_the_tagger_misses_are_added(text):
    """The year of a birth date behind a name: starter-en left the dates of 9 of 40 such headers."""
    plain, expected = spans_of(text.replace("<", "[").replace(">", "]"), "DATE")
    assert with_whole_dates([], plain, Span(0, 1, "DATE", "DATE", 0.5)) == expected
    assert with_whole_dates([], plain) == []


@pytest.mark.parametrize("text", MEASURES.replace("\n", "|").split("|"))
def test_measures_and_other_numbers_are_not_added(text):
    assert with_whole_dates([], text, Span(0, 1, "DATE")) == []


def test_a_missed_date_that_overlaps_phi_is_not_added():
    spans = [Span(0, 3, "IDNUM"), Span(11, 13, "ROOM")]
    assert with_whole_dates(spans, "3/4/60 3/4/60", Span(0, 1, "DATE")) == spans


def test_time_is_linear():
    def seconds(n):
        text = "3/4/60 " * n
        spans = [Span(start, start + 3, "DATE") for start in range(0, len(text), 7)]
        start = time.process_time()
        with_whole_dates(spans, text)
        return time.process_time() - start

    assert seconds(12_000) < 60 * min(seconds(500) for _ in range(3)) + 0.01


def test_safe_harbor_hides_the_year_of_a_birth_that_the_tagger_reads_as_an_age():
    """Of "DOB: 3/4/25, F" in a note of 2019, the 25 stayed, and revealed an age of 94."""
    tags = {"3": "B-DATE", "/": "I-DATE", "4": "I-DATE", "25": "B-AGE"}
    tagger = SimpleNamespace(predict=lambda X: [[tags.get(token, "O") for token in row] for row in X])
    (spans,) = NoteTagger(tagger, {}, labels="hipaa")(["DOB: 3/4/25, F"])
    assert [(span.start, span.end, span.label) for span in spans] == [(5, 11, "DATE")]
