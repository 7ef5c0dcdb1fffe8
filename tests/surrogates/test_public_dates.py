"""Dates that everybody knows from the words around them reveal no shift, because they are not moved."""

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.public_dates import is_public_date

PUBLIC = """eGFR (CKD-EPI [2021])|by the [2021] CKD-EPI equation|CKD-EPI Creatinine Equation ([2021])|ckd-epi eq. [2009]
[2010] McDonald criteria|McDonald [2017] criteria|[2013] ACC/AHA guidelines|ACC/AHA [2017] guideline|KDIGO [2012]
AJCC 8th edition ([2017])|WHO [2016] classification|Rome IV ([2016])|PI-RADS v2.1 [2019]|Copyright [2019] Epic
N Engl J Med [2015];372:1234|Form CMS-1500 ([02/12])|Rev. [03/2015]|[2019] novel coronavirus|COVID [2019]
ESC-Leitlinien [2021]|gu\u00eda ESC [2021]|criterios de McDonald [2017]|recommandations HAS [2019]
AJCC [8th] ed.|the [5]th toe|[8.] Auflage|survivor of the [9/11] attacks|[July 4th] fireworks"""
OF_PATIENTS = """CKD since [2014]|h/o MI [2014]; CABG|met criteria for MDD in [2012]|seen by the WHO in [2019]
COVID ([2020])|s/p ICD ([2016])|saw Dr. Jones [2015]|CABG [2014] (3 vessels)|on [9/11] he fell|hip revised [01/2018]
who [2012] had|stroke [2019]; 2 weeks|signed the form [3/4/2019]"""


def cases(text):
    """Text without brackets, and the place of the brackets, for each case."""
    for case in text.replace("\n", "|").split("|"):
        yield case.replace("[", "").replace("]", ""), case.index("["), case.index("]") - 1


@pytest.mark.parametrize(("text", "start", "end"), [*cases(PUBLIC)])
def test_public_dates_have_no_surrogate(text, start, end):
    """ "CKD-EPI 2021" became "CKD-EPI 2025", which revealed the shift within about a year."""
    assert is_public_date(text, start, end)
    note = Document("n", text, (Span(start, end, "DATE"),), "p")
    made = SurrogateEngine(key=bytes(32), locale="en").replacements(note)
    assert [one.surrogate for one in made] == ["[DATE]"]


@pytest.mark.parametrize(("text", "start", "end"), [*cases(OF_PATIENTS)])
def test_dates_of_patients_are_not_public(text, start, end):
    assert not is_public_date(text, start, end)


def test_public_years_do_not_count_as_visits():
    """A guideline of 2021 does not make the patient of a note of 2009 older."""
    text = "Seen 3/4/2009. Born 3/4/1925. KDIGO 2021"
    note = Document("n", text, (Span(5, 13, "DATE"), Span(20, 28, "DATE"), Span(36, 40, "DATE")), "p")
    seen, born, _ = (one.surrogate for one in SurrogateEngine(key=bytes(32), locale="en").replacements(note))
    assert int(seen[-4:]) - int(born[-4:]) == 84
