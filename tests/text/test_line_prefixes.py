"""A prefix of one form before all lines is left out of a further reading; lists and running text have none."""

import pytest

from sklearn_deid.text.line_prefixes import without_prefixes

LINES = ("Seen by Otis", "Alder on May 3.", "Plan", "Call 555-", "0142 for pain.", "To come back soon.", "Then home.")


def written(prefix, behind="", lines=LINES, end="\n"):
    return end.join(
        prefix.format(minute=40 + 3 * i, n=7 + i, month=("May", "June")[i % 2]) + line + behind
        for i, line in enumerate(lines)
    )


@pytest.mark.parametrize(
    "prefix",
    [
        "10:{minute} ",
        "[08:{minute}:12] ",
        "10:{minute} AM - ",
        "03/14/2019 10:{minute}\t",
        "{n}-{month}-2019 | ",
        "2019-03-14T10:{minute}:07Z INFO ",
        "OBX|{n}|TX|",
        "OBX|{n}|TX|11506-3^Progress note^LN||",
        "NTE|{n}||",
        "TEXT: ",
        '"88213","{n}","',
        "Roe, Ann #88213 l.{n} ",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_prefix_of_all_lines_is_left_out(prefix, end):
    """starter-en left twice as much PHI of notes with such lines, because names that go on had a prefix inside."""
    assert without_prefixes(written(prefix, end=end)).text == "\n".join(LINES)


@pytest.mark.parametrize("behind", ["|||||||F", '",""', "||"])
def test_fields_behind_the_text_are_left_out(behind):
    assert without_prefixes(written("OBX|{n}|TX|", behind)).text == "\n".join(LINES)


def test_the_first_and_the_last_line_may_have_no_prefix():
    text = "\n".join(("PID 12", written("10:{minute} "), "", "printed"))
    assert without_prefixes(text).text == "\n".join(("PID 12", *LINES, "", "printed"))


def test_empty_lines_stay():
    lines = (*LINES[:3], "", *LINES[3:])
    assert without_prefixes(written("10:{minute} ", lines=lines)).text == "\n".join(lines)
    text = written("10:{minute} ").replace("\n10:49", "\n\n10:49")
    assert without_prefixes(text).text == "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" * 20,
        written("{n}. "),
        written("- "),
        written(""),
        "08:00 120/80 98.6\n" * 9,
        "Name: Roe\nAge: 40\nSex: F\nWard: 3\nBed: 2\nPlan: home\nDiet: all",
        written("10:{minute} ", lines=LINES[:5]),
    ],
)
def test_lists_and_running_text_have_no_prefix(text):
    assert without_prefixes(text) is None
