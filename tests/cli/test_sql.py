"""``redact`` over a database: whole chunks, each once."""

import sqlite3
import sys
from hashlib import sha256

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.cli.sql_output import SqlOutput
from sklearn_deid.exceptions import DeidError
from sklearn_deid.io.tables import Columns, sql

pytest.importorskip("sqlalchemy")

NOTES = [None if n == 3 else "Zyxw\x00" if n == 7 else f"Visit {n}: mail roe{n}@example.org" for n in range(17)]
COLUMNS = "id TEXT, mrn INTEGER, note TEXT, at TEXT"


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


@pytest.fixture
def base(tmp_path, monkeypatch):
    """Database with the notes, in no order, and an empty table."""
    monkeypatch.setattr(sql, "CHUNK_ROWS", 4)
    rows = [(f"v{n:02}", n // 4, text, "12:30") for n, text in enumerate(NOTES)]
    execute(tmp_path, f"CREATE TABLE notes ({COLUMNS})", f"CREATE TABLE redacted ({COLUMNS})")
    with sqlite3.connect(tmp_path / "notes.db") as connection:
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", rows[::-1])
    connection.close()
    return tmp_path


def execute(folder, *statements):
    connection = sqlite3.connect(folder / "notes.db")
    with connection:
        rows = [connection.execute(statement).fetchall() for statement in statements]
    connection.close()
    return rows[-1]


@pytest.fixture
def redact(run, rules, base):
    def redact(*options, query="SELECT * FROM notes WHERE at = '12:30';"):
        url = f"sqlite:///{base / 'notes.db'}"
        arguments = ["--query", query, "--output-table", "redacted", "--text-column", "note", "--id-column", "id"]
        return run("redact", url, "--model", rules, "--output", url, "--quiet", *arguments, *options)

    return redact


EXPECTED = [
    (f"v{n:02}", n // 4, None if text is None or n == 7 else f"Visit {n}: mail [EMAIL]", "12:30")
    for n, text in enumerate(NOTES)
]


def test_rows_are_redacted_once_and_failures_are_null(redact, base):
    code, _, err = redact()
    assert (code, "15 texts redacted, 1 withheld." in err, "[row 8, id v07, column note]" in err) == (1, True, True)
    assert execute(base, "SELECT * FROM redacted ORDER BY id") == EXPECTED
    assert "Zyxw" not in err and "Zyxw" not in str(execute(base, "SELECT * FROM redacted_run"))
    code, _, err = redact("--resume")
    assert (code, "1 withheld, 15 were finished before" in err) == (1, True)
    assert execute(base, "SELECT * FROM redacted ORDER BY id") == EXPECTED


@pytest.mark.parametrize("place", ["before", "inside", "after"])
def test_interrupted_run_goes_on(redact, base, monkeypatch, place):
    write = SqlOutput.write
    for number in (0, 1, 3):
        calls = []

        def interrupt(self, *arguments, calls=calls, number=number):
            calls.append(1)
            if len(calls) <= number or place == "after":
                write(self, *arguments)
            if len(calls) > number:
                if place == "inside":
                    chunk_number, chunk, rows, withheld = arguments
                    # A record that cannot be written takes its rows back.
                    with pytest.raises(DeidError, match="The database reports: \\w+"):
                        write(self, -1, chunk, rows, withheld)
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(SqlOutput, "write", interrupt)
            assert redact("--resume")[0] in (130, 1)
    assert redact("--resume")[0] == 1
    assert execute(base, "SELECT * FROM redacted ORDER BY id") == EXPECTED


@pytest.fixture
def without_psycopg2(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)


@pytest.mark.usefixtures("without_psycopg2")
@pytest.mark.parametrize(
    ("statement", "options", "message"),
    [
        ("UPDATE notes SET id = NULL WHERE id = 'v05'", [], "must not be NULL"),
        ("UPDATE notes SET id = 'v04' WHERE id = 'v03'", [], "must not occur twice"),
        ("UPDATE notes SET id = 'v04' WHERE id = 'v05'", [], "must not occur twice"),
        ("INSERT INTO redacted VALUES ('x', 1, 'raw', '')", [], "is not empty"),
        ("INSERT INTO redacted VALUES ('x', 1, 'raw', '')", ["--resume"], "no record of an earlier run"),
        ("DROP TABLE redacted", [], "The database reports: NoSuchTableError"),
        ("DROP TABLE notes", [], "The database reports: OperationalError"),
        ("ALTER TABLE redacted DROP COLUMN at", [], "no column of the name 'at'"),
        ("SELECT 1", ["--overwrite"], "--overwrite is not for databases"),
        ("SELECT 1", ["--text-column", "nothing"], "no column of the name 'nothing'"),
        ("SELECT 1", ["--query", "SELECT id, note, mrn AS x, at AS x FROM notes"], "no column of the name 'x'"),
        ("SELECT 1", ["--output", "Zyxw://host"], "no URL of SQLAlchemy"),
        ("SELECT 1", ["--output", "postgresql://a:Zyxw@host:port/b"], "no URL of SQLAlchemy"),
        ("SELECT 1", ["--output", "postgresql+psycopg2://a:Zyxw@host/b"], "driver psycopg2 of the database is not"),
    ],
)
def test_what_cannot_be_right_is_refused(redact, base, statement, options, message):
    execute(base, statement)
    code, _, err = redact(*options)
    assert (code, message in err) == (2, True), err
    assert "Zyxw" not in err


@pytest.mark.parametrize("option", ["NOTES", "--output"])
def test_a_misspelt_sqlite_file_is_refused_and_not_made(run, rules, base, option):
    """SQLite makes an empty database of each name that it opens."""
    given = {"NOTES": f"sqlite:///{base / 'notes.db'}", "--output": f"sqlite:///{base / 'notes.db'}"}
    query = ["--query", "SELECT * FROM notes", "--output-table", "redacted", "--text-column", "note"]
    before = sorted(base.iterdir())
    for url in (f"sqlite:///{base / 'nots.db'}", f"sqlite:///file:{base / 'nots.db'}?uri=true"):
        notes, output = (given | {option: url}).values()
        code, _, err = run("redact", notes, "--model", rules, "--output", output, *query, "--id-column", "id")
        assert (code, "There is no such SQLite database" in err, "nots.db" in err) == (2, True, True), err
        assert sorted(base.iterdir()) == before


def test_sqlite_databases_in_memory_need_no_file():
    for url in ("sqlite://", "sqlite:///:memory:", "sqlite:///file:notes?mode=memory&uri=true"):
        sql.connect(url).dispose()


def test_sqlite_values_are_copied_whatever_the_type_of_their_column(redact, base):
    """A column of dates ended the run, and JSON was encoded a second time, so that objects became strings."""
    kinds = "day DATE, seen DATETIME, at TIME, codes JSON, done BOOLEAN, cost NUMERIC(10, 2), scan BLOB"
    execute(base, "DROP TABLE notes", "DROP TABLE redacted", f"CREATE TABLE notes (id INTEGER, note TEXT, {kinds})")
    execute(base, f"CREATE TABLE redacted (id INTEGER, note TEXT, {kinds})")
    values = "'2019-03-05', 1551780000, '10:11', '{\"a\":  [1.10]}', 'yes', 12.5, x'e9'"
    execute(base, f"INSERT INTO notes VALUES (1, 'Mail roe@example.org', {values})")
    execute(base, "INSERT INTO notes (id, note) VALUES (2, 'Fine.')")
    assert redact(query="SELECT * FROM notes")[0] == 0
    old = execute(base, "SELECT * FROM notes ORDER BY id")
    assert execute(base, "SELECT * FROM redacted ORDER BY id") == [(1, "Mail [EMAIL]", *old[0][2:]), old[1]]


def test_output_must_allow_null(redact, base):
    """A single withheld text ended the run, and the message advised to check names and the connection."""
    execute(base, "DROP TABLE redacted", "CREATE TABLE redacted (id TEXT, mrn INTEGER, note TEXT NOT NULL, at TEXT)")
    code, _, err = redact()
    assert (code, "The column 'note' of the output table must allow NULL" in err) == (2, True)


def test_query_may_end_with_a_comment(redact, base):
    assert redact(query="SELECT * FROM notes -- all of them")[0] == 1
    assert execute(base, "SELECT * FROM redacted ORDER BY id") == EXPECTED


def test_changed_rows_and_options_are_noticed(redact, base):
    redact()
    assert "is not empty" in redact()[2]
    assert "other options" in redact("--resume", "--mode", "mask")[2]
    execute(base, "UPDATE notes SET mrn = 99 WHERE id = 'v09'")
    assert "have changed since they were written" in redact("--resume")[2]


def test_views_of_bytes_are_the_same_in_a_resumed_run(base, monkeypatch):
    """Some drivers of PostgreSQL return views of memory: their rows counted as changed, and no run was resumed."""
    monkeypatch.setitem(sqlite3.converters, "BYTEA", memoryview)
    execute(base, "ALTER TABLE notes ADD COLUMN raw BYTEA", "UPDATE notes SET raw = x'e9' || CAST(id AS BLOB)")
    engine = sql.connect(f"sqlite:///{base / 'notes.db'}?detect_types=1")
    first, second = (list(sql.SqlTable(engine, "SELECT * FROM notes", Columns(("note",), "id")).chunks()) for _ in "ab")
    assert [chunk.digest for chunk in first] == [chunk.digest for chunk in second]
    assert first[0].render([cell.text for cell in first[0].cells])[2]["raw"] == b"\xe9v02"


def test_the_record_confirms_no_guess_of_a_row(redact, base):
    """The table beside the redacted rows held a digest of each chunk: names of a short last chunk were found by trying.

    The attacker has the database with the redacted rows, and the right guess of the raw rows of the last chunk.
    """
    redact()
    record = {n: digest for n, digest, _ in execute(base, "SELECT * FROM redacted_run")}
    last = {"id": "v16", "mrn": 4, "note": NOTES[16], "at": "12:30"}
    guess = sha256(repr([list(last.items())]).encode()).hexdigest()
    assert guess not in record.values() and sha256(guess.encode()).hexdigest() not in record.values()
    # The first chunks have too few texts for any digest, and a change in them shows in the later ones.
    assert [record[n] == "" for n in range(5)] == [True, True, False, False, False]
    execute(base, "UPDATE notes SET note = 'other' WHERE id = 'v00'")
    assert "have changed since they were written" in redact("--resume")[2]


def test_rows_that_go_while_they_are_read_are_noticed(base):
    chunks = sql.SqlTable(
        sql.connect(f"sqlite:///{base / 'notes.db'}"), "SELECT * FROM notes", Columns(("note",), "id")
    )
    stream = chunks.chunks()
    next(stream)
    execute(base, "DELETE FROM notes WHERE id = 'v09'")
    with pytest.raises(DeidError, match="has 17 rows, and 16 were read"):
        list(stream)


def test_the_record_holds_no_query(redact, base):
    """A query can name a patient, and the record is in the database of the output."""
    assert redact(query="SELECT * FROM notes WHERE at = '12:30' AND mrn <> 'Zyxwvutski'")[0] == 1
    assert "Zyxwvutski" not in str(execute(base, "SELECT * FROM redacted_run"))
    assert "another model, other options" in redact("--resume", query="SELECT * FROM notes")[2]


def test_a_column_that_repeats_a_text_is_refused(redact, base):
    """``SELECT note, note AS copy`` copied the texts, at exit code 0."""
    execute(base, "UPDATE notes SET note = 'Visit on the ward: mail roe@example.org', at = note")
    execute(base, "UPDATE notes SET at = note")
    code, _, err = redact(query="SELECT * FROM notes")
    assert (code, "repeats a text of the column 'note'" in err) == (2, True)
    assert execute(base, "SELECT COUNT(*) FROM redacted") == [(0,)]


def test_a_text_of_another_row_in_another_column_is_refused(redact, base):
    """``LAG(note)`` copied the texts, at exit code 0."""
    # No part of one text is in another one.
    words = " || ' ' || ".join(f"id || 'w{n}'" for n in range(11))
    execute(base, f"UPDATE notes SET note = {words} || ' Zyxw'")
    for shift in ("LAG(note)", "LEAD(note)"):
        code, _, err = redact(query=f"SELECT id, mrn, note, {shift} OVER (ORDER BY id) AS at FROM notes")
        assert (code, "repeats a text of the column 'note'" in err, "Zyxw" in err) == (2, True, False), err
        assert execute(base, "SELECT COUNT(*) FROM redacted") == [(0,)]
        execute(base, "DELETE FROM redacted_run")


def test_a_name_that_holds_a_text_is_refused(redact, base):
    """Pivoted tables have columns that are named after texts."""
    execute(base, "UPDATE notes SET note = 'Visit on the ward: mail roe@example.org'")
    code, _, err = redact(query='SELECT id, note, 1 AS "is Visit on the ward: mail roe@example.org" FROM notes')
    assert (code, "name of a column, or of an index, holds a text" in err, "roe@" in err) == (2, True, False)


@pytest.mark.parametrize("part", ["substr(note, 1, 30)", "'Seen: ' || upper(substr(note, 9, 28))"])
def test_a_part_of_a_text_in_another_column_is_refused(redact, base, part):
    """Only whole texts were compared: ``SELECT substr(note, 1, 30)`` copied the beginning of each text."""
    execute(base, "UPDATE notes SET note = 'Visit of Ann Zyxw on the ward: mail roe@example.org'")
    code, _, err = redact(query=f"SELECT id, mrn, note, {part} AS at FROM notes")
    assert (code, "repeats a text of the column 'note'" in err, "Zyxw" in err) == (2, True, False)
    execute(base, "UPDATE notes SET note = CAST('Visit of Ann Zyxw on the ward of ' || x'e9' AS TEXT)")
    for query in (f"SELECT id, mrn, note, {part} AS at FROM notes", f"SELECT {part} || id AS id, note FROM notes"):
        execute(base, "DELETE FROM redacted_run")
        code, _, err = redact(query=query)
        assert (code, "repeats a text of the column 'note'" in err, "Zyxw" in err) == (2, True, False), err
    assert execute(base, "SELECT COUNT(*) FROM redacted") == [(0,)]


def test_a_text_that_is_not_utf8_is_withheld_alone(redact, base):
    """SQLite stores any bytes as text. Such a row ended the run, and no row behind it was written."""
    execute(
        base,
        "UPDATE notes SET note = CAST(x'5a797877e9' AS TEXT) WHERE id = 'v05'",
        "UPDATE notes SET mrn = CAST(x'e9e9' AS TEXT) WHERE id = 'v06'",
    )
    code, _, err = redact()
    assert (code, "14 texts redacted, 2 withheld" in err, "[row 6, id v05, column note]" in err) == (1, True, True), err
    rows = {row[0]: row[1:] for row in execute(base, "SELECT * FROM redacted")}
    assert rows.pop("v05") == (1, None, "12:30") and rows.pop("v06")[0] == b"\xe9\xe9"
    assert rows == {row[0]: row[1:] for row in EXPECTED if row[0] not in ("v05", "v06")} and "Zyxw" not in err
    code, _, err = redact("--resume")
    assert (code, "2 withheld, 14 were finished before" in err) == (1, True)
