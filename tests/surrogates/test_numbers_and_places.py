"""Numbers, addresses and institutions keep their form and nothing of their letters."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.check_digits import has_valid_check_digits, with_check_digits
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.guessed_locale import guess_locale
from sklearn_deid.surrogates.institution_surrogates import InstitutionSurrogates
from sklearn_deid.surrogates.keyed_chance import KeyedChance
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.net_surrogates import NetSurrogates
from sklearn_deid.surrogates.number_surrogates import NumberSurrogates, random_of_form
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.place_parts import kind_of_place
from sklearn_deid.surrogates.place_surrogates import PlaceSurrogates
from sklearn_deid.surrogates.written_form import written_form

KEY = bytes(range(32))
NATIONAL = {
    "es": ["12345678Z", "X1234567L", "28 12345678 40"],
    "fr": ["1 84 12 76 451 089 46", "2 84 12 2A 451 089 80"],
    "it": ["RSSMRA85T10A562S"],
    "nl": ["111222333"],
    "nb": ["010107 50160"],
    "pt": ["123456789"],
    "de": ["86095742719"],
    "en": ["4539 1488 0343 6467"],
}


def shape(text):
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))


def chance(patient="p1"):
    return PatientChance(KEY, patient)


@pytest.mark.parametrize("locale", NATIONAL)
@pytest.mark.parametrize("choice", ["valid", "invalid"])
def test_check_digits_are_all_right_or_all_wrong(locale, choice):
    for number in NATIONAL[locale]:
        for i in range(200):
            drawn = NumberSurrogates(chance(str(i)), locale, choice).identifier(number)
            assert shape(drawn) == shape(number)
            assert has_valid_check_digits(drawn, locale) is (choice == "valid")


def test_known_numbers_have_right_check_digits():
    for locale, numbers in NATIONAL.items():
        assert [has_valid_check_digits(n, locale) for n in numbers if n != "28 12345678 40"].count(False) == 0


@given(st.text("0123456789ABCxyz-/. ", min_size=1, max_size=15))
@settings(deadline=None)
def test_numbers_keep_their_form(text):
    assert shape(random_of_form(text, KeyedChance(KEY, text))) == shape(text)
    drawn = NumberSurrogates(chance(), "nb", "invalid").identifier(text)
    assert (drawn is None) is not any(map(str.isdigit, text))
    assert drawn is None or shape(drawn) == shape(text)


def test_numbers_of_one_sign_are_drawn():
    """Fractions and Roman numerals of one sign stayed."""
    for text in ("\u216b-4", "12\u00bd", "\u2460\u24617"):
        drawn = [NumberSurrogates(chance(str(i)), "en", "invalid").identifier(text) for i in range(8)]
        assert not any({*text} & {*new} - {"-", *"0123456789"} for new in drawn)


def test_social_security_numbers_are_never_issued_ones():
    areas = {NumberSurrogates(chance(str(i)), "en", "invalid").identifier("123-45-6789")[:3] for i in range(300)}
    assert all(area in ("000", "666") or area[0] == "9" for area in areas)
    assert len(areas) > 50


@pytest.mark.parametrize(
    ("locale", "phone", "pattern"),
    [
        ("en", "(617) 234-5678", r"\([2-8]\d\d\) 555-01\d\d"),
        ("en", "234-5678", r"555-01\d\d"),
        ("en", "1-617-234-5678", r"1-[2-8]\d\d-555-01\d\d"),
        ("en", "+1 617 234 5678", r"\+1 [2-8]\d\d 555 01\d\d"),
        ("en", "4711", r"\d{4}"),
        ("es", "+34 91 416 97 00", r"\+34 [69][1-9] \d{3} \d\d \d\d"),
        ("fr", "01.42.21.10.15", r"0[1-6]\.\d\d\.\d\d\.\d\d\.\d\d"),
        ("de", "0049 461 708223", r"0049 [1-9]\d\d \d{6}"),
    ],
)
def test_phones(locale, phone, pattern):
    for i in range(50):
        assert re.fullmatch(pattern, NumberSurrogates(chance(str(i)), locale, "invalid").phone(phone))


def test_a_number_is_one_with_and_without_its_area_code():
    numbers = NumberSurrogates(chance(), "en", "invalid")
    assert numbers.phone("617-234-5678")[-4:] == numbers.phone("234-5678")[-4:]
    assert numbers.phone("617.234.5678").replace(".", "-") == numbers.phone("617-234-5678")
    assert numbers.identifier("12-34-56").replace("-", "") == numbers.identifier("123456")


@pytest.mark.parametrize("between", [" or ", ", ", "; ", " / ", "\n", " AND "])
def test_several_phones_in_a_span_are_those_of_single_spans(between):
    """The surrogate of two numbers could be the number of a person, since no reserved range has as many digits."""
    numbers = NumberSurrogates(chance(), "en", "invalid")
    one, other = "(617) 234-5678", "617.234.9876 ext. 12"
    new = numbers.phone(f"Tel: {one}{between}{other}")
    assert new == f"Tel: {numbers.phone(one)}{between}{numbers.phone(other)}"
    assert len(re.findall(r"555.01\d\d", new)) == 2


@pytest.mark.parametrize("between", ["/", " (cell) ", " (home), ", " Fax: ", "(c)"])
def test_numbers_with_words_between_them_are_those_of_single_spans(between):
    """Two numbers with a slash or a word between them had random digits, also in front of 555."""
    numbers = NumberSurrogates(chance(), "en", "invalid")
    new = numbers.phone(f"617-234-5678{between}+1 (617) 234-9876 (home)")
    assert new.startswith(numbers.phone("617-234-5678"))
    assert new.endswith(f"{numbers.phone('+1 (617) 234-9876')} (home)")
    assert "c)" in between or between in new


def test_a_number_and_its_last_digits_have_one_surrogate():
    """ "Or" became two letters, and the number had random digits."""
    numbers = NumberSurrogates(chance(), "en", "invalid")
    for between in (" or -", " or ", "/"):
        new = numbers.phone(f"617-234-5678{between}5679")
        assert new.startswith(numbers.phone("617-234-5678") + between)
    assert not numbers.phone("617-234-5678e1").endswith("e1")


@given(st.text("+()/ -.0123456789", min_size=1, max_size=18), st.sampled_from(sorted(LOCALES)))
@example("00123", "en")  # the sign of a country code on a number that is too short for one
@settings(deadline=None)
def test_every_phone_keeps_its_form(text, locale):
    drawn = NumberSurrogates(chance(), locale, "invalid").phone(text)
    assert (drawn is None) == (sum(map(str.isdigit, text)) < 3)
    assert drawn is None or shape(drawn) == shape(text)


def test_addresses_of_the_net_are_reserved_ones():
    names = lambda text: {"perez": "Soto"} if "perez" in text else {}  # noqa: E731
    net = NetSurrogates(chance(), locale_words("es"), names, lambda letter, surname: "x")
    reserved = r"(example\.(org|com|net)|[a-z]+\.(example|test|invalid|alt))"
    assert re.fullmatch(rf"[a-z]+\.soto\d\d@[a-z]+\.{reserved}", net.email("maria.perez12@salud.madrid.org"))
    assert re.fullmatch(rf"[a-z]\.[a-z]@{reserved} [a-z]_[a-z]@{reserved}", net.email("a.b@x.es c_d@y.es"))
    assert {re.fullmatch(rf"[a-z]@{reserved}", net.email(f"a@{host}.es")) is None for host in "bcdefghijk"} == {False}
    assert re.fullmatch(
        rf"mailto:[a-z]@{reserved}; \([a-z]@{reserved}\),[a-z]@{reserved}\.",
        net.email("mailto:a@x.es; (b@y.es),c@z.es."),
    )
    assert net.email("write to a@b.es") is None
    assert re.fullmatch(rf"https://www\.{reserved}/\w+", net.url("https://www.clinic.es/patients"))
    assert net.url("nowhere") is None
    numbers = NumberSurrogates(chance(), "es", "invalid")
    assert numbers.ip("10.1.2.3").rpartition(".")[0] in ("192.0.2", "198.51.100", "203.0.113")
    assert numbers.ip("fe80::1:2").startswith("2001:db8:")
    assert numbers.ip("here") is None


@pytest.mark.parametrize("locale", LOCALES)
def test_no_domain_marks_most_mail_addresses(locale):
    """A tagger that is trained on surrogates would miss addresses without the mark."""
    words = locale_words(locale)
    hosts = [
        NetSurrogates(chance(str(i)), words, lambda text: {}, lambda letter, surname: "x").email("a@b.es")
        for i in range(600)
    ]
    parts = [set(host.partition("@")[2].split(".")) for host in hosts]
    assert sum("example" in part for part in parts) < 360
    listed = {fold(name) for name in words.surnames}
    assert sum(bool(part & listed) for part in parts) < 300


@pytest.mark.parametrize("locale", LOCALES)
def test_towns_codes_and_regions_fit(locale):
    words = locale_words(locale)
    by_name = {fold(town.name): town for town in words.towns}
    abroad = {fold(town.name): (country, town) for country, towns in words.abroad.items() for town in towns}
    assert not by_name.keys() & abroad.keys()
    n_abroad = n_invented = 0
    for i in range(200):
        places = PlaceSurrogates(chance(str(i)), words, frozenset())
        name, country = fold(places.town("Nowhere")), fold(places.place("Anywhere", None, "country"))
        region = fold(places.region("Somewhere", "Nowhere"))
        if name in abroad:
            n_abroad += 1
            home, town = abroad[name]
            assert region == fold(town.region)
            # 5 of 100 countries of any patient are other ones.
            assert country == fold(home) or country in words.folded_countries
            assert re.fullmatch(r"\d{6}", places.postcode("987654", "Nowhere"))
            continue
        if name not in by_name:
            n_invented += 1
            assert name.endswith(tuple(map(fold, words.town_ends)))
        # An invented town has the postal codes and the region of one real town.
        postcode = places.postcode("987654", "Nowhere")
        assert any(
            postcode.startswith(town.prefix)
            and region in {fold(town.region), fold(words.state_names.get(town.region, ""))}
            for town in ([by_name[name]] if name in by_name else words.towns)
        )
    assert 1 <= n_abroad <= 30, "5 of 100 patients"
    assert 60 <= n_invented <= 130 if words.town_ends else n_invented == 0


def test_invented_towns_have_as_many_words_and_are_not_avoided():
    words = locale_words("en")
    for text, n_words in (("Nowhere", 1), ("Far Nowhere", 2)):
        towns = {PlaceSurrogates(chance(str(i)), words, frozenset()).town(text) for i in range(100)}
        invented = towns - {town.name for town in words.towns} - {t.name for a in words.abroad.values() for t in a}
        assert len(invented) > 20 and {len(town.split()) for town in invented} == {n_words}
        avoided = frozenset(map(fold, invented))
        again = {PlaceSurrogates(chance(str(i)), words, avoided).town(text) for i in range(100)}
        assert not set(map(fold, again)) & avoided


def test_no_place_abroad_has_a_name_of_the_corpus():
    words = locale_words("es")
    avoided = frozenset(fold(town.name) for towns in words.abroad.values() for town in towns)
    towns = {PlaceSurrogates(chance(str(i)), words, avoided).town("Nowhere") for i in range(100)}
    assert towns <= {town.name for town in words.towns}


@pytest.mark.parametrize("locale", LOCALES)
def test_a_corpus_may_name_every_listed_country(locale):
    words = locale_words(locale)
    avoided = frozenset(map(fold, words.abroad))
    drawn = {PlaceSurrogates(chance(str(i)), words, avoided).place("Zyxwen", None, "country") for i in range(200)}
    assert len(drawn) > 1 and not avoided & set(map(fold, drawn))


@pytest.mark.parametrize(
    ("locale", "street", "pattern"),
    [
        ("es", "C/ Ríos Rosas, 5, 6 A", r"C/ \w[\w ]+, \d, \d [A-Z]"),
        ("es", "Avda. Manuel Siurot s/n", r"Avda\. \w[\w ]+ s/n"),
        ("es", "calle Galaxia 6, esc. 2, 2ºb", r"calle [\w ]+ \d, esc\. \d, \dº[a-z]"),
        ("en", "2959 Lakeview Pkwy, Apt 20", r"\d{4} \w+ Pkwy, Apt \d\d"),
        ("en", "PO Box 1234", r"PO Box \d{4}"),
        ("en", "P.O. Box 1234", r"P\.O\. Box \d{4}"),
        ("en", "14B Elm Ct", r"\d\d[A-Z] \w+ Ct"),
        ("en", "350 W 23rd St, 12th Floor", r"\d{3} [NSEW] \d?(1st|2nd|3rd|\dth) St, \d\d?(st|nd|rd|th) Floor"),
        ("en", "42ND STREET", r"\d\d?(ST|ND|RD|TH) STREET"),
        ("de", "Kantstraße 21 a", r"\w+straße \d\d [a-z]"),
        ("fr", "37 bis, RUE de la République", r"\d\d bis, RUE .+"),
        ("en", "c/o Quillwyk, 5 Elmwood Street", r"c/o \w+, \d \w+ Street"),
        ("en", "5 Elmwood Street c/o J. Quillwyk", r"\d \w+ Street c/o [A-Z]\. \w+"),
        ("nb", "c/o Quillwyk, Storgata 5", r"c/o \w+, \w+gata \d"),
        ("en", "7 St. Elmwood Street", r"\d St\. \w+ Street"),
        ("es", "C/ Sol 4, Urbanización Siurot", r"C/ \w[\w ]* \d, Urbanización \w+"),
    ],
)
def test_streets(locale, street, pattern):
    for i in range(40):
        drawn = PlaceSurrogates(chance(str(i)), locale_words(locale), frozenset()).street(street)
        assert re.fullmatch(pattern, drawn)
        assert not {"Ríos", "Siurot", "Galaxia", "Lakeview", "Kant", "Quillwyk", "Elmwood"} & set(
            re.findall(r"[^\W\d]+", drawn)
        )


@pytest.mark.parametrize(
    ("locale", "label", "text", "letter"),
    [
        ("de", "STREET", "Vexilstra\u00dfe 21 {}", "b"),
        ("de", "STREET", "Am Vexil 5 {}", "a"),
        ("de", "STREET", "{} 7, 12", "N"),
        ("de", "STREET", "{}4, 9", "C"),
        ("nb", "STREET", "Vexilgata 5 {}", "A"),
        ("nb", "STREET", "Vexilgata 5 {}", "\u00e5"),
        ("nl", "STREET", "Vexilstraat 5 {}", "a"),
        ("fr", "STREET", "12 {} rue Vexil", "d"),
        ("en", "HOSPITAL", "Ward {}", "S"),
        ("en", "HOSPITAL", "Unit 5 {}", "S"),
        ("en", "HOSPITAL", "{} County Hospital", "LA"),
    ],
)
def test_letters_of_houses_wards_and_codes_are_replaced(locale, label, text, letter):
    """Some letters stayed, because they are also words of streets or of hospitals: "a", "b", "N" and the s of 's."""
    whole = text.format(letter)
    kept = []
    for i in range(8):
        engine = SurrogateEngine(key=bytes([i]) * 32, locale=locale)
        new = engine.rewrite(Document("n", whole, (Span(0, len(whole), label),), "p")).text
        kept.append(letter in re.findall(r"[^\W\d_]+", new))
    assert not all(kept)


