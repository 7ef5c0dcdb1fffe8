"""Spans on the tokens of others cover at least what they covered, checked character by character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import SpanError
from sklearn_deid.integrations.token_spans import TokenSpan, expand_to_tokens, join_overlapping
from sklearn_deid.text import Span


@st.composite
def tokens_and_spans(draw):
    starts, ends, position = [], [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=8)):
        starts.append(position + gap)
        ends.append(position + gap + length)
        position = ends[-1]
    offsets = st.tuples(st.integers(0, position), st.integers(0, position)).filter(lambda pair: pair[0] != pair[1])
    spans = [Span(min(pair), max(pair), label) for pair in draw(st.lists(offsets, max_size=5)) for label in "A"]
    return starts, ends, spans


def tokens_of(span, starts, ends):
    """By looking at each character."""
    inside = set(range(span.start, span.end))
    return [i for i, (start, end) in enumerate(zip(starts, ends, strict=True)) if inside & set(range(start, end))]


@given(tokens_and_spans())
def test_a_span_gets_all_tokens_that_it_touches(case):
    starts, ends, spans = case
    for span in spans:
        expected = tokens_of(span, starts, ends)
        if expected:
            (found,) = expand_to_tokens([span], starts, ends)
            assert list(range(found.first, found.stop)) == expected
        else:
            with pytest.raises(SpanError, match="holds no part of a token.*document n1"):
                expand_to_tokens([span], starts, ends, doc_id="n1")


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.sampled_from("AB"), st.integers(1, 9))))
def test_joined_spans_cover_the_same_tokens_and_do_not_overlap(drawn):
    spans = [TokenSpan(first, first + n, label, None, None, length) for first, n, label, length in drawn]
    joined = join_overlapping(spans)
    assert {i for s in joined for i in range(s.first, s.stop)} == {i for s in spans for i in range(s.first, s.stop)}
    assert all(a.stop <= b.first for a, b in zip(joined[:-1], joined[1:], strict=True))
    apart = [s for s in spans if not any(o is not s and o.first < s.stop and s.first < o.stop for o in spans)]
    assert all(span in joined for span in apart)


def test_the_longest_gives_the_label_and_touching_ones_stay_two():
    a, b, c = (TokenSpan(i, i + 2, label, None, 0.5, n) for i, label, n in ((0, "A", 3), (1, "B", 9), (3, "C", 1)))
    assert [(s.first, s.stop, s.label) for s in join_overlapping([c, b, a])] == [(0, 3, "B"), (3, 5, "C")]
