"""Which values of a table name a patient."""

from __future__ import annotations

from typing import Any

# What databases, pandas, JavaScript and HL7 (two quotes) write for a value that is missing.
_MISSING = frozenset(("", "nan", "none", "null", "nat", "na", "n/a", "<na>", "undefined", "unknown", "\\n", '""'))


def known_id(value: Any) -> str | None:
    """Id of a patient as a string; None for a missing value. Rows without an id must not count as one patient.

    Examples
    --------
    >>> known_id(17), known_id(float("nan")), known_id(" "), known_id("NULL")
    ('17', None, None, None)
    """
    written = str(value)
    return None if written.strip().casefold() in _MISSING else written
