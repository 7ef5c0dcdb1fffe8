"""Titles of people: which pieces of a written name are titles, and which texts consist only of titles."""

from __future__ import annotations

import re
from functools import cache

from .folding import fold
from .locale_words import LocaleWords

_LONGEST_TITLE = 5
# Shortest title that is also a surname, such as Heer.
_SHORTEST_NAME = 3
# Shortest degree that is not taken for initials, and shortest addition that needs no full stop (\u00e9m\u00e9rite).
_SHORTEST_DEGREE, _SHORTEST_WHOLE = 3, 5
_RAISED = "\u00aa\u00ba"
_RAISED_SEXES = dict(zip(_RAISED, "FM", strict=True))
_COMMAS = (",", "^")
_BETWEEN = re.compile(r"[^\w\u00aa\u00ba]+")


def title_places(pieces: list[str], words: LocaleWords) -> set[int]:
    """Positions of the pieces of a written name that belong to titles, with the signs inside of titles.

    Titles are of five kinds:

    1. words of the list, such as Dr, unless they are written or placed as a surname ("Trevor Nurse"),
    2. listed titles of several pieces, such as Dott.ssa, Sage-femme and h. c.,
    3. compounds of listed words with a full stop, such as Univ.-Prof. and Dipl.-Ing.,
    4. listed additions in their listed casing behind a title, such as "rer. nat." and "agr\u00e9g\u00e9",
    5. listed degrees in their listed casing after a name, such as MSc. Degrees of two letters could be initials, and
       therefore count only if the name has another title: "FA Dr. Alder".

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> sorted(title_places(["Dr", ". ", "rer", ". ", "nat", ". ", "Hohen", ", ", "MSc"], locale_words("de")))
    [0, 2, 4, 8]
    """
    found: set[int] = set()
    for first, piece in enumerate(pieces):
        if first in found or not piece[0].isalpha() or piece in _RAISED or not words.has_listed_accents(piece):
            continue
        stops = range(min(len(pieces), first + _LONGEST_TITLE), first + 2, -1)
        stop = next((stop for stop in stops if _is_long(pieces, first, stop, words, found)), first + 1)
        if stop > first + 1 or _is_word(pieces, first, words, found):
            found.update(range(first, stop))
    return found


def is_title(text: str, words: LocaleWords) -> bool:
    """Whether a text consists only of words of titles.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> is_title("Dr. rer. nat.", locale_words("de")), is_title("Dr. Nathan", locale_words("de"))
    (True, False)
    """
    known = _joined(words)
    parts = [part for part in _BETWEEN.split(fold(text)) if part]
    i = 0
    while i < len(parts):
        # The longest title first: "h. c." has letters that are no titles.
        taken = next((n for n in range(_LONGEST_TITLE, 0, -1) if "".join(parts[i : i + n]) in known), 0)
        if not taken:
            return False
        i += taken
    return bool(parts)


def sex_of_title(word: str, words: LocaleWords) -> str | None:
    """Sex that a word of a title shows, such as the end of Dott.ssa; None for other words.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [sex_of_title(word, locale_words("it")) for word in ("ssa", "Dott", "Prof")]
    ['F', 'M', None]
    """
    # D.\u00aa, Eng.\u00ba
    return words.numbered("titles of a sex").get(fold(word)) or _RAISED_SEXES.get(word[-1])


@cache
def _joined(words: LocaleWords) -> frozenset[str]:
    """Folded titles, degrees and additions without the signs inside of them."""
    listed = (*words.block("titles"), *words.block("degrees"), *words.block("additions to titles"))
    return frozenset(_BETWEEN.sub("", fold(entry)) for entry in listed)


@cache
def _in_title_case(words: LocaleWords) -> frozenset[str]:
    return frozenset(fold(title).rstrip(".") for title in words.block("titles") if title.istitle())


@cache
def _degrees(words: LocaleWords, in_capitals: bool = False) -> frozenset[str]:
    listed = words.block("degrees")
    return frozenset(map(str.upper, listed) if in_capitals else listed)


@cache
def _parts(words: LocaleWords) -> frozenset[str]:
    return words.titles | words.bare("additions to titles")


def _is_long(pieces: list[str], first: int, stop: int, words: LocaleWords, found: set[int]) -> bool:
    """Whether several pieces are one title."""
    some = pieces[first:stop]
    if not some[-1][0].isalpha() or not all(map(words.has_listed_accents, some)):
        return False
    signs = "".join([piece for piece in some if not piece[0].isalpha()])
    if not signs or signs.strip(".- "):
        return False
    letters = [piece for piece in some if piece[0].isalpha()]
    if len(letters) > 1 and letters[1] in _RAISED:
        return len(letters) == 2 and fold("".join(some)).replace(".", "") in words.titles
    is_behind_name = _is_behind_name(pieces, first, found)
    if "." in signs and any(len(piece) == 1 for piece in letters):
        # "J.R. Smith" and "M.D. Smith" have initials: such a title has its listed casing, and follows a name; one in
        # small letters ("h.c.") follows a title, and an ending ("Mag.a") need not follow anything.
        is_ending = len(letters[0]) > 1 and fold(letters[0]) in words.titles
        is_ending = is_ending or (len(letters[-1]) > 1 and letters[-1].islower())  # D.ssa
        is_placed = is_behind_name or is_ending or (letters[0].islower() and _is_behind_title(pieces, first, found))
        return is_placed and _is_listed(some, words, is_abbreviated=any(len(piece) > 1 for piece in letters))
    if " " not in signs and "." in signs + "".join(pieces[stop : stop + 1]) and "-" in signs:
        if all(fold(piece) in _parts(words) for piece in letters):
            return True
    joined = fold("".join(some))
    return joined.replace(".", "") in words.titles or (is_behind_name and "".join(some) in words.block("degrees"))


