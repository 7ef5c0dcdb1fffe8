"""Checks of the notes that are passed to `NoteDeidentifier`, and of the text of each note.

A text is an iterable of letters, a table one of column names, and a mapping one of keys. Read as notes, they would
return without redaction and without an error.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..exceptions import DeidError, SequenceError, WithheldWarning
from ..text import Document, unreadable_reason

_WAYS_OUT = {
    "text": "A text is read letter by letter. Pass a list with one text: {method}([text]).",
    "bytes": "Decode the bytes and pass a list: {method}([data.decode('utf-8')]).",
    "table": "A table is read by its column names. Pass the column of the notes: {method}(table['text']).",
    "mapping": "A mapping is read by its keys. Pass its values: {method}(list(notes.values())).",
    "set": "A set has no order, so that nobody could tell which result belongs to which note. Pass a list.",
    "file": "A file is read line by line, each as a note. Pass a list with its text: {method}([file.read()]).",
    "other": "Pass a list with one text: {method}([text]).",
}


def checked_notes(notes: Any, method: str, name: str = "texts") -> Iterable[Any]:
    """Notes to read one by one, after refusing what would be read as something else than notes.

    Parameters
    ----------
    notes : iterable of str or Document, or Document
        A list, a generator, a `Corpus`, a one-dimensional array, or a column of a table. A single `Document` is one
        note.
    method : str
        Name of the called method, for the message.
    name : str, default="texts"
        Name of the parameter, for the message.

    Returns
    -------
    iterable of str or Document
        The notes, not yet read and not yet checked one by one.

    Raises
    ------
    SequenceError
        If ``notes`` is a text, bytes, a table, a mapping, a set, a file or no iterable. The message shows the right
        call.

    Examples
    --------
    >>> checked_notes(["Seen today."], "redact")
    ['Seen today.']
    """
    if isinstance(notes, Document):
        return [notes]
    kind = _kind(notes)
    if kind is None:
        return notes
    raise SequenceError(
        f"The {name!r} parameter of NoteDeidentifier.{method} must be an iterable of notes (str or Document). "
        f"Got {type(notes).__name__} instead. {_WAYS_OUT[kind].format(method=method)}"
    )


def readable_notes(notes: Any, annotated: Iterable[Document]) -> tuple[list[Document], dict[str, int]]:
    """Raw notes to learn from, and the numbers of notes that were read, left out, and annotated already.

    Parameters
    ----------
    notes : iterable of str or Document
        Raw notes. The annotations of a Document are ignored.
    annotated : iterable of Document
        Annotated notes. A raw note with the text of one of them is left out.

    Raises
    ------
    SequenceError
        If ``notes`` is no iterable of notes, or if no note is left.

    Warns
    -----
    WithheldWarning
        For each note that is no text or text of another kind (`text.unreadable_reason`).
    """
    known = {document.text for document in annotated}
    kept: list[Document] = []
    counts = {"read": 0, "left out": 0, "annotated": 0}
    for number, note in enumerate(checked_notes(notes, "fit", "unlabelled")):
        text = note.text if isinstance(note, Document) else note
        reason = unreadable_reason(text) if isinstance(text, str) else f"Got {type(text).__name__} instead of a text."
        if reason is not None:
            name = note.doc_id if isinstance(note, Document) else f"number {number}"
            warnings.warn(WithheldWarning(f"Raw note left out: {DeidError(reason, doc_id=name)}"), stacklevel=3)
            counts["left out"] += 1
        elif text in known:
            counts["annotated"] += 1
        else:
            counts["read"] += 1
            patient = note.patient_id if isinstance(note, Document) else None
            kept.append(Document(f"raw-{number}", text, patient_id=patient))
    if not kept:
        raise SequenceError(
            f"The 'unlabelled' parameter of NoteDeidentifier.fit holds no note to learn from: {counts}."
        )
    return kept, counts


def _kind(notes: Any) -> str | None:
    """Kind of a wrong argument, as in ``_WAYS_OUT``; None for an iterable of notes."""
    if isinstance(notes, str):
        return "text"
    if isinstance(notes, (bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(notes, Mapping):
        return "mapping"
    # Among them the keys of a mapping.
    if isinstance(notes, Set):
        return "set"
    if isinstance(notes, io.IOBase):
        return "file"
    # pandas, polars and pyarrow need not be installed, so tables are known by their attributes.
    if hasattr(notes, "columns") or getattr(notes, "ndim", 1) > 1:
        return "table"
    # An array without dimensions has __iter__, which fails.
    return None if isinstance(notes, Iterable) and getattr(notes, "ndim", 1) == 1 else "other"
