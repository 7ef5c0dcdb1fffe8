"""Parts of a written name: titles, particles, initials, given names and surnames."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from .folding import fold
from .locale_words import LocaleWords
from .name_particles import (
    APOSTROPHES,
    hyphenated,
    is_conjunction,
    is_particle,
    is_short_particle,
    starts_with_article,
)
from .titles import are_consonants, title_places

KEPT, INITIAL, INITIALS, GIVEN, SURNAME, DIGITS = "kept", "initial", "initials", "given", "surname", "digits"
#: Kind of a name with a relative or a friend beside it: "his sister Ann". A single word is a given name.
CALLED = "person beside a relative"
# Letter before an apostrophe, as in O'Hara.
ELIDED = "elided"
# Particles that also link two names: "von und zu", but "Ben und Ann".
_CONJUNCTIONS = frozenset(("und", "et"))
# Particles between two surnames of a person that also link two persons: "Ortega y Gasset", but "Luz Paz y Ana Rey".
_BETWEEN_SURNAMES = frozenset(("y", "e"))
_LINKING_SIGNS = frozenset("/&+;")
_AND = frozenset(("and", "og", "en", *_CONJUNCTIONS, *_BETWEEN_SURNAMES))
_PIECES = re.compile(r"[^\W\d_]+|\d+|[\W_]+")
# Letters of a title or a name that is written together with a name, and starts of names that are also given names.
_SHORTEST_TITLE, _SHORTEST_NAME = 2, 3
_FIRST_PARTS = ("Mac", "Van", "Fitz", "Del")
# Surnames of a person in Spanish and Portuguese
_MOST_SURNAMES = 2
RAISED = ("\u00aa", "\u00ba")
_APOSTROPHE_S = re.compile("['\u2019][sS]")
# Five letters, or four with hyphens: fewer are initials, as M.J.F.G.
_SPELLED = re.compile(
    r"(?<![^\W_])[^\W\d_](?:(?:\s*[-\u2010\u2011\u2013_]\s*[^\W\d_](?![^\W_])){3}|(?:[\s.]{1,3}[^\W\d_](?![^\W_])){4})"
)


#: Function from a folded word, or several given names, to the role that they have in other names of the patient, or
#: None.
RoleOf = Callable[[str], str | None]


class NamePart(NamedTuple):
    """Piece of a written name. The repr shows the role only.

    Parameters
    ----------
    text : str
        Characters of the piece.
    role : str
        ``"kept"`` for titles, particles and the characters between words; otherwise the kind of word.
    """

    text: str
    role: str

    def __repr__(self) -> str:
        return f"NamePart({self.role})"


def parse_name(
    text: str,
    words: LocaleWords,
    kind: str = "person",
    role_of: RoleOf = lambda word: None,
    fixed: tuple[NamePart, ...] | None = None,
) -> tuple[NamePart, ...]:
    """Split a written name into parts whose texts together form the name.

    Parameters
    ----------
    text : str
        Name as it is written in the note.
    words : LocaleWords
        Titles, particles and given names of the locale.
    kind : {"person", "given name", "surname", "person beside a relative"}, default="person"
        Parts of a name that the label implies, or the words beside the name.
    role_of : RoleOf, optional
        Roles of words in other names of the patient.
    fixed : tuple of NamePart, optional
        Result of `fixed_parts` for the same name, if it is known.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [part.role for part in parse_name("Dr. Ann M. van Dyke", locale_words("en")) if part.role != "kept"]
    ['given', 'initial', 'surname']
    """
    parts = fixed_parts(text, words) if fixed is None else fixed
    signs = _ends_of_names(parts)
    names = _between(parts, signs)
    read = [_parsed(name, words, kind, role_of) if name else () for name in names]
    return (*read[0], *(part for i, name in zip(signs, read[1:], strict=True) for part in (parts[i], *name)))


def _ends_of_names(parts: tuple[NamePart, ...]) -> list[int]:
    """Positions of the signs and words that end a name of a list; each name of the list has a comma of its own."""
    kept = [i for i, part in enumerate(parts) if part.role == KEPT]
    links = [i for i in kept if not _LINKING_SIGNS.isdisjoint(parts[i].text) or fold(parts[i].text) in _AND]
    # "Linden, Anna & Voss, Ben", but not "Linden, Anna & Ben".
    if all(any("," in part.text for part in name) for name in _between(parts, links)):
        return links
    return [i for i in kept if ";" in parts[i].text]


def _between(parts: tuple[NamePart, ...], signs: list[int]) -> list[tuple[NamePart, ...]]:
    return [parts[start + 1 : stop] for start, stop in pairwise([-1, *signs, len(parts)])]


def _parsed(parts: tuple[NamePart, ...], words: LocaleWords, kind: str, role_of: RoleOf) -> tuple[NamePart, ...]:
    """Parts of one written name with their roles."""
    pieces, roles = map(list, zip(*parts, strict=True))
    free = [i for i, role in enumerate(roles) if role == ""]
    units = hyphenated(pieces, free)
    # HL7 separates the surname from the given name with a caret.
    comma = next((i for i, piece in enumerate(pieces) if "," in piece or "^" in piece), len(pieces))
    if kind in ("person", CALLED) and _has_initials_behind(pieces, units, words, role_of):
        roles[units.pop()[0]] = INITIALS
    elif kind in ("person", CALLED) and _has_initials_in_front(pieces, units, words, role_of):
        roles[units.pop(0)[0]] = INITIALS
    if kind in ("given name", "surname"):
        found = [GIVEN if kind == "given name" else SURNAME] * len(units)
    elif (
        units and units[0][0] < comma < _last_name(roles) and not _is_before_maiden(pieces, roles, units, comma, words)
    ):
        maiden = _maiden(pieces, roles, words)
        if not any(comma < unit[0] < maiden for unit in units):  # "Linden geb. Meisner, Anna"
            comma, maiden = _last_comma(pieces), len(pieces)
        found = [GIVEN if comma < unit[0] < maiden else SURNAME for unit in units]
    else:
        found = _by_groups(pieces, roles, units, words, role_of)
    for unit, role in zip(units, found, strict=True):
        for i in unit:
            roles[i] = role
    if not any(role == INITIAL for role in roles) and len(free) == 1 and found == [SURNAME]:
        # "O'DEA" is a surname.
        if not _is_elided(pieces, free[0]):
            roles[free[0]] = _initials_or_name(pieces[free[0]], words, role_of)
    if kind == CALLED and len(units) == 1 and _is_called(pieces, roles, units[0], words, role_of):
        for i in units[0]:
            roles[i] = GIVEN
    return tuple(map(NamePart, pieces, roles))


def fixed_parts(text: str, words: LocaleWords) -> tuple[NamePart, ...]:
    """Split a written name into parts; the role is empty for words that may be names.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> fixed_parts("Dr. Ann", locale_words("en"))
    (NamePart(kept), NamePart(kept), NamePart())
    """
    pieces = with_signs_apart(_PIECES.findall(text), words)
    titles = title_places(pieces, words)
    roles = [KEPT if i in titles else _fixed_role(pieces, i, words, titles) for i in range(len(pieces))]
    if set(roles) <= {KEPT, ELIDED}:
        # "Van Le": a name of particles and titles alone would stay unchanged.
        roles = ["" if piece[0].isalpha() else KEPT for piece in pieces]
    return tuple(map(NamePart, pieces, roles))


def is_spelled(text: str, words: LocaleWords) -> bool:
    """Whether a text contains a name letter by letter; other letters, one for each, would reveal its repeated letters.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [is_spelled(text, locale_words("en")) for text in ("L-I-N-D-E-N", "L I N D E N", "J. Linden, M.D. M.P.H.")]
    [True, True, False]
    """
    if _SPELLED.search(text) is None:
        return False
    pieces = _PIECES.findall(text)
    # The letters of a title, such as M.P.H., are no letters of the name.
    titles = title_places(pieces, words)
    return _SPELLED.search("".join("--" if i in titles else piece for i, piece in enumerate(pieces))) is not None


def with_signs_apart(pieces: list[str], words: LocaleWords) -> list[str]:
    """Pieces of a name, in which the raised letter of an abbreviation is a separate piece, except in titles.

    A title that is written together with a name, and two names that are written together, become two pieces.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> with_signs_apart(["M\u00aa", " ", "D\u00aa"], locale_words("pt")) == ["M", "\u00aa", " ", "D\u00aa"]
    True
    >>> [with_signs_apart([name], locale_words("en")) for name in ("DrAlder", "JohnSmith", "McDonald")]
    [['Dr', 'Alder'], ['John', 'Smith'], ['McDonald']]
    """
    apart: list[str] = []
    for piece in chain.from_iterable(_glued(piece, words) for piece in pieces):
        is_abbreviated = piece[-1] in RAISED and len(piece) > 1 and fold(piece) not in words.titles
        apart += [piece[:-1], piece[-1]] if is_abbreviated else [piece]
    return apart


def _glued(piece: str, words: LocaleWords) -> tuple[str, ...]:
    """Title and name, or given name and surname, that have no blank between them; else the piece itself."""
    capitals = [i for i, letter in enumerate(piece) if letter.isupper()]
    if len(capitals) != 2 or capitals[0] or not _SHORTEST_TITLE <= capitals[1] <= len(piece) - _SHORTEST_NAME:
        return (piece,)
    first, last = piece[: capitals[1]], piece[capitals[1] :]
    if fold(first) in words.titles:
        return first, last
    # Not "MacDonald" and "VanDyke", which are other names than "Donald" and "Dyke", and not the given name "MaryAnn".
    is_name = len(first) >= _SHORTEST_NAME and fold(first) not in words.particles and first not in _FIRST_PARTS
    is_pair = is_name and words.may_be_given_name(first) and words.is_surname(last)
    return (first, last) if is_pair and not words.may_be_given_name(last) else (piece,)


def whole_name(pieces: Sequence[str], i: int, words: LocaleWords) -> str | None:
    """Return the given name that a piece abbreviates, with or without a raised letter (M\u00aa, Fco.); else None."""
    raised = "".join(pieces[i + 1 : i + 3]).lstrip(".")[:1]
    return words.abbreviated_names.get(fold(pieces[i] + (raised if raised in RAISED else "")))


def _fixed_role(pieces: list[str], i: int, words: LocaleWords, titles: set[int]) -> str:
    """Role of a piece that does not depend on the other words; empty if the word may be a name."""
    piece = pieces[i]
    if piece.isdigit():
        return DIGITS
    if not piece[0].isalpha() or piece in "\u00aa\u00ba":
        return KEPT
    folded = fold(piece)
    before_apostrophe = i + 1 < len(pieces) and pieces[i + 1][0] in "'\u2019"
    if before_apostrophe and len(piece) == 1:
        return ELIDED
    before_apostrophe = before_apostrophe and folded in words.particles
    if not words.has_listed_accents(piece):
        return INITIAL if len(piece) == 1 else ""  # "L\u00ea" is a name, and not the particle "le"
    if is_short_particle(pieces, i, words):
        return KEPT
    is_genitive = i == len(pieces) - 1 and _APOSTROPHE_S.fullmatch("".join(pieces[i - 1 :])) and len(pieces[i - 2]) > 1
    is_alone = len(pieces) == 1
    if before_apostrophe or is_genitive or (i == 0 and starts_with_article(pieces, words, titles)):
        return KEPT
    if piece.islower() and folded in words.name_links and _is_between_names(pieces, i, words):
        return KEPT  # "John and Mary", "Claire Martin n\u00e9e Dubois"
    if folded in words.particles and not is_alone and is_particle(pieces, i, words, titles):
        return KEPT
    behind = any(pieces[k][0].isalpha() and k not in titles for k in range(i + 1, len(pieces)))
    # "Ch." and "Fco." before a surname, too
    is_short = len(piece) == 2 or (len(piece) == 3 and behind and not words.is_name(piece))
    is_abbreviated = is_short and "".join(pieces[i + 1 : i + 2])[:1] == "." and not piece.isupper()
    return INITIAL if len(piece) == 1 or is_abbreviated else ""


def _is_between_names(pieces: list[str], i: int, words: LocaleWords) -> bool:
    """Whether a word that links names is none: beside capitals, or between other words in a name without capitals."""
    if any(piece[0].isupper() for piece in pieces):
        return True
    sides = (pieces[:i], pieces[i + 1 :])
    return all(any(len(piece) > 1 and piece.isalpha() for piece in side) for side in sides) and not words.is_name(
        pieces[i]
    )


def _last_name(roles: list[str]) -> int:
    return max((i for i, role in enumerate(roles) if role in ("", INITIAL)), default=-1)


def _maiden(pieces: list[str], roles: list[str], words: LocaleWords) -> int:
    """Position of a word that precedes a second surname, such as "née"; the end of the pieces without such a word."""
    listed = words.maiden_words | words.bare("maiden letters") | words.bare("married words")
    found = (i for i, piece in enumerate(pieces) if roles[i] == KEPT and fold(piece) in listed)
    return next(found, len(pieces))


def _last_comma(pieces: list[str]) -> int:
    return max(i for i, piece in enumerate(pieces) if "," in piece or "^" in piece)


def _is_before_maiden(
    pieces: list[str], roles: list[str], units: list[list[int]], comma: int, words: LocaleWords
) -> bool:
    """Whether the comma of a name is only that before the name at birth: Anna Linden, geb. Meisner."""
    maiden = _maiden(pieces, roles, words)
    is_directly_before = comma < maiden and not any(comma < unit[0] < maiden for unit in units)
    return is_directly_before and not any(maiden < unit[0] for unit in units if unit[0] > _last_comma(pieces) > maiden)


def _by_groups(
    pieces: list[str],
    roles: list[str],
    units: list[list[int]],
    words: LocaleWords,
    role_of: RoleOf,
) -> list[str]:
    """Roles of words without a comma; two names are separated by slashes and words such as "and" and "née"."""
    maiden = _maiden(pieces, roles, words)
    found: list[str] = []
    group: list[list[int]] = []
    first = 0
    for i, unit in enumerate(units):
        group.append(unit)
        stop = units[i + 1][0] if i + 1 < len(units) else len(pieces)
        if i + 1 < len(units) and not any(_is_link(pieces, k, words) for k in range(unit[-1] + 1, stop)):
            continue
        behind = _behind_particle(pieces[: group[-1][-1]], words, first)
        names = [(pieces[one[-1]], one[0] > behind or _is_elided(pieces, one[0])) for one in group]
        starts_with_particle = _starts_with_particle(pieces[first : group[0][0]], words)
        if len(group) == 1 and maiden == len(pieces) and _is_given_of_pair(pieces, units[i : i + 3], words, role_of):
            found.append(GIVEN)
        elif group[0][0] > maiden:
            # "LINDEN n\u00e9e MEISNER Anna": the given name is behind both surnames.
            is_complete = len(group) == 1 or GIVEN in found
            found += [SURNAME] * len(group) if is_complete else _surname_first(names, words, role_of)
        elif starts_with_particle and (_is_elided(pieces, group[0][0]) or not _may_lead(names, words)):
            found += _surname_first(names, words, role_of)
        else:
            found += _by_position(names, words, role_of)
        group, first = [], stop
    return found


def _is_given_of_pair(pieces: list[str], units: list[list[int]], words: LocaleWords, role_of: RoleOf) -> bool:
    """Whether the first of three words is a given name before the whole name of a relative (Thomas and Ann Linden)."""
    if len(units) < 3 or any(_is_link(pieces, k, words) for k in range(units[1][-1], units[2][0])):
        return False
    before = next((piece for piece in reversed(pieces[: units[0][0]]) if piece[0].isalpha()), "")
    if fold(before) in words.titles:
        return False  # "Dr. Thomas and Dr. Ann Linden"
    word = pieces[units[0][-1]]
    return words.may_be_given_name(word) and role_of(fold(word)) != SURNAME


def _may_lead(names: list[tuple[str, bool]], words: LocaleWords) -> bool:
    """Whether the first word after a particle is a given name; False if given names follow (Di Lorenzo Antonio)."""
    others = [word for word, _ in names[1:]]
    is_surname = bool(others) and all(map(words.is_given_name, others))
    return words.is_given_name(names[0][0]) and not is_surname


def _is_elided(pieces: list[str], i: int) -> bool:
    """Whether a word directly follows an apostrophe, as in a surname (D'Angelo, Dell'Olmo), and is no given name."""
    return i > 1 and pieces[i - 1] in APOSTROPHES and pieces[i - 2].isalpha()


def persons(parts: Sequence[NamePart]) -> list[tuple[NamePart, ...]]:
    """Parts of a written name, person by person: John / and Mary Smith.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> found = persons(parse_name("John and Mary Smith", locale_words("en")))
    >>> ["".join(part.text for part in person) for person in found]
    ['John ', 'and Mary Smith']
    """
    found: list[list[NamePart]] = [[]]
    for part in parts:
        is_linking = part.role == KEPT and (fold(part.text) in _AND or not _LINKING_SIGNS.isdisjoint(part.text))
        # The second surname of one person follows "y", too: its group has no given name.
        if is_linking and any(one.role != KEPT for one in found[-1]):
            found.append([])
        found[-1].append(part)
    return list(map(tuple, found))


def _is_link(pieces: list[str], i: int, words: LocaleWords) -> bool:
    """Whether a piece is a sign or a word that links two names; a particle, such as "van", is part of a name."""
    folded = fold(pieces[i])
    if folded in _CONJUNCTIONS & words.particles:
        beside = (next(filter(str.isalpha, some), "") for some in (reversed(pieces[:i]), pieces[i + 1 :]))
        return not all(fold(word) in words.particles for word in beside)  # "von und zu"
    if folded in _BETWEEN_SURNAMES & words.particles:
        behind = list(filter(str.isalpha, pieces[i + 1 :]))
        is_small = pieces[i].islower() or is_conjunction(pieces, i, words)
        return is_small and len(behind) > 1 and words.may_be_given_name(behind[0])
    return not _LINKING_SIGNS.isdisjoint(pieces[i]) or (pieces[i].islower() and folded in _links(words))


def _links(words: LocaleWords) -> frozenset[str]:
    return words.name_links - words.particles | words.bare("maiden letters")


def _behind_particle(pieces: list[str], words: LocaleWords, first: int = 0) -> int:
    """Position of the first particle in lower case after ``first``; the end of the pieces without such a particle."""
    particles = words.particles - _CONJUNCTIONS
    found = (i for i, piece in enumerate(pieces) if i >= first and piece.islower() and fold(piece) in particles)
    return next(found, len(pieces))


def _starts_with_particle(pieces: list[str], words: LocaleWords) -> bool:
    """Whether a particle comes directly before the first word of a name (De Luca Anna)."""
    last = next((piece for piece in reversed(pieces) if piece[0].isalpha()), "")
    # "D. Maria" has a title.
    is_title = len(last) == 1 and pieces[-1][0] not in APOSTROPHES
    return (fold(last) in words.particles and not is_title) or last in words.block("short particles")


def _surname_first(names: list[tuple[str, bool]], words: LocaleWords, role_of: RoleOf) -> list[str]:
    """Roles of words, the first of which is a surname: only given names of the locale or the notes are given names."""
    # "DE LA TOUR Hubert": a surname in capitals ends where the capitals end.
    is_told = names[0][0].isupper()
    is_given = [
        role_of(fold(word)) == GIVEN or words.may_be_given_name(word) or (is_told and not word.isupper())
        for word, _ in names[1:]
    ]
    return [SURNAME, *(GIVEN if given else SURNAME for given in is_given)]


def _by_position(names: list[tuple[str, bool]], words: LocaleWords, role_of: RoleOf) -> list[str]:
    """Roles of words without a comma: given names first, surnames last. A flag is True after a particle."""
    n = len(names)
    if n == 0:
        return []
    if n == 1:
        word, is_behind = names[0]
        known = role_of(fold(word))
        return [known or (GIVEN if words.is_given_name(words.without_genitive(word)) and not is_behind else SURNAME)]
    told = [role_of(fold(word)) for word, _ in names]
    if set(told) == {SURNAME} and not any(words.may_be_given_name(word) for word, _ in names):
        return [SURNAME] * n  # "Smith Jones" in notes about Ann Smith-Jones
    if set(told) == {GIVEN} and role_of(" ".join(fold(word) for word, _ in names)) == GIVEN:
        return [GIVEN] * n  # "Ann Grace" in notes about Ann Grace Linden
    if set(told) == {SURNAME, GIVEN}:  # "LINDEN VOSS MARY ANN" in notes about Mary Ann Linden Voss
        return [str(role) for role in told]
    # "LINDEN Jean": the surname is in capitals.
    in_capitals = [word.isupper() for word, _ in names]
    others = [role_of(fold(word)) for word, _ in names if not word.isupper()]
    if any(in_capitals) and others and SURNAME not in others:
        return [SURNAME if is_surname else GIVEN for is_surname in in_capitals]
    may_be = [words.may_be_given_name(word) for word, _ in names]
    if words.locale not in ("es", "pt"):
        # "Rossi Maria Grazia"; in English, a surname comes first only with a comma.
        n_family = may_be.index(True) if True in may_be else n
        is_last_given = words.is_given_name(names[-1][0]) and not any(is_behind for _, is_behind in names[n_family:])
        if words.locale != "en" and 0 < n_family < n and all(may_be[n_family:]) and is_last_given:
            return [SURNAME] * n_family + [GIVEN] * (n - n_family)
        is_family = (is_behind or role == SURNAME for (_, is_behind), role in zip(names, told, strict=True))
        n_given = next((i for i, is_one in enumerate(is_family) if is_one and i), n - 1)
        return [GIVEN] * n_given + [SURNAME] * (n - n_given)
    # Two surnames are usual. "Juan José" has none; "Rubio Fernández" has no given name.
    if all(may_be) and words.is_given_name(names[-1][0]):
        return [GIVEN] * n
    if n > 2 and (n_family := _surnames_in_front(names, words)):
        return [SURNAME] * n_family + [GIVEN] * (n - n_family)
    if n == 2 and told[0] != SURNAME and not words.is_name(names[0][0]):
        # "Melayne Zyxen" is rather a given name and a surname; "Zyxen Carlos" has the surname first.
        return [SURNAME, GIVEN] if words.is_given_name(names[1][0]) else [GIVEN, SURNAME]
    leading = may_be.index(False) if False in may_be else n
    n_given = min(leading, n - 1) if leading else max(n - 2, 0)
    return [GIVEN] * n_given + [SURNAME] * (n - n_given)


def _surnames_in_front(names: list[tuple[str, bool]], words: LocaleWords) -> int:
    """Number of surnames before the given names, if the lists show this order: GARC\u00cdA L\u00d3PEZ MAR\u00cdA."""
    is_surname, may_be = ([listed(word) for word, _ in names] for listed in (words.is_surname, words.may_be_given_name))
    if may_be[0] or not is_surname[0] or not may_be[-1]:
        return 0
    # "P\u00e9rez Mart\u00edn Juan Carlos": Mart\u00edn and Carlos are both kinds of names.
    in_front = next((i for i, is_one in enumerate(is_surname) if not is_one), len(names) - 1)
    behind = next(i for i in range(len(names), 0, -1) if not may_be[i - 1])
    return max(min(in_front, _MOST_SURNAMES), behind)


def _has_initials_behind(pieces: list[str], units: list[list[int]], words: LocaleWords, role_of: RoleOf) -> bool:
    """Whether capitals after a name are initials: Linden JB."""
    if len(units) < 2 or len(units[-1]) > 1 or _is_elided(pieces, units[-1][0]):
        return False
    piece, before = pieces[units[-1][0]], pieces[units[-2][-1]]
    # "Linden JB" has initials; "Wei XU" and "LINDEN UTE" may have names.
    is_told = are_consonants(piece) and (len(piece) == 2 or not before.isupper())
    is_behind_surname = not before.isupper() and role_of(fold(before)) == SURNAME
    return (is_told or is_behind_surname) and _initials_or_name(piece, words, role_of) == INITIALS


def _has_initials_in_front(pieces: list[str], units: list[list[int]], words: LocaleWords, role_of: RoleOf) -> bool:
    """Whether capitals before a surname are initials: JM Linden."""
    if len(units) < 2 or len(units[0]) > 1:
        return False
    piece, behind = pieces[units[0][0]], pieces[units[1][0]]
    # "XU Wei" and "LINDEN Ute" begin with surnames.
    is_surname = role_of(fold(behind)) == SURNAME or (words.is_surname(behind) and not words.may_be_given_name(behind))
    # "Dr. DE Zyxen": a particle of two letters, too, which are no surname.
    is_short = len(piece) == 2 and (are_consonants(piece) or (len(units) == 2 and fold(piece) in words.particles))
    is_told = not behind.isupper() and (is_surname or is_short)
    return is_told and _initials_or_name(piece, words, role_of) == INITIALS


def _is_called(pieces: list[str], roles: list[str], unit: list[int], words: LocaleWords, role_of: RoleOf) -> bool:
    """Whether relatives and friends call somebody by this word, which is no name after a title or a particle."""
    if any(piece[0].isalpha() for piece in pieces[: unit[0]]) or any(roles[i] != SURNAME for i in unit):
        return False
    # "his sister Alder" in notes about the Alders; and "Gonzalez" is no given name.
    is_surname = [words.is_surname(pieces[i]) and not words.may_be_given_name(pieces[i]) for i in unit]
    return not any(is_surname) and all(role_of(fold(pieces[i])) != SURNAME for i in unit)


def _initials_or_name(piece: str, words: LocaleWords, role_of: RoleOf) -> str:
    folded = fold(piece)
    is_name = role_of(folded) is not None or words.may_be_given_name(piece) or words.is_surname(piece)
    # "MJGL": two given names and two surnames
    is_short = 2 <= len(piece) <= 3 or (len(piece) == 4 and are_consonants(piece))
    return INITIALS if piece.isupper() and is_short and not is_name else SURNAME
