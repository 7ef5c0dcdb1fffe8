"""Rules for telephone and fax numbers.

The rules recognize numbers by their form or by a word before the number, not by the numbering plan of a country. With a
numbering plan, the rules would miss numbers with typing errors.
"""

from __future__ import annotations

import re
from typing import Any

from .rule import LANGUAGES, Rule, word_starts

# The match must not be part of a longer number.
# The first character is looked for first: that takes a fraction of the time of looking back from each character.
_FREE = r"(?=[\d+(])(?<!\d)(?<!\d[-./])"
_END = r"(?!\d)(?![-/]\d)"
# Not the minutes of a clock: "08:00 120/80 72 98" is a row of vital signs.
_NO_MINUTES = "".join(rf"(?<!\d{sign})" for sign in (":", "\x1f:\x1f", " : ", "h", "h ", " h "))
_US = r"(?:\+?1[-. ])?(?:\(\d{3}\)(?:\s{0,2}|\s?-\s?)|\d{3}[-. ])\d{3}(?:[-. ]|\s-\s)\d{4}"
_US_LOCAL = r"\d{3}[-.]\d{4}"
# The last two forms are those of Ireland and Australia.
_UK = (
    r"\(?0[1-9]\d{1,3}\)?[ -]\d{3,4}[ -]?\d{3,4}|07\d{9}"
    r"|(?:\(0[1-9]\)|0[1-9])[ -]\d{3}[ -]\d{4}|\(?0[1-9]\)?[ -]\d{4}[ -]\d{4}"
)
_ES = (
    r"(?:(?:34|0034)[ .-]?)?"
    r"(?:[6789]\d{2}[ .-]?\d{3}[ .-]?\d{3}|[6789]\d{2}[ .-]\d{2}[ .-]\d{2}[ .-]\d{2}"
    r"|[89]\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})"
)
# Digits in groups of any size, only after a keyword such as "tel".
_ES_ANY = r"\d[\d ().-]{5,16}\d"
_TEL_ES = r"(?i:\b(?:tel[ée]fonos?|telef|tel|tlfnos?|tlfn|tlfs?|tfnos?|tfn|tfs?|tlno|m[óo]vil))\b"
_FAX = r"(?i:\bfax(?:ed)?)(?:\s?(?i:no|number|n[úu]mero|n[úu]m|nº))?[\s.:;#]{0,4}\+?\(?"


_NAMES = (
    r"t[ée]l(?:ef(?:on|oon|ono|one)|[ée]phone|e?f)?|telefoonnummer|telefonnummer|telefonnr|tlf|mobil\w{0,3}|handy|"
    r"portable|mob|cell(?:ulare)?|telem[óo]vel|tlm|gsm|rufnummer|durchwahl"
)
_NAMES_EN = "tel(?:ephone)?|phone|ph|cell(?:phone)?|mob(?:ile)?|call(?:ed)?|contact"
_NAMES_OF_FAX = "t[ée]l[ée]fax|fax|faks|telekopi|t[ée]l[ée]copie(?:ur)?"
# Words before the short number of a telephone of a ward.
_WARD_PHONES = {
    "de": "durchwahl|dw|apparat|piepser|pieper|dect",
    "fr": "poste|dect|bip",
    "es": "ext|extensi[óo]n|busca",
    "nb": "calling|lokal(?:nr|nummer)",
    "it": "int|interno|cercapersone",
    "pt": "ext|extens[ãa]o|bip",
    "nl": "toestel|tst|pieper|sein",
}
_SIGN = r"(?:\s?(?i:nr|no|num|n[°ºr]|nummer|numéro|número))?[\s.:;/-]{0,4}"
_ANY = r"[+(]{0,2}\d[\d ()./-]{5,18}\d"
# Forms of numbers of a country, without a word before them: with the first 0, or in the groups of the country.
_FORMS = {
    "de": r"\(?0[1-9]\d{1,4}\)?[ /-]{1,3}\d{2,8}(?:[ -]\d{2,5}){0,2}",
    "fr": r"0[1-9](?P<gap>[ ./-]?)\d{2}(?:(?P=gap)\d{2}){3}|0[1-9] \d{4} \d{4}"
    # Belgium and Switzerland
    rf"|{_NO_MINUTES}0[1-9]\d?[ /]\d{{3}}[ .]\d{{2}}[ .]\d{{2}}"
    r"|04\d{2}[ /]\d{2}[ .]\d{2}[ .]\d{2}",
    "nb": r"[2-9]\d(?: \d{2}){3}|[49]\d{2} \d{2} \d{3}",
    "it": r"0\d{1,3}[ /-]\d{5,8}|3\d{2}[ ./-]?\d{6,7}|3\d{2} \d{2} \d{2} \d{3}|3\d{2}[ .-]\d{3}[ .-]\d{4}",
    "pt": r"(?:2\d|9[1236]|[238]\d{2}|9[1236]\d)[ .]\d{3}[ .]\d{2,3}(?:[ .]?\d{2})?|9[1236]\d{7}"
    r"|(?:\(\d{2}\)\s?|\d{2} )9?\d{4}-\d{4}",
    "nl": r"0[1-9]\d{0,2}[ -]\d{3}[ ]?\d{2}[ ]?\d{2}|06(?:[ -]?\d{2}){4}|0[1-9]\d{8}"
    # Belgium
    r"|0[1-9]\d?/\d{3}[ .]\d{2}[ .]\d{2}|04\d{2}[ /]\d{2}[ .]\d{2}[ .]\d{2}",
}
_ABROAD = rf"(?:\+|\b00|{_NO_MINUTES}\b00 )" + r"[1-9]\d{0,2}[ .-]?\(?\d[\d ()./-]{5,14}\d"


