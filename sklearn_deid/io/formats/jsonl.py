"""JSON lines: one document per line, with all its information.

A line is an object with the keys ``doc_id``, ``text``, ``spans``, ``patient_id`` and ``meta``. Only the keys ``doc_id``
and ``text`` are required. A span has ``start``, ``end`` (half-open, counted in Unicode code points) and ``label``, and
may have ``text``, ``category`` and ``confidence``. The key ``text`` of a span repeats the covered text. With this copy,
the reader detects offsets in other units (UTF-16 in JavaScript, or bytes). The reader refuses other keys: a file with
spans under the key ``entities`` would otherwise look like notes without PHI.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from ..._atomic import new_file
from ...text import Document, Span
from ..checking import SourceLocation
from ..files import decode
from ..format import Format, Item, has_suffix
from ..json_lines import dump_task, parse_span, parse_spans, parse_task, read_documents, unanswered_lines

_KEYS = {"doc_id", "text", "spans", "patient_id", "meta"}
_SPAN_KEYS = {"start", "end", "label", "text", "category", "confidence"}


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken line the function yields an error and continues."""
    return read_documents(path, encoding, _parse)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """One line, without loss of information."""
    record: dict[str, Any] = {"doc_id": document.doc_id, "text": document.text}
    record["spans"] = [_span_record(document.text, span) for span in document.spans]
    return {".jsonl": dump_task(document, record, "meta")}


def write_text(document: Document, lossy: bool = False) -> dict[str, str]:
    """One line without the key ``spans``: a raw or redacted note must not look like a note that somebody has read."""
    return {".jsonl": dump_task(document, {"doc_id": document.doc_id, "text": document.text}, "meta")}


def unanswered(path: Path, encoding: str | None = None) -> set[str]:
    """Ids of the lines without the key ``spans``; a line with an empty list of spans is a note without PHI."""
    return unanswered_lines(path, encoding, "meta", {"spans"})


def drop_lines(path: Path, doc_ids: Set[str]) -> None:
    """Remove the lines of some documents from a file that `write` wrote. The file is replaced in one step."""
    with path.open("rb") as lines, new_file(path) as kept:
        for line in lines:
            if json.loads(line)["doc_id"] not in doc_ids:
                kept.write(line)


def sort_lines(path: Path) -> None:
    """Sort the lines of a file that `write` wrote by document id. Only the ids are held in memory, not the texts."""
    with path.open("rb") as lines:
        starts, start = [], 0
        for line in lines:
            starts.append((json.loads(line)["doc_id"], start, len(line)))
            start += len(line)
        with new_file(path) as ordered:
            for _, start, length in sorted(starts):
                lines.seek(start)
                ordered.write(lines.read(length))


def finished_ids(path: Path, *, unfinished: bool = False) -> set[str]:
    """Ids of the documents of a file. With ``unfinished``, a last line without a line feed is ignored."""
    ids = set()
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.endswith(b"\n") or not unfinished:
                place = SourceLocation(str(path))
                ids.add(_parse(place, decode(place, line, "utf-8"), number).doc_id)
    return ids


def _span_record(text: str, span: Span) -> dict[str, Any]:
    record = {"start": span.start, "end": span.end, "label": span.label, "text": text[span.start : span.end]}
    details = {"category": span.category, "confidence": span.confidence}
    return record | {key: value for key, value in details.items() if value is not None}


def _parse(place: SourceLocation, line: str, number: int) -> Document:
    within, record, document = parse_task(place, line, number, "meta")
    # An unknown key may be a misspelt one, and its content would be lost silently.
    if not record.keys() <= _KEYS or not record.get("doc_id"):
        keys = ", ".join(sorted(_KEYS))
        raise place.error(f"Line {number} must be a JSON object with a 'doc_id' and no other keys than {keys}.")
    return parse_spans(within, record, document, _parse_span)


def _parse_span(place: SourceLocation, text: str, record: Any, annotation_id: str) -> Span:
    if not isinstance(record, dict) or not record.keys() <= _SPAN_KEYS:
        raise place.error(
            f"A span must be a JSON object with no other keys than {', '.join(sorted(_SPAN_KEYS))}.", annotation_id
        )
    return parse_span(place, text, record, annotation_id, "confidence")


FORMAT = Format(
    "jsonl",
    (".jsonl", ".ndjson"),
    read,
    write,
    one_document=False,
    recognise=has_suffix(".jsonl", ".ndjson"),
    unanswered=unanswered,
    write_text=write_text,
)
