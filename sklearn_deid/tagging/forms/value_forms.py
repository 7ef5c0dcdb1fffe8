"""Forms of values: whether a passage may be the value of a label of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile, takewhile

_LONGEST_VALUE, _LONGEST_DATE, _MOST_WORDS = 24, 8, 7
_SIGNS = frozenset(",.-'/&")
_SHORT = 3  # letters of particles, initials and degrees
_FEWEST_DIGITS = 6  # of a telephone number
# The sex, and signs and words for about.
_BEFORE_AGES = frozenset("m f w male female man woman / , - ; ~ > . about approx approximately circa ca".split())
_AGES_IN_WORDS = frozenset("ninety hundred".split())
# Inside of phrases with capitals, such as "Walks With Cane".
_OF_PHRASES = frozenset("with after about for the in at".split())
_NO_NAMES = frozenset(
    "none unknown n na same self see yes no not pending tbd other nil as per to the for unable".split()
)


def fitting(kind: str, words: Sequence[str], first: int, stop: int) -> range | None:
    """Range of the tokens that are the value; None if they do not fit the kind.

    Parameters
    ----------
    kind : {"person", "number", "date", "age", "phone", "place", "any"} or other str
        Kind of the label. No value fits an other kind.
    words : sequence of str
        Tokens of a note.
    first, stop : int
        Range of the tokens of a cell, or of a part of the cell.

    Examples
    --------
    >>> fitting("person", ["Roe", ",", "Ann", "41"], 0, 4), fitting("person", ["No", "pain"], 0, 2)
    (range(0, 3), None)
    >>> fitting("age", ["94", "F"], 0, 2), fitting("number", ["Stable"], 0, 1)
    (range(0, 2), None)
    """
    if not 0 < stop - first <= _LONGEST_VALUE:
        return None
    value = range(first, stop)
    tokens = words[first:stop]
    if kind == "person":
        return _name(tokens, first)
    if kind == "any":
        return value if _has_digit(tokens) else _name(tokens, first)
    fits = {
        "number": _has_digit(tokens[:4]),
        "date": _has_digit(tokens) and len(tokens) <= _LONGEST_DATE,
        "age": len(tokens) <= _LONGEST_DATE and _is_age(tokens),
        "phone": sum(map(str.isdigit, "".join(tokens))) >= _FEWEST_DIGITS,
        "place": (tokens[0].isdigit() or tokens[0][0].isupper()) and (tokens[-1] != "." and ":" not in tokens),
    }
    return value if fits.get(kind, False) else None


def _has_digit(tokens: Sequence[str]) -> bool:
    return any(map(str.isdigit, "".join(tokens)))


def _is_age(tokens: Sequence[str]) -> bool:
    first = next(dropwhile(lambda token: token.lower() in _BEFORE_AGES, tokens), "")
    return first.isdigit() or any(token.lower() in _AGES_IN_WORDS for token in tokens[:2])


def _name(tokens: Sequence[str], first: int) -> range | None:
    """Words with capitals and signs of names, up to a number or a bracket."""
    name = [*takewhile(lambda token: token.isalpha() or token in _SIGNS, tokens)]
    if len(name) < len(tokens) and tokens[len(name)] in ":;=%":
        return None
    while name and name[-1] in ",-/&":
        name.pop()
    words = [token for token in name if token not in _SIGNS]
    if not words or len(words) > _MOST_WORDS or words[0].lower() in _NO_NAMES or words[0][0].islower():
        return None
    if any(word.lower() in _OF_PHRASES for word in words[1:-1]):
        return None
    if name[-1] == "." and len(words[-1]) > _SHORT:
        return None
    if any(word[0].islower() for word in words if len(word) > _SHORT):
        return None
    return range(first, first + len(name))
