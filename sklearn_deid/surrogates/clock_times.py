"""Times of day in written dates."""

from __future__ import annotations

import re

_UNIT = r"(?:hrs?|h|Uhr|uur|horas)\b\.?"
_HALF = r"[aApP]\.?[mM]\b\.?"
# Fractions of a second and the offset from UTC: 10:22:00.000+01:00
_ZONE = r"(?::\d{2}(?:\.\d{1,9})?(?:\s?(?:Z|[+-]\d{2}:?\d{2}))?|(?:Z|[+-]\d{2}:\d{2}))?"
# No hour above 24: "31.12" is a day of a month.
_MINUTES = rf"(?<!\d)(?:(?:[01]?\d|2[0-3])[:.h][0-5]\d|24[:.h]00){_ZONE}(?:\s?{_HALF})?(?:\s?{_UNIT})?"
_HOUR = rf"(?<!\d)(?:[01]?\d|2[0-4])\s?(?:{_HALF}|{_UNIT})"
_CLOCK = rf"(?:{_MINUTES}|{_HOUR})"
_WORD = r"(?:at|a las|um|à|alle|om|kl\.?|às)"
# Four digits are a time of day behind a word or a sign that announces a time, or in front of a unit.
_FOUR = r"(?:[01]\d|2[0-3])[0-5]\d"
_BEHIND = re.compile(
    rf"(?:(?:T|\s*[,;(@]\s*|\s+{_WORD}?\s*){_CLOCK}"
    rf"|(?:\s*@\s*|\s+{_WORD}\s*){_FOUR}(?:\s?{_UNIT})?|\s+{_FOUR}\s?{_UNIT}"
    rf"|\s+{_WORD}\s+(?:[01]?\d|2[0-4]))\)?\s*$"
)
# Behind T or seconds: "08:00-09:00" are two times.
_DISTANCE = re.compile(r"((?:T\d{2}|:\d{2}):\d{2}(?:\.\d{1,9})?\s?)[+-]\d{2}(:?)\d{2}(?=\)?\s*$)")
_ALONE = re.compile(rf"\s*{_CLOCK}\s*")
_BARE = re.compile(r"\s*(?P<sign>[,;(]?)\s*(?P<first>\d{1,2})\.(?P<second>\d{2})\)?\s*")


def is_time(text: str) -> bool:
    """Whether a text is a time of day, and not a date of day and month.

    Examples
    --------
    >>> [is_time(text) for text in ("14:30", "2 pm", "14.30", "04.03", "14.30 Uhr")]
    [True, True, True, False, True]
    """
    return _ALONE.fullmatch(text) is not None and not may_be_date(text)


def time_behind(text: str) -> int | None:
    """Position at which the time of day after a date begins, including the separators; None without a time.

    Examples
    --------
    >>> [time_behind(text) for text in ("3/4/2011 14:30", "3/4 @1430", "24/12 kl 10", "03.03. 04.03", "3/4/2011")]
    [8, 3, 5, None, None]
    """
    found = _BEHIND.search(text)
    if found is None or found.start() == 0:
        return None
    before = text[: found.start()]
    # "02.03., 04.03" and "02.03. 04.03" are two days, and "am 04.03" is one.
    is_day = "." in before or not any(map(str.isdigit, before))
    return None if is_day and may_be_date(found[0]) else found.start()


def without_distance(text: str) -> str:
    """Time of day without its offset from UTC.

    The offset shows whether summer time applies. In the notes of a patient, changes of the offset would reveal the
    shift of the dates.

    Examples
    --------
    >>> without_distance("T08:00:00+02:00"), without_distance("T08:00:00Z")
    ('T08:00:00+00:00', 'T08:00:00Z')
    """
    return _DISTANCE.sub(r"\g<1>+00\g<2>00", text)


def may_be_date(text: str) -> bool:
    """Whether a text consists of two numbers that may be a day and a month, since a date must not remain unchanged."""
    found = _BARE.fullmatch(text)
    if found is None:
        return False
    low, high = sorted((int(found["first"]), int(found["second"])))
    return 1 <= low <= 12 and high <= 31
