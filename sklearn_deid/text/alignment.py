"""Between spans of characters and tags of tokens, with an account of everything that does not fit.

A token belongs to a span as soon as they share a character. What tokens cannot express exactly is reported, never lost
in silence: a span border inside a token, two spans in one token, overlapping spans, a span without any token.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .documents import Span
from .tags import check_scheme, labels_of, tags_of

__all__ = ["AlignmentReport", "Misfit", "spans_to_tags", "tags_to_spans"]

Misfit = tuple[str | None, int, int, str]
"""Document id, start, end and label of a span; no text."""


@dataclass(frozen=True)
class AlignmentReport:
    """What became of the spans.

    Attributes
    ----------
    n_spans : int
        Spans that came in.
    n_exact : int
        Spans whose borders are token borders and that lie in one sentence: they come back as they were.
    inside_token : tuple of Misfit
        Spans that start or end inside a token and come back wider.
    split_by_sentence : tuple of Misfit
        Spans over a sentence border; each part comes back as a span of its own.
    collisions : tuple of Misfit
        Spans that share a token with an earlier one and come back shorter.
    overlapping : tuple of Misfit
        Lost: spans that overlap or lie in a longer one (of equal ones the first is kept).
    swallowed : tuple of Misfit
        Lost: spans all of whose tokens belong to other spans.
    empty : tuple of Misfit
        Lost: spans that hold no token, such as white space.
    """

    n_spans: int = 0
    n_exact: int = 0
    inside_token: tuple[Misfit, ...] = ()
    split_by_sentence: tuple[Misfit, ...] = ()
    collisions: tuple[Misfit, ...] = ()
    overlapping: tuple[Misfit, ...] = ()
    swallowed: tuple[Misfit, ...] = ()
    empty: tuple[Misfit, ...] = ()

    @property
    def n_lost(self) -> int:
        """Spans that no token carries any more."""
        return len(self.overlapping) + len(self.swallowed) + len(self.empty)

    @property
    def n_changed(self) -> int:
        """Spans that come back with other borders."""
        return self.n_spans - self.n_exact - self.n_lost

    def __add__(self, other: AlignmentReport) -> AlignmentReport:
        return AlignmentReport(*[getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__])

    def summary(self) -> str:
        """One line of counts."""
        parts = [
            f"{len(getattr(self, name))} {name.replace('_', ' ')}"
            for name in self.__dataclass_fields__
            if not name.startswith("n_") and getattr(self, name)
        ]
        return f"{self.n_exact} of {self.n_spans} spans fit the tokens exactly" + (
            f" ({', '.join(parts)})" if parts else ""
        )


def spans_to_tags(
    spans: Sequence[Span],
    starts: Sequence[int],
    ends: Sequence[int],
    scheme: str = "iob2",
    *,
    doc_id: str | None = None,
    sentences: Sequence[tuple[int, int]] | None = None,
) -> tuple[list[str], AlignmentReport]:
    """Tags of the tokens of one document.

    Parameters
    ----------
    spans : sequence of Span
    starts, ends : sequences of int, length n_tokens
        Character offsets of the tokens, in order.
    scheme : {"iob2", "bioes"}, default="iob2"
    doc_id : str, optional
        For the report.
    sentences : sequence of (first token, past the last token), optional
        A span starts anew in each sentence.

    Returns
    -------
    tags : list of str, length n_tokens
    report : AlignmentReport

    Examples
    --------
    >>> tags, report = spans_to_tags([Span(0, 9, "PATIENT")], [0, 5], [4, 10])
    >>> tags, report.n_exact, len(report.inside_token)
    (['B-PATIENT', 'I-PATIENT'], 0, 1)
    """
    check_scheme(scheme)
    found: dict[str, list[Misfit]] = {}
    borders = [first for first, _ in sentences or ()]
    pieces: list[tuple[int, int, str]] = []
    n_exact = taken = 0
    kept = _without_overlaps(spans, found, doc_id)
    for span in kept:
        misfit = (doc_id, span.start, span.end, span.label)
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        kinds = _misfits(span, starts, ends, first, last, taken)
        begin = max(first, taken)
        if begin < last:
            cuts = [begin, *borders[bisect_right(borders, begin) : bisect_left(borders, last)], last]
            kinds += ["split_by_sentence"] if len(cuts) > 2 else []
            pieces += [(a, b, span.label) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
            taken = last
        n_exact += not kinds
        for kind in kinds:
            found.setdefault(kind, []).append(misfit)
    report = AlignmentReport(len(spans), n_exact, **{kind: tuple(misfits) for kind, misfits in found.items()})
    return tags_of(pieces, len(starts), scheme), report


def tags_to_spans(
    tags: Sequence[str],
    starts: Sequence[int],
    ends: Sequence[int],
    scheme: str = "iob2",
    *,
    confidences: Sequence[float] | None = None,
    category_of: Callable[[str], str | None] | None = None,
) -> list[Span]:
    """Spans of the tags of one document.

    Parameters
    ----------
    tags : sequence of str, length n_tokens
        Illegal sequences are read as `labels_of` reads them.
    starts, ends : sequences of int, length n_tokens
    scheme : {"iob2", "bioes"}, default="iob2"
    confidences : sequence of float, length n_tokens, optional
        Probability of each tag; a span gets the smallest one of its tokens.
    category_of : callable, optional
        Category of a label.

    Returns
    -------
    list of Span

    Examples
    --------
    >>> tags_to_spans(["O", "B-AGE"], [0, 5], [4, 7], confidences=[1.0, 0.75])
    [Span(start=5, end=7, label='AGE', category=None, confidence=0.75)]
    """
    check_scheme(scheme)
    return [
        Span(
            starts[first],
            ends[stop - 1],
            label,
            None if category_of is None else category_of(label),
            None if confidences is None else float(np.min(confidences[first:stop])),
        )
        for first, stop, label in labels_of(tags)
    ]


def _without_overlaps(spans: Sequence[Span], found: dict[str, list[Misfit]], doc_id: str | None) -> list[Span]:
    """The longest of overlapping spans, in order of the text."""
    ordered = sorted(spans, key=lambda s: (s.start, -s.end))
    if all(a.end <= b.start for a, b in zip(ordered[:-1], ordered[1:], strict=True)):
        return ordered
    kept: list[Span] = []
    for span in sorted(ordered, key=lambda s: (-s.length, s.start)):
        if any(span.start < other.end and other.start < span.end for other in kept):
            found.setdefault("overlapping", []).append((doc_id, span.start, span.end, span.label))
        else:
            kept.append(span)
    return sorted(kept, key=lambda s: s.start)


def _misfits(span: Span, starts: Sequence[int], ends: Sequence[int], first: int, last: int, taken: int) -> list[str]:
    """Ways in which a span does not fit its tokens ``first:last``, of which those before ``taken`` are gone."""
    if first >= last:
        return ["empty"]
    if taken >= last:
        return ["swallowed"]
    kinds = ["collisions"] if taken > first else []
    # White space at the border of a span is not lost text, but the span comes back without it.
    inside = starts[first] != span.start or ends[last - 1] != span.end
    return [*kinds, "inside_token"] if inside else kinds
