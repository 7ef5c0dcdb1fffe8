"""Conversion of character spans to the tokens of another tool: a span is widened to whole tokens and never cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..exceptions import SpanError
from ..text import Span


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Span of whole tokens.

    Parameters
    ----------
    first, stop : int
        Half-open range of tokens, not empty.
    label : str
        Label of the span.
    category : str, optional
        Category of the label.
    confidence : float, optional
        Confidence of the span.
    length : int
        Number of characters of the original character span.
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
    """Widen each character span to all tokens that share a character with the span.

    Parameters
    ----------
    spans : iterable of Span
        Character spans.
    starts, ends : sequences of int
        Half-open character offsets of the tokens. The tokens are in order and do not overlap.
    doc_id : str, optional
        Document id for the error message.

    Returns
    -------
    list of TokenSpan
        One token span for each span, in the same order. Token spans may overlap even if the character spans do not.

    Raises
    ------
    SpanError
        If a span shares no character with any token. The conversion would lose this span.

    Examples
    --------
    >>> [(s.first, s.stop) for s in expand_to_tokens([Span(2, 7, "AGE")], [0, 5, 9], [4, 8, 12])]
    [(0, 2)]
    """
    found = []
    for span in spans:
        # First token that ends after the start of the span, and first token that starts at or after its end.
        first, stop = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first >= stop:
            raise SpanError("A span holds no part of a token.", doc_id=doc_id, start=span.start, end=span.end)
        found.append(TokenSpan(first, stop, span.label, span.category, span.confidence, span.length))
    return found


def overlap_groups(spans: Iterable[Any]) -> list[list[Any]]:
    """Groups of spans that share characters. Pass spans that are sorted by start.

    Examples
    --------
    >>> [len(group) for group in overlap_groups([Span(0, 5, "A"), Span(3, 4, "B"), Span(4, 6, "C"), Span(6, 7, "D")])]
    [3, 1]
    """
    groups: list[list[Any]] = []
    end = 0
    for span in spans:
        if groups and span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return groups


def join_overlapping(spans: Iterable[TokenSpan]) -> list[TokenSpan]:
    """Join spans that share a token.

    The joined span has the label of the span with the most characters, or of the first among equally long spans. Spans
    that are adjacent but share no token are not joined.

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
        # ``length`` stays the length of the leading span, so that a third span is compared with an original span.
        leading = span if span.length > last.length else last
        joined[-1] = replace(leading, first=last.first, stop=max(last.stop, span.stop))
    return joined
