"""Rules for ages, and rules for ages over 89, because the Safe Harbor rule of HIPAA lists only ages over 89."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .dates import MONTH
from .rule import Rule, word_starts

_ONES = "one two three four five six seven eight nine".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_SPELLED = rf"(?:(?i:{'|'.join(_TENS)})(?:[ -](?i:{'|'.join(_ONES)}))?|(?i:{'|'.join((*_ONES, *_TEENS))})|(?i:hundred))"
# The number is no part of a decimal number, a fraction, a date or a range.
_FREE = r"(?<![\d.,/-])"
_YEARS_OLD = (
    r"(?:[\s-]{0,2}(?i:years?|yrs?|yr|y)[\s.-]{0,2}/?\s?(?i:old|o)\b|\s?(?i:yo|y\.o|y/o|years? of age)\b"
    r"|\s?-?\s?(?i:year)\s?-\s?(?i:old)|\s?(?i:years?|yr)\s(?i:olds)\b)"
)
_MONTHS_OLD = r"[\s-]{0,2}(?i:months?|mos?|weeks?|wks?|days?)[\s-]{1,2}(?i:old|o)\b"
_WHO_WORDS = (
    r"paciente|mujer|var[óo]n|hombre|niñ[oa]|lactante|señora?|joven|ancian[oa]|bebé|chic[oa]|adolescente"
    r"|neonato|escolar|enferm[oa]|rn"
)
_WHO = rf"(?i:\b(?:{_WHO_WORDS}))"
_UNIT_ES = r"\s{1,2}(?i:años?|meses|mes|semanas?|d[íi]as?)\b"
_NUMBER_ES = r"(?:\d{1,3}|(?i:un|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince))"
# "for 20 yrs", "1 ppd x 30 yrs" and "10 yrs ago" are durations.
_BEFORE_DURATION = (
    r"(?:[x×~<>≥≤]|\b(?i:for|over|past|last|next|first|every|q|within|in|than|after|before|since|another|smok\w{2,3}|ppd"
    r"|married|sober|abstinent|clean|quit|history of|duration of)(?:\s(?i:the|about|almost|nearly|at least|approx"
    r"|past|last|next|first))?)\s{0,2}"
)
_BEHIND_DURATION = (
    r"\s(?i:ago|prior|previous\w{0,2}|earlier|later|before|after|since|follow|f/u|survival|hx|history|smok|duration|out"
    r"|of\s(?!age)|sobriety|and\scount)|\s?[-–]?\s?(?i:pack)"
)
# A duration has the form of an age: "5 años de evolución".
_NO_DURATION = r"(?!\s(?i:de (?:evoluci|duraci|seguimi|tratami|antig)|despu|antes|m[áa]s tarde|previos?|atr[áa]s))"

# "HR 80, in his early 90s" is an age.
_NOT_OF_PERSON = r"(?<!(?i:his|her)\s)(?<!(?i:their)\s)"
_DECADES = rf"(?i:{'|'.join(ten[:-1] + 'ies' for ten in _TENS)})"
# "sats in the mid 90s" is no age.
_VITAL_SIGNS = (
    r"\b(?i:o2|spo2|sao2|sats?|satting|saturat\w{0,5}|desat\w{0,8}|pulse\sox|ox|[sd]?bps?|map|systolics?|diastolics?"
    r"|pressures?|hr|rates?|pulse|temps?|temperatures?|sugars?|glucose|bs|fs|tachy\w{0,6})"
)


def _up_to_120(text: str) -> int:
    """Length of an age of at most 120 years; 0 for a higher number."""
    return len(text) * (_years(text) <= 120)


def _years(text: str) -> int:
    """Value of a number in digits, or of an English word for tens; 0 for other words."""
    number = re.search(r"\d+", text)
    if number is not None:
        return int(number[0])
    word = text.lower().lstrip()
    if word == "hundred":
        return 100
    # Smaller numbers in words are not told apart. For these words the result is 0: never over 89.
    starts = ((ten, f"{ten[:-1]}ie") for ten in _TENS)  # "ninety" and "nineties"
    return next((20 + 10 * i for i, start in enumerate(starts) if word.startswith(start)), 0)


def _grown_up(text: str) -> int:
    """Length of an age from 16 to 120 years. Lower numbers are often durations, as in "de 5 años"."""
    return len(text) * (16 <= _years(text) <= 120)


def _over_89(text: str) -> int:
    """Length of an age over 89 and up to 130 in years. Months, weeks and days do not count."""
    unit = re.search(r"(?i)mes|semana|d[íi]a", text)
    return len(text) * (unit is None and 89 < _years(text) <= 130)


def _age(name: str, pattern: str, language: str, measure: Callable[[str], int] | None = None, **more: Any) -> Rule:
    return Rule(name, "age", "AGE", pattern, (language,), measure=measure or _up_to_120, **more)


# French sizes: "16 F Foley", "sheath 7F". Words of complaints are left out: "45F chest pain" is an age.
_DEVICES = (
    "foley sheath catheter introducer dilator tube drain stent french cordis malecot pigtail coude guide guiding lumen "
    "silicone silastic trocar picc size"
).split()
# A look-behind needs a fixed width, so that each word has its own.
# Rates of breathing and of the heart are no ages, either: "RR 18 M".
_NO_SIZE_BEFORE = "".join(rf"(?<!\b(?i:{word})[\s#])" for word in (*_DEVICES, "rr", "hr"))
# "Temp 101 F", "T: 99 F" and "fever of 102 F" are body temperatures. "T 95F" may be a patient with this initial.
_NO_TEMPERATURE = "".join(
    [rf"(?<!\b(?i:{word}){sign})" for word in ("temp", "temperature", "tmax", "t") for sign in ("[:=]", r"[:=]\s")]
    + [rf"(?<!\b(?i:{word})\s)" for word in ("temp", "temperature", "tmax", "fever")]
    + [rf"(?<!\b(?i:{word})\s(?i:of|to|at|is)\s)" for word in ("temp", "temperature", "fever", "fevers", "febrile")]
    + [rf"(?<!\b(?i:{word})\s(?i:was)\s)" for word in ("temp", "temperature", "tmax")]
    + [rf"(?<!\b(?i:{word})\s(?i:up\sto)\s)" for word in ("temp", "temps", "temperature", "tmax", "fever", "fevers")]
)
# "ICD-10 F32.1", if it is not known whether spaces stood around the hyphen.
_NO_ACRONYM = r"(?<![A-Z]\x1f-\x1f)"
# "T 95F, HR 80" begins a row of vital signs.
_NO_VITAL_SIGNS = r"(?!(?<=\b[Tt]\s)(?:9\d|10\d)\s?F[\s,;/]{1,3}(?i:hr|bp|p|rr|r|spo2|sao2|o2|sats?|pulse|resp)\b)"
_NO_SIZE_AFTER = (
    rf"(?!(?<=F)\s(?i:{'|'.join(_DEVICES)}|(?:dual|double|triple)\slumen|chest\stube|bougie|jp\b|blake|pleur))"
)
_NO_AMOUNT = r"(?!(?<=M)\s(?i:solution|nacl|kcl|hcl|naoh|cells|copies|units|steps)\b)"
# "potassium 5 M" and "pN1 M" look like a child's age, which therefore needs a verb behind it.
_CHILD = (
    r"(?<![TNM])(?<![TNM]\x1f)\d(?=\s?[FM]\s(?:with|who|w/|presents|presenting|presented|here|admitted|c/o|s/p|h/o)\b)"
)


# No duration is as long as these ages, so that the unit alone shows an age: "Mme X, 92 ans".
_OLD_YEARS = {
    "en": "years?|yrs?",
    "es": "años?",
    "de": "jahren?|jahre",
    "fr": "ans",
    "nb": "år",
    "it": "anni",
    "pt": "anos",
    "nl": "jaar|jr",
}


def _old_age(language: str) -> Rule:
    """Rule for an age from 90 to 119 years with a unit and without a word for a person."""
    number, unit = r"(?:9\d|1[01]\d)", rf"\s?(?i:{_OLD_YEARS[language]})(?![\w-])"
    # In Spanish notes, the unit belongs to the span.
    phi = rf"(?P<phi>{number}{unit})" if language == "es" else rf"(?P<phi>{number}){unit}"
    return _age(f"age-old-{language}", _FREE + phi, language, priority=0, words=word_starts(_OLD_YEARS[language]))


# Words before an age, between a person and an age, behind an age, and behind the number of years of a person.
_AGES = {
    "de": (
        r"alter(?:\svon)?",
        "von|mit",
        r"j[äa]e?hrig\w{0,2}|j[äa]e?hr\.|j\.(?=\s?[A-Z])|(?:jahre|monate|wochen|tage)\salt\w{0,2}|\.?\s?lebensjahr|\.?\s?lj",
        "jahren?|j|a",
    ),
    "fr": (r"[âa]g[ée]e?s?(?:\sde)?|[âa]ge", "de", r"ans\sd'[âa]ge", "ans?"),
    "nb": (
        "alder|aldersgruppe",
        "på|med",
        r"år(?:ig\w?|ing\w{0,2}|\sgam\w{2,3}|\sgml)|(?:mnd|uker|dager)\sgam\w{2,3}",
        "år",
    ),
    "it": (r"et[àa](?:\sdi)?|di\sanni|anni|aa", "di", r"anni\sdi\set[àa]|enne", r"anni|aa|a\.?(?=[,.\s)])"),
    "pt": (r"idade(?:\sde)?", "de|com", r"anos\sde\sidade", "anos|a"),
    "nl": (
        r"leeftijd(?:\svan)?",
        "van",
        r"jarige?|(?:jaar|jr|maanden|weken|dagen)\soud",
        "jaar|jr|j",
    ),
}
_PERSONS = {
    "de": "patient(?:in)?|pat|mann|frau|herr|junge|mädchen",
    "fr": "patiente?|homme|femme|monsieur|madame|garçon|fille|enfant",
    "nb": "pasient(?:en)?|mann|kvinne|gutt|jente",
    "it": "paziente|uomo|donna|signora?|bambin[oa]",
    "pt": "doente|paciente|utente|homem|mulher|senhora?|menin[oa]|rapaz|rapariga|feminino|masculino",
    "nl": "patiënte?|man|vrouw|heer|mevrouw|mevr|jongen|meisje",
}
# Small children, whose age is in months, weeks or days, and these units.
_CHILDREN = {
    "de": ("säugling|kind|junge|mädchen|neugeborenes", "monate?n?|wochen?|tage?n?"),
    "fr": ("nourrisson|bébé|enfant|garçon|fille|nouveau-né", "mois|semaines?|jours?"),
    "nb": ("spedbarn|barn|gutt|jente", "mnd|måneder|uker|dager"),
    "it": ("lattante|neonat[oa]|bambin[oa]", "mesi|settimane|giorni"),
    "pt": ("lactente|criança|bebé|bebê|menin[oa]|rn", "meses|semanas|dias"),
    "nl": ("zuigeling|baby|kind|jongen|meisje", "maanden|weken|dagen"),
}


def _ages_of(language: str) -> tuple[Rule, ...]:
    """Rules for ages in a language. The span of a rule is the number alone."""
    named, between, behind, years = _AGES[language]
    number = r"(?P<phi>\d{1,3})"
    children, units = _CHILDREN[language]
    return (
        _age(
            f"age-named-{language}",
            rf"(?<!\d\x1f)\b(?i:{named})[\s:]{{1,3}}{number}(?![\d/%]|[.,-]\d)",
            language,
            priority=2,
        ),
        _age(f"age-behind-{language}", rf"{_FREE}{number}[\s-]{{0,3}}(?i:{behind})(?!\w)", language),
        _age(
            f"age-of-person-{language}",
            rf"\b(?i:{_PERSONS[language]})\.?,?(?:\s(?:(?i:{between})\s)?\(?|\(){number}\s?(?i:{years})(?!\w)",
            language,
        ),
        # "M, 54 ans", and between commas: "Madame X, 54 ans, vient".
        _age(
            f"age-between-commas-{language}",
            rf"(?:[^\W\d_],\s|\b[MFHV♂♀],?\s|[♂♀]\s?){number}\s(?i:{years})(?=\s?(?:[,;)\n]|\Z))",
            language,
            _grown_up,
        ),
        _age(
            f"age-of-child-{language}",
            rf"\b(?i:{children})\.?,?\s(?:(?i:{between})\s)?\(?{number}\s?(?i:{units})(?!\w)",
            language,
        ),
    )


_ALL = (
    _age("age-years-old", rf"{_FREE}(?P<phi>\d{{1,3}}){_YEARS_OLD}", "en", words=("y",)),
    _age(
        "age-yrs",
        rf"{_FREE}(?P<phi>\d{{1,3}})\s?(?i:yrs?)\b",
        "en",
        words=("yr",),
        not_after=_BEFORE_DURATION,
        not_before=rf"\s?(?i:yrs?){_BEHIND_DURATION}",
    ),
    _age(
        "age-and-sex",
        # The digit first: at each other character, all these look-behinds would be tried.
        rf"(?=\d){_FREE}{_NO_ACRONYM}{_NO_SIZE_BEFORE}(?:(?!(?:9\d|10\d)\s?F\b)|{_NO_TEMPERATURE}){_NO_VITAL_SIGNS}(?P<phi>\d{{2,3}}|{_CHILD}|\d(?=\s?(?:Y|y\x1e?)[FM]\b))(?:\s?(?:F|M|YF|YM|y\x1e?F|y\x1e?M)|\s?/\s?[FM])\b(?![-.]\w)"
        rf"{_NO_SIZE_AFTER}{_NO_AMOUNT}",
        "en",
        priority=0,
    ),
    # "DOB/Age: 12 May 1940" begins with a date.
    _age(
        "age-named",
        rf"\b(?i:age|aged)[\s:=]{{1,3}}(?P<phi>\d{{1,3}})(?![\d./%-])(?!\s?(?:of\s)?{MONTH})",
        "en",
        priority=2,
        words=("age",),
    ),
    # "Her age is 95", "at the age of 95", "Age (years): 95"; the age of a bone or of an unborn child is a finding.
    _age(
        "age-is",
        r"\b(?i:age|aged)(?:\s(?i:is|was|of)(?:\s(?i:now))?\s|\s?\(?(?i:in\s)?(?i:years|yrs|y)\)?[\s:=]{1,3})"
        r"(?P<phi>\d{1,3})(?![\d/%-]|\.\d|\s?(?i:weeks?|wks?)\b)",
        "en",
        priority=2,
        words=("age",),
        not_after=r"(?i:gestational|bone|mental|developmental|fetal|menstrual|GA)\s[^\d]{1,20}",
    ),
    _age(
        "age-in-decades",
        rf"\b(?i:his|her|their|early|mid|late)[\s-]{{1,2}}(?P<phi>[2-9]0'?\x1f?s|{_DECADES})\b",
        "en",
        needs="sS",
        words=("0", "ties"),
        not_after=rf"{_VITAL_SIGNS}\b[^.;\n]{{0,30}}{_NOT_OF_PERSON}(?i:early|mid|late)[\s-]{{1,2}}",
    ),
    _age(
        "age-after-verb",
        r"\b(?i:he|she)\s(?i:is|was|turned)\s(?P<phi>\d{2,3})(?=[,;]|\s(?:and|with|who|now)\b|\.?\s{0,2}\Z|\.\s)",
        "en",
    ),
    _age("age-months-old", rf"{_FREE}(?P<phi>\d{{1,3}}){_MONTHS_OLD}", "en", words=("mo", "week", "wk", "day")),
    _age(
        "age-spelled",
        rf"\b(?P<phi>{_SPELLED})[\s-]{{1,2}}(?i:years?)[\s-]{{1,2}}(?i:of\s)?(?i:olds?|age)",
        "en",
        needs="yY",
        words=("year",),
    ),
    _age(
        "edad-con-nombre",
        rf"\b(?i:edad)[\s:]{{1,3}}(?P<phi>\d{{1,3}}(?:{_UNIT_ES}|\s{{0,2}}[aA]\b)?)(?![\d./%-])(?!\s?mm)",
        "es",
        priority=2,
        words=("edad",),
    ),
    _age("edad-de-edad", rf"{_FREE}(?P<phi>\d{{1,3}}{_UNIT_ES})\s(?i:de edad)", "es", words=("edad",)),
    _age(
        "edad-de-quien",
        rf"{_WHO}(?:\s(?i:de)|,)?\s(?P<phi>{_NUMBER_ES}{_UNIT_ES}|\d{{1,3}}\s?a(?=\.)){_NO_DURATION}",
        "es",
        needs="aAeE",
        words=word_starts(_WHO_WORDS),
    ),
    _age(
        "edad-de-quien-y-como",
        rf"{_WHO}\s[^\W\d_]{{2,20}}(?:,?\s(?i:de)|,)\s(?P<phi>{_NUMBER_ES}{_UNIT_ES}){_NO_DURATION}",
        "es",
        needs="aAeE",
        words=word_starts(_WHO_WORDS),
    ),
    _age(
        "edad-adulta",
        rf"\b(?i:de|tiene|con)\s(?P<phi>\d{{2,3}}\s{{1,2}}(?i:años)\b){_NO_DURATION}",
        "es",
        _grown_up,
        words=("año",),
    ),
    *(rule for language in _AGES for rule in _ages_of(language)),
    *map(_old_age, _OLD_YEARS),
)
AGE_RULES = (
    *_ALL,
    *(
        replace(rule, name=f"{rule.name}-over-89", family="age-over-89", measure=_over_89)
        for rule in _ALL
        # "92M" is no evidence of an age. The other rules match words that show that the number is an age.
        # Months and weeks are below 89 years.
        if not rule.name.startswith(("age-and-sex", "age-months-old", "age-of-child"))
    ),
)
