"""Rules for dates in digits and with names of months."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from ...surrogates.locale_words import locale_words
from .rule import LANGUAGES, Rule

_FREE = r"(?<!\d)(?<!\d[-./])"
_END = r"(?!\d)(?![-/]\d)"
_YEAR = r"(?:19|20)\d{2}"
_DAY = r"\d{1,2}"
_ORDINAL = r"(?:\s?(?:st|nd|rd|th|ST|ND|RD|TH)\b)?"

_FULL = "January February March April May June July August September October November December".split()
_SHORT = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec".split()
# Lower case names of months are not matched, because "may" and "march" are other words in lower case.
_MONTH = "(?:" + "|".join([*_FULL, *_SHORT, *map(str.upper, [*_FULL, *_SHORT])]) + ")"
# Names of months that are neither names of people nor other words, for a month without day and year.
_CLEAR_MONTH = "(?:January|February|July|September|October|November|December)"
_WEEKDAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_MES = "(?i:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)"
# Units after a number: in "of 2000 ml" the number is an amount and not a year.
_NO_UNIT = r"(?!\s?(?:m[lLg]|mcg|µg|cc|kcal|cal|[kK]?J|units?|U|UI|I\.?E|Einheiten|enheter|g|kg|cm|mm|cel|/|%))"


def _is_day_and_month(a: int, b: int) -> bool:
    # Day and month may come in either order, because both orders occur in English notes.
    return (1 <= a <= 31 and 1 <= b <= 12) or (1 <= a <= 12 and 1 <= b <= 31)


def _numeric_length(text: str) -> int:
    """Length of a date with day and month in either order. The year may be at the start, at the end, or missing."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    if len(numbers) == 3 and numbers[0] > 999:
        numbers = numbers[1:]
    return len(text) * _is_day_and_month(*numbers[:2])


def _month_length(text: str) -> int:
    """Length of a month and a year, if the month is between 1 and 12."""
    return len(text) * (1 <= int(text.partition("/")[0]) <= 12)


def _compact_length(text: str) -> int:
    """Length of a date such as 20190312, if month and day are possible."""
    return len(text) * _is_day_and_month(int(text[6:]), int(text[4:6]))


def _day_length(text: str) -> int:
    """Length of a date with the name of a month, if the day is between 1 and 31."""
    days = [int(number) for number in re.findall(r"\d+", text) if len(number) < 3]
    return len(text) * all(0 <= day <= 99 for day in days[1:]) * (not days or 1 <= days[0] <= 31)


def _date(name: str, pattern: str, *languages: str, **more: Any) -> Rule:
    return Rule(name, "date", "DATE", pattern, languages or LANGUAGES, **more)


# Words before a year, and words before a day and a month in digits.
_BEFORE_YEAR = {
    "de": "seit|im jahre?|jahr|anfang|mitte|ende|in|von|bis|um|ab",
    "fr": "en|depuis|année|fin|début|mi",
    "nb": "i|siden|fra|til|år|ca",
    "it": "nel|dal|del|anno|fino al|inizio|fine",
    "pt": "em|desde|ano|até|fim de|início de",
    "nl": "in|sinds|sedert|van|tot|jaar|begin|eind|medio",
}
_BEFORE_DAY = {"de": "am|vom|bis|zum|seit|ab|den", "nb": "den|fra|til|siden"}
_WORD = r"[^\W\d_]{3,10}(?![^\W\d_])"


def _named_month_length(text: str, language: str) -> int:
    """Length of a date with the name of a month; 0 for other words, and for an abbreviation without a year."""
    words, days = re.findall(r"[^\W\d_]{3,10}", text), re.findall(r"(?<!\d)\d{1,2}(?!\d)", text)
    if any(not 1 <= int(day) <= 31 for day in days[:1]):
        return 0
    names = locale_words(language)
    known = [word for word in words if names.month_number(_plain(word)) is not None]
    # "3 set" and "2 out" are not dates, "3 set 2019" and "2 out." are.
    is_short = not any(len(word) > 4 or word.lower() in map(str.lower, names.block("months")) for word in known)
    is_sure = not is_short or re.search(r"\d{4}|-\d{2}\Z", text) is not None or text.endswith(".")
    return len(text) * (bool(known) and is_sure)


def _plain(word: str) -> str:
    """Name of a month in the usual spelling: Austrian names, and letters written without their signs."""
    word = word.lower().replace("ae", "ä")
    return {"jänner": "januar", "feber": "februar"}.get(word, word)


