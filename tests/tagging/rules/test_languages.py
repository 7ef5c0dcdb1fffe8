"""What rules find in languages other than English and Spanish. All examples are invented."""

import pytest

from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.tagging.rules import LANGUAGES, find_phi, note_languages, rebuild_sentence
from sklearn_deid.text import tokenize

FURTHER = LANGUAGES[2:]


def found(text, language):
    return [(span.label, text[span.start : span.end]) for span in find_phi(text, language=language)]


@pytest.mark.parametrize(("language", "text", "kind", "phi"), [
    ("de", "geb. am 3. März 1950 in", "DATE", "3. März 1950"),
    ("de", "am 12. Jänner 2020,", "DATE", "12. Jänner 2020"),
    ("de", "im Maerz 2021", "DATE", "Maerz 2021"),
    ("de", "vom 19.3. an", "DATE", "19.3."),
    ("de", "seit 2007 bekannt", "DATE", "2007"),
    ("de", "ein 55-jähriger Mann", "AGE", "55"),
    ("de", "80 jährige Patientin", "AGE", "80"),
    ("de", "Alter: 54, klagt", "AGE", "54"),
    ("de", "Patientin, 54 Jahre, klagt", "AGE", "54"),
    ("de", "Telefon (0461) 708 - 223", "PHONE", "(0461) 708 - 223"),
    ("de", "unter 0461/708223 zu", "PHONE", "0461/708223"),
    ("de", "Fax: 0461 708 224", "FAX", "0461 708 224"),
    ("de", "Fall-Nr. 6733340001,", "VISIT", "6733340001"),
    ("de", "Patientennummer: 4711-08", "MEDICALRECORD", "4711-08"),
    ("de", "Weg 21 a\n24937 Flensburg", "ZIP", "24937"),
    ("fr", "vu le 1er mars 2019 pour", "DATE", "1er mars 2019"),
    ("fr", "le 3 décembre dernier", "DATE", "3 décembre"),
    ("fr", "depuis 2011,", "DATE", "2011"),
    ("fr", "patient de 54 ans suivi", "AGE", "54"),
    ("fr", "âgée de 71 ans", "AGE", "71"),
    ("fr", "joindre au 06.12.34.56.78 le", "PHONE", "06.12.34.56.78"),
    ("fr", "au +33 1 23 45 67 89 avant", "PHONE", "+33 1 23 45 67 89"),
    ("fr", "IPP : 8012939402", "MEDICALRECORD", "8012939402"),
    ("fr", "n° 1 84 12 76 451 089 46,", "SSN", "1 84 12 76 451 089 46"),
    ("fr", "12 rue Haute, 75013 Paris", "ZIP", "75013"),
    ("nb", "innlagt 3. mars 2019 med", "DATE", "3. mars 2019"),
    ("nb", "den 19.3. ble", "DATE", "19.3."),
    ("nb", "en 54 år gammel kvinne", "AGE", "54"),
    ("nb", "67-åring med", "AGE", "67"),
    ("nb", "tlf. 22 33 44 55", "PHONE", "22 33 44 55"),
    ("nb", "fnr 01010750160 og", "NATIONALID", "01010750160"),
    ("nb", "Storgata 3, 0450 Oslo", "ZIP", "0450"),
    ("it", "il 3 maggio 2019 per", "DATE", "3 maggio 2019"),
    ("it", "nel 2011 ha", "DATE", "2011"),
    ("it", "uomo di 54 anni con", "AGE", "54"),
    ("it", "di anni 54,", "AGE", "54"),
    ("it", "cell. 333 1234567", "PHONE", "333 1234567"),
    ("it", "RSSMRA85T10A562S,", "NATIONALID", "RSSMRA85T10A562S"),
    ("it", "via Roma 3, 00184 Roma", "ZIP", "00184"),
    ("pt", "em 3 de maio de 2019 por", "DATE", "3 de maio de 2019"),
    ("pt", "54 anos de idade", "AGE", "54"),
    ("pt", "doente de 71 anos", "AGE", "71"),
    ("pt", "telemóvel 912 345 678", "PHONE", "912 345 678"),
    ("pt", "utente: 123456789", "HEALTHPLAN", "123456789"),
    ("pt", "1250-096 Lisboa", "ZIP", "1250-096"),
    ("nl", "op 3 mei 2019 gezien", "DATE", "3 mei 2019"),
    ("nl", "sinds 2011 bekend", "DATE", "2011"),
    ("nl", "een 54-jarige man", "AGE", "54"),
    ("nl", "71 jaar oud", "AGE", "71"),
    ("nl", "via 020-1234567 bereikbaar", "PHONE", "020-1234567"),
    ("nl", "BSN 111222333", "NATIONALID", "111222333"),
    ("nl", "1012 AB Amsterdam", "ZIP", "1012 AB"),
])  # fmt: skip
def test_finds(language, text, kind, phi):
    assert found(text, language) == [(kind, phi)]


