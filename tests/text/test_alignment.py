"""Spans to tags and back, against a definition character by character."""

from collections import defaultdict
from dataclasses import fields
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import SequenceError
from sklearn_deid.text import AlignmentReport, Span, spans_to_tags, tags_to_spans

KINDS = ("inside_token", "trimmed", "split_by_sentence", "collisions", "overlapping", "swallowed", "empty")


@st.composite
def tokenised(draw):
    """Offsets of tokens with gaps between them, and sentences of them."""
    pieces = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=10))
    borders = list(accumulate(length for piece in pieces for length in piece))
    starts, ends = borders[::2], borders[1::2]
    cuts = sorted(draw(st.sets(st.integers(1, len(starts) - 1)))) if len(starts) > 1 else []
    cuts = [0, *cuts, len(starts)] if starts else []
    return starts, ends, list(zip(cuts[:-1], cuts[1:], strict=True))


some_spans = st.lists(
    st.builds(lambda a, n, label: Span(a, a + n, label), st.integers(0, 40), st.integers(1, 9), st.sampled_from("ab")),
    max_size=6,
)


def expected(spans, starts, ends, sentences):
    """Tags and misfits by comparing every span with every token."""
    kept, shorter, misfits = [], [], defaultdict(list)
    for span in sorted(spans, key=lambda s: (-s.length, s.start)):
        clash = any(max(span.start, other.start) < min(span.end, other.end) for other in kept)
        (shorter if clash else kept).append(span)
    tags, owned = ["O"] * len(starts), set()
    first_tokens = {first for first, _ in sentences}
    for number, span in enumerate([*sorted(kept, key=lambda s: s.start), *shorter]):
        touched = [i for i in range(len(starts)) if max(span.start, starts[i]) < min(span.end, ends[i])]
        mine = [i for i in touched if i not in owned]
        for i in mine:
            tags[i] = f"{'B' if i - 1 not in mine or i in first_tokens else 'I'}-{span.label}"
        owned |= set(mine)
        if number >= len(kept) and mine:
            misfits["overlapping"].append(span)
            continue
        holds = {
            "empty": not touched,
            "swallowed": touched and not mine,
            "collisions": mine and mine != touched,
            "split_by_sentence": first_tokens & set(mine[1:]),
            "inside_token": mine and (starts[mine[0]] < span.start or ends[mine[-1]] > span.end),
            "trimmed": mine and ((mine == touched and starts[mine[0]] > span.start) or ends[mine[-1]] < span.end),
        }
        for kind in [kind for kind, true in holds.items() if true]:
            misfits[kind].append(span)
    return tags, misfits


def keys(spans):
    return [(s.start, s.end, s.label) for s in spans]


@given(some_spans, tokenised())
def test_tags_and_report_follow_the_definition(spans, tokens):
    starts, ends, sentences = tokens
    tags, report = spans_to_tags(spans, starts, ends, doc_id="n1", sentences=sentences)
    wanted, misfits = expected(spans, starts, ends, sentences)
    assert tags == wanted
    for kind in KINDS:
        assert sorted(getattr(report, kind)) == sorted(("n1", *key) for key in keys(misfits[kind])), kind


@given(some_spans, tokenised())
def test_every_span_is_exact_changed_or_lost_and_what_is_exact_comes_back(spans, tokens):
    starts, ends, sentences = tokens
    tags, report = spans_to_tags(spans, starts, ends, sentences=sentences)
    reported = [misfit[1:] for kind in KINDS for misfit in getattr(report, kind)]
    exact = [key for key in keys(spans) if key not in reported]
    back = keys(tags_to_spans(tags, starts, ends, sentences=sentences))
    assert set(exact) <= set(back)
    assert report.n_exact >= len(exact)  # a span given twice is once exact and once in the way of itself


@given(some_spans, tokenised())
def test_exact_changed_and_lost_add_up(spans, tokens):
    starts, ends, sentences = tokens
    distinct = list({key: span for key, span in zip(keys(spans), spans, strict=True)}.values())
    _, report = spans_to_tags(distinct, starts, ends, sentences=sentences)
    changed = {*report.inside_token, *report.trimmed, *report.split_by_sentence, *report.collisions}
    lost = [*report.swallowed, *report.empty]
    assert (report.n_changed, report.n_lost) == (len(changed) + len(report.overlapping), len(lost))
    assert len({*changed, *report.overlapping, *lost}) == len(changed) + len(report.overlapping) + len(lost)
    assert report.n_spans == len(distinct) == report.n_exact + report.n_changed + report.n_lost


