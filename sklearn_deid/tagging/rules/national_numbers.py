"""Rules for numbers of persons, vehicles and accounts whose form, or a word before them, belongs to some countries."""

from __future__ import annotations

import re
from typing import Any

from .rule import LANGUAGES, Rule

_END = r"(?![^\W_])(?![-/.]\d)"
_SIGN = r"(?:\s?(?i:no|nr|number|n|n[úu]mero)(?![A-Z]))?[\s.:#º°-]{0,5}"
# English words that come before a number of an identifier only with "#" or "number" between: "order # 1234567".
_NUMBERED = {
    "MEDICALRECORD": "patient|pt|inmate|ur|urn|hosp\\.?",
    "HEALTHPLAN": "member|subscriber|group|claim",
    "VISIT": "case|specimen|order|lab|prescription|rx|fin",
    "ACCOUNT": "routing|card",
    "NATIONALID": "badge|employee|sin",
}
# Names of numbers in capitals, whose small letters are other words, and forms of the numbers in groups.
_IN_CAPITALS = {
    "MEDICALRECORD": "UHID|UMRN|URN|UR(?=\\s?[:#])|MRD|CR(?=\\s(?:No|NO))|CHI",
    "HEALTHPLAN": "PHN|OHIP|HCN|RAMQ|IHI|(?i:medicare|health card)",
    "NATIONALID": "(?i:aadhaa?r)|SIN|PAN|TFN|PPSN?|NHI|SA ID|ID (?i:number|no)",
}
_STARTS = {
    "MEDICALRECORD": ("uhid", "umrn", "ur", "mrd", "cr", "chi"),
    "HEALTHPLAN": ("phn", "ohip", "hcn", "ramq", "ihi", "medicare", "health card"),
    "NATIONALID": ("aadha", "sin", "pan", "tfn", "pps", "nhi", "id"),
}
_FEWEST_DIGITS = 6
# Words behind a number that are no letters of the number.
_NO_LETTERS = r"(?:BP|HR|RR|PR|WT|HT|PT|MD|DR|NP|RN|IV|PO|IM|ER|ED|OR|IN|IS|AT|BY|TO|OF|NO)(?![^\W_])"
_IN_GROUPS = rf"(?:[A-Z]{{2}}\x1f?)?\d[\d -]{{4,17}}\d(?:(?!\x1f{_NO_LETTERS})\x1f?[A-Z]{{1,2}})?"
# New Zealand, India and Quebec
_WITH_LETTERS = (
    r"[A-Z]{3}\x1f?\d\d(?:\d\d|\x1f?[A-Z]{2})|[A-Z]{5}[ \x1f]?\d{4}[ \x1f]?[A-Z]|[A-Z]{4}[ \x1f-]?\d{4}[ -]?\d{4}"
)
# In the header of a note, an age may follow behind a slash: "UHID 123456 / 45 M".
_AGE = r"\d{1,3}[ \x1f]?(?:[MF]|(?i:y|yo|yrs?|years?))(?![^\W_])"
_END_IN_HEADER = rf"(?![-.:]\d|/(?!{_AGE})\d)"
# Further forms behind the names of a kind.
_FORMS = {
    # Letters of a number of Ontario, and the number of a person on an Australian card
    "HEALTHPLAN": rf"(?:\d[ -]?){{10}}\x1f?(?!{_NO_LETTERS})[A-Z]{{2}}|\d{{4}}[ -]?\d{{5}}[ -]?\d ?/ ?\d",
    # Ireland
    "NATIONALID": r"\d{7}[ \x1f]?[A-W][A-ITWX]?",
    # "UHID: APJ1.0001234567"; "UHID 1234567/1"; "MRD No: 45/2019/1234", but "MRD 01/2019" is a residual disease.
    "MEDICALRECORD": (
        rf"[A-Z]{{2,4}}\x1f?\d{{1,2}}\.\d{{5,10}}|\d{{6,10}}/(?!{_AGE})\d{{1,8}}(?!/)|"
        r"(?:(?<=[:#oO])|(?<=[:#oO.]\s)|(?<=ber\s))"
        r"(?:[A-Z]{1,4}/)?\d{1,7}(?:/\d{2,8}){1,2}(?!/)"
    ),
}
# "Medicare 2023-24" and "PAN 2012-2015" (a disease), but not "ID no 2019 2043"; "PPS 60-50-40" (a scale). Record
# numbers of hospitals may begin with a year.
_TWO_YEARS = re.compile(r"((?:19|20)\d\d)[\s\x1d-\x1f-]{1,3}((?:19|20)?\d\d)")
_MONTH_AND_YEAR = re.compile(r"(?:\d{1,2}/)?\d{1,2}/(?:19|20)\d\d|\d{1,2}/\d{1,2}/\d\d")
_OF_SCALE = re.compile(r"\d0(?:[\s\x1d-\x1f-]{1,3}\d0)+")
_LONGEST_TIME = 10
_SHORTEST_PLATE, _MOST_GROUPS = 5, 4
_PLATES = r"matr[íi]cula|targa|immatricul\w{2,6}|kennzeichen|kenteken|kjennemerke|reg\.?nr"


