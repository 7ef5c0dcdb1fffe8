"""A table comes back with other texts in the named cells, and with everything else as it was."""

import base64
import csv
import gzip
import io
import json
from contextlib import nullcontext
from datetime import datetime

import pytest

from sklearn_deid.exceptions import CorpusFormatError, DeidError
from sklearn_deid.io.tables import Cell, Columns, TableChunk, delimited, json_lines, open_table, parquet
from sklearn_deid.text.column_names import REPEATED, repeats

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = Columns(("text", "plan"), "id", "mrn")
ROWS = [
    {"id": f"v{n}", "mrn": n // 3, "text": f'Dr. "Alder", {n}\nfine, é', "plan": None if n % 2 else f"call {n}"}
    for n in range(23)
]
KINDS = ["csv", "tsv", "csv.gz", "tsv.zst", "jsonl", "ndjson.gz", "jsonl.zst", "parquet"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    for module in (delimited, json_lines, parquet):
        monkeypatch.setattr(module, "CHUNK_ROWS", 4)


def packed(name, data):
    if name.endswith(".gz"):
        return gzip.compress(data)
    return pa.compress(data, "zstd", asbytes=True) if name.endswith(".zst") else data


def unpacked(path):
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    return pa.input_stream(str(path), compression="zstd").read() if path.suffix == ".zst" else path.read_bytes()


def written(path, rows=ROWS):
    """Write a table with the kind of its name."""
    kind = path.name.split(".")[1]
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=10, compression="gzip")
    elif kind in ("csv", "tsv"):
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(rows[0]), delimiter="," if kind == "csv" else "\t")
        writer.writeheader()
        writer.writerows(rows)
        path.write_bytes(packed(path.name, out.getvalue().encode()))
    else:
        path.write_bytes(packed(path.name, "".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def rows_of(path):
    """Rows of a table. A cell of CSV is a string, and empty where it is null."""
    kind = path.name.split(".")[1]
    if kind == "parquet":
        return pq.read_table(path).to_pylist()
    data = unpacked(path)
    if kind in ("csv", "tsv"):
        text = io.StringIO(data.decode(), newline="")
        return list(csv.DictReader(text, delimiter="," if kind == "csv" else "\t", strict=True))
    return [json.loads(line) for line in data.splitlines()]


def change(table, output, function):
    """Write the table with ``function`` of each text; the chunks."""
    chunks, pieces = list(table.chunks()), []
    for number, chunk in enumerate(chunks):
        piece = output.with_name(f"piece-{number}")
        piece.write_bytes(chunk.render([function(cell.text) for cell in chunk.cells]))
        pieces.append((chunk.group, piece))
    with output.open("wb") as stream:
        table.assemble(pieces, stream)
    return chunks


@pytest.mark.parametrize("kind", KINDS)
def test_texts_change_and_nothing_else(tmp_path, kind):
    path, output = written(tmp_path / f"notes.{kind}"), tmp_path / f"out.{kind}"
    chunks = change(open_table(path, output, COLUMNS), output, str.upper)
    expected = [
        {name: value.upper() if name in COLUMNS.texts and value else value for name, value in row.items()}
        for row in rows_of(path)
    ]
    assert rows_of(output) == expected
    cells = [cell for chunk in chunks for cell in chunk.cells]
    assert len(cells) == 23 + 12
    assert (cells[1].place, cells[1].row_id, cells[1].patient_id) == ("row 1, id v0, column plan", "v0", "0")
    assert len({chunk.digest for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_nul_ends_no_table(tmp_path, kind):
    """The csv module of Python 3.10 refuses a NUL: the file could not be read, with a message about quotes."""
    path, output = tmp_path / f"notes.{kind}", tmp_path / f"out.{kind}"
    path.write_bytes(b"id\ttext\na\0\tb\0c\nd\te\n".replace(b"\t", b"," if kind == "csv" else b"\t"))
    chunks = change(open_table(path, output, Columns(("text",))), output, str)
    assert [cell.text for chunk in chunks for cell in chunk.cells] == ["b\0c", "e"]
    assert output.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_in_cells_end_no_row(tmp_path, kind, line_end):
    """A carriage return stood in a cell without quotes: readers took the rest of the note for a new row."""
    cells = ["a\rb", "a\nb", "a\r\nb", '"\r', ",\t", "a\r"]
    path, output = tmp_path / f"notes.{kind}", tmp_path / f"out.{kind}"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter="," if kind == "csv" else "\t", quoting=csv.QUOTE_ALL)
        writer.writerows([["id", "text"], *([cell, cell] for cell in cells)])
    path.write_bytes(path.read_bytes().replace(b'"\r\n"', b'"' + line_end.encode() + b'"'))
    expected = rows_of(path)
    assert [row["text"] for row in expected] == cells
    change(open_table(path, output, Columns(("text",))), output, str)
    assert rows_of(output) == expected
    pandas = pytest.importorskip("pandas")
    read = pandas.read_csv(output, sep="," if kind == "csv" else "\t")
    assert read["id"].tolist() == cells


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_withheld_texts_are_null(tmp_path, kind):
    path, output = written(tmp_path / f"notes.{kind}"), tmp_path / f"out.{kind}"
    change(open_table(path, output, COLUMNS), output, lambda text: None)
    assert {row["text"] for row in rows_of(output)} == ({""} if kind == "csv" else {None})
    assert [str(row["id"]) for row in rows_of(output)] == [row["id"] for row in ROWS]


def test_compression_of_each_column_of_parquet_stays(tmp_path):
    """All columns had the compression of the first one."""
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    table = pa.table({"n": [[1], [2]], "text": ["a", "b"], "id": [1, 2]})
    pq.write_table(table, path, compression={"text": "zstd", "id": "gzip"})
    change(open_table(path, output, Columns(("text",))), output, str)
    group = pq.ParquetFile(output).metadata.row_group(0)
    assert [group.column(n).compression for n in range(3)] == ["UNCOMPRESSED", "ZSTD", "GZIP"]


def test_row_groups_types_and_metadata_of_parquet_stay(tmp_path):
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    schema = pa.schema(
        [pa.field("text", pa.large_string(), nullable=False), pa.field("at", pa.timestamp("us", tz="UTC"))],
        metadata={"owner": "ward"},
    )
    table = pa.table({"text": ["a"] * 9, "at": pa.array(range(9), type=pa.timestamp("us", tz="UTC"))}, schema=schema)
    pq.write_table(table, path, row_group_size=5, compression="zstd")
    change(open_table(path, output, Columns(("text",))), output, lambda text: text)
    before, after = pq.ParquetFile(path), pq.ParquetFile(output)
    assert [after.metadata.row_group(n).num_rows for n in range(after.num_row_groups)] == [5, 4]
    assert after.metadata.row_group(0).column(0).compression == "ZSTD"
    assert after.schema_arrow.metadata[b"owner"] == b"ward"
    assert after.schema_arrow.field("at") == before.schema_arrow.field("at")
    assert after.read().to_pylist() == before.read().to_pylist()


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"write_page_index": True}, {"version": "1.0"}])
def test_no_byte_of_the_old_texts_is_in_a_parquet_file(tmp_path, options):
    """Attributes of a pandas frame and comments of a text column were copied, also in the copy of the schema."""
    pd = pytest.importorskip("pandas")
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    frame = pd.DataFrame(
        {"text": ["Zyxwvutsrqponm came", "a", None, "By Zyxwvutsrqponm"], "ward": list("xyxy")}, index=[3, 1, 2, 0]
    )
    frame.attrs = {"first": "Zyxwvutsrqponm"}
    table = pa.Table.from_pandas(frame)
    table = table.cast(table.schema.set(0, table.schema.field("text").with_metadata({"example": "Zyxwvutsrqponm"})))
    pq.write_table(table, path, compression="none", row_group_size=3, **options)
    change(open_table(path, output, Columns(("text",))), output, lambda text: text.replace("Zyxwvutsrqponm", "[X]"))
    assert path.read_bytes().count(b"Zyxwvutsrqponm") > 3
    data = output.read_bytes()
    assert b"Zyxwvutsrqponm" not in data and not any(
        base64.b64encode(b"_" * shift + b"Zyxwvutsrqponm")[4:16] in data for shift in range(3)
    )
    expected = frame.assign(text=frame["text"].str.replace("Zyxwvutsrqponm", "[X]"))
    pd.testing.assert_frame_equal(pd.read_parquet(output), expected)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_text_of_parquet_that_is_not_utf_8_is_withheld(tmp_path, kind):
    """One such cell ended the run. Views, as of programs with Arrow for Rust, were said to be no text."""
    if not hasattr(pa, kind):
        pytest.skip("this version of pyarrow has no views")
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    cells = [b"good", b"\xff", None, b"fine", b""]
    names = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
    texts = pa.array(cells, type=getattr(pa, names[kind])()).view(getattr(pa, kind)())
    pq.write_table(pa.table({"text": texts, "n": range(5)}), path)
    table = open_table(path, output, Columns(("text",)))
    found = [cell.text for chunk in table.chunks() for cell in chunk.cells]
    assert found == ["good", b"\xff", "fine"]
    change(table, output, lambda text: text.upper() if isinstance(text, str) else None)
    assert pq.read_table(output).to_pydict() == {"text": ["GOOD", None, None, "FINE", ""], "n": [0, 1, 2, 3, 4]}