@given(some_spans, tokenised())
def test_no_character_of_a_span_stays_in_sight(spans, tokens):
    starts, ends, sentences = tokens
    tags, _ = spans_to_tags(spans, starts, ends, sentences=sentences)
    found = tags_to_spans(tags, starts, ends, sentences=sentences)
    hidden = {i for span in found for i in range(span.start, span.end)}
    in_tokens = {i for a, b in zip(starts, ends, strict=True) for i in range(a, b)}
    for span in spans:
        assert set(range(span.start, span.end)) & in_tokens <= hidden


@given(some_spans, tokenised())
def test_both_schemes_give_the_same_spans(spans, tokens):
    starts, ends, sentences = tokens
    both = [
        tags_to_spans(
            spans_to_tags(spans, starts, ends, tag_scheme, sentences=sentences)[0],
            starts,
            ends,
            tag_scheme,
            sentences=sentences,
        )
        for tag_scheme in ("iob2", "bioes")
    ]
    assert both[0] == both[1]


# "Dr SmithMD  left": tokens Dr, SmithMD, left; an annotation by hand for each thing that can happen.
STARTS, ENDS = [0, 3, 12], [2, 10, 16]


@pytest.mark.parametrize(
    ("spans", "tags", "kinds"),
    [
        ([(3, 10)], "O B O", []),
        ([(3, 8)], "O B O", ["inside_token"]),
        ([(8, 10)], "O B O", ["inside_token"]),
        ([(0, 5)], "B I O", ["inside_token"]),
        ([(3, 11)], "O B O", ["trimmed"]),
        ([(2, 8)], "O B O", ["inside_token", "trimmed"]),
        ([(10, 12)], "O O O", ["empty"]),
        ([(3, 8), (8, 10)], "O B O", ["inside_token", "swallowed"]),
        ([(3, 8), (8, 16)], "O B B", ["inside_token", "collisions"]),
        ([(3, 10), (3, 8)], "O B O", ["swallowed"]),  # nested
        ([(3, 10), (3, 10)], "O B O", ["swallowed"]),  # twice the same
        ([(0, 10), (3, 16)], "B B I", ["overlapping"]),  # the longer is kept whole, the other has what is left
        ([(0, 5), (4, 9)], "B I O", ["inside_token", "swallowed"]),  # of equally long ones the earlier is kept
        ([(0, 16), (2, 12)], "B I I", ["swallowed"]),
        ([(3, 11), (10, 11)], "O B O", ["empty", "trimmed"]),  # white space within a longer one
        ([(30, 40)], "O O O", ["empty"]),
    ],
)
def test_by_hand(spans, tags, kinds):
    found, report = spans_to_tags([Span(a, b, "x") for a, b in spans], STARTS, ENDS)
    assert " ".join(tag[0] for tag in found) == tags
    assert sorted(kind for kind in KINDS for _ in getattr(report, kind)) == sorted(kinds)


def test_what_is_left_of_an_overlapping_span_may_be_in_pieces():
    starts, ends = list(range(0, 26, 2)), list(range(1, 26, 2))
    spans = [Span(2, 13, "a"), Span(4, 5, "b"), Span(12, 25, "c")]
    tags, report = spans_to_tags(spans, starts, ends, sentences=[(0, 4), (4, 13)])
    # c is the longest and is kept whole; b does not touch it and is kept too; a has tokens 1, 3 and, behind a
    # sentence border, 4 and 5.
    assert tags == ["O", "B-a", "B-b", "B-a", "B-a", "I-a", "B-c", *["I-c"] * 6]
    assert report == AlignmentReport(n_spans=3, n_exact=2, overlapping=((None, 2, 13, "a"),))


def test_a_span_over_a_sentence_border_starts_anew_and_is_counted():
    tags, report = spans_to_tags([Span(0, 16, "x")], STARTS, ENDS, doc_id="n1", sentences=[(0, 1), (1, 3)])
    assert tags == ["B-x", "B-x", "I-x"]
    assert report == AlignmentReport(n_spans=1, n_exact=0, split_by_sentence=(("n1", 0, 16, "x"),))
    assert keys(tags_to_spans(tags, STARTS, ENDS)) == [(0, 2, "x"), (3, 16, "x")]


