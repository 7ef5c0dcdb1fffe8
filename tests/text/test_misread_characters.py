"""Characters in codes or in the wrong encoding are read as meant; what only looks like one is left."""

import pytest

from sklearn_deid.text import normalize
from sklearn_deid.text.misread_characters import misread_characters


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("O\u00e2\u20ac\u2122Brien, Alder\u00e2\u20ac\u201cBirch", "O'Brien, Alder-Birch"),
        ("O\u2019Brien Jos\u00e9".encode().decode("cp1252").encode().decode("cp1252"), "O'Brien Jos\u00e9"),
        ("Alder\u00c2\u00a0Birch", "Alder\u00a0Birch"),
        ("\u00c3\u201cscar Mu\u00c3\u00b1oz", "\u00d3scar Mu\u00f1oz"),
        ("M\ufffdller, Zo\ufffd, Ren\ufffd\ufffde", "Meller, Zoe, Renee"),
        ("the patient\ufffds, doesn\ufffd\ufffd\ufffdt", "the patient's, doesn't"),
        # RTF without its header, HL7, scripts of web pages, entities without a semicolon
        (r"J\'fcrgen Nu\'f1ez", "J\u00fcrgen Nu\u00f1ez"),
        (r"J\u252?rgen \u321\'3fukasz \u1048?\u1074?", "J\u00fcrgen \u0141ukasz \u0418\u0432"),
        (r"J\XFC\rgen Nu\XC3B1\ez", "J\u00fcrgen Nu\u00f1ez"),
        # JavaScript, Perl, one letter of an address
        (r"J\u{fc}rgen Nu\x{00F1}ez", "J\u00fcrgen Nu\u00f1ez"),
        ("J%C3%BCrgen Nu%c3%b1ez", "J\u00fcrgen Nu\u00f1ez"),
        ("J%u00fcrgen Nu%u00F1ez", "J\u00fcrgen Nu\u00f1ez"),
        ("J&#252rgen O&#39Brien&#8217s", "J\u00fcrgen O'Brien's"),
    ],
)
def test_characters_that_were_read_in_another_encoding(written, read):
    """Names were in pieces, and stayed in the redacted notes of an English model."""
    reading = normalize(written)
    assert reading.text == read and reading.original(0, len(read)) == (0, len(written))


@pytest.mark.parametrize(
    "text",
    [
        r"C:\users\new\x1\u12 and \ud83d\ude00",
        r"O\'Dea, the patient\'s \'98, d/c\'d on \u20 \XYZ\ 5%used 5%C3 \u{110000} \x{} &#1 &#9999 &#60000;",
        "\ufffdwell\ufffd 5\ufffd10 \ufffd caf\ufffd",
        "2.5 \u00c5 3 \u00c5\u00a1 5, \u201cMANH\u00c3\u201d \u00c2\u00b0C",
        "S\u00c3O \u251c Name \u2524",
    ],
)
def test_characters_that_only_look_misread_stay(text):
    assert list(misread_characters(text)) == []