def test_categories_of_parquet_stay_and_count_as_content(tmp_path):
    digests = []
    for names in (["a", "b", "c"], ["a", "b", "d"]):
        path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
        wards = pa.array([names[n % 3] for n in range(9)]).dictionary_encode()
        table = pa.table({"text": ["x"] * 9, "ward": wards, "parts": [[{"n": n}] for n in range(9)]})
        pq.write_table(table, path)
        chunks = change(open_table(path, output, Columns(("text",))), output, str.upper)
        digests.append([chunk.digest for chunk in chunks])
        after = pq.read_table(output)
        assert after.schema.field("ward").type == pq.read_table(path).schema.field("ward").type
        assert after.to_pylist() == [row | {"text": "X"} for row in table.to_pylist()]
    assert digests[0] != digests[1]


def test_other_bytes_of_json_lines_stay(tmp_path):
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    line = '{ "n" : 1.50e0, "text":"a\\u00e9", "big":123456789012345678901234567890,"x":{"kind":"\\u0041"} }\r\n'
    path.write_bytes(line.encode() + b"\n")
    change(open_table(path, output, Columns(("text",))), output, lambda text: text + "!")
    assert output.read_bytes().decode() == line.replace("a\\u00e9", "aé!") + "\n"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b'{"Note": "a"}\n', "note", "No line of the table has the key 'note'"),
        (b'{"text": "a"}\n{"x": {"plan": "b"}}\n', "plan", "No line of the table has the key 'plan'"),
    ],
)
def test_lines_without_a_text_column_are_an_error(tmp_path, content, name, message):
    """The lines would be copied with their texts."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    with pytest.raises(CorpusFormatError, match=message):
        list(open_table(path, tmp_path / "out.jsonl", Columns((name,))).chunks())


@pytest.mark.parametrize("first", [b'{"text": "a"}\n', b""])
def test_a_long_line_is_refused_before_all_of_it_is_in_memory(tmp_path, monkeypatch, first):
    """A list of all rows in a single line ended in a MemoryError, whose message asked for a report."""
    monkeypatch.setattr(json_lines, "_LONGEST_LINE", 100)
    path = tmp_path / "notes.jsonl"
    path.write_bytes(first + json.dumps([{"text": "a"}] * 10).encode())
    with pytest.raises(CorpusFormatError, match="larger than 64 MiB"):
        list(open_table(path, tmp_path / "out.jsonl", Columns(("text",))).chunks())


@pytest.mark.parametrize("columns", [Columns(("text",), "mrm"), Columns(("text",), None, "mrm")])
def test_lines_without_a_column_of_identifiers_are_an_error(tmp_path, columns):
    """Each text was a patient of its own: surrogates and shifts of dates differed within a patient."""
    path = written(tmp_path / "notes.jsonl")
    with pytest.raises(CorpusFormatError, match="No line of the table has the key 'mrm'"):
        list(open_table(path, tmp_path / "out.jsonl", columns).chunks())


@pytest.mark.parametrize("columns", [Columns(("text",), "mrn"), Columns(("text",), None, "mrn")])
def test_line_with_a_key_like_that_of_identifiers_is_left_out(tmp_path, columns):
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b'{"mrn": 1, "text": "a"}\n{"MRN": 1, "text": "b"}\n{"text": "c"}\n')
    chunks = change(open_table(path, output, columns), output, str)
    assert [(place, "differs" in reason) for chunk in chunks for place, reason in chunk.problems] == [("row 2", True)]
    assert output.read_bytes() == b'{"mrn": 1, "text": "a"}\n{"text": "c"}\n'


def test_keys_of_lines_are_taken_as_they_are(tmp_path):
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b'{"note*": "a"}\n{"Note* ": "b"}\n{"n": 1}\n{"note*": []}\n{"note*": ["c", {"note*": "d"}]}\n')
    chunks = change(open_table(path, output, Columns(("note*",))), output, lambda t: "X" if t == "a" else None)
    assert [(place, "differs" in reason) for chunk in chunks for place, reason in chunk.problems] == [("row 2", True)]
    assert output.read_bytes() == b'{"note*": "X"}\n{"n": 1}\n{"note*": null}\n{"note*": null}\n'


def test_broken_lines_and_rows_are_left_out_and_listed(tmp_path):
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "Zyxw\n{"text": "b", "text": "c"}\n[1]\n\xff\n{"text": 5}\n')
    (chunk, second) = change(open_table(path, output, Columns(("text",))), output, lambda t: t if t == "a" else None)
    problems = [*chunk.problems, *second.problems]
    assert [place for place, _ in problems] == ["row 2", "row 3", "row 4", "row 5"]
    assert "Zyxw" not in str(problems)
    assert output.read_bytes() == b'{"text": "a"}\n{"text": null}\n'
    path, output = tmp_path / "notes.csv", tmp_path / "out.csv"
    path.write_bytes(b"id,text\r\n1,a\r\n2,b,c\r\n\r\n3\r\n4,d\r\n")
    chunks = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert [place for chunk in chunks for place, _ in chunk.problems] == ["row 2", "row 3"]
    assert output.read_bytes() == b"id,text\r\n1,A\r\n4,D\r\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b'id,text\n1,"Zyxw\n2,b\n', "a quote is not closed"),
        ("a.csv", b'id,text\n1, "one\nZyxw, two"\n', "has a blank or a byte order mark before its quote"),
        ("a.tsv", b'id\ttext\n1\t "one\nZyxw\ttwo"\n', "has a blank or a byte order mark before its quote"),
        ("a.csv", b"id,text\n1,Zyxw \xff\n", "not in the encoding utf-8"),
        ("a.csv", b"id,note\n1,Zyxw\n", "no column of the name 'text'"),
        ("a.csv", b"text,text\n1,Zyxw\n", "more than one column"),
        ("a.csv", b"", "no column of the name 'text'"),
        ("a.csv.gz", gzip.compress(b"id,text\n1,Zyxw\n" * 99, mtime=0)[:-9], "damaged or ends too early"),
        ("a.csv.gz", b"id,text\n1,Zyxw\n", "damaged or ends too early"),
        ("a.jsonl.gz", b"", "damaged or ends too early"),
        ("a.csv.zst", b"", "damaged or ends too early"),
        ("a.jsonl.zst", b"id,text\n1,Zyxw\n", "damaged or ends too early"),
        ("a.parquet", b"id,text\n1,Zyxw\n", "no parquet file"),
        ("a.xlsx", b"Zyxw", "must end in .csv"),
        ("a.parquet.gz", b"Zyxw", "must end in .csv"),
    ],
)
def test_damaged_tables_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DeidError, match=message) as caught:
        list(open_table(path, path.with_name(f"out-{name}"), Columns(("text",))).chunks())
    assert "Zyxw" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_cell_that_a_carriage_return_without_quotes_cuts_is_left_out(tmp_path, end):
    """Python 3.11 and pandas write it so. Its parts were rows of their own."""
    path, output = tmp_path / "a.csv", tmp_path / "out.csv"
    lines = [b"text", b"one\rtwo\rthree", b'"four\rfive"', b'"six\r\nseven"', b"eight"]
    path.write_bytes(b"".join(line + end for line in lines))
    chunks = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert [(place, "carriage return" in why) for chunk in chunks for place, why in chunk.problems] == [
        ("row 1", True),
        ("row 2", True),
        ("row 3", True),
    ]
    assert [row["text"] for row in rows_of(output)] == ["FOUR\rFIVE", "SIX\r\nSEVEN", "EIGHT"]
    path.write_bytes(b"text\rone\r\rtwo")
    change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert [row["text"] for row in rows_of(output)] == ["ONE", "TWO"]


def test_closed_quotes_behind_a_blank_are_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1, "one"\n2," ""two"" and\nmore"\n3, 5" of 6"\n')
    cells = [cell.text for chunk in open_table(path, path, Columns(("text",))).chunks() for cell in chunk.cells]
    assert cells == [' "one"', ' "two" and\nmore', ' 5" of 6"']


def test_columns_of_other_types_are_refused(tmp_path):
    path = written(tmp_path / "notes.parquet")
    with pytest.raises(CorpusFormatError, match="'mrn' holds no text, but int64"):
        open_table(path, tmp_path / "out.parquet", Columns(("mrn",)))
    with pytest.raises(DeidError, match="same kind as the input: parquet"):
        open_table(path, tmp_path / "out.csv", COLUMNS)


@pytest.mark.parametrize("fhir", [None, {"Observation": ["note.text"]}])
def test_a_byte_order_mark_in_front_of_json_lines_stays(tmp_path, fhir):
    """The line behind it was left out, as the mark is no JSON."""
    line = (
        '{"text": "a", "n": [ 1.50 ]}\n' if fhir is None else '{"resourceType":"Observation", "note":[{"text":"a"}]}\n'
    )
    path, output = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    path.write_text(f"\ufeff{line}{line}\ufeff{line}", encoding="utf-8")
    (chunk,) = change(open_table(path, output, Columns(("text",)), fhir=fhir), output, str.upper)
    assert output.read_text(encoding="utf-8") == path.read_text(encoding="utf-8").replace('"a"', '"A"')
    assert list(chunk.problems) == [] and len(chunk.cells) == 3


@pytest.mark.parametrize("name", ["Text", "text ", "\ufefftext", "t\u0435xt", "te xt"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_column_that_differs_in_case_or_blanks_is_refused(tmp_path, kind, name):
    """Its texts were copied: one of the two columns is often a later version of the other."""
    path, output = written(tmp_path / f"notes.{kind}", [{"text": "a", name: "Zyxwvutski"}]), tmp_path / f"out.{kind}"
    with pytest.raises(CorpusFormatError, match="differs from 'text' in case or blanks only") as raised:
        list(open_table(path, output, Columns(("text",))).chunks())
    assert "Zyxwvutski" not in str(raised.value)
    change(open_table(path, output, Columns(("text", name))), output, lambda text: "-")
    assert [list(row.values()) for row in rows_of(output)] == [["-", "-"]]


def test_line_with_a_second_key_like_the_text_is_left_out(tmp_path):
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    path.write_text(json.dumps({"text": "a", "Text": "Zyxwvutski"}) + '\n{"text": "b"}\n')
    (chunk,) = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert ([place for place, _ in chunk.problems], output.read_text()) == (["row 1"], '{"text": "B"}\n')


@pytest.mark.parametrize(
    "value", [["seen by Zyxwvutski"], {"note": "seen by Zyxwvutski"}, [{"n": [1, "by Zyxwvutski"]}]]
)
def test_line_without_a_text_but_with_texts_in_a_list_is_left_out(tmp_path, value):
    """A misspelt key was found for strings only."""
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    path.write_text('{"text": "b", "codes": ["a b"]}\n' + json.dumps({"txet": value}) + '\n{"codes": ["a b"]}\n')
    (chunk,) = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert [place for place, _ in chunk.problems] == ["row 2"]
    assert "Zyxwvutski" not in output.read_text() and '{"codes": ["a b"]}' in output.read_text()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_optional_columns_are_texts_where_they_are(tmp_path, kind):
    columns = Columns(("text",), optional=("title",))
    for rows in ([{"text": "a", "title": "b"}], [{"text": "a", "other": "b"}]):
        path, output = written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}"
        chunks = change(open_table(path, output, columns), output, str.upper)
        assert list(rows_of(output)[0].values()) == ["A", "B" if "title" in rows[0] else "b"]
        assert sum(chunk.n_without for chunk in chunks) == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_like_an_optional_column_is_refused(tmp_path, kind):
    """The titles of a table with "Note_Title" beside "note_text" were copied."""
    path = written(tmp_path / f"notes.{kind}", [{"text": "a", "Title": "b"}])
    with pytest.raises(CorpusFormatError, match="differs from 'title' in case"):
        list(open_table(path, tmp_path / f"out.{kind}", Columns(("text",), optional=("title",))).chunks())


LONG = "seen today on the ward by Zyxwvutski"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("copy", "is_refused"),
    [
        (LONG, True),
        (f" {LONG.upper()}\n", True),
        (json.dumps({"n": [{"note": LONG}]}), True),
        ("[" * 9999, False),
        ("[" * 700 + f'"{LONG}"' + "]" * 700, True),
        ("No pain", False),
        (f"{LONG}.", True),
        (f"Summary: {LONG[:30].upper()} ...", True),
        (json.dumps({"n": [{"note": LONG[5:31]}]}), True),
        (LONG[:23], False),
        ("Zyxwvutski of the ward", False),
    ],
)
def test_a_column_that_repeats_a_text_is_refused(tmp_path, kind, copy, is_refused):
    """A copy of the notes under another name was copied with its texts, at exit code 0."""
    rows = [{"text": "No pain", "raw": "b"}, {"text": copy if copy == "No pain" else LONG, "raw": copy}]
    path, output = written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}"
    table = open_table(path, output, Columns(("text",)))
    if kind == "jsonl":
        assert [reason for _, reason in change(table, output, str)[0].problems] == [
            REPEATED.format("text")
        ] * is_refused
        return
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'") if is_refused else nullcontext():
        change(table, output, str)
    change(open_table(path, output, Columns(("text", "raw"))), output, str)


def visit(row, n_words=12):
    """Text of a row; no two have a part in common that the search in one row would find."""
    return " ".join(f"{row}w{n}" for n in range(n_words - 1)) + " Zyxwvutski"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("at", "copy", "is_refused"),
    [
        (1, visit(0), True),
        (0, f" {visit(1).upper()}\n", True),
        (8, visit(0), True),
        (0, visit(8), True),
        (8, json.dumps([{"before": visit(3)}]), True),
        (1, visit(0, 11), False),
        (1, f"{visit(0)} now", False),
    ],
)
def test_a_column_that_repeats_a_text_of_another_row_is_refused(tmp_path, kind, at, copy, is_refused):
    """``note.shift()`` and ``LAG(note)`` were copied, at exit code 0; also over the chunks of a run."""
    rows = [{"text": visit(row), "raw": "b"} for row in range(9)]
    rows[0]["text"], rows[at]["raw"] = copy if copy == visit(0, 11) else visit(0), copy
    path, output = written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}"
    for columns in (Columns(("text",)), Columns(("text",), id="raw"), Columns(("text",), patient="raw")):
        table = open_table(path, output, columns)
        for _ in range(2 - is_refused):  # what an object has read before does not count
            expected = pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'")
            with expected if is_refused else nullcontext() as caught:
                change(table, output, str)
        assert not is_refused or "Zyxwvutski" not in str(caught.value)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_text_that_occurs_twice_in_the_columns_of_texts_is_no_copy(tmp_path, kind):
    rows = [{"text": visit(row % 3), "plan": visit(row % 5)} for row in range(9)]
    path, output = written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}"
    change(open_table(path, output, Columns(("text", "plan"))), output, str)
    assert rows_of(output) == rows
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'plan'"):
        change(open_table(path, output, Columns(("plan",))), output, str)


def test_lines_that_are_left_out_are_no_copies(tmp_path):
    """No copy of them is written."""
    rows = [{"text": visit(0), "raw": visit(0)}, {"text": visit(0)}, {"noet": visit(2)}, {"text": visit(2)}]
    path, output = written(tmp_path / "notes.jsonl", rows), tmp_path / "out.jsonl"
    chunk = change(open_table(path, output, Columns(("text",))), output, str)[0]
    assert [place for place, _ in chunk.problems] == ["row 1", "row 3"]
    assert rows_of(output) == [rows[1], rows[3]]


def test_a_copy_of_the_text_of_a_line_that_is_left_out_is_refused(tmp_path):
    """A line that was left out for a copy of its own text could leave in the next line, as the note before."""
    rows = [{"text": visit(0), "raw": visit(0)}, {"text": visit(1), "before": visit(0)}]
    path = written(tmp_path / "notes.jsonl", rows)
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'"):
        change(open_table(path, tmp_path / "out.jsonl", Columns(("text",))), tmp_path / "out.jsonl", str)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "note",
    ["".join(map(chr, range(0x738B, 0x73A3))), "".join(map(chr, range(0x3041, 0x3059))), "\u0e19\u0e32" * 24],
    ids=["ideographs", "kana", "Thai"],
)
def test_words_of_scripts_without_spaces_count(tmp_path, kind, note):
    """Notes of Chinese, Japanese and Thai count as one word between blanks: copies of the note of another row were
    written, and lines of JSON whose key of the text is misspelt."""
    path, output = tmp_path / f"notes.{kind}", tmp_path / f"out.{kind}"
    written(path, [{"text": note, "before": "-"}, {"text": "a", "before": note}])
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'"):
        change(open_table(path, output, Columns(("text",))), output, str)
    assert repeats(note[:20], [note[:20]]) and repeats(note * 2, [list(note * 2)]) and not repeats(note[:8], [note[:8]])
    if kind == "jsonl":
        written(path, [{"text": "a", "ward": note[:2]}, {"ward": note[:2]}, {"txet": note[:8]}])
        (chunk,) = change(open_table(path, output, Columns(("text",))), output, str)
        assert [place for place, _ in chunk.problems] == ["row 3"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_header_that_holds_a_text_is_refused(tmp_path, kind):
    """A table of indicators has a column for each text. Its header was copied, at exit code 0."""
    for name, is_refused in ((f"text_{LONG}", True), (LONG[:30], False)):
        path, output = written(tmp_path / f"notes.{kind}", [{"text": LONG, name: "1"}]), tmp_path / f"out.{kind}"
        table = open_table(path, output, Columns(("text",)))
        with pytest.raises(CorpusFormatError, match="name of a column") if is_refused else nullcontext():
            change(table, output, str)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_an_id_that_repeats_a_part_of_a_text_is_refused(tmp_path, kind):
    """It was copied, and shown in messages."""
    rows = [{"text": "No pain", "id": "b"}, {"text": LONG, "id": LONG[:30]}]
    path, output = written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}"
    for columns in (Columns(("text",), id="id"), Columns(("text",), patient="id")):
        table = open_table(path, output, columns)
        if kind == "jsonl":
            assert [reason for _, reason in change(table, output, str)[0].problems] == [REPEATED.format("text")]
        else:
            with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'"):
                change(table, output, str)


@pytest.mark.parametrize("inner", [[LONG], {"n": 1, "note": LONG}, [{"lines": [None, LONG]}]])
def test_a_text_repeated_inside_of_another_value_is_refused(tmp_path, inner):
    """Only a string under another name was compared."""
    for kind in ("jsonl", "parquet"):
        other = [{"lines": ["b"]}] if inner == [{"lines": [None, LONG]}] else type(inner)()
        path = written(tmp_path / f"notes.{kind}", [{"text": "a", "raw": other}, {"text": LONG, "raw": inner}])
        table, output = open_table(path, tmp_path / f"out.{kind}", Columns(("text",))), tmp_path / f"out.{kind}"
        if kind == "jsonl":
            assert [place for place, _ in change(table, output, str)[0].problems] == ["row 2"]
        else:
            with pytest.raises(CorpusFormatError, match="repeats a text"):
                change(table, output, str)


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("a b c d e", "a b c d  e"),
        ("a b c d e", '["a\\tb\\nc\\td\\te"]'),
        ("s" * 40, "\u00df" * 20),
        ("a b c d e", b"a b c d e"),
    ],
)
def test_short_values_that_repeat_a_text(text, copy):
    """A value of few characters is searched if it can hold a text of five words, or more characters in lower case."""
    assert repeats(text, [copy]) and not repeats(text, ["a b c d", "encounter_number", copy[:4]])


@pytest.mark.parametrize("sign", ["", "_", "-", "."])
def test_a_copy_without_blanks_is_refused(sign):
    """The page says that blanks are ignored, but a copy without them, such as the name of a file, was copied."""
    note = "Mr. Alder was seen on Monday by Dr. Birch-Linden for pain that began 2 days ago."
    copy = sign.join(note.split())
    assert all(repeats(note, [one]) for one in (copy, copy.upper(), f"notes/2019/{copy}.txt", {"file": copy}))
    assert repeats(note, [sign.join(note.split()[3:14])])
    # Signs alone are no text, and shorter parts are names and diagnoses in columns of their own.
    assert not repeats(note + "-" * 80, ["_" * 80]) and not repeats(note, ["alder_seen_for_pain_that_began_2_days_ago"])


def test_tokens_of_a_text_in_another_column_are_refused(tmp_path):
    """Each token is too short to be found by itself: corpora with a column of tokens beside the texts were copied."""
    for kind in ("jsonl", "parquet"):
        diagnoses = [" ".join(LONG.split()[:3]), *LONG.split()[3:]]
        rows = [{"text": LONG, "tokens": diagnoses}, {"text": LONG, "tokens": LONG.split()}]
        table = open_table(written(tmp_path / f"notes.{kind}", rows), tmp_path / f"out.{kind}", Columns(("text",)))
        if kind == "jsonl":
            assert change(table, tmp_path / "out.jsonl", str)[0].problems == [("row 2", REPEATED.format("text"))]
        else:
            with pytest.raises(CorpusFormatError, match="repeats a text"):
                change(table, tmp_path / "out.parquet", str)


def test_a_text_repeated_as_a_key_is_refused(tmp_path):
    """Keys inside of other values were compared, and not those of the line itself."""
    path = written(tmp_path / "notes.jsonl", [{"text": LONG, "n": 1}, {"text": LONG, LONG: 1}])
    table, output = open_table(path, tmp_path / "out.jsonl", Columns(("text",))), tmp_path / "out.jsonl"
    assert change(table, output, str)[0].problems == [("row 2", REPEATED.format("text"))]


def test_a_text_repeated_in_another_type_of_parquet_is_refused(tmp_path):
    """Only a column of strings was compared: categories and bytes were copied."""
    texts = pa.array(["a", LONG, None])
    # pyarrow 25 does not read the missing lists of a fixed length that it wrote.
    no_list = None if int(pa.__version__.split(".")[0]) > 25 else ["e", "f"]
    copies = [
        texts.dictionary_encode(),
        texts.cast(pa.binary()),
        pa.array([None, b"\xff", LONG.encode()]).take(pa.array([0, 2, 1])),
        pa.array([[], [("note", LONG)], None], pa.map_(pa.string(), pa.string())),
        pa.array([no_list, [LONG, "b"], ["c", "d"]], pa.list_(pa.string(), 2)),
    ]
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    for copy in copies:
        for values, is_refused in ((copy, True), (copy.take(pa.array([2, 0, 1])), False)):
            pq.write_table(pa.table({"text": texts, "raw": values}), path)
            with pytest.raises(CorpusFormatError, match="repeats a text") if is_refused else nullcontext():
                change(open_table(path, output, Columns(("text",))), output, str)
                assert pq.read_table(output).equals(pq.read_table(path))


@pytest.mark.parametrize("categories", [False, True])
def test_damaged_values_of_parquet_are_an_error_without_them(tmp_path, categories):
    """The reader's error left as an internal one."""
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    other = pa.array(["Zyxwvutski"] * 9 + ["b"])
    columns = {"text": ["a"] * 10, "other": other.dictionary_encode() if categories else other}
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=categories)
    content = path.read_bytes()
    place = content.index(b"Zyxwvutski") - 4  # the length of the first value
    path.write_bytes(content[:place] + b"\xff\xff\xff\x7f" + content[place + 4 :])
    with pytest.raises(CorpusFormatError, match="cannot read the values") as caught:
        change(open_table(path, output, Columns(("text",))), output, str)
    assert "Zyxw" not in str(caught.value) and str(path) in str(caught.value)


