"""Table of the notes of a release: the patient and the type of each note, from a CSV file."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from ..exceptions import DataNotFoundError, DeidError
from ..text import known_id


def notes_table(path: str | None, ids: list[str]) -> dict[str, dict[str, str]]:
    """Read the columns ``doc_id``, ``patient_id`` and ``type`` of a CSV file with commas or semicolons.

    Parameters
    ----------
    path : str or None
        The file; with None, there is no table.
    ids : list of str
        Ids of all notes of the release. Other rows are ignored.

    Returns
    -------
    dict
        For each column that the file has, a value for each note.

    Raises
    ------
    DeidError
        If the columns are missing, or if a note has no complete row, two rows, or a row with more cells than the
        header.
    DataNotFoundError
        If the file does not exist.
    """
    if path is None:
        return {}
    if not Path(path).is_file():
        raise DataNotFoundError("There is no such file.", path=path)
    rows: list[dict[str, str]] | None = None
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            names = stream.readline()
            stream.seek(0)
            # Spreadsheets of many countries write semicolons.
            delimiter = ";" if ";" in names and "," not in names else ","
            reader = csv.DictReader(stream, strict=True, delimiter=delimiter)
            rows, fields = list(reader), list(reader.fieldnames or ())
    except (UnicodeDecodeError, csv.Error):
        pass
    # Raised here and not above: the errors of Python can hold the content of the file.
    if rows is None:
        raise DeidError("The table is no CSV file in the encoding utf-8.", path=path)
    columns = [name for name in ("patient_id", "type") if rows and name in rows[0]]
    if not columns or "doc_id" not in rows[0]:
        raise DeidError("The table needs a column doc_id, and patient_id or type.", path=path)
    # Python would take the last one.
    if any(fields.count(name) > 1 for name in ("doc_id", *columns)):
        raise DeidError("The table has two columns of one name.", path=path)
    by_id = {row["doc_id"]: row for row in rows}
    if "patient_id" in columns:
        for row in rows:
            # "NULL" names no patient, and blanks behind an id make no other patient.
            row["patient_id"] = known_id(row["patient_id"] or "") or ""
    counts = Counter(row["doc_id"] for row in rows)
    for doc_id in ids:
        row = by_id.get(doc_id, {})
        if not all(row.get(name) for name in columns):
            raise DeidError("The table has no complete row for this note.", path=path, doc_id=doc_id)
        # Behind a comma without quotes, as in "Note, ICU", each value is in the column of the next one. The surplus
        # cells have no name.
        if any(map(str.strip, row.get(None, ()))):  # type: ignore[call-overload]
            raise DeidError("The row of this note has more cells than the header.", path=path, doc_id=doc_id)
        if counts[doc_id] > 1:
            raise DeidError("The table has two rows for this note.", path=path, doc_id=doc_id)
    return {name: {doc_id: by_id[doc_id][name] for doc_id in ids} for name in columns}
