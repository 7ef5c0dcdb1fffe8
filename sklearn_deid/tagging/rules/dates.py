"""Rules for dates in digits, and for dates with names of months."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...surrogates.locale_words import locale_words
from .rule import LANGUAGES, Rule

# The digit is looked for first: that takes a fraction of the time of looking back from each character.
_FREE = r"(?=\d)(?<!\d)(?<!\d[-./])"
# The second date of a range may follow the hyphen of the range: "1.2.2019-5.2.2019", "1/2/19-5/2/19".
_FREE_OR_SECOND = r"(?=\d)(?<!\d)(?:(?<!\d[-./])|(?<=[-/.](?:19|20)\d\d[-/])|(?<=\d[/.]\d\d-))"
_SECOND_ISO = r"(?=\d)(?<!\d)(?:(?<!\d[-./])|(?<=\d[-/.]\d\d[-/]))"
_END = r"(?!\d)(?![-/]\d)"
_END_OR_SECOND = r"(?!\d)(?![-/]\d(?!\d?[/.]\d))"
_END_ISO = r"(?!\d)(?![-/]\d(?!\d{3}[-/.]\d))"
_YEAR = r"(?:19|20)\d{2}"
_SHORT_YEAR = r"\s?'\d{2}(?!\d)"
_DAY = r"\d{1,2}"
# A day before the name of a month. "x1 May" is a dose before an order.
_DAY_FREE = _FREE + r"(?<![xX×])(?<![xX×]\x1f)"
_ORDINAL = r"(?:\s?(?i:(?=st|nd|rd|th)[a-z]{2})\b)?"

_AND = r"(?:\s(?:to|and|through|thru|&)\s|&)"
# The second day of "May 12 to 14, 2011", but not "May 12 and 3 days later"
_AND_DAY = (
    rf"\s(?:to|and)\s(?=\d\d?(?:,?\s{_YEAR}(?!\d)|[,;)]|\.?\s{{0,2}}\Z|\.\s"
    r"|\s(?:for|with|at|in|due|when|after|during|the)\b))"
)
_FULL = "January February March April May June July August September October November December".split()
_SHORT = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec".split()
# The first three letters of a month take a fraction of the time of 23 names. The first letter may be a long s.
_MONTH_START = r"\b(?=[jfmasondJFMASOND\u017f][aepucoAEPUCO][nbrylgptvcNBRYLGPTVC])"
MONTH = "(?i:" + "|".join([*_FULL, *_SHORT]) + ")"
# Parts of these names, for a quick look whether a text has one.
_IN_MONTHS = tuple(name[:3].lower() for name in _SHORT) + ("may",)
# Parts of years.
_IN_YEARS = ("19", "20")
# Names of months that are neither names of people nor other words, for a month without day and year.
_CLEAR_MONTH = "(?i:January|February|July|September|October|November|December)"
_WEEKDAY = "(?i:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
# Units after a number: in "of 2000 ml" the number is an amount and not a year.
NO_UNIT = (
    r"(?!\s?(?:(?:m\x1e?[lLg]|mcg|µg|cc|k?cal|[kK]?J|units?|U|UI|IU|I\.?E|Einheiten|enheter|g|kg|cm|mm|cel\w{0,6}|uur|uren"
    r"|[np]g|m?mol|m\x1e?Eq|Hz|rpm|calories|hours?|hrs?)"
    r"(?![^\W\d_])|/(?!\s?\d)|%))"
)
# Words behind a number of times or of things: "seen 2-3 times", "on 1-2 pillows". In notes, days and months have a
# slash more often than a hyphen.
_NO_COUNT = (
    r"(?!\s?(?i:times|weeks?|wks?|days?|hours?|hrs?|months?|mos|years?|yrs?|minutes?|mins?)\b)"
    r"(?!(?<=\d-\d)\s?(?:(?i:points?|pillows|liters?|litres?|occasions|episodes|stools|drinks|packs|beers|pounds|lbs"
    r"|blocks|flights|tablets|tabs|pills|puffs|doses|drops)\b|L(?:/|\s(?:of|via|by|on|O\x1f?2|NC|nasal)\b)))"
)


_NO_DAY_BEHIND = r"\s(?i:doses?|strength|power|scale|mm\x1e?hg|tab(?:let)?s?)(?!\w)"


def _is_day_and_month(a: int, b: int) -> bool:
    # Day and month may come in either order, because both orders occur in English notes.
    return (1 <= a <= 31 and 1 <= b <= 12) or (1 <= a <= 12 and 1 <= b <= 31)


def _numeric_length(text: str) -> int:
    """Length of a date with day and month in either order. The year may be at the start, at the end, or missing."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    if len(numbers) == 3 and numbers[0] > 999:
        numbers = numbers[1:]
    return len(text) * _is_day_and_month(*numbers[:2])


