"""Data frames come back as the same kind, with other texts and everything else as it was."""

from contextlib import nullcontext

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.exceptions import CorpusFormatError, DeidError, WithheldWarning
from sklearn_deid.integrations import annotate_frame, corpus_from_frame, redact_frame
from sklearn_deid.surrogates import SurrogateEngine

pytest.importorskip("narwhals")
MODEL = RuleTagger().fit([])
DATA = {"n": [3, 1, 2], "note": ["Mail roe@example.org", None, ""], "plan": ["é", "On 3/5/2019.", "Dr. A\x00"]}


def made(kind, data=DATA):
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(data)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").table(data)
    return pytest.importorskip("pandas").DataFrame(data, index=range(7, 7 + len(data["n"])))


def plain(frame):
    """Columns as lists, with None for missing values."""
    if hasattr(frame, "iloc"):
        data = frame.to_dict("list")
    else:
        data = frame.to_pydict() if hasattr(frame, "to_pydict") else frame.to_dict(as_series=False)
    return {name: [None if value != value else value for value in values] for name, values in data.items()}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_cells_are_redacted_and_failures_withheld(kind):
    frame = made(kind)
    with pytest.warns(WithheldWarning, match=r"row 2, id 2, column plan"):
        found = redact_frame(MODEL, frame, ["note", "plan"], id_column="n", on_error="withhold")
    expected = NoteDeidentifier(MODEL).redact([DATA["note"][0], DATA["plan"][1]])
    assert type(found) is type(frame)
    assert plain(found) == {"n": [3, 1, 2], "note": [expected[0], None, ""], "plan": ["é", expected[1], None]}
    assert plain(frame) == DATA, "the frame of the caller stays"
    if kind == "pandas":
        assert found.index.tolist() == [7, 8, 9]


