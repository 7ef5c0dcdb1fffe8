"""Written forms of dates and times in notes, and arithmetic with dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from .chance import Chance
from .word_list import word_list

_MONTHS = tuple("January February March April May June July August September October November December".split())
_WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())


def _name(day: date) -> str:
    return _MONTHS[day.month - 1]


def ordinal_ending(number: int) -> str:
    """English ending of an ordinal number.

    Examples
    --------
    >>> [ordinal_ending(n) for n in (1, 12, 22, 113)]
    ['st', 'th', 'nd', 'th']
    """
    return "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _ordinal(number: int) -> str:
    return f"{number}{ordinal_ending(number)}"


#: Endings of English ordinal numbers.
ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th"))

# Month names come from the tuple above: ``strftime`` would follow the locale of the machine.
DATE_FORMS: dict[str, Callable[[date], str]] = {
    "03/14/2011": lambda d: f"{d.month:02d}/{d.day:02d}/{d.year}",
    "3/14/11": lambda d: f"{d.month}/{d.day}/{d.year % 100:02d}",
    "3/14/2011": lambda d: f"{d.month}/{d.day}/{d.year}",
    "3-14-11": lambda d: f"{d.month}-{d.day}-{d.year % 100:02d}",
    "2011-03-14": lambda d: d.isoformat(),
    "03.14.11": lambda d: f"{d.month:02d}.{d.day:02d}.{d.year % 100:02d}",
    "March 14, 2011": lambda d: f"{_name(d)} {d.day}, {d.year}",
    "Mar 14, 2011": lambda d: f"{_name(d)[:3]} {d.day}, {d.year}",
    "14 March 2011": lambda d: f"{d.day} {_name(d)} {d.year}",
    "14-Mar-2011": lambda d: f"{d.day:02d}-{_name(d)[:3]}-{d.year}",
    "14MAR11": lambda d: f"{d.day:02d}{_name(d)[:3].upper()}{d.year % 100:02d}",
    "20110314": lambda d: f"{d.year}{d.month:02d}{d.day:02d}",
    "March 14th, 2011": lambda d: f"{_name(d)} {_ordinal(d.day)}, {d.year}",
}


def short_form(day: date, chance: Chance) -> str:
    """Write a date without its year: ``"3/14"``, ``"March 14"``, ``"Mar 14th"`` or ``"14th of March"``.

    Examples
    --------
    >>> any(sign in short_form(date(2011, 3, 14), Chance(0)) for sign in ("3/14", "Mar", "03-14"))
    True
    """
    return chance.pick(
        (
            f"{day.month}/{day.day}",
            f"{day.month}/{day.day}",
            f"{day.month:02d}/{day.day:02d}",
            f"{day.month:02d}-{day.day:02d}",
            f"{_name(day)} {day.day}",
            f"{_name(day)[:3]} {_ordinal(day.day)}",
            f"{_ordinal(day.day)} of {_name(day)}",
        )
    )


def month_form(day: date, chance: Chance) -> str:
    """Write a month: ``"March 2011"``, ``"3/2011"``, ``"March of 2011"``, ``"Mar '11"`` or ``"March"``."""
    return chance.pick(
        (
            f"{_name(day)} {day.year}",
            f"{day.month}/{day.year}",
            f"{day.month:02d}/{day.year % 100:02d}",
            f"{_name(day)} of {day.year}",
            f"{_name(day)[:3]} '{day.year % 100:02d}",
            _name(day),
            _name(day),
        )
    )


def season_form(day: date, chance: Chance) -> str:
    """Write a season: ``"fall 2010"``, ``"fall"`` or ``"winter of 2010"``, without a word such as "last" or "the"."""
    season = ("winter", "spring", "summer", "fall")[day.month % 12 // 3]
    return chance.pick((f"{season} {day.year}", season, f"{season} of {day.year}"))


def weekday_name(day: date, chance: Chance) -> str:
    """Write a weekday: ``"Monday"``, or ``"Mon"`` with a probability of 0.1."""
    name = _WEEKDAYS[day.weekday()]
    return name[:3] if chance.happens(0.1) else name


def holiday(chance: Chance) -> str:
    """Draw a holiday, such as ``"Labor Day"``."""
    return chance.pick(word_list("holidays", "holidays"))


def clock(minutes: int, form: int) -> str:
    """Write a time of day in one of four forms. A time of day is not PHI.

    Examples
    --------
    >>> [clock(1170, form) for form in range(4)]
    ['1930', '19:30', '7:30 PM', '7:30pm']
    """
    hour, minute = minutes // 60 % 24, minutes % 60
    half = "PM" if hour > 11 else "AM"
    short = f"{hour % 12 or 12}:{minute:02d}"
    return (f"{hour:02d}{minute:02d}", f"{hour:02d}:{minute:02d}", f"{short} {half}", f"{short}{half.lower()}")[form]


def shift(day: date, days: int) -> date:
    """The day that lies ``days`` later."""
    return day + timedelta(days=days)


def years_between(birth: date, day: date) -> int:
    """Age in whole years on ``day``.

    Examples
    --------
    >>> years_between(date(1950, 6, 1), date(2011, 3, 14))
    60
    """
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