def _day_and_month_length(text: str) -> int:
    """Length of a day and a month; 0 for a fraction or range of two numbers below 10, such as "el 1/3 superior"."""
    return _numeric_length(text) * (len(re.findall(r"\d", text)) > 2)


def _birth_length(text: str) -> int:
    """Length of a year, or of a date without separators (day, month, and year of two or four digits)."""
    digits = re.sub(r"\D", "", text)
    is_date = len(digits) > 4 and _is_day_and_month(int(digits[:2]), int(digits[2:4]))
    return len(text) * (len(digits) == 4 or is_date or digits[:2] in ("19", "20"))


def _range_length(text: str) -> int:
    """Length of the days from the first to the last of a range that ends in a whole date, as in "12.-14.03.2019"."""
    first, *_ = re.findall(r"\d+", text)
    last = re.findall(r"\d+", text)[-3:]
    return len(text) * (1 <= int(first) <= 31 and _is_day_and_month(int(last[0]), int(last[1])))


def _month_length(text: str) -> int:
    """Length of a month and a year, if the month is between 1 and 12."""
    return len(text) * (1 <= int(re.split("[/.-]", text)[0]) <= 12)


def _last_day_length(text: str) -> int:
    """Length of a date such as "2019-Jan-03", if the day is between 1 and 31."""
    return len(text) * (1 <= int(text[-2:].strip("- \x1f\t\n")) <= 31)


def _first_day_length(text: str) -> int:
    """Length of a date whose first number is its day, if the day is between 1 and 31."""
    day = re.search(r"\d+", text)
    return len(text) * (day is not None and 1 <= int(day[0]) <= 31)


def _compact_length(text: str) -> int:
    """Length of a date such as 20190312, if month and day are possible. A time may follow: 201903121430."""
    return len(text) * _is_day_and_month(int(text[6:8]), int(text[4:6]))


def _day_length(text: str) -> int:
    """Length of an English date with the name of a month, if the day is between 1 and 31.

    "may", "march" and most short names are also ordinary words in lower case, and "2. May" can begin a sentence. Dates
    with such names need a year, or a sign on both sides.
    """
    days = [int(number) for number in re.findall(r"\d+", text) if len(number) < 3]
    # The pattern itself, because it also matches other forms of letters, such as the long s in "Auguſt".
    found = re.search(MONTH, text)
    assert found is not None
    month = found[0]
    has_year = re.search(rf"{_YEAR}|[-/']\d\d\Z|[-/]{month}[-/]", text) is not None
    is_word = month.title() in ("May", "March") or month.title() in _SHORT
    follows = re.match(r"\d{1,2}(?:\.|-\d)", text) is not None
    is_doubtful = is_word and (month.islower() or (follows and month.title() in ("May", "March", "Mar")))
    return len(text) * (has_year or not is_doubtful) * (not days or 1 <= days[0] <= 31)


def _date(name: str, pattern: str, *languages: str, **more: Any) -> Rule:
    return Rule(name, "date", "DATE", pattern, languages or LANGUAGES, **more)


