"""Written forms of places, telephone numbers and ages: no digit stays, and public words do."""

import datetime
import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.age_surrogates import AgeSurrogates
from sklearn_deid.surrogates.check_digits import has_valid_check_digits
from sklearn_deid.surrogates.dates import ordinal_ending
from sklearn_deid.surrogates.locale_words import locale_words

KEYS = [bytes([i]) * 32 for i in range(12)]
EN = locale_words("en")
STATES = EN.state_names.values()
COUNTRIES = "|".join(map(re.escape, (*EN.countries, *EN.abroad, EN.home_country)))


def rewritten(locale, label, text, key=KEYS[0]):
    note = Document("n", text, (Span(0, len(text), label),), "p")
    return SurrogateEngine(key=key, locale=locale).rewrite(note).text


@pytest.mark.parametrize(
    ("locale", "street"),
    [
        ("nb", "Zyxveien 3, H1234"),
        ("de", "Zyxstra\u00dfe 1234"),
        ("nl", "Zyxstraat 1234"),
        ("nl", "Zyxlaan 3, 1234 AB"),
    ],
)
def test_long_numbers_of_streets_are_replaced(locale, street):
    """Four digits behind a street with a joined type were taken for a name, and stayed."""
    assert sum("1234" in rewritten(locale, "STREET", street, key) for key in KEYS) <= 1


@pytest.mark.parametrize(
    ("locale", "label", "text", "pattern"),
    [
        ("it", "STREET", "P.zza dell'Olmo, 3", r"P\.zza dell'[AEIOU]\w+, \d"),
        ("it", "STREET", "Via Sant'Agnese 4", r"Via Sant'[AEIOU]\w+ \d"),
        ("it", "HOSPITAL", "Ospedale Sant'Andrea", r"Ospedale Sant'[AEIOU]\w+"),
        ("it", "HOSPITAL", "Ospedale dell'Angelo", r"Ospedale dell'[AEIOU]\w+"),
        ("pt", "STREET", "R. Zyxeira, 12", r"R\. \w+, \d\d"),
        ("fr", "STREET", "5, r. du Zyx", r"\d, r\. du \w+"),
        ("nl", "HOSPITAL", "St. Zyx Ziekenhuis", r"St\. [\w-]+ Ziekenhuis"),
        ("es", "HOSPITAL", "Hospital Ntra. Sra. del Zyx", r"Hospital Ntra\. Sra\. del \w+"),
        ("de", "HOSPITAL", "Uniklinik Zyxstadt", r"Uniklinik \w+"),
        ("de", "LOCATION", "Zyxstra\u00dfe 5, 79098 Freiburg", r"\w+stra\u00dfe \d, \d{5} \D+"),
        ("de", "LOCATION", "Zyxstr. 5", r"\w+str\. \d"),
        ("nl", "LOCATION", "Zyxlaan 12", r"\w+laan \d\d"),
        ("en", "LOCATION", "12 Zyx Street\n02115 Boston\nFrance", rf"\d\d \w+ Street\n\d{{5}} [^\n]+\n({COUNTRIES})"),
        ("en", "DEPARTMENT", "Ward 12B", r"Ward [1-9]{2}[A-Z]"),
        ("es", "DEPARTMENT", "Habitaci\u00f3n 412", r"Habitaci\u00f3n [1-9]{3}"),
        ("en", "LOCATION", "Boston, Georgia", "|".join(rf".+, {name}" for name in STATES)),
        ("es", "TERRITORIO", "Granada", r"(?!Espa\u00f1a).+"),
        ("de", "PHONE", "+49 761 2701234", r"\+49 (302 3125|899 9998|406 6969|699 0009)\d{3}"),
        ("fr", "PHONE", "+33 1 23 45 67 89", r"\+33 (1 99 00|2 61 91|3 53 01|4 65 71|5 36 49|6 39 98) \d\d \d\d"),
        ("en", "PHONE", "617-234-5678 x123", r"[2-8]\d\d-555-01\d\d x\d{3}"),
        ("en", "PHONE", "Phone: 617-234-5678 ext. 12", r"Phone: [2-8]\d\d-555-01\d\d ext\. \d\d"),
        ("de", "PHONE", "Tel.: +49 761 270123", r"Tel\.: \+49 [1-9]\d\d \d{6}"),
    ],
)
def test_public_words_and_reserved_numbers(locale, label, text, pattern):
    for key in KEYS:
        assert re.fullmatch(pattern, rewritten(locale, label, text, key))


