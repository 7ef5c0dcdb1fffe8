"""Recognition of written dates in eight languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from .clock_times import is_time, may_be_date, time_behind, without_distance
from .date_numbers import compact_pieces, full_year, is_compact, number_roles
from .folding import fold
from .locale_words import LocaleWords
from .relative_dates import end_of_distance, is_relative, year_behind
from .written_date import (
    DAY,
    DECADE,
    HOLIDAY,
    LITERAL,
    MONTH,
    MONTH_NAME,
    ORDINAL,
    QUARTER,
    SEASON,
    WEEKDAY,
    YEAR,
    WrittenDate,
    ordinal_sign,
    weekday_number,
)

# The degree sign is written for the sign of the masculine ordinal: "1\u00b0 marzo". Signs of ordinals may follow a full
# stop or a blank: "1.\u00ba de maio", "1 er mai".
_PIECES = re.compile(r"\d+|(?<=\d)(?:\.?[\u00ba\u00aa\u00b0]|\.o\b|[ -]er\b|\^)|[^\W\d_]+|[\W_]+", re.IGNORECASE)
# Separators of ranges; those that are also inside of dates come last.
_RANGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\s+(?:to|through|until|and|a|al|hasta|y|bis|und|au|et|tot|en|til|og|t/m|e|at\u00e9)\s+",
        r"\s+[-\u2013/]\s+",
        r"\s*[-\u2013]\s*",
        r"\s*[,;&]\s+",
        r"/",
    )
)
# Days behind the name of a month: "March 3-7, 2021", "May 3rd to 7th".
_DAYS_BEHIND = re.compile(
    r"(?P<month>[^\W\d_]+\.?\s+)(?P<first>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
    r"(?P<between>\s*[-\u2013&]\s*|\s+(?:to|through|until|and)\s+)"
    r"(?P<last>(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+\d{4})?)\s*",
    re.IGNORECASE,
)
# Two numbers that begin a date, also a date behind the hyphen of a range; not the month and the day behind a year, and
# not the year before the hyphen ("5/10/22 - 5/30/22").
_DAY_AND_MONTH = re.compile(
    r"(?<!\d)(?<!\d{4}[-/.])(?P<a>\d{1,2})\s*(?P<sign>[/.|-])\s*(?P<b>\d{1,2})\b(?:\s*(?P=sign)\s*\d{2,4}\b)?"
)
# A month and the last digits of a year, or the first day of a range of such dates.
_TWO_NUMBERS = re.compile(r"\s*(\d{1,2})\s*[/-]\s*(\d{2})\s*")
_NAME_AND_YEAR = re.compile(
    r"(\S.*?)(\s+weekend|\s?wochenende|\s+week-end|\s?helgen?)?(?:([\s,/]+(?:of\s+|de\s+)?)(\d{4})(\s*))?",
    re.DOTALL | re.IGNORECASE,
)
_NUMERIC_DATE = re.compile(r"\D{1,3}\d{1,2}(?:/\d{1,2}(?!\d)|([.-])\d{1,2}\1\d{2})")
# A time of day behind a full date; not 2012, which may be a year.
_FOUR_DIGITS = re.compile(r"\s+(?!19|20[0-2]\d)(?:[01]\d|2[0-3])[0-5]\d\s*$")
# Norwegian: 4/3-11 is the 4th of March 2011, and "mars -11" is March 2011.
_DAY_MONTH_YEAR = re.compile(r"\d{1,2}/\d{1,2}\s?[-\u2013]\s?(?:\d{2}|\d{4})")
_YEAR_SIGNS = (" -", " \u2013")
_ORDINALS = frozenset(("st", "nd", "rd", "th", "er", "o", "\u00b0", "^"))
# Plural articles before a decade.
_ARTICLES = tuple(f"{article} {sign}" for article in ("los", "les") for sign in ("", "'", "\u2019"))
# Monday is the "2\u00aa feira" of the Portuguese week.
_NUMBERED_WEEKDAY = re.compile(r"\d\W*a?\W*feira")


def parse_dates(text: str, words: LocaleWords, day_first: bool) -> tuple[WrittenDate, ...] | None:
    """Recognise a date, or a range of two dates.

    Parameters
    ----------
    text : str
        Date as it is written in the note.
    words : LocaleWords
        Names of months, days, seasons and holidays.
    day_first : bool
        Whether 3/4/2011 is the 3rd of April.

    Returns
    -------
    tuple of WrittenDate, or None
        Dates, whose pieces form the text when they are joined. None if the form is unknown.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> parse_dates("14 de marzo de 2011", locale_words("es"), day_first=True)
    (WrittenDate(day, month_name, year),)
    """
    if (found := _days_behind_month(text, words)) is not None:
        return found
    if (whole := _parse_one(text, words, day_first)) is not None:
        return (whole,)
    # Each separator is tried at each of its places, since hyphens and strokes also occur inside of dates.
    for pattern in _RANGES:
        for between in pattern.finditer(text):
            halves = text[: between.start()], text[between.end() :]
            if between[0] == "/" and "/" in "".join(halves):
                continue  # "mar. 6/3/12" is no range
            left, right = (_parse_one(half, words, day_first) for half in halves)
            if left and right and _are_alike(left := _as_month(left, right), right):
                first, last = _padded_as(_filled(left, right), right), _padded_as(_with_year_of(left, right), left)
                return first, WrittenDate(((between[0], LITERAL),)), last
    return None


def _as_month(left: WrittenDate, right: WrittenDate) -> WrittenDate:
    """Read the first number of a range of months, such as "03 - 05/2021", as a month; return other dates unchanged."""
    is_number = [role for _, role in left.pieces if role != LITERAL] == [DAY]
    if not is_number or right.day is not None or right.month is None or right.year is None or (left.day or 0) > 12:
        return left
    month = left.day or 0
    year = right.year - (month > right.month)
    pieces = tuple((text, MONTH if role == DAY else role) for text, role in left.pieces)
    return replace(left, pieces=pieces, day=None, month=month, year=year)


def _padded_as(one: WrittenDate, other: WrittenDate) -> WrittenDate:
    """A half of a date range without leading zeros, with the padding of the other half ("12/30-1/2")."""
    mine, others = ([text for text, role in date.pieces if role in (DAY, MONTH)] for date in (one, other))
    is_told = any(text[0] == "0" or len(text) == 1 for text in mine)
    return replace(one, padded=False) if not is_told and any(len(text) == 1 for text in others) else one


def _days_behind_month(text: str, words: LocaleWords) -> tuple[WrittenDate, ...] | None:
    found = _DAYS_BEHIND.fullmatch(text)
    # "Mar 3-07" is a day with a year.
    if found is None or int(found["day"]) <= int(found["first"]) or found["day"][0] == "0" != found["first"][0]:
        return None
    left = _parse_one(text[: found.start("between")], words, False)
    right = _parse_one(found["month"] + found["last"], words, False)
    if left is None or right is None or None in (left.month, left.day, right.month, right.day):
        return None
    bare = right.pieces[len(_PIECES.findall(found["month"])) :]
    right = replace(right, pieces=bare, padded=left.is_padded(), spelled=right)
    return _filled(left, right), WrittenDate(((found["between"], LITERAL),)), right


def _are_alike(left: WrittenDate, right: WrittenDate) -> bool:
    """Whether two dates can be the halves of a range."""
    # A half that no shift changes ("yesterday", 8:30) would let any text around a hyphen pass as a range.
    if left.is_fixed or right.is_fixed or (left.day is None) != (right.day is None):
        return False
    if {"".join(r[0] for _, r in one.pieces if r in (DAY, MONTH)) for one in (left, right)} == {"dm", "md"}:
        return False  # "12.03.-15.03.": one order of day and month for both
    roles = [role for _, role in right.pieces]
    if SEASON in (role for _, role in left.pieces) and {*roles} <= {YEAR, LITERAL}:
        return False  # "Winter 2011/2012" is one winter
    if left.day is not None and left.month is None and MONTH in roles[: roles.index(DAY) if DAY in roles else 0]:
        return False  # "3-7/5": a month before the day does not belong to the first day
    # In "3/4-5", the month may belong to one day only.
    return left.month is None or right.month is not None or right.day is None


def _filled(left: WrittenDate, right: WrittenDate) -> WrittenDate:
    """First date of a range with the month and the year of the second date ("3-5 May 2011")."""
    if left.day is None or right.day is None or right.month is None:
        return left
    year = right.year if left.year is None else left.year
    if left.month is not None:
        if left.year is None and year is not None and (left.month, left.day) > (right.month, right.day):
            year -= 1  # "29 December - 2 January 2012"
        return replace(left, year=year)
    month = right.month
    if left.day > right.day:  # "28.-3.3.2011"
        month, year = (month - 1, year) if month > 1 else (12, None if year is None else year - 1)
    # "03-05 May": the lent month has no digits here; a day of two digits follows the padding of the second date.
    padded = left.is_padded() and right.is_padded()
    return replace(left, month=month, year=year, padded=padded, spelled=_spelled(left, right))


def _with_year_of(left: WrittenDate, right: WrittenDate) -> WrittenDate:
    """Last date of a range in the year of the first date, or in the next year ("30.12.2011 bis 2.1.")."""
    if left.year is None or right.year is not None or None in (left.day, left.month, right.day, right.month):
        return right
    is_next = (right.month or 0, right.day or 0) < (left.month or 0, left.day or 0)
    return replace(right, year=left.year + is_next)


def _spelled(left: WrittenDate, right: WrittenDate) -> WrittenDate | None:
    """Return the first date of a range with the month of the second date: "3 May" for "3" in "3-5 May".

    None if the month is before the day.
    """
    roles = [role for _, role in right.pieces]
    behind = next((i for i, role in enumerate(roles) if role in (MONTH, MONTH_NAME)), 0)
    if roles[0] != DAY or DAY in roles[1:] or behind == 0:
        return None
    day = next(piece for piece in left.pieces if piece[1] == DAY)
    dot = left.pieces[-1:] if roles[behind] == MONTH and left.pieces[-1][1] == LITERAL else ()
    return WrittenDate((day, *right.pieces[1 : behind + 1], *dot), left.year, right.month, left.day)


def is_range_sign(text: str) -> bool:
    """Whether the text between two dates makes them a range."""
    return any(pattern.fullmatch(text) for pattern in _RANGES)


def is_day_first(texts: list[str], default: bool) -> bool:
    """Whether the dates of a note have the day before the month, as numbers above 12 show.

    A month and a year of two digits (04/23, 04-23) give no evidence.

    Examples
    --------
    >>> is_day_first(["3/4/2011", "25/4/2011"], default=False), is_day_first(["3/4/2011"], default=False)
    (True, False)
    >>> is_day_first(["04/23", "05/23", "1.2.2023"], default=True)
    True
    """
    votes = 0
    for text in texts:
        may_be_year = _TWO_NUMBERS.fullmatch(text) is not None
        for found in _DAY_AND_MONTH.finditer(text):
            a, b = int(found["a"]), int(found["b"])
            # Where the day comes first by default, a full stop makes the first number an ordinal: "5.19" is May 2019.
            may_be_month_first = not may_be_year and not (default and found["sign"] == ".")
            votes += (12 < a <= 31 and b <= 12) - (12 < b <= 31 and a <= 12 and may_be_month_first)
    return votes > 0 if votes else default


def are_months_and_years(texts: list[str]) -> bool:
    """Whether dates of two numbers are month and year: no first number, but a second number, is above 12.

    Examples
    --------
    >>> are_months_and_years(["04/23", "05/12"]), are_months_and_years(["04/12", "05/12"])
    (True, False)
    """
    pairs = [(int(found[1]), int(found[2])) for text in texts if (found := _TWO_NUMBERS.fullmatch(text))]
    return all(a <= 12 for a, _ in pairs) and any(b > 12 for _, b in pairs)


def month_and_year(text: str) -> WrittenDate | None:
    """Read two numbers with a slash or a hyphen between them as a month and a year; None for other text."""
    found = _TWO_NUMBERS.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= 12:
        return None
    roles = iter((MONTH, YEAR))
    pieces = tuple((piece, next(roles) if piece.isdecimal() else LITERAL) for piece in _PIECES.findall(text))
    return WrittenDate(pieces, full_year(found[2]), int(found[1]))


def _parse_one(text: str, words: LocaleWords, day_first: bool) -> WrittenDate | None:
    # A time of day, or "yesterday", names no day of the calendar and stays as it is.
    if is_time(text) or fold(text) in words.numbered("relative days") or is_relative(text, words):
        return WrittenDate(((without_distance(text), LITERAL),))
    # The hour behind a date stays: only days are shifted, so that the order within a day is kept.
    clock = time_behind(text)
    if clock is not None:
        before = _parse_one(text[:clock], words, day_first)
        # "March 4 pm": the number may be the day of the month.
        is_possible = before is not None and (before.month is None or before.day is not None)
        # "24/12 und 04.03" are two days.
        if before is None or not is_possible or (may_be_date(text[clock:]) and _is_open(before)):
            return None
        return _joined("", before, without_distance(text[clock:]))
    if (found := year_behind(text, words)) is not None:
        start, years = found
        one = _parse_one(text[:start], words, day_first)
        is_open = one is not None and one.year is None and one.month is not None
        return replace(_joined("", one, text[start:]), years_before=years) if one is not None and is_open else None
    return _named_day(text, words) or _by_pieces(text, words, day_first) or _with_more(text, words, day_first)


def _with_more(text: str, words: LocaleWords, day_first: bool) -> WrittenDate | None:
    """Date with unchanged text around it: a distance before it, or four digits of a time after a full date."""
    if start := end_of_distance(text, words):
        one = _parse_one(text[start:], words, day_first)
        # "two weeks before 14:30" has no day.
        return None if one is None or one.is_fixed else _joined(text[:start], one, "")
    clock = _FOUR_DIGITS.search(text)
    one = _by_pieces(text[: clock.start()], words, day_first) if clock else None
    return _joined("", one, clock[0]) if clock is not None and one is not None and one.is_full else None


def _joined(before: str, one: WrittenDate, behind: str) -> WrittenDate:
    """Date with unchanged text before and after it."""
    around = ((before, LITERAL),), ((behind, LITERAL),)
    pieces = (*around[0], *one.pieces, *around[1])
    return replace(one, pieces=tuple(piece for piece in pieces if piece[0]))


def _is_open(before: WrittenDate) -> bool:
    """Whether a date ends with a word or a sign that links it to another date."""
    text, role = next((text.strip(), role) for text, role in reversed(before.pieces) if text.strip())
    return role == LITERAL and (text.isalpha() or text[-1] in "-\u2013/&")


def _named_day(text: str, words: LocaleWords) -> WrittenDate | None:
    """Holiday or quarter, also with words of dates before it: "last Christmas", "Labor Day weekend", "Q1 2012"."""
    found = _NAME_AND_YEAR.fullmatch(text)
    if found is None:
        return None
    name, weekend, *rest = found.groups("")
    before, first = "", name
    while first and fold(name) not in _named_days(words):
        first, space, behind = name.partition(" ")
        if not space or fold(first) not in words.numbered("date words"):
            return None
        before, name = f"{before}{first} ", behind
    day = _named_days(words)[fold(name)]
    is_quarter = day.isdecimal()
    month, number = (3 * int(day) - 1, None) if is_quarter else map(int, day.split("-"))
    roles = (LITERAL, QUARTER if is_quarter else HOLIDAY, LITERAL, LITERAL, YEAR, LITERAL)
    pieces = zip((before, name, weekend, *rest), roles, strict=True)
    year = full_year(rest[1]) if rest[1] else None
    return WrittenDate(tuple(piece for piece in pieces if piece[0]), year, month, number)


@cache
def _named_days(words: LocaleWords) -> dict[str, str]:
    return {**words.numbered("holidays"), **words.numbered("other holidays"), **words.numbered("quarters")}


def _by_pieces(text: str, words: LocaleWords, day_first: bool) -> WrittenDate | None:
    raw = _PIECES.findall(text)
    roles = list(_word_roles(raw, words))
    # A word that no list knows makes the whole text unknown: a label is safer than half a date.
    if None in roles or _is_counted_weekday(raw, roles):
        return None
    numbers = [i for i, piece in enumerate(raw) if piece.isdecimal()]
    # Where a month is named, a single number of four digits is a year and not 1403 for the 14th of March.
    if len(numbers) == 1 and MONTH_NAME not in roles and is_compact(raw[numbers[0]]):
        i = numbers[0]
        split = compact_pieces(raw[i], day_first)
        if split is None:
            return None
        raw[i : i + 1], roles[i : i + 1] = [text for text, _ in split], [role for _, role in split]
    elif not _give_roles_to_numbers(raw, roles, numbers, words, day_first):
        return None
    return _valued(tuple((text, str(role)) for text, role in zip(raw, roles, strict=True)), words)


def _give_roles_to_numbers(
    raw: list[str], roles: list[str | None], numbers: list[int], words: LocaleWords, day_first: bool
) -> bool:
    """Write the roles of the numbers of a date into ``roles``; False if the numbers do not form a date."""
    # "fall 15", "Herbst 18"
    short = [len(raw[i]) == 2 for i in numbers] if SEASON in roles else _are_short_years(raw, numbers, words)
    found = number_roles([raw[i] for i in numbers], MONTH_NAME in roles, short, day_first)
    is_one_date = words.locale == "nb" and _DAY_MONTH_YEAR.fullmatch("".join(raw))
    if found is None or (_is_list(raw, numbers, roles) and not is_one_date):
        return False
    if not numbers and not set(roles) & {MONTH_NAME, WEEKDAY, SEASON}:
        return False
    sign = "er" if words.locale == "de" else "s"
    if MONTH in found and words.locale == "en" and ORDINAL in roles:
        return False  # "the 5th-7th", "5-7th": two days
    for i, role in zip(numbers, found, strict=True):
        roles[i] = role
        if role == YEAR and roles[i + 1 : i + 2] == [ORDINAL] and raw[i + 1] != sign:
            return False  # "70-er"
        # "Finales de los 90" is a decade, too; "los 94" is none, so that a moved year would reveal the shift.
        if role == YEAR and "".join(raw[:i]).lower().endswith(_ARTICLES):
            if not raw[i].endswith("0"):
                return False
            roles[i] = DECADE
        # "1990s" is a decade; "1995s" is none, and moves as a year. "The 30s" moved as a day would reveal the shift.
        if raw[i + 1 : i + 2] == [sign]:
            if role == YEAR and raw[i].endswith("0"):
                roles[i : i + 2] = DECADE, LITERAL
            elif sign == "er" or role != YEAR:
                return False
    return True


def _word_roles(raw: list[str], words: LocaleWords) -> Iterator[str | None]:
    has_number = any(piece.isdecimal() for piece in raw)
    for i, piece in enumerate(raw):
        after_number = i > 0 and raw[i - 1].isdecimal()
        is_ordinal = after_number and (piece == "\u00aa" or ordinal_sign(piece) in _ORDINALS)
        is_month = words.month_number(piece) is not None
        if is_ordinal:
            yield ORDINAL
        # "mar" is Tuesday and March in Spanish and French: beside a number it is the month, but not in "mar. 6/3/12".
        elif weekday_number(piece, words) is not None and (
            not (is_month and has_number) or _NUMERIC_DATE.match("".join(raw[i + 1 :]))
        ):
            yield WEEKDAY
        elif is_month:
            yield MONTH_NAME
        elif fold(piece) in words.numbered("seasons"):
            yield SEASON
        elif not piece[0].isalpha() or fold(piece) in words.numbered("date words") or (after_number and piece == "s"):
            yield LITERAL
        else:
            yield None


def _is_counted_weekday(raw: list[str], roles: Sequence[str | None]) -> bool:
    """Whether a number counts weekdays, as in "1st Monday in May" and "2\u00aa feira"."""
    return _NUMBERED_WEEKDAY.search(fold("".join(raw))) is not None or any(
        role == ORDINAL and roles[i + 2] == WEEKDAY and raw[i + 1].isspace() for i, role in enumerate(roles[:-2])
    )


def _is_list(raw: list[str], numbers: list[int], roles: list[str | None]) -> bool:
    """Whether numbers belong to several dates: "3., 4.", "4, 3/9", "4-9/2011", "12-17 March"; not "3/4, 2011"."""
    if MONTH_NAME in roles:
        before = [raw[i] for i in numbers if i < roles.index(MONTH_NAME)]
        return len(before) > 1 and max(map(len, before)) < 3
    if any(_RANGES[0].search("".join(raw[a + 1 : b])) for a, b in pairwise(numbers)):
        return True  # "4 and 5"
    between = [{*"".join(raw[a + 1 : b])} & {*"-/.,;&"} for a, b in pairwise(numbers)]
    has_year = bool(numbers) and len(raw[numbers[-1]]) == 4
    if has_year and between and between[-1] <= {","}:
        between.pop()
    return any(signs & {*",;&"} for signs in between) or any(a != b for a, b in pairwise(between))


def _are_short_years(raw: list[str], numbers: list[int], words: LocaleWords) -> list[bool]:
    """Whether each number has the sign of a two-digit year: '11, mar-11, and in Norwegian -11 after a blank."""
    found = []
    for i in numbers:
        sign = raw[i - 1] if i else " "
        # In English, "mar-11" may be the 11th of March.
        is_joined = words.locale != "en" and i > 1 and sign in ("-", "/") and len(raw[i]) == 2
        is_behind_month = is_joined and words.month_number(raw[i - 2]) is not None
        is_marked = sign[-1] in "'\u2019" or (words.locale == "nb" and sign in _YEAR_SIGNS)
        found.append(is_marked or is_behind_month or _is_alone_behind_month(raw, i, words))
    return found


