"""Output of ``redact`` into a table of a database, with one transaction for each chunk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from .._optional import import_optional
from ..exceptions import DeidError
from ..io.tables import TableChunk
from ..io.tables.sql import without_values

_STAMP = -1
_FEWEST_TEXTS = 8  # a digest of fewer texts can be found by trying


class SqlOutput:
    """Existing table into which the redacted rows are written.

    A second table, ``NAME_run``, records the model, the options, and each finished chunk with a digest of all rows up
    to its end. The rows of a chunk and the record of the chunk are written in one transaction. After a run or a server
    was killed, the table therefore contains only whole chunks, and no row is written twice.

    A recipient of the table can check guesses of the original rows against a digest. The digest is therefore left out
    before the eighth text, since the rows of a digest of few texts could be guessed. Delete the table ``NAME_run``
    before you share the database.

    Parameters
    ----------
    engine : sqlalchemy.Engine
        Database to write.
    name : str
        Name of the table, with the schema if needed.
    resume : bool
        Whether to continue an earlier run. If False, the table must be empty.
    stamp : mapping
        Model and options of the run.
    source : str
        Dialect of the database that is read, such as "sqlite".
    """

    def __init__(self, engine: Any, name: str, *, resume: bool, stamp: Mapping[str, Any], source: str) -> None:
        self.engine, self.resume, self.stamp, self._source = engine, resume, dict(stamp), source
        self._sql = import_optional("sqlalchemy", extra="sql", purpose="databases")
        schema, _, table = name.rpartition(".")
        self._schema, self._name = schema or None, table
        self._told, self._n_texts = sha256(), 0
        self._digests: dict[int, str] = {}  # by the id of the chunk, which lives until it is written

    def __enter__(self) -> SqlOutput:
        sql, metadata = self._sql, self._sql.MetaData()
        with without_values():
            self._rows = sql.Table(self._name, metadata, autoload_with=self.engine, schema=self._schema)
            for column in self._rows.c:
                column.type = self._written_type(column.type)
            self._run = sql.Table(
                f"{self._name}_run",
                metadata,
                sql.Column("chunk", sql.Integer, primary_key=True, autoincrement=False),
                sql.Column("digest", sql.Text, nullable=False),
                sql.Column("withheld", sql.Text, nullable=False),
                schema=self._schema,
            )
            metadata.create_all(self.engine, tables=[self._run])
            with self.engine.begin() as connection:
                self._check(connection)
        return self

    def __exit__(self, *error: object) -> None:
        self.engine.dispose()

    def finished(self, number: int, chunk: TableChunk) -> list[tuple[int, str]] | None:
        """Cells of this chunk that an earlier run has withheld; None if the chunk is not finished.

        Call the method for all chunks, in order.

        Raises
        ------
        DeidError
            If the chunk has changed since its rows were written.
        """
        self._told.update(chunk.digest.encode("ascii"))
        self._n_texts += len(chunk.cells)
        digest = self._told.hexdigest() if self._n_texts >= _FEWEST_TEXTS else ""
        with without_values(), self.engine.connect() as connection:
            row = connection.execute(self._sql.select(self._run).where(self._run.c.chunk == number)).first()
        if row is None:
            self._digests[id(chunk)] = digest
            return None
        if row.digest != digest:
            raise DeidError("The rows of the query have changed since they were written. Empty the output table.")
        return [(n, reason) for n, reason in json.loads(row.withheld)]

    def write(self, number: int, chunk: TableChunk, rows: Any, withheld: Sequence[tuple[int, str]]) -> None:
        """Write a chunk. The transaction is committed when the method returns."""
        # SQLAlchemy would leave out values without a column in the table.
        missing = [name for row in rows[:1] for name in row if name not in self._rows.c]
        if missing:
            raise DeidError(f"The output table has no column of the name {missing[0]!r}.")
        full = [column.name for column in self._rows.c if not column.nullable]
        refused = [name for name in full if any(row.get(name, "") is None for row in rows)]
        if refused:
            raise DeidError(
                f"The column {refused[0]!r} of the output table must allow NULL: a value is missing, or withheld."
            )
        with without_values(), self.engine.begin() as connection:
            connection.execute(self._sql.insert(self._rows), rows)
            # A second run would write the same number, which the key of the table refuses.
            record = {"chunk": number, "digest": self._digests[id(chunk)]}
            record["withheld"] = json.dumps([list(one) for one in withheld])
            connection.execute(self._sql.insert(self._run), record)
        del self._digests[id(chunk)]

    def finish(self, table: Any, unused_fields: Sequence[str] = ()) -> None:
        """Do nothing: all chunks are committed."""

    def _written_type(self, kind: Any) -> Any:
        """Type with which a column is written. The query returns values as the driver reads them, without types."""
        # SQLite has no times and no JSON, but numbers and strings, which SQLAlchemy would refuse or encode again.
        if self._source == self.engine.dialect.name == "sqlite":
            return self._sql.types.NullType()
        if not isinstance(kind, self._sql.JSON):
            return kind
        if self._source != "postgresql":
            return self._sql.types.NullType()
        # The driver has decoded the values. NULL must not become the null of JSON.
        return type(kind)(none_as_null=True)

    def _check(self, connection: Any) -> None:
        sql = self._sql
        stamp = json.dumps(self.stamp, sort_keys=True)
        saved = connection.execute(sql.select(self._run.c.digest).where(self._run.c.chunk == _STAMP)).scalar()
        n_rows = connection.execute(sql.select(sql.func.count()).select_from(self._rows)).scalar_one()
        n_chunks = connection.execute(sql.select(sql.func.count()).select_from(self._run)).scalar_one()
        if saved is None and not n_rows and not n_chunks:
            connection.execute(sql.insert(self._run), {"chunk": _STAMP, "digest": stamp, "withheld": "[]"})
        elif not self.resume:
            raise DeidError("The output table or its record is not empty. Use --resume, or empty both.")
        elif saved is None:
            raise DeidError("The output table has no record of an earlier run. Empty it, or use another one.")
        elif saved != stamp:
            raise DeidError("The earlier run had another model, other options or another version.")
