"""Raw notes without annotations, one note per ``.txt`` file: input of a tagger or result of a redaction.

The format is never guessed from a path: a brat folder without its ``.ann`` files would look like notes without PHI.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...text import Document
from ..checking import SourceLocation
from ..files import decode, read_note
from ..format import Format, Item


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the unchanged note of a file, without spans."""
    place = SourceLocation(str(path), path.stem)
    text = decode(place, read_note(place, path), encoding or "utf-8")
    yield Document(path.stem, text)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Text of the note. Spans, patient id and metadata raise an error unless ``lossy`` is set."""
    # A lost span would make a note look as if it held no PHI.
    if not lossy and (document.spans or document.patient_id is not None or document.meta):
        raise SourceLocation(None, document.doc_id).error(
            "Plain text cannot hold spans, patient id or meta data. Pass lossy=True to write the text alone, "
            "or use another format, such as 'jsonl'."
        )
    return {".txt": document.text}


FORMAT = Format("text", (".txt",), read, write, annotated=False)
