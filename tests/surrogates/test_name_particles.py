"""Which words of a name are particles, which stay, and which are names that look like particles."""

import re

import pytest

from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.name_parsing import parse_name
from sklearn_deid.surrogates.name_particles import east_asian_words, hyphenated, is_particle, is_short_particle
from sklearn_deid.surrogates.own_names import OwnNames
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.person_surrogates import PersonSurrogates
from sklearn_deid.surrogates.written_form import written_form

EN = locale_words("en")
KEYS = [bytes([i]) * 32 for i in range(8)]


def surrogates(locale, key, *names):
    """Surrogates of the names of one note."""
    people = PersonSurrogates(PatientChance(key, "p"), locale_words(locale), True, frozenset())
    people.learn([(name, "person") for name in names])
    return [people.surrogate(name, "person") for name in names]


def kept(name, locale="en"):
    return [part.text for part in parse_name(name, locale_words(locale)) if part.role == "kept" and part.text.isalpha()]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    "name",
    [
        "L\u00ea V\u0103n Zyxen",
        "l\u00ea v\u0103n zyxen",
        "L\u00ca V\u0102N ZYXEN",
        "Zyxen L\u00e0 Wroxby",
        "Wroxby, D\u1ebf",
    ],
)
def test_a_name_with_an_accent_is_no_particle_without_the_accent(locale, name):
    """ "L\u00ea", the third of the Vietnamese surnames, stayed as the particle "le"."""
    assert kept(name, locale) == []


@pytest.mark.parametrize(
    ("name", "locale", "title"),
    [
        ("Se\u00f1ora Zyxen", "es", "Se\u00f1ora"),
        ("Senora Zyxen", "es", "Senora"),
        ("OBER\u00c4RZTIN ZYXEN", "de", "OBER\u00c4RZTIN"),
    ],
)
def test_public_words_stay_with_and_without_their_own_accents(name, locale, title):
    assert kept(name, locale) == [title]


def test_a_name_with_an_accent_is_no_title():
    assert kept("Zyxen M\u00e9 Wroxby", "fr") == kept("M\u00e9 Wroxby", "fr") == []


@pytest.mark.parametrize(
    "name",
    ["Bin Wang", "Di Wu", "BIN WANG", "di wu", "Van Nguyen", "Nguyen Van An", "Le Van An", "Le Thi Hoa", "Al Van Le"],
)
def test_words_beside_names_of_east_asia_are_names(name):
    assert kept(name) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Anna van Wang", ["van"]), ("De Luca", ["De"]), ("Yann LE Goff", ["LE"]), ("Mr. Di Lorenzo", ["Mr", "Di"])],
)
def test_particles_beside_other_names_stay(name, expected):
    assert kept(name) == expected


@pytest.mark.parametrize("name", ["J. vd Zyxen", "Zyxen, J. vd", "Jan vd Zyxen-Alder"])
def test_the_short_form_of_van_der_stays(name):
    assert kept(name, "nl") == ["vd"]


def test_initials_before_a_listed_surname_and_a_given_name_do_not_stay():
    assert kept("AM M\u00fcller Anna", "de") == []
    assert kept("DI Stefano Marco", "it") == ["DI"]


def test_the_form_of_a_name_tells_that_words_beside_it_are_names():
    assert written_form("Di Wu", "PATIENT", "en") != written_form("Di Zyx", "PATIENT", "en")
    assert written_form("Zyxen L\u00ea Wroxby", "PATIENT", "en") == written_form(
        "Zyxen D\u1ebf Wroxby", "PATIENT", "en"
    )


def test_streets_keep_no_names_with_accents():
    names = OwnNames(PatientChance(bytes(32), "p1"), EN, frozenset())
    assert names.is_particle("Le") and not names.is_particle("L\u00ea") and not names.is_connector("l\u00ea")


def test_words_of_east_asia_are_folded_and_no_particles():
    assert all(word == fold(word) for word in east_asian_words())
    assert not any(east_asian_words() & locale_words(locale).particles for locale in LOCALES)


def test_particles_and_units_by_position():
    pieces = ["Jan", " ", "van", " ", "Alder", "-", "Birch"]
    assert is_particle(pieces, 2, EN, set()) and not is_particle(["Anh", " ", "Van"], 2, EN, set())
    assert hyphenated(pieces, [0, 4, 6]) == [[0], [4, 6]]
    assert is_short_particle(["v", ". ", "d", ". ", "Alder"], 0, locale_words("nl"))


@pytest.mark.parametrize(
    ("locale", "text", "other"),
    [
        ("es", "ORTEGA Y GASSET", "Ortega y Gasset"),
        ("es", "Ortega Y Gasset", "Ortega y Gasset"),
        ("es", "ANA PAZ Y LUIS REY", "Ana Paz y Luis Rey"),
        ("pt", "MARIA DA SILVA E SOUZA", "Maria da Silva e Souza"),
        ("it", "MARIO ROSSI E LUCIA BIANCHI", "Mario Rossi e Lucia Bianchi"),
    ],
)
def test_and_in_capitals_is_read_as_in_lower_case(locale, text, other):
    """The letter was read as an initial, and the surname before it as a given name."""
    words = locale_words(locale)
    roles, wanted = ([part.role for part in parse_name(name, words)] for name in (text, other))
    assert roles == wanted
    for key in KEYS:
        drawn, lower = surrogates(locale, key, text, other)
        assert drawn.casefold() == lower.casefold()


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("es", "LAURA Y REY"),
        ("es", "ORTEGA Y. GASSET"),
        ("pt", "MARIA E SOUZA"),
        ("en", "JOHN PAUL Y LINDEN"),
        ("es", "ANA ORTEGA E GASSET"),
    ],
)
def test_other_letters_in_capitals_are_initials(locale, text):
    """Their letters do not stay."""
    letter = re.search(r" (\w)\b", text)[1]
    drawn = {re.search(r" (\w)\b", *surrogates(locale, key, text))[1] for key in KEYS}
    assert drawn != {letter} and len(drawn) > 2


@pytest.mark.parametrize("locale", ["es", "pt"])
def test_the_first_of_two_words_is_a_given_name_if_it_is_no_surname(locale):
    """Both words counted as surnames, so that their initials belonged to nobody."""
    words = locale_words(locale)

    def roles(text):
        return [part.role for part in parse_name(text, words) if part.role != "kept"]

    assert roles("Zyxela Wrexari") == ["given", "surname"]
    assert roles(f"Zyxela {words.surnames[0]}") == ["given", "surname"]
    assert roles("Dra. Zyxela Wrexari") == ["given", "surname"]
    assert roles("Zyxela Wrexari Quixor") == ["given", "surname", "surname"]
    listed = next(name for name in words.surnames if not words.may_be_given_name(name))
    assert roles(f"{listed} Wrexari") == ["surname", "surname"]
    for key in KEYS:
        whole, short = surrogates(locale, key, "Zyxela Wrexari", "Z. Wrexari")
        assert short == f"{whole[0]}. {whole.split()[1]}"
