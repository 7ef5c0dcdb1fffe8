"""Towns of a patient: codes of four digits, of a neighbor of the country, have towns and signs of one country."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.place_parts import place_parts
from sklearn_deid.surrogates.town_surrogates import TownSurrogates, main_code
from sklearn_deid.surrogates.town_surrogates import _names as town_names

KEYS = [bytes([i]) * 32 for i in range(12)]
SIGNS = {"\u00d6sterreich": "A", "Schweiz": "CH", "Suisse": "CH", "Svizzera": "CH", "Belgique": "B", "Belgi\u00eb": "B"}


def neighbors(locale):
    """Prefix of the codes and country of each town of a neighbor."""
    return {
        town: rest for town, *rest in (one.split("=") for one in locale_words(locale).block("towns of short codes"))
    }


def rewritten(locale, *pieces, key=KEYS[0], label="LOCATION"):
    text, spans = "", []
    for piece in pieces:
        spans.append(Span(len(text), len(text) + len(piece), label))
        text += f"{piece} "
    new = SurrogateEngine(key=key, locale=locale).rewrite(Document("n", text, tuple(spans), "p"))
    return [new.text[span.start : span.end] for span in new.spans]


@pytest.mark.parametrize(
    ("locale", "code", "town"),
    [
        ("de", "8010", "Graz"),
        ("de", "8001", "Z\u00fcrich"),
        ("de", "CH-8001", "Zyxburg"),
        ("de", "A-1090", "Wien"),
        ("fr", "1000", "Bruxelles"),
        ("fr", "CH-1201", "Gen\u00e8ve"),
        ("it", "6900", "Lugano"),
        ("nl", "B-9000", "Gent"),
    ],
)
def test_town_code_and_sign_are_those_of_one_country(locale, code, town):
    listed = neighbors(locale)
    for key in KEYS:
        for new in (rewritten(locale, f"{code} {town}", key=key), rewritten(locale, code, town, key=key)):
            drawn, _, name = " ".join(new).partition(" ")
            sign, digits, _ = main_code(drawn)
            prefix, country = listed[name]
            assert len(digits) == 4 and digits.startswith(prefix)
            assert sign == (f"{SIGNS[country]}-" if "-" in code else "")
        # The same town without its code, and the country behind it
        first, alone = rewritten(locale, f"{code} {town}", town, key=key)
        assert first.endswith(f" {alone}")


def test_the_country_behind_a_town_is_that_of_its_code():
    for key in KEYS:
        (new,) = rewritten("de", "4020 Linz, \u00d6sterreich", key=key)
        code, town, country = re.fullmatch(r"(\d{4}) (.+), (.+)", new).groups()
        assert neighbors("de")[town] == [code[:2], country]


@pytest.mark.parametrize(
    ("locale", "text", "pattern"),
    [
        ("de", "79098 Freiburg", r"\d{5} \D+"),
        ("de", "D-79098 Freiburg", r"D-\d{5} \D+"),
        ("nl", "1012 AB Zyxdorp", r"\d{4} [A-Z]{2} \D+"),
        ("nl", "1012 Zyxdorp", r"\d{4} \D+"),
        ("nb", "0150 Oslo", r"\d{4} \D+"),
        ("pt", "1000 Lisboa", r"\d{4} \D+"),
    ],
)
def test_codes_of_the_country_stay_at_home(locale, text, pattern):
    for key in KEYS:
        (new,) = rewritten(locale, text, key=key)
        assert re.fullmatch(pattern, new)


def test_a_code_alone_has_the_form_of_the_country():
    prefixes = {prefix for prefix, _ in neighbors("de").values()}
    for key in KEYS:
        (new,) = rewritten("de", "8010", key=key, label="ZIP")
        assert re.fullmatch(r"\d{4}", new) and new[:2] in prefixes


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_listed_towns_have_prefixes_and_known_countries(locale):
    for prefix, country in neighbors(locale).values():
        assert re.fullmatch(r"\d\d", prefix) and country in SIGNS


def test_tables_of_towns_stay_few_whatever_notes_hold():
    assert all(town.name.count(" ") + 1 < 8 for locale in LOCALES for town in locale_words(locale).towns)
    chance, before = PatientChance(KEYS[0], "p1"), town_names.cache_info().currsize
    for n in range(1, 100):
        TownSurrogates(chance, locale_words("en"), frozenset()).of("Oak " * n)
    assert town_names.cache_info().currsize <= before + 8


@pytest.mark.parametrize(
    ("locale", "name", "behind"),
    [
        ("en", "New York", ", NY 10001"),
        ("en", "Washington", ", DC"),
        ("en", "WASHINGTON", ", D.C."),
        ("es", "Girona", ""),
    ],
)
def test_towns_with_the_name_of_a_region_are_written_as_towns(locale, name, behind):
    """The surrogate was a region with the code of another one, such as "Wisconsin, VT", so that it told the name."""
    words = locale_words(locale)
    for key in KEYS:
        note = Document("n", f"{name}{behind}", (Span(0, len(name + behind), "CITY"),), "p")
        new = SurrogateEngine(key=key, locale=locale).rewrite(note).text
        town = TownSurrogates(PatientChance(key, "p"), words, frozenset()).of(name)
        assert fold(town.name) not in words.region_names - words.folded_towns
        region = town.region[:2].upper()
        forms = {"": "", ", NY 10001": rf", {region} {town.prefix}\d+", ", DC": f", {region}"}
        pattern = forms.get(behind, rf", {region[0]}\.{region[1]}\.")
        assert re.fullmatch(re.escape(town.name) + pattern, new, re.IGNORECASE)


def test_the_name_of_a_state_behind_a_town_or_in_a_field_for_states_is_a_state():
    words = locale_words("en")
    for text in ("Zyxel, Washington", "Zyxel, New York", "New York, New York"):
        assert [kind for _, kind in place_parts(text, words)] == ["town", "kept", "region"]
    assert place_parts("New York", words, "region") == (("New York", "region"),)