def _number(name: str, kind: str, pattern: str, *languages: str, **more: Any) -> Rule:
    return Rule(name, "id", kind, pattern, languages or LANGUAGES, **{"priority": 2, **more})


def _numbered(kind: str, words: str) -> Rule:
    """Rule for a number behind a word with "#", "no." or "number", but not "in case no BP 120/80"."""
    # The sign first: much less time than looking for each of the words.
    sign = r"[#nN](?:(?<=#)|(?i:o\.|o\b(?=\s?[\d:#])|umber\b))[\s.:#]{0,3}"
    number = r"(?P<phi>(?=[A-Z\x1f-]{0,6}\d)[A-Z\d][A-Z\d\x1f-]{3,20})(?!\d)"
    return _number(
        f"{kind.lower()}-numbered-en",
        kind,
        sign + number,
        "en",
        measure=_length_of_four_digits,
        after=rf"\b(?i:{words})\s?(?i:#|no|number)[\s.:#]{{0,3}}",
    )


def _length_of_four_digits(text: str) -> int:
    """Length of a number of at least four digits, without a following word."""
    kept = re.sub(r"[\x1f-][A-Z]{3,}\Z", "", text).rstrip("-\x1d\x1e\x1f")
    return len(kept) * (len(re.findall(r"\d", kept)) >= 4)


def _in_capitals(kind: str, words: str) -> Rule:
    """Rule for a number behind its name in capitals, which is not read as letters of the number ("IHI 8003 ...")."""
    return _number(
        f"{kind.lower()}-in-capitals-en",
        kind,
        rf"(?=[A-Z\d])(?<![^\W_])(?!(?:{words})(?![A-Z\d]))(?:{_FORMS[kind]}|{_IN_GROUPS}|{_WITH_LETTERS})(?![^\W_]){_END_IN_HEADER}",
        "en",
        measure=_length_of_record if kind == "MEDICALRECORD" else _length_of_national,
        after=rf"\b(?:{words}){_SIGN}",
        words=_STARTS[kind],
    )


def _length_of_record(text: str) -> int:
    """Length of a number of a hospital; 0 for a date."""
    return 0 if _MONTH_AND_YEAR.fullmatch(text) else _length_in_capitals(text)


def _length_in_capitals(text: str) -> int:
    """Length of a number of at least six digits, or of four digits and three letters."""
    n_digits, n_letters = (sum(map(kind, text)) for kind in (str.isdigit, str.isalpha))
    return len(text) * (n_digits >= _FEWEST_DIGITS or (n_digits + n_letters > _FEWEST_DIGITS and n_letters > 2))


def _length_of_national(text: str) -> int:
    """The same; 0 for the years of a time, and for values of a scale."""
    years = _TWO_YEARS.fullmatch(text)
    # The second year of "2023-24" has the century of the first.
    is_time = years is not None and 0 <= int(years[1][: -len(years[2])] + years[2]) - int(years[1]) <= _LONGEST_TIME
    return 0 if is_time or _OF_SCALE.fullmatch(text) else _length_in_capitals(text)


def _length_of_plate(text: str) -> int:
    """Length of a number plate, which has letters and digits in few groups; 0 for a stage ("T2 N1 M0")."""
    groups = re.findall(r"[A-Z]+|\d+", text)
    n_signs, kinds = sum(map(len, groups)), {group.isdigit() for group in groups}
    return len(text) * (n_signs >= _SHORTEST_PLATE and len(groups) <= _MOST_GROUPS and len(kinds) > 1)