# Words before a year, and words before a day and a month in digits.
_BEFORE_YEAR = {
    "es": "en|desde|hasta|durante|entre|a finales de|a principios de",
    "de": "seit|im jahre?|jahr|anfang|mitte|ende|in|von|bis|um|ab",
    "fr": "en|depuis|année|fin|début|mi",
    "nb": "i|siden|fra|til|år|ca",
    "it": "nel|dal|del|anno|fino al|inizio|fine",
    "pt": "em|desde|ano|até|fim de|início de",
    "nl": "in|sinds|sedert|van|tot|jaar|begin|eind|medio",
}
_BEFORE_DAY = {
    "de": "am|vom|bis|zum|seit|ab|den",
    "es": "el|al|desde|hasta",
    "fr": "le|du|au",
    "nb": "den|fra|til|siden",
    "it": "il|dal|al|del",
    "pt": "em|até|desde",
    "nl": r"op|vanaf|sinds|dd|d\.d",
}
# Words before a date of birth, which may have no separators: "DOB 03051950", "født 030350", "geb. 1950".
_BORN = (
    r"dob|d\.o\.b|birth(?:date|day)?|born|geb(?:oren|urtsdatum|datum)?|jahrgang|n[ée]e?(?: le| en)?|ddn|født|nacid[oa]|"
    r"f\.? ?nac|nacimiento|nat[oa]|nascid[oa]|nascimento|dn"
)
# Names that rules had in saved models before all languages had the same rules.
_NAMES = {("day-month", "es"): "fecha-dia-mes", ("month-year", "es"): "fecha-mes-ano", ("year", "es"): "fecha-solo-ano"}
# Words between two days: "3 al 5 de mayo".
_BETWEEN = {"es": "al|y", "de": "bis|und", "fr": "au|et", "nb": "til|og", "it": "al|e", "pt": "a|e", "nl": "tot|en"}
_WORD = r"[^\W\d_]{3,10}(?![^\W\d_])"


def _named_month_length(text: str, language: str) -> int:
    """Length of a date with the name of a month; 0 for other words, and for an abbreviation without a year."""
    names = locale_words(language)
    words = [word.lower() for word in re.findall(r"[^\W\d_]{3,10}", text)]
    known = [word for word in words if names.month_number(_plain(word)) is not None]
    # "3 set" and "2 out" are not dates, "3 set 2019" and "2 out." are.
    is_short = not any(len(word) > 4 or word in map(str.lower, names.block("months")) for word in known)
    is_sure = not is_short or re.search(r"\d{4}|[-/']\d{2}\Z", text) is not None or text.endswith(".")
    day = re.match(r"\d{1,2}(?!\d)", text)
    return len(text) * (bool(known) and is_sure and (day is None or 1 <= int(day[0]) <= 31))


def _plain(word: str) -> str:
    """Return the usual spelling of an Austrian month name, or of a month name with "ae" for "ä"."""
    word = word.replace("ae", "ä")
    return {"jänner": "januar", "feber": "februar"}.get(word, word)


def _date_in(language: str, kind: str, pattern: str, **more: Any) -> Rule:
    return _date(_NAMES.get((kind, language), f"date-{kind}-{language}"), pattern, language, **more)


def _in_figures(language: str) -> Iterator[Rule]:
    """Rules for days and months in digits after words of a language, separated by points, by a slash, or by both."""
    before = rf"\b(?i:{_BEFORE_DAY[language]})\.?\s"
    signs = ("/", "-")
    if language in ("de", "nb"):
        with_points = rf"{before}(?P<phi>\d{{1,2}}\.\s?\d{{1,2}}\.)(?!\s?\d)"
        yield _date_in(language, "day-and-month-in-figures", with_points, measure=_numeric_length, keeps_stop=True)
    if language != "de":
        with_slash = rf"{before}(?P<phi>\d{{1,2}}[/-]\d{{1,2}})(?![\d/-])(?!\.\d){NO_UNIT}"
        yield _date_in(language, "day-and-month-with-slash", with_slash, measure=_day_and_month_length, words=signs)