@pytest.mark.parametrize("street", ["42-nd Street", "12 5-th Ave", "31-ST", "5\u2011th Ave", "5 th Avenue", "1 st Ave"])
def test_ordinals_with_a_hyphen_or_a_blank_have_their_ending(street):
    """A hyphen ended the run with an error, and behind other signs the ending became a name."""
    for key in KEYS[:4]:
        number, ending = re.search(r"(\d+)\W([a-z]{2})\b", rewritten("en", "STREET", street, key), re.I).groups()
        assert ordinal_ending(int(number)) == ending.lower()
    assert re.fullmatch(r"\d\d St \w+ Ave", rewritten("en", "STREET", "12 St Zyxes Ave"))


def test_a_number_has_one_surrogate_with_and_without_its_country_code_and_extension():
    for locale, national, others in (
        ("fr", "01 23 45 67 89", ("+33 1 23 45 67 89", "0033 1 23 45 67 89", "01 23 45 67 89 / 12")),
        ("nl", "020 123 4567", ("+31 20 123 4567",)),
        ("en", "617-234-5678", ("617-234-5678 x12", "+1 617-234-5678")),
    ):
        digits = re.sub(r"\D", "", rewritten(locale, "PHONE", national)).removeprefix("0")
        for other in others:
            assert digits in re.sub(r"\D", "", rewritten(locale, "PHONE", other))


def test_public_words_of_telephone_numbers_are_in_their_form():
    assert written_form("617-234-5678 ext 12", "PHONE", "en") == "999-999-9999 ext 99"
    assert written_form("1-800-FLOWERS", "PHONE", "en") == written_form("1-800-LAWYERS", "PHONE", "en")


def test_italian_provinces_are_those_of_their_towns():
    address = locale_words("it").province_codes
    for key in KEYS:
        text = "00185 Roma (RM)"
        note = Document("n", text, (Span(0, 5, "ZIP"), Span(6, 10, "CITY"), Span(12, 14, "STATE")), "p")
        new = SurrogateEngine(key=key, locale="it").rewrite(note)
        town, code = (new.text[span.start : span.end] for span in new.spans[1:])
        if town.lower() in address:
            assert code == address[town.lower()]


@pytest.mark.parametrize(
    ("locale", "number", "pattern"),
    [
        ("nb", "410526 12345", r"(?P<day>\d\d)(?P<month>\d\d)(?P<year>\d\d) [0-4]\d{4}"),
        ("fr", "1 26 05 75 123 456 12", r"[12] (?P<year>\d\d) (?P<month>\d\d) \d\d \d{3} \d{3} \d\d"),
        ("it", "ZYXWVU26E03F205X", r"[A-Z]{6}(?P<year>\d\d)(?P<letter>[ABCDEHLMPRST])(?P<day>\d\d)[A-Z]\d{3}[A-Z]"),
    ],
)
def test_valid_national_numbers_hold_a_possible_date(locale, number, pattern):
    for key in (bytes([i]) * 32 for i in range(100)):
        note = Document("n", number, (Span(0, len(number), "IDNUM"),), "p")
        new = SurrogateEngine(key=key, locale=locale, check_digits="valid").rewrite(note).text
        parts = re.fullmatch(pattern, new).groupdict()
        day, month = int(parts.get("day", 1)), int(parts.get("month", 1))
        # The day of a woman in an Italian number is 40 more.
        assert datetime.date(1900 + int(parts["year"]), month, day - 40 * (locale == "it" and day > 40))
        assert has_valid_check_digits(new, locale)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("93y 4m", None), ("93 3/12", None), ("93-95", "90+-90+"), ("88-93", "88-90+"), ("5 y 3 m", "5 y 3 m")],
)
def test_nothing_behind_ninety_makes_the_age_exact(text, expected):
    assert AgeSurrogates(locale_words("en"), "keep").surrogate(text) == expected