@pytest.mark.parametrize(
    ("locale", "street", "name"),
    [
        ("es", "Calle Juan Camino, 4", "Camino"),
        ("es", "C/ Camino 12, 3º B", "Camino"),
        ("es", "Avda. Dr. José Ronda s/n", "Ronda"),
        ("en", "12 John Lane Road", "Lane"),
        ("fr", "12 rue Jean Chemin", "Chemin"),
        ("it", "Via Anna Largo 3", "Largo"),
        ("pt", "Rua João Caminho 3", "Caminho"),
        ("es", "C/ Ana Torre 4", "Torre"),
        ("es", "C/ Torre", "Torre"),
        ("es", "Calle José Bajo, 3", "Bajo"),
        ("es", "Plaza Manzana 3", "Manzana"),
        ("it", "Via Anna Scala 3", "Scala"),
        ("pt", "Rua da Porta 3", "Porta"),
        ("de", "Anna-Haus-Straße 4", "Haus"),
        ("en", "12 Suite Road", "Suite"),
        ("en", "12 Box Elder St Apt 3", "Box"),
    ],
)
def test_a_surname_that_is_a_type_of_street_or_a_part_of_a_building_changes(locale, street, name):
    drawn = [PlaceSurrogates(chance(str(i)), locale_words(locale), frozenset()).street(street) for i in range(40)]
    assert sum(name in new for new in drawn) <= 2, "by chance, since other people have the name, too"