@pytest.mark.parametrize(
    ("tags", "tag_scheme", "whole", "by_sentence"),
    [
        ("B-x I-x I-x", "iob2", [(0, 16)], [(0, 2), (3, 16)]),
        ("B-x E-x I-x", "bioes", [(0, 10), (12, 16)], [(0, 2), (3, 10), (12, 16)]),
    ],
)
def test_no_span_runs_on_into_the_next_sentence(tags, tag_scheme, whole, by_sentence):
    for sentences, wanted in ((None, whole), ([(0, 1), (1, 3)], by_sentence)):
        spans = tags_to_spans(tags.split(), STARTS, ENDS, tag_scheme, sentences=sentences)
        assert [(s.start, s.end) for s in spans] == wanted


def test_confidence_of_a_span_is_that_of_its_weakest_token():
    spans = tags_to_spans(["B-x", "I-x", "B-y"], STARTS, ENDS, confidences=[0.9, 0.4, 0.7], category_of={"x": "X"}.get)
    assert spans == [Span(0, 10, "x", "X", 0.4), Span(12, 16, "y", None, 0.7)]


@given(st.lists(tokenised().flatmap(lambda t: st.tuples(some_spans, st.just(t))), max_size=4))
def test_total_is_the_sum(documents):
    reports = [
        spans_to_tags(spans, starts, ends, doc_id=str(number), sentences=sentences)[1]
        for number, (spans, (starts, ends, sentences)) in enumerate(documents)
    ]
    assert AlignmentReport.total(reports) == sum(reports, AlignmentReport())


def test_only_reports_are_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        AlignmentReport() + 1


def test_offsets_and_confidences_of_numpy_become_plain_numbers():
    (span,) = tags_to_spans(["B-x"], np.array([0]), np.array([3]), confidences=np.array([0.5], dtype=np.float32))
    assert [type(value) for value in (span.start, span.end, span.confidence)] == [int, int, float]


def test_summary_has_words_for_every_cause():
    causes = {f.name: (("n1", 0, 1, "x"),) for f in fields(AlignmentReport) if not f.name.startswith("n_")}
    words = {AlignmentReport(1, 0, **{name: value}).summary() for name, value in causes.items()}
    assert len(words) == len(causes) and not any("_" in line for line in words)


def test_summary_counts():
    report = AlignmentReport(5, 2, inside_token=(("n1", 0, 2, "x"),), split_by_sentence=(("n1", 4, 9, "x"),) * 2)
    assert report.summary() == (
        "2 of 5 spans fit the tokens exactly (1 with a border inside a token, 2 across a sentence border)"
    )
    assert AlignmentReport(1, 1).summary() == "1 of 1 spans fit the tokens exactly"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spans_to_tags([], [0], []), "Got 1 starts, 0 ends instead"),
        (lambda: tags_to_spans(["O"], STARTS, ENDS), "Got 1 tags, 3 starts, 3 ends"),
        (lambda: tags_to_spans(["O"], [0], [1], confidences=[0.5, 0.5]), "1 tags, 1 starts, 1 ends, 2 confidences"),
        (lambda: tags_to_spans(["O"] * 3, STARTS, ENDS, sentences=[(0, 2)]), "must cover each of 3 tokens once"),
        (lambda: tags_to_spans(["Ada"], [0], [3]), "A tag must be"),
    ],
)
def test_what_does_not_fit_together_raises(call, message):
    with pytest.raises(SequenceError, match=message):
        call()


@pytest.mark.parametrize("sentences", [[(0, 2), (0, 1)], [(1, 3), (0, 1)], [(0, 2), (1, 2)], [(0, 4), (4, 3)]])
def test_each_token_is_in_a_sentence(sentences):
    """Ranges of the right total length left out the last token, whose text was not hidden."""
    with pytest.raises(SequenceError, match="must cover each of 3 tokens once"):
        tags_to_spans(["B-x", "O", "B-x"], STARTS, ENDS, sentences=sentences)


@pytest.mark.parametrize("call", [spans_to_tags, tags_to_spans])
def test_unknown_scheme(call):
    with pytest.raises(ValueError, match="'tag_scheme' parameter must be one of"):
        call([], [], [], "iob1")
