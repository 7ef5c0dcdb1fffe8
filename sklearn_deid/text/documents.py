"""`Document` holds the unchanged text of a note and its PHI spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from ..exceptions import SpanError


@dataclass(frozen=True, slots=True)
class Span:
    """A passage of PHI in a note.

    Parameters
    ----------
    start, end : int
        Half-open character offsets ``text[start:end]`` in the unchanged note, with ``0 <= start < end``.
    label : str
        Type of PHI in the label scheme of the corpus, such as ``"PATIENT"``.
    category : str, optional
        Category of the label, such as ``"NAME"``.
    confidence : float, optional
        Probability in [0, 1] that a tagger assigned; None for gold spans.

    Raises
    ------
    SpanError
        If the offsets are not a valid half-open interval, or the confidence is not a number in [0, 1].
    TypeError
        If an offset is not an int, the label is not a str, or the category is neither a str nor None.

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
        if not (isinstance(self.start, Integral) and isinstance(self.end, Integral)):
            kinds = f"{type(self.start).__name__} and {type(self.end).__name__}"
            raise TypeError(f"The offsets of a span must be whole numbers (int). Got {kinds} instead.")
        if not isinstance(self.label, str):
            raise TypeError(f"The label of a span must be a str. Got {type(self.label).__name__} instead.")
        if not isinstance(self.category, str | None):
            raise TypeError(f"The category of a span must be a str. Got {type(self.category).__name__} instead.")
        if self.start < 0 or self.end <= self.start:
            raise SpanError("A span needs 0 <= start < end.", start=self.start, end=self.end)
        # NaN is in no interval.
        if self.confidence is not None and not (isinstance(self.confidence, Real) and 0 <= self.confidence <= 1):
            raise SpanError("The confidence of a span must be a number in [0, 1].", start=self.start, end=self.end)

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
        Identifier of the note. Reports and errors show the identifier instead of the text.
    text : str
        Unchanged text of the note. Offsets count Unicode code points.
    spans : tuple of Span, default=()
        PHI spans of the note. The constructor sorts the spans by (start, end, label).
    patient_id : str, optional
        Patient of the note. Cross-validation keeps all notes of a patient together (``groups``). Blanks around the id
        do not matter, and texts for missing values, such as "" and "NULL", are no patient.
    meta : mapping, optional
        Further metadata from the file.

    Raises
    ------
    SpanError
        If a span ends beyond the text. The message contains offsets but no text.
    TypeError
        If the text or the patient id is not a str, or a span is not a `Span`.

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
        if not isinstance(self.text, str):
            raise TypeError(f"The text of a Document must be a str. Got {type(self.text).__name__} instead.")
        if not isinstance(self.patient_id, str | None):
            raise TypeError(
                f"The patient id of the document {self.doc_id!r} must be a str. Got {type(self.patient_id).__name__} "
                "instead."
            )
        wrong = next((span for span in self.spans if not isinstance(span, Span)), None)
        if wrong is not None:
            raise TypeError(f"The spans of a Document must be Span objects. Got {type(wrong).__name__} instead.")
        # Equal sets of spans give equal documents, in whatever order a file names them.
        ordered = tuple(sorted(self.spans, key=lambda s: (s.start, s.end, s.label)))
        # object.__setattr__ is the only way to complete a frozen dataclass.
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
