"""Titles of several parts stay, and no name is taken for a title."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.titles import is_title

KEYS = [bytes([i]) * 32 for i in range(4)]


def rewritten(locale, text, label="DOCTOR", key=KEYS[0]):
    note = Document("n", text, (Span(0, len(text), label),), "p")
    return SurrogateEngine(key=key, locale=locale).rewrite(note).text


@pytest.mark.parametrize(
    ("locale", "before", "behind"),
    [
        ("de", "Dr. rer. nat.", ""),
        ("de", "Dr. phil.", ""),
        ("de", "Dr. med. dent.", ""),
        ("de", "Univ.-Prof. Dr.", ""),
        ("de", "Prim. Univ.-Doz. Dr.", ""),
        ("de", "Priv. Doz. Dr. habil.", ""),
        ("de", "Prof. Dr. h. c.", ""),
        ("de", "Dipl.-Ing.", ""),
        ("de", "Mag.a", ""),
        ("de", "FA Dr.", ""),
        ("de", "DGKP", ""),
        ("de", "Fam.", ""),
        ("de", "cand. med.", ""),
        ("de", "DDr.", ""),
        ("de", "Oberarzt Dr.", ", MSc"),
        ("de", "", ", M.Sc."),
        ("de", "", " Bakk. phil."),
        ("en", "Attending Dr.", ""),
        ("en", "Dr. med.", ""),
        ("en", "Lt. Col.", ""),
        ("en", "Nurse Practitioner", ""),
        ("en", "Hon.", ", PA-C"),
        ("en", "", ", MD, PhD, FACP"),
        ("en", "", ", M.D., M.P.H."),
        ("en", "", ", MD, MA"),
        ("en", "", " RN BSN"),
        ("en", "Sgt.", ", FNP-BC"),
        ("fr", "Pr. agr\u00e9g\u00e9", ""),
        ("fr", "Dr. \u00e8s sc.", ", PU-PH"),
        ("fr", "Chef de clinique Dr", ""),
        ("fr", "Sage-femme", ""),
        ("es", "Excmo. Sr.", ", PhD"),
        ("es", "Enfermera", ""),
        ("it", "Chiar.mo Prof.", ""),
        ("it", "Dott. Ing.", ""),
        ("nl", "Prof. dr. ir.", ", MSc"),
        ("nl", "huisarts", ""),
        ("nb", "Prof. dr. med.", ""),
        ("nb", "Ass.lege", ""),
        ("nb", "LIS", ", PhD"),
        ("pt", "Exmo. Sr.", ""),
        ("pt", "Enf.\u00aa", ""),
    ],
)
def test_titles_of_several_parts_stay(locale, before, behind):
    text = f"{before} Zyxwer{behind}".strip()
    pattern = rf"{re.escape(before)} ?[\w-]+{re.escape(behind)}"
    for key in KEYS:
        new = rewritten(locale, text, key=key)
        assert re.fullmatch(pattern, new) and "Zyxwer" not in new
    assert before == "" or rewritten(locale, before, "NAME_TITLE") == before
    # The form of the original tells the title.
    assert written_form(text, "DOCTOR", locale) == written_form(text.replace("Zyxwer", "Quixor"), "DOCTOR", locale)
    assert written_form(text, "DOCTOR", locale) != written_form("Zyxwer", "DOCTOR", locale)


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en", "Dr. M.D. Zyxwer"),
        ("en", "Dr. H.C. Zyxwer"),
        ("de", "Dr. H.C. Zyxwer"),
        ("de", "MA Zyxwer"),
        ("de", "Zyxwer, MA"),
        ("en", "Hon Zyxwer"),
        ("nb", "LIS ZYXWER"),
        ("nb", "Lis Zyxwer"),
        ("de", "Nat Zyxwer"),
        ("de", "nat. zyxwer"),
        ("en", "Dr. Phil Zyxwer"),
        ("en", "Phil Zyxwer, MD"),
        ("pt", "Dr.A Zyxwer"),
    ],
)
def test_initials_and_names_are_no_titles(locale, text):
    """A part of the name that looks like a title is replaced: with some keys, by chance, by itself."""
    titles = {"dr", "md"}
    own = [word for word in re.findall(r"[^\W\d_]+", text) if word.lower() not in titles]
    kept = [set(own) & set(re.findall(r"[^\W\d_]+", rewritten(locale, text, key=key))) for key in KEYS]
    assert sum(map(bool, kept)) < len(KEYS) / 2


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_degrees_and_additions_do_not_hide_names(locale):
    words = locale_words(locale)
    for listed in (*words.block("degrees"), *words.block("additions to titles")):
        name = listed.title()
        if not name.isalpha() or len(name) < 3 or name in (*words.block("titles"), listed):
            continue
        for form in ("{} Zyxa", "Zyxa {}", "{}, Zyxa"):
            written = form.format(name)
            assert all(name not in re.findall(r"\w+", rewritten(locale, written, key=key)) for key in KEYS[:2]), written


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_each_title_alone_is_one(locale):
    words = locale_words(locale)
    for listed in (*words.block("titles"), *words.block("degrees"), *words.block("additions to titles")):
        assert is_title(listed, words) and is_title(f"{listed}. {listed}", words)
        assert not is_title(f"{listed} Zyxwer", words)
