"""Ages in the forms of notes: numbers, numbers in words, decades, birthdays, and nouns such as "nonagenarian"."""

from __future__ import annotations

from sklearn_deid.surrogates import Chance

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_UNITS = "one two three four five six seven eight nine".split()
_NOUNS = "sexagenarian septuagenarian octogenarian nonagenarian nonagenarian centenarian centenarian".split()
#: Words of ages, in lower case. The most frequent use of "ninety" and "centenarian" in clinical text is an age.
WORDS = frozenset((*_TENS, *_NOUNS, *(ten.removesuffix("y") + "ies" for ten in _TENS)))
_OLD = 0.5  # share of ages of 90 and more, which the Safe Harbor rule removes


def _number(chance: Chance, first: int = 1) -> int:
    return chance.number(90, 108) if chance.happens(_OLD) else chance.number(first, 89)


def any_age(chance: Chance) -> str:
    """An age in digits."""
    return str(_number(chance))


def in_words(chance: Chance) -> str:
    """An age in words, of which half are "ninety" and more."""
    if chance.happens(0.12):
        word = chance.pick(("one hundred", "a hundred", "one hundred and one", "hundred and two", "one hundred three"))
    else:
        ten = "ninety" if chance.happens(_OLD) else chance.pick(_TENS)
        word = ten if chance.happens(0.15) else f"{ten}{chance.pick('-- ')}{chance.pick(_UNITS)}"
    return word.capitalize() if chance.happens(0.1) else word


def decade(chance: Chance) -> str:
    """A decade of life, in digits or in words."""
    number = 90 if chance.happens(_OLD) else chance.number(2, 10) * 10
    if 20 <= number <= 90 and chance.happens(0.35):
        return _TENS[number // 10 - 2].removesuffix("y") + "ies"
    return f"{number}{chance.pick(('s', 's', 's', chr(39) + 's', chr(0x2019) + 's'))}"


def birthday(chance: Chance) -> str:
    """Number of a birthday."""
    return ordinal(_number(chance))


def noun(chance: Chance) -> str:
    """A noun for a person of an age."""
    word = chance.pick(_NOUNS)
    return word.capitalize() if chance.happens(0.1) else word


def ordinal(number: int) -> str:
    """A number with its ending, such as "3rd"."""
    teen = number % 100 // 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
