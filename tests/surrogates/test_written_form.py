"""Originals of one written form give surrogates of one law; what differs in form is told by design."""

import unicodedata

import pytest
from scipy.stats import ks_2samp

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, written_form


@pytest.mark.parametrize(
    ("one", "other", "label", "locale"),
    [
        ("Quillwyk", "Brambo", "PATIENT", "en"),
        ("12 Quillwyk Street", "34 Brambo Street", "STREET", "en"),
        ("Quillwyk Hospital", "Brambo Hospital", "HOSPITAL", "en"),
        ("Quillwyk Hospital, Zyxton", "Brambo Hospital, Zyxville", "LOCATION", "en"),
        ("Quillwyk JB", "Bramb KT", "PATIENT", "en"),
        ("3/5/2011", "9/1/1990", "DATE", "en"),
        ("5 de mayo de 2011", "7 de enero de 1990", "FECHAS", "es"),
        ("12-34 A", "98-76 Z", "MEDICALRECORD", "en"),
        ("Quillwykville", "Brambotown", "CITY", "en"),
        ("janitor", "farmer", "PROFESSION", "en"),
        ("jbrambo12", "jquillwyk34", "USERNAME", "en"),
    ],
)
def test_equal_forms(one, other, label, locale):
    assert written_form(one, label, locale) == written_form(other, label, locale)


@pytest.mark.parametrize(
    ("one", "other", "label", "locale"),
    [
        ("Quillwyk", "QUILLWYK", "PATIENT", "en"),
        ("Quillwyk JB", "Quillwyk UT", "PATIENT", "en"),
        ("MJGL", "ZYXA", "PATIENT", "es"),
        ("early 2019", "late 2019", "DATE", "en"),
        ("Jan 5", "Mon 5", "DATE", "en"),
        ("Station 3", "Quillwyk 3", "DEPARTMENT", "de"),
        ("Zimmer 3B", "Quillwyk 3B", "DEPARTMENT", "de"),
        ("Quillwyk Hospital, Brambo", "Quillwyk Clinic, Brambo", "LOCATION", "en"),
        ("Dr. Quillwyk", "Quillwyk", "DOCTOR", "en"),
        ("John", "Mary", "PATIENT", "en"),
        ("12 Quillwyk Street", "12 Quillwyk Avenue", "STREET", "en"),
        ("Quillwyk Hospital", "Quillwyk Clinic", "HOSPITAL", "en"),
        ("63", "64", "AGE", "en"),
        ("12-34", "1234", "MEDICALRECORD", "en"),
        ("MRN 1234", "QXZ 1234", "MEDICALRECORD", "en"),
        ("France", "Boston", "LOCATION", "en"),
        ("Boston Hospital", "Brambo Hospital", "HOSPITAL", "en"),
        ("Hospital de Zaragoza", "Hospital de Brambo", "HOSPITAL", "es"),
        ("Marienkrankenhaus", "Quillwyk", "HOSPITAL", "de"),
        ("Hauptstra\u00dfe 5", "Lindenallee 5", "STREET", "de"),
        ("Kerkstraat 5", "Quillwyk 5", "STREET", "nl"),
        ("12 E Street", "12 Q Street", "STREET", "en"),
        ("US", "PERU", "COUNTRY", "en"),
        ("TX", "TEXAS", "STATE", "en"),
        ("0034912345678", "9934912345678", "PHONE", "es"),
        ("+49 0761 12345", "+49 7761 12345", "PHONE", "de"),
        ("www.quillwyk.org", "abc.quillwyk.org", "URL", "en"),
        ("quillwyk", "QUILLWYK", "USERNAME", "en"),
        ("quillwyk", "Quillwyk", "USERNAME", "en"),
        ("Roe@x.org", "Roe@X.ORG", "EMAIL", "en"),
    ],
)
def test_different_forms(one, other, label, locale):
    assert written_form(one, label, locale) != written_form(other, label, locale)


def test_a_mail_address_is_composed_of_the_names_of_the_note():
    mails = [written_form(f"j{name}@clinic.edu", "EMAIL", "en", names=[name]) for name in ("Alder", "Quillwick")]
    assert mails[0] == mails[1] != written_form("jalder@clinic.edu", "EMAIL", "en")


