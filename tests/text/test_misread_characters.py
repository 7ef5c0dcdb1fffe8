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
        "\ufffdwell\ufffd 5\ufffd10 \ufffd caf\ufffd",
        "2.5 \u00c5 3 \u00c5\u00a1 5, \u201cMANH\u00c3\u201d \u00c2\u00b0C",
        "S\u00c3O \u251c Name \u2524",
    ],
)
def test_characters_that_only_look_misread_stay(text):
    assert list(misread_characters(text)) == []
