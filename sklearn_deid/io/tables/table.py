"""`Table`: a file with texts at known places, which is read and written chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

#: Rows of a chunk. An interrupted run repeats a chunk at most.
CHUNK_ROWS = 500


class Cell(NamedTuple):
    """Text in a row of a table. The repr shows the place, but no text.

    Parameters
    ----------
    row : int
        Number of the row in the file, counted from 1, without the header.
    column : str
        Column or path of the text.
    text : str
        Text of the cell.
    row_id, patient_id : str, optional
        Identifiers from other columns.
    label : str, optional
        Label of the whole text, such as "DATE" for a structured date. With None, a model reads the text.

    Examples
    --------
    >>> Cell(3, "text", "Seen today.", row_id="v-17").place
    'row 3, id v-17, column text'
    """

    row: int
    column: str
    text: str
    row_id: str | None = None
    patient_id: str | None = None
    label: str | None = None

    def __repr__(self) -> str:
        return f"Cell({self.place})"

    @property
    def place(self) -> str:
        """Description of the place for messages. Unique in a file."""
        return place_of(self.row, self.column, self.row_id)


def place_of(row: int, column: str | None = None, row_id: str | None = None) -> str:
    """Place in a table, for messages."""
    parts = [f"row {row}", None if row_id is None else f"id {row_id}", None if column is None else f"column {column}"]
    return ", ".join(part for part in parts if part is not None)


@dataclass(frozen=True)
class TableChunk:
    """Successive rows of a table, which are redacted and written together.

    Parameters
    ----------
    digest : str
        Digest of all content on which the output of these rows depends.
    cells : sequence of Cell
        Texts of the rows. Empty cells have no entry.
    problems : sequence of (str, str)
        Places and reasons of the parts that are withheld and not read.
    render : callable
        ``render(texts)`` returns the rows, with one new text for each cell; a text of None withholds the cell. For
        files, the rows are bytes; for databases, a list of dicts.
    group : int, default=0
        Number of the row group of the file.
    check : callable, optional
        ``check(texts)`` returns the numbers of cells whose new text cannot be written, and the reasons.
    field_counts : mapping of str to int, optional
        Number of texts in each field of the user's profile. A field without texts may be misspelt.
    n_without : int, default=0
        Number of rows that lack a text column.
    n_blank : int, default=0
        Number of blank lines before the last row, which are left out.
    has_whole_rows : bool, default=False
        Whether a row with a text of None is left out as a whole.
    """

    digest: str
    cells: Sequence[Cell]
    problems: Sequence[tuple[str, str]]
    render: Callable[[Sequence[str | None]], Any]
    group: int = 0
    check: Callable[[Sequence[str | None]], Sequence[tuple[int, str]]] | None = None
    field_counts: Mapping[str, int] = field(default_factory=dict)
    n_without: int = 0
    n_blank: int = 0
    has_whole_rows: bool = False

    def n_written(self, failed: Iterable[int]) -> int:
        """Number of texts in the output, if the texts of these cells are None."""
        withheld = set(failed)
        rows = {self.cells[number].row for number in withheld} if self.has_whole_rows else ()
        return sum(cell.row not in rows for number, cell in enumerate(self.cells) if number not in withheld)


class Table(Protocol):
    """Interface of the readers of tables: one class for each file format."""

    def chunks(self) -> Iterator[TableChunk]:
        """Yield the rows; the memory does not grow with the size of the table."""

    def assemble(self, pieces: Iterable[tuple[int, Path]], stream: BinaryIO) -> None:
        """Write the whole table from the files of the rendered chunks, each with its row group."""