@pytest.mark.parametrize(
    ("locale", "street", "words"),
    [
        ("es", "Calle Serrano 92, Piso 3, Puerta 4", ["Calle", "Piso", "Puerta"]),
        ("es", "Avd. Cruces Número 2 - Portal 4", ["Avd", "Número", "Portal"]),
        ("es", "Calle Serrano 2, Torre B", ["Calle", "Torre"]),
        ("en", "PO Box 12", ["PO", "Box"]),
        ("en", "12 Elm St Unit B", ["St", "Unit"]),
        ("de", "Haus 3", ["Haus"]),
    ],
)
def test_parts_of_a_building_stay(locale, street, words):
    for i in range(20):
        made = PlaceSurrogates(chance(str(i)), locale_words(locale), frozenset()).street(street)
        assert set(words) <= set(re.findall(r"\w+", made))


@pytest.mark.parametrize(
    ("locale", "street"),
    [("en", "12 Court Street"), ("en", "TERRACE DR."), ("es", "Plaza del Camino 3"), ("fr", "Rue de la Place")]
    + [("de", "Ring 4"), ("de", "Straße der Platz"), ("it", "Via Piazza 3"), ("pt", "Rua da Praça"), ("nl", "Laan 3")],
)
def test_a_street_of_public_words_alone_changes(locale, street):
    old = re.findall(r"[^\W\d_]+", street)
    for i in range(20):
        new = re.findall(
            r"[^\W\d_]+", PlaceSurrogates(chance(str(i)), locale_words(locale), frozenset()).street(street)
        )
        assert new != old


