"""`Columns`: which columns of a table hold texts, and which hold identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...text import known_id
from ..checking import SourceLocation


class Columns(NamedTuple):
    """Names of columns.

    Parameters
    ----------
    texts : tuple of str
        Columns of texts.
    id, patient : str, optional
        Column that identifies a row in messages, and column of the patient.

    Examples
    --------
    >>> Columns(("note",), patient="mrn").places(["mrn", "note", "ward"], "notes.csv")
    {'note': 1, 'mrn': 0}
    """

    texts: tuple[str, ...]
    id: str | None = None
    patient: str | None = None

    def keys(self) -> list[str]:
        """Columns of identifiers."""
        return [name for name in (self.id, self.patient) if name is not None]

    def places(self, header: Sequence[str], path: str) -> dict[str, int]:
        """Position of each named column.

        Raises
        ------
        CorpusFormatError
            If a column is missing, or if its name occurs twice. The message does not show the header, which may be a
            row of a table without one.
        """
        wanted = dict.fromkeys([*self.texts, *self.keys()])
        for name in wanted:
            if list(header).count(name) != 1:
                reason = "no column" if name not in header else "more than one column"
                # Spreadsheets of many countries write semicolons.
                one = " Its first line has a single column: .csv needs commas, .tsv tabs." if len(header) == 1 else ""
                raise SourceLocation(path).error(f"The table has {reason} of the name {name!r}.{one}")
        return {name: list(header).index(name) for name in wanted}

    def identifiers(self, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
        """Id and patient of a row. Without a patient column, the id takes its place, as for texts of one row."""
        found = [None if name is None else row.get(name) for name in (self.id, self.patient)]
        row_id, patient = map(known_id, found)
        return row_id, row_id if self.patient is None else patient
