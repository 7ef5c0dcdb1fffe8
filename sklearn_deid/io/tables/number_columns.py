"""Columns of numbers, in which a word shows that a row is the rest of a text with a line break and without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...text import known_id

# Two letters in a run of characters without a digit. Dates and codes such as "A-17" have a digit.
_RUN, _LETTER = re.compile(r"(?<!\S)[^\d\s]{2,}(?!\S)"), re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_FEWEST, _MOST_WORDS, _DISTINCT = 20, 0.1, 0.9
# Values after these are no longer counted as distinct or equal.
_COUNTED = 1_000


@dataclass
class _Column:
    n_numbers: int = 0
    n_words: int = 0
    n_counted: int = 0
    distinct: set[str] = field(default_factory=set)

    def add(self, value: str) -> None:
        if _is_word(value):
            self.n_words += 1
        elif _DIGIT.search(value):
            self.n_numbers += 1
            if self.n_counted < _COUNTED:
                self.n_counted += 1
                self.distinct.add(value)

    def has_numbers(self) -> bool:
        is_key = len(self.distinct) >= _DISTINCT * self.n_counted
        return is_key and self.n_numbers >= _FEWEST and self.n_words <= _MOST_WORDS * self.n_numbers


class NumberColumns:
    """Columns of identifiers, times and other numbers of which few occur twice, unlike results such as "5.4".

    If a text has line breaks and no quotes, each of its lines is a row. A line such as "Seen by Roe, Ann" has two
    cells, as the rows of a table with an id and a text, and the first cell would be copied.

    Parameters
    ----------
    places : iterable of int
        Positions of the columns that are copied.

    Examples
    --------
    >>> columns = NumberColumns([0])
    >>> columns.add([[f"A-{n}", "fine"] for n in range(30)] + [["Seen by Roe", "Ann"]])
    >>> columns.has_word(["Seen by Roe", "Ann"]), columns.has_word(["31", "Ann"]), columns.has_word(["NULL", "Ann"])
    (True, False, False)
    """

    def __init__(self, places: Iterable[int]) -> None:
        self._columns = {at: _Column() for at in places}

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Add rows, each with a cell for each column."""
        for row in rows:
            for at, column in self._columns.items():
                if known_id(row[at]) is not None:
                    column.add(row[at])

    def has_word(self, row: Sequence[str]) -> bool:
        """Whether a cell of a column of numbers has a word. The columns are judged by the rows so far."""
        return any(
            column.has_numbers() and known_id(row[at]) is not None and _is_word(row[at])
            for at, column in self._columns.items()
        )


def _is_word(value: str) -> bool:
    return any(len(_LETTER.findall(run[0])) > 1 for run in _RUN.finditer(value))
