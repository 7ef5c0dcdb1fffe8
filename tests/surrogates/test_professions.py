"""Professions read as notes write them, in the form for men or women."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words


def drawn(text, locale, n=40, **settings):
    note = Document("n", text, (Span(0, len(text), "PROFESSION"),), "p")
    engines = (SurrogateEngine(key=bytes([i]) * 32, locale=locale, **settings) for i in range(n))
    return [engine.replacements(note)[0].surrogate for engine in engines]


@pytest.mark.parametrize("locale", LOCALES)
def test_professions_are_short_titles(locale):
    for listed in locale_words(locale).professions_of.values():
        assert len(set(listed)) == len(listed) > 20
        assert all(re.fullmatch(r"[^\W\d_]+( [^\W\d_]+){0,2}", job) for job in listed)


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        # "Nurse, mental health", "Teacher, music", "Warden/ranger", "Engineer, broadcasting (operations)"
        ("en", ["mental health nurse", "Nurse", "music teacher", "Teacher", "ranger", "broadcasting engineer"]),
        # "Pescador, cazador, tramperos y recolector de subsistencia"
        ("es", ["Pescador"]),
        # "ingénieur biomédical biomédicale"
        ("fr", ["ingénieur biomédical", "assistant maternel"]),
        # "Corretor de bolsa, cambista"
        ("pt", ["Corretor de bolsa"]),
        ("de", ["Apotheker", "Taxifahrer"]),
    ],
)
def test_titles_of_catalogues_are_written_as_in_notes(locale, expected):
    """Such titles once were left out."""
    assert set(expected) <= set(locale_words(locale).professions_of["M"])


@pytest.mark.parametrize(
    ("locale", "woman", "man"), [("fr", "infirmière", "infirmier"), ("de", "Apothekerin", "Apotheker")]
)
def test_the_form_for_women_stays(locale, woman, man):
    """All professions of these languages once were those of men."""
    women, men = ({job.lower() for job in locale_words(locale).professions_of[sex]} for sex in "FM")
    assert {job.lower() for job in drawn(woman, locale)} <= women
    assert {job.lower() for job in drawn(man, locale)} <= men
    assert not {job.lower() for job in drawn(woman, locale)} <= men
    assert {job.lower() for job in drawn(woman, locale, keep_gender=False)} <= men
    assert written_form(woman, "PROFESSION", locale) != written_form(man, "PROFESSION", locale)


@pytest.mark.parametrize("locale", LOCALES)
def test_professions_keep_their_casing(locale):
    assert all(job[:2].islower() or job[:2].isupper() for job in drawn("zyxw", locale))
    assert all(job.isupper() for job in drawn("ZYXWEN", locale))
    assert all(job[0].isupper() for job in drawn("Zyxw", locale))


def test_the_form_of_a_profession_states_the_casing_of_its_first_letter():
    """A surrogate keeps it, and both casings once had one form."""
    one, other = "zyxw Quarn", "Zyxw quarn"
    assert {job[0].islower() for job in drawn(one, "es")} != {job[0].islower() for job in drawn(other, "es")}
    assert written_form(one, "PROFESSION", "es") != written_form(other, "PROFESSION", "es")


@pytest.mark.parametrize("text", ["Zyxlehrerin", "Zyxfrau"])
def test_german_professions_of_women_stay_so_if_no_list_has_them(text):
    words = locale_words("de")
    assert all(words.is_female_profession(job) or job in words.professions_of["F"] for job in drawn(text, "de"))
    assert written_form(text, "PROFESSION", "de") != written_form("Zyxlehrer", "PROFESSION", "de")


@pytest.mark.parametrize("key", [bytes([i]) * 32 for i in range(4)])
def test_an_article_in_a_later_note_does_not_change_the_surrogate(key):
    """Notes with and without an article gave one patient two professions."""
    engine = SurrogateEngine(key=key, locale="en")
    new = []
    for before in ("Occupation: ", "He was a ", "He was an ", ""):
        span = Span(len(before), len(before) + 4, "PROFESSION")
        new.append(engine.replacements(Document("n", f"{before}zyxw", (span,), "p"))[0].surrogate)
    assert len(set(new)) == 1
    assert new[0][0] not in "aeiou"
