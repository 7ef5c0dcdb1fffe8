"""Convert character spans to token tags and back, and report every span that tokens cannot express exactly.

A token belongs to a span if the two share at least one character. Every annotated character is therefore inside a
tagged token, and redaction hides the character. The report lists all inexact cases. Inexact cases are a span border
inside a token or on white space, two spans in one token, overlapping spans, a span across a sentence border, and a span
without a token.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

from ..exceptions import SequenceError
from .documents import Span
from .sentences import in_order
from .tags import check_tag_scheme, labels_of, tags_of

Misfit = tuple[str | None, int, int, str]
"""Document id, start, end and label of a span; no text."""

_CAUSES = {
    "inside_token": "with a border inside a token",
    "trimmed": "with white space at a border",
    "split_by_sentence": "across a sentence border",
    "collisions": "beginning inside a token of an earlier span",
    "overlapping": "overlapping a longer span",
    "swallowed": "lost because other spans have all tokens",
    "empty": "lost because they contain no token",
}


@dataclass(frozen=True)
class AlignmentReport:
    """Report of the conversion from spans to tags. The report contains document ids, offsets and labels, but no text.

    Add two reports with ``+``. Add many reports with `AlignmentReport.total`.

    Attributes
    ----------
    n_spans : int
        Number of spans before the conversion.
    n_exact : int
        Number of spans inside one sentence whose borders are token borders. The tags reproduce exact spans without a
        change.
    inside_token : tuple of Misfit
        Spans that start or end inside a token. The tags widen spans that start or end inside a token.
    trimmed : tuple of Misfit
        Spans that start or end with characters outside of any token, such as white space. The tags omit characters
        outside of any token.
    split_by_sentence : tuple of Misfit
        Spans across a sentence border. The tags contain each part as a separate span.
    collisions : tuple of Misfit
        Spans whose first token belongs to an earlier span. In the tags, a colliding span starts with its next token.
    overlapping : tuple of Misfit
        Spans that share a character with a longer span; of two equally long spans, the earlier span counts as longer.
        An overlapping span is tagged only on tokens that belong to no other span.
    swallowed : tuple of Misfit
        Spans without a tag, because all their tokens belong to other spans. The tokens of a lost span are tagged with
        the labels of the other spans.
    empty : tuple of Misfit
        Spans without a tag, because they contain no part of a token, such as spans of white space.

    Examples
    --------
    >>> _, report = spans_to_tags([Span(0, 2, "AGE"), Span(2, 4, "DATE")], starts=[0], ends=[4], doc_id="n1")
    >>> report.inside_token, report.swallowed
    ((('n1', 0, 2, 'AGE'),), (('n1', 2, 4, 'DATE'),))
    """

    n_spans: int = 0
    n_exact: int = 0
    inside_token: tuple[Misfit, ...] = ()
    trimmed: tuple[Misfit, ...] = ()
    split_by_sentence: tuple[Misfit, ...] = ()
    collisions: tuple[Misfit, ...] = ()
    overlapping: tuple[Misfit, ...] = ()
    swallowed: tuple[Misfit, ...] = ()
    empty: tuple[Misfit, ...] = ()

    @property
    def n_lost(self) -> int:
        """Number of spans without any tag."""
        return len(self.swallowed) + len(self.empty)

    @property
    def n_changed(self) -> int:
        """Number of spans that the tags reproduce with other borders or in parts."""
        return self.n_spans - self.n_exact - self.n_lost

    @classmethod
    def total(cls, reports: Iterable[AlignmentReport]) -> AlignmentReport:
        """Sum of many reports, in time linear in their size."""
        listed = list(reports)
        sums: dict[str, Any] = {}
        for field in fields(cls):
            values = [getattr(report, field.name) for report in listed]
            sums[field.name] = sum(values) if field.name.startswith("n_") else tuple(chain.from_iterable(values))
        return cls(**sums)

    def __add__(self, other: AlignmentReport) -> AlignmentReport:
        return AlignmentReport.total((self, other)) if isinstance(other, AlignmentReport) else NotImplemented

    def summary(self) -> str:
        """Counts and causes as one line of text."""
        counts = {words: len(getattr(self, name)) for name, words in _CAUSES.items()}
        parts = [f"{count} {words}" for words, count in counts.items() if count]
        fit = f"{self.n_exact} of {self.n_spans} spans fit the tokens exactly"
        return f"{fit} ({', '.join(parts)})" if parts else fit


def spans_to_tags(
    spans: Sequence[Span],
    starts: Sequence[int],
    ends: Sequence[int],
    tag_scheme: str = "iob2",
    *,
    doc_id: str | None = None,
    sentences: Sequence[tuple[int, int]] | None = None,
) -> tuple[list[str], AlignmentReport]:
    """Convert the spans of one document to token tags.

    Parameters
    ----------
    spans : sequence of Span
        Spans in any order. If spans overlap, the longest span keeps all its tokens; of equally long spans, the earlier
        span keeps its tokens. The shorter spans keep the tokens that remain. All characters of all spans are therefore
        tagged.
    starts, ends : sequences of int, length n_tokens
        Half-open character offsets of the tokens. The tokens are in order and do not overlap.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the tags.
    doc_id : str, optional
        Document id for the report.
    sentences : sequence of (first token, token past the last), optional
        Token ranges of the sentences. A span across a sentence border is divided at the border. By default the whole
        document is one sentence.

    Returns
    -------
    tags : list of str, length n_tokens
        Tag of each token.
    report : AlignmentReport
        Spans that the tags cannot express exactly.

    Raises
    ------
    SequenceError
        If ``starts`` and ``ends`` differ in length.

    Examples
    --------
    >>> tags, report = spans_to_tags([Span(0, 9, "PATIENT")], [0, 5], [4, 10])
    >>> tags, report.n_exact, len(report.inside_token)
    (['B-PATIENT', 'I-PATIENT'], 0, 1)
    """
    check_tag_scheme(tag_scheme)
    _check_lengths(starts=starts, ends=ends)
    borders = [first for first, _ in sentences or ()]
    found: dict[str, list[Misfit]] = {}
    pieces: list[tuple[int, int, str]] = []
    # All tokens before `taken` are assigned: the kept spans are in the order of the text.
    n_exact = taken = 0
    kept, dropped = _without_overlaps(spans)
    for span in kept:
        # A token belongs to the span if it ends after the start of the span and starts before the end of the span.
        first, stop = bisect_right(ends, span.start), bisect_left(starts, span.end)
        kinds = _misfits(span, starts, ends, (first, stop), taken)
        # A token that an earlier span has is not given twice.
        begin = max(first, taken)
        if begin < stop:
            # A tag sequence never continues in the next sentence, so that a span across a border is cut there.
            cuts = [begin, *borders[bisect_right(borders, begin) : bisect_left(borders, stop)], stop]
            kinds += ["split_by_sentence"] if len(cuts) > 2 else []
            pieces += [(a, b, span.label) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
            taken = stop
        n_exact += not kinds
        for kind in kinds:
            found.setdefault(kind, []).append((doc_id, span.start, span.end, span.label))
    # The overlapping spans come last, longest first, and can only fill tokens that no kept span has.
    free = _free_tokens(len(starts), pieces) if dropped else []
    for span in dropped:
        first, stop = bisect_right(ends, span.start), bisect_left(starts, span.end)
        rest = _take_free(free, range(first, stop), borders)
        pieces += [(a, b, span.label) for a, b in rest]
        kind = "overlapping" if rest else "swallowed" if first < stop else "empty"
        found.setdefault(kind, []).append((doc_id, span.start, span.end, span.label))
    report = AlignmentReport(len(spans), n_exact, **{kind: tuple(misfits) for kind, misfits in found.items()})
    return tags_of(pieces, len(starts), tag_scheme), report


def tags_to_spans(
    tags: Sequence[str],
    starts: Sequence[int],
    ends: Sequence[int],
    tag_scheme: str = "iob2",
    *,
    confidences: Sequence[float] | None = None,
    category_of: Callable[[str], str | None] | None = None,
    sentences: Sequence[tuple[int, int]] | None = None,
) -> list[Span]:
    """Convert the token tags of one document to spans.

    Parameters
    ----------
    tags : sequence of str, length n_tokens
        Tag of each token. `labels_of` defines how illegal sequences are read; no tagged token is dropped.
    starts, ends : sequences of int, length n_tokens
        Half-open character offsets of the tokens.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the tags.
    confidences : sequence of float, length n_tokens, optional
        Probability of the tag of each token. The confidence of a span is the smallest probability of its tokens. A
        product of the probabilities would give long spans a lower confidence.
    category_of : callable, optional
        Function from a label to its category.
    sentences : sequence of (first token, token past the last), optional
        Token ranges of the sentences. The ranges cover all tokens. No span continues from one sentence into the next.

    Returns
    -------
    list of Span
        Spans in order, without overlaps.

    Raises
    ------
    SequenceError
        If the sequences differ in length, the sentences do not cover all tokens, or a tag is invalid.

    Examples
    --------
    >>> tags_to_spans(["O", "B-AGE"], [0, 5], [4, 7], confidences=[1.0, 0.75])
    [Span(start=5, end=7, label='AGE', category=None, confidence=0.75)]
    """
    check_tag_scheme(tag_scheme)
    _check_lengths(tags=tags, starts=starts, ends=ends, confidences=tags if confidences is None else confidences)
    ranges = [(0, len(tags))] if sentences is None else sentences
    if not in_order(ranges, len(tags)):
        raise SequenceError(f"'sentences' must cover each of {len(tags)} tokens once, in order.")
    return [
        Span(
            int(starts[first + a]),
            int(ends[first + b - 1]),
            label,
            None if category_of is None else category_of(label),
            None if confidences is None else float(min(confidences[first + a : first + b])),
        )
        # Positions within a sentence become positions in the document by adding the first token of the sentence.
        for first, stop in ranges
        for a, b, label in labels_of(tags[first:stop])
    ]


def _check_lengths(**sequences: Sequence) -> None:
    lengths = {name: len(sequence) for name, sequence in sequences.items()}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise SequenceError(f"Each sequence must hold one item for each token. Got {got} instead.")


def _without_overlaps(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Longest spans without overlaps in the order of the text, and the remaining, overlapping spans, longest first."""
    ordered = sorted(spans, key=lambda s: s.start)
    if all(a.end <= b.start for a, b in zip(ordered[:-1], ordered[1:], strict=True)):
        return ordered, []
    kept: list[Span] = []
    starts: list[int] = []
    dropped: list[Span] = []
    for span in sorted(ordered, key=lambda s: -s.length):
        # The kept spans do not overlap, so only the neighbours on both sides can overlap with this span.
        place = bisect_left(starts, span.start)
        if (place and kept[place - 1].end > span.start) or (place < len(kept) and starts[place] < span.end):
            dropped.append(span)
        else:
            kept.insert(place, span)
            starts.insert(place, span.start)
    return kept, dropped


