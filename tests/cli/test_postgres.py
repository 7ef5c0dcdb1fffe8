"""``redact`` over PostgreSQL, on a server that the tests start, kill and start again.

SKLEARN_DEID_POSTGRES=postgresql+psycopg://user@host:port/database names another server, which is not killed.
"""

import os
import sqlite3

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.io.tables import sql

from .postgres_server import PostgresServer, program

sqlalchemy = pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg", reason="needs psycopg")
GIVEN = os.environ.get("SKLEARN_DEID_POSTGRES")
if GIVEN is None and program("initdb") is None:
    pytest.skip("needs a PostgreSQL server, such as Debian's postgresql", allow_module_level=True)

NOTES = [None if n == 3 else f"Visit {n}: mail roe{n}@example.org é\U0001f600" for n in range(40)]
EXPECTED = [
    (n, f"m{n // 4}", None if text is None else f"Visit {n}: mail [EMAIL] é\U0001f600") for n, text in enumerate(NOTES)
]


@pytest.fixture(scope="module")
def server():
    """The server of these tests; None where another one is named."""
    own = None if GIVEN else PostgresServer()
    try:
        if own is not None:
            own.start()
        yield own
    finally:
        if own is not None:
            own.remove()


@pytest.fixture(scope="module")
def engine(server):
    engine = sqlalchemy.create_engine(GIVEN or server.url, poolclass=sqlalchemy.pool.NullPool)
    yield engine
    engine.dispose()


def execute(engine, *statements):
    with engine.begin() as connection:
        results = [connection.execute(sqlalchemy.text(statement)) for statement in statements]
        return results[-1].fetchall() if results[-1].returns_rows else None


@pytest.fixture
def redact(run, engine, tmp_path, monkeypatch):
    monkeypatch.setattr(sql, "CHUNK_ROWS", 4)
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "model")
    execute(engine, *(f"DROP TABLE IF EXISTS {name}" for name in ("notes", "redacted", "redacted_run")))
    execute(engine, *(f"CREATE TABLE {name} (id bigint, mrn text, note text)" for name in ("notes", "redacted")))
    with engine.begin() as connection:
        rows = [{"id": n, "mrn": f"m{n // 4}", "note": text} for n, text in enumerate(NOTES)]
        connection.execute(sqlalchemy.text("INSERT INTO notes VALUES (:id, :mrn, :note)"), rows[::-1])

    def redact(*options):
        url = engine.url.render_as_string(hide_password=False)
        arguments = ["--query", "SELECT * FROM notes", "--output-table", "redacted", "--text-column", "note"]
        named = ["--model", tmp_path / "model", "--output", url, "--id-column", "id", "--quiet"]
        return run("redact", url, *named, *arguments, *options)

    return redact


def test_rows_are_redacted_once(redact, engine):
    assert redact()[0] == 0
    assert [tuple(row) for row in execute(engine, "SELECT * FROM redacted ORDER BY id")] == EXPECTED


@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_null_in_a_column_of_json_stays_null(redact, engine, kind):
    """NULL became the null of JSON, which is a value."""
    execute(engine, *(f"ALTER TABLE {name} ADD COLUMN codes {kind}" for name in ("notes", "redacted")))
    values = {0: '{"a": [1, "b c"]}', 1: '"abc"', 2: "null", 3: "7"}
    for n, value in values.items():
        execute(engine, f"UPDATE notes SET codes = '{value}' WHERE id = {n}")
    assert redact()[0] == 0
    found = execute(engine, "SELECT id, CAST(codes AS TEXT) FROM redacted WHERE codes IS NOT NULL ORDER BY id")
    assert {n: value for n, value in found} == {n: value for n, value in values.items() if value != "null"}


@pytest.mark.parametrize(
    ("kind", "date"), [("date", "infinity"), ("timestamptz", "-infinity"), ("date", "0044-03-15 BC")]
)
def test_dates_that_python_lacks_are_read_as_text(redact, engine, kind, date):
    """The message advised to check the names of columns and the connection."""
    execute(engine, *(f"ALTER TABLE {name} ADD COLUMN day {kind}" for name in ("notes", "redacted")))
    execute(engine, f"UPDATE notes SET day = '{date}' WHERE id = 5")
    code, _, err = redact()
    assert (code, "such as infinity: read them with CAST" in err) == (2, True)
    execute(engine, "ALTER TABLE redacted ALTER COLUMN day TYPE text")
    execute(engine, "TRUNCATE redacted", "DROP TABLE redacted_run")
    code, _, err = redact("--query", "SELECT id, mrn, note, CAST(day AS TEXT) AS day FROM notes")
    assert code == 0, err
    found = execute(engine, "SELECT id, day FROM redacted WHERE day IS NOT NULL")
    assert [tuple(row) for row in found] == [(5, date)]


def test_json_of_sqlite_is_not_encoded_again(run, redact, engine, tmp_path):
    execute(engine, "ALTER TABLE redacted ADD COLUMN codes json, ADD COLUMN day date")
    with sqlite3.connect(tmp_path / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER, note TEXT, codes JSON, day DATE)")
        connection.execute("""INSERT INTO notes VALUES (1, 'Fine.', '{"a": 1}', '2019-03-05')""")
    connection.close()
    url = engine.url.render_as_string(hide_password=False)
    arguments = ["--query", "SELECT * FROM notes", "--output-table", "redacted", "--text-column", "note"]
    named = ["--model", tmp_path / "model", "--output", url, "--id-column", "id", "--quiet"]
    assert run("redact", f"sqlite:///{tmp_path / 'notes.db'}", *named, *arguments)[0] == 0
    found = execute(engine, "SELECT codes ->> 'a', CAST(day AS TEXT) FROM redacted")
    assert [tuple(row) for row in found] == [("1", "2019-03-05")]


def test_a_transaction_that_the_server_ends_is_repeated_by_a_resumed_run(redact, engine):
    calls = []

    def end(connection, cursor, statement, *rest):
        calls.append(statement)
        if statement.startswith("INSERT INTO redacted_run") and len(calls) % 3:
            own = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = "
            execute(engine, own + "current_database()")

    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", end)
    try:
        codes = [redact(*options)[0] for options in ([], *[["--resume"]] * 5)]
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", end)
    assert 2 in codes, "the server ended a transaction"
    assert redact("--resume")[0] == 0
    assert [tuple(row) for row in execute(engine, "SELECT * FROM redacted ORDER BY id")] == EXPECTED


def test_a_killed_server_loses_and_doubles_nothing(redact, engine, server):
    if server is None:
        pytest.skip("the server of SKLEARN_DEID_POSTGRES is not killed")
    moments, seen = iter([("INSERT INTO redacted ", 3), ("INSERT INTO redacted_run", 2), ("SELECT", 4)]), []
    waited = next(moments)

    def kill(connection, cursor, statement, *rest):
        nonlocal waited
        seen.append(waited is not None and statement.startswith(waited[0]))
        if waited is not None and sum(seen) == waited[1]:
            waited = next(moments, None)
            seen.clear()
            server.kill()

    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", kill)
    try:
        codes = []
        for _ in range(3):
            codes.append(redact(*(["--resume"] if codes else []))[0])
            server.start()
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", kill)
    assert codes == [2, 2, 2] and waited is None
    assert redact("--resume")[0] == 0
    assert [tuple(row) for row in execute(engine, "SELECT * FROM redacted ORDER BY id")] == EXPECTED