def test_kinds_of_places():
    words = locale_words("es")
    kinds = [kind_of_place(text, words) for text in ("28045", "Vizcaya", "España", "Madrid", "Villarriba")]
    assert kinds == ["postcode", "region", "country", "town", "town"]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Calle Zyxwen de Quillwyk, 12, 3º B", r"Calle \w+ de \w+, \d\d, \dº \w"),
        ("C/ Zyxwen Brambok nº 35", r"C/ \w+ \w+ nº \d\d"),
        ("Calle del Dr. Zyxwen, 4", r"Calle del Dr\. \w+, \d"),
        ("Av. Zyxw. Brambok 4", r"Av\. [A-Z\u00c0-\u00de][a-z\u00df-\u00ff]{3}\. \w+ \d"),
        ("Plaza de Zyxwen Quillwyk Brambok", r"Plaza de \w+ \w+ \w+"),
    ],
)
def test_names_of_streets_have_as_many_words(text, pattern):
    drawn = {PlaceSurrogates(chance(str(i)), locale_words("es"), frozenset()).street(text) for i in range(20)}
    assert len(drawn) > 5 and all(re.fullmatch(pattern, new) for new in drawn), drawn


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Hospital Universitario Zyxwen de Quillwyk", r"Hospital Universitario \w+ de \w+"),
        ("H. U. La Zyxwen", r"H\. U\. \w+ \w+"),
        ("Hospital General Dr. Zyxwen Brambok", r"Hospital General Dr\. \w+ \w+"),
        ("Zyxwen-Quillwyk", r"\w+-\w+"),
        ("Hospital Zyxwen (QZX)", r"Hospital \w+ \([A-Z]{3}\)"),
    ],
)
def test_names_of_hospitals_have_as_many_words(text, pattern):
    made = [InstitutionSurrogates(chance(str(i)), locale_words("es"), frozenset(), str.upper) for i in range(20)]
    drawn = {one.institution(text) for one in made}
    assert len(drawn) > 5 and all(re.fullmatch(pattern, new) for new in drawn), drawn


