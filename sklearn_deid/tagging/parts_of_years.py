"""Quarters and weeks beside the year that a tagger finds alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..surrogates.label_kinds import known_labels
from ..text import Span

_YEAR = re.compile(r"['\u2019]?\d\d|(?:19|20)\d\d")
_OF = r",?\s(?:(?:of|de|del|des|du|di|do|da|van|i)\s)?"
_ORDINAL = (
    r"first|second|third|fourth|last|1st|2nd|3rd|4th|[1-4](?:\.|\u00ba|er|\u00e8?me|e)?"
    r"|(?:erste|zweite|dritte|vierte|letzte)[sn]?|primer|segundo|tercer|cuarto|[u\u00fa]ltimo"
    r"|premier|deuxi[e\u00e8]me|troisi[e\u00e8]me|quatri[e\u00e8]me|dernier|primo|secondo|terzo|quarto|primeiro|terceiro"
    r"|f\u00f8rste|andre|tredje|fjerde|eerste|tweede|derde|vierde"
)
_BEFORE = re.compile(
    r"(?<!\w)(?:Q[1-4](?:\s?[/,-])?\s?(?:of\s|FY\s?)?['\u2019]?|[1-4]Q\s?['\u2019]?"
    rf"|(?i:(?:{_ORDINAL})\s?(?:quarter|quartals?|trimestre|kvartal|kwartaal){_OF})"
    r"|(?i:(?:calendar\s|epi(?:demiological)?\s)?(?:week|kw|kalenderwoche|semana|semaine|settimana|uke|woche)\s?\d{1,2})"
    rf"(?:\s?/\s?|{_OF}))\Z"
)
_BEHIND = re.compile(r"\s?[-/]?\s?(?:Q[1-4]|W[0-5]\d(?:-?[1-7])?)(?!\w)")
_NEAR = 40


def with_parts_of_years(spans: Sequence[Span], text: str) -> list[Span]:
    """Let each date that is only a year contain the quarter or the week of this year beside the date.

    The Safe Harbor rule keeps years, but no other parts of a date: of "the second quarter of 2019", the quarter would
    stay, also beside the moved year of a surrogate.

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
    >>> text = "in the second quarter of 2019"
    >>> [text[span.start : span.end] for span in with_parts_of_years([Span(25, 29, "DATE")], text)]
    ['second quarter of 2019']
    """
    found = list(spans)
    for i, span in enumerate(found):
        if known_labels().get(span.label) != "date" or _YEAR.fullmatch(text, span.start, span.end) is None:
            continue
        first = found[i - 1].end if i else 0
        last = found[i + 1].start if i + 1 < len(found) else len(text)
        before = _BEFORE.search(text, max(first, span.start - _NEAR), span.start)
        behind = _BEHIND.match(text, span.end, last)
        start, end = before.start() if before else span.start, behind.end() if behind else span.end
        found[i] = replace(span, start=start, end=end)
    return found
