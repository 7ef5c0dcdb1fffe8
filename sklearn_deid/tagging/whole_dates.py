"""Dates in digits that a tagger misses, or of which it finds the day and the month alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ..surrogates.label_kinds import known_labels
from ..text import Span
from .rules import Rule, find_phi, select_rules
from .rules.dates import MONTH, NO_UNIT

# The digit is looked for first: that takes a fraction of the time of looking back from each character.
_IN_DIGITS = re.compile(
    r"(?=\d)(?<![\w/.-])(?P<a>\d{1,2}|(?:19|20)\d\d)(?P<sign>\s?[-/.]\s?)(?P<b>\d{1,2})(?P=sign)"
    r"(?P<c>'?(?:(?:19|20)\d\d|\d\d)|(?<!\d)\d)(?!\d|[-/.]\d)"
)
# Beside three numbers that are no date: "BiPAP 12/6/40%", "NPH 10/8/12 units", "days 1/8/15" of a chemotherapy.
# "At 3/6/12 months". In capitals, "Min" and "MO" behind a date of birth are a name and a state.
_NO_DATE_BEHIND = re.compile(
    rf"(?!{NO_UNIT})|\s?(?i:%|FiO|PEEP|units?|tab|cap|puff|times)"
    r"|[\s-]?(?:h|mins?|minutes?|secs?|seconds?|weeks?|wks?|months?|mths?|mos)(?![^\W_])"
)
_NO_DATE_BEFORE = re.compile(
    r"\b(?i:apgars?(?:\s(?:scores?|of|were|at)){0,2}|(?:bi|c)pap\sat|settings?\s(?:of|were)|bipap|cpap|simv|psv|ps|fio2"
    r"|peep|vent(?:ilator)?|settings?|insulin|nph|lispro|humalog|novolog|novorapid|aspart|ratios?|v|days?|d|weeks?"
    r"|wks?|months?|cycles?)[\s:.(]{0,3}\Z"
)
_PART = re.compile(r"[\d\s/.'-]{1,9}")
# Further days of the month: "Mar 3, 5, and 7", but not "Mar 3 and 2 sisters" or "Mar 3 and 4 to 5 tablets".
_NTH = r"(?:st|nd|rd|th)?"
_DAY_AND_MONTH = re.compile(rf"\d{{1,2}}{_NTH}[\s.-]?{MONTH}\.?|{MONTH}\.?[\s.-]?\d{{1,2}}{_NTH},?")
_DAYS_BEHIND = re.compile(
    rf"{_NTH}(?:,\s?\d{{1,2}}{_NTH})*,?\s?(?:and|&|\+)\s?\d{{1,2}}{_NTH}(?:,?\s(?:19|20)\d\d(?!\d))?"
    r"(?=\s?(?:[,;:.)\]\r\n]|\Z)|\s(?:for|with|at|in|due|when|after|during|the|was|were|to)\b)(?!\sto\s\d|[,.:]\d)"
)
_YEAR_BEHIND = re.compile(r"[,\s.-]{0,2}(?<!\d)\d\d(?!\d)")
# Characters before and behind a part in which its date may begin and end; a label of a date of birth may be before it.
_NEAR, _LABEL = 14, 40
_LAST_DAY, _LAST_MONTH = 31, 12


def with_whole_dates(spans: Sequence[Span], text: str, new: Span | None = None) -> list[Span]:
    """Let each date of which a tagger finds a part contain its year, and add dates in digits that the tagger misses.

    A tagger may read a year as an age, which the Safe Harbor rule keeps: of "DOB 3/4/60 F", the year would stay, also
    beside the moved day of a surrogate.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the text, sorted and without overlap.
    text : str
        Text of the note.
    new : Span, optional
        Label, category and confidence of dates that the tagger misses. Without them, no date is added.

    Returns
    -------
    list of Span
        Spans, sorted and without overlap. A date never grows into a span of another kind than a date or an age.

    Examples
    --------
    >>> text = "DOB 3/4/60 F"
    >>> found = with_whole_dates([Span(4, 7, "DATE"), Span(8, 10, "AGE")], text)
    >>> [(text[span.start : span.end], span.label) for span in found]
    [('3/4/60', 'DATE')]
    """
    left, found = list(spans), list[Span]()
    # A whole date can take the place of spans on both sides. From the end on, each is looked at once.
    while left:
        span = left.pop()
        if _is_date(span) and (borders := _borders(span, text)) is not None:
            span = _widened(span, left, found, *borders)
        found.append(span)
    found.reverse()
    return found if new is None else _with_missed(found, text, new)


def _with_missed(spans: list[Span], text: str, new: Span) -> list[Span]:
    """Spans, and the dates in digits with a year that overlap none of them."""
    ends, added = [span.end for span in spans], []
    for one in _IN_DIGITS.finditer(text):
        first = bisect_right(ends, one.start())
        is_free = first == len(spans) or spans[first].start >= one.end()
        if is_free and _is_unmistakable(one):
            added.append(replace(new, start=one.start(), end=one.end()))
    return sorted([*spans, *added], key=lambda span: span.start)


def _is_unmistakable(date: re.Match[str]) -> bool:
    """Whether three numbers are a date without the words around them: 3/4/60, 3-4-1960, 1960-03-04."""
    has_year = len(date["a"] + date["c"]) > 4 or (date["sign"] == "/" and len(date["c"]) == 2)
    is_measure = _NO_DATE_BEHIND.match(date.string, date.end()) or _NO_DATE_BEFORE.search(
        date.string, max(0, date.start() - _LABEL), date.start()
    )
    return has_year and _is_possible(date) and not is_measure


def _borders(span: Span, text: str) -> tuple[int, int] | None:
    """Start and end of the date of which a span is a part; None for a whole date and for other words."""
    if _PART.fullmatch(text, span.start, span.end) is not None:
        for one in _IN_DIGITS.finditer(text, max(0, span.start - _NEAR), span.end + _NEAR):
            if one.start() <= span.start and span.end <= one.end() and _is_possible(one):
                return one.span() if one.span() != (span.start, span.end) else None
    elif _DAY_AND_MONTH.fullmatch(text, span.start, span.end) is None:
        return None
    elif (days := _DAYS_BEHIND.match(text, span.end)) is not None and not text[span.start].isdigit():
        return (span.start, days.end()) if all(int(n) <= _LAST_DAY for n in re.findall(r"\b\d\d?", days[0])) else None
    elif _YEAR_BEHIND.match(text, span.end) is not None:
        first = max(0, span.start - _LABEL)
        for find in find_phi(text[first : span.end + _NEAR], rules=_birth_rules()):
            if first + find.start <= span.start and span.end < first + find.end:
                return first + find.start, first + find.end
    return None


def _is_possible(date: re.Match[str]) -> bool:
    a, b, c = (int(date[name].strip("'")) for name in "abc")
    month, day = sorted((b, c) if a > _LAST_DAY else (a, b))
    return 1 <= month <= _LAST_MONTH and day <= _LAST_DAY and (a > _LAST_DAY or len(date["c"]) > 1)


def _widened(date: Span, before: list[Span], behind: list[Span], start: int, end: int) -> Span:
    """One date for a range of the text, in place of the spans there; the same date beside PHI of other kinds there.

    The last of the spans before the date, and of those behind it, are the nearest.
    """
    n_before = n_behind = 0
    while n_before < len(before) and before[-1 - n_before].end > start:
        n_before += 1
    while n_behind < len(behind) and behind[-1 - n_behind].start < end:
        n_behind += 1
    inside = [date, *before[len(before) - n_before :], *behind[len(behind) - n_behind :]]
    if any(not (start <= one.start and one.end <= end and (_is_date(one) or _kind(one) == "age")) for one in inside):
        return date
    del before[len(before) - n_before :], behind[len(behind) - n_behind :]
    sure = [one.confidence for one in inside if _is_date(one) and one.confidence is not None]
    return replace(date, start=start, end=end, confidence=min(sure) if sure else None)


def _is_date(span: Span) -> bool:
    return _kind(span) in ("date", "birth date")


def _kind(span: Span) -> str | None:
    return known_labels().get(span.label)


@cache
def _birth_rules() -> tuple[Rule, ...]:
    """Rules for dates of birth whose year has two digits; elsewhere, the number behind a day may be an age."""
    return tuple(rule for rule in select_rules(("date",), ("en",)) if "in-words" in rule.name)
