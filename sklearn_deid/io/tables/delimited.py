"""Tables of delimited text: CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ...text.row_copies import RowCopies
from ..checking import SourceLocation
from ..files import wrong_encoding
from .columns import Columns
from .compression import open_decompressed, write_compressed
from .joined_rows import holds_rows, names_columns
from .left_out_texts import of_cell, of_row
from .number_columns import NumberColumns
from .table import CHUNK_ROWS, Cell, TableChunk, place_of

# A quote that is never closed would take the rest of the file into one cell.
_LONGEST_CELL = 2**26
# The csv module of Python 3.10 refuses NUL. This half of a character takes its place: no decoded text holds one.
_FOR_NUL = "\ud800"
_CUT = "A carriage return ends the row, and a line feed other rows. A cell with a carriage return needs quotes."
_SWALLOWED = (
    "A cell that would be copied has lines like rows of the table: a quote may not be closed. If it is a text, name "
    "its column by --text-column, too."
)
_REST = (
    "A cell of a column of numbers has a word: the row may be the rest of a text with a line break and without quotes."
)
_WITHOUT_QUOTES = (
    "{:,} of {:,} rows have fewer cells than the header. The texts seem to have line breaks without quotes, so that "
    "lines of a text would be copied as rows. Write the table with quotes."
)
_MANY_SHORT, _SHARE_SHORT = 20, 0.1


class _Form(NamedTuple):
    delimiter: str
    line_end: str


class DelimitedTable:
    """CSV or TSV file with a header line. The output is UTF-8; cells are quoted where necessary.

    A blank line is not a row, as in the csv module and pandas. A row that repeats the names of the columns ends the run
    with an error: the file may consist of joined files whose columns are in another order, and texts would be copied
    unchanged.

    Parameters
    ----------
    path, output : Path
        Input file, and output file of `assemble`, whose ending determines the compression.
    columns : Columns
        Columns of the texts and identifiers.
    delimiter : str
        Character between the cells.
    encoding : str, optional
        Encoding of the file. None means UTF-8, with or without a byte order mark.
    """

    def __init__(
        self, path: Path, output: Path, columns: Columns, *, delimiter: str, encoding: str | None = None
    ) -> None:
        self.path, self.output, self.columns = path, output, columns
        self.delimiter, self.encoding = delimiter, encoding or "utf-8-sig"
        self._n_blank = 0
        self._copies = RowCopies()
        self._numbers = NumberColumns(())
        self._n_short = 0

    def chunks(self) -> Iterator[TableChunk]:
        """Yield the header as a chunk without cells, and then the rows."""
        self._n_blank, self._n_short, self._copies = 0, 0, RowCopies()
        with open_decompressed(self.path) as binary:
            text = io.TextIOWrapper(binary, encoding=self.encoding, newline="")
            first = self._next(text) or ""
            form = _Form(self.delimiter, "\r\n" if first.endswith("\r\n") else "\n")
            rows = self._rows(first, text)
            header = next(rows, [])
            self.columns = self.columns.of(header)
            places = self.columns.places(header, str(self.path))
            self._numbers = NumberColumns({*range(len(header))} - {places[name] for name in self.columns.texts})
            yield TableChunk(_digest([header]), [], [], lambda texts: _written([header], form))
            number = 0
            # Blank lines behind the last row are in a chunk of their own.
            while (block := list(islice(rows, CHUNK_ROWS))) or self._n_blank:
                yield self._chunk(block, number, header, places, form)
                number += len(block)

    def assemble(self, pieces: Iterable[tuple[int, Path]], stream: BinaryIO) -> None:
        """Join the pieces."""
        write_compressed(self.output, (path for _, path in pieces), stream)

    def _rows(self, first: str, text: Any) -> Iterator[list[str]]:
        """Yield the rows; a row that may be a part of another row is yielded as an empty row."""
        last = first

        def lines() -> Iterator[str]:
            nonlocal last
            yield first.replace("\0", _FOR_NUL)
            for line in text:
                last = line
                yield line.replace("\0", _FOR_NUL)

        def is_cut() -> bool:
            # Python writes a cell with a carriage return without quotes where rows end with line feeds.
            return last.endswith("\r") and not first.endswith("\r")

        limit = csv.field_size_limit(_LONGEST_CELL)
        try:
            # A blank line is no row.
            reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
            was_cut = was_escaped = False
            header: list[str] = []
            while (row := self._next(reader)) is not None:
                was_escaped = self._check_escapes(row, was_escaped)
                self._check_row(row, header, reader.line_num)
                self._n_blank += not row
                if row:
                    header = header or row
                    yield [] if was_cut or is_cut() else [cell.replace(_FOR_NUL, "\0") for cell in row]
                    was_cut = is_cut()
        finally:
            csv.field_size_limit(limit)

    def _check_row(self, row: list[str], header: list[str], line: int) -> None:
        """Refuse a row whose cells, or the cells of the rows after it, may be in other columns."""
        reason = None
        if any(map(_begins_a_quote, row)):
            reason = (
                f"A cell before line {line} has a blank or a byte order mark before its quote, so that the quote does "
                "not hold it together. Take it out."
            )
        elif row and header and names_columns(row, header):
            reason = (
                f"Line {line} names the columns again, so that the next rows may have them in another order. Redact "
                "each table alone, or take the line out. If it is data, rename the columns."
            )
        if reason is not None:
            raise SourceLocation(str(self.path)).error(reason)

    def _check_escapes(self, row: list[str], was_escaped: bool) -> bool:
        """Refuse a quote after a backslash that ends a cell inside its text; return whether a cell may end this way."""
        for cell in row:
            if was_escaped and cell.count('"') % 2 == 1:
                raise SourceLocation(str(self.path)).error(
                    "The table seems to write a quote in a text with a backslash, so that lines of a text would be "
                    "rows. Write the table with doubled quotes."
                )
            was_escaped = was_escaped or cell.endswith("\\")
        return was_escaped

    def _next(self, reader: Any) -> Any:
        """Next line or row; None at the end."""
        place = SourceLocation(str(self.path))
        try:
            return next(reader, None)
        except csv.Error:
            problem = place.error(
                f"The row that begins before line {reader.line_num} is not valid: a quote is not closed or not doubled."
            )
        except UnicodeError:
            problem = wrong_encoding(place, self.encoding, f"after line {getattr(reader, 'line_num', 0)}")
        # Rows behind a quote that is not closed cannot be distinguished from its cell, so that the file ends here.
        raise problem

    def _chunk(
        self, rows: list[list[str]], before: int, header: list[str], places: dict[str, int], form: _Form
    ) -> TableChunk:
        cells: list[Cell] = []
        width = len(header)
        problems: list[tuple[str, str]] = []
        kept: dict[int, list[str]] = {}
        texts = {places[name] for name in self.columns.texts}
        copied = [at for at in range(width) if at not in texts]
        n_blank, self._n_blank = self._n_blank, 0
        self._check_short(rows, width, before)
        self._numbers.add(row for row in rows if len(row) == width)
        for number, row in enumerate(rows, start=before + 1):
            if (reason := self._reason(row, width, copied)) is not None:
                problems.append((place_of(number), reason))
                # Another row can repeat the text, as the note before.
                for name in self.columns.texts:
                    self._copies.add(name, self._left_out(row, places[name], width))
                continue
            named, others = {name: row[at] for name, at in places.items()}, [row[at] for at in copied]
            cells += self.columns.cells(named, number, others, str(self.path), self._copies)
            kept[number] = row
        self.columns.check_names(header, cells, str(self.path))
        self.columns.check_copies(self._copies, str(self.path))

        def render(new: Sequence[str | None]) -> bytes:
            changed = {number: list(row) for number, row in kept.items()}
            for cell, text in zip(cells, new, strict=True):
                changed[cell.row][places[cell.column]] = text or ""
            return _written(changed.values(), form)

        # The same rows are judged otherwise behind other rows.
        rests = [[place] for place, reason in problems if reason == _REST]
        return TableChunk(_digest([*rows, *rests]), cells, problems, render, n_blank=n_blank)

    def _check_short(self, rows: list[list[str]], width: int, before: int) -> None:
        self._n_short += sum(0 < len(row) < width for row in rows)
        n_rows = before + len(rows)
        if self._n_short >= _MANY_SHORT and self._n_short > _SHARE_SHORT * n_rows:
            raise SourceLocation(str(self.path)).error(_WITHOUT_QUOTES.format(self._n_short, n_rows))

    def _reason(self, row: list[str], width: int, copied: list[int]) -> str | None:
        """Reason why a row is left out; None for a row that is written."""
        if len(row) != width:
            return f"The row has {len(row)} cells and the header {width}." if row else _CUT
        if any(holds_rows(row[at], at, width, self.delimiter) for at in copied):
            return _SWALLOWED
        return _REST if self._numbers.has_word(row) else None

    def _left_out(self, row: list[str], text_at: int, width: int) -> list[str]:
        """Texts that a row that is left out can hold in a column."""
        found = of_row(row, text_at, width, self.delimiter)
        for at, cell in enumerate(row if len(row) == width else ()):
            if holds_rows(cell, at, width, self.delimiter):
                found += of_cell(cell, at, text_at, self.delimiter)
        return found


def _begins_a_quote(cell: str) -> bool:
    """Whether a quote after a blank is not closed in its cell, so that the rest of the note is read as other cells."""
    # A byte order mark is in front of each file, and so in the middle of joined files.
    inner = cell.lstrip().lstrip("\ufeff").lstrip()
    return len(inner) < len(cell) and inner[:1] == '"' and cell.count('"') % 2 == 1


def _digest(rows: list[list[str]]) -> str:
    return sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()


def _written(rows: Iterable[list[str]], form: _Form) -> bytes:
    return "".join(_line(row, form) for row in rows).encode("utf-8")


def _line(row: list[str], form: _Form) -> str:
    out = io.StringIO(newline="")
    # Only the characters of the line end are quoted: readers would treat a bare carriage return as the end of the row.
    writer = csv.writer(out, delimiter=form.delimiter, lineterminator="\r\n")
    writer.writerow([cell.replace("\0", _FOR_NUL) for cell in row])
    return out.getvalue().replace(_FOR_NUL, "\0").removesuffix("\r\n") + form.line_end
