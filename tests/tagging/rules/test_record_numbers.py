"""Numbers with check digits, and numbers that a tagger splits, computed by hand."""

import re

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.rules import find_phi


@pytest.mark.parametrize(("language", "text", "redacted"), [
    ("en", "SSN 123 45 6789 and", "SSN [SSN] and"),
    ("en", "SSN 123\u00a045\u00a06789 and", "SSN [SSN] and"),
    ("en", "SSN: xxx-xx-6789", "SSN: xxx-xx-[SSN]"),
    ("en", "DL# A1234567, MA", "DL# [LICENSE], MA"),
    ("en", "DL: A123-4567-8901", "DL: [LICENSE]"),
    ("en", "scan of 2019-03 and 2019/03", "scan of [DATE] and [DATE]"),
    ("pt", "doente 529.982.247-25", "doente [IDNUM]"),
    ("pt", "doente 52998224725", "doente [IDNUM]"),
])  # fmt: skip
def test_tokens_of_numbers(language, text, redacted):
    assert NoteDeidentifier(RuleTagger(language=language).fit([]), segmenter="rules").redact([text]) == [redacted]


def test_check_digits_of_a_cpf():
    """5*10 + 2*9 + 9*8 + 9*7 + 8*6 + 2*5 + 2*4 + 4*3 + 7*2 = 295, 2950 mod 11 = 2; the second sum is 347: 5."""
    assert len(find_phi("52998224725", language="pt")) == 1
    assert find_phi("52998224726 52998224735", language="pt") == []
    # With its signs, the number needs no check digits.
    assert len(find_phi("529.982.247-26", language="pt")) == 1


def test_check_digit_of_a_card():
    assert [span.label for span in find_phi("4111 1111 1111 1111", language="de")] == ["ACCOUNT"]
    assert len(find_phi("4111\u00a01111\u00a01111\u00a01111, SSN 123\u202f45\u202f6789", language="en")) == 2
    assert find_phi("4111 1111 1111 1112", language="de") == []
    # Cards of 15 digits: the check digit of 37828224631000 is 5.
    assert len(find_phi("378282246310005, 3782-822463-10005", language="de")) == 2
    assert find_phi("378282246310006, 3782 822463 10004", language="de") == []


@pytest.mark.parametrize("form", [
    "SIN [046 454 286], seen 03/04/2019",
    "PHN: [9123 456 789]",
    "OHIP [1234 567 890]",
    "Medicare no [2123 45670 1], BP 120/80",
    "TFN [123 456 782]",
    "Aadhaar [2345 6789 0123]",
    "PAN [ABCDE1234F]",
    "NHI [ZZZ0016]",
    "PPSN [1234567FA]",
    "CHI number: [010150 1234] and",
    "UHID [123456]",
    "ID number [8001015009087]",
    "ID no [2019 2043]",
    "mob [9876543210]",
    "home [01 496 0123]",
    "RAMQ [ABCD 1234 5678] seen",
    "RAMQ: [ABCD12345678]",
    "RAMQ: [TREM 8001 0112] seen",
    "RAMQ: [NOLA-8001-0112]",
    "Health card number [1234 567 890] seen",
    "health card: [1234 567 890 XY]",
    "UHID: [1234567/1]",
    "UHID [123456/2021] seen",
    "IHI [8003 6012 3456 7890]",
    "PAN: [ABCDE 1234 F],",
    "DVA: [VX 123456]",
    "DVA no. [NX12345]",
    "DVA: [N 1234] seen",
    "OHIP: [1234 567 890 XY]",
    "PPS No: [1234567 FA]",
    "Medicare no. [2123-45670-1/2]",
    "Medicare no. [2123-45670-1] / 85 F",
    "PHN [9123456789] BP 120/80",
    "PHN [9123 456 789]",
    "RAMQ [1234 5678]",
    "UHID: [APJ1.0001234567]",
    "MRD No: [45/2019/1234]",
    "UHID NO: [APJ1.0001234567] / 45 M",
    "PHN [9123 456 789] / 45 yrs",
    "CR No [12345/2020]",
    "DOB: [3 Apr 60], 10:30",
    "DOB: [Apr 3 60]",
    "DOB - [April 3, 60] seen",
    "birth date: [5 Mar 99].",
    "dob [3 apr 60] in",
    "DOB: [3 Apr 60] HR 80",
    "DOB: [Apr 3, 60] w/ son",
    "D.O.B. [3 Apr 60] h/o HTN",
    "DOB: [3 Apr 60] d 2",
    "date of birth [1st of May 60].",
    "born [April 3, 60] HR 80",
    "born on the [3rd of April 60].",
    "DOB ([3 Apr 60])",
    "DOB=[3 Apr 60]",
    "DOB is [3 Apr 60].",
    "DOB/Sex: [3 Apr 60] / M",
    "birthday [3 Apr 60] / F",
])  # fmt: skip
def test_numbers_of_countries_behind_their_names(form):
    """Numbers in groups stayed, or their second half stayed, and so did the year of a birth date in words."""
    before, phi, after = re.split(r"[\[\]]", form)
    deidentifier = NoteDeidentifier(RuleTagger(language="en").fit([]), segmenter="rules")
    text = before + phi + after
    assert any((s.start, s.end) == (len(before), len(before + phi)) for s in find_phi(text, language="en"))
    assert any((s.start, s.end) == (len(before), len(before + phi)) for s in deidentifier.annotate([text])[0])


def test_names_of_numbers_in_capitals_have_other_meanings():
    text = "MCP 2-5 and MCP 12 13 14 15 tender, PAN 10 mg, pan 123456, sin 123456, ID no 5 of 12, UR 200 300, URN 120"
    assert find_phi(text, language="en") == []
    text = "Medicare 2023-2024 plan, medicare 2019 2020, PAN 2012 - 2015, PPS 60-50-40, PPS 70 60 50, Medicare 2023-24"
    assert find_phi(text, language="en") == []
    assert NoteDeidentifier(RuleTagger(language="en").fit([]), segmenter="rules").redact([text]) == [text]
    text = "DVA of 12 mm, DVA T2 2010, DVA S 2019, health card: 2019-2024, UHID 120/80"
    assert [span for span in find_phi(text, language="en") if span.label != "DATE"] == []


@pytest.mark.parametrize(
    "behind", [" weeks early", " w early", " HRS after", "+2 weeks", "th centile", " kg", " of her", ":30", " PM"]
)
def test_a_number_behind_a_day_of_birth_may_be_no_year(behind):
    text = f"She was born on April 3, 10{behind}"
    assert {text[span.start : span.end] for span in find_phi(text, language="en")} == {"April 3"}
    text = f"Her birthday is April 3, 10{behind}"
    assert {text[span.start : span.end] for span in find_phi(text, language="en")} == {"April 3"}