def _in_words(language: str) -> Iterator[Rule]:
    """Rules for dates with the name of a month, and for years and days after words of a language.

    Names of months come from the word lists of surrogates, which `measure` reads with the first date.
    """
    measure = partial(_named_month_length, language=language)
    of = r"\s(?i:d[ei]l?|van)\s"
    first = rf"(?:{_DAY}\.?(?:[-/]|\s(?:{_BETWEEN[language]})\s))?"
    # "2.019" is a year behind a month, and a number elsewhere.
    year = rf"(?={_YEAR}|2\.0|1\.9)\d\.?\d{{3}}(?!\d)"
    day_month = (
        rf"{_DAY_FREE}{first}{_DAY}(?:[.º°]|\x1fº|\x1f?er\b|\s°)?(?:{of}|[\s./-]{{0,2}}){_WORD}\.?"
        rf"(?:(?:{of}|[\s,./-]{{0,2}}){year}|\s?[-/]\d{{2}}(?![\d:/-])|{_SHORT_YEAR})?"
    )
    between = rf"(?:{of}(?:(?i:año)\s)?|[\s,./-]{{1,2}})"
    month_year = rf"(?<![^\W_]){_WORD}\.?(?:{between}{year}|\s?[-/]\d{{2}}(?![\d/-])|{_SHORT_YEAR})"
    before = _BEFORE_YEAR[language].replace(" ", r"\s")
    # The year first, because more texts have a word such as "in" than a year.
    only_year = rf"(?=[12])(?<=\s){_YEAR}(?:[/-]{_YEAR})?(?!\d)(?![-./:,]\d){NO_UNIT}"
    yield _date_in(language, "day-month", day_month, measure=measure)
    yield _date_in(language, "month-year", month_year, measure=measure)
    yield _date_in(language, "year", only_year, priority=0, words=_IN_YEARS, after=rf"\b(?i:{before})\s")
    yield from _in_figures(language)


# "born April 3, 10 weeks early", but not "born April 3, 60, HR 80" and "born April 3, 60 w/ twin"
_NO_YEAR_OF_BIRTH = (
    r"[\s-]?(?:(?!(?:HR|MO)\b)(?i:years?|yrs?|yo|months?|mos?|weeks?|wks?|days?|hours?|hrs?|minutes?|mins?|am|pm|lbs?|oz|kg|cm"
    r"|g|st|nd|rd|th|of)\b|[ywdh]\b(?!/)|%|\+\d)"
)


def _birth_in_words(name: str, cue: str, **more: Any) -> Rule:
    """Rule for a date of birth with the name of a month and a year of two digits."""
    day_month = rf"\d(?<!\d\d)\d?{_ORDINAL}(?:[\s-]|\s(?i:of)\s){MONTH}\.?"
    month_day = rf"{_MONTH_START}{MONTH}(?:\.\s?|\s){_DAY}{_ORDINAL}"
    pattern = rf"(?:{day_month}|{month_day})(?:,\s?|\s)\d\d(?![\d:-]|[/.]\d)"
    after = rf"\b(?i:{cue})(?i:/(?:sex|age|gender))?(?:\s(?i:is|was|on|the)){{0,2}}[\s.:=(-]{{1,3}}"
    words = ("dob", "d.o.b", "birth", "born")
    return _date(name, pattern, "en", priority=2, measure=_first_day_length, words=words, after=after, **more)


