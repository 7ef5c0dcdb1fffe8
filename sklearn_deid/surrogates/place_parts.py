"""Parts of a written place: brackets, postal code, town, region, country, and the kind of each part."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .folding import fold
from .locale_words import LocaleWords
from .street_pieces import COMPASS
from .word_list import word_list

KEPT, POSTCODE, TOWN, REGION, COUNTRY, STREET, HOSPITAL = "kept postcode town region country street hospital".split()
# "Paris 14e", "LILLE CEDEX 9"
NUMBERED_TOWN = re.compile(
    r"(?P<town>[^\W\d_]{3}[^\d]*?)(?P<rest>\s+cedex(?:\s+\d{1,2})?|\s+\d{1,2}(?:er?|\u00e8me|\.)?)", re.IGNORECASE
)
# D-79106, 02115-1234, 4000-123; the longest code is that of the Netherlands with its letters: 1011 AB.
_CODES = {"nl": r"(?:[A-Z]{1,2}-)?\d{4,5}(?: ?[A-Z]{2}\b)?", "en": r"\d{5}(?:-\d{4})?"}
_CODE = r"(?:[A-Z]{1,2}-)?\d{4,5}(?:-\d{3,4})?"
# Codes that cannot be the number of a house before them, or behind a house number.
_LONG_CODE = r"(?:[A-Z]{1,2}-)?\d{5}"
_BEHIND_NUMBER = {"nl": r"\d{4} ?[A-Z]{2}", "nb": r"\d{4}", "pt": r"\d{4}-\d{3}"}
# Words of a town behind a street, without numbers.
_TOWN = re.compile(r"[^\W\d_]{2}[^\d,;()/]+")
_LETTERS = r"[^\W\d_]{2}"
_NAME = re.compile(r"[^\W\d_]{3}")
_WORD = re.compile(r"[^\W\d_]+")
_BRACKETS = re.compile(r"([(\[]\s*)?(.*?)(\s*[)\]])?", re.DOTALL)
# "C/ Mayor" and "Av/ Mayor" are streets.
_SLASH = r"(?<!\b[Cc])(?<!\b[Aa]v)/"
_SIGNS = re.compile(rf"(\s*(?:[,;(\[)\]]|{_SLASH})\s*|\s+[-\u2013]\s+)+")
# Between the lines of an address, which has a number.
_SIGNS_AND_LINES = re.compile(rf"(\s*(?:[,;(\[)\]\n]|{_SLASH})\s*|\s+[-\u2013]\s+)+")
# Labels such as LOCATION include hospitals: "St. Mary's Hospital, Boston".
_HOSPITAL = re.compile(
    r"\b(?:hospital(?:ier|ar)?|hopital|ospedale|clini(?:c|ca|que)|policlinico|(?:medical|health) cent(?:er|re)"
    r"|nursing home|centro de sa(?:lud|ude))\b|(?:klini(?:k|kum|kk|ek)|krankenhaus|ziekenhuis|s[yj]u?kehus(?:et)?)\b"
)
# "M" was Madrid on number plates.
_REGION_CODE = re.compile(r"[A-Z]{1,2}")
# Words and codes have at least two letters or digits: "Coru\u00f1a, A" is one name.
_LEAST_SIGNS = 2
# Shortest type of a street, such as Via: "St" is also a saint.
_SHORTEST_TYPE = 3
# Digits of the shortest postal code.
_SHORTEST_CODE = 4
#: Languages that write a name and its type as one word, as in Hauptstra\u00dfe.
SUFFIXED = ("de", "nl", "nb")

Part = tuple[str, str]
#: Function from a part and the town beside it to the surrogate of the part.
Rule = Callable[[str, str | None], str]


def without_brackets(text: str) -> tuple[str, str, str]:
    """Brackets around a text, and the text between the brackets.

    Examples
    --------
    >>> without_brackets("(RE)"), without_brackets("Modena")
    (('(', 'RE', ')'), ('', 'Modena', ''))
    """
    found = _BRACKETS.fullmatch(text)
    assert found is not None  # every group is optional
    return found[1] or "", found[2], found[3] or ""


def is_region_code(text: str, words: LocaleWords) -> bool:
    """Whether one or two capitals are the code of a region.

    The code of a country counts only if a region has the same code.
    """
    folded = fold(text)
    if re.fullmatch(r"(?:[A-Z]\.){2}", text):  # D.C.
        return folded.replace(".", "") in words.region_names
    is_listed = folded in words.region_names
    is_country = text in words.block("country initials") or folded in words.folded_towns
    return _REGION_CODE.fullmatch(text) is not None and (is_listed or not is_country)


def kind_of_place(text: str, words: LocaleWords) -> str:
    """Kind of a place of one part, without brackets: postcode, street, region, country, hospital or town."""
    folded = fold(text)
    if any(map(str.isdigit, text)):
        if _is_street(folded, words) or _has_tail(folded, words):
            return STREET
        if NUMBERED_TOWN.fullmatch(text) is not None:
            return TOWN
        return STREET if _NAME.search(text) else POSTCODE  # "Am Markt 3"
    if _is_named_street(folded, words) or _is_door(folded, words):
        return STREET
    # "Granada" and "Georgia" are rather at home: a town, and a state.
    is_town, is_region = folded in words.folded_towns, folded in words.region_names
    is_abroad = folded in words.folded_countries and not (is_town or is_region)
    if is_abroad or (text.replace(".", "") in words.block("country initials") and len(text) > 1):
        return COUNTRY
    if _is_hospital(folded) and not is_town:
        return HOSPITAL
    # Names such as "New York" and "Madrid" are both, and count as towns. So do the provinces of Italy, which have the
    # names of their capitals.
    is_town = is_town or folded in words.province_codes or folded in _towns_named_as_regions()
    return REGION if is_region_code(text, words) or (is_region and not is_town) else TOWN


@cache
def _towns_named_as_regions() -> frozenset[str]:
    return frozenset(map(fold, word_list("places", "towns named as regions")))


def _is_street(folded: str, words: LocaleWords) -> bool:
    """Whether a text contains a type of street as a word or, in some languages, as the end of a word."""
    # Behind a house number, "St" is no saint: 12 Elm St.
    shortest = _SHORTEST_TYPE - (words.locale == "en" and folded[:1].isdigit())
    types = words.bare("street types")
    named = [word for word in _WORD.findall(folded) if len(word) >= shortest]
    if words.locale not in SUFFIXED:
        return any(word in types for word in named)
    ends = _longer(types, shortest)
    return any(word.endswith(ends) for word in named)


@cache
def _longer(names: frozenset[str], shortest: int) -> tuple[str, ...]:
    return tuple(name for name in names if len(name) >= shortest)


def _has_tail(folded: str, words: LocaleWords) -> bool:
    """Whether a text has a word, such as Postfach or Apt, that a number follows in addresses."""
    # "Freiburg im Breisgau" is a town: words such as "im" may begin the names of German streets.
    shortest = _SHORTEST_TYPE - (words.locale not in SUFFIXED)
    tails = words.bare("street tail words")
    return any(word in tails for word in _WORD.findall(folded) if len(word) >= shortest)


def _is_named_street(folded: str, words: LocaleWords) -> bool:
    """Whether a text without a number is a street: its first word, in English its last word, is a type of street."""
    named = folded.split()
    if len(named) < 2 or words.locale in SUFFIXED or folded in words.folded_towns or folded in words.region_names:
        return False
    word = named[-1 if words.locale == "en" else 0].rstrip(".")
    return len(word) >= _SHORTEST_TYPE and word in words.bare("street types")


def _is_door(folded: str, words: LocaleWords) -> bool:
    """Whether a text is a part of a house with its letter: B\u00e2t. B, Esc. A, Flat B."""
    named = folded.split()
    tails = words.bare("street tail words")
    return len(named) == 2 and len(named[1]) == 1 and len(named[0]) >= _SHORTEST_TYPE and named[0].rstrip(".") in tails


def _is_hospital(folded: str) -> bool:
    """Whether a name has a word for hospitals and another word: "Zentralkrankenhaus", but not "Hospital"."""
    own = _HOSPITAL.sub("", folded)
    return own != folded and sum(map(str.isalnum, own)) >= _LEAST_SIGNS


def place_parts(text: str, words: LocaleWords, label_kind: str = "place") -> tuple[Part, ...]:
    """Split a written place into parts whose texts together form the place, each with its kind.

    The first part that is not a postal code, region or country is the town. A name after the town is a region if a
    region has this name, as Madrid in "Getafe (Madrid)".

    Parameters
    ----------
    text : str
        Place as it is written in the note.
    words : LocaleWords
        Places of the locale.
    label_kind : {"place", "postcode", "region", "country", "town"}, default="place"
        Kind that the label implies for a place of one part.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [kind for _, kind in place_parts("Boston, MA 02115", locale_words("en"))]
    ['town', 'kept', 'region', 'kept', 'postcode']
    """
    before, core, behind = without_brackets(text)
    parts: list[Part] = []
    for piece, kind in _split(core, words):
        is_behind_town = kind == TOWN and any(other == TOWN for _, other in parts)
        parts.append((piece, REGION if is_behind_town and fold(piece) in words.region_names else kind))
    kinds = [kind for _, kind in parts if kind != KEPT]
    if label_kind != "place" and (len(kinds) == 1 or (label_kind == POSTCODE and TOWN not in kinds)):
        parts = [(core, label_kind)]
    return tuple(one for one in ((before, KEPT), *parts, (behind, KEPT)) if one[0])


def rewritten_place(parts: tuple[Part, ...], rules: dict[str, Rule], near: str | None) -> str:
    """Place in which each part is replaced by the rule of its kind.

    Each rule receives the text of the part and the text of the town: the town of the place itself, else ``near``.
    """
    town = named_part(parts, TOWN) or near
    out = []
    for text, kind in parts:
        beside = town or (named_part(parts, REGION) if kind == POSTCODE else None)
        out.append(text if kind == KEPT else rules[kind](text, beside))
    return "".join(out)


def named_part(parts: tuple[Part, ...], kind: str) -> str | None:
    """Text of the first part of a kind; None without such a part."""
    return next((text for text, other in parts if other == kind), None)


def is_whole_address(parts: tuple[Part, ...]) -> bool:
    """Whether a place has a street and, behind it, a postal code in front of a town or behind a code of a region.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [is_whole_address(place_parts(text, locale_words("de"))) for text in ("Weg 3, 10115 Ulm", "Am Weg 3, 2. OG")]
    [True, False]
    """
    kinds = [kind for _, kind in parts if kind != KEPT]
    beside = zip(parts, parts[1:], parts[2:], strict=False)
    # A comma may also separate a house number from a word such as "bajo".
    codes = [
        one if kind == POSTCODE else other
        for (one, kind), (sign, _), (other, other_kind) in beside
        if (kind, other_kind) in ((POSTCODE, TOWN), (REGION, POSTCODE)) and (sign.isspace() or sign == "-")
    ]
    is_long = any(sum(map(str.isdigit, code)) >= _SHORTEST_CODE for code in codes)
    return is_long and STREET in kinds and kinds[-1] != STREET


def _split(text: str, words: LocaleWords) -> list[Part]:
    pieces = _pieces(text)
    if any(sum(map(str.isalnum, piece)) < _LEAST_SIGNS for piece, is_sign in pieces if not is_sign):
        return [(text, kind_of_place(text, words))]
    split: list[Part] = []
    for piece, is_sign in pieces:
        split += [(piece, KEPT)] if is_sign else _codes_apart(piece, words)
    kinds = [kind for _, kind in split]
    if words.locale == "en" and kinds[:5] == [STREET, KEPT, REGION, KEPT, POSTCODE]:
        # "12 Main St Boston, MA 02115"
        split[:1] = street_and_town(split[0][0], words) or split[:1]
    return split


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Text between commas, brackets and slashes, and these characters."""
    out, end = [], 0
    signs = _SIGNS_AND_LINES if any(map(str.isdigit, text)) else _SIGNS
    for sign in signs.finditer(text):
        out += [(text[end : sign.start()], False), (sign[0], True)]
        end = sign.end()
    return [one for one in (*out, (text[end:], False)) if one[0]]


