"""Documents of files with a JSON object on each line, as annotation tools write such files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError
from ..text import Document, Span
from .checking import SourceLocation, check_covered, check_label, check_text, is_share
from .files import read_lines
from .format import Item, document_or_error
from .strict_json import dump_line, dump_meta, parse_json


def read_documents(
    path: Path, encoding: str | None, parse: Callable[[SourceLocation, str, int], Document]
) -> Iterator[Item]:
    """Yield the documents of a file. For a broken line the function yields an error and continues.

    Parameters
    ----------
    path : Path
        File to read. Empty lines are skipped.
    encoding : str or None
        None means UTF-8.
    parse : callable
        ``parse(place, line, number)`` makes the document of a line.
    """
    for number, line in read_lines(path, encoding or "utf-8"):
        if isinstance(line, CorpusFormatError):
            yield line
        elif line.strip():
            yield document_or_error(parse, SourceLocation(str(path)), line, number)


def unanswered_lines(path: Path, encoding: str | None, meta_key: str, answers: Set[str]) -> set[str]:
    """Ids of the documents of a file whose lines have none of the keys ``answers``."""
    found = set()
    for number, line in read_lines(path, encoding or "utf-8"):
        if isinstance(line, str) and line.strip():
            # The documents of broken lines are reported where they are read.
            with suppress(CorpusFormatError):
                _, record, document = parse_task(SourceLocation(str(path)), line, number, meta_key)
                if answers.isdisjoint(record):
                    found.add(document.doc_id)
    return found


def parse_task(
    place: SourceLocation, line: str, number: int, meta_key: str, id_key: str = ""
) -> tuple[SourceLocation, dict[str, Any], Document]:
    """Read the fields that tasks of all annotation tools share; the document has no spans yet.

    Parameters
    ----------
    place : SourceLocation
        File of the line, for messages.
    line : str
        JSON object with a ``text``. ``doc_id``, ``patient_id`` and the metadata may be missing.
    number : int
        Number of the line, from 1.
    meta_key : str
        Key of the metadata.
    id_key : str, optional
        Key under which the tool stores its own number of a task. Without ``doc_id``, the id of the document consists of
        the file name and this number, or the number of the line.

    Raises
    ------
    CorpusFormatError
        If the line is not a JSON object with a text.
    """
    what = f"Line {number}"
    record = parse_json(place, line, what)
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise place.error(f"{what} must be a JSON object with a 'text'.")
    doc_id = record.get("doc_id", f"{Path(str(place.path)).stem}-{record.get(id_key, number)}")
    document = task_document(place, record, what, doc_id, meta_key)
    return place._replace(doc_id=doc_id), record, document


def task_document(place: SourceLocation, data: dict[str, Any], what: str, doc_id: Any, meta_key: str) -> Document:
    """Document of an object with a ``text``, a patient id and metadata, without spans."""
    patient, meta = data.get("patient_id"), data.get(meta_key)
    # doccano writes null for what other notes have.
    meta = {} if meta is None else meta
    if not isinstance(doc_id, str) or not isinstance(patient, str | None) or not isinstance(meta, dict):
        raise place.error(f"{what}: 'doc_id' and 'patient_id' must be strings, and '{meta_key}' an object.")
    check_text(place._replace(doc_id=doc_id), data["text"])
    return Document(doc_id, data["text"], (), patient, meta)


def parse_spans(
    place: SourceLocation, record: dict[str, Any], document: Document, parse: Callable[..., Span], *options: str
) -> Document:
    """Document with the spans of the list ``spans`` of its record; ``parse`` reads a span, as `parse_span` does."""
    rows = record.get("spans", [])
    if not isinstance(rows, list):
        raise place.error("'spans' must be a list.")
    spans = (parse(place, document.text, row, f"number {n}", *options) for n, row in enumerate(rows, start=1))
    return replace(document, spans=tuple(spans))


def parse_span(place: SourceLocation, text: str, row: Any, annotation_id: str, score_key: str) -> Span:
    """Read a span with the keys ``start``, ``end``, ``label``, ``text``, ``category`` and a key of its confidence."""
    if not isinstance(row, dict) or type(row.get("start")) is not int or type(row.get("end")) is not int:
        raise place.error("A span needs whole numbers as 'start' and 'end'.", annotation_id)
    start, end, label, score = row["start"], row["end"], row.get("label"), row.get(score_key)
    covered, category = row.get("text"), row.get("category")
    if not isinstance(label, str) or not isinstance(covered, str | None) or not isinstance(category, str | None):
        raise place.error("A span's 'label', 'text' and 'category' must be strings.", annotation_id, start, end)
    check_label(place, annotation_id, label)
    check_covered(place, annotation_id, text, start, end, covered)
    if not is_share(score):
        raise place.error(f"A span's '{score_key}' must be a number in [0, 1].", annotation_id, start, end)
    return Span(start, end, label, category, score)


def with_patient(document: Document, record: dict[str, Any], meta_key: str) -> dict[str, Any]:
    """Add the document's patient id and metadata to a record, as `task_document` reads them."""
    if document.patient_id is not None:
        record["patient_id"] = document.patient_id
    if document.meta:
        dump_meta(document)  # raises if reading would change the metadata
        record[meta_key] = dict(document.meta)
    return record


def dump_task(document: Document, record: dict[str, Any], meta_key: str) -> str:
    """Write a task with the document's patient id and metadata, in the format that `parse_task` reads."""
    return dump_line(with_patient(document, record, meta_key)) + "\n"
