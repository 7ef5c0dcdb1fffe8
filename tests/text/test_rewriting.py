"""What stands outside the spans is never touched."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import Span
from sklearn_deid.exceptions import SpanError
from sklearn_deid.text import REDACTION_MODES, merge_spans, redact, rewrite


@st.composite
def texts_with_spans(draw):
    text = draw(st.text(max_size=30))
    if not text:
        return text, []
    # Short ones, so that some do not touch, and a few long ones.
    lengths = st.one_of(st.integers(1, 3), st.integers(1, 30))
    triples = st.tuples(st.integers(0, len(text) - 1), lengths, st.sampled_from("ABC"))
    return text, [Span(a, min(a + n, len(text)), label) for a, n, label in draw(st.lists(triples, max_size=5))]


def without(text, spans):
    """The characters that no span covers."""
    covered = {i for span in spans for i in range(span.start, span.end)}
    return "".join(c for i, c in enumerate(text) if i not in covered)


@given(texts_with_spans(), st.text(max_size=5))
def test_input_and_output_without_their_spans_are_equal(note, replacement):
    text, spans = note
    done = rewrite(text, spans, lambda span: replacement * (span.label != "A"))
    assert without(done.text, done.spans) == without(text, spans)
    assert all(done.text[span.start : span.end] == replacement for span in done.spans)


@given(texts_with_spans())
def test_redaction_by_its_definition(note):
    text, spans = note
    assert redact(text, spans, "remove") == without(text, spans)
    for mode in ("label", "mask"):
        parts, position = [], 0
        for span in merge_spans(spans):
            parts += [text[position : span.start], f"[{span.label}]" if mode == "label" else "***"]
            position = span.end
        assert redact(text, spans, mode) == "".join(parts) + text[position:]


@given(texts_with_spans())
def test_merging_covers_the_same_characters_with_gaps_between(note):
    text, spans = note
    merged = merge_spans(spans)
    assert without(text, merged) == without(text, spans)
    assert all(a.end < b.start for a, b in pairwise(merged))
    assert merge_spans(merged) == merged
    for span in merged:
        inside = [s for s in spans if span.start <= s.start < span.end]
        longest = max(s.length for s in inside)
        assert span.label in {s.label for s in inside if s.length == longest}


@given(texts_with_spans())
def test_order_of_the_spans_does_not_matter(note):
    text, spans = note
    distinct = list({(s.start, s.end): s for s in spans}.values())
    assert redact(text, distinct) == redact(text, distinct[::-1])


def test_without_spans_the_text_comes_back():
    assert redact("Ada\r\n", []) == "Ada\r\n"
    assert rewrite("", [], str).text == ""


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(4, 7, "DOCTOR")], "Dr. [DOCTOR], 3 May"),
        ([(4, 7, "DOCTOR"), (9, 14, "DATE")], "Dr. [DOCTOR], [DATE]"),
        ([(0, 4, "TITLE"), (4, 7, "NAME")], "[TITLE], 3 May"),
        ([(0, 7, "DOCTOR"), (4, 7, "NAME")], "[DOCTOR], 3 May"),
        ([(0, 3, "A"), (2, 7, "B"), (6, 8, "C")], "[B] 3 May"),
    ],
)
def test_by_hand(spans, expected):
    assert redact("Dr. Ada, 3 May", [Span(*span) for span in spans]) == expected


def test_the_longest_gives_category_and_confidence_which_the_new_text_lacks():
    spans = [Span(0, 3, "CITY", "LOCATION", 0.9), Span(3, 9, "PATIENT", "NAME", 0.5)]
    assert merge_spans(spans) == [Span(0, 9, "PATIENT", "NAME", 0.5)]
    done = rewrite("0123456789", spans, lambda span: "x" * span.length * 2)
    assert done.spans == (Span(0, 18, "PATIENT", "NAME"),)


def test_of_equally_long_ones_the_first_gives_the_label():
    assert merge_spans([Span(3, 6, "B"), Span(0, 3, "A"), Span(6, 9, "C")]) == [Span(0, 9, "A")]


def test_offsets_after_rewriting_by_hand():
    spans = [Span(0, 2, "A"), Span(4, 5, "B"), Span(6, 7, "A"), Span(9, 10, "B")]
    done = rewrite("0123456789", spans, lambda span: "xyz" if span.label == "B" else "")
    assert done.text == "23xyz578xyz"
    assert done.spans == (Span(2, 5, "B"), Span(8, 11, "B"))


def test_mask_does_not_tell_the_length():
    assert {redact("a" * n, [Span(0, n, "A")], "mask") for n in range(1, 20)} == {"***"}


def test_unknown_mode():
    with pytest.raises(ValueError, match="'mode' parameter of redact must be one of .* Got 'hash' instead"):
        redact("Ada", [], "hash")
    assert set(REDACTION_MODES) == {"label", "mask", "remove"}


def test_a_span_beyond_the_text_raises_with_offsets_only():
    with pytest.raises(SpanError, match=r"ends after the last of 3 characters. \[characters 2-5\]") as caught:
        redact("Ada", [Span(2, 5, "NAME")])
    assert "Ada" not in str(caught.value)