DATE_RULES = (
    _date(
        "date-numeric",
        # The score of Apgar has three numbers.
        rf"{_FREE_OR_SECOND}{_DAY}\s?([/.-])\s?{_DAY}\s?\1\s?"
        rf"(?:'?{_YEAR}(?!\d)|['´]?\d{{2}}{_END_OR_SECOND}(?!\.\d))",
        measure=_numeric_length,
        not_after=r"\b(?i:apgars?)(?:\s(?i:scores?))?(?:\s(?i:of|was|were))?[\s:]{1,2}",
    ),
    _date(
        "date-range",
        rf"{_FREE}{_DAY}(?:\.|([/.]){_DAY}\1?)?(?:-|(?<=\.)\s-\s|\s(?:al|au|bis|til|tot)\s){_DAY}([/.]){_DAY}\2(?:{_YEAR}(?!\d)|\d{{2}}{_END}(?!\.\d))",
        measure=_range_length,
    ),
    _date(
        "date-of-birth",
        rf"(?=\d)(?<=[\s.:])(?:\d\d\s?\d\d\s?(?:\d\d){{1,2}}|{_YEAR})(?!\d)(?![-./,:]\d){NO_UNIT}",
        priority=2,
        measure=_birth_length,
        after=rf"\b(?i:{_BORN})".replace(" ", r"\s") + r"[\s.:]{1,3}",
    ),
    # "DOB: 3 Apr 60", "DOB: April 3, 60": elsewhere, the second number may be another one.
    _birth_in_words("date-of-birth-in-words", r"dob|d\.o\.b\.?|date\sof\sbirth|birth\s?date"),
    _birth_in_words("date-born-in-words", r"born|birth\s?day", not_before=_NO_YEAR_OF_BIRTH),
    # "12/3-19" is 12 March.
    _date(
        "date-day-slash-month-nb",
        rf"{_FREE}{_DAY}/{_DAY}\s?-\s?(?:{_YEAR}|\d{{2}})(?!\d)(?![-/.]\d)",
        "nb",
        measure=_numeric_length,
    ),
    _date(
        "date-iso", rf"{_SECOND_ISO}{_YEAR}([-/.]){_DAY}\1{_DAY}{_END_ISO}", measure=_numeric_length, words=_IN_YEARS
    ),
    # A month from 01 to 12; "2010-12" may also be two years.
    _date(
        "date-year-and-month",
        rf"{_FREE}(?<![A-Za-z][-/]){_YEAR}[-/](?:0[1-9]|1[0-2]){_END}(?![.,:]\d){NO_UNIT}",
        words=_IN_YEARS,
    ),
    _date(
        "date-compact",
        rf"{_FREE}{_YEAR}\d{{4}}(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?(?!\d)(?![-/.]\d)",
        priority=0,
        measure=_compact_length,
        words=_IN_YEARS,
    ),
    # "2011-W19-4"
    _date(
        "date-week",
        r"[12](?<!\d\d)(?<=(?=19|20).)\d{3}-?\x1f?W\x1f?\d\d(?:-?[1-7])?(?!\w)",
        needs="W",
    ),
    # "KW 19/2019", "week 19 of 2011"
    _date(
        "date-week-named",
        rf"\d(?<=\s\d)\d?(?:/|\s(?:(?i:of|van|av|de|del|du)\s)?){_YEAR}(?!\d)",
        words=_IN_YEARS,
        after=r"\b(?i:kw|week|uke|semaine|semana|settimana)\s",
    ),
    # The month in Roman numerals: "12.V.2019", "12-XI-19"
    _date(
        "date-roman-month",
        rf"\d(?<!\d\d)(?<!\d[-./]\d)\d?\s?([./-])\s?(?:IX|IV|VI{{0,3}}|XI{{0,2}}|I{{1,3}})\s?\1\s?(?:{_YEAR}|\d\d){_END}",
        measure=_first_day_length,
        needs="IVX",
    ),
    _date(
        "date-month-and-day-in-figures",
        # "from 8/10 to 3/10" are scores.
        rf"\b(?i:(?:on|since|from|until|by|through|admitted|seen|discharged)\s|(?:dated?|dos)[\s:]{{1,2}}"
        rf"|between\s(?=\d{{1,2}}/\d{{1,2}}\sand\s\d{{1,2}}/\d{{1,2}}(?!\d|{_NO_DAY_BEHIND})))(?!\d{{1,2}}/10\s(?:to|and)\s\d{{1,2}}/10\b)"
        rf"(?P<phi>\d{{1,2}}[/-]\d{{1,2}})(?![\d/-])(?!\.\d){NO_UNIT}{_NO_COUNT}",
        "en",
        measure=_numeric_length,
        words=("/", "-"),
        # "on 3/4 strength formula", "on 7/10 scale", "by 10/20 mmHg"
        not_before=_NO_DAY_BEHIND,
    ),
    # The second day of "from 5/12 to 5/14"
    _date(
        "date-second-in-figures",
        rf"\d(?<=\s\d)\d?/\d{{1,2}}(?![\d/-])(?!\.\d){NO_UNIT}{_NO_COUNT}",
        "en",
        measure=_numeric_length,
        words=("/",),
        after=r"\b(?i:from|between)\s\d{1,2}/(?!10\s)\d{1,2}\s(?i:to|and|until|till|through|thru)\s",
        not_before=_NO_DAY_BEHIND,
    ),
    # "12th to 14th May"
    _date(
        "date-days-month",
        rf"\d(?<!\d\d)(?<!\d[-./]\d)(?<![xX×]\d)(?<![xX×]\x1f\d)\d?{_ORDINAL}{_AND}{_DAY}{_ORDINAL}"
        rf"(?:\sof\s|\s){MONTH}\b(?:,?\s{_YEAR})?(?!\d)",
        "en",
        measure=_day_length,
        words=_IN_MONTHS,
    ),
    _date(
        "date-month-day",
        rf"{_MONTH_START}{MONTH}(?:\.?\s{{0,2}}|\sthe\s){_DAY}{_ORDINAL}(?:(?:\s?-\s?|{_AND_DAY}){_DAY}(?!\d))?"
        rf"(?:,?\s{{0,2}}{_YEAR}|/\d{{2}}(?![\d/])|,?{_SHORT_YEAR})?(?!\d)",
        "en",
        measure=_day_length,
        words=_IN_MONTHS,
    ),
    _date(
        "date-day-month",
        rf"{_DAY_FREE}(?:\d{{1,2}}\x1f?(?:st|nd|rd|th)?[-/])?{_DAY}{_ORDINAL}"
        rf"(?:\s(?:of|day of)\s|[\s./-]{{0,2}}){MONTH}\b"
        rf"(?:[\s,./-]{{0,2}}{_YEAR}|[\x1f/-]?\d{{2}}|\.?{_SHORT_YEAR})?(?!\d)",
        "en",
        measure=_day_length,
        words=_IN_MONTHS,
    ),
    _date(
        "date-month-day-year",
        rf"{_MONTH_START}{MONTH}([-/]){_DAY}\1(?:{_YEAR}|\d{{2}})(?!\d)",
        "en",
        measure=_day_length,
        words=_IN_MONTHS,
    ),
    # "05MAY11" in raw text has no word border after the month.
    _date(
        "date-day-month-glued",
        rf"{_FREE}{_DAY}{MONTH}(?:{_YEAR}|\d{{2}})(?!\d)",
        "en",
        measure=_day_length,
        words=_IN_MONTHS,
    ),
    _date(
        "date-year-month-day",
        rf"{_FREE}{_YEAR}([\s-]){MONTH}\1{_DAY}(?!\d)",
        "en",
        measure=_last_day_length,
        words=_IN_MONTHS,
    ),
    _date(
        "date-month-year",
        rf"{_MONTH_START}{MONTH}(?:\.?[\s,./-]{{1,2}}(?:of\s)?{_YEAR}(?!\d){NO_UNIT}|\.?{_SHORT_YEAR}|[/-]\d{{2}}(?![\d/-]))",
        "en",
        words=_IN_MONTHS,
    ),
    _date(
        "date-season",
        rf"\b(?i:spring|summer|fall|autumn|winter|christmas|easter|thanksgiving|halloween|new\syear'?s(?:\s(?:day|eve))?)"
        rf"(?:\s(?:of\s|')?{_YEAR}(?:[/-](?:{_YEAR}|\d{{2}}))?|\s?'\d\d)(?!\d)",
        "en",
        words=("spring", "summer", "fall", "autumn", "winter", "christmas", "easter", "thanksgiving", "hallow", "new"),
    ),
    _date(
        "date-month-year-in-figures",
        rf"{_FREE}\d{{1,2}}[/-]{_YEAR}{_END}{NO_UNIT}",
        measure=_month_length,
        words=_IN_YEARS,
    ),
    _date(
        "date-month-year-with-point",
        rf"{_FREE}\d{{2}}\.{_YEAR}{_END}(?!\.\d){NO_UNIT}",
        *LANGUAGES[1:],
        measure=_month_length,
    ),
    _date("date-month-alone", rf"{_MONTH_START}{_CLEAR_MONTH}\b", "en", priority=0, needs="yYbB", words=_IN_MONTHS),
    _date("date-weekday", rf"\b{_WEEKDAY}\b", "en", priority=0, needs="yY", words=("day",)),
    _date(
        "date-year",
        rf"(?=[12])(?<=[\s-]){_YEAR}(?:[/-]{_YEAR})?(?!\d)(?![-./:]\d){NO_UNIT}",
        "en",
        priority=0,
        words=_IN_YEARS,
        after=r"\b(?i:in|since|of|from|until|before|after|during|year|early|late|mid|circa|noted)[\s-]",
    ),
    _date("fecha-ano", rf"\b(?i:año)\s{_YEAR}(?!\d)", "es", words=("año",)),
    *(rule for language in _BEFORE_YEAR for rule in _in_words(language)),
)
