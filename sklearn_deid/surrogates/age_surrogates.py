"""Surrogates for ages."""

from __future__ import annotations

import re

from .folding import fold
from .locale_words import LocaleWords

AGES = ("keep", "shift", "band")
# Oldest age that is written: HIPAA's Safe Harbor joins all ages from 90 on. Years of a band of ages.
_OLDEST, _BAND = 89, 5
_BEHIND_OLDEST = re.compile(r"90\+(?:\+|s\b)")
# Fractions are parts of their number: 95.5 is written as 90+, and not as 90+.5.
_PIECES = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+|(?:(?![.,]\d)[\W_])+|[\W_]")
_DECIMAL = re.compile(r"(\d+)(?:[.,](\d+))?")
_WORDS = re.compile(r"[^\W\d_]+")
# "9 2" in a scanned note, and "9 | 2" and "9,2" in a note with a sign after each character: 92, and not two ages.
_SPACED = re.compile(r"\d+(?:\s+\d+)+(?![\d/])|(?<!\d)\d(?:\s*[|\u00a6\u2502\u2503,;:*~+\u00b7]\s*\d(?!\d))+(?![\d/])")
# "9O" in a scanned note: 90, and not 9.
_MISREAD = re.compile(r"\d\s?[oO](?![^\W_])")
_HYPHENS = "- \t\r\n\u2010\u2011\u2013"


class AgeSurrogates:
    """Ages of one patient. Ages over 89 become ``90+``.

    Parameters
    ----------
    words : LocaleWords
        Words for units of ages, and number words, of the locale.
    ages : {"keep", "shift", "band"}
        Treatment of ages up to 89 years: unchanged, increased by ``years``, or replaced by the band of five years that
        contains the age.
    years : int, default=0
        Years that are added with "shift". The result is between 1 and 89.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> ages = AgeSurrogates(locale_words("en"), "band")
    >>> ages.surrogate("63 year-old"), ages.surrogate("103"), ages.surrogate("old enough")
    ('60-64 year-old', '90+', None)
    """

    def __init__(self, words: LocaleWords, ages: str, years: int = 0) -> None:
        self._ages, self._years = ages, years
        self._units = words.numbered("age units")
        self._numbers = words.numbered("number words")

    def surrogate(self, text: str) -> str | None:
        """Surrogate of an age in the form of ``text``, or None if the form is unknown."""
        if _MISREAD.search(text) or any(
            int("".join(filter(str.isdecimal, spaced))) > _OLDEST for spaced in _SPACED.findall(text)
        ):
            return None
        pieces = self._joined(_PIECES.findall(text))
        values = [self._value(piece) for piece in pieces]
        if all(value is None for value in values):
            return None
        # "95 years 3 months", "95y 3m", "95 3/12", "95\u00bd": months would make 90+ an exact age again.
        known = [value for value in values if value is not None]
        units = {self._unit(pieces[i + 1 :]) for i, value in enumerate(values) if value is not None}
        has_fraction = any(sign.isnumeric() and not sign.isdecimal() for sign in text)
        # "88-95" has no months.
        if max(known) > _OLDEST and (len(units) > 1 or known[-1] <= _OLDEST or has_fraction):
            return None
        written = [self._piece(pieces, i) for i in range(len(pieces))]
        # "90+" and "90s" stay one sign behind the number.
        return None if None in written else _BEHIND_OLDEST.sub("90+", "".join(map(str, written)))

    def _joined(self, pieces: list[str]) -> list[str]:
        """Pieces, with the words of one number in a single piece: ninety-two, noventa y dos, quatre-vingt-douze."""
        joined: list[str] = []
        for piece in pieces:
            start = self._start_of_number(joined) if self._is_number_word(piece) else len(joined)
            together = "".join((*joined[start:], piece))
            if start < len(joined) and self._value(together) is not None:
                joined[start:] = [together]
            else:
                joined.append(piece)
        return joined

    def _is_number_word(self, piece: str) -> bool:
        return fold(piece) in self._numbers

    def _start_of_number(self, pieces: list[str]) -> int:
        """Position of the last number if the next word can belong to this number; otherwise the end of the pieces."""
        start = len(pieces)
        while start and (not pieces[start - 1].strip(_HYPHENS) or self._units.get(fold(pieces[start - 1])) == "-"):
            start -= 1
        is_word = 0 < start < len(pieces) and pieces[start - 1][0].isalpha()
        return start - 1 if is_word and self._value(pieces[start - 1]) is not None else len(pieces)

    def _value(self, piece: str) -> int | None:
        if number := _DECIMAL.fullmatch(piece):
            is_grouped = number[2] is not None and len(number[2]) == 3  # 1,100 months
            return int(number[1] + number[2]) if is_grouped else int(number[1])
        total: int | None = None
        for word in _WORDS.findall(piece):
            if self._is_number_word(word):
                total = _added(total, int(self._numbers[fold(word)]))
                if total is None:
                    return None
        return total

    def _piece(self, pieces: list[str], i: int) -> str | None:
        piece, value = pieces[i], self._value(pieces[i])
        if value is not None:
            return self._written(piece, value, self._unit(pieces[i + 1 :]))
        is_known = not piece[0].isalpha() or fold(piece) in self._units or piece in ("s", "F", "M", "f", "m")
        return piece if is_known else None

    def _unit(self, behind: list[str]) -> str:
        """Unit of a number: years unless the next unit is months, weeks or days."""
        return next((self._units[fold(p)] for p in behind if self._units.get(fold(p), "-") != "-"), "y")

    def _written(self, piece: str, value: int, unit: str) -> str:
        if unit != "y":
            # An age in months may hide an age over 89 (1,100 months); such a number is no age of a note.
            return piece if value <= 12 * _OLDEST else "90+"
        if value > _OLDEST:
            return "90+"
        if self._ages == "keep":
            return piece
        if self._ages == "shift":
            return str(min(max(value + self._years, 1), _OLDEST))
        low = value - value % _BAND
        return f"{low}-{low + _BAND - 1}"


def _added(total: int | None, number: int) -> int | None:
    """Number that the words so far and the next number word form together; None if they form no number.

    Examples
    --------
    >>> _added(90, 2), _added(4, 20), _added(80, 12), _added(2, 3)
    (92, 80, 92, None)
    """
    if total is None:
        return number
    if (total, number) == (4, 20):
        return 80
    # French counts from 60 and from 80 to 19 more: soixante-douze, quatre-vingt-dix-sept.
    most = 20 if total in (60, 80) else 10
    return total + number if total >= 20 and total % 10 == 0 and 0 < number < most else None
