"""Builder that writes text and gold spans together, so that the offsets are always correct."""

from __future__ import annotations

from collections.abc import Callable

from ...text import I2B2_2014, Document, Span


class NoteBuilder:
    """Builder that collects the pieces of a note: plain text and PHI.

    The text of a note exists only as a list of pieces. The offsets are computed when the note is finished. A change of
    the whole note (line ends, capitals, wrapped lines) therefore changes only the pieces, and no offset must be
    corrected.

    Examples
    --------
    >>> note = NoteBuilder()
    >>> note.text("Pt ").phi("Graves", "PATIENT").text(" has Graves disease.")
    NoteBuilder(3 pieces)
    >>> document = note.build("note-00001", patient_id="patient-0001")
    >>> document.text, document.spans
    ('Pt Graves has Graves disease.', (Span(start=3, end=9, label='PATIENT', category='NAME', confidence=None),))
    """

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: list[tuple[str, str | None]] = []

    def text(self, value: str) -> NoteBuilder:
        """Append plain text."""
        if value:
            self.pieces.append((value, None))
        return self

    def phi(self, value: str, label: str) -> NoteBuilder:
        """Append PHI; two consecutive calls append two spans that touch, as in ``0412SMITH``."""
        # Neither annotated spans nor tokens include surrounding white space.
        if value != value.strip() or not value:
            raise ValueError(f"A span of type {label} must neither be empty nor begin or end with white space.")
        self.pieces.append((value, label))
        return self

    def change_text(self, change: Callable[[str], str]) -> None:
        """Rewrite the plain pieces, for example with misspellings. PHI is not changed."""
        # PHI stays unchanged, because a misspelt identifier would be another identifier.
        self.pieces = [(value if label else change(value), label) for value, label in self.pieces]

    def change_all(self, change: Callable[[str], str]) -> None:
        """Rewrite all pieces, including PHI, for example in capitals."""
        self.pieces = [(change(value), label) for value, label in self.pieces]

    def wrap(self, width: int) -> None:
        """Break lines longer than ``width`` at spaces, also inside of PHI, as old record systems do."""
        whole = "".join(value for value, _ in self.pieces)
        # A space becomes a line feed, so that no offset changes.
        wrapped = "\n".join(_wrap_line(line, width) for line in whole.split("\n"))
        start = 0
        pieces = []
        for value, label in self.pieces:  # one space becomes one line end: every piece keeps its place
            pieces.append((wrapped[start : start + len(value)], label))
            start += len(value)
        self.pieces = pieces

    def build(self, doc_id: str, *, patient_id: str, meta: dict | None = None) -> Document:
        """Compute the offsets and set the i2b2 2014 categories."""
        start = 0
        spans = []
        for value, label in self.pieces:
            if label is not None:
                spans.append(Span(start, start + len(value), label, category=I2B2_2014.category(label)))
            start += len(value)
        text = "".join(value for value, _ in self.pieces)
        return Document(doc_id, text, tuple(spans), patient_id=patient_id, meta=meta or {})

    def __repr__(self) -> str:
        return f"NoteBuilder({len(self.pieces)} pieces)"


def _wrap_line(line: str, width: int) -> str:
    if "\t" in line:  # a table row
        return line
    done = ""
    while len(line) > width:
        # The search begins at 1, because a line break at 0 would make an empty line.
        cut = line.rfind(" ", 1, width + 1)
        if cut < 1:
            break
        done += line[:cut] + "\n"
        line = line[cut + 1 :]
    return done + line
