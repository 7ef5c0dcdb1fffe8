"""Addresses in one span are split into parts, and names of institutions keep the words that are no names."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.surrogates.place_parts import is_whole_address, place_parts

KEYS = [bytes([i]) * 32 for i in range(6)]
NAME = r"[^\W\d_][\w'\u2019. -]*"


def rewritten(text, label, locale, key, before=""):
    note = Document("n", f"{before}{text}", (Span(len(before), len(before) + len(text), label),), "p")
    return SurrogateEngine(key=key, locale=locale).rewrite(note).text.removeprefix(before)


def check(text, label, locale, pattern, other):
    """All surrogates have a form; and another original of this form cannot be told from the first one."""
    new = [rewritten(text, label, locale, key) for key in KEYS]
    assert [one for one in new if not re.fullmatch(pattern, one)] == []
    assert len(set(new)) > 1
    assert written_form(text, label, locale) == written_form(other, label, locale)


@pytest.mark.parametrize(
    ("locale", "text", "pattern", "other"),
    [
        ("en", "12 Zyxo St, Quixor, MA 02115", rf"\d\d {NAME} St, {NAME}, [A-Z]{{2}} \d{{5}}", None),
        ("en", "12 Zyxo St., Apt. 5, Quixor", rf"\d\d {NAME} St\., Apt\. \d, {NAME}", None),
        ("en", "P.O. Box 123", r"P\.O\. Box \d{3}", "P.O. Box 456"),
        ("en", "Zyxo Street, Quixor", rf"{NAME} Street, {NAME}", None),
        ("en", "Quixor, N.Y.", rf"{NAME}, [A-Z]\.[A-Z]\.", None),
        ("es", "C/ Zyxo 12, 28001 Quixor", rf"C/ {NAME} \d\d, \d{{5}} {NAME}", None),
        ("es", "28001-Quixor", rf"\d{{5}}-{NAME}", None),
        ("de", "Am Zyxo 3, 79106 Quixor", rf"Am {NAME} \d, \d{{5}} {NAME}", None),
        ("de", "Postfach 1234", r"Postfach \d{4}", "Postfach 9876"),
        ("fr", "BP 12", r"BP \d\d", "BP 98"),
        ("fr", "rue Zyxo, Quixor", rf"rue {NAME}, {NAME}", None),
        ("it", "Via Zyxo, 12 - 00185 Quixor (RM)", rf"Via {NAME}, \d\d - \d{{5}} {NAME} \([A-Z]{{2}}\)", None),
        ("pt", "Largo do Zyxo, Quixor", rf"Largo do {NAME}, {NAME}", None),
    ],
)
def test_addresses(locale, text, pattern, other):
    check(text, "LOCATION", locale, pattern, other or text.replace("Zyxo", "Wrexa").replace("Quixor", "Vexil"))


@pytest.mark.parametrize(
    ("locale", "text", "pattern", "other"),
    [
        ("en", "4500 N. 32nd Ave. NW", r"\d{4} [NSEW]\. \d\d(?:st|nd|rd|th) Ave\. [NS][EW]", "8311 S. 64th Ave. SE"),
        ("en", "12 S. Zyxo St", rf"\d\d [NSEW]\. {NAME} St", "98 W. Wrexa St"),
        ("en", "Unit B, 12 Zyxo", rf"Unit [A-Z], \d\d {NAME}", "Unit K, 98 Wrexa"),
        ("en", "12 Zyxo St Apt B", rf"\d\d {NAME} St Apt [A-Z]", "98 Wrexa St Apt K"),
        ("en", "Bldg. C, 12 Elm Rd", rf"Bldg\. [A-Z], \d\d {NAME} Rd", "Bldg. K, 98 Oak Rd"),
        ("en", "123-A Zyxo", rf"\d{{3}}-[A-Z] {NAME}", "789-K Wrexa"),
        ("de", "Zyxoweg 3, 2. OG links", rf"{NAME}weg \d, \d\. OG links", "Wrexaweg 9, 4. OG links"),
        ("de", "Stiege 2 T\u00fcr 5", "Stiege \\d T\u00fcr \\d", "Stiege 7 T\u00fcr 8"),
        ("fr", "12 RUE DE L'ZYXOT", rf"\d\d RUE DE [DLO]'{NAME}", "98 RUE DE L'WREXA"),
    ],
)
def test_streets(locale, text, pattern, other):
    check(text, "STREET", locale, pattern, other)


@pytest.mark.parametrize(
    ("locale", "text", "pattern", "other"),
    [
        ("en", "QX Quixor", rf"[A-Z]{{2}} {NAME}", "ZK Vexil"),
        ("en", "Quixor QX System", rf"{NAME} [A-Z]{{2}} System", "Vexil ZK System"),
        ("de", "LKH Quixor", rf"LKH {NAME}", "LKH Vexil"),
        ("de", "Med. Klinik II", r"Med\. Klinik (?:I{1,3}|IV)", "Med. Klinik IV"),
        ("it", "Medicina I", r"Medicina (?:I{1,3}|IV)", "Medicina III"),
        ("es", "Hospital Zyxo XXIII", rf"Hospital {NAME} (?:I{{1,3}}|IV)", "Hospital Wrexa II"),
        ("nl", "UMC Quixor", rf"UMC {NAME}", "UMC Vexil"),
        ("nb", "Quixors hospital", rf"{NAME} hospital", "Vexilor hospital"),
    ],
)
def test_institutions(locale, text, pattern, other):
    check(text, "HOSPITAL", locale, pattern, other)


@pytest.mark.parametrize(
    ("locale", "text"),
    [("de", "Abteilung f\u00fcr Kardiologie"), ("nb", "Avdeling for kardiologi"), ("es", "Serv. de Cardiolog\u00eda")],
)
def test_a_department_with_its_kind_becomes_another_department(locale, text):
    listed = {name.casefold() for name in locale_words(locale).block("departments")}
    assert {rewritten(text, "HOSPITAL", locale, key).casefold() for key in KEYS} <= listed


def test_initials_of_a_country_with_stops_are_initials_of_a_country():
    assert all(re.fullmatch(r"(?:[A-Z]\.){2}", rewritten("U.K.", "LOCATION", "en", key)) for key in KEYS)


@pytest.mark.parametrize(
    ("locale", "forms"),
    [
        ("en", ["127 Zyxel St", "127 ZYXEL STREET", "127 Zyxel St., Apt 4", "Unit 9, 127 Zyxel St"]),
        ("de", ["Zyxelstr. 127", "Zyxelstra\u00dfe 127", "ZYXELSTRASSE 127", "Zyxelstr.127 a"]),
        ("nl", ["Zyxelstraat 127", "Zyxelstr. 127"]),
        ("es", ["Calle Zyxel, 127", "C/ Zyxel 127, 3\u00ba B"]),
        ("fr", ["127 rue Zyxel", "127, rue de Zyxel"]),
    ],
)
def test_an_address_has_one_house_number_and_one_name_in_all_forms(locale, forms):
    """The number depended on the whole text, and in German the name depended on whether the type was abbreviated."""
    for key in KEYS:
        new = [rewritten(form, "STREET", locale, key) for form in forms]
        assert len({re.search(r"\d{3}", text)[0] for text in new}) == 1
        if locale in ("de", "nl"):
            assert len({text.casefold()[:4] for text in new}) == 1


def test_equal_numbers_of_one_address_are_drawn_apart():
    new = [rewritten("127 Zyxel St, Apt 127", "STREET", "en", key) for key in KEYS]
    assert any(len(set(re.findall(r"\d{3}", text))) == 2 for text in new)


def test_other_streets_have_other_house_numbers():
    new = [
        [rewritten(f"127 {name} St", "STREET", "en", key).split()[0] for name in ("Zyxel", "Wroxby")] for key in KEYS
    ]
    assert any(len(set(numbers)) == 2 for numbers in new)


@pytest.mark.parametrize(
    ("locale", "text", "other"),
    [
        ("en", "12 Zyxo St, Apt 4, Quixor, MA 02115-1234", "98 Wrexa St, Apt 7, Vexil, TX 75201-9876"),
        ("en", "12 Zyxo St Quixor MA 02115", "98 Wrexa St Vexil TX 75201"),
        ("en", "12 Zyxo St. Quixor, MA 02115", "98 Wrexa St. Vexil, TX 75201"),
        ("en", "12 St Zyxo Ave NE Apt 4\nQuixor MA 02115", "98 St Wrexa Ave SW Apt 7\nVexil TX 75201"),
        ("es", "C/ Zyxo 12, 3\u00ba B, 28001 Quixor", "C/ Wrexa 98, 7\u00ba K, 41001 Vexil"),
        ("fr", "12 rue Zyxo, B\u00e2t. B, 75015 Quixor", "98 rue Wrexa, B\u00e2t. K, 69001 Vexil"),
        ("fr", "12 rue Zyxo 75015 Quixor", "98 rue Wrexa 69001 Vexil"),
        ("de", "Zyxoweg 3\n10115 Quixor", "Wrexaweg 9\n79106 Vexil"),
        ("de", "Zyxoweg 3 10115 Quixor", "Wrexaweg 9 79106 Vexil"),
        ("nl", "Zyxoweg 3, 1012 AB Quixor", "Wrexaweg 9, 3511 ZX Vexil"),
        ("pt", "Rua Zyxo 3 1250-001 Quixor", "Rua Wrexa 9 4000-123 Vexil"),
        ("nb", "Zyxoveien 3 0155 Quixor", "Wrexaveien 9 5003 Vexil"),
    ],
)
def test_a_whole_address_in_a_span_for_streets_has_the_town_of_the_note(locale, text, other):
    """The town was read as the name of a street, and had another surrogate than the same town alone."""
    for key in KEYS:
        at = len(text) + 2
        spans = (Span(0, len(text), "STREET"), Span(at, at + len("Quixor"), "CITY"))
        note = Document("n", f"{text}; Quixor", spans)
        new = SurrogateEngine(key=key, locale=locale).rewrite(note).text
        address, _, drawn = new.rpartition("; ")
        assert drawn in address
    assert written_form(text, "STREET", locale) == written_form(other, "STREET", locale)


def test_a_listed_town_behind_a_street_tells_where_the_street_ends():
    en = locale_words("en")
    for text in (
        "12 Zyxo St / St. Louis / MO 63101",
        "12 Zyxo St #4 / Fort Worth / TX 76101",
        "9 Way Rd / Zyxo / NY 10001",
    ):
        parts = place_parts(text.replace(" /", ""), en)
        assert [part for part, kind in parts if kind in ("street", "town")] == text.split(" / ")[:2]


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("es", "Calle Zyxo, 3102, Bajo"),
        ("es", "Plaza del Zyxo, Av Wrexa Nuxor 1380"),
        ("de", "Am Zyxo 3, 2. OG"),
        ("en", "12 Zyxo St, Apt 4"),
        ("fr", "12, rue Zyxo, B\u00e2t. B"),
    ],
)
def test_numbers_of_houses_are_no_postal_codes(locale, text):
    assert not is_whole_address(place_parts(text, locale_words(locale)))


POINTS = {"N": "North", "S": "South", "E": "East", "W": "West"}


def test_a_point_of_the_compass_is_one_in_all_forms_of_an_address():
    """Three forms of one address had three house numbers, and "North" was read as a name."""
    forms = [
        "127 N Zyxel St",
        "127 N. Zyxel St.",
        "127 North Zyxel Street",
        "127 NORTH ZYXEL STR",
        "127 Zyxel Street North",
    ]
    for key in KEYS:
        new = [rewritten(form, "STREET", "en", key) for form in (*forms, "127 Zyxel St")]
        assert len({re.search(r"\d{3}", text)[0] for text in new}) == 1
        letter, word = new[0].split()[1], new[2].split()[1]
        assert (new[1].split()[1], word) == (f"{letter}.", POINTS[letter])
        name = new[-1].split(" ", 1)[1].removesuffix(" St")
        assert new[0].endswith(f" {letter} {name} St")
        assert new[3].endswith(f" {word} {name} Str".upper())
        assert new[4].endswith(f" {name} Street {word}")
    points = {rewritten(forms[2], "STREET", "en", key).split()[1] for key in KEYS}
    assert len(points) > 1 and points <= set(POINTS.values())


@pytest.mark.parametrize("text", ["127 North St", "127 South Street, Apt 4", "127 West Ave W"])
def test_a_point_of_the_compass_before_a_type_is_a_name(text):
    drawn = {rewritten(text, "STREET", "en", key).split()[1] for key in KEYS}
    assert drawn.isdisjoint(POINTS.values())


def test_points_of_the_compass_are_told_in_the_written_form():
    forms = ["127 North Zyxel St", "984 South Wrexa St", "984 Zyxwen Wrexa St", "984 Northeast Wrexa St"]
    one, same, *others = (written_form(form, "STREET", "en") for form in forms)
    assert one == same
    assert one not in others
