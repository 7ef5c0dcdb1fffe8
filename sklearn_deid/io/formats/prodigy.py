"""JSON lines of Prodigy's named entity tasks: ``{"text": ..., "spans": [{"start": ..., "end": ..., "label": ...}]}``.

The reader takes tasks whose ``answer`` is "accept", and tasks without an answer, such as the tasks of the writer. A
rejected or ignored task is an error: its spans are wrong, and if the spans were left out, the note would look like a
note without PHI. A second answer for the same text and a classification task are also errors. Tokens and other keys of
a task are ignored.

The writer stores the confidence of a span under ``score`` and its category under ``category``. Document id, patient id
and metadata are stored under the keys ``doc_id``, ``patient_id`` and ``doc_meta`` of the task. Prodigy keeps unknown
keys. Without ``doc_id``, the id of a document consists of the file name and the number of the line. Offsets count code
points.

Source: Prodigy's documentation, "Annotation interfaces", section "Named entity recognition".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...text import Document
from ..checking import SourceLocation, check_label
from ..format import Format, Item
from ..json_lines import dump_task, parse_span, parse_spans, parse_task, read_documents, unanswered_lines


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken line the function yields an error and continues."""
    seen: set[str] = set()

    def parse(place: SourceLocation, line: str, number: int) -> Document:
        return _parse(place, line, number, seen)

    return read_documents(path, encoding, parse)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Document as one task, without loss of information."""
    place = SourceLocation(None, document.doc_id)
    record: dict[str, Any] = {"text": document.text, "spans": [], "doc_id": document.doc_id}
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"number {number}", span.label)
        covered, details = document.text[span.start : span.end], {"score": span.confidence, "category": span.category}
        row = {"start": span.start, "end": span.end, "label": span.label, "text": covered}
        record["spans"].append(row | {key: value for key, value in details.items() if value is not None})
    return {".prodigy.jsonl": dump_task(document, record, "doc_meta")}


def write_text(document: Document, lossy: bool = False) -> dict[str, str]:
    """Document as one task without the key ``spans``: nobody has read the note."""
    record = {"text": document.text, "doc_id": document.doc_id}
    return {".prodigy.jsonl": dump_task(document, record, "doc_meta")}


def unanswered(path: Path, encoding: str | None = None) -> set[str]:
    """Ids of the tasks without spans and without an answer, as in a file that is not annotated yet."""
    return unanswered_lines(path, encoding, "doc_meta", {"spans", "answer"})


def _parse(place: SourceLocation, line: str, number: int, seen: set[str]) -> Document:
    what = f"Line {number}"
    place, record, document = parse_task(place, line, number, "doc_meta")
    if record.get("answer", "accept") != "accept":
        raise place.error(f"{what}: the answer is not 'accept', so that the spans of this note are not known.")
    if "spans" not in record and {"label", "options"} & record.keys():
        raise place.error(f"{what} is a task of classification, which has no spans.")
    # Prodigy's number of the text: several sessions answer one text once each, and may disagree. Two notes of one text
    # have ids.
    if "_input_hash" in record and "doc_id" not in record:
        text_hash = str(record["_input_hash"])
        if text_hash in seen:
            raise place.error(f"{what}: this text has several answers, such as those of several annotators. Keep one.")
        seen.add(text_hash)
    return parse_spans(place, record, document, parse_span, "score")


FORMAT = Format(
    "prodigy",
    (".prodigy.jsonl",),
    read,
    write,
    one_document=False,
    resumable=False,
    unanswered=unanswered,
    write_text=write_text,
)
