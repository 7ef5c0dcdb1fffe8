"""`Columns`: which columns of a table contain texts, and which columns contain identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...text import known_id
from ...text.column_names import ALIKE, IN_NAME, REPEATED, named_text, repeats, resembled
from ...text.row_copies import RowCopies
from ..checking import SourceLocation
from .table import Cell


class Columns(NamedTuple):
    """Names of the columns that contain texts, ids and patients.

    Parameters
    ----------
    texts : tuple of str
        Columns of texts.
    id, patient : str, optional
        Column that identifies a row in messages, and column of the patient.
    optional : tuple of str
        Further columns of texts, which may be missing in a table.

    Examples
    --------
    >>> Columns(("note",), patient="mrn").places(["mrn", "note", "ward"], "notes.csv")
    {'note': 1, 'mrn': 0}
    """

    texts: tuple[str, ...]
    id: str | None = None
    patient: str | None = None
    optional: tuple[str, ...] = ()

    def of(self, header: Sequence[str]) -> Columns:
        """Columns of a table with this header, including the optional columns that it has.

        Examples
        --------
        >>> Columns(("note",), optional=("title", "plan")).of(["id", "note", "title"]).texts
        ('note', 'title')
        """
        optional = (name for name in self.optional if name in header)
        return self._replace(texts=tuple(dict.fromkeys([*self.texts, *optional])))

    def keys(self) -> list[str]:
        """Columns of identifiers."""
        return [name for name in (self.id, self.patient) if name is not None]

    def places(self, header: Sequence[str], path: str) -> dict[str, int]:
        """Position of each named column.

        Raises
        ------
        CorpusFormatError
            If a column is missing, if its name occurs twice, or if the name of another column differs from a text
            column, or from an optional column, only in case, blanks or look-alike letters. The message does not show
            the header, since a row of a table without a header would be read as its header.
        """
        wanted = dict.fromkeys([*self.texts, *self.keys()])
        for name in wanted:
            if list(header).count(name) != 1:
                reason = "no column" if name not in header else "more than one column"
                one = " It has a single column: try --delimiter ';'." if len(header) == 1 else ""
                raise SourceLocation(path).error(f"The table has {reason} of the name {name!r}.{one}")
        if (alike := resembled(header, [*self.texts, *self.optional], wanted)) is not None:
            raise SourceLocation(path).error(f"The table has a column {ALIKE.format(alike)}")
        return {name: list(header).index(name) for name in wanted}

    def cells(
        self, row: Mapping[str, Any], number: int, others: Sequence[Any], path: str | None, copies: RowCopies
    ) -> list[Cell]:
        """Texts of a row, which are not empty.

        Parameters
        ----------
        row : mapping of str to object
            Values of the named columns.
        number : int
            Number of the row in the table.
        others : sequence
            Values of the columns that are copied.
        path : str or None
            Name of the table for messages.
        copies : RowCopies
            Texts and copied values of the table, to which this row is added.

        Raises
        ------
        CorpusFormatError
            If a copied value of the row repeats a text of the row.
        """
        row_id, patient_id = self.identifiers(row)
        for name in self.texts:
            if repeats(row[name], others):
                raise SourceLocation(path).error(REPEATED.format(name))
            copies.add(name, [row[name]])
        copies.add_copied(others)
        found = ((name, row[name]) for name in self.texts)
        return [Cell(number, name, text, row_id, patient_id) for name, text in found if text not in (None, "")]

    def check_names(self, names: Iterable[Any], cells: Iterable[Cell], path: str | None) -> None:
        """Refuse a table in which a name, such as one of a table of indicators for each text, holds a whole text.

        Parameters
        ----------
        names : iterable of object
            Names of all columns.
        cells : iterable of Cell
            Texts of some rows.
        path : str or None
            Name of the table for messages.

        Raises
        ------
        CorpusFormatError
            If a name holds a whole text of five words or more.
        """
        if (named := named_text(names, ((cell.column, cell.text) for cell in cells))) is not None:
            raise SourceLocation(path).error(IN_NAME.format(named))

    def check_copies(self, copies: RowCopies, path: str | None) -> None:
        """Refuse a table in which a copied value repeats a text of another row, as ``note.shift()`` does.

        Parameters
        ----------
        copies : RowCopies
            Texts and copied values of the rows so far.
        path : str or None
            Name of the table for messages.

        Raises
        ------
        CorpusFormatError
            If a copied value is a whole text of twelve words or more.
        """
        if (name := copies.repeated()) is not None:
            raise SourceLocation(path).error(REPEATED.format(name))

    def identifiers(self, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
        """Id and patient of a row. Without a patient column, texts with the same id belong to the same patient."""
        found = [None if name is None else row.get(name) for name in (self.id, self.patient)]
        row_id, patient = map(known_id, found)
        return row_id, row_id if self.patient is None else patient
