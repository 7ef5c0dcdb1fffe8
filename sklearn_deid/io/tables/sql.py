"""Rows of a database as a table (extra ``sql``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..._optional import import_optional
from ...exceptions import DeidError, MissingDependencyError
from ...text.column_names import INSIDE, names_inside, resembled
from ...text.row_copies import RowCopies
from ..files import utf8_or_bytes
from .columns import Columns
from .table import CHUNK_ROWS, Cell, TableChunk

_HINTS = {
    "DataError": " Python has no dates before the year 1 or after 9999, such as infinity: read them with CAST(... AS "
    "TEXT), and write them to a column of texts."
}


def connect(url: str) -> Any:
    """Engine for a SQLAlchemy URL, whose errors show no values.

    Raises
    ------
    DeidError
        If the URL is not valid. The message does not show the URL, which may hold a password. Also if the file of an
        SQLite database does not exist: SQLite would make an empty database of this name.
    MissingDependencyError
        If SQLAlchemy, or the driver that the URL names, is not installed.
    """
    sql = import_optional("sqlalchemy", extra="sql", purpose="databases")
    driver = missing = None
    try:
        # Without a pool, no connection stays open while texts are tagged, and no connection is lost when a server
        # restarts.
        engine = sql.create_engine(url, hide_parameters=True, poolclass=sql.pool.NullPool)
        if engine.dialect.name == "sqlite":
            sql.event.listen(engine, "connect", _keep_other_bytes)
            missing = _missing_file(engine.url)
        if missing is None:
            return engine
    except ImportError as error:
        driver = error.name or "of the URL"
    # A port that is no number is a ValueError.
    except (sql.exc.ArgumentError, sql.exc.NoSuchModuleError, ValueError):
        pass
    if missing is not None:
        raise DeidError("There is no such SQLite database.", path=missing)
    if driver is not None:
        raise MissingDependencyError(
            f"The driver {driver} of the database is not installed. Install it, or name another driver in the URL, "
            "such as postgresql+psycopg://."
        )
    raise DeidError("The address of the database is no URL of SQLAlchemy, such as sqlite:///notes.db.")


def _missing_file(url: Any) -> str | None:
    """Path of an SQLite database that does not exist; None for a file that exists, and for databases in memory."""
    name = (url.database or "").removeprefix("file:").partition("?")[0]
    if name in ("", ":memory:") or url.query.get("mode") == "memory" or Path(name).is_file():
        return None
    return name


def _keep_other_bytes(connection: Any, _: Any) -> None:
    """Read a text that is not UTF-8, which SQLite accepts, as bytes, since otherwise such a text ends the whole run."""
    connection.text_factory = utf8_or_bytes


def _own(value: Any) -> Any:
    """Value of a row, with bytes in place of a view of the memory of the driver, whose repr is another in each run."""
    return bytes(value) if isinstance(value, memoryview) else value


@contextmanager
def without_values() -> Iterator[None]:
    """Replace errors of the database by a DeidError of the same kind, since the original messages can quote rows."""
    sql = import_optional("sqlalchemy", extra="sql", purpose="databases")
    name = None
    try:
        yield
    except sql.exc.SQLAlchemyError as error:
        name = type(error).__name__
    if name is not None:
        raise DeidError(
            f"The database reports: {name}. Its message is not shown, because it could hold text of a note. Check the "
            f"names of tables and columns, the types and lengths of columns, and the connection.{_HINTS.get(name, '')}"
        )


class SqlTable:
    """Rows of a query, read in the order of a key.

    Each chunk is read by a separate query, for the rows after the last key. No connection stays open while texts are
    tagged, and memory does not grow. In a large table, the key needs an index.

    Parameters
    ----------
    engine : sqlalchemy.Engine
        Database to read.
    query : str
        SELECT statement.
    columns : Columns
        Columns of texts and identifiers. ``id`` is the key: unique and never NULL.

    Raises
    ------
    DeidError
        If the key is missing.
    """

    def __init__(self, engine: Any, query: str, columns: Columns) -> None:
        if columns.id is None:
            raise DeidError("Rows of a database need the name of their key: --id-column.")
        self.engine, self.columns, self.key = engine, columns, columns.id
        self._sql = import_optional("sqlalchemy", extra="sql", purpose="databases")
        # A colon would begin the name of a parameter.
        # Behind a line feed, since the query can end with a comment.
        self._source = "({}\n) AS notes".format(query.strip().rstrip(";").replace(":", r"\:"))
        self._quoted = engine.dialect.identifier_preparer.quote(columns.id)

    def chunks(self) -> Iterator[TableChunk]:
        """Yield the rows. ``render`` returns a list of dicts.

        Raises
        ------
        DeidError
            If a key is NULL or occurs twice, or if rows were added or deleted during the reading.
        """
        n_all = self._count("")
        if self._count(f" WHERE {self._quoted} IS NULL"):
            raise DeidError(f"The key {self.key!r} must not be NULL.")
        last: dict[str, Any] = {}
        number, copies = 0, RowCopies()
        while rows := self._page(last):
            keys = [row[self.key] for row in rows]
            if any(a == b for a, b in zip(keys, keys[1:], strict=False)):
                raise DeidError(f"The key {self.key!r} must not occur twice.")
            rows = rows[:CHUNK_ROWS]
            yield self._chunk(rows, number, copies)
            number, last = number + len(rows), {"last": rows[-1][self.key]}
        if number != n_all:
            raise DeidError(
                f"The query has {n_all} rows, and {number} were read: rows came or went meanwhile, or the database "
                "takes different keys as equal. Run again with --resume."
            )

    def _count(self, condition: str) -> int:
        with without_values(), self.engine.connect() as connection:
            return connection.execute(self._sql.text(f"SELECT COUNT(*) FROM {self._source}{condition}")).scalar_one()

    def _page(self, last: dict[str, Any]) -> list[dict[str, Any]]:
        behind = f" WHERE {self._quoted} > :last" if last else ""
        # One row more than a chunk: an equal key behind the chunk would be skipped by the next query.
        query = f"SELECT * FROM {self._source}{behind} ORDER BY {self._quoted} LIMIT {CHUNK_ROWS + 1}"
        with without_values(), self.engine.connect() as connection:
            result = connection.execute(self._sql.text(query), last)
            names = list(result.keys())
            rows = [{name: _own(value) for name, value in row.items()} for row in result.mappings()]
        self.columns = self.columns.of(names)
        self.columns.places(names, "query")
        if len(set(names)) < len(names):
            raise DeidError("The query has two columns of the same name. Name them with AS.")
        return rows

    def _chunk(self, rows: list[dict[str, Any]], before: int, copies: RowCopies) -> TableChunk:
        cells: list[Cell] = []
        for number, row in enumerate(rows, start=before + 1):
            others = [value for key, value in row.items() if key not in self.columns.texts]
            if (alike := resembled(names_inside(others), self.columns.texts, ())) is not None:
                raise DeidError(INSIDE.format(alike))
            cells += self.columns.cells(row, number, others, None, copies)
        self.columns.check_names(rows[0] if rows else (), cells, None)
        self.columns.check_copies(copies, None)

        def render(texts: Sequence[str | None]) -> list[dict[str, Any]]:
            changed = [dict(row) for row in rows]
            for cell, text in zip(cells, texts, strict=True):
                changed[cell.row - before - 1][cell.column] = text
            return changed

        digest = sha256(repr([list(row.items()) for row in rows]).encode("utf-8", "surrogatepass")).hexdigest()
        return TableChunk(digest, cells, [], render)
