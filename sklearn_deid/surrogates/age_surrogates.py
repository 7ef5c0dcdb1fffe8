"""Surrogates for ages."""

from __future__ import annotations

import re

from .folding import fold
from .locale_words import LocaleWords

AGES = ("keep", "shift", "band")
_OLDEST, _BAND = 89, 5
_PIECES = re.compile(r"\d+|[^\W\d_]+|[\W_]+")


class AgeSurrogates:
    """Ages of one patient. Ages over 89 become ``90+``.

    Parameters
    ----------
    words : LocaleWords
        Units of ages and number words of the locale.
    ages : {"keep", "shift", "band"}
        Treatment of ages up to 89 years: unchanged, moved by ``years``, or the band of five years around them.
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
        """Age in the form of ``text``, or None if no rule knows the form."""
        pieces = self._joined(_PIECES.findall(text))
        if not any(self._value(piece) is not None for piece in pieces):
            return None
        written = [self._piece(pieces, i) for i in range(len(pieces))]
        return None if None in written else "".join(map(str, written))

    def _joined(self, pieces: list[str]) -> list[str]:
        """Pieces with tens and ones of number words in one piece."""
        joined: list[str] = []
        for piece in pieces:
            tens = self._numbers.get(fold(joined[-2]), "0") if len(joined) > 1 and joined[-1] in ("-", " ") else "0"
            if int(tens) >= 20 and 0 < int(self._numbers.get(fold(piece), "0")) < 10:
                joined[-2:] = ["".join((*joined[-2:], piece))]
            else:
                joined.append(piece)
        return joined

    def _value(self, piece: str) -> int | None:
        if piece.isdecimal():
            return int(piece)
        parts = [self._numbers.get(fold(part)) for part in re.split(r"[- ]", piece) if part]
        return None if not parts or None in parts else sum(int(part) for part in parts if part is not None)

    def _piece(self, pieces: list[str], i: int) -> str | None:
        piece, value = pieces[i], self._value(pieces[i])
        if value is not None:
            return self._written(piece, value, self._unit(pieces[i + 1 :]))
        is_known = not piece[0].isalpha() or fold(piece) in self._units or piece in ("s", "F", "M", "f", "m")
        return piece if is_known else None

    def _unit(self, behind: list[str]) -> str:
        """Unit of a number: years unless the next unit says months, weeks or days."""
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
