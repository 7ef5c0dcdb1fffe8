"""Texts of rows and lines that are left out, so that a copy of them in another row is found.

The reader cannot tell which part of such a row is a text. Every part that can be one is returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

# The value of a key ends at a quote before the next key or the end of the object: quotes inside of a text are often
# the fault of the line.
_VALUE = re.compile(r"""(["'])(.*?)\1(?=[\s,]*(?:[\]}]|\Z|["'][^"'\\]*["']\s*:))""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_MEANINGS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# A line with more is no row, and the time would grow with the square of the number.
_MOST_KEYS = 4


def of_row(row: Sequence[str], at: int, width: int, delimiter: str) -> list[str]:
    """Texts that a row with another number of cells can hold in a column.

    Parameters
    ----------
    row : sequence of str
        Cells.
    at : int
        Position of the column.
    width : int
        Number of columns.
    delimiter : str
        Character between the cells. A text with this character and without quotes is several cells.

    Examples
    --------
    >>> of_row(["1", "seen", " fine", "A"], 1, 3, ","), of_row(["1", "seen"], 2, 3, ",")
    (['seen', ' fine', 'seen, fine'], ['seen'])
    """
    surplus = len(row) - width
    cells = list(row[max(0, at + min(0, surplus)) : at + max(0, surplus) + 1])
    return [*cells, delimiter.join(cells)] if len(cells) > 1 and surplus > 0 else cells


def of_cell(cell: str, at: int, text_at: int, delimiter: str) -> list[str]:
    """Texts of the rows that a quote which is not closed has taken into a cell.

    Parameters
    ----------
    cell : str
        Cell that holds the end of a row, whole rows, and the beginning of a row.
    at, text_at : int
        Positions of the column of the cell, and of the column of texts.
    delimiter : str
        Character between the cells.

    Examples
    --------
    >>> of_cell("A1\\n4,no pain,B2\\n5,fine,C3", 2, 1, ",")
    ['no pain', 'fine']
    """
    first, *others = (line.split(delimiter) for line in cell.splitlines())
    lines = [[""] * at + first, *others]
    return [line[text_at] for line in lines if text_at < len(line) and line[text_at]]


def of_line(line: str, key: str) -> Iterator[str]:
    """Texts of a key of a line that is not valid JSON.

    Examples
    --------
    >>> list(of_line('{"id": 1, "note": "He said "ok".\\\\nHome", "ward": A}', "note"))
    ['He said "ok".\\nHome']
    """
    keys = re.finditer(rf"""["']{re.escape(key)}["']\s*:\s*""", line)
    values = (_VALUE.match(line, found.end()) for found in islice(keys, _MOST_KEYS))
    for found in filter(None, values):
        text = _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _MEANINGS.get(one[2], one[2]), found[2])
        # Two escapes are the halves of one character.
        yield text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
