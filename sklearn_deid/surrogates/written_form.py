"""Written form of PHI: the properties of an original that a surrogate keeps by design."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping

from .folding import fold
from .guessed_locale import guess_locale
from .institution_surrogates import LONGEST_CODE, is_code, is_ward, ward_words
from .label_kinds import label_kinds
from .locale_words import LocaleWords, locale_words
from .name_parsing import whole_name, with_signs_apart
from .name_particles import east_asian_words, is_short_particle
from .net_surrogates import HOSTS
from .number_surrogates import (
    ROMAN,
    SHORT,
    code_length,
    end_of_words,
    is_hexadecimal,
    may_stay,
    mobile_kind,
    national_digits,
)
from .own_names import without_legal_form
from .patient_surrogates import NAMES, PLACES
from .place_parts import HOSPITAL, KEPT, POSTCODE, STREET, SUFFIXED, TOWN, is_whole_address, place_parts
from .relative_dates import end_of_distance, is_relative
from .street_pieces import COMPASS, NUMBER_WORDS, compass_point
from .titles import are_consonants, title_places

_PIECES = re.compile(r"(?<=[^\W\d_])['\u2019]s\b|\d|[^\W\d_]+|[\W_]", re.IGNORECASE)
_DATES = ("date", "birth date")
_OPEN = ("age", "sex", "title")
_WORD = re.compile(r"[^\W\d_]+")
_HEADS = {"hospital": "hospitals", "institution": "institutions", "department": "hospitals"}
_OF_TOWNS = ("hospital", "institution")
_SCHEMES = ("http", "https", "ftp")
_LONGEST_TOWN = 4


def written_form(
    text: str,
    label: str,
    locale: str = "auto",
    kinds: Mapping[str, str] | None = None,
    names: Collection[str] = (),
) -> str:
    """Return the written form of a PHI span, which contains all properties that affect its surrogate.

    An attacker who knows the rules for surrogates knows this form of each original. Given label and form, the surrogate
    is independent of the original, with two exceptions. First, the shift of dates is limited. Second, unchanged words
    next to the span, such as "an" before a profession or "Mrs." before a name, determine a part of the surrogate.
    `AdversarialPrivacyAuditor` compares originals with equal forms.

    Parameters
    ----------
    text : str
        Text of the span.
    label : str
        Label of the span. The label determines the kind; see `label_kinds`.
    locale : {"auto", "en", "es", "de", "fr", "nb", "it", "nl", "pt"}, default="auto"
        Language of the public words.
    kinds : mapping of str to str, optional
        Kinds of labels, from `label_kinds`. With None, the kinds of the known labels are used.
    names : collection of str, default=()
        Words of the names in the notes of the patient. If a mail address or a login contains one of these words, its
        composition is kept.

    Returns
    -------
    str
        Description of the form. The form shows each digit as ``9``, each word by its casing, and public words, such as
        titles and types of streets, unchanged. By default, ages, sexes and titles are unchanged, so their form is their
        text.

    Examples
    --------
    >>> written_form("Dr. Kramer", "DOCTOR", "en") == written_form("Dr. Quillwick", "DOCTOR", "en")
    False
    >>> written_form("Dr. Zyxw", "DOCTOR", "en") == written_form("Dr. Quillwick", "DOCTOR", "en")
    True
    >>> written_form("AB-123", "MEDICALRECORD", "en")
    'AA-999'
    """
    # The engine composes letters and accents, too.
    text = unicodedata.normalize("NFC", text)
    kind = (label_kinds() if kinds is None else kinds).get(label, "")
    words = locale_words(guess_locale(text) if locale == "auto" else locale)
    if kind in _OF_TOWNS and (parts := without_legal_form(text))[1]:
        return written_form(parts[0], label, words.locale, kinds, names) + parts[1]
    if kind in _OPEN or (kind == "relative" and any(map(str.isdigit, text))):  # "madre de 34 a\u00f1os"
        return text
    if kind == "identifier":
        start = end_of_words(text, words.locale)
        is_hex = is_hexadecimal(text[start:])
        return text[:start] + "".join(map(_sign, _with_repeats(text[start:]))) + (" hexadecimal" if is_hex else "")
    if kind == "phone":
        return _phone(text, words.locale)
    is_ward_alone = kind == HOSPITAL and is_ward(text, words)
    if kind == "ip" or (kind in _OF_TOWNS and is_code(text) and not is_ward_alone):
        return "".join(map(_sign, text))
    if kind in ("email", "username"):
        casing = " ".join(map(_casing, text.split("@")))
        return f"{''.join(map(_sign, _without_names(fold(text), names)))} {casing}"
    places = place_parts(text, words, kind if kind in PLACES else "place") if kind in (*PLACES, STREET) else ()
    if kind in PLACES or is_whole_address(places):
        return "".join(_part(part, part_kind, words) for part, part_kind in places)
    if kind != "profession" or any(map(str.isdigit, text)):
        return _words_form(text, kind, words)
    return f"{_replaced_whole(text)}{_sign(text[:1])}{'F' if words.is_female_profession(text) else ''}"


def _replaced_whole(text: str) -> str:
    short = _signs(text) if text.isupper() and sum(map(str.isalpha, text)) <= SHORT else ""
    return f"{_casing(text)}{short} {len(text.split())} "


def _part(text: str, kind: str, words: LocaleWords) -> str:
    """Form of a part of a place."""
    if kind == KEPT:
        return text
    if kind == POSTCODE:
        return _signs(text)
    if kind == HOSPITAL:
        name, legal_form = without_legal_form(text)
        return f"{_words_form(name, HOSPITAL, words)}{legal_form}"
    if kind == STREET or any(map(str.isdigit, text)):
        return f"{_words_form(text, 'street' if kind == STREET else 'place', words)} {kind}"
    # "Getafe, Madrid": behind a town, such a name counts as its region.
    may_be_region = kind == TOWN and fold(text) in words.region_names
    return f"{_replaced_whole(text)}{kind}{' or region' if may_be_region else ''}"


def _words_form(text: str, kind: str, words: LocaleWords) -> str:
    if kind in _DATES:
        return _date(text, kind, words)
    pieces = _PIECES.findall(text)
    if kind in NAMES:
        pieces = with_signs_apart(pieces, words)
    kept: set[int] = set()
    if kind in NAMES:
        kept = {*title_places(pieces, words), *(i for i in range(len(pieces)) if is_short_particle(pieces, i, words))}
    form = "".join(fold(piece) if i in kept else _piece(piece, kind, words) for i, piece in enumerate(pieces))
    if kind in NAMES:
        whole = (name for i in range(len(pieces)) if (name := whole_name(pieces, i, words)))
        form += "".join(f" short for {_list_of(name, words)}" for name in whole)
    return f"{form}{_towns(text, words)}" if kind in _OF_TOWNS else form


def _phone(text: str, locale: str) -> str:
    """Form of a telephone number, with the sign of a country code and the 0 after it."""
    digits = [i for i, sign in enumerate(text) if sign.isdigit()]
    n_code = code_length(text, [text[i] for i in digits], locale)
    behind = digits[n_code : n_code + 1]
    has_zero = n_code > 0 and behind != [] and text[behind[0]] == "0"
    form = _WORD.sub(lambda word: fold(word[0]) if may_stay(word[0]) else _signs(word[0]), _signs(text, False))
    is_mobile = mobile_kind(national_digits(text, locale), locale)
    kind = "" if is_mobile is None else " mobile" if is_mobile else " landline"
    return f"{form}{f' code {n_code}' if n_code else ''}{' 0' if has_zero else ''}{kind}"


def _towns(text: str, words: LocaleWords) -> str:
    """Positions of listed towns in the name of an institution, which have the surrogates of these towns."""
    named = _WORD.findall(text)
    found = [
        f"{first}-{first + n}"
        for first in range(len(named))
        for n in range(1, _LONGEST_TOWN + 1)
        if first + n <= len(named) and fold(" ".join(named[first : first + n])) in words.folded_towns
    ]
    return f" towns {','.join(found)}" if found else ""


def _without_names(text: str, names: Collection[str]) -> str:
    """Mail address in which each name and each long word is replaced by one character."""
    longest = sorted((fold(name) for name in names if len(name) > SHORT - 1), key=len, reverse=True)
    known = "|".join(map(re.escape, longest))
    marked = re.sub(known, "\u2022", text) if known else text
    return re.sub(rf"[^\W\d_]{{{SHORT + 1},}}", "\u2020", marked)


def _piece(piece: str, kind: str, words: LocaleWords) -> str:
    if not piece[0].isalpha():
        return _sign(piece)
    if kind == "street" and piece in COMPASS:
        return f"compass{len(piece)}"
    if kind == "street" and (point := compass_point(piece, words.locale)) is not None:
        return f"{_casing(piece)}compass word{len(point)}"
    if kind == "street" and words.locale != "en" and words.month_number(piece) is not None:
        return f"{_casing(piece)}month"  # rue du 8 mai
    if kind == "street" and fold(piece) in NUMBER_WORDS:
        return fold(piece)
    if kind in ("street", *_OF_TOWNS) and ROMAN.fullmatch(piece):
        return "roman"
    if kind == "url" and fold(piece) in (*HOSTS, *_SCHEMES):
        return fold(piece)
    if kind == "url":
        return "".join(map(_sign, piece)) if len(piece) <= SHORT else _casing(piece)
    if kind in _DATES:
        return f"{_casing(piece)}{_date_word(fold(piece), words)}"
    is_public = words.has_listed_accents(piece)
    is_particle = (kind == "street" or kind in _HEADS) and len(piece) > 1 and fold(piece) in words.particles
    is_connector = piece.islower() and fold(piece) in _connectors(kind, words)
    is_kept = bool(words.uninflected(fold(piece)) & _kept_words(kind, words))
    is_kept = is_kept and (is_public or kind not in (*NAMES, "relative"))
    if is_kept or (is_public and (is_particle or is_connector)):
        return fold(piece)
    # Up to five capitals may be the code of an institution, whose surrogate has the same number of capitals.
    longest = LONGEST_CODE if kind in _OF_TOWNS and piece.isupper() else SHORT
    length = len(piece) if len(piece) <= longest else ""
    if kind not in (*NAMES, "relative"):
        return f"{_casing(piece)}{length}{_end(piece, kind, words)}"
    # "JB" in front of or behind a surname counts as initials, and "UT" may be a name.
    sign = f"{len(piece)} consonants" if piece.isupper() and len(piece) < 5 and are_consonants(piece) else length
    return f"{_casing(piece)}{sign}{_list_of(piece, words)}"


def _date(text: str, kind: str, words: LocaleWords) -> str:
    """Form of a date: distances ("two days ago", "two weeks before") unchanged, and whether the day has a name."""
    if is_relative(text, words):
        return text
    start = end_of_distance(text, words)
    folded = fold(text)
    named = (name for name in ("quarters", "holidays") if any(day in folded for day in words.numbered(name)))
    pieces = (_piece(piece, kind, words) for piece in _PIECES.findall(text[start:]))
    return f"{text[:start]}{''.join(pieces)}{next(named, '')}"


def _date_word(folded: str, words: LocaleWords) -> str:
    """Public word of a date that is kept, or the list of a word that is replaced."""
    if folded in words.numbered("date words") or folded in words.numbered("date fillers"):
        return f" {folded}"
    lists = ("months", "month abbreviations", "weekdays", "weekday abbreviations", "other weekdays", "seasons")
    return next((f" {name}" for name in lists if folded in words.numbered(name)), "")


def _end(piece: str, kind: str, words: LocaleWords) -> str:
    """Public end of a word, in languages that join a name and its type to one word (Hauptstra\u00dfe)."""
    if words.locale not in SUFFIXED or kind not in ("street", *_OF_TOWNS):
        return ""
    public = words.bare("street types") if kind == "street" else _kept_words(kind, words)
    folded = fold(piece)
    return max((f"-{end}" for end in public if len(end) > 2 and folded.endswith(end)), key=len, default="")


def _kept_words(kind: str, words: LocaleWords) -> frozenset[str]:
    """Public words, folded, that a surrogate of this kind keeps or takes into account."""
    if kind == "street":
        return words.bare("street types") | words.bare("street tail words") | words.titles
    if kind in _HEADS:
        heads = [fold(word) for form in words.block(_HEADS[kind]) for word in re.findall(r"[^\W\d_]{2,}", form)]
        wards = ward_words(words) if kind != "institution" else ()
        return frozenset((*heads, *wards)) | words.bare("institution abbreviations") | words.titles
    if kind in (*NAMES, "relative"):
        return words.titles | words.particles | frozenset(words.numbered("relatives")) | words.bare("relative words")
    return frozenset()


def _connectors(kind: str, words: LocaleWords) -> frozenset[str]:
    """Folded public words that are kept between the words of a name."""
    if kind in NAMES:
        return words.name_links | frozenset(words.block("short particles"))
    if kind != "street" and kind not in _HEADS:
        return frozenset()
    return words.bare("function words") | words.particles


def _with_repeats(text: str) -> str:
    """Number in which repeated groups of digits, which the surrogate also repeats, are marked."""
    seen: set[str] = set()

    def marked(group: re.Match[str]) -> str:
        is_new = group[0] not in seen
        seen.add(group[0])
        return group[0] if is_new else "=" * len(group[0])

    return re.sub(r"\d{2,}", marked, text)


def _list_of(word: str, words: LocaleWords) -> str:
    """Names of the public lists that contain the word, and the sex of a given name."""
    name = words.without_genitive(word)
    sex = words.sex_of(name) or ("both" if words.may_be_given_name(name) else "")
    # Beside such a name, words such as "Bin" are no particles.
    origin = " east asian" if fold(word) in east_asian_words() else ""
    return f"({sex}{' surname' if words.is_surname(name) else ''}{'' if name == word else ' in the genitive'}{origin})"


def _casing(word: str) -> str:
    return "A" if word.isupper() else "a" if word.islower() else "Aa"


def _signs(text: str, letters: bool = True) -> str:
    return "".join(_sign(sign) if letters or sign.isdigit() else sign for sign in text)


def _sign(sign: str) -> str:
    if sign.isdigit():
        return "9"
    return ("A" if sign.isupper() else "a") if sign.isalpha() else sign
