"""Rules for numbers of records, plans, accounts, licences and persons, recognized by a keyword or by check digits."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from ...surrogates.check_digits import has_valid_check_digits, luhn
from .rule import MAYBE_SPACE, Rule, word_starts

_FREE = r"(?<!\w)(?<!\d[-./])"
_END = r"(?!\d)(?![-/]\d)"
# The N of "MRN NYP-12345" is a letter of the number.
_SIGN = r"(?:\s?(?i:no|nr|number|num|n|nummer|n[úu]mero)(?![A-Z]))?[\s.:#º°-]{0,5}"
_VERB = r"(?:(?<=\s)(?i:is|was)\s)?"
# Digits and hyphens; or digits, hyphens and capitals, with a separator between letters and digits in rebuilt text.
_DIGITS = r"\d[\d-]{2,16}"
# In notes in capitals, the day of the date behind the number is no part of the number: "MRN 1234567 SEEN 03/04/2019".
_MIXED = r"(?=[A-Z\x1f-]{0,6}\d)[A-Z\d\x1f-]{4,28}(?!(?:(?<=\x1f\d)|(?<=\x1f\d\d))[/.:]\d)"
# Digits with a part behind a slash: 436434/875. In the header of an English note, two digits behind the slash may be an
# age: MRN 884291 / 85 F.
_WITH_PART = {"en": rf"{_DIGITS}(?:/\d{{3,8}})?", "es": r"(?!\d\d?/)\d[\d/-]{2,16}"}


def _id_length(text: str) -> int:
    """Length of a number without a word that `rebuild_sentence` has attached; 0 with fewer than three digits."""
    kept = re.sub(r"[\x1f-][A-Z]{3,}\Z", "", text.rstrip(MAYBE_SPACE)).rstrip("-/" + MAYBE_SPACE)
    return len(kept) if len(re.findall(r"\d", kept)) >= 3 else 0


def _checked_length(text: str, locale: str) -> int:
    """Length of a national identification number, if its check digits are correct."""
    return len(text) * (has_valid_check_digits(text, locale) is True)


def _nhs_length(text: str) -> int:
    """Length of a British NHS number (ten digits), if the last digit is the check digit by modulus 11."""
    digits = [int(c) for c in text if c.isdigit()]
    check = (11 - sum(weight * d for weight, d in zip(range(10, 1, -1), digits[:9], strict=True)) % 11) % 11
    return len(text) * (check == digits[9])


def _npi_length(text: str) -> int:
    """Length of a US National Provider Identifier (ten digits), if the number with the prefix 80840 passes Luhn's
    check."""
    return len(text) * (luhn("80840" + text[:-1]) == text[-1])


def _cpf_length(text: str) -> int:
    """Length of a Brazilian CPF (eleven digits), if both check digits are correct.

    The usual signs ("123.456.789-09") have no other use: readers recognise also a number with a typing error.
    """
    digits = [int(c) for c in text if c.isdigit()]
    checks = [sum(weight * d for weight, d in zip(range(n + 1, 1, -1), digits, strict=False)) for n in (9, 10)]
    is_valid = [10 * check % 11 % 10 for check in checks] == digits[9:] and len(set(digits)) > 1
    return len(text) * (is_valid or not text.isdigit())


def _card_length(text: str) -> int:
    """Length of a number of a payment card (16 or 15 digits), if the last digit is the check digit by Luhn's method."""
    digits = re.sub(r"\D", "", text)
    return len(text) * (luhn(digits[:-1]) == digits[-1])


def _iban_length(text: str) -> int:
    """Length of an international bank account number, if the remainder modulo 97 is 1 (ISO 13616)."""
    for found in reversed([*re.finditer(r"\Z|[ \x1f]", text)]):
        bare = re.sub(r"[ \x1f]", "", text[: found.start()])
        # Letters count from 10, and the first four signs go to the end.
        if 15 <= len(bare) <= 34 and int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1:
            return found.start()
    return 0


