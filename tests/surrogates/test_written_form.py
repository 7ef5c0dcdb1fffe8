"""Originals of one written form give surrogates of one law; what differs in form is told by design."""

import pytest

from sklearn_deid.surrogates import written_form


@pytest.mark.parametrize(
    ("one", "other", "label", "locale"),
    [
        ("Quillwyk", "Brambo", "PATIENT", "en"),
        ("12 Quillwyk Street", "34 Brambo Street", "STREET", "en"),
        ("Quillwyk Hospital", "Brambo Hospital", "HOSPITAL", "en"),
        ("3/5/2011", "9/1/1990", "DATE", "en"),
        ("5 de mayo de 2011", "7 de enero de 1990", "FECHAS", "es"),
        ("12-34 A", "98-76 Z", "MEDICALRECORD", "en"),
        ("Quillwykville", "Brambotown", "CITY", "en"),
        ("janitor", "farmer", "PROFESSION", "en"),
    ],
)
def test_equal_forms(one, other, label, locale):
    assert written_form(one, label, locale) == written_form(other, label, locale)


@pytest.mark.parametrize(
    ("one", "other", "label", "locale"),
    [
        ("Quillwyk", "QUILLWYK", "PATIENT", "en"),
        ("Dr. Quillwyk", "Quillwyk", "DOCTOR", "en"),
        ("John", "Mary", "PATIENT", "en"),
        ("12 Quillwyk Street", "12 Quillwyk Avenue", "STREET", "en"),
        ("Quillwyk Hospital", "Quillwyk Clinic", "HOSPITAL", "en"),
        ("63", "64", "AGE", "en"),
        ("12-34", "1234", "MEDICALRECORD", "en"),
        ("MRN 1234", "QXZ 1234", "MEDICALRECORD", "en"),
        ("France", "Boston", "LOCATION", "en"),
    ],
)
def test_different_forms(one, other, label, locale):
    assert written_form(one, label, locale) != written_form(other, label, locale)


def test_a_mail_address_is_composed_of_the_names_of_the_note():
    mails = [written_form(f"j{name}@clinic.edu", "EMAIL", "en", names=[name]) for name in ("Alder", "Quillwick")]
    assert mails[0] == mails[1] != written_form("jalder@clinic.edu", "EMAIL", "en")
