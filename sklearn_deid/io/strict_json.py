"""Strict JSON: no NaN, no repeated key, one value per line, and values that a round trip does not change.

The format JSON lines consists of strict JSON values. Other formats use single JSON values for information for which the
format has no field.
"""

from __future__ import annotations

import json
from typing import Any

from .._strict_json import load_strict
from ..text import Document
from .checking import SourceLocation

# These characters are valid inside a JSON string, but str.splitlines and JavaScript treat them as line ends.
_LINE_ENDS = ("\x85", "\u2028", "\u2029")


def dump_line(value: Any) -> str:
    """Write a value as one line of JSON, in which no reader finds a line end.

    Raises
    ------
    TypeError, ValueError
        If JSON cannot represent the value.

    Examples
    --------
    >>> dump_line({"text": "a\\r\\n\\u2028b"})
    '{"text": "a\\\\r\\\\n\\\\u2028b"}'
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for end in _LINE_ENDS:
        line = line.replace(end, f"\\u{ord(end):04x}")
    return line


def dump_meta(document: Document) -> str:
    """Write the metadata of a document as one line of JSON.

    Raises
    ------
    CorpusFormatError
        If a round trip through JSON would change the metadata: tuples, keys that are not strings, NaN, or objects.
    """
    meta = dict(document.meta)
    try:
        line = dump_line(meta)
        # Tuples become lists and integer keys become strings. The comparison finds every such change.
        same = json.loads(line) == meta
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise SourceLocation(None, document.doc_id).error(
            "The document's meta has values that JSON would change. "
            "Use strings, finite numbers, booleans, None, lists, and dicts with string keys."
        )
    return line


def parse_json(place: SourceLocation, line: str, what: str) -> Any:
    """Read a JSON value. ``what`` is the name of the value in error messages, such as ``"Line 3"``."""
    try:
        return load_strict(line)
    except json.JSONDecodeError as error:
        reason = f"is not valid JSON (character {error.pos})"
    except (ValueError, RecursionError):
        reason = "holds a repeated key, NaN, infinity or a number that is too long, or is nested too deeply"
    raise place.error(f"{what} {reason}.")


def parse_meta(place: SourceLocation, line: str) -> dict[str, Any]:
    """Read the metadata that `dump_meta` wrote."""
    meta = parse_json(place, line, "The document's meta")
    if not isinstance(meta, dict):
        raise place.error("The document's meta must be a JSON object.")
    return meta


def parse_patient(place: SourceLocation, line: str) -> str:
    """Read a patient id that was written as a JSON string."""
    patient = parse_json(place, line, "The patient id")
    if not isinstance(patient, str):
        raise place.error("The patient id must be a JSON string.")
    return patient
