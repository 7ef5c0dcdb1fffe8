"""Spans across the border of two sentences: counted in annotated notes, and joined again after tagging."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .documents import Document, Span
from .segmentation import Segmentation

BorderCounts = dict[str, tuple[int, int]]
"""For each label: borders of sentences inside one span, and borders between two tokens of the label."""


def border_counts(documents: Iterable[Document], cuts: Iterable[Segmentation]) -> BorderCounts:
    """Count for each label how often a span continues across the border of two sentences.

    Parameters
    ----------
    documents : iterable of Document
        Notes with gold spans.
    cuts : iterable of Segmentation
        Sentences of each note.

    Returns
    -------
    dict of str to (int, int)
        Number of borders inside a span of the label, and number of borders with a token of the label on both sides.
        Labels without such a border are left out.

    Examples
    --------
    >>> from sklearn_deid.text import segment
    >>> note = Document("n1", "Clinic Roe\\nCity Ward", (Span(0, 20, "HOSPITAL"),))
    >>> border_counts([note], [segment(note.text)])
    {'HOSPITAL': (1, 1)}
    """
    counts: BorderCounts = {}
    for document, (tokens, sentences) in zip(documents, cuts, strict=True):
        spans = sorted(document.spans, key=lambda span: span.start)
        starts = [span.start for span in spans]
        for first, _ in sentences[1:]:
            # The last span that starts before the end of a token holds the token, or no span does. Of overlapping
            # spans, the later one holds it.
            before, after = (
                spans[place - 1] if place and spans[place - 1].end > tokens.starts[token] else None
                for token in (first - 1, first)
                for place in [bisect_left(starts, tokens.ends[token])]
            )
            if before is not None and after is not None and before.label == after.label:
                inside, both = counts.get(after.label, (0, 0))
                counts[after.label] = (inside + (before is after), both + 1)
    return counts


def joined_at_borders(
    spans: Sequence[Span],
    starts: Sequence[int],
    ends: Sequence[int],
    sentences: Sequence[tuple[int, int]],
    counts: Mapping[str, tuple[int, int]],
) -> list[Span]:
    """Join spans of one label that a border of sentences separates, if most gold spans of the label go on there.

    Parameters
    ----------
    spans : sequence of Span
        Spans of a note in order, without overlaps.
    starts, ends : sequences of int, length n_tokens
        Half-open character offsets of the tokens.
    sentences : sequence of (first token, token past the last)
        Token ranges of the sentences.
    counts : mapping of str to (int, int)
        Result of `border_counts` on annotated notes.

    Returns
    -------
    list of Span
        Spans in order. The confidence of a joined span is the smallest of its parts.

    Examples
    --------
    >>> parts = [Span(0, 6, "HOSPITAL"), Span(7, 11, "HOSPITAL")]
    >>> joined_at_borders(parts, [0, 7], [6, 11], [(0, 1), (1, 2)], {"HOSPITAL": (1, 1)})
    [Span(start=0, end=11, label='HOSPITAL', category=None, confidence=None)]
    """
    borders = {first for first, _ in sentences[1:]}
    joined: list[Span] = []
    for span in spans:
        inside, both = counts.get(span.label, (0, 0))
        last = joined[-1] if joined else None
        if last is not None and last.label == span.label and 2 * inside > both:
            # Number of the first token of the span, and of the token past the last span.
            first, stop = bisect_right(ends, span.start), bisect_left(starts, last.end)
            if first == stop and first in borders:
                sure = [part.confidence for part in (last, span) if part.confidence is not None]
                joined[-1] = replace(last, end=span.end, confidence=min(sure) if sure else None)
                continue
        joined.append(span)
    return joined