def test_an_institution_of_public_words_alone_changes():
    made = InstitutionSurrogates(chance(), locale_words("es"), frozenset(), str.upper)
    assert re.fullmatch(r"Instituto de Medicina \w+", made.institution("Instituto de Medicina Legal"))
    assert made.institution("Instituto de Medicina Legal") != "Instituto de Medicina Legal"


def test_equal_groups_of_digits_stay_equal():
    numbers = NumberSurrogates(chance(), "es", "invalid")
    first, second, third = numbers.identifier("28 28 57412").split()
    assert first == second and len(third) == 5
    first, second = numbers.identifier("28 29").split()
    assert first != second


@pytest.mark.parametrize(
    ("locale", "text", "words"),
    [
        ("en", "Site ID: 98765", "Site ID: "),
        ("en", "MRN98765", "MRN"),
        ("es", "Nº 98765", "Nº "),
        ("de", "Pat.-Nr. 98765", "Pat.-Nr. "),
    ],
)
def test_public_words_in_front_of_an_identifier_stay(locale, text, words):
    """They became letters ("Zbjh NM: 51535"), and the number was another one than without them."""
    numbers = NumberSurrogates(chance(), locale, "invalid")
    assert numbers.identifier(text) == words + numbers.identifier("98765")
    assert re.fullmatch(r"[A-Z]{4}-\d{3}", numbers.identifier("QXZW-123"))
    assert "QXZW" not in numbers.identifier("Study QXZW-123")
    assert numbers.identifier("Site ID") is None