def _codes_apart(text: str, words: LocaleWords) -> list[Part]:
    """Parts of a place without commas: a postal code before or after a name, and a code of a region after the name."""
    if (address := _without_commas(text, words)) is not None:
        return address
    front: list[Part] = []
    back: list[Part] = []
    code = _CODES.get(words.locale, _CODE)
    # In English, a number in front of a name is a house number.
    before = None if words.locale == "en" else re.match(rf"({code})(\s+|-)(?=.*{_LETTERS})", text, re.DOTALL)
    if before is not None and not _is_whole(text, code, words):
        front, text = [(before[1], POSTCODE), (before[2], KEPT)], text[before.end() :]
    behind = _last_part(text, code)
    if behind is not None and not _is_whole(text, code, words):
        back, text = [(behind[1], KEPT), (behind[2], POSTCODE)], text[: behind.start()]
    found = None if _is_whole(text, code, words) else _last_part(text, "[A-Z]{2}")
    # In a text in capitals, the last two letters may be a part of the name.
    if found is not None and is_region_code(found[2], words):
        town = text[: found.start()]
        if words.locale == "en" or not town.isupper():
            back, text = [(found[1], KEPT), (found[2], REGION), *back], town
    return [*front, (text, kind_of_place(text, words)), *back]


def _without_commas(text: str, words: LocaleWords) -> list[Part] | None:
    """Parts of a street with a number, a postal code and a town without commas: 12 rue Pasteur 75015 Paris."""
    if words.locale == "en":
        return _american_address(text, words)
    found = re.search(rf"(\s+)({_BEHIND_NUMBER.get(words.locale, _LONG_CODE)})(\s+)(?={_LETTERS})", text)
    if found is None or not any(map(str.isdigit, street := text[: found.start()])):
        return None
    if kind_of_place(street, words) != STREET:
        return None
    town = _codes_apart(text[found.end() :], words)
    return [(street, STREET), (found[1], KEPT), (found[2], POSTCODE), (found[3], KEPT), *town]


