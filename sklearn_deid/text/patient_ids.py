"""Patient ids in the values of a table."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

# What databases, pandas, JavaScript and HL7 (two quotes) write for a value that is missing.
_MISSING = frozenset(("", "nan", "none", "null", "nat", "na", "n/a", "<na>", "undefined", "unknown", "\\n", '""'))


def known_id(value: Any) -> str | None:
    """Id of a patient as a string; None for a missing value. Rows without an id must not count as a single patient.

    A patient has the same id in all tables, although pandas makes floats of whole numbers if a row has no patient,
    databases pad texts of a fixed length with blanks, and drivers of databases return bytes in different types. The
    string "17.0", as in a CSV file of pandas, is another id than "17".

    Examples
    --------
    >>> known_id(17), known_id(17.0), known_id("17 "), known_id(float("nan")), known_id(" "), known_id("NULL")
    ('17', '17', '17', None, None, None)
    """
    if isinstance(value, (Real, Decimal)) and not isinstance(value, Integral):
        with suppress(ValueError, OverflowError):  # NaN and infinity
            whole = math.floor(value)
            value = whole if whole == value else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        # The text of a memoryview is its place in memory, which the next row can have, too.
        value = _of_bytes(bytes(value))
    written = str(value).strip()
    return None if written.casefold() in _MISSING else written


def _of_bytes(value: bytes) -> str:
    """Text of an id in bytes; digits of the bytes if they are no text."""
    with suppress(UnicodeDecodeError):
        text = value.decode()
        if text.isprintable():
            return text
    return value.hex()
