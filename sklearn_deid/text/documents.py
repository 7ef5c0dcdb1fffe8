"""What a note is: its untouched text and the PHI spans in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import SpanError


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of PHI in a note.

    Parameters
    ----------
    start, end : int
        Half-open character offsets ``text[start:end]`` in the untouched note; ``0 <= start < end``.
    label : str
        Type of PHI in the corpus' own scheme, such as ``"PATIENT"``.
    category : str, optional
        Group that the label belongs to, such as ``"NAME"``.
    confidence : float, optional
        Probability in [0, 1] given by a tagger; None for gold spans.

    Raises
    ------
    SpanError
        If the offsets are no valid half-open interval.

    Examples
    --------
    >>> Span(11, 16, "PATIENT", category="NAME").length
    5
    """

    start: int
    end: int
    label: str
    category: str | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or self.end <= self.start:
            raise SpanError("A span needs 0 <= start < end.", start=self.start, end=self.end)

    @property
    def length(self) -> int:
        """Number of characters."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """One note with its PHI spans.

    Parameters
    ----------
    doc_id : str
        Identifier of the note, used in every report and error instead of its text.
    text : str
        The note exactly as it came; offsets count its characters (Unicode code points).
    spans : tuple of Span, default=()
        Sorted by (start, end, label) on construction.
    patient_id : str, optional
        Whom the note is about; the unit of splitting (``groups``).
    meta : mapping, optional
        Anything else that came with the file.

    Raises
    ------
    SpanError
        If a span reaches beyond the text; the message holds offsets, no text.

    Examples
    --------
    >>> Document("n1", "Seen by Dr. Who.", (Span(12, 15, "DOCTOR"),))
    Document(doc_id='n1', 16 characters, 1 span)
    """

    doc_id: str
    text: str
    spans: tuple[Span, ...] = ()
    patient_id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.spans, key=lambda s: (s.start, s.end, s.label)))
        object.__setattr__(self, "spans", ordered)
        for span in ordered:
            if span.end > len(self.text):
                raise SpanError(
                    f"A span ends after the last of {len(self.text)} characters.",
                    doc_id=self.doc_id,
                    start=span.start,
                    end=span.end,
                )

    def __repr__(self) -> str:
        plural = "" if len(self.spans) == 1 else "s"
        return f"Document(doc_id={self.doc_id!r}, {len(self.text)} characters, {len(self.spans)} span{plural})"
