"""JSON lines of doccano's projects "sequence labeling": ``{"text": ..., "label": [[start, end, label], ...]}``.

The reader takes spans from ``label``, or ``labels``, or from ``entities`` (projects with relations), with the keys
``start_offset``, ``end_offset`` and ``label``. Relations are ignored. Offsets count UTF-16 units, as doccano does
without the option "Count grapheme clusters as one character". Files of projects with the option for grapheme clusters
are not supported.

doccano keeps other columns of an imported file and exports them, with null for a column that a note lacks. The writer
uses columns with the names ``doc_id``, ``patient_id``, ``meta`` and ``details``, which holds category and confidence of
each span. When an exported file is read, the details are valid for spans that the annotator has not changed. Without
``doc_id``, the id of a document consists of the file name and doccano's ``id``. Other columns are ignored.

Source: doccano's documentation, "Import dataset" and "Export dataset"; offsets: doccano's issue 2290.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...text import Document, Span
from ..checking import SourceLocation, check_covered, check_label
from ..format import Format, Item
from ..json_lines import dump_task, parse_task, read_documents
from ..span_details import SpanDetails, is_detail, known_details
from ..utf16_offsets import code_points_before, units_before

_COLUMNS = ("label", "labels", "entities")


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken line the function yields an error and continues."""
    return read_documents(path, encoding, _parse)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Document as one line; the details of the spans are in a column that doccano keeps but does not show."""
    place, text = SourceLocation(None, document.doc_id), document.text
    rows, details = [], []
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"number {number}", span.label)
        row = [units_before(text, span.start), units_before(text, span.end), span.label]
        rows.append(row)
        details.append([*row, span.category, span.confidence])
    record: dict[str, Any] = {"doc_id": document.doc_id, "text": text, "label": rows}
    # All lines have the same columns: doccano fills a missing one with NaN.
    record |= {"details": known_details(details), "patient_id": None, "meta": {}}
    return {".doccano.jsonl": dump_task(document, record, "meta")}


def _parse(place: SourceLocation, line: str, number: int) -> Document:
    what = f"Line {number}"
    place, record, document = parse_task(place, line, number, "meta", id_key="id")
    given = [name for name in _COLUMNS if name in record]
    # A note without a column of spans is no annotated note, and would look like one without PHI.
    if len(given) != 1 or not isinstance(record[given[0]], list):
        raise place.error(f"{what} needs one list of spans, in one of the columns {', '.join(_COLUMNS)}.")
    details = [] if record.get("details") is None else record["details"]
    if not isinstance(details, list) or not all(map(is_detail, details)):
        raise place.error(f"{what}: 'details' must hold lists of start, end, label, category and confidence.")
    known = SpanDetails(details)
    spans = [_span(place, document.text, row, n, known) for n, row in enumerate(record[given[0]], start=1)]
    return replace(document, spans=tuple(spans))


def _span(place: SourceLocation, text: str, row: Any, number: int, known: SpanDetails) -> Span:
    annotation_id = f"number {number}"
    if isinstance(row, dict):
        row = [row.get("start_offset"), row.get("end_offset"), row.get("label")]
    if (
        not isinstance(row, list)
        or len(row) != 3
        or any(type(o) is not int for o in row[:2])
        or type(row[2]) is not str
    ):
        raise place.error("A span must consist of two whole numbers and a label.", annotation_id)
    start, end = (code_points_before(text, offset) for offset in row[:2])
    if start is None or end is None:
        raise place.error("An offset in UTF-16 units is outside of the text or inside a character.", annotation_id)
    check_label(place, annotation_id, row[2])
    check_covered(place, annotation_id, text, start, end)
    return Span(start, end, row[2], *known.take(*row))


FORMAT = Format("doccano", (".doccano.jsonl",), read, write, one_document=False, resumable=False)
