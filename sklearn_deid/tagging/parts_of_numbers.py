"""Parts of numbers behind and before the part that a tagger finds, such as the ``/1`` of a visit."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ..surrogates.label_kinds import known_labels
from ..text import Span

_KINDS = frozenset(("identifier", "phone"))
# A part of a number has a digit, or is one letter. Behind a slash, M, F and W are a sex, and a letter behind a full
# stop begins a sentence.
_PART = r"(?=[^\W\d_]{0,3}\d)[^\W_]{1,12}"
_SEX = r"[FMWfmw](?![^\W_])"
_BEHIND = re.compile(
    rf"(?:x\d{{1,6}}|(?:[-/\u2010-\u2013]{_PART}|(?:[-\u2010-\u2013]|/(?!{_SEX}))[^\W\d_]|\.\d{{1,6}})(?![^\W_]))+"
)
_BEFORE = re.compile(rf"(?<![^\W_])(?<![^\W_][-/.\u2010-\u2013])(?:{_PART}[-/.\u2010-\u2013])+\Z")
_NEAR = 40
# Spans that Safe Harbor keeps, such as an age: a tagger may read the part behind the sign as one. An age has the sex
# behind it or its label before it.
_KEPT = frozenset(("age", "region", "department", "profession"))
_AGE_BEHIND = re.compile(r"[\s/,]{0,2}(?i:[fmw]|years?|yrs?|yo?|y/o)(?![^\W_])")
_AGE_BEFORE = re.compile(r"(?i:\bage\b)[^\r\n]*\Z")


def with_parts_of_numbers(spans: Sequence[Span], text: str) -> list[Span]:
    """Let each number of a person contain the parts that a sign without a blank joins to the number.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the text, sorted and without overlap.
    text : str
        Text of the note.

    Returns
    -------
    list of Span
        Spans, sorted and without overlap.

    Examples
    --------
    >>> text = "MRN 123456/1, 71/F"
    >>> [text[span.start : span.end] for span in with_parts_of_numbers([Span(4, 10, "MEDICALRECORD")], text)]
    ['123456/1']
    """
    found: list[Span] = []
    left = deque(spans)
    while left:
        span = left.popleft()
        if _kind(span) in _KINDS and any(map(str.isdigit, text[span.start : span.end])):
            before = _BEFORE.search(text, max(found[-1].end if found else 0, span.start - _NEAR), span.start)
            start, end = before.start() if before else span.start, _end_of_parts(span, left, text)
            while left and left[0].start < end:
                left.popleft()
            span = replace(span, start=start, end=end)
        found.append(span)
    return found


def _end_of_parts(span: Span, behind: Sequence[Span], text: str) -> int:
    """End of the last part behind a number. The parts hold whole spans that Safe Harbor keeps, and no others."""
    # The match ends at the next span that stays. In a chain of numbers, a match to its end from each takes too long.
    last = next((one.start for one in behind if _kind(one) not in _KEPT), len(text))
    if (parts := _BEHIND.match(text, span.end, last)) is None:
        return span.end
    stay = (one.start for one in behind if _kind(one) not in _KEPT or one.end > parts.end() or _is_age(one, span, text))
    parts = _BEHIND.match(text, span.end, next(stay, last))
    return span.end if parts is None else parts.end()


def _is_age(age: Span, number: Span, text: str) -> bool:
    line = text[max(0, number.start - _NEAR) : number.start]
    return _AGE_BEHIND.match(text, age.end) is not None or _AGE_BEFORE.search(line) is not None


def _kind(span: Span) -> str | None:
    return known_labels().get(span.label)
