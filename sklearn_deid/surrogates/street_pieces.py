"""Pieces of a written street that are told by their neighbours: numbers of floors, doors, and words for numbers."""

from __future__ import annotations

import re
from functools import cache

from .dates import ORDINAL_ENDINGS, ordinal_ending
from .folding import fold
from .locale_words import LocaleWords
from .number_surrogates import ROMAN

# "Number" and its abbreviations in the languages of all locales, without signs. They are public if a number follows.
NUMBER_WORDS = frozenset(("n", "no", "nr", "nro", "num", "numero", "nummer", "number"))
_HYPHENS = ("-", "\u2010", "\u2011")


#: Points of the compass in English addresses, as letters.
COMPASS = ("N", "S", "E", "W", "NE", "NW", "SE", "SW")
#: The same points, as words.
COMPASS_WORDS = ("North", "South", "East", "West", "Northeast", "Northwest", "Southeast", "Southwest")


def compass_point(piece: str, locale: str) -> str | None:
    """Letters of a point of the compass; None for other words. Words are points in English only.

    Examples
    --------
    >>> compass_point("N.", "en"), compass_point("NORTH", "en"), compass_point("North", "de"), compass_point("n", "en")
    ('N', 'N', None, None)
    """
    letters = piece.rstrip(".")
    if letters in COMPASS:
        return letters
    is_word = locale == "en" and piece.capitalize() in COMPASS_WORDS
    return COMPASS[COMPASS_WORDS.index(piece.capitalize())] if is_word else None


def is_before_number(pieces: list[str], i: int) -> bool:
    """Whether a piece is a letter directly before a number: Gate B12."""
    return len("".join(pieces[i : i + 1])) == 1 and pieces[i].isalpha() and pieces[i + 1 : i + 2] > ["0"]


def is_word_for_number(pieces: list[str], i: int) -> bool:
    """Whether a piece is the word for "number" or its abbreviation (n.\u00ba, Nr.), directly before a number."""
    letters = fold(re.sub(r"[.\u00ba\u00aa]", "", pieces[i]))
    behind = "".join(pieces[i + 1 :]).lstrip(" .\u00ba\u00b0")
    return letters in NUMBER_WORDS and behind[:1].isdigit()


def is_floor(pieces: list[str], i: int) -> bool:
    """Whether a piece is a Roman numeral directly after a number, such as the floor in "12-II"."""
    is_behind_number = i > 1 and pieces[i - 1] in (" ", "-") and pieces[i - 2].isdigit()
    return is_behind_number and ROMAN.fullmatch(pieces[i]) is not None


def written_length(piece: str, suffix: str, length: int) -> int | None:
    """Number of characters at the end of ``piece`` that fold to the suffix; None if it starts within a character."""
    return next((n for n in range(1, length + 1) if fold(piece[-n:]).rstrip(".") == suffix), None)


def before_apostrophe(text: str) -> str:
    """Word before an apostrophe at the end of a text; empty for other texts."""
    found = re.search(r"([^\W\d_]+)['\u2019]$", text)
    return found[1] if found else ""


def end_of_name(pieces: list[str], kept: list[bool], start: int) -> int:
    """End of the run of words that starts here; ``start`` if no run of words starts here."""
    stop = i = start
    while i < len(pieces) and (not kept[i] or pieces[i] in (" ", "-", "'", "\u2019", "\u00b4")):
        if not kept[i]:
            stop = i + 1
        elif i == start:
            return start
        if is_before_number(pieces, i + 1):
            break
        i += 1
    return stop


@cache
def words_with_dots(words: LocaleWords) -> tuple[frozenset[str], frozenset[str]]:
    """Folded words of streets with a dot inside, and street types of one letter and a dot."""
    types = words.block("street types")
    dotted = (word for word in (*words.block("street tail words"), *types) if "." in word[:-1])
    return frozenset(map(fold, dotted)), frozenset(fold(word) for word in types if len(word) == 2 and word[1] == ".")


def is_ordinal_ending(pieces: list[str], i: int) -> bool:
    """Whether a piece is the ending of an ordinal: 5th, 5-th, 5 th; not the saint of "12 St James Ave"."""
    before = pieces[max(i - 2, 0) : i]
    if not before or fold(pieces[i]) not in ORDINAL_ENDINGS:
        return False
    if before[-1].isdigit():
        return True
    is_apart = before[-1] in _HYPHENS or (before[-1] == " " and pieces[i].islower())
    return is_apart and before[0].isdigit() and ordinal_ending(int(before[0])) == fold(pieces[i])
