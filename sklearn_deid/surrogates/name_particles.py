"""Particles of names, such as "van" and "de la", and words of names that are joined by hyphens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from .folding import fold
from .locale_words import LocaleWords
from .word_list import word_list

APOSTROPHES = ("'", "\u2019")
# Particles that begin no name, since they are given names there; others do: De Luca.
_NEVER_FIRST = ("al", "el")
# Particles that follow another particle. "Le" is also a surname.
_SECOND = ("der", "den", "dem", "la", "las", "los")
# Word processors write a dash for the hyphen of "Smith\u2013Jones".
_JOINERS = ("-", "\u2010", "\u2011", "\u2013", *APOSTROPHES)
_LINE_BREAK = re.compile(r"(?<=[-\u2010\u2011])\s*\n\s*")
# Words of one letter that link two surnames or two persons, with the languages in which they are particles.
_CONJUNCTIONS = {"Y": ("es",), "E": ("it", "pt")}
# Articles before the plural of a surname (The Lindens) and before titles (The Rev. Linden).
_ARTICLES = {"en": "the", "de": "die"}
# A Vietnamese surname and middle name: Le Van An.
_LE_VAN = frozenset(("le", "van"))


def is_particle(pieces: list[str], i: int, words: LocaleWords, titles: set[int]) -> bool:
    """Whether a word of the particles is in the position of a particle, and not of a name."""
    space, is_small = "".join(pieces[i + 1 : i + 2]), pieces[i].islower()
    names = [k for k, piece in enumerate(pieces) if k != i and piece[0].isalpha() and k not in titles]
    if is_small and any(piece[0].isupper() for piece in pieces):
        # "van Linden", and "Linden, van" in lists, but "Anh le"
        return any(k > i for k in names) or "," in "".join(pieces[:i])
    if len(pieces[i]) == 1 and not is_small:
        return is_conjunction(pieces, i, words)
    if _is_east_asian(pieces, names, i):
        return False
    long = [k for k in names if len(pieces[k]) > 1]
    beside = (*[k for k in long if k < i][-1:], *[k for k in long if k > i][:1])
    if pieces[i].isupper() and len(pieces[i]) == 2 and not any(pieces[k].isupper() for k in beside):
        # The initials of "AM Linden" and "AM Linden-Voss"; "Yann LE Goff" and "LE Goff Yann" have a particle.
        others = [pieces[unit[0]] for unit in hyphenated(pieces, long)]
        if len(others) < 2 or long[-1] < i:
            return False
        if long[0] > i and words.is_surname(others[1]) and not words.may_be_given_name(others[1]):
            return False  # "DE Linden Voss"
        if long[0] > i and words.locale == "de" and words.is_surname(others[0]):
            return False  # "AM Schmidt Anna"
    if fold(pieces[i]) in _NEVER_FIRST and space.isspace() and not any(k < i for k in names):
        return False  # "Dr. Al Linden"
    is_before_short = is_short_particle(pieces, i + 2, words)  # Van 't Hof
    is_joined = is_small and space == "-"
    if i == 0 and not (space.isspace() or is_joined or (space[:1].isspace() and is_before_short)):
        return False
    commas = [k for k, piece in enumerate(pieces) if "," in piece]
    end = next((k for k in commas if k > i), len(pieces))
    for k in names:
        # Not before an initial: "Linden, Al M."
        if i < k < end and (len(pieces[k]) > 1 or "".join(pieces[k + 1 : k + 2])[:1] in APOSTROPHES):
            return True
    before = [fold(pieces[k]) for k in names if k < i]
    if end in commas and fold(pieces[i]) in _SECOND and before[-1:] and not words.particles.issuperset(before):
        return before[-1] in words.particles  # "LINDEN VAN DEN, JAN"
    # At the end, the word is the name ("Anh Le", "Linden, Al"), unless the surname comes first ("Cruz, Juan De La").
    return bool(commas) and commas[0] < i and any(commas[0] < k < i or (k > end and len(pieces[k]) > 1) for k in names)


def is_conjunction(pieces: Sequence[str], i: int, words: LocaleWords) -> bool:
    """Whether a capital is the word "and" of Romance languages: ORTEGA Y GASSET, Luz Paz Y Ana Rey.

    A letter that is neither behind a surname nor between two persons is rather an initial: MARIA E SOUZA.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [is_conjunction((name, " ", "Y", " ", "REY"), 2, locale_words("es")) for name in ("ORTEGA", "LAURA")]
    [True, False]
    """
    if pieces[i] not in _CONJUNCTIONS or words.locale not in _CONJUNCTIONS[pieces[i]]:
        return False
    before = [piece for piece in pieces[:i] if len(piece) > 1 and piece.isalpha()]
    behind = [piece for piece in pieces[i + 1 :] if piece[0].isalpha()]
    if not (before and behind) or len(behind[0]) == 1 or not (pieces[i - 1] + pieces[i + 1]).isspace():
        return False
    is_surname, may_be_given = words.is_surname(before[-1]), words.may_be_given_name(before[-1])
    if len(before) == 1:
        return is_surname and not may_be_given
    return is_surname or not may_be_given or (len(behind) > 1 and words.may_be_given_name(behind[0]))


def starts_with_article(pieces: list[str], words: LocaleWords, titles: set[int]) -> bool:
    """Whether the first word of a name is the article of a family or of a title: The Lindens, The Rev. Linden.

    "The" is also a given name (Th\u1ebf) without its accents: a single surname in the plural follows the article.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> names = ["The", " ", "Roes"], ["The", " ", "Anh", " ", "Roes"]
    >>> [starts_with_article(name, locale_words("en"), set()) for name in names]
    [True, False]
    """
    if fold(pieces[0]) != _ARTICLES.get(words.locale) or not "".join(pieces[1:2]).isspace():
        return False
    letters = [k for k, piece in enumerate(pieces) if k and piece.isalpha()]
    names = [k for k in letters if len(pieces[k]) > 1 and fold(pieces[k]) not in words.particles]
    if not titles.isdisjoint(letters[:1]):
        return True
    return len(hyphenated(pieces, names)) == 1 and pieces[letters[-1]][-1] in "sS"


def is_short_particle(pieces: Sequence[str], i: int, words: LocaleWords) -> bool:
    """Whether a letter is a particle: v. d. Linden, van 't Hof, VAN 'T HOF."""
    if "".join(pieces[i : i + 1]).lower() not in words.block("short particles"):
        return False
    before, behind = "".join(pieces[max(0, i - 2) : i]), "".join(pieces[i + 1 : i + 2])[:1]
    if pieces[i].isupper():
        # Other capitals are initials.
        return before[-1:] in ("'", "\u2019") and not before[-2:-1].strip() and behind.isspace()
    is_name = any(piece[0].isupper() for piece in pieces)
    return is_name and (before[-1:] in ("/", "'", "\u2019") or behind in (".", "/"))


def hyphenated(pieces: list[str], free: list[int]) -> list[list[int]]:
    """Units of words that are joined by hyphens or apostrophes, since the words of a unit have the same role."""
    units: list[list[int]] = []
    for i in free:
        between = "".join(pieces[units[-1][-1] + 1 : i]) if units else " "
        if any(sign in between for sign in _JOINERS) and not re.search(r"[\s,^]", _LINE_BREAK.sub("", between)):
            units[-1].append(i)
        else:
            units.append([i])
    return units


@cache
def east_asian_words() -> frozenset[str]:
    """Folded surnames and middle names beside which words such as "Bin" and "Van" are names."""
    return frozenset(map(fold, word_list("names", "east asian names")))


def _is_east_asian(pieces: list[str], names: list[int], i: int) -> bool:
    """Whether a word that is also a particle is a word of a name of East Asia (Bin Wang, Le Van An)."""
    others = {fold(pieces[k]) for k in names}
    return not others.isdisjoint(east_asian_words()) or (fold(pieces[i]) in _LE_VAN and not others.isdisjoint(_LE_VAN))
