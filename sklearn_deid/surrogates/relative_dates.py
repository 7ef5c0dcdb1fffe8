"""Distances between dates in words: "two days ago", "two weeks before" Christmas, March "of last year"."""

from __future__ import annotations

import re
from functools import cache

from .folding import fold
from .locale_words import LocaleWords

_TOKENS = re.compile(r"\d+|[^\W\d_]+|[\W_]+")
# Ages above 89 are no longer exact, and a birth so many years ago would tell one. "Quatre-vingt-dix" has three words.
_MOST_UNITS, _MOST_WORDS = 89, 2


def is_relative(text: str, words: LocaleWords) -> bool:
    """Whether a text is a distance from a day that is not in the text, such as "two days ago" and "last week".

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [is_relative(text, locale_words("en")) for text in ("two days ago", "3 weeks later", "March", "3 days")]
    [True, True, False, False]
    """
    tokens = _TOKENS.findall(text)
    return _is_distance(tokens, words) and any(fold(token) in words.numbered("date directions") for token in tokens)


def end_of_distance(text: str, words: LocaleWords) -> int:
    """Number of characters of a distance before a date, with the blanks after the distance; 0 without a distance.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> text = "two weeks before Christmas 2012"
    >>> text[: end_of_distance(text, locale_words("en"))]
    'two weeks before '
    """
    tokens = _TOKENS.findall(text)
    ends = (
        i + 1
        for i in range(1, len(tokens) - 1)
        if tokens[i].isspace() and fold(tokens[i - 1]) in words.numbered("date links")
    )
    found = [end for end in ends if _is_distance(tokens[:end], words)]
    return sum(map(len, tokens[: found[-1]])) if found else 0


def year_behind(text: str, words: LocaleWords) -> tuple[int, int] | None:
    """Position of words such as "last year" at the end of a date, and the number of years back; None without them.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> year_behind("March of last year", locale_words("en"))
    (9, 1)
    """
    found = _year_pattern(words).search(fold(text))
    if found is None or len(fold(text)) != len(text):
        return None
    return found.start(), int(words.numbered("years of dates")[found[1]])


def _is_distance(tokens: list[str], words: LocaleWords) -> bool:
    """Whether tokens consist of a unit of time, public words, and numbers below 90 that count units."""
    units, counts = _units(words), words.numbered("number words")
    named = [fold(token) for token in tokens if token[0].isalnum()]
    signs = "".join(token for token in tokens if not token[0].isalnum())
    numbers = [int(counts[one]) for one in named if one in counts]
    for one, behind in zip(named, [*named[1:], ""], strict=False):
        if one.isdecimal() and (int(one) > _MOST_UNITS or len(one) > 2 or behind not in units):
            return False
        if not one.isdecimal() and one not in _known(words):
            return False
    is_small = len(numbers) <= _MOST_WORDS and max(numbers, default=0) <= _MOST_UNITS
    return is_small and any(one in units for one in named) and not signs.strip(" \n-'\u2019,")


@cache
def _units(words: LocaleWords) -> frozenset[str]:
    return frozenset(unit for unit, kind in words.numbered("age units").items() if kind in "ymwd" and len(unit) > 1)


@cache
def _known(words: LocaleWords) -> frozenset[str]:
    blocks = ("date directions", "date links", "date fillers", "number words")
    return _units(words).union(*(words.numbered(block) for block in blocks))


@cache
def _year_pattern(words: LocaleWords) -> re.Pattern[str]:
    phrases = "|".join(sorted(map(re.escape, words.numbered("years of dates")), key=len, reverse=True))
    return re.compile(rf"(?<!\w)({phrases})\s*$")