def _is_listed(some: list[str], words: LocaleWords, is_abbreviated: bool) -> bool:
    """Whether a title with single letters is listed in this casing (M.D.), or is a degree without stops (M.Sc.)."""
    joined = "".join(some)
    is_degree = is_abbreviated and joined.replace(".", "") in words.block("degrees")
    return is_degree or joined in words.block("titles") or joined in words.block("degrees")


def _is_word(pieces: list[str], i: int, words: LocaleWords, found: set[int]) -> bool:
    """Whether a single word is a title."""
    return (
        len(pieces) > 1
        and (_may_be_title(pieces, i) and _is_in_place(pieces, i, words))
        or _is_addition(pieces, i, words, found)
        or _is_degree(pieces, i, words, found)
    )


def _is_addition(pieces: list[str], i: int, words: LocaleWords, found: set[int]) -> bool:
    listed = words.block("additions to titles")
    piece, has_stop = pieces[i], "".join(pieces[i + 1 : i + 2])[:1] == "."
    if not (piece in listed or (piece.isupper() and has_stop and piece.lower() in listed)):
        return False
    is_last = i == len(pieces) - 1
    is_told = has_stop or len(piece) >= _SHORTEST_WHOLE or is_last or "".join(pieces[i + 2 : i + 3]) in listed
    return is_told and _is_behind_title(pieces, i, found)


def _is_degree(pieces: list[str], i: int, words: LocaleWords, found: set[int]) -> bool:
    if pieces[i] not in _degrees(words) and not (
        pieces[i].isupper() and pieces[i] in _degrees(words, in_capitals=True)
    ):
        return False
    behind = next((k for k in range(i + 1, len(pieces)) if pieces[k][0].isalpha()), i)
    is_before_title = behind > i and _is_in_place(pieces, behind, words)
    is_long = len(pieces[i]) >= _SHORTEST_DEGREE and not _is_word_in_capitals(pieces, i)
    is_told = is_long or _is_behind_title(pieces, i, found)
    return is_before_title or (is_told and _is_behind_name(pieces, i, found))


def _is_behind_name(pieces: list[str], i: int, found: set[int]) -> bool:
    return any(len(piece) > 1 and piece.isalpha() and k not in found for k, piece in enumerate(pieces[:i]))


def _is_behind_title(pieces: list[str], i: int, found: set[int]) -> bool:
    """Whether the last word before a piece belongs to a title."""
    return next((k in found for k in range(i - 1, -1, -1) if pieces[k][0].isalpha()), False)


def _is_placed_as_surname(pieces: list[str], i: int, words: LocaleWords) -> bool:
    """Whether a title is in the position of a surname: Jan de Heer; Heer, Jan; Anna Pfleger-Linden."""
    piece = pieces[i]
    if len(piece) < _SHORTEST_NAME or fold(piece) not in _in_title_case(words):
        return False
    before, behind = "".join(pieces[max(i - 1, 0) : i]), "".join(pieces[i + 1 : i + 2])
    if before[-1:] == "-" or behind[:1] == "-" or (i == 0 and behind[:1] in _COMMAS):
        return True
    letters = "".join(pieces)
    is_like_name = piece.istitle() or letters.isupper() or letters.islower()
    has_name_behind = any(other[0].isalpha() and fold(other) not in words.titles for other in pieces[i + 1 :])
    return is_like_name and before in (" ", "\n", ". ") and not has_name_behind and behind[:1] != "."


def _may_be_title(pieces: list[str], i: int) -> bool:
    """Whether a word of the list of titles is a title in this name; "D" and "M" are titles only with a full stop."""
    has_words_behind = any(piece[0].isalpha() for piece in pieces[i + 1 :])
    return len(pieces[i]) > 1 or (i == 0 and has_words_behind and pieces[1][0] == ".")


def _is_in_place(pieces: list[str], i: int, words: LocaleWords) -> bool:
    """Whether a word of the list of titles is not written or placed as a surname, and has the full stop that it needs.

    If a title is listed only with a full stop, the word without a full stop is a name: "Hon. Alder", but "Hon Alder".
    """
    folded = fold(pieces[i])
    has_stop = "".join(pieces[i + 1 : i + 2])[:1] == "."
    if folded not in words.titles or not (has_stop or folded in words.numbered("titles")):
        return False
    is_name = pieces[i] in words.block("titles") and _is_word_in_capitals(pieces, i)
    is_name = is_name or _is_surname_like(pieces[i], words) or _is_placed_as_surname(pieces, i, words)
    return not is_name


def _is_word_in_capitals(pieces: list[str], i: int) -> bool:
    """Whether capitals may be a name in a name in capitals (LIS HANSEN), and are not letters after a comma."""
    piece = pieces[i]
    is_spoken = len(piece) >= _SHORTEST_NAME and piece.isupper() and not are_consonants(piece)
    return is_spoken and "".join(pieces).isupper() and "," not in "".join(pieces[max(i - 1, 0) : i])


def are_consonants(piece: str) -> bool:
    """Whether capitals cannot be pronounced as a name; `written_form` contains this property.

    Examples
    --------
    >>> are_consonants("JB"), are_consonants("UTE")
    (True, False)
    """
    return not set(fold(piece)) & set("aeiouy")


def _is_surname_like(piece: str, words: LocaleWords) -> bool:
    """Whether a degree, which is listed in capitals, is written like a name: Kim Do, but Ann Smith DO."""
    return piece.istitle() and piece not in words.block("titles") and piece.upper() in words.block("titles")
