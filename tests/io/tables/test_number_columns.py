"""Lines of a text with line breaks and without quotes are no rows of the table, and are not copied."""

import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io.tables import Columns, delimited, open_table
from sklearn_deid.io.tables.number_columns import NumberColumns

ROWS = [f"{n},fine {n}" for n in range(40)]


def written(tmp_path, lines, columns=("text",)):
    """Lines of the output, with texts in capitals, and the places and reasons of rows that are left out."""
    path = tmp_path / "notes.csv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    chunks = list(open_table(path, path, Columns(columns)).chunks())
    content = b"".join(chunk.render([cell.text.upper() for cell in chunk.cells]) for chunk in chunks)
    return content.decode().splitlines(), [problem for chunk in chunks for problem in chunk.problems]


@pytest.mark.parametrize(
    "rest",
    [
        "Seen by Zyxwvutski, MD",
        "Zyxwvutski, Ann",
        "DOB 03/04/1950, age 70",
        "5 mg Zyxwvutski, daily",
        "O'Zyxwvutski,MD",
    ],
)
@pytest.mark.parametrize("at", [1, 20, 40])
def test_a_line_of_a_text_is_no_row(tmp_path, rest, at):
    """Its first part was copied as the id, at exit code 0."""
    lines, problems = written(tmp_path, ["id,text", *ROWS[:at], rest, *ROWS[at:]])
    assert [(place, "rest of a text" in why) for place, why in problems] == [(f"row {at + 1}", True)]
    assert lines == ["id,text", *map(str.upper, ROWS)]


def test_the_rows_of_earlier_chunks_count(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "CHUNK_ROWS", 10)
    lines, problems = written(tmp_path, ["id,text", *ROWS, "Zyxwvutski, Ann", "41,fine"])
    assert [place for place, _ in problems] == ["row 41"] and lines[-1] == "41,FINE"


def test_rows_that_are_judged_otherwise_have_another_digest(tmp_path, monkeypatch):
    """A resumed run would else keep the output of a row that is left out now."""
    monkeypatch.setattr(delimited, "CHUNK_ROWS", 20)
    digests = []
    for before in (ROWS[:20], [f"ab {row}" for row in ROWS[:20]]):
        written(tmp_path, ["id,text", *before, "Zyxwvutski, Ann"])
        table = open_table(tmp_path / "notes.csv", tmp_path / "notes.csv", Columns(("text",)))
        digests.append([chunk.digest for chunk in table.chunks()][-1])
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "values",
    [
        [
            "2021-03-{:02}T05:06",
            "{:02}-MAR-2021",
            "{}f9c02aa",
            "NULL",
            "unknown",
            "",
            "{}.0",
            "(985) 555-{:04}",
            "A-{} B2",
        ],
        ["ICU", "B{}", "Medical ward", "{}", "Seen by Roe"],
    ],
)
def test_other_cells_stay(tmp_path, values):
    """Missing values, codes with digits, and words in a column that has words in more than a tenth of the rows."""
    rows = [f"{n},{values[n % len(values)].format(n)},fine" for n in range(60)]
    lines, problems = written(tmp_path, ["id,ward,text", *rows])
    assert not problems and lines[1:] == [row.replace("fine", "FINE") for row in rows]


def test_results_and_short_tables_stay(tmp_path):
    rows = [f"{n},{n % 7}.5,fine" for n in range(40)] + ["40,hemolyzed,fine"]
    assert not written(tmp_path, ["id,result,text", *rows])[1], "few results are distinct"
    assert not written(tmp_path, ["id,text", *ROWS[:19], "other,fine"])[1], "a column of 19 numbers shows little"


def test_a_table_of_many_short_rows_ends_the_run(tmp_path):
    """Each line of a note was a row, and those with as many commas as the header were copied."""
    notes = [line for row in ROWS for line in (row, "No pain.", "Seen by Zyxwvutski, MD")]
    with pytest.raises(CorpusFormatError, match="40 of 120 rows have fewer cells.*without quotes") as caught:
        written(tmp_path, ["id,text", *notes])
    assert "Zyxwvutski" not in str(caught.value)
    few = [f"{n},fine" for n in range(200)]
    assert len(written(tmp_path, ["id,text", *few, *["cut"] * 19])[1]) == 19
    assert len(written(tmp_path, ["id,text", *few, *["cut"] * 20])[1]) == 20


def test_a_column_is_judged_by_its_values():
    columns = NumberColumns([0, 2])
    columns.add([str(n), "text", "x" if n % 6 else str(n)] for n in range(100))
    assert columns.has_word(["Zyxwvutski", "", ""]) and not columns.has_word(["100", "Zyxwvutski", "Zyxwvutski"])
    columns.add(["word", "", ""] for _ in range(11))
    assert not columns.has_word(["Zyxwvutski", "", ""]), "a column with more words is no column of numbers"
    assert not NumberColumns([]).has_word(["Zyxwvutski"])
