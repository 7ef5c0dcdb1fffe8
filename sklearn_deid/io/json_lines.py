"""Documents of files with one JSON object a line, as annotation tools write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError
from ..text import Document
from .checking import SourceLocation, check_text, without_traces
from .files import read_lines
from .format import Item
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
            # The line is parsed inside of the try block, and the item is yielded outside, because consumers may raise
            # errors, too.
            try:
                item: Item = parse(SourceLocation(str(path)), line, number)
            except CorpusFormatError as error:
                item = without_traces(error)
            yield item


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
        Key of the tool's own number of a task. Without ``doc_id``, the id of the document consists of the file name and
        this number, or the number of the line.

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
    patient, meta = record.get("patient_id"), record.get(meta_key, {})
    if not isinstance(doc_id, str) or not isinstance(patient, str | None) or not isinstance(meta, dict):
        raise place.error(f"{what}: 'doc_id' and 'patient_id' must be strings, and '{meta_key}' an object.")
    place = place._replace(doc_id=doc_id)
    check_text(place, record["text"])
    return place, record, Document(doc_id, record["text"], (), patient, meta)


def dump_task(document: Document, record: dict[str, Any], meta_key: str) -> str:
    """Write a task with the document's patient id and metadata, in the format that `parse_task` reads."""
    if document.patient_id is not None:
        record["patient_id"] = document.patient_id
    if document.meta:
        dump_meta(document)  # raises if reading would change the metadata
        record[meta_key] = dict(document.meta)
    return dump_line(record) + "\n"
