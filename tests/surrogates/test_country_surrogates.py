"""Countries fit the word before them, in all notes of a patient."""

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.country_surrogates import CountrySurrogates
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.town_surrogates import TownSurrogates

KEYS = [bytes([i]) * 32 for i in range(12)]


def countries(locale, key=KEYS[0], avoided=frozenset()):
    words, chance = locale_words(locale), PatientChance(key, "p")
    return CountrySurrogates(chance, words, avoided, TownSurrogates(chance, words, avoided))


def classes(locale):
    return dict(entry.split("=") for entry in locale_words(locale).block("countries by article"))


@pytest.mark.parametrize(
    ("locale", "before", "fitting", "other"),
    [
        ("fr", "originaire du ", "M", "France"),
        ("fr", "n\u00e9e d'", "V", "France"),
        ("fr", "VIT AUX ", "P", "France"),
        ("de", "kam aus der ", "F", "Deutschland"),
        ("de", "lebte im ", "M", "Deutschland"),
        ("it", "nato nel ", "M", "Italia"),
        ("es", "procedente del ", "M", "Espa\u00f1a"),
        ("pt", "regressou do ", "M", "Portugal"),
    ],
)
def test_a_country_fits_the_word_before_it(locale, before, fitting, other):
    """Nearly all surrogates were the country of the locale: "du France", "aus der Deutschland"."""
    text = f"{before}Zyxland"
    notes = [Document("n", text, (Span(len(before), len(text), "COUNTRY"),), f"p{i}") for i in range(30)]
    engine = SurrogateEngine(key=KEYS[0], locale=locale)
    drawn = {engine.rewrite(note).text.removeprefix(before) for note in notes}
    listed = classes(locale)
    assert {listed[name] for name in drawn} == {fitting}
    assert len(drawn) > 2 and other not in drawn


def test_the_country_of_the_patient_stays_the_usual_one_where_it_fits():
    for locale, before in (("fr", "en "), ("it", "dall'"), ("pt", "em "), ("en", "the "), ("de", "in "), ("nl", "de ")):
        drawn = []
        for key in KEYS:
            some = countries(locale, key)
            some.learn("Zyxland", before)
            drawn.append(some.of("Zyxland"))
        assert drawn.count(locale_words(locale).home_country) > len(KEYS) / 2


def test_a_country_has_one_surrogate_with_and_without_an_article():
    engine = SurrogateEngine(key=KEYS[0], locale="fr")
    text = "Pays : Zyxland. Retour au Zyxland, du Zyxland, ZYXLAND"
    spans = tuple(Span(i, i + 7, "COUNTRY") for i in range(len(text)) if fold(text[i:]).startswith("zyxland"))
    new = engine.rewrite(Document("n1", text, spans, "p"))
    drawn = {fold(new.text[span.start : span.end]) for span in new.spans}
    later = engine.rewrite(Document("n2", "Pays : Zyxland", (Span(7, 14, "COUNTRY"),), "p")).text
    assert drawn == {fold(later.removeprefix("Pays : "))}


def test_a_country_of_an_earlier_note_keeps_its_surrogate():
    engine = SurrogateEngine(key=KEYS[0], locale="fr")
    first = engine.rewrite(Document("n1", "Pays : Zyxland", (Span(7, 14, "COUNTRY"),), "p")).text
    second = engine.rewrite(Document("n2", "rentre du Zyxland", (Span(10, 17, "COUNTRY"),), "p")).text
    assert first.removeprefix("Pays : ") == second.removeprefix("rentre du ")


def test_no_country_is_drawn_that_the_corpus_has():
    listed = classes("de")
    avoided = frozenset(map(fold, listed)) - {"schweiz"}
    for key in KEYS:
        some = countries("de", key, avoided)
        some.learn("Zyxland", "aus der ")
        assert some.of("Zyxland") == "Schweiz"
    some = countries("de", avoided=frozenset(map(fold, listed)))
    some.learn("Zyxland", "aus der ")
    assert some.of("Zyxland") not in listed


@pytest.mark.parametrize("locale", LOCALES)
def test_each_article_has_countries_and_each_country_has_an_article(locale):
    articles = locale_words(locale).numbered("articles of countries")
    assert set("".join(articles.values())) == set(classes(locale).values())
