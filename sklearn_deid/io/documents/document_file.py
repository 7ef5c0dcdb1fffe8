"""`DocumentFile`: base of the readers of files with a layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from ...surrogates import Replacement, note_replacements
from ...text import Document, Span
from ..checking import SourceLocation
from .passages import Passages


class DocumentFile(ABC):
    """File with a layout, whose text is one note.

    Parameters
    ----------
    place : SourceLocation
        File, for messages.
    data : bytes
        Content of the file.

    Attributes
    ----------
    text : str
        The note. Paragraphs, cells and blocks are lines.
    digest : str
        SHA-256 of the content.

    Raises
    ------
    CorpusFormatError
        If the file is damaged, or has parts that could hold text and are neither read nor removed.
    """

    def __init__(self, place: SourceLocation, data: bytes) -> None:
        self._place, self._data = place, data
        self._passages = self._read(data)
        self.text = self._passages.text
        self.digest = sha256(data).hexdigest()

    def redacted(self, spans: Iterable[Span], mode: Any = "label", *, patient_id: str | None = None) -> bytes:
        """Content of the file without PHI.

        Parameters
        ----------
        spans : iterable of Span
            PHI in ``text``, from `NoteDeidentifier.annotate`.
        mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
            Replacement of a span. Use one engine for all files of a patient.
        patient_id : str, optional
            Patient, for surrogates. With None, the file is treated as a patient of its own.

        Raises
        ------
        ValueError
            If the mode is unknown.
        CorpusFormatError
            If the new text cannot be written into the file, or if the result does not contain exactly the new text.
        """
        note = Document(self._place.doc_id or "note", self.text, tuple(spans), patient_id)
        return self.replaced(note_replacements(mode)(note))

    def replaced(self, replacements: Sequence[Replacement]) -> bytes:
        """Content of the file with other texts in place of the spans.

        The result is read again and must contain exactly the expected text.

        Raises
        ------
        CorpusFormatError
            If the new text cannot be written into the file, or if the result does not contain exactly the new text.
        """
        data = self._written(replacements)
        if "".join(self._read(data).pieces) != "".join(self._passages.edited(replacements)):
            raise self._place.error("The redacted file does not hold the redacted text as it should.")
        return data

    @abstractmethod
    def _read(self, data: bytes) -> Passages: ...

    @abstractmethod
    def _written(self, replacements: Sequence[Replacement]) -> bytes: ...
