"""Tables in parquet files (extra ``tables``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO
from weakref import finalize

from ..._optional import import_optional
from ...text.arrow_metadata import schema_without_texts
from ...text.arrow_values import names_inside, texts_by_row
from ...text.column_names import INSIDE, resembled
from ...text.row_copies import RowCopies
from ..checking import SourceLocation
from ..files import links_followed, open_regular, utf8_or_bytes
from .columns import Columns
from .table import CHUNK_ROWS, Cell, TableChunk


class ParquetTable:
    """Parquet file. Row groups, types and the values of all other columns are unchanged; withheld cells are null.

    Categories that occur in no row are left out. An enumeration of polars is written as a column of categories.
    Categories inside of lists, structures and maps are replaced by their values.

    Times of 96 bits, which older programs write, are written as times of 64 bits: in nanoseconds, or in microseconds if
    a time is out of the range of nanoseconds.

    The metadata are kept, except for the metadata of text columns and entries of several words, which can quote a note.

    A chunk is a part of a row group. The writer needs the memory of one row group.

    Parameters
    ----------
    path : Path
        File to read.
    columns : Columns
        Columns of the texts and identifiers. Text columns are strings.

    Raises
    ------
    CorpusFormatError
        If the file is not a parquet file, is damaged, lacks a column, has no strings in a text column, or has times of
        96 bits that neither nanoseconds nor microseconds can represent.
    MissingDependencyError
        If pyarrow is not installed.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path, self.columns = path, columns
        self._pa, self._pq = (
            import_optional(name, extra="tables", purpose="parquet files") for name in ("pyarrow", "pyarrow.parquet")
        )
        self._file = self._opened()
        schema = self._file.schema_arrow
        self.columns = columns = columns.of(schema.names)
        places = columns.places(schema.names, str(path))
        self._check_names(field.type for at, field in enumerate(schema) if at not in places.values())
        schema = schema_without_texts(self._pa, schema)
        for name in columns.texts:
            field = schema.field(places[name])
            # Older versions of pyarrow have no views.
            if str(field.type) not in ("string", "large_string", "string_view"):
                raise SourceLocation(str(path)).error(f"The column {name!r} holds no text, but {field.type}.")
            # A withheld cell is null, even if the file declares that there are no nulls. A comment can quote a text.
            schema = schema.set(places[name], field.with_nullable(True).remove_metadata())
        self._schema, self._places = schema, places
        self._used: dict[str, Any] = {}
        self._copies = RowCopies()

    def chunks(self) -> Iterator[TableChunk]:
        """Yield parts of the row groups."""
        self._used, self._copies = self._used_categories(), RowCopies()
        number = 0
        for group in range(self._file.num_row_groups):
            for batch in self._batches(row_groups=[group]):
                yield self._chunk(batch, number, group)
                number += batch.num_rows

    def assemble(self, pieces: Iterable[tuple[int, Path]], stream: BinaryIO) -> None:
        """Write the row groups, one after the other."""
        with self._pq.ParquetWriter(stream, self._schema, compression=self._compression()) as writer:
            for _, group in groupby(pieces, key=lambda piece: piece[0]):
                batches = [batch for _, path in group for batch in self._read(path)]
                table = self._pa.Table.from_batches(batches, schema=self._schema)
                writer.write_table(table, row_group_size=max(1, table.num_rows))

    def _used_categories(self) -> dict[str, Any]:
        """Values in the rows of each column of categories, since the list of categories can contain further values."""
        names = [field.name for field in self._schema if self._pa.types.is_dictionary(field.type)]
        return _used_categories(self._pa, self._batches(columns=names)) if names else {}

    def _batches(self, **part: Any) -> Iterator[Any]:
        """Batches of a part of the file."""
        batches = self._file.iter_batches(CHUNK_ROWS, **part)
        while True:
            try:
                batch = next(batches, None)
            except (self._pa.ArrowInvalid, OSError):
                break  # the message of pyarrow could hold a value
            if batch is None:
                return
            yield batch
        raise SourceLocation(str(self.path)).error(
            f"pyarrow {self._pa.__version__} cannot read the values of the file. The file is damaged, or has values "
            "that this version does not read, such as missing lists of a fixed length."
        )

    def _opened(self) -> Any:
        try:
            return self._with_exact_times(self._pq.ParquetFile(self._stream()))
        except self._pa.ArrowInvalid:
            pass
        raise SourceLocation(str(self.path)).error("The file is no parquet file, or is damaged.")

    def _stream(self) -> BinaryIO:
        with links_followed(False):
            stream = open_regular(SourceLocation(str(self.path)), self.path)
        finalize(self, stream.close)  # pyarrow keeps it open
        return stream

    def _with_exact_times(self, fine: Any) -> Any:
        """The file, or the file with times in microseconds, since the year 9999 in nanoseconds would become 1816."""
        wide = self._pq.ParquetFile(self._stream(), coerce_int96_timestamp_unit="us")
        fields = zip(fine.schema_arrow, wide.schema_arrow, strict=True)
        names = [one.name for one, other in fields if one.type != other.type]
        is_fine = is_wide = True
        batches = (file.iter_batches(CHUNK_ROWS, columns=names) for file in (fine, wide) if names)
        for pair in zip(*batches, strict=True):
            for one, other in zip(*(batch.columns for batch in pair), strict=True):
                is_fine = is_fine and self._fits(other, one.type)
                is_wide = is_wide and other.cast(one.type, safe=False).equals(one)
        if not is_fine and not is_wide:
            raise SourceLocation(str(self.path)).error(
                "The file has times of 96 bits that neither nanoseconds nor microseconds hold exactly. Write it with "
                "times of 64 bits."
            )
        return fine if is_fine else wide

    def _fits(self, column: Any, kind: Any) -> bool:
        """Whether another type holds all values."""
        try:
            column.cast(kind)
        except self._pa.ArrowInvalid:
            return False
        return True

    def _chunk(self, batch: Any, before: int, group: int) -> TableChunk:
        cells: list[Cell] = []
        named = {name: self._values(batch.column(at)) for name, at in self._places.items()}
        texts = {self._places[name] for name in self.columns.texts}
        copies = [texts_by_row(column) for at, column in enumerate(batch.columns) if at not in texts]
        for row in range(batch.num_rows):
            values = {name: column[row] for name, column in named.items()}
            # A column that nobody has named can repeat a text, such as the index of a pandas frame.
            others = [inner if len(inner) > 1 else inner[0] for inner in map(next, copies) if inner]
            cells += self.columns.cells(values, before + row + 1, others, str(self.path), self._copies)
        self.columns.check_names([*self._schema.names, self._schema.pandas_metadata], cells, str(self.path))
        self.columns.check_copies(self._copies, str(self.path))
        # A stream and not the batch alone: a batch of categories has their numbers without the categories.
        digest = sha256(self._ipc(self._pa.ipc.new_stream, batch)).hexdigest()
        return TableChunk(digest, cells, [], lambda texts: self._render(batch, cells, before, texts), group)

    def _check_names(self, kinds: Iterable[Any]) -> None:
        """Refuse a field inside of a copied column if its name resembles the name of a column of texts."""
        inner = (name for kind in kinds for name in names_inside(kind))
        if (alike := resembled(inner, self.columns.texts, ())) is not None:
            raise SourceLocation(str(self.path)).error(INSIDE.format(alike))

    def _values(self, column: Any) -> list[Any]:
        """Values of a column. A value that is not UTF-8 is kept as bytes and is not read as text."""
        try:
            return column.to_pylist()
        except UnicodeDecodeError:
            pass
        if self._pa.types.is_nested(column.type):
            raise SourceLocation(str(self.path)).error("A nested column holds bytes that are no UTF-8.")
        values = column.cast(self._pa.large_binary()).to_pylist()
        return [value if value is None else utf8_or_bytes(value) for value in values]

    def _render(self, batch: Any, cells: Sequence[Cell], before: int, texts: Sequence[str | None]) -> bytes:
        changed = {name: self._values(batch.column(self._places[name])) for name in self.columns.texts}
        for cell, text in zip(cells, texts, strict=True):
            changed[cell.column][cell.row - before - 1] = text
        arrays = batch.columns
        for at, field in enumerate(self._schema):
            if arrays[at].type != field.type:
                arrays[at] = arrays[at].cast(field.type)
            if field.name in self._used:
                arrays[at] = _without_unused(self._pa, arrays[at], self._used[field.name])
        for name, values in changed.items():
            at = self._places[name]
            arrays[at] = self._pa.array(values, type=self._schema.field(at).type)
        return self._ipc(self._pa.ipc.new_file, self._pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def _ipc(self, opened: Callable[[Any, Any], Any], batch: Any) -> bytes:
        sink = self._pa.BufferOutputStream()
        with opened(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue().to_pybytes()

    def _read(self, path: Path) -> Iterator[Any]:
        with self._pa.OSFile(str(path), "rb") as source, self._pa.ipc.open_file(source) as reader:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)

    def _compression(self) -> str | dict[str, str]:
        """Compression of the first row group; if the columns differ, of each column."""
        metadata = self._file.metadata
        if not metadata.num_row_groups or not metadata.num_columns:
            return "snappy"
        group = metadata.row_group(0)
        columns = (group.column(number) for number in range(metadata.num_columns))
        names = {column.path_in_schema: column.compression.lower() for column in columns}
        known = {path: "none" if name == "uncompressed" else name for path, name in names.items()}
        # Where possible one name for all columns: the path of a list has other names in files of other programs.
        return known if len({*known.values()}) > 1 else next(iter(known.values()))


def _used_categories(pa: Any, batches: Iterable[Any]) -> dict[str, Any]:
    """Values that occur in the rows, for each column of categories."""
    used: dict[str, Any] = {}
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = pa.compute.unique(column.drop_null()).dictionary_decode()
            used[name] = pa.compute.unique(pa.concat_arrays([used[name], values])) if name in used else values
    return used


def _without_unused(pa: Any, column: Any, used: Any) -> Any:
    """Column of categories without the categories that are not in ``used``. Order and type stay."""
    kept = pa.compute.is_in(column.dictionary, value_set=used)
    places = pa.compute.subtract(pa.compute.cumulative_sum(kept.cast(pa.int64())), 1)
    indices = places.take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.filter(kept), ordered=column.type.ordered)