def _free_tokens(n_tokens: int, pieces: Iterable[tuple[int, int, str]]) -> list[bool]:
    free = [True] * n_tokens
    for a, b, _ in pieces:
        free[a:b] = [False] * (b - a)
    return free


def _take_free(free: list[bool], tokens: range, borders: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of free tokens in a range, split at sentence borders. The function marks these tokens as taken."""
    runs: list[tuple[int, int]] = []
    new_sentence = set(borders[bisect_right(borders, tokens.start) : bisect_left(borders, tokens.stop)])
    for i in tokens:
        if free[i]:
            free[i] = False
            if runs and runs[-1][1] == i and i not in new_sentence:
                runs[-1] = (runs[-1][0], i + 1)
            else:
                runs.append((i, i + 1))
    return runs


def _misfits(span: Span, starts: Sequence[int], ends: Sequence[int], tokens: tuple[int, int], taken: int) -> list[str]:
    """Reasons why a span does not fit its range of tokens; tokens before ``taken`` belong to earlier spans."""
    first, stop = tokens
    if first >= stop:
        return ["empty"]
    if taken >= stop:
        return ["swallowed"]
    # After a collision the first token belongs to another span. Its start may lie before this span without making this
    # span wider.
    before = 0 if taken > first else starts[first] - span.start
    after = span.end - ends[stop - 1]
    kinds = {"collisions": taken > first, "inside_token": min(before, after) < 0, "trimmed": max(before, after) > 0}
    return [kind for kind, holds in kinds.items() if holds]
