"""Spans of characters on the tokens of somebody else, which are never cut: a span grows to whole tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..exceptions import SpanError
from ..text import Span


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A stretch of tokens.

    Parameters
    ----------
    first, stop : int
        Half-open range of tokens, not empty.
    label : str
    category : str, optional
    confidence : float, optional
    length : int
        Characters of the span that it comes from.
    """

    first: int
    stop: int
    label: str
    category: str | None
    confidence: float | None
    length: int


def expand_to_tokens(
    spans: Iterable[Span], starts: Sequence[int], ends: Sequence[int], *, doc_id: str | None = None
) -> list[TokenSpan]:
    """The tokens that share a character with each span.

    Parameters
    ----------
    spans : iterable of Span
    starts, ends : sequences of int
        Half-open character offsets of the tokens, in order, not overlapping.
    doc_id : str, optional
        For the error.

    Returns
    -------
    list of TokenSpan
        One for each span, in the same order. They may overlap even where the spans do not.

    Raises
    ------
    SpanError
        If a span holds no part of a token: it would be lost.

    Examples
    --------
    >>> [(s.first, s.stop) for s in expand_to_tokens([Span(2, 7, "AGE")], [0, 5, 9], [4, 8, 12])]
    [(0, 2)]
    """
    found = []
    for span in spans:
        first, stop = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first >= stop:
            raise SpanError("A span holds no part of a token.", doc_id=doc_id, start=span.start, end=span.end)
        found.append(TokenSpan(first, stop, span.label, span.category, span.confidence, span.length))
    return found


def join_overlapping(spans: Iterable[TokenSpan]) -> list[TokenSpan]:
    """Join spans that share a token; the one with the most characters (of equal ones the first) gives the label.

    Spans that only touch stay two.

    Examples
    --------
    >>> joined = join_overlapping([TokenSpan(0, 2, "CITY", None, None, 3), TokenSpan(1, 3, "STREET", None, None, 9)])
    >>> [(span.first, span.stop, span.label) for span in joined]
    [(0, 3, 'STREET')]
    """
    joined: list[TokenSpan] = []
    for span in sorted(spans, key=lambda s: (s.first, s.stop)):
        if not joined or span.first >= joined[-1].stop:
            joined.append(span)
            continue
        last = joined[-1]
        leading = span if span.length > last.length else last
        joined[-1] = replace(leading, first=last.first, stop=max(last.stop, span.stop))
    return joined
