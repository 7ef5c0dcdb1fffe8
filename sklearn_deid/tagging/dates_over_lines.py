"""Dates that continue on the next line of a note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from ..surrogates.label_kinds import known_labels
from ..text import Span
from .rules import Rule, find_phi, note_languages, select_rules
from .rules.dates import NO_UNIT

# Characters before and after a span in which its date may continue, on one line more.
_NEAR = 24
_BREAK = r"[^\S\r\n]*(?:\r{0,2}\n|\r)[^\S\r\n]*"
# A word such as "of" between the parts.
_OF = r"(?:[^\W\d_]{1,3} )?"
_OPEN_OF = _OF.replace(" ", "")
# A number on the next line, or on the line before behind other words: a number on a line of its own is that of a list.
_NUMBER_BEHIND = re.compile(rf"[ ,/-]{{0,2}}{_OPEN_OF}{_BREAK}{_OF}(?=\d{{1,4}}(?!\d))")
_NUMBER_BEFORE = re.compile(rf"[^\r\n]*\w[^\w\r\n]+\d{{1,4}}[^\r\n]{{0,6}}{_BREAK}{_OF}\Z")
# A word that may be the name of a month, or a number, beside a span of numbers.
_BEHIND = re.compile(rf"[^\w\r\n]{{0,2}}{_OPEN_OF}{_BREAK}{_OF}(?=\d{{1,4}}(?!\d)|[^\W\d_]{{3}})")
_BEFORE = re.compile(rf"[^\r\n]*\w[^\w\r\n]+(?:\d{{1,4}}|[^\W\d_]{{3}})[^\r\n]{{0,6}}{_BREAK}{_OF}\Z")
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"[^\W\d_]{3}")
# A number of the next line that counts something: "seen in May" and "2 tablets".
_COUNTED = re.compile(rf"(?!{NO_UNIT})|[-./:]\d|\s?(?i:tab|cap|pill|puff|dose|drop|time)")
# The same for numbers that are no years: "since March" and "2 weeks of cough".
_COUNTED_DAYS = re.compile(
    r"(?<!\d\d\d)[\s-]?(?i:x|(?:day|week|wk|month|year|yr|patient|case)s|year|wochen?|tagen?|monaten?|jahren?|mal|d[ií]as"
    r"|semanas?|meses|a[ñn]os|veces|vezes|jours?|semaines?|mois|ans|fois|giorni|settimane|mesi|anni|volte|dager?|dagen"
    r"|uker?|weken|måneder|maanden|jaar|år|ganger|keer)(?!\w)"
)
_MONTH_AND_DAY = re.compile(r"\W*[^\W\d_]{3,}\W+\d{1,2}\W*")
# Number and sign of an item of a list, at the start of a line.
_ITEM = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*(\d{1,2})([.:)])(?!\d)")


def with_dates_over_lines(spans: Sequence[Span], text: str) -> list[Span]:
    r"""Let each date contain its parts on the line before and on the next line, as the rules for dates find them.

    A tagger reads these lines as two sentences and finds the parts alone: of "March 4,\n2019", the year would stay
    where the surrogate of the day belongs to another year. A date never grows into a span with another kind of PHI.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the text, sorted and without overlap.
    text : str
        Text of the note.

    Returns
    -------
    list of Span
        Spans, sorted and without overlap. The confidence of a joined date is the smallest confidence of its parts.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> text = "Seen on March 4,\n2019 for pain."
    >>> [text[span.start : span.end] for span in with_dates_over_lines([Span(8, 15, "DATE")], text)]
    ['March 4,\n2019']
    """
    rules = cache(lambda: _date_rules(note_languages(text)))
    items = cache(lambda: {(int(one[1]), one[2]) for one in _ITEM.finditer(text)})
    found = list(spans)
    for i in reversed(range(len(found))):
        if i < len(found) and _is_date(found[i]) and _may_go_on(found[i], text):
            label = found[i].label  # a joined date can take the place of several spans
            for start, end in _over_lines(found[i], text, rules()):
                if not _has_item(text[start : end + 1], items):
                    found = _joined(found, start, end, label)
    return found


@cache
def _date_rules(languages: tuple[str, ...]) -> tuple[Rule, ...]:
    return select_rules(("date",), languages)


def _is_date(span: Span) -> bool:
    return known_labels().get(span.label) in ("date", "birth date")


def _may_go_on(span: Span, text: str) -> bool:
    """Whether a line break before or behind a span that is no whole date may divide a date."""
    written = text[span.start : span.end]
    numbers, has_word = _NUMBER.findall(written), _WORD.search(written) is not None
    if len(numbers) + has_word > 2:
        return False
    behind, before = (_NUMBER_BEHIND, _NUMBER_BEFORE) if has_word else (_BEHIND, _BEFORE)
    if (not numbers or len(numbers[-1]) < 4) and behind.match(text, span.end) is not None:
        return True
    return before.search(text[max(0, span.start - _NEAR) : span.start]) is not None


def _over_lines(span: Span, text: str, rules: tuple[Rule, ...]) -> Iterator[tuple[int, int]]:
    """Starts and ends of dates of the rules that a line break divides and of which the span is a part."""
    first, stop = max(0, span.start - _NEAR), min(len(text), span.end + _NEAR)
    line, offsets = _on_one_line(text[first:stop])
    for find in find_phi(line, rules=rules):
        start, end = first + offsets[find.start], first + offsets[find.end - 1] + 1
        # A number that the window cuts is another number.
        is_cut = text[max(0, start - 1) : start + 1].isalnum() and 0 < start == first
        is_cut = is_cut or (text[end - 1 : end + 1].isalnum() and end == stop < len(text))
        is_cut = is_cut or (end > span.end and any(one.match(text, end) for one in (_COUNTED, _COUNTED_DAYS)))
        # "Room 12" and "May 4": the month has its day.
        is_cut = is_cut or (start < span.start and _MONTH_AND_DAY.fullmatch(text, span.start, span.end) is not None)
        if not is_cut and start < span.end and span.start < end and re.search(r"[\r\n]", text[start:end]):
            yield start, end


def _has_item(text: str, items: Callable[[], set[tuple[int, str]]]) -> bool:
    """Whether the number of the next line is that of a list, which has the number before or behind it, too."""
    found = ((int(one[1]), one[2]) for one in _ITEM.finditer(text) if one.start() > 0)
    return any(not items().isdisjoint(((number - 1, sign), (number + 1, sign))) for number, sign in found)


def _on_one_line(text: str) -> tuple[str, list[int]]:
    """Text with a blank for each line break and the indentation around it, and the offset of each character."""
    offsets: list[int] = []
    at = 0
    for found in re.finditer(_BREAK, text):
        offsets += [*range(at, found.start()), found.start()]
        at = found.end()
    offsets += range(at, len(text))
    return "".join(" " if text[i] in " \t\r\n" else text[i] for i in offsets), offsets


def _joined(spans: list[Span], start: int, end: int, label: str) -> list[Span]:
    """Spans with one date for a part of the text and all dates that overlap it; unchanged beside other PHI there."""
    inside = [span for span in spans if span.start < end and start < span.end]
    if not all(map(_is_date, inside)):
        return spans
    sure = [span.confidence for span in inside if span.confidence is not None]
    one = replace(
        next(span for span in inside if span.label == label),
        start=min(start, *(span.start for span in inside)),
        end=max(end, *(span.end for span in inside)),
        confidence=min(sure) if sure else None,
    )
    at = spans.index(inside[0])
    return [*spans[:at], one, *spans[at + len(inside) :]]
