"""`HeadColumns`: columns of a row of labels."""

from __future__ import annotations

from bisect import bisect_right

from .note_cells import Line


class HeadColumns:
    """Find the label above a cell.

    Parameters
    ----------
    head : Line
        Row of labels.

    Examples
    --------
    >>> from sklearn_deid.tagging.forms.note_cells import Cell
    >>> head = Line([Cell(0, 1, 0, 0, 4), Cell(1, 2, 1, 12, 15)], False, False)
    >>> HeadColumns(head).numbers(Line([Cell(2, 3, 0, 10, 14)], False, False))
    [1]
    """

    def __init__(self, head: Line) -> None:
        self._head = head
        self._columns = {cell.column: number for number, cell in enumerate(head.cells)}
        self._ends = [cell.right for cell in head.cells]

    def numbers(self, line: Line) -> list[int | None]:
        """For each cell of a line, number of the label in its column, or None.

        Tabs and bars are counted. In lines without them, the order counts if the lines have equally many cells, and
        else the place in the line.
        """
        head = self._head.cells
        if self._head.is_divided and line.is_divided:
            return [self._columns.get(cell.column) for cell in line.cells]
        if len(head) == len(line.cells):
            return [*range(len(head))]
        # First label that ends behind the start of the cell.
        first = [bisect_right(self._ends, cell.left) for cell in line.cells]
        return [
            number if number < len(head) and head[number].left < cell.right else None
            for number, cell in zip(first, line.cells, strict=True)
        ]
