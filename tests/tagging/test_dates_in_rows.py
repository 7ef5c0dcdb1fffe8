"""Days in a row are dates, also if the tagger misses some or all of them."""

from types import SimpleNamespace

import pytest

from sklearn_deid import Span
from sklearn_deid.tagging.dates_in_rows import with_dates_in_rows
from sklearn_deid.tagging.note_tagger import NoteTagger
from sklearn_deid.tagging.proven_rules import ProvenRules

NEW = Span(0, 1, "DATE", "DATE", 0.5)
ROWS = """cultures <3/4>, <3/5> and <3/7> negative|Cr 1.2 (<3/4>) -> 1.4 (<3/5>) -> 1.1 [<3/6>]
<3/4>   <3/4>   <3/5>   <3/6>
<3/4> WBC 12, <3/5> WBC 11, <3/9> WBC 9, strength 5/5|<12/3>\t<12/24>\t<12/31>.|CT <1/2>; <1/3>; <1/14>
VA <6/6>, <6/9>, <6/13>|WBC <6/6> 5, <6/9> 4, <6/12> 7"""
FOUND = """CT [3/4]: mass, MRI <3/7> same|CT <3/3>, MRI [3/7]|seen [3/4], <3/8>; pain 4/10
CT [3/4], CT <3/5>, CT <3/6>"""
OTHERS = """strength 3/5, 3/5, 4/5 and 5/5|3/4, 3/5|3/4 WBC\n3/5 WBC\n3/6 WBC|1/2, 1/3 and 1/4 tablets|1/2 1/4 1/8 1/16|
3/7, 3/5, 3/4|13/4, 13/5, 13/6|3/32, 3/33, 3/34|3/4/19 3/5/19 3/6/19|C3/4, C3/5, C3/6|3/4.5 3/5.5 3/6.5|
3/4 mg, 3/5 mg, 3/6 mg|BP 120/80, 124/82, 126/84|VA 6/6, 6/9, 6/12|
Acuity: OD 6/6, OS 6/9, PH 6/18|Vision R 6/9 L 6/12 PH 6/12|pain [3/4], 3/10|[3/4] and 3/5"""


def read(text, opening="["):
    """Text without signs, and the spans in brackets of a kind."""
    spans, plain = [], ""
    for sign in text:
        if sign in "[<" and sign == opening:
            spans.append(len(plain))
        elif sign in "]>" and sign == {"[": "]", "<": ">"}[opening]:
            spans[-1] = Span(spans[-1], len(plain), "DATE", "DATE", 0.5)
        elif sign not in "[]<>":
            plain += sign
    return plain, spans


@pytest.mark.parametrize("text", [one for one in ROWS.split("|") for one in one.split("\n")])
def test_days_in_a_row_are_dates(text):
    plain, expected = read(text.replace("->", "="), "<")
    assert with_dates_in_rows([], plain, NEW) == expected
    assert with_dates_in_rows([], plain) == []


@pytest.mark.parametrize("text", FOUND.replace("\n", "|").split("|"))
def test_days_beside_a_day_that_the_tagger_finds_are_dates(text):
    plain, found = read(text)
    expected = sorted([*found, *read(text, "<")[1]], key=lambda span: span.start)
    assert with_dates_in_rows(found, plain) == expected


@pytest.mark.parametrize("text", [one.strip("\n") for one in OTHERS.split("|")])
def test_scales_fractions_levels_and_whole_dates_are_no_rows(text):
    plain, found = read(text)
    assert with_dates_in_rows(found, plain, NEW) == found


def test_phi_of_other_kinds_stays():
    spans = [Span(0, 3, "IDNUM"), Span(5, 12, "IDNUM")]
    assert with_dates_in_rows(spans, "3/4, 3/5-3/7, 3/8, 3/9", NEW)[:2] == spans


def test_a_tagger_with_a_label_for_dates_hides_the_row():
    tagger = SimpleNamespace(predict=lambda X: [["O"] * len(row) for row in X])
    text = "WBC 12 (3/4), 11 (3/5), 9 (3/6)"
    categories = {"PATIENT": "NAME", "DATE": "DATE"}
    (spans,) = NoteTagger(tagger, categories, labels="hipaa", rules=ProvenRules({}))([text])
    assert [(text[span.start : span.end], span.label, span.confidence) for span in spans] == [
        ("3/4", "DATE", None),
        ("3/5", "DATE", None),
        ("3/6", "DATE", None),
    ]
    assert NoteTagger(tagger, {}, rules=ProvenRules({}))([text]) == NoteTagger(tagger, categories)([text]) == [()]
