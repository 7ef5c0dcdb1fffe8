"""Summer time in the zones of clock times, which reveals the season of a date, and thereby parts of the shift."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate

from ..text import Document, Span

_STANDARD = {
    **{"EDT": "EST", "CDT": "CST", "PDT": "PST", "AKDT": "AKST", "AEDT": "AEST", "ACDT": "ACST", "NZDT": "NZST"},
    **{"CEST": "CET", "MESZ": "MEZ", "EEST": "EET", "OESZ": "OEZ", "WESZ": "WEZ"},
}
# Also other words in notes, such as a multidisciplinary team: only at the end of a line or a phrase, behind a date.
_DOUBTFUL = {"MDT": "MST", "ADT": "AST", "HDT": "HST", "NDT": "NST", "BST": "GMT", "WEST": "WET"}
# The names of the winter, too: otherwise, a span would show that a zone was one of the summer.
_NAMES, _MORE_NAMES = ("|".join((*names, *names.values())) for names in (_STANDARD, _DOUBTFUL))
_LOWER = r"(?i:e[sd]t|p[sd]t|ces?t|mes?z)"
_LONG = (
    r"(?i:(?:Eastern|Central|Mountain|Pacific|Atlantic|Alaska|Newfoundland)\s(?:Daylight(?:\sSavings?)?|Standard)\sTime"
    r"|(?:British\sSummer|Greenwich\sMean|(?:Central|Eastern|Western)\sEuropean(?:\sSummer)?)\sTime"
    r"|Mitteleurop\u00e4ische\s(?:Sommerz|Z)eit)"
)
_UTC = r"(?:UTC|GMT)\s?[+\u2212-]\s?(?:0?\d|1[0-4])(?::?[0-5]\d)?"
# Offsets of countries, in hours and parts of an hour: a later time, as in "08:00:00-11:00", is none.
_OFFSET = r"(?:[\u2212-](?:0\d|10):?[03]0|\+(?:0\d|1[0-4]):?(?:00|15|30|45))(?![\d:])"
_SECONDS = r":[0-5]\d(?:\.\d{1,9})?"
_MINUTES = r"(?<![\d.,])(?:(?:[01]?\d|2[0-4])[:.h]|(?:[01]\d|2[0-4]))[0-5]\d"
_HALF = r"(?:\s?(?i:[ap]\.?m)\b\.?)?(?:\s?(?:hrs?|h|Uhr)\b\.?)?\s{0,2}\(?"
_ZONES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:{_MINUTES}(?:{_SECONDS})?|(?<![\d.,])\d{{1,2}}(?=\s?(?i:[ap]\.?m)\b)){_HALF}"
        rf"(?P<zone>(?:{_NAMES}|{_LONG}|{_UTC}|{_LOWER})(?![\w/]))",
        rf"\d[\s,]{{1,3}}(?:at\s)?(?:[01]?\d|2[0-4]):[0-5]\d(?:{_SECONDS})?{_HALF}"
        rf"(?P<zone>(?:{_MORE_NAMES}))(?=[ \t]*(?:[.,;)\]|\r\n]|\Z))",
        # Behind minutes alone, an offset with a hyphen may be the second time of a range.
        rf"(?:(?<=\dT)\d\d:?\d\d(?::?\d\d(?:\.\d{{1,9}})?)?|{_MINUTES}{_SECONDS})\s?(?P<zone>{_OFFSET})",
        rf"{_MINUTES}\s?(?P<zone>\+{_OFFSET.partition('+')[2]}",
    )
)
# A quick look, since most notes name no zone. It begins with a digit, and then asks for the first letter of a zone, so
# that most places of a note are left at their first or second sign. It must find all that `_ZONES` finds.
_MAYBE = re.compile(
    rf"\d(?:{_HALF}(?=[A-CEGHMNOPUWa-ceghmnopuw])(?:{_NAMES}|{_MORE_NAMES}|{_LONG}|{_UTC}|{_LOWER})(?!\w)"
    r"|:?[0-5]\d(?:\.\d{1,9})?\s?[\u2212-](?:0\d|10):?[03]0|\s?\+(?:0\d|1[0-4]):?[0-5][05])"
)
# Last signs of zones; offsets also have a sign before their digits.
_LAST_OF_ZONES, _SIGNS = frozenset("TtZzEe"), re.compile(r"[+\u2212-]")
_AT_END = re.compile(rf"\s{{0,2}}\(?(?<!\w)(?:{_NAMES}|{_MORE_NAMES}|{_LONG}|{_UTC}|{_LOWER})\)?\s*\Z")
_BARE_OFFSET = re.compile(rf"\s*{_OFFSET}\s*")


def zone_places(text: str) -> list[tuple[int, int]]:
    """Start and end of each zone behind a clock time that shows summer time, or may show it as an offset.

    Examples
    --------
    >>> text = "3/4/2019 14:30 EDT, 2019-03-04T14:30:00-05:00, open 08:00-09:00"
    >>> [text[start:end] for start, end in zone_places(text)]
    ['EDT', '-05:00']
    """
    if _MAYBE.search(text) is None:
        return []
    return sorted({one.span("zone") for pattern in _ZONES for one in pattern.finditer(text)})


def zone_at_end(text: str) -> int:
    """Position of a zone at the end of a date with a time, or of a text that is a zone; else the length of the text.

    Examples
    --------
    >>> zone_at_end("3/4/2019 14:30 EDT"), zone_at_end("3/4/2019")
    (14, 8)
    """
    if text.rstrip().removesuffix(")")[-1:] not in _LAST_OF_ZONES and _SIGNS.search(text) is None:
        return len(text)
    if (named := _AT_END.search(text)) is not None:
        return named.start()
    if _BARE_OFFSET.fullmatch(text) is not None:
        return 0
    places = zone_places(text)
    return places[-1][0] if places and not text[places[-1][1] :].strip() else len(text)


def without_summer_time(zone: str) -> str:
    """Zone in a form that is the same in summer and in winter.

    Examples
    --------
    >>> [without_summer_time(zone) for zone in ("EDT", "-04:00", "Eastern Daylight Time", "UTC+2")]
    ['EST', '+00:00', 'Eastern Standard Time', 'UTC+0']
    """
    name = zone.strip(" ()")
    standard = (_STANDARD | _DOUBTFUL).get(name.upper())
    if standard is not None:
        return zone.replace(name, standard if name.isupper() else standard.lower())
    if any(map(str.isdigit, zone)):
        return re.sub(r"[\u2212-]", "+", re.sub(r"\d", "0", zone))
    zone = re.sub(r"(?i)\bDaylight(?:\sSavings?)?\b", "Standard", zone)
    zone = re.sub(r"(?i)\bBritish\sSummer\b", "Greenwich Mean", zone)
    return re.sub(r"(?i)\bSummer\s|\bSommer(?=zeit)", "", zone)


def with_time_zones(document: Document, kind_of: Mapping[str, str]) -> Document:
    """Let the spans of a note contain the zones of its clock times, if the note has a date.

    A zone directly behind a date with a time belongs to the span of the date. Any other zone has a span of its own with
    the label of the last date before it, or of the first date of the note.

    Parameters
    ----------
    document : Document
        Note with PHI spans.
    kind_of : mapping of str to str
        Kind of surrogate of each label.

    Returns
    -------
    Document
        The note itself if there is no zone or no date.

    Examples
    --------
    >>> note = Document("n1", "3/4/2019 14:30 EDT", (Span(0, 8, "DATE"),))
    >>> [(span.start, span.end) for span in with_time_zones(note, {"DATE": "date"}).spans]
    [(0, 8), (15, 18)]
    """
    dates = sorted((span for span in document.spans if kind_of.get(span.label) == "date"), key=lambda s: s.start)
    places = zone_places(document.text) if dates else []
    if not places:
        return document
    spans = sorted(document.spans, key=lambda s: s.start)
    free = _without_overlaps(places, spans)
    starts = [one.start for one in dates]
    added = [replace(dates[max(0, bisect_right(starts, at) - 1)], start=at, end=end) for at, end in free]
    return replace(document, spans=tuple(_joined([*spans, *added], document.text)))


def _without_overlaps(places: list[tuple[int, int]], spans: list[Span]) -> Iterator[tuple[int, int]]:
    """Places that share no character with a span; the spans are in order."""
    # An early span may end behind the start of a later span.
    ends = list(accumulate((span.end for span in spans), max))
    starts = [span.start for span in spans]
    for start, end in places:
        before = bisect_left(starts, end)
        if not before or ends[before - 1] <= start:
            yield start, end


def _joined(spans: list[Span], text: str) -> Iterator[Span]:
    """Spans in order, with each zone joined to the date that ends directly before it."""
    waiting: Span | None = None
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        is_one = waiting is not None and waiting.label == span.label and zone_at_end(text[span.start : span.end]) == 0
        if waiting is not None and is_one and not text[waiting.end : span.start].strip(" ("):
            waiting = replace(waiting, end=span.end)
            continue
        if waiting is not None:
            yield waiting
        waiting = span
    if waiting is not None:
        yield waiting