NATIONAL_RULES = (
    *(_numbered(*row) for row in _NUMBERED.items()),
    *(_in_capitals(*row) for row in _IN_CAPITALS.items()),
    # Australian veterans: "VX 12345"
    _number(
        "veteran",
        "HEALTHPLAN",
        rf"[NQSTVW](?<!\w[NQSTVW])[A-Z]{{0,3}}[ \x1f]?(?!(?:19|20)\d\d(?!\d))\d{{4,6}}(?:\x1f?[A-Z])?{_END}",
        "en",
        after=rf"\bDVA{_SIGN}",
        words=("dva",),
    ),
    # Numbers of the British national insurance: "QQ 12 34 56 C"
    _number(
        "national-insurance", "NATIONALID", rf"[A-Z](?<!\w[A-Z])[A-Z][ \x1f]?\d\d ?\d\d ?\d\d[ \x1f]?[A-D]{_END}", "en"
    ),
    # Switzerland: "756.1234.5678.97"; Belgium: "50.05.12-123.45"
    _number("ahv", "NATIONALID", rf"7(?<!\w7)56\.\d{{4}}\.\d{{4}}\.\d\d{_END}", "de", "fr", "it"),
    _number("rijksregister", "NATIONALID", rf"\d(?<!\w\d)\d\.\d\d\.\d\d-\d{{3}}\.\d\d{_END}", "nl", "fr"),
    # Chile: "12.345.678-5"; Argentina: "20-12345678-3"
    _number("rut", "NATIONALID", rf"\d(?<!\w\d)(?<!\d[-./]\d)\d?\.\d{{3}}\.\d{{3}}-[\dkK]{_END}", "es"),
    _number("cuil", "NATIONALID", rf"[23](?<!\w[23])(?<!\d[-./][23])\d-\d{{8}}-\d{_END}", "es"),
    # Without the letter of the Spanish NIF, whose check is that of the rule "nif".
    _number(
        "dni-en-cifras",
        "NATIONALID",
        r"\d(?<!\w\d)\d{0,2}\.?\d{3}\.?\d{3}(?:\.?\d{3})?(?![\d/])(?![\s-]{0,2}[A-Z]\b)",
        "es",
        after=r"\b(?i:dni|d\.n\.i|c[ée]dula(?:\sde\s(?:identidad|ciudadan[íi]a))?|c\.?i\.?(?=\s?[:n]))" + _SIGN,
    ),
    # French plates since 2009, and plates behind a word
    _number("plaque", "VEHICLE", rf"[A-Z](?<!\w[A-Z])[A-Z]-\d{{3}}-[A-Z]{{2}}{_END}", "fr", priority=1),
    _number(
        "plate-named",
        "VEHICLE",
        rf"\b(?i:{_PLATES})[\s.:]{{1,3}}(?P<phi>(?=[A-Z\x1f -]{{0,6}}\d)[A-Z\d][A-Z\d\x1f -]{{3,8}}[A-Z\d])(?!\w)",
        *LANGUAGES[1:],
        measure=_length_of_plate,
        words=("matric", "matríc", "targa", "kennz", "kente", "kjenn", "regnr", "reg.nr"),
    ),
    # In notes, "placa" is mostly a plaque or an X-ray: "PLACA DE 12 MM", "PLACA L4-L5", "PLACA DEL 2019".
    _number(
        "placa",
        "VEHICLE",
        r"\b(?i:placa)[\s.:]{1,3}(?P<phi>(?![A-Z]{3} (?:19|20)\d\d\b|(?:19|20)\d\d )(?:"
        r"[A-Z]{3}[ \x1f-]{0,3}\d(?:[A-Z]\d\d|\d{2,3})|\d{4}[ \x1f-]{0,3}[A-Z]{3}"
        r"|[A-Z\d]{2}\x1f?-\x1f?[A-Z\d]{2}\x1f?-\x1f?[A-Z\d]{2}|[A-Z]{2}\x1f?-\x1f?\d{3,4}|[A-Z]{4}\x1f?-\x1f?\d\d))(?!\w)",
        "es",
        "pt",
        measure=_length_of_plate,
        words=("placa",),
    ),
    _number(
        "iban-named",
        "ACCOUNT",
        r"\b(?i:iban)[\s.:]{1,3}(?P<phi>[A-Z]{2}\x1f?\d\d[ \x1f]?[A-Z\d]{4}[\d \x1f]{8,30}\d"
        r"|[A-Za-z]{2}\x1f?\d\d[A-Za-z\d\x1f]{8,40})(?!\w)",
        words=("iban",),
    ),
)
