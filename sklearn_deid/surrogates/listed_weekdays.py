"""Weekdays that belong to no day of the patient: opening hours, weekly plans, and names such as Good Friday."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from .locale_words import LocaleWords
from .written_date import weekday_number

_WORD = re.compile(r"[^\W\d_]+")
# Signs and words between two weekdays of a range or a list: "Mon-Fri", "Mo.-Fr.", "lunes y los jueves", "du lundi au".
_BETWEEN = re.compile(
    r"(?:[\s/,;&+()\u2013\u2014-]|\b(?:to|thru|through|until|and|or|plus|a|al|hasta|y|o|e|los|el|bis|und|oder|au|et|ou"
    r"|le|les|tot|en|of|til|og|eller|i|ed|dal|at\u00e9|\u00e0|ao|os|as)\b){1,12}",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(
    r"\b(?:good|black|ash|palm|holy|maundy|shrove|easter|whit|cyber|giving|fat|super\s?bowl|goede|witte)\s+\Z", re.I
)
_NAME_BEHIND = re.compile(
    r"\s?:?\s?\d{1,2}(?:\.\d)?\s?%|\s(?:exposure|protection|damage|avoidance|sensitivity|safety)\b"
    r"|(?:-feira)?\s+(?:night\s+(?:palsy|football|live)|school|mass|sant[oa]|saint|gras|grasso"
    r"|de\s+(?:ceniza|pascua|ramos|resurrecci\u00f3n|carnaval|cinzas|p\u00e1scoa|p\u00e2ques|pentec\u00f4te)"
    r"|des\s+(?:cendres|rameaux)|delle\s+(?:ceneri|palme)|di\s+pasqua)\b",
    re.IGNORECASE,
)
# Characters before a place, and twice as many behind it, in which another weekday of its list is looked for; longest
# span with other words that names a weekday ("next Tuesday").
_NEAR = 24
# Fewest weekdays in the order of the week that make a plan, and the most characters between two of them.
_PLAN, _GAP = 5, 80
# Abbreviations of English and German weekdays have a capital: "sat" and "so" are other words.
_SHORT = 4


def listed_weekdays(text: str, places: Sequence[tuple[int, int]], words: LocaleWords) -> set[int]:
    """Numbers of the places of a text whose weekdays belong to no day of the patient.

    Everybody knows the originals of such weekdays: offices are open from Monday to Friday, and a plan for the week
    begins on Sunday or on Monday. Moved weekdays would reveal the shift of the patient up to whole weeks.

    Parameters
    ----------
    text : str
        Text of the note.
    places : sequence of (int, int)
        Start and end of each date.
    words : LocaleWords
        Names of weekdays.

    Returns
    -------
    set of int
        Indices of the places in lists, ranges, plans and names.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> text = "Open Monday to Friday, seen on Tuesday."
    >>> sorted(listed_weekdays(text, [(5, 11), (15, 21), (31, 38)], locale_words("en")))
    [0, 1]
    """
    named = [i for i, (start, end) in enumerate(places) if _n_weekdays(text[start:end], words)]
    plans = list(_plans(text, words)) if len(named) > 2 else []
    return {i for i in named if _is_listed(text, *places[i], words) or _is_in(*places[i], plans)}


def _n_weekdays(text: str, words: LocaleWords) -> int:
    """Number of weekdays in a text; 0 if the text has a digit, or many other words."""
    if any(map(str.isdigit, text)):
        return 0
    numbers = [_number(word, words) for word in _WORD.findall(text)]
    n_named = len(numbers) - numbers.count(None)
    return n_named if n_named == len(numbers) or len(text) <= _NEAR else 0


def _number(word: str, words: LocaleWords) -> int | None:
    """Number of a weekday, also of a plural in English; None for other words."""
    if words.locale in ("en", "de") and len(word) <= _SHORT and word[0].islower():
        return None
    number = weekday_number(word, words)
    return weekday_number(word[:-1], words) if number is None and words.locale == "en" and word[-1] in "sS" else number


def _is_listed(text: str, start: int, end: int, words: LocaleWords) -> bool:
    before, behind = text[max(0, start - _NEAR) : start], text[end : end + 2 * _NEAR]
    is_name = _NAME_BEFORE.search(before) is not None or _NAME_BEHIND.match(behind) is not None
    if is_name or _n_weekdays(text[start:end], words) > 1:
        return True
    last = next((one for one in reversed([*_WORD.finditer(before)]) if _number(one[0], words) is not None), None)
    first = next((one for one in _WORD.finditer(behind) if _number(one[0], words) is not None), None)
    if last is not None and _is_between(last[0], before[last.end() :]):
        return True
    return first is not None and _is_between(_WORD.findall(text[start:end])[-1], behind[: first.start()])


def _is_between(word: str, text: str) -> bool:
    """Whether the text behind a weekday leads to the next weekday of a list; a full stop only behind abbreviations."""
    return _BETWEEN.fullmatch(text.removeprefix(".") if len(word) <= _SHORT else text) is not None


def _plans(text: str, words: LocaleWords) -> Iterator[tuple[int, int]]:
    """Start and end of each run of weekdays in the order of the week, without overlaps."""
    found = [(one, number) for one in _WORD.finditer(text) if (number := _number(one[0], words)) is not None]
    first = 0
    for i, (one, number) in enumerate(found, start=1):
        behind = found[i] if i < len(found) else None
        is_next = behind is not None and behind[1] == (number + 1) % 7 and behind[0].start() - one.end() <= _GAP
        if is_next:
            continue
        if i - first >= _PLAN:
            yield found[first][0].start(), one.end()
        first = i


def _is_in(start: int, end: int, plans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(plans, start, key=lambda plan: plan[0]) - 1
    return before >= 0 and end <= plans[before][1]
