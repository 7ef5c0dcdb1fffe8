"""Lines and cells of a note: parts of lines between tabs, bars, two or more spaces, and leaders."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ...text import Tokens

_ENDS = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_BARS = "|\u00a6\u2502"
_ANY = rf"[\t{_ENDS}{_BARS} \u00a0._\u2026]"
# Dots of leaders may have spaces between them. A pattern that begins with one set of characters is twice as fast.
_GAP = re.compile(rf"{_ANY}(?:(?<![ \u00a0._])|(?<=[ \u00a0])[ \u00a0]|(?<=\.)\.\.|(?<=_)_|(?<=\.)(?: \.){{2}}){_ANY}*")
_BREAK = re.compile(rf"\r{{0,2}}\n|[{_ENDS}]")
_COLUMN = re.compile(f"[\t{_BARS}]")


#: Range of the tokens between two gaps, which may be none, and the offsets of the gap behind them.
Passage = tuple[int, int, int, int]


class Cell(NamedTuple):
    """Range of the tokens of a cell, number of columns before it on its line, and its places in the line."""

    first: int
    stop: int
    column: int
    left: int
    right: int


class Line(NamedTuple):
    """Cells of a line, whether an empty line is before it, and whether tabs or bars divide it."""

    cells: list[Cell]
    after_blank: bool
    is_divided: bool


def passages(text: str, tokens: Tokens) -> list[Passage]:
    r"""Tokens between line ends, tabs, bars, several spaces and leaders.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> passages("Seen by\tRoe", tokenize("Seen by\tRoe"))
    [(0, 2, 7, 8), (2, 3, 11, 11)]
    """
    found: list[Passage] = []
    starts, first = tokens.starts, 0
    for gap in _GAP.finditer(text):
        start, end = gap.span()
        stop = bisect_left(starts, start, first)
        found.append((first, stop, start, end))
        first = bisect_left(starts, end, stop)
    return [*found, (first, len(starts), len(text), len(text))]


def note_lines(text: str, tokens: Tokens, parts: Sequence[Passage]) -> list[Line]:
    r"""Lines with at least one token, as cells.

    Parameters
    ----------
    text : str
        Text of a note.
    tokens : Tokens
        Tokens of the text.
    parts : sequence of Passage
        Result of `passages`.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> tokens = tokenize(text := "Name\tMRN\n\nRoe    12")
    >>> lines = note_lines(text, tokens, passages(text, tokens))
    >>> [([tuple(cell) for cell in line.cells], line.after_blank) for line in lines]
    [([(0, 1, 0, 0, 4), (1, 2, 1, 5, 8)], False), ([(2, 3, 0, 0, 3), (3, 4, 1, 7, 9)], True)]
    """
    lines: list[Line] = []
    cells: list[Cell] = []
    column, begin, after_blank, is_divided = 0, 0, False, False
    for first, stop, gap_start, gap_end in parts:
        if stop > first:
            cells.append(Cell(first, stop, column, tokens.starts[first] - begin, tokens.ends[stop - 1] - begin))
        breaks = list(_BREAK.finditer(text, gap_start, gap_end))
        if breaks or gap_end == len(text):
            if cells:
                lines.append(Line(cells, after_blank, is_divided))
            after_blank = len(breaks) > 1 or (after_blank and not cells)
            cells, column, is_divided = [], 0, False
            begin = breaks[-1].end() if breaks else begin
        n_bars = len(_COLUMN.findall(text, begin if breaks else gap_start, gap_end))
        column += n_bars or bool(cells)
        is_divided |= n_bars > 0
    return lines
