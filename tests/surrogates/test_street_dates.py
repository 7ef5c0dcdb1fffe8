"""Dates in names of streets become other dates of the same form."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.street_dates import StreetDate

KEYS = [bytes([i]) * 32 for i in range(8)]


def rewritten(text, locale, key):
    note = Document("n", text, (Span(0, len(text), "STREET"),), "p")
    return SurrogateEngine(key=key, locale=locale).rewrite(note).text


@pytest.mark.parametrize(
    ("locale", "text", "pattern", "other"),
    [
        ("fr", "12 rue du 8 mai 1945", r"\d\d rue du \d (\w+) 1[89]\d\d", "98 rue du 3 juin 1940"),
        ("fr", "12, RUE DU 11 NOVEMBRE 1918", r"\d\d, RUE DU [12]\d (\w+) 1[89]\d\d", "98, RUE DU 19 MARS 1962"),
        (
            "de",
            "Stra\u00dfe des 17. Juni 135",
            r"Stra\u00dfe des [12]\d\. ([A-Z]\w+) \d{3}",
            "Stra\u00dfe des 23. Mai 987",
        ),
        ("es", "Calle 2 de Mayo, 12", r"Calle \d de ([A-Z]\w+), \d\d", "Calle 9 de Julio, 98"),
        ("it", "via 25 aprile 5", r"via [12]\d (\w+) \d", "via 20 settembre 9"),
        ("pt", "Rua 25 de Abril, lote 3", r"Rua [12]\d de ([A-Z]\w+), lote \d", "Rua 31 de Janeiro, lote 9"),
        ("fr", "rue du 8-Mai-1945", r"rue du \d-([A-Z]\w+)-1[89]\d\d", "rue du 3-Juin-1940"),
        ("fr", "5 rue du 4-Septembre", r"\d rue du \d-([A-Z]\w+)", "9 rue du 8-Mai"),
        ("fr", "2 rue du 1er mai", r"\d rue du 1er (\w+)", "9 rue du 1er juin"),
    ],
)
def test_dates_in_names_of_streets(locale, text, pattern, other):
    """The month became letters or a surname, and the day and the year no date: "rue du 4 huj 3183"."""
    new = [re.fullmatch(pattern, rewritten(text, locale, key)) for key in KEYS]
    assert None not in new
    months = [locale_words(locale).month_number(found[1]) for found in new]
    assert None not in months and len(set(months)) > 2
    assert written_form(text, "STREET", locale) == written_form(other, "STREET", locale)


def test_a_street_has_one_date_and_a_house_one_number_in_all_forms():
    for key in KEYS:
        forms = [
            rewritten(text, "es", key) for text in ("Calle 2 de Mayo 127", "C/ 2 de mayo, 127", "CALLE 2 DE MAYO 127")
        ]
        assert len({tuple(re.findall(r"\d+|\w{4,}", form.upper().removeprefix("CALLE"))) for form in forms}) == 1


@pytest.mark.parametrize(
    ("locale", "pieces"),
    [
        ("en", ["Avenue", " ", "5", " ", "May"]),
        ("fr", ["12", " ", "rue", " ", "Mai"]),
        ("fr", ["8", " ", "mai", " ", "rue"]),
        ("fr", ["rue", " ", "du", " ", "45", " ", "mai"]),
        ("nl", ["4", " ", "Meistraat"]),
    ],
)
def test_other_streets_have_no_date(locale, pieces):
    date = StreetDate(pieces, locale_words(locale))
    assert (date.places, date.name, date.drawn(PatientChance(KEYS[0], "p"))) == ([], "", {})