# Medicare Beneficiary Identifier, whose letters are not those that look like digits.
_LETTER = "[AC-HJKMNP-RT-Y]"
_MBI = r"\x1f?".join(
    ("[1-9]", _LETTER, r"[\dA-Z]", r"\d", "-?", _LETTER, r"[\dA-Z]", r"\d", "-?", _LETTER, _LETTER, r"\d", r"\d")
)
_NIF, _BIRTH_NUMBER = partial(_checked_length, locale="es"), partial(_checked_length, locale="nb")

# Kind of PHI, keywords before the number, and whether the number may contain capitals.
_NAMED_EN = (
    (
        "MEDICALRECORD",
        r"mrn|mr|medical record|med rec|medrec|unit no|unit number|unit|chart no|chart|record number",
        False,
    ),
    (
        "HEALTHPLAN",
        r"member id|policy|insurance id|subscriber id|medicare id|medicaid id|bill to plan"
        r"|medicaid(?=\s?(?:#|:|no\b|number|\d{6}))|medicare(?=\s?(?:#|:|no\b|number|\d{6}))|hicn|ohip|hcn",
        True,
    ),
    ("ACCOUNT", r"acct|account|billing no|account is|sort code|tax id|ein", True),
    ("LICENSE", r"license|licence|lic|lic\.no|dea|license is|photo id", True),
    ("VEHICLE", r"plate|vin", True),
    ("DEVICE", r"serial|serial no|s/n|sn(?=:)|imei|udi", True),
    ("VISIT", r"encounter|visit|csn|accession|case no|case number|specimen no", True),
    ("NATIONALID", r"passport|nino|pps(?=[\s.:#nNoO]{0,6}\d{7})", True),
)
# Numbers with letters behind words that have no other meaning.
_RECORD_EN = r"mrn|medical record|hosp(?:ital)? no|hosp(?:ital)? number|patient id|pt id|record number"
_NAMED_ES = (
    (
        "MEDICALRECORD",
        r"nhc|n\.h\.c|cipa|(?:historia|h[ªa]\.?) cl[íi]nica|n[úu]mero de historia|n[º°] ?(?:de )?(?:historia|h[ªa])|"
        r"h\.?c(?=\.?\s?:\s{0,2}\d{5})|historia n[º°]",
        False,
    ),
    ("VISIT", r"episodio|n[úu]mero de episodio", False),
    ("HEALTHPLAN", r"cip|sip|tsi|nuhsa|cuhsa", True),
    ("NATIONALID", r"curp|pasaporte|rfc|cui[lt]|rut", True),
)

