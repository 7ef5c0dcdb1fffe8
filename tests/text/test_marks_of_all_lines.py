"""Signs and line numbers of all lines are not read; lists, rows of tables, rooms and options stay."""

import random
import time

import pytest

from sklearn_deid.text import normalize
from sklearn_deid.text.marks_of_all_lines import marks_of_all_lines
from sklearn_deid.text.normalized_text import edited

LINES = ("Seen by Otis", "Alder on May 3.", "", "Plan", "", "Call 555-", "0142 for pain.", "To come back soon.")
READ = "Seen by Otis\nAlder on May 3.\n\nPlan\n\nCall 555-0142 for pain.\nTo come back soon."
WRAPPED = (
    "She was seen in the clinic by Otis",
    "Alder and has slept well since the",
    "day on which she told us that Ann",
    "Roe was ill and that they had come",
    "from the same town and were driven",
    "home by a neighbour who had a car.",
)


@pytest.mark.parametrize("mark", ["# ", "#", "; ", "// ", "* ", "- ", "\u2022 ", "  : ", "~\t", "## ", "-- "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_sign_of_all_lines_is_not_read(mark, end):
    """The sign was in the middle of each name, date and number of two lines."""
    written = end.join((mark + line).rstrip(" ") for line in LINES)
    reading = normalize(written)
    assert reading.text == READ.replace("\n", end)
    at = reading.text.index("555-0142")
    assert written[slice(*reading.original(at, at + 8))] == f"555-{end}{mark}0142"


@pytest.mark.parametrize("form", ["{:03d} ", "{}\t", "{:>4}. ", "[{}] ", "L{:04d} ", "{}: ", "{}> ", "{:>3}) "])
@pytest.mark.parametrize(("first", "step"), [(0, 1), (1, 1), (12345, 1), (10, 10)])
def test_line_numbers_are_not_read(form, first, step):
    written = "\n".join((form.format(first + step * i) + line).rstrip() for i, line in enumerate(LINES))
    assert edited(written, marks_of_all_lines(written)) == "\n".join(LINES)


@pytest.mark.parametrize("mark", [" \\", "~", " |", ";", "$", " =", '\\n" +', " \u00b6"])
def test_the_sign_behind_all_lines_is_not_read(mark):
    written = "\n".join(line + mark for line in LINES[:-1]) + "\n" + LINES[-1]
    assert edited(written, marks_of_all_lines(written)) == "\n".join(LINES)


@pytest.mark.parametrize(
    ("before", "behind"), [("# ", ""), ("{} ", ""), ("", " \\"), ("* ", " *"), ("{}: ", ";"), ('"', '\\n" +')]
)
def test_wrapped_lines_need_no_empty_line(before, behind):
    lines = [f"{line} and so they went" for line in WRAPPED * 2]
    written = "\n".join(before.format(i + 7) + line + behind for i, line in enumerate(lines))
    assert edited(written, marks_of_all_lines(written)) == "\n".join(lines)


def test_the_lines_of_an_export_around_the_note_stay():
    written = "\n".join(("Note 12:", *(f"; {line}" for line in LINES), "printed May 3"))
    assert edited(written, marks_of_all_lines(written)) == "\n".join(("Note 12:", *LINES, "printed May 3"))


@pytest.mark.parametrize(
    "text",
    [
        "# HTN\n# DM 2\n# CHF\n# CKD\n# OSA\n# COPD",
        "- pain\n- cough\n- fever\n- edema\n- rash\n- itch\n- none",
        "1. aspirin\n2. metformin\n3. iron\n4. zinc\n5. insulin\n6. salt",
        "101 Roe\n102 Alder\n103\n104 Elm\n105 Oak\n106 Ash",
        "1 May\n2 May\n3 May\n4 May\n5 May\n6 May",
        "1.\n2.\n3.\n4.\n5.\n6.",
        "a | b |\n\n1 | 2 |\n3 | 4 |\n5 | 6 |\n7 | 8 |\n9 | 0 |",
        "pain;\ncough;\nfever;\nedema;\nrash;\nitch;",
        "No pain.\nNo cough.\n.\nNo fever.\nNo rash.\nNo itch.\nWell.",
        "\u2022\nAspirin\n\u2022\nIron\n\u2022\nZinc\n\u2022\nSalt",
        "> 90 mmHg\n>\n> 60 bpm\n> 5\n> 6\n> 7\n> 8",
        "(a)\n(b)\n()\n(c)\n(d)\n(e)\n(f)",
        "-----\n-----\n-----\n-----\n-----\n-----\n-----",
        '"a": "b",\n"c": "d",\n"version and the other words": 1,\n"e": 30,\n"f": true,\n"g": "h",\n"i": 5',
        "2019\n2020\n2021\n2022\n2023\n2024",
        "# a\n#\n# b",
    ],
)
def test_lists_tables_and_rooms_keep_their_marks(text):
    assert marks_of_all_lines(text) == []


def test_only_marks_are_removed():
    chance = random.Random(0)
    for _ in range(300):
        text = "".join(chance.choices(("# ", "#", "a", " ", "\n# ", "\n#", "\n", " \\\n", "\\"), k=40))
        edits = marks_of_all_lines(text)
        borders = [place for edit in edits for place in (edit.start, edit.end)]
        assert borders == sorted(borders)
        assert all(edit.start < edit.end and edit.replacement == "" for edit in edits)
        assert edited(text, edits).count("a") == text.count("a")


@pytest.mark.parametrize("line", ["# ", "# a", "#", " ", "a \\", "; a b c ;", "\\n" * 9, "1"])
def test_time_is_linear(line):
    def seconds(n):
        start = time.process_time()
        marks_of_all_lines((line + "\n") * n)
        marks_of_all_lines(line * n + "\n\n\n\n\n\n")
        return time.process_time() - start

    assert min(seconds(1000) for _ in range(3)) < 20 * min(seconds(125) for _ in range(3)) + 0.01
