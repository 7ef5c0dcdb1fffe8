"""Wards keep their public words and change their numbers, also where the label is that of a hospital."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words

KEYS = [bytes([i]) * 32 for i in range(8)]


def rewritten(locale, text, label, key):
    note = Document("n", text, (Span(0, len(text), label),), "p")
    return SurrogateEngine(key=key, locale=locale).rewrite(note).text


@pytest.mark.parametrize("label", ["HOSPITAL", "DEPARTMENT"])
@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en", "Ward 5B"),
        ("en", "Clinic 4A"),
        ("en", "CCU 4"),
        ("en", "Surgical Ward 3"),
        ("de", "Station 3A"),
        ("es", "Planta 3"),
        ("es", "Hospital Cl\u00ednico, Planta 4"),
        ("fr", "Unit\u00e9 4B"),
        ("nb", "Post 4"),
        ("it", "Reparto 3"),
        ("nl", "Poli 3"),
        ("pt", "Piso 3"),
    ],
)
def test_numbers_of_wards_change_and_public_words_stay(locale, text, label):
    new = [rewritten(locale, text, label, key) for key in KEYS]
    pattern = re.sub("[A-Z]$", "[A-Z]", re.sub(r"\d", r"\\d", text))
    assert all(re.fullmatch(pattern, one) for one in new) and len(set(new)) > 2
    other = text.replace("3", "7").replace("4", "9")
    assert written_form(text, label, locale) == written_form(other, label, locale)
    assert written_form(text, label, locale) != written_form(f"Quixor{text[-2:]}", label, locale)


@pytest.mark.parametrize(
    ("locale", "text"), [("en", "ICU"), ("en", "Intensive Care Unit"), ("de", "Notaufnahme"), ("es", "Urgencias")]
)
def test_a_department_without_a_number_becomes_another_one(locale, text):
    listed = {one.casefold() for one in locale_words(locale).block("departments")}
    for key in KEYS:
        assert rewritten(locale, text, "HOSPITAL", key).casefold() in listed
    assert written_form(text, "HOSPITAL", locale) != written_form("QXZ", "HOSPITAL", locale)


@pytest.mark.parametrize("locale", sorted(LOCALES))
@pytest.mark.parametrize("form", ["{} {}", "{} {} Zyx", "Zyx {} {}"])
def test_a_surname_that_is_a_word_for_wards_is_replaced(locale, form):
    """Ward, Zimmer and Post are surnames, too, where no number follows."""
    public = re.findall(r"\w+", " ".join(locale_words(locale).block("hospitals")))
    for word in set(locale_words(locale).block("wards")) - set(public):
        if len(word) < 3 or word.endswith("."):
            continue
        new = [rewritten(locale, form.format(word, public[0]), "HOSPITAL", key) for key in KEYS]
        assert sum(word in re.findall(r"\w+", one) for one in new) < 2


@pytest.mark.parametrize("label", ["HOSPITAL", "ORGANIZATION"])
@pytest.mark.parametrize("name", ["Boston", "Zyxwent", "Zyx-Wenthal"])
def test_a_name_in_capitals_is_no_code(label, name):
    """Up to eight capitals were replaced by as many letters, which were no name."""
    for key in KEYS[:4]:
        assert rewritten("en", name.upper(), label, key) == rewritten("en", name, label, key).upper()
    assert (
        written_form("ZYXWENT", label, "en")
        == written_form("QUARNIX", label, "en")
        == written_form("QUARNI", label, "en")
    )
    assert re.fullmatch("[A-Z]{4}", rewritten("en", "ZYXW", label, KEYS[0]))