def _phone(name: str, pattern: str, *more: Any, **settings: Any) -> Rule:
    return Rule(name, "phone", "PHONE", pattern, *more, **settings)


def _phones_of(language: str) -> tuple[Rule, ...]:
    """Rules for telephone and fax numbers in a language."""
    free = rf"{_FREE}(?:{_FORMS[language]}){_END}"
    of_phone, of_fax = (rf"(?i:\b(?:{words}))\b{_SIGN}(?P<phi>{_ANY}){_END}" for words in (_NAMES, _NAMES_OF_FAX))
    named, digits = (language,), _seven_to_thirteen_digits
    return (
        _phone(f"phone-{language}", free, named, 0, digits),
        _phone(f"phone-named-{language}", of_phone, named, 2, digits, words=word_starts(_NAMES)),
        Rule(
            f"fax-named-{language}",
            "phone",
            "FAX",
            of_fax,
            named,
            2,
            digits,
            words=("fax", "faks", "telekopi", "copie"),
        ),
    )


def _ward_phone(language: str) -> Rule:
    """Rule for the short telephone number of a ward after a keyword."""
    words = rf"(?i:\b(?:{_WARD_PHONES[language]}))\b"
    number = rf"(?P<phi>\d{{3,5}}){_END}(?![.,]\d)"
    pattern, starts = rf"{words}{_SIGN}{number}", word_starts(_WARD_PHONES[language])
    return _phone(f"phone-ward-{language}", pattern, (language,), 2, words=starts)


def _seven_to_thirteen_digits(text: str) -> int:
    """Length of a telephone number, if the number has 7 to 13 digits."""
    return len(text) * (7 <= len(re.findall(r"\d", text)) <= 13)


def _length_with_country(text: str) -> int:
    """Length of a number with the code of a country: 7 to 15 digits, behind "+" or "00"."""
    digits = re.sub(r"\D", "", text)
    return len(text) * (7 <= len(digits) - 2 * digits.startswith("00") <= 15)


PHONE_RULES = (
    _phone("phone-us", _FREE + _US + r"(?:,?\s(?i:x|ext\.?|extension)\s?\d{1,6})?" + _END, ("en",)),
    _phone("phone-uk", rf"{_FREE}(?:{_UK}){_END}", ("en",), 0),
    _phone(
        "phone-named-en",
        rf"(?i:\b(?:{_NAMES_EN}))\b{_SIGN}(?P<phi>{_ANY}){_END}",
        ("en",),
        priority=0,
        measure=_seven_to_thirteen_digits,
        words=word_starts(_NAMES_EN),
    ),
    _phone("phone-us-local", _FREE + _US_LOCAL + _END + r"(?!\.\d)", ("en",), priority=0),
    _phone(
        "phone-us-extension",
        r"(?i:\b(?:ext|extension|x|pager|beeper|bleep|phone|tel|call)\b|\bx(?=\d))\s?[.:]?\s?#?(?P<phi>\d{4,5})"
        r"(?!\d)(?![-./]\d)",
        ("en",),
        priority=2,
    ),
    Rule(
        "fax-us",
        "phone",
        "FAX",
        rf"(?i:\bfax(?:ed)?)(?:\s?(?i:no|number|to))?[\s.:#]{{0,4}}(?P<phi>{_US}|{_US_LOCAL}|\d{{10}}){_END}",
        ("en",),
        priority=2,
        words=("fax",),
    ),
    _phone("phone-es", _FREE + _ES + _END, ("es",), priority=0),
    _phone(
        "phone-es-named",
        _TEL_ES + rf"[\s.:;]{{0,4}}\+?\(?(?P<phi>{_ES}|{_ES_ANY})" + _END,
        ("es",),
        priority=2,
        measure=_seven_to_thirteen_digits,
        words=("tel", "tlf", "tfn", "tfs", "tf", "tln", "móvil", "movil"),
    ),
    Rule(
        "fax-es",
        "phone",
        "FAX",
        _FAX + rf"(?P<phi>{_ES}|{_ES_ANY}){_END}",
        ("es",),
        2,
        _seven_to_thirteen_digits,
        words=("fax",),
    ),
    _phone("phone-abroad", rf"(?=[+0])(?<![\w+])(?<!\d[.,]){_ABROAD}{_END}", LANGUAGES, 1, _length_with_country),
    *(rule for language in _FORMS for rule in _phones_of(language)),
    *map(_ward_phone, _WARD_PHONES),
)