def _is_alone_behind_month(raw: list[str], i: int, words: LocaleWords) -> bool:
    """Whether two digits follow the month of a date without a day: "enero del 11", "noviembre 06".

    If the day comes first in the notes, the two digits are a year, even if they could be a day.
    """
    if words.locale == "en" or len(raw[i]) != 2:
        return False
    month = next((k for k, piece in enumerate(raw[:i]) if words.month_number(piece) is not None), None)
    others = [piece for k, piece in enumerate(raw) if k not in (i, month)]
    has_day = any(piece.isdecimal() or weekday_number(piece, words) is not None for piece in others)
    return month is not None and not has_day


def _valued(pieces: tuple[tuple[str, str], ...], words: LocaleWords) -> WrittenDate | None:
    values: dict[str, int] = {}
    for text, role in pieces:
        if role in (YEAR, DECADE):
            values.setdefault(YEAR, full_year(text))
        elif role in (MONTH, DAY):
            values.setdefault(role, int(text))
        elif role == MONTH_NAME:
            values.setdefault(MONTH, words.month_number(text) or 0)
        elif role == SEASON:
            values.setdefault(SEASON, int(words.numbered("seasons")[fold(text)]))
    if not 1 <= values.get(DAY, 1) <= 31 or not 1 <= values.get(MONTH, 1) <= 12:
        return None
    # Two years (2009-2011), months (May or June) or seasons of one date would be moved as one; "winter 2010-11" has no
    # month.
    roles = [role for _, role in pieces]
    counts = roles.count(YEAR) + roles.count(DECADE), roles.count(MONTH_NAME), roles.count(SEASON)
    if max(counts) > 1 or (SEASON in roles and MONTH in roles and DAY not in roles):
        return None
    if DECADE in roles and WEEKDAY in roles:
        return None  # "die 70er": an article that is also an abbreviation of Dienstag
    return WrittenDate(pieces, values.get(YEAR), values.get(MONTH), values.get(DAY), values.get(SEASON))