def _american_address(text: str, words: LocaleWords) -> list[Part] | None:
    """Parts of a street with a number, a town, the code of a state, and a postal code: 12 Main St Boston MA 02115."""
    found = re.search(rf"(\s+)([A-Z]{{2}})(\s+)({_CODES['en']})\Z", text)
    if found is None or not is_region_code(found[2], words):
        return None
    front = street_and_town(text[: found.start()], words)
    back = [(found[1], KEPT), (found[2], REGION), (found[3], KEPT), (found[4], POSTCODE)]
    return None if front is None else [*front, *back]


def street_and_town(text: str, words: LocaleWords) -> list[Part] | None:
    """Parts of an English street with a number and of the town directly behind it; None without a town.

    The street ends behind its type, a point of the compass and the number of a flat. If several words may be the type,
    a listed town decides, else the first of these words.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [street_and_town(text, locale_words("en")) for text in ("12 St Ann Ave NE Apt 4 St Paul", "12 Park Way S")]
    [[('12 St Ann Ave NE Apt 4', 'street'), (' ', 'kept'), ('St Paul', 'town')], None]
    """
    found = list(re.finditer(r"\S+", text))
    if not found or not found[0][0][0].isdigit():
        return None
    types, tails = words.bare("street types"), words.bare("street tail words")
    towns: list[int] = []
    for i in range(2, len(found) - 1):
        if fold(found[i][0]).rstrip(".") not in types:
            continue
        start = i + 1 + (found[i + 1][0].rstrip(".") in COMPASS)
        while start + 1 < len(found) and fold(found[start][0]).rstrip(".") in tails:
            start += 2
        start += "".join(one[0] for one in found[start : start + 1])[:1] == "#"
        if start < len(found) and _TOWN.fullmatch(text, found[start].start()):
            towns.append(start)
    listed = (start for start in towns if fold(text[found[start].start() :]) in words.folded_towns)
    start = next(listed, towns[0] if towns else 0)
    if not start:
        return None
    end, town = found[start - 1].end(), found[start].start()
    return [(text[:end], STREET), (text[end:town], KEPT), (text[town:], TOWN)]


def _is_whole(text: str, code: str, words: LocaleWords) -> bool:
    has_number, folded = any(map(str.isdigit, text)), fold(text)
    is_street = has_number and (_is_street(folded, words) or _has_tail(folded, words))
    return is_street or re.fullmatch(code, text) is not None


def _last_part(text: str, pattern: str) -> re.Match[str] | None:
    """Match of the last part of a text and of the blanks before this part; None without a name before the blanks."""
    found = re.search(rf"(?<!\s)(\s+)({pattern})\Z", text)
    return found if found is not None and re.search(_LETTERS, text[: found.start()]) else None
