"""`Columns`: which columns of a table hold texts, and which hold identifiers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...text import known_id, normalize
from ..checking import SourceLocation

# Greek and Cyrillic letters that look like Latin ones.
_LOOKS_LIKE = str.maketrans(
    "\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u043a\u043c\u0442\u0432\u043d\u0131",
    "oapvikaeopcyxsijdhkmtbhi",
)

#: What is wrong with a column that resembles a column of texts.
ALIKE = (
    "that differs from {!r} in case or blanks only, or in letters that look alike. Its texts would be copied: name it, "
    "too, or remove it."
)


class Columns(NamedTuple):
    """Names of columns.

    Parameters
    ----------
    texts : tuple of str
        Columns of texts.
    id, patient : str, optional
        Column that identifies a row in messages, and column of the patient.
    optional : tuple of str
        Further columns of texts that a table may lack.

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
        return self._replace(texts=(*self.texts, *(name for name in self.optional if name in header)), optional=())

    def keys(self) -> list[str]:
        """Columns of identifiers."""
        return [name for name in (self.id, self.patient) if name is not None]

    def places(self, header: Sequence[str], path: str) -> dict[str, int]:
        """Position of each named column.

        Raises
        ------
        CorpusFormatError
            If a column is missing, if its name occurs twice, or if another column differs from one of the texts in
            case, blanks or look-alike letters only. The message does not show the header, which may be a row of a table
            without one.
        """
        wanted = dict.fromkeys([*self.texts, *self.keys()])
        for name in wanted:
            if list(header).count(name) != 1:
                reason = "no column" if name not in header else "more than one column"
                # Spreadsheets of many countries write semicolons.
                one = " Its first line has a single column: .csv needs commas, .tsv tabs." if len(header) == 1 else ""
                raise SourceLocation(path).error(f"The table has {reason} of the name {name!r}.{one}")
        if (alike := resembled(header, self.texts, wanted)) is not None:
            raise SourceLocation(path).error(f"The table has a column {ALIKE.format(alike)}")
        return {name: list(header).index(name) for name in wanted}

    def identifiers(self, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
        """Id and patient of a row. Without a patient column, texts with the same id belong to one patient."""
        found = [None if name is None else row.get(name) for name in (self.id, self.patient)]
        row_id, patient = map(known_id, found)
        return row_id, row_id if self.patient is None else patient


def resembled(names: Iterable[Any], texts: Sequence[str], wanted: Iterable[str]) -> str | None:
    """First of some columns of texts that a column resembles that nobody has named; None if there is none.

    Examples
    --------
    >>> resembled(["id", "note", "Note "], ["note"], ["id", "note"])
    'note'
    """
    others = [name for name in names if isinstance(name, str) and name not in wanted]
    return next((text for text in texts if any(is_alike(other, text) for other in others)), None)


def is_alike(name: str, other: str) -> bool:
    """Whether two names differ at most in case, blanks and look-alike characters.

    Examples
    --------
    >>> is_alike("Note text ", "note text"), is_alike("note text", "note_text")
    (True, False)
    """
    return _plain(name) == _plain(other)


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    read = unicodedata.normalize("NFKC", normalize(f"x{name}", layout=False).text).casefold()
    return "".join(read.replace("\ufeff", "").split()).translate(_LOOKS_LIKE)
