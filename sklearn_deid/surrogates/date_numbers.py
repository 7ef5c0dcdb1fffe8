"""Roles of the numbers of a written date: day, month and year."""

from __future__ import annotations

import re
from calendar import monthrange

from .written_date import DAY, MONTH, YEAR, WrittenDate

# Two digits below this number are years of this century, as in birth dates of children; all others of the last century.
_PIVOT = 30


def compact_readings(text: str, day_first: bool) -> list[WrittenDate]:
    """Dates that six digits can mean, in the usual order first: with the day, the month or the year first.

    Examples
    --------
    >>> [(one.year, one.month, one.day) for one in compact_readings("140809", day_first=True)]
    [(2009, 8, 14), (2014, 8, 9)]
    """
    if re.fullmatch(r"\d{6}", text) is None:
        return []
    parts = (text[:2], text[2:4], text[4:])
    found = []
    # 141014 is one day with the day and with the year first, but its surrogate is not.
    by_day, by_month = (DAY, MONTH, YEAR), (MONTH, DAY, YEAR)
    usual, other = (by_day, by_month) if day_first else (by_month, by_day)
    for roles in (usual, (YEAR, MONTH, DAY), other):
        by_role = dict(zip(roles, parts, strict=True))
        year, month, day = full_year(by_role[YEAR]), int(by_role[MONTH]), int(by_role[DAY])
        if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
            found.append(WrittenDate(tuple(zip(parts, roles, strict=True)), year, month, day))
    return found


def number_roles(numbers: list[str], has_month: bool, is_short_year: list[bool], day_first: bool) -> list[str] | None:
    """Role of each number of a date; None if the numbers are not a date."""
    values = [int(number) for number in numbers]
    is_year = [short or len(n) == 4 for n, short in zip(numbers, is_short_year, strict=True)]
    # "1430" is a time of day.
    if any(len(n) > 4 or len(n) == 3 or (len(n) == 4 and not _is_year(n)) for n in numbers) or len(numbers) > 3:
        return None
    if has_month and len(numbers) < 2:
        return [YEAR if year or value > 31 else DAY for year, value in zip(is_year, values, strict=True)]
    if has_month:
        roles = [YEAR, DAY] if is_year[0] or values[0] > 31 else [DAY, YEAR]
        is_possible = 1 <= values[roles.index(DAY)] <= 31 and len(numbers[roles.index(YEAR)]) > 1
        return roles if is_possible and len(numbers) == 2 else None
    if len(numbers) > 1:
        return (_two_numbers if len(numbers) == 2 else _three_numbers)(values, is_year, day_first)
    if not numbers or (1 <= values[0] <= 31 and not is_year[0]):
        return [DAY for _ in numbers]
    return [YEAR] if is_year[0] or len(numbers[0]) == 2 else None


def _three_numbers(values: list[int], is_year: list[bool], day_first: bool) -> list[str] | None:
    # Behind a year, the month comes before the day in every language (ISO 8601).
    if is_year[0] or (values[0] > 31 and not is_year[2]):
        rest = _day_and_month(values[1], values[2], False)
        return rest and [YEAR, *rest]
    rest = _day_and_month(values[0], values[1], day_first)
    return rest and [*rest, YEAR]


def _two_numbers(values: list[int], is_year: list[bool], day_first: bool) -> list[str] | None:
    if is_year[0]:
        return [YEAR, MONTH] if 1 <= values[1] <= 12 else [YEAR, YEAR] if is_year[1] else None
    # Where the day comes first, 04/23 has no day.
    may_be_day = not is_year[1] and (not day_first or values[1] <= 12)
    rest = _day_and_month(values[0], values[1], day_first) if may_be_day else None
    return rest or ([MONTH, YEAR] if 1 <= values[0] <= 12 else None)


def _day_and_month(a: int, b: int, day_first: bool) -> list[str] | None:
    can_be_day_first, can_be_month_first = 1 <= a <= 31 and 1 <= b <= 12, 1 <= a <= 12 and 1 <= b <= 31
    if can_be_day_first and (day_first or not can_be_month_first):
        return [DAY, MONTH]
    return [MONTH, DAY] if can_be_month_first else None


def _is_year(digits: str) -> bool:
    return 1800 <= int(digits) <= 2100


def is_compact(digits: str) -> bool:
    """Whether digits contain a day and a month: 6 or 8 digits, or 4 digits that are not a year."""
    return len(digits) in (6, 8) or (len(digits) == 4 and not _is_year(digits))


def compact_pieces(digits: str, day_first: bool) -> list[tuple[str, str]] | None:
    """Pieces of a date without separators: 20110314, 14032011, 140311."""
    has_year = len(digits) == 8 and digits[:2] in ("18", "19", "20")
    # 20092012 has no twentieth month.
    if has_year and _day_and_month(int(digits[4:6]), int(digits[6:]), False) == [MONTH, DAY]:
        return [(digits[:4], YEAR), (digits[4:6], MONTH), (digits[6:], DAY)]
    rest = _day_and_month(int(digits[:2]), int(digits[2:4]), day_first)
    # 110314 may begin with the year, but only where the usual order gives no date.
    if rest is None and len(digits) == 6 and _day_and_month(int(digits[2:4]), int(digits[4:]), False) == [MONTH, DAY]:
        return [(digits[:2], YEAR), (digits[2:4], MONTH), (digits[4:], DAY)]
    if rest is None or (len(digits) == 8 and not _is_year(digits[4:])):
        return None
    parts = zip((digits[:2], digits[2:4], digits[4:]), (*rest, YEAR), strict=True)
    return [(part, role) for part, role in parts if part]


def full_year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < _PIVOT else 1900)
