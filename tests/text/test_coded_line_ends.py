"""Codes of line ends are read as line ends, with exact offsets."""

import pytest

from sklearn_deid.text import Edit, normalize
from sklearn_deid.text.coded_line_ends import coded_line_ends


@pytest.mark.parametrize("code", [
    "[CRLF]", "<CR>", "{NL}", "&lt;br/&gt;", "\\.br\\", "\\par ", "\\line ", "\u00b6", "\u21b5", "\\r\\n", "\\n",
])  # fmt: skip
def test_codes_of_line_ends_are_line_ends(code):
    """Of notes with such codes, up to six times as much PHI stayed as of notes with line ends."""
    written = f"Seen.{code}Alder{code}{code}nurse"
    reading = normalize(written)
    assert reading.text == "Seen.\nAlder\n\nnurse"
    assert reading.original(6, 11) == (5 + len(code), 10 + len(code))


@pytest.mark.parametrize(("before", "after"), [("", "\n"), ("\n", "\r\n"), (" \n", "\n\n ")])
def test_line_ends_around_the_text_are_no_lines_of_it(before, after):
    """Most files end in a line end: in these, no code of a line end was read."""
    reading = normalize(f"{before}Seen.\\nAlder\\n\\nnurse{after}")
    assert reading.text.strip() == "Seen.\nAlder\n\nnurse"
    start = reading.text.index("Alder")
    assert reading.original(start, start + 5) == (len(before) + 7, len(before) + 12)


@pytest.mark.parametrize(
    "text",
    [
        "Seen.\\nAlder\nLine\\n",
        "one \\n alone",
        "C:\\new\\notes and \\\\nas\\record\\new",
        "By CLINIC\\nalder and CLINIC\\ralder.",
        "[crp] <CRP> \\parens [CR: 3]",
        "&lt;b&gt;",
    ],
)
def test_what_only_looks_like_codes_of_line_ends(text):
    assert normalize(text).text == text


def test_lines_that_end_in_capitals_are_lines_beside_others():
    assert normalize("Seen in ED\\npain\\nNo SOB").text == "Seen in ED\npain\nNo SOB"


def test_blanks_that_lost_their_semicolon_are_blanks():
    """Where a semicolon divides columns, an export can lose it. Half of the PHI stayed."""
    reading = normalize("by&nbspAlder&nbsp60")
    assert reading.text == "by Alder 60"
    assert reading.original(3, 8) == (7, 12)


def test_codes_beside_each_other_do_not_overlap():
    """Behind the code of HL7, the n of "nurse" made a second code of the same backslash, and the note was withheld."""
    edits = coded_line_ends("a\\.br\\nurse\\nb\\nc")
    assert edits == [Edit(1, 6, "\n"), Edit(11, 13, "\n"), Edit(14, 16, "\n")]