def test_a_name_of_a_text_inside_of_another_value_is_refused(tmp_path):
    """Texts under the name of the column, such as those of spans in an export of annotations, were copied."""
    rows = [{"text": "a", "spans": [{"start": 3}]}, {"text": "b", "spans": [{"Text": "Zyxwvutski"}]}]
    path, output = written(tmp_path / "notes.jsonl", rows), tmp_path / "out.jsonl"
    (chunk,) = change(open_table(path, output, Columns(("text",))), output, str)
    assert [(place, "holds a name like" in why) for place, why in chunk.problems] == [("row 2", True)]
    assert "Zyxwvutski" not in output.read_text() + str(chunk.problems)
    path = written(tmp_path / "notes.parquet", rows)
    with pytest.raises(CorpusFormatError, match="holds a name like 'text'"):
        open_table(path, tmp_path / "out.parquet", Columns(("text",)))
    for name in ("key", "value", "item", "element", "list"):
        maps = pa.array([[("a", "b")]], pa.map_(pa.string(), pa.string()))
        pq.write_table(pa.table({name: ["a"], "m": maps, "l": [["c"]]}), tmp_path / "plain.parquet")
        change(open_table(tmp_path / "plain.parquet", tmp_path / "out.parquet", Columns((name,))), output, str)


