"""Parts that a sign joins to a number are parts of this number."""

import time
from types import SimpleNamespace

import pytest

from sklearn_deid import Span
from sklearn_deid.tagging.note_tagger import NoteTagger
from sklearn_deid.tagging.parts_of_numbers import with_parts_of_numbers

WHOLE = """MRN <[123456]/1>|MRN <[12-34-56]/A>.|Acct# <[12-3456]-A> paid|MR # <[123456].01>|<[123456]-B1/02>, 60
call <[617-555-0142]x23>|call <[617-555-0142]/0143>|case <S19-[12345]>|case <2019/[1234]/B>|<[123456]\u20131>"""
ALONE = """MRN [123456]/F, 60|MRN [123456]/M|MRN [123456]-Seen|MRN [123456].Seen|MRN [123456], 1|MRN [123456] / 85
MRN-[123456]|MRN/[123456]|MRN [123456]-|([617-555-0142]/W)|MRN [123456] 1|see Seen/[123456]"""


@pytest.mark.parametrize("text", WHOLE.replace("\n", "|").split("|"))
def test_a_number_contains_its_parts(text):
    """ "MRN 123456/1": the number of the visit stayed."""
    plain = text.translate({ord(sign): None for sign in "<>[]"})
    number, start = text[text.index("[") + 1 : text.index("]")], text.index("<")
    at = plain.index(number)
    (found,) = with_parts_of_numbers([Span(at, at + len(number), "IDNUM", "ID", 0.5)], plain)
    whole = text[start + 1 : text.index(">")].translate({ord(sign): None for sign in "[]"})
    assert (plain[found.start : found.end], found.start) == (whole, start)
    assert (found.label, found.category, found.confidence) == ("IDNUM", "ID", 0.5)


@pytest.mark.parametrize("text", ALONE.replace("\n", "|").split("|"))
def test_other_words_beside_a_number_stay(text):
    start, end = text.index("["), text.index("]") - 1
    spans = [Span(start, end, "PHONE")]
    assert with_parts_of_numbers(spans, text.replace("[", "").replace("]", "")) == spans


def test_other_spans_and_codes_without_digits_stay():
    text = "MRN 123456-03/04/19, age 60/1, unit ICU-2, 123456-A"
    spans = [Span(4, 10, "IDNUM"), Span(11, 19, "DATE"), Span(25, 27, "AGE"), Span(36, 39, "ROOM")]
    spans += [Span(43, 49, "OTHER")]
    assert with_parts_of_numbers(spans, text) == spans


def test_the_time_of_a_chain_of_numbers_is_linear():
    def seconds(n):
        spans = [Span(start, start + 2, "IDNUM") for start in range(0, 3 * n, 3)]
        start = time.process_time()
        assert with_parts_of_numbers(spans, "12/" * n) == spans
        return time.process_time() - start

    assert seconds(2_000) < 24 * min(seconds(250) for _ in range(3)) + 0.01


def test_a_part_that_a_tagger_reads_as_an_age_is_a_part_of_the_number():
    """ "MRN 123456/001": starter-en reads an age of 1, which Safe Harbor keeps."""
    text = "MRN 123456/001 60"
    spans = [Span(4, 10, "IDNUM"), Span(11, 14, "AGE"), Span(15, 17, "AGE")]
    assert with_parts_of_numbers(spans, text) == [Span(4, 14, "IDNUM"), spans[2]]
    wider = [spans[0], Span(11, 17, "AGE")]
    assert with_parts_of_numbers(wider, text) == wider


@pytest.mark.parametrize("text", ["MRN 123456/71 F", "MRN 123456/71/M", "ID/Age 123456/71", "ID 123456/71y"])
def test_an_age_beside_its_sex_or_its_label_is_no_part_of_a_number(text):
    at = text.index("123456")
    spans = [Span(at, at + 6, "IDNUM"), Span(at + 7, at + 9, "AGE")]
    assert with_parts_of_numbers(spans, text) == spans


@pytest.mark.parametrize("sign", ["O", "B-IDNUM"])
def test_a_tagger_hides_the_part_behind_a_number(sign):
    """Also if the tagger marks the sign between the parts alone."""
    tags = {"123456": "B-IDNUM", "/": sign}
    tagger = SimpleNamespace(predict=lambda X: [[tags.get(token, "O") for token in row] for row in X])
    (spans,) = NoteTagger(tagger, {})(["Seen 123456/1."])
    assert [(span.start, span.end) for span in spans] == [(5, 13)]