def test_the_letter_of_a_number_of_a_foreigner_does_not_tell_the_letter():
    """Only numbers that began with X, Y or Z had surrogates that begin so: the surrogate told these letters."""
    engine = SurrogateEngine(key=bytes(32), locale="es")
    assert written_form("X1234567L", "NATIONAL_ID", "es") == written_form("B1234567L", "NATIONAL_ID", "es")
    for first in "XB":
        drawn = {surrogate_of(engine, f"{first}{i}L", "NATIONAL_ID")[0] for i in range(1234567, 1234617)}
        assert drawn == set("XYZ")


def test_a_login_does_not_tell_how_long_its_surname_is():
    """Drawn letter by letter, a login would have told it; a mail address never did."""
    engine = SurrogateEngine(key=bytes(32), locale="en")
    lengths = {}
    for text in ("jorbiq", "jorbiquillwyker"):
        drawn = [surrogate_of(engine, f"{text}{i}", "USERNAME") for i in range(200)]
        assert all(one.rstrip("0123456789").isalpha() and one.islower() for one in drawn)
        lengths[text] = [len(one.rstrip("0123456789")) for one in drawn]
    assert ks_2samp(*lengths.values()).pvalue > 0.01
    assert len(set(lengths["jorbiq"])) > 5


def test_a_login_holds_the_surrogate_of_the_name_that_it_holds():
    engine = SurrogateEngine(key=bytes(32), locale="en")
    note = Document("n1", "Quillwyk aquillwyk7", (Span(0, 8, "DOCTOR"), Span(9, 19, "USERNAME")), "p1")
    name, login = (one.surrogate for one in engine.replacements(note))
    assert name.lower() in login and login[-1].isdigit() and "quillwyk" not in login


def surrogate_of(engine, text, label):
    (one,) = engine.replacements(Document(text, text, (Span(0, len(text), label),)))
    return one.surrogate


# Words with digits beside them, abbreviations and codes once were drawn sign by sign, so that they kept their lengths.
@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        ("Hosp Bram3", "Hosp Quillwykshire3", "HOSPITAL"),
        ("Bram Ward 9 Hospital", "Quillwykshire Ward 9 Hospital", "HOSPITAL"),
        ("Brambo. Roe Clinic", "Quillwykshire. Roe Clinic", "HOSPITAL"),
        ("QUILLW Hospital", "QUILLWYKSHIRE Hospital", "HOSPITAL"),
        ("Bramb2", "Quillwykshire2", "ORGANIZATION"),
        ("Bramb.com", "Quillwykshire.com", "ORGANIZATION"),
        ("Bram 4", "Quillwykshire 4", "DEPARTMENT"),
        ("BRAM-4", "QUILLWYKSHIRE-4", "DEPARTMENT"),
        ("3BRAM", "3QUILLWYKSHIRE", "DEPARTMENT"),
        ("12 Bram. Street", "12 Quillwykshire. Street", "STREET"),
    ],
)
def test_lengths_of_words_are_not_told(one, other, label):
    assert written_form(one, label, "en") == written_form(other, label, "en")
    lengths = []
    for text, start in ((one, 0), (other, 500)):
        document = Document("d", text, (Span(0, len(text), label),))
        engines = (SurrogateEngine(key=n.to_bytes(32, "big"), locale="en") for n in range(start, start + 500))
        lengths.append([len(engine.rewrite(document).text) for engine in engines])
    assert ks_2samp(*lengths).pvalue > 1e-4


def test_the_length_of_a_code_is_stated():
    codes = ("ABC Clinic", "ABCD Clinic", "ABCDE Clinic", "ABCDEF Clinic")
    assert len({written_form(text, "HOSPITAL", "en") for text in codes}) == 4


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("M\u00fcller", "PATIENT"),
        ("K\u00f6nigstra\u00dfe 5", "STREET"),
        ("\u00c4B-12", "MEDICALRECORD"),
        ("3. M\u00e4rz", "DATE"),
    ],
)
def test_accents_of_their_own_make_no_other_form(text, label):
    """The engine composes them, and the form of "Mu\u0308ller" was that of no other name."""
    assert written_form(unicodedata.normalize("NFD", text), label, "de") == written_form(text, label, "de")