@pytest.mark.parametrize("depth", [700, 9999])
def test_deeply_nested_lines_end_no_run(tmp_path, depth):
    """A search through all levels of a line raised a RecursionError, and the other lines were not redacted."""
    path, output, deep = tmp_path / "notes.jsonl", tmp_path / "out.jsonl", "[" * depth + "]" * depth
    path.write_text(f'{{"text": "a"}}\n{{"x": {deep}}}\n{{"text": "b"}}\n')
    (chunk,) = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert [place for place, _ in chunk.problems] == ["row 2"] * (depth > 1000)
    assert output.read_text().startswith('{"text": "A"}\n') and output.read_text().endswith('{"text": "B"}\n')
    resource = '{"resourceType": "Observation", "valueString": "a"'
    path.write_text(f'{resource}}}\n{resource}, "component": {deep}}}\n{resource}}}\n')
    (chunk,) = change(open_table(path, output, fhir={"Observation": ["valueString"]}), output, str.upper)
    assert [place for place, _ in chunk.problems] == ["row 2"]
    assert output.read_text() == f"{resource}}}\n".replace('"a"', '"A"') * 2


@pytest.mark.parametrize("empty", [None, ""])
def test_line_with_an_empty_text_but_a_text_under_a_key_of_its_own_is_left_out(tmp_path, empty):
    """The key of the texts of a part of the lines was missed where exports write nulls."""
    path, output = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    lines = [{"text": "a", "ward": "A 1"}, {"text": empty, "ward": "B 2"}, {"text": empty, "note": "by Zyxwvutski"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (chunk,) = change(open_table(path, output, Columns(("text",))), output, str.upper)
    assert ([place for place, _ in chunk.problems], chunk.n_without) == (["row 3"], 0)
    assert "Zyxwvutski" not in output.read_text() and "B 2" in output.read_text()


def parquet_of(path, column):
    """File with texts and a second column of the same rows."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"text": pa.array([LONG, "fine"]), "other": column(pa)}), path)
    return path


COPIES = {
    "categories": lambda pa: pa.array([LONG, "fine"]).dictionary_encode(),
    "bytes": lambda pa: pa.array([LONG.encode(), b"\xff"]),
    "bytes of one length": lambda pa: pa.array(
        [LONG.encode() + b"\0" * 3, b"\xff" * (len(LONG) + 3)], pa.binary(len(LONG) + 3)
    ),
    "view": lambda pa: pa.array([LONG, "fine"], type=pa.string_view()),
    "categories of bytes": lambda pa: pa.array([LONG.encode(), b"fine"]).dictionary_encode(),
    "list": lambda pa: pa.array([["a", LONG], []]),
    "structure": lambda pa: pa.array([{"a": {"b": LONG}}, None]),
    "map": lambda pa: pa.array([[("a", LONG)], []], type=pa.map_(pa.string(), pa.string())),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_column_of_another_type_that_repeats_a_text_is_refused(tmp_path, kind):
    """Only columns of plain strings were compared: a copy as categories, as pandas writes them, was copied."""
    output = tmp_path / "out.parquet"
    path = parquet_of(tmp_path / "notes.parquet", COPIES[kind])
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'") as caught:
        change(open_table(path, output, Columns(("text",))), output, str)
    assert "Zyxwvutski" not in str(caught.value) and not output.exists()
    other = parquet_of(tmp_path / "other.parquet", lambda pa: pa.concat_arrays([COPIES[kind](pa).slice(1)] * 2))
    change(open_table(other, output, Columns(("text",))), output, str)


def test_categories_that_no_row_has_are_left_out(tmp_path):
    """A blanked column of categories still listed the names: pandas keeps all categories of a column."""
    pd = pytest.importorskip("pandas")
    kinds, path, output = ["low", "mid", "high", "Zyxwvutski"], tmp_path / "notes.parquet", tmp_path / "out.parquet"
    pain = pd.Categorical(["high", None, "low", "low", "mid"], categories=kinds, ordered=True)
    frame = pd.DataFrame({"text": ["a"] * 5, "pain": pain, "blank": pd.Categorical([None] * 5, categories=kinds)})
    frame.to_parquet(path, row_group_size=2)
    change(open_table(path, output, Columns(("text",))), output, str)
    assert b"Zyxwvutski" in path.read_bytes() and b"Zyxwvutski" not in output.read_bytes()
    found = pd.read_parquet(output)
    pd.testing.assert_series_equal(found["pain"], frame["pain"].cat.remove_unused_categories())
    assert found["blank"].isna().all() and list(found["blank"].cat.categories) == []


def test_categories_inside_of_other_types_that_no_row_has_are_left_out(tmp_path):
    """Only the categories of whole columns were searched: those in lists, structures and maps listed all names."""
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    kinds = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), pa.array(["low", "mid", "Zyxwvutski"]))
    columns = {
        "list": pa.ListArray.from_arrays(pa.array([0, 1, 1, 3], pa.int32()), kinds),
        "structure": pa.StructArray.from_arrays([kinds, pa.array([1, 2, 3])], ["kind", "n"]),
        "map": pa.MapArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), pa.array(["a", "b", "c"]), kinds),
        "deep": pa.StructArray.from_arrays([pa.FixedSizeListArray.from_arrays(kinds, 1)], ["kinds"]),
    }
    table = pa.table({"text": ["a"] * 3, **columns})
    pq.write_table(table, path, row_group_size=2, compression="none")
    change(open_table(path, output, Columns(("text",))), output, str)
    assert b"Zyxwvutski" in path.read_bytes() and b"Zyxwvutski" not in output.read_bytes()
    assert pq.read_table(output).to_pylist() == table.to_pylist()


def test_times_of_96_bits_stay(tmp_path):
    """In nanoseconds, the year 9999 of tables that have no end became 1816, at exit code 0."""
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    far = pa.array([datetime(9999, 12, 31), None, datetime(1, 1, 1, 3, 4, 5, 678901)] * 3, pa.timestamp("us"))
    fine = pa.array([1, None, -86_400_000_000_001] * 3, pa.timestamp("ns"))
    for times in ({"far": far}, {"fine": fine}, {"far": pa.array([[time] for time in far.to_pylist()])}):
        table = pa.table({"text": ["a"] * 9, **times})
        pq.write_table(table, path, use_deprecated_int96_timestamps=True, row_group_size=6)
        change(open_table(path, output, Columns(("text",))), output, str)
        assert pq.read_table(output) == table
    table = pa.table({"text": ["a"] * 9, "far": far, "fine": fine})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    with pytest.raises(CorpusFormatError, match="times of 96 bits"):
        open_table(path, output, Columns(("text",)))


def test_values_of_an_enumeration_that_no_row_has_are_left_out(tmp_path):
    """Polars lists them in the footer."""
    pl, pq = pytest.importorskip("polars"), pytest.importorskip("pyarrow.parquet")
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    pain = pl.Series(["low", None], dtype=pl.Enum(["low", "Zyxwvutski"]))
    pl.DataFrame({"text": ["a", "b"], "pain": pain}).write_parquet(path)
    change(open_table(path, output, Columns(("text",))), output, str)
    assert b"Zyxwvutski" in pq.read_schema(path).serialize().to_pybytes()
    assert b"Zyxwvutski" not in pq.read_schema(output).serialize().to_pybytes() + output.read_bytes()
    assert pl.read_parquet(output)["pain"].cast(pl.String).to_list() == ["low", None]


def test_metadata_inside_of_nested_columns_are_left_out(tmp_path):
    """Arrow keeps them in the footer, in base64, where a search for the name does not find them."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    inner = pa.field("v", pa.string(), metadata={"comment": "copied for Zyxwvutski", "unit": "mg"})
    kinds = (pa.struct([inner]), pa.list_(inner), pa.large_list(inner), pa.map_(pa.string(), inner), pa.list_(inner, 1))
    schema = pa.schema([("text", pa.string()), *((f"c{n}", pa.list_(kind)) for n, kind in enumerate(kinds))])
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table([["a"], *([[]] for _ in kinds)], schema=schema), path)
    change(open_table(path, output, Columns(("text",))), output, str)
    was, found = (pq.read_schema(one) for one in (path, output))
    assert b"Zyxwvutski" in was.serialize().to_pybytes() and b"Zyxwvutski" not in found.serialize().to_pybytes()
    assert found == was and found.field("c0").type.value_type.field("v").metadata == {b"unit": b"mg"}


def test_index_of_pandas_that_repeats_a_text_is_refused(tmp_path):
    """The index is a column of the file that nobody has named, and was copied with the texts."""
    pd = pytest.importorskip("pandas")
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    for index, is_refused in (([LONG, "b"], True), (["n 1", "n 2"], False)):
        pd.DataFrame({"text": [LONG, "fine"]}, index=index).to_parquet(path)
        with pytest.raises(CorpusFormatError, match="repeats a text") if is_refused else nullcontext():
            change(open_table(path, output, Columns(("text",))), output, str.upper)


def test_a_cell_shows_its_place_and_no_text():
    cell = Cell(3, "text", "seen by Zyxwvutski", "v-1", "p")
    chunk = TableChunk("", [cell], [], str)
    assert repr(cell) == "Cell(row 3, id v-1, column text)" and "Zyxwvutski" not in repr(chunk)


def test_quotes_behind_backslashes_are_refused(tmp_path):
    """The second line of a text was a row of its own, whose first cell was copied."""
    path, output = tmp_path / "notes.csv", tmp_path / "out.csv"
    path.write_text('id,text\n1,"height 5\'11\\"\nZyxwvutski came, weight 70"\n')
    with pytest.raises(CorpusFormatError, match="with doubled quotes"):
        list(open_table(path, output, Columns(("text",))).chunks())
    path.write_text('id,text\n1,"C:\\"\n2,"a ""quoted"" word"\n3,\\a\n')
    change(open_table(path, output, Columns(("text",))), output, str)
    assert rows_of(output) == rows_of(path)


def test_metadata_of_parquet_with_texts_are_left_out(tmp_path):
    """Metadata of files and of other columns were copied, and can quote the notes."""
    pd = pytest.importorskip("pandas")
    path, output = tmp_path / "notes.parquet", tmp_path / "out.parquet"
    frame = pd.DataFrame({"text": ["a", "b"], "ward": pd.Categorical(["x", "y"])})
    table = pa.Table.from_pandas(frame)
    described = json.loads(table.schema.metadata[b"pandas"])
    described["columns"][1]["metadata"] |= {"note": "Zyxwvutski"}
    described["creator"] |= {"by": "Zyxwvutski"}
    metadata = {"pandas": json.dumps(described), "owner": "ward", "comment": "by Zyxwvutski", "Seen Zyxwvutski": ""}
    metadata["spark"] = json.dumps({"fields": [{"name": "text", "comment": "seen by Zyxwvutski"}], "version": 3})
    ward = table.schema.field("ward").with_metadata({"unit": "x", "comment": "by Zyxwvutski"})
    table = table.cast(table.schema.set(1, ward)).replace_schema_metadata(metadata)
    pq.write_table(table, path)
    change(open_table(path, output, Columns(("text",))), output, str)
    schema = pq.read_schema(output)
    assert b"Zyxwvutski" not in output.read_bytes() + schema.serialize().to_pybytes()
    assert (set(schema.metadata), schema.field("ward").metadata) == ({b"pandas", b"owner"}, {b"unit": b"x"})
    pd.testing.assert_frame_equal(pd.read_parquet(output), frame)
