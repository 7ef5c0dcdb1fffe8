"""Selects the reader of a table by the suffixes of its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..._parameters import check_parameter
from ...exceptions import DeidError
from ..checking import SourceLocation
from ..files import check_regular
from .columns import Columns
from .compression import ENDINGS
from .delimited import DelimitedTable
from .fhir import FhirLines
from .hl7 import Hl7Messages
from .json_lines import JsonLinesTable
from .parquet import ParquetTable
from .table import Table

#: Characters between the cells of .csv files. Spreadsheets of many countries write semicolons.
DELIMITERS = (",", ";", "|")
_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".hl7": "hl7",
}


def table_kind(path: Path) -> str:
    """Kind of a table by its name: "csv", "tsv", "jsonl", "hl7" or "parquet".

    All kinds except for "parquet" may be compressed.

    Raises
    ------
    DeidError
        If the suffix is unknown.

    Examples
    --------
    >>> table_kind(Path("notes.csv.gz")), table_kind(Path("NOTES.PARQUET"))
    ('csv', 'parquet')
    """
    inner = path.with_suffix("") if path.suffix.lower() in ENDINGS else path
    kind = _KINDS.get(inner.suffix.lower())
    if kind is None or (kind == "parquet" and inner != path):
        raise DeidError(
            "A table must end in .csv, .tsv, .jsonl, .ndjson, .hl7 or .parquet; all but the last one also with .gz or "
            ".zst.",
            path=str(path),
        )
    return kind


def open_table(
    path: Path,
    output: Path,
    columns: Columns | None = None,
    *,
    fhir: Mapping[str, Sequence[str]] | None = None,
    hl7: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Table:
    """Open a table for redaction.

    Parameters
    ----------
    path : Path
        Table to read.
    output : Path
        Table to write, of the same kind. The compression may differ from the compression of the input.
    columns : Columns, optional
        Columns of texts and identifiers. Required unless ``fhir`` or ``hl7`` is given.
    fhir : mapping of str to sequence of str, optional
        For NDJSON exports of FHIR, the text fields of each type of resource, such as `FHIR_FIELDS`.
    hl7 : mapping of str to sequence of str, optional
        For files of HL7 version 2 messages, the fields with free text, such as `HL7_FIELDS`.
    encoding : str, optional
        Encoding of a text file. With None, the encoding is UTF-8; for HL7 messages, the character set in the messages.
    delimiter : {",", ";", "|"}, optional
        Character between the cells of a .csv file, also used in the output. None means a comma. Cells of .tsv files are
        separated by tabs.

    Raises
    ------
    DeidError
        If the kinds differ, if the file cannot be read, or if ``delimiter`` is not allowed for this kind of table.
    """
    check_regular(SourceLocation(str(path)), path, follow_links=False)
    kind = table_kind(path)
    if table_kind(output) != kind:
        raise DeidError(f"The output must be a table of the same kind as the input: {kind}.", path=str(output))
    if encoding is not None and (fhir is not None or kind == "parquet"):
        raise DeidError("FHIR exports and parquet files have an encoding of their own. Leave out --encoding.")
    if delimiter is not None and kind != "csv":
        raise DeidError("Only .csv files have a delimiter. Leave out --delimiter.", path=str(path))
    check_parameter("", "delimiter", delimiter, delimiter in (None, *DELIMITERS), f"one of {', '.join(DELIMITERS)}")
    if fhir is not None:
        if kind != "jsonl":
            raise DeidError("FHIR resources are read from .ndjson or .jsonl files.", path=str(path))
        return FhirLines(path, output, fhir)
    if (hl7 is None) != (kind != "hl7"):
        raise DeidError("HL7 messages are read from .hl7 files, with --hl7.", path=str(path))
    if hl7 is not None:
        return Hl7Messages(path, output, hl7, encoding)
    assert columns is not None
    if kind == "parquet":
        return ParquetTable(path, columns)
    if kind == "jsonl":
        return JsonLinesTable(path, output, columns, encoding)
    delimiter = "\t" if kind == "tsv" else delimiter or ","
    return DelimitedTable(path, output, columns, delimiter=delimiter, encoding=encoding)
