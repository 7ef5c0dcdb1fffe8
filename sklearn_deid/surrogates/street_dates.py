"""Dates that streets are named after: rue du 8 mai 1945, Rua 25 de Abril."""

from __future__ import annotations

from .folding import fold
from .locale_words import LocaleWords
from .own_names import with_case
from .patient_chance import PatientChance

_BETWEEN = frozenset(("de", "del", "do", "er", "\u00ba", "\u00b0"))
# "rue du 8-Mai-1945", a common French form
_HYPHENS = ("-", "\u2010", "\u2011")
_SIGNS = " .\u00ba\u00b0" + "".join(_HYPHENS)
_ARTICLES = frozenset(("de", "del", "du", "des", "do"))
_FIRST_YEAR, _LAST_YEAR = 1800, 1999
_LAST_DAY, _LAST_OF_ALL_MONTHS = 31, 28


class StreetDate:
    """Date in the pieces of a street, which has a day, a month and sometimes a year.

    Parameters
    ----------
    pieces : list of str
        Words, numbers and signs of the street.
    words : LocaleWords
        Months of the locale.

    Attributes
    ----------
    places : list of int
        Positions of the day, the month and the year, and of the words before and behind the day; empty without a date.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> pieces = ["12", " ", "rue", " ", "du", " ", "8", " ", "mai", " ", "1945"]
    >>> StreetDate(pieces, locale_words("fr")).places, StreetDate(pieces[6:], locale_words("fr")).places
    ([4, 5, 6, 7, 8, 10], [])
    """

    def __init__(self, pieces: list[str], words: LocaleWords) -> None:
        self._pieces, self._words = pieces, words
        months = (i for i, piece in enumerate(pieces) if piece.isalpha() and words.month_number(piece) is not None)
        # In English, "12 May St" is the house 12.
        found = ((self._day_before(i), i) for i in months if words.locale != "en")
        self._day, self._month = next(((day, i) for day, i in found if day is not None), (0, 0))
        self._year = self._year_behind() if self._month else None
        years = [] if self._year is None else [self._year]
        self.places = [*range(self._start(), self._month + 1), *years] if self._month else []

    def __repr__(self) -> str:  # nothing of the street
        return f"StreetDate({len(self.places)} pieces)"

    @property
    def name(self) -> str:
        """Day and number of the month; empty without a date."""
        if not self.places:
            return ""
        return f"{int(self._pieces[self._day])} {self._words.month_number(self._pieces[self._month])}"

    def drawn(self, chance: PatientChance) -> dict[int, str]:
        """Another date in the same form, by position."""
        if not self.places:
            return {}
        draws, day, month = (
            chance.again("date of a street", self.name),
            self._pieces[self._day],
            self._pieces[self._month],
        )
        low, high = (1, 9) if len(day) == 1 else (10, _LAST_OF_ALL_MONTHS)
        number = str(draws.number(low, high))
        name = with_case(draws.pick(self._words.block("months")), month)
        # "1er" is written for the first day only, and shows the day.
        is_first = fold(self._pieces[self._day + 1]) == "er"
        out = {self._day: day if is_first else number}
        out[self._month] = name.capitalize() if month.istitle() else name
        if self._year is not None:
            out[self._year] = str(draws.number(_FIRST_YEAR, _LAST_YEAR))
        return out

    def _day_before(self, month: int) -> int | None:
        """Position of the day before a month and behind a type of street."""
        types = self._words.bare("street types")
        day = month - 1
        while day > 0 and (fold(self._pieces[day]) in _BETWEEN or not self._pieces[day].strip(_SIGNS)):
            day -= 1
        is_day = day > 0 and self._pieces[day].isdecimal() and 0 < int(self._pieces[day]) <= _LAST_DAY
        return day if is_day and any(fold(piece).rstrip(".") in types for piece in self._pieces[:day]) else None

    def _start(self) -> int:
        """Position of an article before the day, also in capitals; that of the day without an article."""
        start = self._day
        return start - 2 if start > 1 and fold(self._pieces[start - 2]) in _ARTICLES else start

    def _year_behind(self) -> int | None:
        behind = self._month + 1
        if self._pieces[behind : behind + 1] and self._pieces[behind] in _HYPHENS:
            behind += 1
        while behind < len(self._pieces) and (self._pieces[behind].isspace() or fold(self._pieces[behind]) in _BETWEEN):
            behind += 1
        piece = "".join(self._pieces[behind : behind + 1])
        return behind if len(piece) == 4 and piece.isdecimal() else None