def test_towns_and_countries_have_as_many_words():
    places = PlaceSurrogates(chance(), locale_words("es"), frozenset())
    assert {len(places.town(f"Zyxwen{i} Quillwyk").split()) for i in range(20)} == {2}
    assert {len(places.place(f"Zyxwen{i}", None, "country").split()) for i in range(60)} == {1}


def test_institutions_keep_public_words_only():
    made = InstitutionSurrogates(chance(), locale_words("en"), frozenset(), str.upper)
    assert re.fullmatch(r"[\w .]+ Community Hospital", made.institution("Quillwick Community Hospital"))
    bare = made.institution("Quillwick")
    assert made.institution("Quillwick Community Hospital").startswith(bare)
    assert re.fullmatch(r"[A-Z]{3}", made.institution("QZX"))
    assert made.institution("QUILLWICK COMMUNITY HOSPITAL").isupper()
    # Where all words are in capitals, a short one is a name and no code.
    drawn = [one.institution("QUIX HOSPITAL").split()[0].title() for one in made_of_keys("en")]
    listed = {part for town in locale_words("en").towns for part in town.name.split()} | {*locale_words("en").surnames}
    starts = {name[: max(2, len(name) // 2)] for name in locale_words("en").surnames}
    ends = {name[len(name) // 2 :].lower() for name in locale_words("en").surnames}
    new = [word for word in drawn if word not in listed]
    assert all(any(word[:i] in starts and word[i:] in ends for i in range(2, len(word))) for word in new)
    assert 0 < len(new) < len(drawn), "names of towns, of people, and new words"
    assert made.institution("Boston Clinic") == "BOSTON Clinic", "a town has the surrogate of the patient's towns"
    assert re.fullmatch(r"Ward [1-9]", made.department("Ward 7"))
    assert made.profession("beekeeper").islower() or made.profession("beekeeper")[:2].isupper()


@pytest.mark.parametrize("sign", ["'", "\u2019"])
def test_a_genitive_keeps_its_sign(sign):
    """The s of the genitive once became the name of a town: St. Shelia'charleston."""
    made = made_of_keys("en")
    for text, form in (
        (f"St. Quarna{sign}s Hospital", rf"St\. [A-Z][a-z]+{sign}s Hospital"),
        (f"ST. QUARNA{sign}S", rf"ST\. [A-Z]+{sign}S"),
        (f"Quarn{sign}s", rf"\w+{sign}s"),
    ):
        drawn = {one.institution(text) for one in made}
        assert len(drawn) > 5 and all(re.fullmatch(form, name) for name in drawn), form
    assert written_form(f"Quarn{sign}s", "HOSPITAL", "en") != written_form(f"Quarn{sign}t", "HOSPITAL", "en")


@pytest.mark.parametrize("sign", ["'", "\u2019"])
def test_a_letter_in_front_of_an_apostrophe_is_drawn(sign):
    """O'Quarn once became Boulder'Estrada."""
    drawn = {one.institution(f"O{sign}Quarn Hospital") for one in made_of_keys("en")}
    assert all(re.fullmatch(rf"[OD]{sign}[A-Z]\w+ Hospital", name) for name in drawn)
    assert {name[0] for name in drawn} == {"O", "D"}
    made = made_of_keys("en")[0]
    assert made.institution(f"O{sign}Quarn Hospital").startswith(made.institution(f"O{sign}Quarn"))
    french = {one.institution(f"Clinique de l{sign}Ixoru") for one in made_of_keys("fr")}
    assert all(re.fullmatch(rf"Clinique de l{sign}[\w.-]+", name) for name in french)


def test_streets_keep_genitives_and_apostrophes():
    for i in range(10):
        places = PlaceSurrogates(chance(str(i)), locale_words("en"), frozenset())
        assert re.fullmatch(r"\d\d St\. [A-Z][a-z]+'s Road", places.street("12 St. Quarna's Road"))
        assert re.fullmatch(r"\d\d [OD]'[A-Z][a-z]+ Street", places.street("12 O'Quarn Street"))
        french = PlaceSurrogates(chance(str(i)), locale_words("fr"), frozenset())
        assert re.fullmatch(r"\d\d rue de l'\w+", french.street("12 rue de l'Ixoru"))


def test_towns_with_a_number():
    """The town is the surrogate of the town alone, and only the digits behind it change."""
    places = PlaceSurrogates(chance(), locale_words("fr"), frozenset())
    town = places.town("Paris")
    assert places.town("PARIS CEDEX") == f"{town.upper()} CEDEX"
    assert re.fullmatch(rf"{town} cedex \d\d", places.town("Paris cedex 14"))
    assert re.fullmatch(rf"{town} \d\de", places.town("Paris 14e"))
    assert places.postcode("75014", "Paris 14e") == places.postcode("75014", "Paris")
    places.learn("1000", "Zyxw 5e", "postcode")
    assert places.place("France", "Zyxw", "country") == places.place("France", "Zyxw 6e", "country")
    words = locale_words("fr")
    kinds = [kind_of_place(text, words) for text in ("LYON CEDEX 03", "75014", "EC1A 1BB", "1234 AB", "94 403")]
    assert kinds == ["town", "postcode", "postcode", "postcode", "postcode"]


@pytest.mark.parametrize(
    ("locale", "name", "before"),
    [("fr", "CHU d'Amiens", "CHU de "), ("fr", "CHU D'AMIENS", "CHU DE "), ("it", "Ospedale d'Aosta", "Ospedale di ")],
)
def test_no_letter_is_elided_before_a_consonant(locale, name, before):
    """The surrogates were names such as "CHU d'Rouen" and "CHU L'ROUEN"."""
    for town in ("Rouen", "Zyxw"):
        made = InstitutionSurrogates(chance(), locale_words(locale), frozenset(), lambda text, town=town: town)
        assert made.institution(name) in (f"{before}{town}", f"{before}{town.upper()}")
    made = InstitutionSurrogates(chance(), locale_words(locale), frozenset(), lambda text: "Orange")
    assert made.institution(name) in (name.replace("Amiens", "Orange"), "CHU D'ORANGE", "Ospedale d'Orange")


def test_a_compound_keeps_its_kind_in_front_of_a_town():
    words, drawn = locale_words("de"), chance()
    towns = PlaceSurrogates(drawn, words, frozenset())
    institutions = InstitutionSurrogates(drawn, words, frozenset(), towns.town)
    made = institutions.institution("Diakonissenkrankenhaus Berlin")
    assert re.fullmatch(rf"\w+krankenhaus {towns.town('Berlin')}", made)
    assert not made.startswith("Diakonissen")


def test_compounds_keep_the_kind_of_institution():
    for one in made_of_keys("de"):
        assert re.fullmatch(r"[A-ZÄÖÜ][\w.-]+krankenhaus", one.institution("Quixenkrankenhaus"))
        assert re.fullmatch(
            r"\w+-\w+-Universität \w+", one.institution("Quix-Oxtal-Universität Quarn").replace("ß", "s")
        )


def made_of_keys(locale):
    return [InstitutionSurrogates(chance(str(i)), locale_words(locale), frozenset(), str.upper) for i in range(10)]


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("The patient was seen in the clinic with pain.", "en"),
        ("La paciente fue vista en el servicio de urgencias.", "es"),
        ("Der Patient wurde in die Klinik aufgenommen.", "de"),
        ("La patiente est suivie dans le service pour une douleur.", "fr"),
        ("Pasienten ble innlagt på sykehuset og det er ikke feber.", "nb"),
        ("Il paziente è stato visto nella clinica con dolore al torace.", "it"),
        ("De patiënt werd gezien op de poli en is niet ziek.", "nl"),
        ("O doente foi visto na consulta e não tem uma queixa.", "pt"),
        ("12345", "en"),
        ("Dr. Ruth Weller", "en"),
        ("Mme A. Weller, table A, a cause", "en"),
        ("8 am FS 120, 3u, in chair, 9:30am to rehab in AM, 11 am pt seen", "en"),
    ],
)
def test_languages(text, locale):
    assert guess_locale(text) == locale


def test_unknown_locale_is_refused():
    with pytest.raises(ValueError, match="The 'locale' parameter must be one of .* Got 'xx' instead"):
        locale_words("xx")


def test_all_names_avoided_is_refused():
    words = locale_words("nb")
    places = PlaceSurrogates(chance(), words, frozenset(fold(town.name) for town in words.towns))
    with pytest.raises(ValueError, match="The 'avoid' parameter must leave some of 46"):
        places.town("Oslo")


def test_card_numbers_of_every_locale():
    assert all(with_check_digits("4539148803436460", locale, True, KeyedChance(KEY)) for locale in LOCALES)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("US", "[A-Z]{2}"),
        ("USA", "[A-Z]{3}"),
        ("U.S.", r"[A-Z]\.[A-Z]\."),
        ("U.S.A.", r"([A-Z]\.){3}"),
        ("U.K", r"[A-Z]\.[A-Z]"),
    ],
)
def test_initials_of_a_country_stay_initials(text, pattern):
    """US became UNITED STATES, which told that the note had the initials."""
    for avoided in (frozenset(), frozenset(("uk", "nz", "uae", "prc"))):
        drawn = [
            PlaceSurrogates(chance(str(i)), locale_words("en"), avoided).place(text, None, "country")
            for i in range(200)
        ]
        assert all(re.fullmatch(pattern, new) for new in drawn)
        assert sum(new.replace(".", "").startswith("US") for new in drawn) > 170
        assert (len(set(drawn)) > 1) is (not avoided)
    # Which country it was makes no difference.
    for one, other in (("US", "UK"), ("USA", "UAE")):
        both = [
            [
                PlaceSurrogates(chance(f"{written}{i}"), locale_words("en"), frozenset()).place(
                    written, None, "country"
                )
                for i in range(400)
            ]
            for written in (one, other)
        ]
        assert abs(both[0].count(one) - both[1].count(one)) < 40


@pytest.mark.parametrize("text", ["United States", "us", "Peru", "EE. UU."])
def test_other_countries_are_no_initials(text):
    drawn = {
        PlaceSurrogates(chance(str(i)), locale_words("en"), frozenset()).place(text, None, "country") for i in range(20)
    }
    assert all(len(new) > 3 for new in drawn)


@pytest.mark.parametrize(
    ("street", "pattern"),
    [
        ("RR 3", r"RR \d"),
        ("RR 3 Box 12", r"RR \d Box \d\d"),
        ("Highway 12", r"Highway \d\d"),
        ("Route 9", r"Route \d"),
        ("12 Court Street", r"\d\d (?!Court)\w+ Street"),
    ],
)
def test_numbered_roads_keep_their_type(street, pattern):
    """Rural route 3 became LINCOLN 4."""
    drawn = {PlaceSurrogates(chance(str(i)), locale_words("en"), frozenset()).street(street) for i in range(40)}
    assert all(re.fullmatch(pattern, new) for new in drawn) and len(drawn) > 3


@pytest.mark.parametrize(
    "address", ["00:1A:2B:3C:4D:5E", "001a.2b3c.4d5e", "1a-2b-3c-4d-5e-6f", "550e8400-e29b-41d4-a716-446655440000"]
)
def test_hardware_addresses_and_uuids_have_letters_up_to_f(address):
    """Other letters, as in "68:9B:3J", showed that the number is a surrogate."""
    for seed in range(20):
        drawn = NumberSurrogates(PatientChance(bytes([seed]) * 32, "p"), "en", "invalid").identifier(address)
        assert re.fullmatch(r"[\da-fA-F:.-]+", drawn) and drawn != address
    assert written_form(address, "DEVICE", "en").endswith("hexadecimal")
