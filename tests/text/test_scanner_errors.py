"""Characters that a scanner has confused are read as they were meant; what only looks so stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import load_model
from sklearn_deid.tagging.rules import find_phi
from sklearn_deid.text import normalize
from sklearn_deid.text.scanner_errors import _L_BEFORE_CAPITAL as L_BEFORE_CAPITAL
from sklearn_deid.text.scanner_errors import _MIXED as MIXED
from sklearn_deid.text.scanner_errors import _SMALL_L as SMALL_L
from sklearn_deid.text.scanner_errors import _mixed_runs as mixed_runs
from sklearn_deid.text.scanner_errors import scanner_repairs

WORDS = {
    "M00dy": "Moody", "Hal1": "Hall", "Hospita1": "Hospital", "Mi1lwo0d": "Millwood", "H0SPITAL": "HOSPITAL",
    "8illy": "Billy", "5tone": "Stone", "2anwin": "Zanwin", "0lga": "Olga", "0ct": "Oct", "5yria": "Syria",
    "h0me": "home", "Ire1and": "Ireland", "VIRGlNlA": "VIRGINIA", "Garc1a": "Garcla",
}  # fmt: skip
NUMBERS = {
    "O6.12.18": "06.12.18", "12/l2/2018": "12/12/2018", "1978-02-0S": "1978-02-05", "20l8-06-12": "2018-06-12",
    "l924": "1924", "199S": "1995", "2O2O": "2020", "1Z:00": "12:00", "l0:30": "10:30", "5746O83": "5746083",
    "(83S)555-01b6": "(835)555-0166", "555-0lS9": "555-0159", "1-756-555-010Z": "1-756-555-0102",
    "685709O": "6857090", "x251S5": "x25155", "51S3-8813-0l": "5153-8813-01", "S5-yr-old": "55-yr-old",
    "O1.42.15.93.3O": "01.42.15.93.30", "01.42.16.10.O2": "01.42.16.10.02",
    "Z0 y.o.": "20 y.o.", "7lM": "71M", "4Oyo": "40yo",
}  # fmt: skip
# Vitamins, vertebrae, doses, needles, codes of ICD-10, genes, stages, frequencies, rooms, identifiers with letters.
KEPT = """
B12 b12 L5-S1 l5-s1 l4/5 l4-l5 S1/S2 T10 5mg 10l 8am 2nd 5days 6months 5Tage 8weeks q8hrs x5days q6h x10 18G 14F 5FU
5HIAA D5NS D5W CA125 HbA1c A1c BRCA1 FEV1 HER2 IL6R Ki67 p53 CD20 pT3N1M0 T1DM CO2 SpO2 H1N1 5q13 22q11 I10.9 Z79.01
G47.33 C50.911 room5 stage2 type1 grade1 12345678Z Z83-84-6075 B123-456 SZ-97-7424 50s 1980s 10D 2B 3b O2 1,0pp 1xtgl
p.Phe55fs MRN9072648-0pt hxi1 hopel1 sanche1 PSAl sistem\u00e1tica1 1S 10B
""".split()


@pytest.mark.parametrize("written", [*WORDS, *NUMBERS])
def test_what_was_meant_is_read_at_the_place_of_what_is_written(written):
    reading = normalize(f"Seen {written} today")
    assert reading.text == f"Seen {(WORDS | NUMBERS)[written]} today"
    assert reading.original(5, 5 + len(written)) == (5, 5 + len(written))


@pytest.mark.parametrize("written", KEPT)
def test_letters_beside_digits_that_mean_something_stay(written):
    assert scanner_repairs(f"Seen {written} today") == []


def test_scanned_names_and_dates_are_hidden():
    note = "Mr. Arthur M00dy was seen by Dr. Wi1son at Milt0n General H0spital on O3/l4/2019. Call 617-555-01S9."
    (redacted,) = load_model().redact([note])
    assert redacted == "Mr. [PATIENT] was seen by Dr. [DOCTOR] at [HOSPITAL] on [DATE]. Call [PHONE]."


def test_rules_find_scanned_dates_and_phone_numbers():
    written, meant = ("Seen O3/l4/2019, call (617) 555-01S9.", "Seen 03/14/2019, call (617) 555-0159.")
    assert find_phi(written) == find_phi(meant)


@pytest.mark.parametrize("piece", ["1-", "a1", "1a ", "l", "Al", "0O", "12/l2 ", "1l/", "(1", "x1"])
def test_the_time_grows_with_the_length(piece):
    start = time.process_time()
    normalize(piece * 200_000)
    assert time.process_time() - start < 5


@given(st.text(st.sampled_from("aZl0oO15\u00bd\u00b2\u0662\u00e9I .-/:_,\n("), max_size=20))
def test_mixed_runs_are_the_matches_of_their_pattern(text):
    assert [run.span() for run in mixed_runs(text)] == [run.span() for run in MIXED.finditer(text)]
    assert L_BEFORE_CAPITAL.search(text) or not SMALL_L.search(text)