@pytest.mark.parametrize("language", FURTHER)
def test_every_month_of_the_word_lists(language):
    words = locale_words(language)
    for name in words.block("months"):
        for date in (f"3. {name} 2019", f"3 {name}", f"{name} 2019"):
            assert found(f"({date})", language) == [("DATE", date)]
            rebuilt = rebuild_sentence(tokenize(date).texts).text
            assert [kind for kind, _ in found(rebuilt, language)] == ["DATE"]
    for name in words.block("month abbreviations"):
        assert found(f"(3 {name} 2019)", language) == [("DATE", f"3 {name} 2019")]


MEASURED = (
    "RR 120/80, Hb 7.3, CRP 12,5, K 3.5-4.2",
    "pT3 pN1 M0, T2 N0, G2",
    "16 F, 14 Ch, 20 x 30 mm",
    "5 mg, 1-0-1, 2x1, 3 ml",
    "L4/5, Th12, C5-7",
    "2000 ml, 2019 mg",
    "10.000, 150 000, 4711",
)
NO_PHI = {
    "de": ("20000 Leukozyten", "bis 2000 Einheiten", "seit 5 Jahren", "am 3.5 mg", "Stadium 3"),
    "fr": ("depuis 5 ans", "15000 plaquettes", "en 2000 UI", "des 2 sept jours"),
    "nb": ("i 5 år", "2019 Oslo", "3 man", "4 des av", "om 3 uker"),
    "it": ("da 5 anni", "3 set di", "nel 2000 ml", "2 mar di"),
    "pt": ("há 5 anos", "2 out", "em 2000 ml", "3 set"),
    "nl": ("sinds 5 jaar", "2019 SS", "in 2000 ml", "3 mrt"),
}


@pytest.mark.parametrize("language", FURTHER)
def test_leaves_measures_stages_and_durations(language):
    assert [text for text in (*MEASURED, *NO_PHI[language]) if found(text, language)] == []


@pytest.mark.parametrize(("text", "languages"), [
    ("Der Patient wurde am Montag aufgenommen.", ("de",)),
    ("Le patient est venu avec une douleur.", ("fr",)),
    ("Pasienten ble innlagt og har ikke smerter.", ("nb",)),
    ("Il paziente viene dimesso dopo il ricovero.", ("it",)),
    ("O doente não tem queixas e foi para casa.", ("pt",)),
    ("De patiënt werd niet gezien en het gaat beter.", ("nl",)),
    ("The patient was seen with pain.", ("en",)),
    ("El paciente acude con dolor y sin fiebre.", ("es",)),
    ("0461 708223", LANGUAGES),
    ("", LANGUAGES),
])  # fmt: skip
def test_the_language_of_a_note(text, languages):
    assert note_languages(text) == languages


def test_auto_is_the_language_of_the_note_or_all():
    german = "Der Patient wurde am 3. Mai 2019 aufgenommen."
    assert find_phi(german, language="auto") == find_phi(german, language="de")
    unknown = "3. Mai 2019, 3 mei 2019, 3 maggio 2019"
    assert len(find_phi(unknown, language="auto")) == 3
