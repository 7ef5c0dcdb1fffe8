"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown table as text, without a line break at its end.

    Parameters
    ----------
    head : iterable of str
        Names of the columns.
    rows : iterable of iterable of str
        Cells of the table. The function does not escape the cells: escape ``|`` and line breaks in text from other
        sources.

    Raises
    ------
    ValueError
        If a row and the head have different numbers of cells.

    Examples
    --------
    >>> print(markdown_table(["label", "recall"], [["NAME", "0.99"], ["DATE", "0.98"]]))
    | label | recall |
    | --- | --- |
    | NAME | 0.99 |
    | DATE | 0.98 |
    """
    names, cells = list(head), [list(row) for row in rows]
    if any(len(row) != len(names) for row in cells):
        raise ValueError(f"Each row of a table needs {len(names)} cells, one for each column.")
    return "\n".join("| " + " | ".join(row) + " |" for row in (names, ["---"] * len(names), *cells))
