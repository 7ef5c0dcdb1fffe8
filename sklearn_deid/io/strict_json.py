"""JSON without its loopholes: no NaN, no key twice, one value on one line, and nothing changed on the way.

JSON lines is one of the formats; the others use single JSON values for what they have no place for.
"""

from __future__ import annotations

import json
from typing import Any

from ..text import Document
from .checking import SourceLocation

# Valid inside a JSON string, but line ends to str.splitlines and to JavaScript.
_LINE_ENDS = ("\x85", "\u2028", "\u2029")


def dump_line(value: Any) -> str:
    """One line of JSON that any reader of lines keeps in one piece.

    Raises
    ------
    TypeError, ValueError
        If JSON cannot hold the value.

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
    """The meta data of a document as one line.

    Raises
    ------
    CorpusFormatError
        If JSON would give back something else: tuples, keys that are no strings, NaN, objects.
    """
    meta = dict(document.meta)
    try:
        line = dump_line(meta)
        same = json.loads(line) == meta
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise SourceLocation(None, document.doc_id).error(
            "The document's meta holds something that JSON would change. "
            "Use strings, finite numbers, booleans, None, lists, and dicts with string keys."
        )
    return line


def parse_json(place: SourceLocation, line: str, what: str) -> Any:
    """Read one JSON value; ``what`` is how errors call it, such as ``"Line 3"``."""
    try:
        return json.loads(line, object_pairs_hook=_each_key_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        reason = f"is no valid JSON (character {error.pos})"
    except (ValueError, RecursionError):
        reason = "holds a key twice, NaN or infinity, too long a number, or is nested too deeply"
    raise place.error(f"{what} {reason}.")


def parse_meta(place: SourceLocation, line: str) -> dict[str, Any]:
    """Read what `dump_meta` wrote."""
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


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # By default the last one wins, and the annotations under the first one would be gone.
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key twice")
    return out


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
