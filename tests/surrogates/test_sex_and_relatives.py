"""Surrogates of words for the sex and for relatives, which are words of a list and no names."""

import re

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.patient_surrogates import Mention, PatientSurrogates
from sklearn_deid.surrogates.surrogate_settings import SurrogateSettings

RELATIVES = "mother father sister brother son daughter wife husband aunt uncle cousin niece nephew".split()


def patient(number=0, **settings):
    chance = PatientChance(bytes(32), f"p{number}")
    return PatientSurrogates(chance, locale_words("en"), SurrogateSettings(**settings))


def drawn(text, kind, n=40, **settings):
    return [patient(i, **settings).surrogate(Mention(text, kind)) for i in range(n)]


@pytest.mark.parametrize("text", ["F", "m", "Female", "WOMAN"])
def test_words_for_the_sex_stay_if_the_gender_is_kept(text):
    assert set(drawn(text, "sex", n=5)) == {text}


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("F", {"F", "M"}),
        ("m", {"f", "m"}),
        ("Female", {"Male", "Man", "Boy", "Gentleman", "Female", "Woman", "Girl", "Lady"}),
        ("WOMAN", {"MALE", "MAN", "BOY", "GENTLEMAN", "FEMALE", "WOMAN", "GIRL", "LADY"}),
    ],
)
def test_otherwise_they_are_drawn_from_words_of_the_same_form(text, possible):
    found = drawn(text, "sex", n=120, keep_gender=False)
    assert set(found) == possible
    # one patient has one word for a word
    one = patient(3, keep_gender=False)
    assert one.surrogate(Mention(text, "sex")) == one.surrogate(Mention(text, "sex")) == found[3]


def test_a_word_that_names_no_sex_has_no_surrogate():
    assert patient(keep_gender=False).surrogate(Mention("Quillwick", "sex")) is None


def test_relatives_are_drawn_and_the_words_beside_them_stay():
    found = drawn("Mother", "relative", n=80)
    assert len(set(found)) > 5 and all(word[0].isupper() for word in found)
    assert {word.lower() for word in found} & set(RELATIVES)
    one = patient(1)
    assert one.surrogate(Mention("mother", "relative")).capitalize() == found[1]


def test_the_age_of_a_relative_is_an_age():
    one = patient(0, ages="shift")
    shifted = int(one.surrogate(Mention("47", "age")))
    assert one.surrogate(Mention("47", "relative")) == str(shifted) != "47"


def test_a_relative_may_be_a_name_and_other_words_have_no_surrogate():
    assert patient().surrogate(Mention("Mary", "relative")) not in (None, "Mary")
    assert patient().surrogate(Mention("at home", "relative")) is None


@pytest.mark.parametrize(
    ("text", "locale", "sexes"),
    [
        ("Zyxwin Quorell came with his daughter Abelone Quorell.", "en", {"Abelone": "F"}),
        ("Children: son Zyxwin Quorell, daughter: Abelone Quorell", "en", {"Zyxwin": "M", "Abelone": "F"}),
        ("sa fille, Abelone Quorell, et le mari (Zyxwin Quorell)", "fr", {"Zyxwin": "M", "Abelone": "F"}),
        ("die Tochter Abelone Quorell und der Ehemann Zyxwin Quorell", "de", {"Zyxwin": "M", "Abelone": "F"}),
    ],
)
def test_a_relative_before_a_name_of_no_list_tells_its_sex(text, locale, sexes):
    words = locale_words(locale)
    names = [Span(found.start(), found.end(), "PATIENT") for found in re.finditer("(Zyxwin|Abelone) Quorell", text)]
    drawn = {name: set() for name in ("Zyxwin", "Abelone")}
    for number in range(40):
        engine = SurrogateEngine(key=number.to_bytes(32, "little"), locale=locale)
        for new in engine.replacements(Document("a", text, tuple(names))):
            given = new.surrogate.split()[0]
            drawn[text[new.span.start : new.span.end].split()[0]].add(words.sex_of(given))
    for name, found in drawn.items():
        # A given name of both sexes shows none.
        assert found - {None} == ({sexes[name]} if name in sexes else {"M", "F"}), name


def test_a_relative_in_another_sentence_tells_nothing():
    drawn = set()
    for number in range(40):
        engine = SurrogateEngine(key=number.to_bytes(32, "little"), locale="en")
        note = Document("a", "Lives with her mother. Zyxwin Quorell called.", (Span(23, 37, "PATIENT"),))
        drawn.add(locale_words("en").sex_of(engine.replacements(note)[0].surrogate.split()[0]))
    assert {"M", "F"} <= drawn


@pytest.mark.parametrize(
    ("login", "is_like"), [("Quorell", str.istitle), ("quorell", str.islower), ("QUOR", str.isupper)]
)
def test_a_login_keeps_its_casing(login, is_like):
    for number in range(20):
        engine = SurrogateEngine(key=number.to_bytes(32, "little"), locale="en")
        (new,) = engine.replacements(Document("a", login, (Span(0, len(login), "USERNAME"),)))
        assert is_like(new.surrogate)


@pytest.mark.parametrize(
    ("locale", "text", "sex"),
    [
        ("it", "Dott.ssa Zyxwin Quorell", "F"),
        ("it", "Sig.ra Zyxwin Quorell", "F"),
        ("it", "Dott. Zyxwin Quorell", "M"),
        ("pt", "Enf.\u00aa Zyxwin", "F"),
        ("pt", "Eng.\u00ba Zyxwin", "M"),
    ],
)
def test_the_end_of_a_title_tells_the_sex(locale, text, sex):
    words = locale_words(locale)
    given = {name for word in words.given_names[sex] for name in (word, word.split()[0])}
    given |= set(words.block("male names that are words" if sex == "M" else "female names that are words"))
    for number in range(20):
        note = Document("n", f"a {text} b", (Span(2, 2 + len(text), "GIVENNAME"),), f"p{number}")
        engine = SurrogateEngine(key=bytes(32), locale=locale, kinds={"GIVENNAME": "given name"})
        new = engine.replacements(note)[0].surrogate.split()[-2 if " Q" in text else -1]
        assert new in given and words.sex_of(new) in (sex, None)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("hermana Mar\u00eda Zyxwin", r"(\w+) (\w+) (\w+)"),
        ("hermano Luis", r"(\w+) (\w+)"),
        ("madre de 34 a\u00f1os", "(\\w+) de 34 a\u00f1os"),
        ("padre de 92", r"(\w+) de 90\+"),
        ("primera hija", r"primera (\w+)"),
    ],
)
def test_a_relative_in_front_of_a_name_or_an_age_is_drawn(text, pattern):
    found = []
    for number in range(40):
        chance = PatientChance(bytes(32), f"p{number}")
        one = PatientSurrogates(chance, locale_words("es"), SurrogateSettings())
        found.append(re.fullmatch(pattern, one.surrogate(Mention(text, "relative"))))
    relatives = locale_words("es").numbered("relatives")
    assert {one[1] for one in found} <= {entry.partition("=")[0] for entry in locale_words("es").block("relatives")}
    assert len({one[1] for one in found}) > 3 and relatives
    if "Zyxwin" in text or "Luis" in text:
        assert len({one[2] for one in found}) > 10 and not any("Zyxwin" in one[0] for one in found)
