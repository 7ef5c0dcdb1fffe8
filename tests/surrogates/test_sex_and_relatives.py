"""Surrogates of words for the sex and for relatives, which are words of a list and no names."""

import pytest

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
