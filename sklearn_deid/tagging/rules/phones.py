"""Rules for telephone and fax numbers of North America and Spain."""

from __future__ import annotations

import re

from .rule import Rule

# The match must not be part of a longer number.
_FREE = r"(?<!\d)(?<!\d[-./])"
_END = r"(?!\d)(?![-/]\d)"
_US = r"(?:\+?1[-. ])?(?:\(\d{3}\)\s{0,2}|\d{3}[-. ])\d{3}[-. ]\d{4}"
_US_LOCAL = r"\d{3}[-.]\d{4}"
_ES = (
    r"(?:(?:34|0034)[ .-]?)?"
    r"(?:[6789]\d{2}[ .-]?\d{3}[ .-]?\d{3}|[6789]\d{2}[ .-]\d{2}[ .-]\d{2}[ .-]\d{2}"
    r"|[89]\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})"
)
# Digits in groups of any size, only after a keyword such as "tel".
_ES_ANY = r"\d[\d ().-]{5,16}\d"
_TEL_ES = r"(?i:\b(?:tel[ée]fonos?|telef|tel|tlfnos?|tlfn|tlfs?|tfnos?|tfn|tfs?|tlno|m[óo]vil))\b"
_FAX = r"(?i:\bfax(?:ed)?)(?:\s?(?i:no|number|n[úu]mero|n[úu]m|nº))?[\s.:;#]{0,4}\+?\(?"


def _seven_to_thirteen_digits(text: str) -> int:
    """Length of a telephone number, if the number has 7 to 13 digits."""
    return len(text) * (7 <= len(re.findall(r"\d", text)) <= 13)


PHONE_RULES = (
    Rule("phone-us", "phone", "PHONE", _FREE + _US + _END, ("en",)),
    Rule("phone-us-local", "phone", "PHONE", _FREE + _US_LOCAL + _END + r"(?!\.\d)", ("en",), priority=0),
    Rule(
        "phone-us-extension",
        "phone",
        "PHONE",
        r"(?i:\b(?:ext|extension|x|pager|beeper|phone|tel|call)\b|\bx(?=\d))\s?[.:]?\s?#?(?P<phi>\d{4,5})"
        r"(?!\d)(?![-./]\d)",
        ("en",),
        priority=2,
    ),
    Rule(
        "fax-us",
        "phone",
        "FAX",
        rf"(?i:\bfax(?:ed)?)(?:\s?(?i:no|number|to))?[\s.:#]{{0,4}}(?P<phi>{_US}|{_US_LOCAL}){_END}",
        ("en",),
        priority=2,
    ),
    Rule("phone-es", "phone", "PHONE", _FREE + _ES + _END, ("es",), priority=0),
    Rule(
        "phone-es-named",
        "phone",
        "PHONE",
        _TEL_ES + rf"[\s.:;]{{0,4}}\+?\(?(?P<phi>{_ES}|{_ES_ANY})" + _END,
        ("es",),
        priority=2,
        measure=_seven_to_thirteen_digits,
    ),
    Rule("fax-es", "phone", "FAX", _FAX + rf"(?P<phi>{_ES}|{_ES_ANY}){_END}", ("es",), 2, _seven_to_thirteen_digits),
)
