"""Letters with a sign, a tab or a line end after each of them are read as words; rows of answers and scores stay."""

import random
import time

import pytest

from sklearn_deid.text import normalize
from sklearn_deid.text.normalized_text import edited
from sklearn_deid.text.separated_letters import is_in_cells, letters_in_cells, letters_in_lines

NOTE = "Seen by Otis Alder on 14 May, at 3 pm, with cough. BP 90."


@pytest.mark.parametrize("sign", [" | ", "|", "\t", ",", ";", ":", " \u2502 ", "~", "*", "\u00b7", "\n", "\r\n"])
def test_a_note_with_a_sign_after_each_character_is_read_as_words(sign):
    """starter-en found no letter of PHI in such notes, and gave no warning."""
    written = sign.join(NOTE)
    reading = normalize(written)
    assert reading.text == NOTE
    at = NOTE.index("Otis Alder")
    assert written[slice(*reading.original(at, at + 10))] == sign.join("Otis Alder")


def test_an_empty_cell_is_a_space():
    cells = [c if c != " " else "" for c in NOTE]
    assert normalize("|".join(cells)).text == NOTE
    assert normalize("\n".join(cells) + "\n").text == NOTE + "\n"


def test_lines_of_a_note_in_cells_stay():
    assert normalize("\n".join("|".join(line) for line in (NOTE, "No.", "14"))).text == f"{NOTE}\nNo.\n1|4"
    assert normalize("\n".join(f"{NOTE}\n{NOTE}")).text == f"{NOTE}\n{NOTE}"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Name: | O | T | I | S |   | A | L | M |", "Name: | OTIS ALM |"),
        ("Name:\tO\tt\ti\ts\nSeen", "Name:\tOtis\nSeen"),
        ("Date of birth: |0|3|1|4|1|9|5|0|", "Date of birth: |03141950|"),
        ("by A|l|d|e|r | now", "by Alder | now"),
    ],
)
def test_cells_of_a_form_are_read_as_words(written, read):
    assert normalize(written).text == read


@pytest.mark.parametrize(
    "text",
    [
        "| Y | N | Y | U | N |",
        "A | B | C | D | E",
        "|0|1|1|0|0|1|0|1|1|0|",
        "8,9,9,10,7,8,9,9,8,7,6",
        "A,D,E,K",
        "a, b, c, d, e",
        "PV1|1|I||||||||A|||||||N",
        "|||||||||||",
        "M\tF\tM\tF\tF\tM",
        "pain 5 | 3 | 2 | 1",
        "A.B.C. Roe",
        "\n".join("YNYNNNYYNYNYNNYNYNYNNYNYNYYNYNYYNYNYNYN"),
        "\n".join("HHLLANHHLLANHHLLANHHLLANHHLLANHHLLANHHLLAN"),
        "\n".join("0123456789" * 6),
        "+\n-\n+\n-\n+\n-\n+\n-\n+",
    ],
)
def test_answers_scores_options_and_messages_stay(text):
    assert letters_in_cells(text) == letters_in_lines(text) == []


def test_only_signs_and_blanks_are_removed():
    chance = random.Random(0)
    for _ in range(300):
        check("".join(chance.choices("abeR1|, \n\t", k=80)))


def check(text):
    for rule in (letters_in_cells, letters_in_lines):
        edits = rule(text)
        borders = [place for edit in edits for place in (edit.start, edit.end)]
        assert borders == sorted(borders)
        assert "".join(filter(str.isalnum, edited(text, edits))) == "".join(filter(str.isalnum, text))


@pytest.mark.parametrize("unit", ["a|", "|", "a\n", "\n", "a | ", "a,,", "a  |", "1\t", "a || ", "a ", "a  ", "a"])
def test_time_is_linear(unit):
    def seconds(n):
        start = time.process_time()
        letters_in_cells(unit * n)
        letters_in_lines(unit * n)
        is_in_cells(unit * n)
        return time.process_time() - start

    assert min(seconds(2000) for _ in range(3)) < 20 * min(seconds(250) for _ in range(3)) + 0.01


def test_abbreviations_initials_and_numbers_are_not_in_cells():
    assert not any(map(is_in_cells, ("U.C.S.F.", "J.-M. L. Roe", "1/2/3", "Ann", "A-B-C-12", "5,5,5", "A B C D")))
    assert not any(map(is_in_cells, ("5 5 5 0 1 4 2", "J R R Roe", "St. A B C D", "Roe A B C D")))
    assert all(map(is_in_cells, ("A|n|n", "A\tn\tn", "A\nn\nn", "A,l,d,e,r", "A l d e r", "E l m\u00a0 \u00a0W a y 5")))
