"""A date as it is written in a note: its parts, the day of the date, and another day in the same form."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from functools import cache

from ..text import apply_casing, casing_pattern
from .dates import ORDINAL_ENDINGS, ordinal_ending
from .folding import fold
from .locale_words import LocaleWords

# Roles of the pieces of a date. LITERAL pieces stay as they are written.
LITERAL, YEAR, MONTH, DAY, MONTH_NAME, WEEKDAY, SEASON, HOLIDAY, ORDINAL, DECADE, QUARTER = (
    "literal year month day month_name weekday season holiday ordinal decade quarter".split()
)
_MIDDLE_OF_YEAR, _MIDDLE_OF_MONTH = (7, 1), 15
_WITHOUT_FEIRA = re.compile(r"\b(s[a\u00e1]b(?:ado)?|dom(?:ingo)?)-feira\b", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class WrittenDate:
    """Pieces of a written date with their roles.

    Parameters
    ----------
    pieces : tuple of (str, str)
        Text and role of each piece. The texts together form the date.
    year, month, day : int or None
        Values of the parts; None for parts that are not written. Years of two digits are years from 1930 to 2029.
    season : int or None
        0 (winter) to 3 (autumn).
    padded : bool or None
        Whether days and months below 10 have a leading zero; None if the date itself shows whether they have.
    spelled : WrittenDate or None
        If a day borrows the month from the other half of a range: the same day with this month.
    years_before : int or None
        Number of years from the date to the date of the note, if the date contains it ("of last year": 1).
    """

    pieces: tuple[tuple[str, str], ...]
    year: int | None = None
    month: int | None = None
    day: int | None = None
    season: int | None = None
    padded: bool | None = None
    spelled: WrittenDate | None = None
    years_before: int | None = None

    def __repr__(self) -> str:  # roles only: the pieces are note text
        return f"WrittenDate({', '.join(role for _, role in self.pieces if role != LITERAL)})"

    @property
    def is_full(self) -> bool:
        """Whether day, month and year are written."""
        return None not in (self.year, self.month, self.day)

    @property
    def has_short_year(self) -> bool:
        """Whether the year has two digits, so that its century is guessed."""
        return any(role == YEAR and len(text) == 2 for text, role in self.pieces)

    @property
    def is_fixed(self) -> bool:
        """Whether the text contains no day of the calendar, such as "yesterday" or a time of day."""
        return all(role == LITERAL for _, role in self.pieces)

    @property
    def borrows_month(self) -> bool:
        """Whether the month is in the other half of a range ("3" in "3-7 May")."""
        roles = {role for _, role in self.pieces}
        return self.day is not None and self.month is not None and not roles & {MONTH, MONTH_NAME, HOLIDAY}

    def resolved(self, reference: date) -> date:
        """Day of the date; parts that are not written are taken from a reference day of the note.

        A year alone is read as the middle of the year, and a month alone as the 15th of the month. The 29th of February
        without a year is read in a leap year. Days that do not exist are read as the last day of their month.
        """
        year = reference.year - (self.years_before or 0) if self.year is None else self.year
        if self.season is not None and self.month is None:
            return date(year, 3 * self.season + 1, _MIDDLE_OF_MONTH)
        if self.month is None:
            month, day = _MIDDLE_OF_YEAR if self.day is None else (reference.month, self.day)
        else:
            month, day = self.month, self.day or _MIDDLE_OF_MONTH
        if (month, day) == (2, 29) and self.year is None and not calendar.isleap(year):
            # 29 February without a year: the next leap year, since the day before or after would be another date.
            year += 4 - year % 4
        # "31" beside a reference day in a shorter month.
        return date(year, month, min(day, calendar.monthrange(year, month)[1]))

    def written(self, new: date, old: date, words: LocaleWords) -> str:
        """Write the day ``new`` in this form.

        Parameters
        ----------
        new, old : date
            New day, and the day of this date.
        words : LocaleWords
            Names of months and days.
        """
        padded = self.is_padded()
        pieces = [self._piece(text, role, new, old, words, padded) for text, role in self.pieces]
        for i, (before, role) in enumerate(self.pieces[:-1]):
            # No full stop behind a whole name: "Jan. 5" becomes "May 5".
            is_whole = role == MONTH_NAME and _is_whole_name(pieces[i], words) and not _is_whole_name(before, words)
            if is_whole and pieces[i + 1][0] == ".":
                pieces[i + 1] = pieces[i + 1][1:]
        text = "".join(pieces)
        # The other days of the Portuguese week are "terça-feira".
        return _WITHOUT_FEIRA.sub(r"\1", text) if words.locale == "pt" else text

    def is_padded(self) -> bool:
        """Whether days and months below 10 have a leading zero."""
        if self.padded is not None:
            return self.padded
        numbers = [text for text, role in self.pieces if role in (DAY, MONTH)]
        if any(text[0] == "0" for text in numbers):
            return True
        # "the 13th", "Friday 13": a day behind a word has no zero of its own, except in "13MAR11".
        roles = [role for _, role in self.pieces]
        has_month = MONTH_NAME in roles and LITERAL in roles
        has_word = has_month or ORDINAL in roles or (WEEKDAY in roles and len(numbers) == 1)
        return not has_word and all(len(text) == 2 for text in numbers)

    def _needs_ordinal(self) -> bool:
        """Whether the first day of a month is written as an ordinal number in French, and this date has no ordinal."""
        roles = [role for _, role in self.pieces]
        return MONTH_NAME in roles and ORDINAL not in roles

    def _piece(self, text: str, role: str, new: date, old: date, words: LocaleWords, padded: bool) -> str:
        if role == DAY and new.day == 1 and words.locale == "fr" and self._needs_ordinal():
            return "1er"
        if role in (DAY, MONTH):
            return f"{getattr(new, role):0{2 if padded else 1}d}"
        if role == YEAR:
            return f"{new.year:04d}" if len(text) == 4 else f"{new.year % 100:02d}"
        if role == DECADE:
            return f"{new.year // 10 * 10:04d}" if len(text) == 4 else f"{new.year % 100 // 10}0"
        if role == ORDINAL:
            return _ordinal(text, new.day, old.day)
        if role == MONTH_NAME:
            # "May" is a name and an abbreviation: an abbreviation where nothing is written apart (14May2011).
            texts = [piece for piece, _ in self.pieces]
            is_tight = any(map(str.isdecimal, texts)) and not any(" " in piece for piece in texts)
            return _named(text, words, "month", new.month - 1, is_tight)
        if role == WEEKDAY:
            shift = (new - old).days
            return _named(text, words, "weekday", (_weekday(text, words) + shift) % 7)
        if role == QUARTER:
            listed = [entry.partition("=")[0] for entry in words.block("quarters")]
            i = list(map(fold, listed)).index(fold(text))
            # Four by four in one form: Q1, Q2, Q3, Q4, first quarter, ...
            return apply_casing(listed[i - i % 4 + (new.month - 1) // 3], casing_pattern(text))
        if role == SEASON:
            return _season(text, new.month % 12 // 3, words)
        return _holiday(text, new, words) if role == HOLIDAY else text


def weekday_number(word: str, words: LocaleWords) -> int | None:
    """Number of a weekday from its name or abbreviation, Monday being 0; None for other words."""
    return _weekdays(words).get(fold(word))


@cache
def _weekdays(words: LocaleWords) -> dict[str, int]:
    """Numbers of names and abbreviations."""
    others = {name: int(number) - 1 for name, number in words.numbered("other weekdays").items()}
    names, short = (enumerate(words.numbered(block)) for block in ("weekdays", "weekday abbreviations"))
    return others | {name: i for i, name in short} | {name: i for i, name in names}


def _weekday(word: str, words: LocaleWords) -> int:
    number = weekday_number(word, words)
    assert number is not None  # the parser gave the role
    return number


def _named(text: str, words: LocaleWords, unit: str, index: int, prefers_short: bool = False) -> str:
    names = words.block(f"{unit}s")
    folded = fold(text)
    is_short = folded in words.numbered(f"{unit} abbreviations")
    is_listed = folded in words.numbered(f"{unit}s") or (unit == "month" and folded in words.numbered("other months"))
    is_name = is_listed and not (is_short and prefers_short)
    name = (names if is_name else words.block(f"{unit} abbreviations"))[index]
    return name if fold(name)[:1] != name[:1].lower() and text.islower() else apply_casing(name, casing_pattern(text))


def _is_whole_name(month: str, words: LocaleWords) -> bool:
    return fold(month) in words.numbered("months")


def ordinal_sign(piece: str) -> str:
    """Ending of an ordinal number without the signs before it, folded: "er" of " er", "o" of ".\u00ba"."""
    return fold(piece).strip(" .-")


def _ordinal(text: str, day: int, old: int) -> str:
    """Ending of an ordinal number: st, nd, rd, th in English, er or nothing in French, a sign or nothing elsewhere."""
    folded = ordinal_sign(text)
    if folded not in ORDINAL_ENDINGS:
        # The sign of the first alone: on another day, it would reveal that the date was the first of a month.
        return text if day == 1 or (folded != "er" and old != 1) else ""
    ending = ordinal_ending(day)
    return ending.upper() if text.isupper() else ending


def _season(text: str, season: int, words: LocaleWords) -> str:
    table = words.numbered("seasons")
    mine = [word for word, value in table.items() if value == table[fold(text)]]
    raw = {fold(word): word for word in (entry.partition("=")[0] for entry in words.block("seasons"))}
    others = [raw[word] for word, value in table.items() if value == str(season)]
    # "fall" and "autumn" are one season. The place among the synonyms is kept where the other season has as many.
    name = others[min(mine.index(fold(text)), len(others) - 1)]
    return apply_casing(name, casing_pattern(text)) if text[0].isupper() else name


def _holiday(text: str, new: date, words: LocaleWords) -> str:
    """Holiday next to the day."""

    def distance(entry: str) -> int:
        month, day = map(int, entry.partition("=")[2].split("-"))
        apart = abs((date(2001, month, day) - date(2001, new.month, min(new.day, 28))).days)
        # Around the turn of the year: 31 December is one day from New Year.
        return min(apart, 365 - apart)

    name = min(words.block("holidays"), key=distance).partition("=")[0]
    return name.upper() if text.isupper() else name.lower() if text.islower() else name