# Keywords of further languages, whose numbers may all contain capitals.
_NAMED: dict[str, dict[str, str]] = {
    "de": {
        "MEDICALRECORD": r"patienten-?(?:nummer|nr|id)|pat[. -]{0,2}(?:nr|id)|pid|akten-?(?:zeichen|nummer|nr)|"
        r"archivnummer",
        "VISIT": r"fall[- ]?(?:nummer|nr|zahl)|fn|"
        r"(?:aufnahme|auftrags|einsende|eingangs|journal|histo|e\.)-?(?:nummer|nr)|aufnahmezahl",
        "HEALTHPLAN": r"krankenversicher(?:ten|ungs)-?(?:nummer|nr)|versicher(?:ten|ungs)-?(?:nummer|nr)|vers\.-?nr|"
        r"kv-?(?:nummer|nr)",
        "SSN": r"(?:sozial|renten)versicherungs-?(?:nummer|nr)|rv-?(?:nummer|nr)|sv-?(?:nummer|nr)",
        "NATIONALID": r"steuer-?(?:id|identifikationsnummer)|ausweis-?(?:nummer|nr)|"
        r"personalausweis(?:-?(?:nummer|nr))?|reisepass"
        r"(?:-?(?:nummer|nr))?",
        "ACCOUNT": r"konto-?(?:nummer|nr)|blz",
        "LICENSE": r"b?snr|lanr|ik|arzt-?(?:nummer|nr)",
    },
    "fr": {
        "MEDICALRECORD": r"i\.?p\.?p|nip|ins|num[ée]ro de patient|n° de patient|dossier|identifiant patient",
        "VISIT": r"nda|examen|num[ée]ro de s[ée]jour|s[ée]jour|iep",
        "SSN": r"nir|nss|s[ée]curit[ée] sociale",
        "NATIONALID": r"passeport|carte (?:nationale )?d'identit[ée]|cni",
        "LICENSE": r"rpps|adeli|finess",
    },
    "nb": {
        "MEDICALRECORD": r"journal-?(?:nummer|nr)|pasient-?(?:nummer|nr|id)|npr(?:-?id)?|pid",
        "NATIONALID": r"f[øo]dsels-?(?:nummer|nr)|person(?:nummer|nr)|f\.?nr|d-(?:nummer|nr)",
        "LICENSE": r"hpr-?(?:nummer|nr)?",
        "ACCOUNT": r"konto-?(?:nummer|nr)",
    },
    "it": {
        "MEDICALRECORD": r"cartella(?: clinica)?|codice paziente|id paziente|nosologico",
        "NATIONALID": r"codice fiscale|c\.?f|carta d'identit[àa]|passaporto|partita iva|p\.?iva",
        "LICENSE": r"patente",
        "HEALTHPLAN": r"tessera sanitaria",
        "VISIT": r"ricovero",
    },
    "pt": {
        "MEDICALRECORD": r"processo(?: cl[íi]nico)?|n[úu]mero de processo|prontu[áa]rio|registro",
        "VISIT": r"epis[óo]dio",
        "HEALTHPLAN": r"utente|n[úu]mero de utente|sns|cns",
        "NATIONALID": r"nif|contribuinte|cart[ãa]o de cidad[ãa]o|bi|cc|cpf|rg",
        "SSN": r"niss",
        "LICENSE": r"c[ée]dula(?: profissional)?|crm(?:[-/][A-Z]{2})?",
    },
    "nl": {
        "MEDICALRECORD": r"pati[ëe]nt-?(?:nummer|nr|id)|pat\.?-?nr|pid|dossier-?(?:nummer|nr)|zis-?(?:nummer|nr)?",
        "VISIT": r"opname-?(?:nummer|nr)",
        "NATIONALID": r"bsn|burgerservicenummer",
        "HEALTHPLAN": r"polis-?(?:nummer|nr)|verzekerings?-?(?:nummer|nr)",
        "LICENSE": r"big-?(?:nummer|nr)?|agb-?(?:code)?",
    },
}


def _id(name: str, kind: str, *more: Any, **settings: Any) -> Rule:
    return Rule(name, "id", kind, *more, **settings)


def _long_length(text: str) -> int:
    """Length of a number of at least four digits, without a following word."""
    kept = re.sub(r"[\x1f-][A-Z]{3,}\Z", "", text).rstrip("- " + MAYBE_SPACE)
    return len(kept) * (len(re.findall(r"\d", kept)) >= 4)


def _named_in(language: str) -> tuple[Rule, ...]:
    """Rules for numbers after the keywords of a language."""
    # Groups of digits first: the second form would stop behind the first group. A slash stands before a year or a code.
    number = (
        r"(?P<phi>(?!\d\d?[/.]\d\d?[/.]\d)\d[\d ./-]{2,22}\d(?![^\W_])(?:\s[A-Z]\s\d{3})?"
        r"|(?=[A-Z\x1f/-]{0,6}\d)[A-Z\d\x1f/-]{4,28}|[A-Z]\s\d[\d ]{2,18}\d)(?!\d)"
    )
    patterns = {kind: words.replace(" ", r"\s{1,2}") for kind, words in _NAMED[language].items()}
    return tuple(
        _id(
            f"{kind.lower()}-named-{language}",
            kind,
            rf"\b(?i:{words})\b{_SIGN}{number}",
            (language,),
            2,
            _long_length,
            words=word_starts(words),
        )
        for kind, words in patterns.items()
    )