def _in_words(language: str) -> tuple[Rule, ...]:
    """Rules for dates with the name of a month, and for years and days after words of a language.

    Names of months come from the word lists of surrogates, which `measure` reads with the first date.
    """
    measure = partial(_named_month_length, language=language)
    before = _BEFORE_YEAR[language].replace(" ", r"\s")
    return (
        _date(
            f"date-day-month-{language}",
            rf"{_FREE}{_DAY}(?:[.º°]|\x1f?(?:er|º)\b)?(?:\s(?:de|di|van)\s|[\s.-]{{0,2}}){_WORD}\.?"
            rf"(?:(?:\s(?:de|del)\s|[\s,.-]{{0,2}}){_YEAR}(?!\d)|-\d{{2}}(?![\d:-]))?",
            language,
            measure=measure,
        ),
        _date(
            f"date-month-year-{language}",
            rf"(?<![^\W_]){_WORD}\.?(?:\s(?:de|del|van)\s|[\s,./-]{{1,2}}){_YEAR}(?!\d)",
            language,
            measure=measure,
        ),
        _date(
            f"date-year-{language}",
            rf"\b(?i:{before})\s(?P<phi>{_YEAR})(?!\d)(?![-./:,]\d){_NO_UNIT}",
            language,
            priority=0,
        ),
        *(
            _date(
                f"date-day-and-month-in-figures-{language}",
                rf"\b(?i:{_BEFORE_DAY[language]})\s(?P<phi>\d{{1,2}}\.\s?\d{{1,2}}\.)(?!\s?\d)",
                language,
                measure=_numeric_length,
                keeps_stop=True,
            )
            for _ in range(language in _BEFORE_DAY)
        ),
    )


DATE_RULES = (
    _date(
        "date-numeric",
        rf"{_FREE}{_DAY}\s?([/.-])\s?{_DAY}\s?\1\s?(?:{_YEAR}(?!\d)|\d{{2}}{_END}(?!\.\d))",
        measure=_numeric_length,
    ),
    _date("date-iso", rf"{_FREE}{_YEAR}([-/.]){_DAY}\1{_DAY}{_END}", measure=_numeric_length),
    _date("date-compact", rf"{_FREE}{_YEAR}\d{{4}}(?!\d)(?![-/.]\d)", priority=0, measure=_compact_length),
    _date(
        "date-month-and-day-in-figures",
        r"\b(?i:on|since|from|until|by|through|dated?|admitted|seen|discharged)\s(?P<phi>\d{1,2}[/-]\d{1,2})(?![\d/-])(?!\.\d)",
        "en",
        measure=_numeric_length,
    ),
    _date(
        "date-month-day",
        rf"\b{_MONTH}\.?\s{{0,2}}{_DAY}{_ORDINAL}(?:,?\s{{0,2}}{_YEAR})?(?!\d)",
        "en",
        measure=_day_length,
    ),
    _date(
        "date-day-month",
        rf"{_FREE}{_DAY}{_ORDINAL}(?:\s(?:of|day of)\s|[\s-]{{0,2}}){_MONTH}\b"
        rf"(?:[\s,.-]{{0,2}}{_YEAR}|[\x1f-]?\d{{2}})?(?!\d)",
        "en",
        measure=_day_length,
    ),
    # "05MAY11" in raw text has no word border after the month.
    _date("date-day-month-glued", rf"{_FREE}{_DAY}{_MONTH}(?:{_YEAR}|\d{{2}})(?!\d)", "en", measure=_day_length),
    _date("date-month-year", rf"\b{_MONTH}[\s,./-]{{1,2}}(?:of\s)?{_YEAR}(?!\d)", "en"),
    _date("date-season", rf"\b(?i:spring|summer|fall|autumn|winter)\s(?:of\s)?{_YEAR}(?!\d)", "en"),
    _date("date-month-year-in-figures", rf"{_FREE}\d{{1,2}}/{_YEAR}{_END}", measure=_month_length),
    _date("date-month-alone", rf"\b{_CLEAR_MONTH}\b", "en", priority=0, needs="JFSOND"),
    _date("date-weekday", rf"\b{_WEEKDAY}\b", "en", priority=0, needs="MTWFS"),
    _date(
        "date-year",
        rf"\b(?i:in|since|of|from|until|before|after|during|year|early|late|mid|circa|noted)[\s-](?P<phi>{_YEAR})"
        rf"(?!\d)(?![-./:]\d){_NO_UNIT}",
        "en",
        priority=0,
    ),
    _date(
        "fecha-dia-mes",
        rf"{_FREE}{_DAY}(?:\s(?i:de)\s|[\s-]{{1,2}}){_MES}(?:(?:\s(?i:del?)\s|[\s,-]{{1,2}}){_YEAR})?(?!\d)",
        "es",
        measure=_day_length,
    ),
    _date("fecha-mes-ano", rf"\b{_MES}(?:\s(?i:del?)(?:\s(?i:año))?\s|[\s,/-]{{1,2}}){_YEAR}(?!\d)", "es"),
    _date("fecha-ano", rf"\b(?i:año)\s{_YEAR}(?!\d)", "es"),
    _date(
        "fecha-solo-ano",
        rf"\b(?i:en|desde|hasta|durante|entre|a finales de|a principios de)\s"
        rf"(?P<phi>{_YEAR})(?!\d)(?![-./:]\d){_NO_UNIT}",
        "es",
        priority=0,
    ),
    *(rule for language in _BEFORE_YEAR for rule in _in_words(language)),
)
