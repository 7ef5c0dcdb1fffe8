"""New words of names: not listed, and spoken like the names of the language; names of firms and institutions."""

import re
from itertools import chain

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.folding import fold, plain_letters
from sklearn_deid.surrogates.keyed_chance import KeyedChance
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.own_names import _nouns, new_word

N = 300


@pytest.mark.parametrize("locale", LOCALES)
def test_new_words_are_in_no_list_and_hold_no_letters_that_names_do_not_hold(locale):
    words = locale_words(locale)
    made = [new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset()) for i in range(N)]
    # Where no pair of halves can be spoken, the word is a listed surname.
    new = [word for word in made if not words.is_name(word)]
    assert len(new) >= 0.97 * N
    listed = [f" {name.lower()} " for name in chain(words.surnames, *words.given_names.values())]
    text = "|".join(listed)
    for word in new:
        whole = f" {word.lower()} "
        assert all(whole[i : i + 3] in text for i in range(len(word))), "three letters that no name has"
    assert len(set(new)) > N / 5


def test_new_words_avoid_the_names_of_the_corpus():
    words = locale_words("en")
    first = {new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset()) for i in range(20)}
    again = {
        new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset(word.lower() for word in first)) for i in range(20)
    }
    assert not first & again


def drawn(text, label, locale, n=60, **settings):
    note = Document("n", text, (Span(0, len(text), label),), "p")
    engines = (SurrogateEngine(key=bytes([i]) * 32, locale=locale, **settings) for i in range(n))
    return [engine.replacements(note)[0].surrogate for engine in engines]


@pytest.mark.parametrize("locale", LOCALES)
def test_firms_are_called_neither_like_people_nor_like_towns(locale):
    """All names of two words were once two names of people of the language, or a town."""
    words = locale_words(locale)
    known = {fold(part) for town in words.towns for part in town.name.split()}
    names = [name.split() for text in ("Zyxw", "Zyxw Quarn") for name in drawn(text, "ORGANIZATION", locale)]
    usual = [all(words.is_name(word) or fold(word) in known for word in name) for name in names]
    assert sum(usual) < 0.4 * len(usual)
    assert len({" ".join(name) for name in names}) > 0.8 * len(names)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    "legal_form",
    [" GmbH", " GMBH", " S.A.", ", S.L.", " SL", ", Inc.", " Ltd", " AG & Co. KG", " S.A.R.L.", " AS", " B.V.", " Lda.",
     " S.p.A.", " Corporation", " Corp."],
)  # fmt: skip
def test_legal_forms_stay(locale, legal_form):
    """Zyxw Medizintechnik GMBH once became a name of a person in Spanish notes."""
    for text in ("Zyxw", "Zyxw Quarn"):
        bare = drawn(text, "ORGANIZATION", locale, 3)
        assert drawn(text + legal_form, "ORGANIZATION", locale, 3) == [name + legal_form for name in bare]
        assert all(len(name.split()) == len(text.split()) for name in bare)
    forms = [written_form(text + legal_form, "ORGANIZATION", locale) for text in ("Zyxw", "Brambok", "Quarnel")]
    assert len(set(forms)) == 1 and forms[0].endswith(legal_form)


def test_a_legal_form_alone_is_no_name_of_a_firm():
    assert "S.A." not in drawn("S.A.", "ORGANIZATION", "es", 5)
    assert not any(name.startswith("AG ") for name in drawn("AG Zyxwen", "ORGANIZATION", "es", 5))


def test_a_firm_has_one_name_with_and_without_public_words():
    bare = drawn("Zyxw Quarn", "INSTITUCION", "es")
    for text in ("Fundación {}", "{}, S.A.", "Laboratorios {} S.L."):
        assert drawn(text.format("Zyxw Quarn"), "INSTITUCION", "es") == [text.format(name) for name in bare]


def test_a_firm_keeps_the_casing_of_each_word():
    """Only names all in capitals or all in small letters kept it."""
    for locale in LOCALES:
        for new in drawn("Zyxwen QUARNEL brambok", "ORGANIZATION", locale, 20):
            first, second, third = new.split()
            assert first.istitle() or first[1:] != first[1:].upper()
            assert second.isupper() and third.islower()


def test_behind_of_stands_a_town_a_name_or_a_field_of_medicine():
    """Faculties and institutes of a field once were those of a town or of a person."""
    new = {name.removeprefix("Facultad de ") for name in drawn("Facultad de Zyxw", "INSTITUCION", "es")}
    fields = {name for name in locale_words("es").block("departments") if " " not in name}
    assert new & fields and new - fields
    assert not {name.removeprefix("Hospital de ") for name in drawn("Hospital de Zyxw", "HOSPITAL", "es")} & fields


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_avoided_names_are_not_drawn_for_institutions_and_addresses(locale):
    """Given names in institutions, saints, and words of mail addresses and domains were drawn from all names."""
    words = locale_words(locale)
    avoided = {*words.surnames[1:], *words.given_names["M"][1:], *words.given_names["F"][1:]}
    left = {name[0] for name in (words.surnames, *words.given_names.values())}
    names = {plain_letters(name) for name in avoided - left}
    text = "St. Zyxea; Zyxeon Vlorp Qorba; zyxeon.vlorpa@qorbon.org; www.qorbon.org"
    places = [match.span() for match in re.finditer("[^; ][^;]*", text)]
    labels = ("HOSPITAL", "HOSPITAL", "EMAIL", "URL")
    spans = tuple(Span(start, end, label) for (start, end), label in zip(places, labels, strict=True))
    for key in range(20):
        engine = SurrogateEngine(key=bytes([key]) * 32, locale=locale, avoid=avoided)
        saint, clinic, *addresses = (new for _, new, _ in engine.replacements(Document("n", text, spans, "p")))
        assert not {plain_letters(word) for word in re.findall(r"[^\W\d_]{4,}", " ".join(addresses))} & names
        assert plain_letters(clinic.split()[0]) not in names and plain_letters(saint.split()[-1]) not in names


@pytest.mark.parametrize(("locale", "town"), [("nl", "Den Haag"), ("en", "Salt Lake City"), ("it", "La Spezia")])
def test_all_names_of_a_short_list_may_be_avoided(locale, town):
    """Few towns have several words. If the corpus had these towns, the run ended with an error."""
    text = " ".join(["Zyxeon", "Vlorp", "Qorba"][: 1 + town.count(" ")])
    note = Document("n", text, (Span(0, len(text), "HOSPITAL"),), "p")
    avoided = [one.name for one in locale_words(locale).towns if one.name.count(" ") == town.count(" ")]
    for key in range(20):
        engine = SurrogateEngine(key=bytes([key]) * 32, locale=locale, avoid=avoided)
        assert engine.replacements(note)[0].surrogate not in avoided


@pytest.mark.parametrize("locale", LOCALES)
def test_few_streets_keep_their_name_behind_an_article(locale):
    """Of the nouns behind "del" and "dei" (Italian), there were five: one of five listed names stayed by chance."""
    assert all(len(nouns) >= 9 for nouns in _nouns(locale_words(locale)).values())
