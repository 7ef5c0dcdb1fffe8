"""Tables of notes: which cells contain text, and the table with other texts in these cells."""

from .columns import Columns
from .fhir import FHIR_FIELDS
from .hl7 import HL7_FIELDS
from .opening import DELIMITERS, open_table, table_kind
from .table import Cell, Table, TableChunk

__all__ = [
    "DELIMITERS",
    "FHIR_FIELDS",
    "HL7_FIELDS",
    "Cell",
    "Columns",
    "Table",
    "TableChunk",
    "open_table",
    "table_kind",
]
