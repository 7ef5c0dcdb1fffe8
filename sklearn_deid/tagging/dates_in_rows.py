"""Days in a row without a year, such as the heads of columns (``3/4  3/5  3/6``), of which a tagger misses some."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from ..surrogates.label_kinds import known_labels
from ..text import Span
from .rules.dates import NO_UNIT

_DAY = re.compile(
    rf"(?<![^\s(\[{{,;|:=>])(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})(?=[\s)\]}},;:|=]|\.?\Z|\.\s){NO_UNIT}"
)
_BREAK = re.compile(r"[\r\n]")
# Months and days of a row; the most months and days there are.
_FEWEST, _LAST_MONTH, _LAST_DAY = 3, 12, 31
# Second numbers of scales: "[3/4], pain 3/10" and "strength 3/5" are one day.
_OF_SCALES = frozenset((4, 5, 6, 10))
# "1/2, 1/3 and 1/4" are fractions.
_LAST_OF_FRACTIONS = 4
# The sight of eyes in meters, "VA R 6/6, L 6/9, pinhole 6/12", is no row of days of June.
_SIGHT, _LINES_OF_SIGHT = "6", frozenset((5, 6, 9, 12, 18, 24))
_OF_EYES = re.compile(r"\b(?i:[bu]?c?va|vision|acuity|visus|snellen|o[dsu])\b[^\d\r\n]{0,20}\Z")
_NEAR = 40


def with_dates_in_rows(spans: Sequence[Span], text: str, new: Span | None = None) -> list[Span]:
    """Spans of a note, and the days of the rows of which a tagger misses some or all.

    Three days or more on a line, one after the other in one month, are a row. Two are one if the tagger has found one
    of them. A measure such as "3/5" has neither so many values nor the same first number.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the text, sorted and without overlap.
    text : str
        Text of the note.
    new : Span, optional
        Label, category and confidence of the days of a row of which the tagger has found none. Without them, such a row
        is not added.

    Returns
    -------
    list of Span
        Spans, sorted and without overlap.

    Examples
    --------
    >>> text = "Cultures 3/4, 3/5 and 3/7 negative, strength 5/5"
    >>> [text[span.start : span.end] for span in with_dates_in_rows([], text, Span(0, 1, "DATE"))]
    ['3/4', '3/5', '3/7']
    """
    if text.count("/") < 2:
        return list(spans)
    dates = {(span.start, span.end): span for span in spans if known_labels().get(span.label) == "date"}
    taken = bytearray(len(text))
    for span in spans:
        taken[span.start : span.end] = b"\x01" * (span.end - span.start)
    added: list[Span] = []
    for row in _rows(text):
        known = next((dates[day.span()] for day in row if day.span() in dates), None)
        if len({day["day"] for day in row}) < _FEWEST:
            row = [day for day in row if known is not None and int(day["day"]) not in _OF_SCALES]
        like = known or new
        if like is not None:
            free = (day.span() for day in row if not any(taken[day.start() : day.end()]))
            added += [replace(like, start=start, end=end) for start, end in free]
    return sorted([*spans, *added], key=lambda span: span.start)


def _rows(text: str) -> Iterator[list[re.Match[str]]]:
    """Days of one line and one month, each of which is before the next one."""
    last, n_lines = 0, 0
    days: list[tuple[int, int, re.Match[str]]] = []
    for found in _DAY.finditer(text):
        n_lines += _BREAK.search(text, last, found.start()) is not None
        last = found.end()
        if 1 <= int(found["month"]) <= _LAST_MONTH and 1 <= int(found["day"]) <= _LAST_DAY:
            days.append((n_lines, int(found["month"]), found))
    days.sort(key=lambda day: day[:2])
    for (_, month), group in groupby(days, key=lambda day: day[:2]):
        row = [day for _, _, day in group]
        numbers = [int(day["day"]) for day in row]
        is_in_order = all(a <= b for a, b in pairwise(numbers)) and len({*numbers}) > 1
        if is_in_order and not (month == 1 and _are_fractions(numbers)) and not _is_sight(row):
            yield row


def _is_sight(row: Sequence[re.Match[str]]) -> bool:
    """Whether a row is the sight of eyes in meters, behind a word for it."""
    first = row[0]
    if first["month"] != _SIGHT or any(int(day["day"]) not in _LINES_OF_SIGHT for day in row):
        return False
    return _OF_EYES.search(first.string, max(0, first.start() - _NEAR), first.start()) is not None


def _are_fractions(numbers: Sequence[int]) -> bool:
    """Whether second numbers behind a 1 are those of parts or of dilutions: "1/2, 1/4, 1/8"."""
    return numbers[-1] <= _LAST_OF_FRACTIONS or all(b in (a, 2 * a) for a, b in pairwise(numbers))
