"""Times of day in written dates."""

from __future__ import annotations

import re

_UNIT = r"(?:hrs?|h|Uhr|uur|horas)\b\.?"
_HALF = r"[aApP]\.?[mM]\b\.?"
# Fractions of a second and the distance from Greenwich: 10:22:00.000+01:00
_ZONE = r"(?::\d{2}(?:\.\d{1,9})?(?:\s?(?:Z|[+-]\d{2}:?\d{2}))?|(?:Z|[+-]\d{2}:\d{2}))?"
_MINUTES = rf"(?<!\d)\d{{1,2}}[:.h]\d{{2}}{_ZONE}(?:\s?{_HALF})?(?:\s?{_UNIT})?"
_HOUR = rf"(?<!\d)(?:[01]?\d|2[0-4])\s?(?:{_HALF}|{_UNIT})"
_CLOCK = rf"(?:{_MINUTES}|{_HOUR})"
_WORD = r"(?:at|a las|um|à|alle|om|kl\.?|às)"
# Four digits are a time of day behind a word or a sign that says so, or in front of a unit.
_FOUR = r"(?:[01]\d|2[0-3])[0-5]\d"
_BEHIND = re.compile(
    rf"(?:(?:T|\s*[,;(@]\s*|\s+{_WORD}?\s*){_CLOCK}"
    rf"|(?:\s*@\s*|\s+{_WORD}\s*){_FOUR}(?:\s?{_UNIT})?|\s+{_FOUR}\s?{_UNIT})\)?\s*$"
)
_ALONE = re.compile(rf"\s*{_CLOCK}\s*")
_BARE = re.compile(r"\s*(?P<sign>[,;(]?)\s*(?P<first>\d{1,2})\.(?P<second>\d{2})\)?\s*")


def is_time(text: str) -> bool:
    """Whether a text is a time of day, and no day with a month.

    Examples
    --------
    >>> [is_time(text) for text in ("14:30", "2 pm", "14.30", "04.03", "14.30 Uhr")]
    [True, True, True, False, True]
    """
    return _ALONE.fullmatch(text) is not None and not _may_be_date(text)


def time_behind(text: str) -> int | None:
    """Position at which the time of day after a date begins, with the separators before it; None without a time.

    Examples
    --------
    >>> [time_behind(text) for text in ("3/4/2011 14:30", "3/4 @1430", "03.03., 04.03", "3/4/2011")]
    [8, 3, None, None]
    """
    found = _BEHIND.search(text)
    if found is None or found.start() == 0:
        return None
    # "02.03., 04.03" are two days.
    is_list = found[0].lstrip()[:1] in (",", ";", "(") and "." in text[: found.start()]
    return None if is_list and _may_be_date(found[0]) else found.start()


def _may_be_date(text: str) -> bool:
    """Whether a text is just two numbers that may be a day and a month: a date must not remain unchanged."""
    found = _BARE.fullmatch(text)
    if found is None:
        return False
    low, high = sorted((int(found["first"]), int(found["second"])))
    return 1 <= low <= 12 and high <= 31