def test_a_text_that_arrow_cannot_store_is_a_text_that_fails():
    """The error was that of the codec, which holds the whole text, also with ``on_error="withhold"``."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [4, 5], "note": pandas.Series(["Zyxwvutski \ud800", "Fine."], dtype=object)})
    with pytest.raises(DeidError, match="lone surrogate.*row 0, id 4, column note"):
        redact_frame(MODEL, frame, "note", id_column="n")
    with pytest.warns(WithheldWarning, match="row 0, column note"):
        found = redact_frame(MODEL, frame, "note", on_error="withhold")
    assert plain(found) == {"n": [4, 5], "note": [None, "Fine."]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_spans_are_a_frame(kind):
    found = annotate_frame(MODEL, made(kind), "note")
    assert type(found) is type(made(kind))
    assert {k: v for k, v in plain(found).items() if k != "confidence"} == {
        "row": [0],
        "column": ["note"],
        "start": [5],
        "end": [20],
        "label": ["EMAIL"],
    }
    empty = annotate_frame(MODEL, made(kind, {"n": [1], "note": ["Fine."]}), "note")
    assert plain(empty)["row"] == []


def test_texts_in_the_index_are_refused():
    """They stayed there, beside the redacted column."""
    frame = made("pandas")
    with pytest.raises(CorpusFormatError, match="index of the data frame holds the texts of 'note'"):
        redact_frame(MODEL, frame.set_index("note", drop=False), ["note"])
    for index in (frame["note"].rename(None), [frame["note"].rename("x"), frame["n"]]):
        with pytest.raises(CorpusFormatError, match="index of the data frame holds a text"):
            redact_frame(MODEL, frame.set_index(index), "note")
    assert redact_frame(MODEL, frame.set_index("n"), "note").index.tolist() == DATA["n"]


@pytest.mark.parametrize("name", ["Note ", "n\u043ete", "no\u200bte", "\uff4eote", "no te"])
def test_columns_that_look_like_a_named_one_are_refused(name):
    """Their texts were copied. Tables in files were refused for case and blanks only."""
    frame = made("pandas", {"n": [1], "note": ["a"], name: ["roe@example.org"]})
    with pytest.raises(CorpusFormatError, match="differs from 'note' in case or blanks"):
        redact_frame(MODEL, frame, "note")
    assert plain(redact_frame(MODEL, frame, ["note", name]))[name] == ["[EMAIL]"]
    with pytest.raises(CorpusFormatError, match="index of the data frame holds the texts of 'note'"):
        redact_frame(MODEL, frame.set_index(name), "note")


def test_metadata_of_pyarrow_with_texts_are_left_out():
    """They were copied, unlike those of a parquet file."""
    pa = pytest.importorskip("pyarrow")
    ward = pa.field("ward", pa.string(), metadata={"unit": "x", "comment": "by Zyxwvutski"})
    schema = pa.schema([pa.field("note", pa.string(), metadata={"a": "Zyxwvutski"}), ward])
    table = pa.table([["a"], ["b"]], schema=schema.with_metadata({"owner": "ward", "first": "seen by Zyxwvutski"}))
    found = redact_frame(MODEL, table, "note")
    assert b"Zyxwvutski" not in found.schema.serialize().to_pybytes()
    assert (found.schema.metadata, found.schema.field("ward").metadata) == ({b"owner": b"ward"}, {b"unit": b"x"})
    assert found.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_that_repeats_a_text_is_refused(kind):
    """A copy of the notes under another name stayed in the frame."""
    long = "seen today on the ward by Zyxwvutski"
    frame = made(kind, {"n": [1, 2], "note": [long, "No pain"], "raw": [long, "b"], "code": ["a", "No pain"]})
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'note'"):
        redact_frame(MODEL, frame, "note")
    redact_frame(MODEL, frame, ["note", "raw"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("wrapped", [lambda t: [t], lambda t: {"line": t}, str.encode, lambda t: [{"lines": [t]}]])
def test_a_text_that_is_repeated_in_another_form_is_refused(kind, wrapped):
    """Lists, structs and bytes stayed in the frame."""
    long = "seen today on the ward by Zyxwvutski"
    for copies, is_refused in (([long, "b"], True), (["b", long], False)):
        frame = made(kind, {"n": [1, 2], "note": [long, "No pain"], "raw": list(map(wrapped, copies))})
        with pytest.raises(CorpusFormatError, match="repeats a text") if is_refused else nullcontext():
            redact_frame(MODEL, frame, "note")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_name_of_a_text_inside_of_another_value_is_refused(kind):
    """Texts of spans in another column stayed in the frame."""
    for name, is_refused in (("Note", True), ("end", False)):
        frame = made(kind, {"n": [1, 2], "note": ["fine", "fine"], "spans": [[], [{"start": 0, name: 4}]]})
        with pytest.raises(CorpusFormatError, match="a name like 'note'") if is_refused else nullcontext():
            redact_frame(MODEL, frame, "note")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_name_that_holds_a_text_is_refused(kind):
    """Columns of indicators are named after the texts. Names of forms, which notes repeat, are no texts."""
    long = "Seen today on the ward by  Zyxwvutski"
    for name, is_refused in (("note_seen today on the ward by Zyxwvutski", True), ("Seen today on the ward", False)):
        frame = made(kind, {"n": [1, 2], "note": ["No pain", long], name: [0, 1]})
        with pytest.raises(CorpusFormatError, match="name of a column") if is_refused else nullcontext() as found:
            redact_frame(MODEL, frame, "note")
        assert found is None or "Zyxwvutski" not in str(found.value)


def test_a_name_of_an_index_or_of_a_level_that_holds_a_text_is_refused():
    long = "seen today on the ward by Zyxwvutski"
    frame = made("pandas", {"n": [1], "note": [long]})
    for named in (frame.rename_axis(long), frame.rename_axis(long, axis=1)):
        with pytest.raises(CorpusFormatError, match="or of an index"):
            redact_frame(MODEL, named, "note")
        table = pytest.importorskip("pyarrow").Table.from_pandas(named)
        with pytest.raises(CorpusFormatError, match="or of an index"):
            redact_frame(MODEL, table, "note")


@pytest.mark.parametrize("name", ["seen by\nZyxwvutski", "Zyxwvutski " * 12])
def test_a_note_that_was_read_as_a_header_is_refused(name):
    """The first note of a file without a header became the name of the column, and was copied and shown in errors."""
    frame = made("pandas", {"n": [1], name: ["No pain"]})
    for function in (redact_frame, annotate_frame):
        with pytest.raises(DeidError, match="file without a header") as found:
            function(MODEL, frame, frame.columns[1])
        assert "Zyxwvutski" not in str(found.value)


def test_an_index_or_a_patient_that_repeats_a_part_of_a_text_is_refused():
    long = "seen today on the ward by Zyxwvutski"
    frame = made("pandas", {"note": ["No pain", long], "raw": ["b", long[:30]], "n": [1, 2]})
    for index in ("raw", ["n", "raw"]):
        with pytest.raises(CorpusFormatError, match="index of the data frame holds a text"):
            redact_frame(MODEL, frame.set_index(index), "note")
    for label in (long.encode(), (1, long)):
        other = b"b" if isinstance(label, bytes) else (1, "b")
        for raw in ([other, label], [label, other]):  # also the text of another row
            with pytest.raises(CorpusFormatError, match="index of the data frame holds a text"):
                redact_frame(MODEL, frame.assign(raw=raw).set_index("raw"), "note")
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'note'"):
        redact_frame(MODEL, frame, "note", patient_column="raw")
    redact_frame(MODEL, frame[::-1].set_index("raw").set_index(frame.index).assign(n=["b", "c"]), "note")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_that_repeats_a_text_of_another_row_is_refused(kind):
    """``note.shift()`` stayed in the frame."""
    notes = [" ".join(f"{row}w{n}" for n in range(11)) + " Zyxwvutski" for row in range(3)]
    for function in (redact_frame, annotate_frame):
        for raw in ([None, *notes[:-1]], [*notes[1:], None], ["b", notes[0].upper().replace(" ", "\n"), None]):
            with pytest.raises(CorpusFormatError, match="repeats a text of the column 'note'") as caught:
                function(MODEL, made(kind, {"n": [1, 2, 3], "note": notes, "raw": raw}), "note")
            assert "Zyxwvutski" not in str(caught.value)
        same = made(kind, {"n": [1, 2, 3], "note": [notes[0]] * 3, "raw": ["b", notes[1], None]})
        function(MODEL, same, "note", id_column="n")
    if kind == "pandas":
        frame = made(kind, {"n": [1, 2, 3], "note": notes, "raw": ["b", notes[0].upper(), "c"]}).set_index("raw")
        with pytest.raises(CorpusFormatError, match="index of the data frame holds a text"):
            redact_frame(MODEL, frame, "note")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytes_of_a_driver_that_repeat_a_text_are_refused(kind):
    """Drivers of MySQL and PostgreSQL return such bytes, which stayed in the frame."""
    long = "seen today on the ward by Zyxwvutski"
    for copy, is_refused in ((long, True), ("b", False)):
        frame = made("pandas", {"n": [1], "note": [long], "raw": [kind(copy.encode())]})
        with pytest.raises(CorpusFormatError, match="repeats a text") if is_refused else nullcontext():
            redact_frame(MODEL, frame, "note")


def test_a_polars_enumeration_that_repeats_a_text_is_refused():
    pl = pytest.importorskip("polars")
    long = "seen today on the ward by Zyxwvutski"
    frame = pl.DataFrame({"note": [long], "raw": pl.Series([long], dtype=pl.Enum([long]))})
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'note'"):
        redact_frame(MODEL, frame, "note")


@pytest.mark.parametrize("make", [lambda pl: pl.LazyFrame({"note": ["a"]}), lambda pl: pl.Series(["a"]), lambda pl: []])
@pytest.mark.parametrize(
    "function", [redact_frame, annotate_frame, lambda _, frame, name: corpus_from_frame(frame, name)]
)
def test_other_types_are_refused(make, function):
    """The error named parameters of narwhals."""
    with pytest.raises(TypeError, match="must be a DataFrame of pandas or polars, or a Table of pyarrow. Got"):
        function(MODEL, make(pytest.importorskip("polars")), "note")


@pytest.mark.parametrize("columns", [[], ()])
def test_no_columns_are_refused(columns):
    """The frame came back as it was."""
    with pytest.raises(DeidError, match="must name a column of texts"):
        redact_frame(MODEL, made("pandas"), columns)


def test_errors_name_the_cell():
    with pytest.raises(DeidError, match="row 2, column plan") as caught:
        redact_frame(MODEL, made("pandas"), "plan")
    assert "Dr. A" not in str(caught.value)
    with pytest.raises(CorpusFormatError, match="holds no text, but int.*row 0, column n"):
        redact_frame(MODEL, made("polars"), "n")
    with pytest.raises(CorpusFormatError, match="no column of the name 'text'"):
        redact_frame(MODEL, made("pandas"), "text")


@pytest.mark.parametrize("key", ["id_column", "patient_column"])
def test_a_column_of_texts_names_no_row(key):
    with pytest.raises(CorpusFormatError, match="column 'note' holds texts and cannot name rows"):
        redact_frame(MODEL, made("pandas"), ["plan", "note"], **{key: "note"})


def test_surrogates_follow_the_patient(known_keys):
    frame = made("pandas", {"n": [1, 1, 2], "note": ["Mail roe@example.org"] * 3})
    notes = redact_frame(MODEL, frame, "note", patient_column="n", mode="surrogate")["note"].tolist()
    assert notes[0] == notes[1] != notes[2]


def test_missing_patients_are_not_one_patient():
    frame = made(
        "pandas", {"n": [float("nan"), float("nan"), 1.0], "note": [f"{n}: roe@example.org" for n in range(3)]}
    )
    notes = redact_frame(MODEL, frame, "note", patient_column="n", mode=SurrogateEngine(key=bytes(32), locale="en"))
    assert len({note.partition(" ")[2] for note in notes["note"]}) == 3


def test_columns_that_pandas_has_numbered_are_named_by_their_number():
    """The docs advise ``header=None`` for files without a header; a number was a TypeError of Python."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[7, "Mail roe@example.org"], [8, "Fine."]])
    assert redact_frame(MODEL, frame, 1).to_dict("list") == {0: [7, 8], 1: ["Mail [EMAIL]", "Fine."]}
    spans = annotate_frame(MODEL, frame, 1, id_column=0)
    corpus = corpus_from_frame(frame, 1, spans=spans, id_column=0)
    assert [(note.doc_id, len(note.spans)) for note in corpus] == [("7", 1), ("8", 0)]
    assert len(corpus_from_frame(frame.assign(**{"2": [[], []]}).set_axis([0, 1, 2], axis=1), 1, spans=2)) == 2
    with pytest.raises(CorpusFormatError, match="no column of the name 5"):
        redact_frame(MODEL, frame, [1, 5])