def _named(language: str, kind: str, words: str, mixed: bool) -> Rule:
    """Rule for a number after one of the given keywords."""
    words = words.replace(" ", r"\s{1,2}")
    first = rf"\b(?i:{words})\b" + (r"|\b(?:MRN|MR)(?=\d)" if kind == "MEDICALRECORD" and language == "en" else "")
    body = _MIXED if mixed else _WITH_PART[language]
    prefix = r"(?i:nhc-)?" if language == "es" else ""
    pattern = rf"(?:{first}){_SIGN}{prefix}(?P<phi>{body})(?!\d)"
    starts = word_starts(words)
    return _id(f"{kind.lower()}-named-{language}", kind, pattern, (language,), 2, _id_length, words=starts)


_SOCIAL = r"(?i:\b(?:ssn|ss|social\ssecurity|soc\.?\s?sec|social(?=\s?[:#])))"

NUMBER_RULES = (
    *(_named("en", *row) for row in _NAMED_EN),
    *(_named("es", *row) for row in _NAMED_ES),
    # "ID" without a further word. The priority is lower than that of the rules for member and photo IDs.
    _id(
        "id-named",
        "MEDICALRECORD",
        rf"\bID[\s:#]{{1,3}}(?P<phi>{_DIGITS})(?!\d)",
        ("en",),
        1,
        _id_length,
        words=("id",),
    ),
    _id(
        "medicalrecord-with-letters-en",
        "MEDICALRECORD",
        rf"\b(?i:{_RECORD_EN})\b".replace(" ", r"\s{1,2}")
        + rf"{_SIGN}{_VERB}(?P<phi>{_MIXED}|\d[\d ]{{2,16}}\d)(?!\d)",
        ("en",),
        2,
        _id_length,
        words=word_starts(_RECORD_EN),
    ),
    _id("iban", "ACCOUNT", r"(?<!\w)[A-Z]{2}\x1f?\d{2}[A-Z\d \x1f]{11,45}", priority=2, measure=_iban_length),
    _id(
        "nhs-number",
        "NATIONALID",
        rf"\bNHS{_SIGN}(?P<phi>\d{{3}}[ -]?\d{{3}}[ -]?\d{{4}}){_END}",
        ("en",),
        2,
        _nhs_length,
        words=("nhs",),
    ),
    # The form has no other use, so that it needs no keyword.
    _id("mbi", "HEALTHPLAN", rf"{_FREE}{_MBI}(?![^\W_])", ("en",), 2),
    _id("npi", "LICENSE", rf"\b(?i:npi){_SIGN}(?P<phi>[12]\d{{9}}){_END}", ("en",), 2, _npi_length, words=("npi",)),
    # A word between slash and number is a unit: "12 g/dl 12-16".
    _id(
        "drivers-license",
        "LICENSE",
        rf"(?<![\w/.])(?:DL|dl(?=\s?[#:n])){_SIGN}(?P<phi>[A-Z]{{0,2}}\x1f?\d[\d-]{{4,16}}){_END}",
        ("en",),
        2,
        words=("dl",),
    ),
    _id(
        "plate-with-space",
        "VEHICLE",
        rf"\b(?i:plate){_SIGN}(?P<phi>[A-Z]{{1,3}} \d{{3,4}}|\d{{3}}[ \x1f][A-Z]{{3}}){_END}",
        ("en",),
        1,
        words=("plate",),
    ),
    _id(
        "payment-card",
        "ACCOUNT",
        rf"(?=\d){_FREE}(?:\d{{4}}([ -]?)(?:\d{{4}}\1){{2}}\d{{4}}|3[47]\d\d([ -]?)\d{{6}}\2\d{{5}}){_END}",
        measure=_card_length,
    ),
    _id(
        "cpf",
        "NATIONALID",
        rf"(?=\d){_FREE}(?:\d{{3}}\.\d{{3}}\.\d{{3}}\s?[-/]\s?\d{{2}}|\d{{11}}){_END}",
        ("pt",),
        1,
        _cpf_length,
    ),
    _id("nif", "NATIONALID", rf"{_FREE}\d{{2}}\.?\d{{3}}\.?\d{{3}}[\s-]{{0,2}}[A-Z]\b", ("es",), 2, _NIF),
    _id("nie", "NATIONALID", rf"{_FREE}[XYZ][\s-]{{0,2}}\d{{7}}[\s-]{{0,2}}[A-Z]\b", ("es",), 2, _NIF),
    _id(
        "numero-de-colegiado",
        "LICENSE",
        r"(?i:\bn\.?\s?º\s?col(?:egiad[oa])?|\bcol(?:egiad[oa])?\.?\s?nº|\bn[úu]m(?:ero)? de colegiad[oa])[\s.:]{0,4}"
        r"(?P<phi>\d{2}[ -]\d{2}(?:[ -]{1,2}\d{3,6})?|\d{2}/\d{5,7}|\d{4,9})(?!\d)",
        ("es",),
        2,
        words=("col",),
    ),
    _id("numero-de-colegiado-forma", "LICENSE", rf"{_FREE}\d{{2}} \d{{2}} \d{{5}}{_END}", ("es",), 0),
    # No check of the parts: readers recognise also an impossible number of this form as a social security number.
    Rule("ssn", "ssn", "SSN", rf"{_FREE}\d{{3}}-\d{{2}}-\d{{4}}{_END}(?!\x1f?[A-Z]\b)", ("en",), 1),
    Rule(
        "ssn-named",
        "ssn",
        "SSN",
        rf"{_SOCIAL}\s?#?(?:\s?(?i:no|number))?(?:\s?\(?(?i:last)\s(?:4|four)(?:\sdigits)?\)?)?[\s.:#=]{{0,4}}"
        rf"(?P<phi>\d{{3}}[ .-]?\d{{2}}[ .-]?\d{{4}}|\d{{4}}){_END}",
        ("en",),
        2,
        words=("ss", "soc"),
    ),
    # "SSN ending in 6789", and signs for the other digits: "xxx-xx-6789", "*** ** 6789", "xxxxx6789".
    Rule(
        "ssn-last-four",
        "ssn",
        "SSN",
        rf"\d(?<=[xX*\s-]\d)\d{{3}}{_END}",
        ("en",),
        2,
        words=("ss", "soc"),
        after=_SOCIAL + r"\s?[#:=]{0,2}\s?(?:\(?(?i:ends\sin|ending(?:\sin)?)\s|[xX*][xX*\s-]{4,10})",
    ),
    Rule(
        "seguridad-social",
        "ssn",
        "SSN",
        r"(?i:\bnass|\bnuss?|\bnss|\bn[úu]mero de (?:la )?seguridad social)[\s.:]{0,4}"
        r"(?P<phi>\d{2}[ /-]?\d{5,12}(?:[ /-]\d{1,2})?|\d{6,12})(?!\d)",
        ("es",),
        2,
        words=("nass", "nus", "nss", "seguridad"),
    ),
    Rule("seguridad-social-forma", "ssn", "SSN", rf"{_FREE}\d{{2}} \d{{8}} \d{{2}}{_END}", ("es",), 1),
    *(rule for language in _NAMED for rule in _named_in(language)),
    # The French number of 13 digits, and of 15 with check digits: in its groups, or digit by digit. The check digits
    # are not verified, so that a number with a typing error is found. The departments of Corsica are 2A and 2B.
    Rule(
        "nir",
        "ssn",
        "SSN",
        rf"{_FREE}[1-478](?:(?: \d){{12,14}}| ?\d{{2}} ?\d{{2}} ?(?:\d{{2}} ?|2\x1f?[AB][ \x1f]?)"
        r"\d{3} ?\d{3}(?: ?\d{2})?)(?!\d)(?! \d)",
        ("fr",),
        1,
    ),
    _id(
        "codice-fiscale",
        "NATIONALID",
        r"(?<!\w)[A-Z]{3} ?[A-Z]{3}[ \x1f]?\d{2}\x1f?[A-Z]\x1f?\d{2}[ \x1f]?[A-Z]\x1f?\d{3}\x1f?[A-Z](?!\w)",
        ("it",),
        2,
    ),
    _id("fodselsnummer", "NATIONALID", rf"{_FREE}\d{{6}} ?\d{{5}}{_END}", ("nb",), 1, _BIRTH_NUMBER),
)
