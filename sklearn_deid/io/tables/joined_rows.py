"""Evidence that several tables, or several rows, were joined by mistake in delimited text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

# Files that follow one another may differ in their delimiters.
_DELIMITERS = re.compile(r"[,;|\t]")


def names_columns(row: Sequence[str], header: Sequence[str]) -> bool:
    """Whether a row is a further header: at least half of its cells are names of columns.

    A single name counts only if it is not in its own column, or if there is a single column. Case, quotes, and blanks
    around the names are ignored. A row with another number of cells may have another delimiter.

    Examples
    --------
    >>> header = ["id", "text", "ward"]
    >>> names_columns(["Text", "id", "unit"], header), names_columns(["id;text;ward"], header)
    (True, True)
    >>> names_columns(["3", "text", "A1"], header), names_columns(["3", "text"], header[:2])
    (False, False)
    """
    names = _names(tuple(header))
    cells = row if len(row) == len(header) else [part for cell in row for part in _DELIMITERS.split(cell)]
    found = [at for at, cell in enumerate(cells) if _plain(cell) in names]
    if not found or 2 * len(found) < len(cells):
        return False
    is_moved = len(row) == len(header) and _plain(row[found[0]]) != _plain(header[found[0]])
    return len(found) > 1 or is_moved or len(header) == 1


def holds_rows(cell: str, at: int, width: int, delimiter: str) -> bool:
    """Whether the lines of a cell look like the end of a row, whole rows, and the beginning of a row.

    If a quote is not closed, the rows up to the next quote become part of its cell.

    Parameters
    ----------
    cell : str
        Text of the cell.
    at : int
        Position of the cell in its row.
    width : int
        Number of columns.
    delimiter : str
        Character between the cells.

    Examples
    --------
    >>> holds_rows("A1\\n4,no pain,B2", 2, 3, ","), holds_rows("A1\\nB2", 2, 3, ",")
    (True, False)
    """
    lines = cell.splitlines()
    whole = [width - 1] * (len(lines) - 2)
    return len(lines) > 1 and [line.count(delimiter) for line in lines] == [width - 1 - at, *whole, at]


@lru_cache(maxsize=8)
def _names(header: tuple[str, ...]) -> frozenset[str]:
    # Numbers are the names of columns without names, and also data.
    return frozenset(name for name in map(_plain, header) if any(map(str.isalpha, name)))


def _plain(name: str) -> str:
    return name.strip(" \t\r\n\"'\ufeff").casefold()
