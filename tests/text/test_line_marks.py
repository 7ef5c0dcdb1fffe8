"""Signs of quoted mails and boxes are not read; lists, rows of tables and measures are read as they were written."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.text import normalize
from sklearn_deid.text.line_marks import line_marks, without_line_marks
from sklearn_deid.text.normalized_text import edited


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Wrote:\n> Seen by Otis\n> Alder on March\n> 14, 2021.", "Wrote:\nSeen by Otis\nAlder on March\n14, 2021."),
        ("> Ask Ann\n>> Seen by Otis\n> > Alder.\n> Sure", "> Ask Ann\nSeen by Otis\nAlder.\n> Sure"),
        (">\r\n> call 555-\r\n> 0142\r\n", "\r\ncall 555-0142\r\n"),
        ("&gt; Otis\r\r\n&gt; Alder", "Otis\r\r\nAlder"),
        ("|Otis\r|Alder", "Otis\rAlder"),
        ("+---------+\n| Otis    |\n|         |\n| Al-     |\n| der,    |\n+--+", "+---------+\nOtis\n\nAlder,\n+--+"),
        ("\u2551 Otis \u2551\n\u2551 Alder \u2551", "Otis\nAlder"),
        ("*********\n* Seen  *\n* by    *\n* Otis  *\n* Alder *\n", "*********\nSeen\nby\nOtis\nAlder\n"),
        ("> Hi, no\n>\n> Otis\n> and\n> Alder came", "Hi, no\n\nOtis\nand\nAlder came"),
        ('"Hi, no",\n"",\n"Otis",\n"and",\n"Alder came"', "Hi, no\n\nOtis\nand\nAlder came"),
        ('  "Seen",\n  "by",\n  "Otis",\n  "Alder"', "Seen\nby\nOtis\nAlder"),
    ],
)  # fmt: skip
def test_signs_of_quotations_and_boxes_are_not_read(written, read):
    """A name, a date or a number that went on in the next line had the sign in its middle, and was missed."""
    reading = normalize(written)
    assert reading.text == read
    for part in ("Otis", "14, 2021"):
        if part in read:
            at = read.index(part)
            assert written[slice(*reading.original(at, at + len(part)))] == part


@pytest.mark.parametrize(
    "text",
    [
        "BP\n> 90 mmHg\npain",
        "> 90 mmHg\n> 60 bpm\n>= 5",
        ">90\n>.5",
        "> no nuts, read labels\n> walnut test\n> mite covers\n> dog may stay",
        '"Any pain in the cold?"\n"Yes."\n"Where is it?"\n"In my hands."',
        '"Seen,\n"by,\n"Otis,\n"Alder,',
        '| "a",\n"b"',
        "* pain\n* cough\n* fever\n* edema",
        "# HTN\n# DM 2\n#CHF\n# 2",
        "- pain\n- cough",
        "| Name | Born |\n|------|------|\n| Roe  | 1950 |\n|      | x    |",
        "Name | Born |\nRoe | 1950 |",
        "OBX|1|TX|a|\nOBX|2|TX|b|",
        '"Roe","Ann",1950\n"Alder","Otis",1960\n"Elm","Jo",1961\n"Oak","Al",1962',
        "*Plan*\n*Diet*\n*Home*",
        "**Plan:** home\n**Diet:** low salt\n**Pain:** none\n**Next:** May",
        "***\n\n***\n\n***\n\n***",
        "PID|1\n|x|y|\n|a|b|",
        "[x] pain\n[ ] cough",
        "$ ls\n$ cd",
        "<br\n>a\nb",
        "~ 5 mg\n~ 6 mg\n~ 7 mg\n~ 8 mg",
        "&amp; a\n& b",
        "\n>\n",
        "|",
    ],
)
def test_lists_tables_and_measures_keep_their_signs(text):
    assert line_marks(text) == []


@settings(max_examples=50)
@given(st.text(alphabet='a1>|*" \n\r\t&gt;,\u2502', max_size=60))
def test_only_signs_and_blanks_are_removed(text):
    edits = line_marks(text)
    borders = [place for edit in edits for place in (edit.start, edit.end)]
    assert borders == sorted(borders)
    assert all(edit.start < edit.end <= len(text) and edit.replacement == "" for edit in edits)
    assert all(set(text[edit.start : edit.end]) <= set('>|*" \t&gt;,\u2502') for edit in edits)
    letters = str.maketrans("", "", '>|*" \t&gt;,\u2502')
    assert edited(text, edits).translate(letters) == text.translate(letters)


@pytest.mark.parametrize("line", ["> ", "|", "| a |", "*", "* a *", "&gt;", " ", '"', "> > ", "a"])
def test_time_is_linear(line):
    def seconds(n):
        start = time.process_time()
        line_marks((line + "\n") * n)
        line_marks(line * n)
        without_line_marks((line + "\n") * n)
        return time.process_time() - start

    assert min(seconds(4000) for _ in range(3)) < 20 * min(seconds(500) for _ in range(3)) + 0.01


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Otis\n> > Alder", "Otis\nAlder"),
        ("Otis     |\r\n| Alder", "Otis\r\nAlder"),
        ("Otis *\n* Alder", "Otis\nAlder"),
        ("March\n&gt; 14", "March\n14"),
        ("3 Elm\n#5", "3 Elm\n#5"),
        ("Otis\n Alder", "Otis\n Alder"),
    ],
)
def test_a_span_is_read_without_the_signs_between_its_lines(written, read):
    assert without_line_marks(written) == read
