"""Tables of delimited text that have run together: no text leaves in a column that is copied."""

import csv
import gzip
import io
import random

import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io.tables import Columns, delimited, open_table
from sklearn_deid.io.tables.joined_rows import holds_rows, names_columns

HEADER = ["id", "text", "ward"]
FIRST = "id,text,ward\n1,one,A\n"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(delimited, "CHUNK_ROWS", 2)


def chunks_of(tmp_path, content, name="notes.csv", **options):
    path = tmp_path / name
    path.write_bytes(content)
    return list(open_table(path, tmp_path / f"out-{name}", Columns(("text",)), **options).chunks())


def rendered(chunks):
    return b"".join(chunk.render([cell.text.upper() for cell in chunk.cells]) for chunk in chunks)


@pytest.mark.parametrize(
    "second",
    [
        "id,text,ward",
        "text,id,ward",
        "Ward,TEXT,Id",
        ' text , id,"ward"',
        "\ufeffid,text,ward",
        '\ufeff"text","id","ward"',
        "note,id,ward",
        "id;text;ward",
        "id\ttext\tward",
        "id,ward,plan,text",
    ],
)
def test_a_second_header_ends_the_run(tmp_path, second):
    """It passed as data, and texts behind it in another order of the columns were copied, at exit code 0."""
    content = f"{FIRST}{second}\nZyxwvutski came,3,B\n".encode()
    with pytest.raises(CorpusFormatError, match="Line 3 names the columns again") as raised:
        chunks_of(tmp_path, content)
    assert "Zyxwvutski" not in str(raised.value)
    parts = gzip.compress(content[: len(FIRST)]) + gzip.compress(content[len(FIRST) :])
    with pytest.raises(CorpusFormatError, match="Line 3 names the columns again"):
        chunks_of(tmp_path, parts, "notes.csv.gz")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_second_header_of_two_columns_or_one_ends_the_run(tmp_path, line_end):
    for lines in (["id,text", "1,a", "note,id"], ["text", "a", "text"], ["text,id", "a\nb,1", "id,text"]):
        with pytest.raises(CorpusFormatError, match="names the columns again"):
            chunks_of(tmp_path, line_end.join(lines).encode())


def test_rows_that_hold_a_name_of_a_column_are_data(tmp_path):
    content = b"id,text,ward\ntext,fine,A\n1,Ward,A\n2,text,B\n3,the id and ward,id text\n,,\n"
    expected = b"id,text,ward\ntext,FINE,A\n1,WARD,A\n2,TEXT,B\n3,THE ID AND WARD,id text\n,,\n"
    assert rendered(chunks_of(tmp_path, content)) == expected
    assert not names_columns(["1", "0", "a note"], ["0", "1", "text"]), "pandas numbers columns without names"
    assert not names_columns(["", "", "x"], ["", "text", "ward"]), "the index of pandas has no name"


def test_a_header_in_any_order_is_found_among_random_rows():
    rng = random.Random(0)
    for width in range(2, 9):
        header = [f"column {n}" for n in range(width)]
        row = [rng.choice(["", "column", "column 9", f"seen {n}"]) for n in range(width)]
        assert names_columns(rng.sample(header, width), header) and not names_columns(row, header)
        for n in range(width):
            half = [name if at <= n else "other" for at, name in enumerate(rng.sample(header, width))]
            assert names_columns(half, header) or 2 * (n + 1) < width or width == 2


@pytest.mark.parametrize("n_blank", [1, 2, 3])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_blank_lines_are_no_rows_and_are_counted(tmp_path, n_blank, line_end):
    """As for the csv module, and wherever they are; their number was not told."""
    lines = [f"{n},note {n},A" for n in range(4)]
    for at in range(6):
        content = [",".join(HEADER), *lines]
        content[at:at] = [""] * n_blank
        written = line_end.join([*content, ""])
        chunks = chunks_of(tmp_path, written.encode())
        assert sum(chunk.n_blank for chunk in chunks) == n_blank
        assert rendered(chunks).decode() == line_end.join([",".join(HEADER), *lines, ""]).replace("note", "NOTE")
        rows = [row for row in csv.reader(io.StringIO(written, newline="")) if row]
        assert [cell.text for chunk in chunks for cell in chunk.cells] == [row[1] for row in rows[1:]]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "swallowed", [b'3,x,"A\n4,Zyxwvutski,B\n5,y,C"', b'"3,x,A\n4,Zyxwvutski,B\n5",y,C', b'3,x,"A\n4,Zyxwvutski,B"']
)
def test_rows_in_a_cell_that_is_copied_are_left_out(tmp_path, swallowed, line_end):
    """Two quotes by mistake: the rows between them were one cell, which was copied."""
    content = (FIRST.encode() + swallowed + b"\n6,six,D\n").replace(b"\n", line_end)
    chunks = chunks_of(tmp_path, content)
    assert [(place, "quote may not be closed" in why) for chunk in chunks for place, why in chunk.problems] == [
        ("row 2", True)
    ]
    assert rendered(chunks) == b"id,text,ward\n1,ONE,A\n6,SIX,D\n".replace(b"\n", line_end)


def test_lines_of_other_cells_stay(tmp_path):
    content = 'id,text,ward\n1,"a,b\nc,d,e\nf","A, B\nC"\n"2\n3",g,"A\nB, C, D, E"\n'
    expected = content.replace("a,b\nc,d,e\nf", "A,B\nC,D,E\nF").replace("g", "G")
    assert rendered(chunks_of(tmp_path, content.encode())).decode() == expected
    assert not holds_rows("A\n", 2, 3, ",")


def test_a_quote_behind_a_byte_order_mark_is_refused(tmp_path):
    """The quote did not hold the cell together, and the rest of the note was in other columns."""
    with pytest.raises(CorpusFormatError, match="a byte order mark before its quote"):
        chunks_of(tmp_path, 'text,id,ward\na,1,A\n\ufeff"seen, by Zyxwvutski",2\n'.encode())
