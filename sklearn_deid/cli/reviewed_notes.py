"""``redact --reviewed``: notes that a reader has finished are redacted with the spans of the reader."""

from __future__ import annotations

import re
import sys
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..exceptions import DeidError, WithheldWarning
from ..io import iter_documents
from ..io.reading import is_predicted
from ..io.registry import unanswered_ids
from ..surrogates.label_kinds import known_labels
from ..tagging.rules.dates import NO_UNIT
from ..tagging.safe_harbor import fitted_spans, is_bare_year
from ..text import Document, Span, unreadable_reason
from .counting import counted
from .failures import one_line
from .label_texts import check_labels
from .reading import warn_of_later_save

_YEAR = re.compile(r"(?<!\w)(?:19|20)[0-9]{2}(?!\w)")
# A model has read the numbers: of those that it leaves, "2000 mg" is no year.
_YEAR_OF_MODEL = re.compile(_YEAR.pattern + NO_UNIT)
_YEAR_STAYS = (
    "The note has a date that moves, and a number like a year that nobody has marked. If it is a year, it reveals the "
    "shift of the dates. Mark it, or name a --model that finds years."
)

Annotated = tuple[Document, tuple[Span, ...] | None]


class ReviewedNotes:
    """Spans of reviewed notes from a file, and of all other notes from a model.

    Parameters
    ----------
    path : str
        File of finished notes that the review page has saved, or another annotated corpus. Notes in which nobody has
        marked spans, such as tasks of Label Studio without an annotation, count as not reviewed.
    moves_dates : bool, default=False
        Whether surrogates replace the spans. If no bare year is marked as a date in the file, as after a review by the
        Safe Harbor rule, the years would reveal the shift of the dates. The bare years and states of the model are then
        added to the spans of the reader, and `report` counts the notes in which a number like a year still stays beside
        a date. Without a model, notes with a date and an unmarked number like a year are withheld. If bare years are
        marked, the spans are taken as they are, and `report` counts such notes.

    Raises
    ------
    CorpusFormatError, DataNotFoundError
        If the file is missing or broken.
    DeidError
        If no note of the file has a span, since raw notes would otherwise be written unchanged. If a label is not a
        plain word, or if a label is the text of a span.
    """

    def __init__(self, path: str, *, moves_dates: bool = False) -> None:
        self.path = Path(path)
        warn_of_later_save(path)
        notes, unanswered = list(iter_documents(path)), unanswered_ids(path)
        self._notes = {note.doc_id: note for note in notes if note.doc_id not in unanswered}
        if len(notes) and not any(note.spans for note in self._notes.values()):
            raise DeidError(
                "No reviewed note of this file has a span, as in a file of raw notes. Name the file that the reader "
                "saved. If the reader found no PHI in all of its notes, use --model without --reviewed.",
                path=str(path),
            )
        # Labels are written into the redacted notes.
        check_labels(self._notes.values())
        dates = (note.text[s.start : s.end] for note in self._notes.values() for s in note.spans if _is_date(s))
        self._moves_dates = moves_dates
        self._lacks_years = moves_dates and not any(map(is_bare_year, dates))
        self._unchanged: list[str] = []
        self._predicted: list[str] = []
        self._with_year: list[str] = []
        self._model: Any = None
        parts = ((n.doc_id, n.text, [(s.start, s.end, s.label) for s in n.spans]) for n in self._notes.values())
        self.digest = sha256("\n".join(map(repr, sorted(parts))).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def doc_ids(self) -> set[str]:
        """Ids of the notes that a reader has finished."""
        return set(self._notes)

    def report(self) -> None:
        """Print how many notes were written unchanged because nobody has marked a span, or with spans of a model, or
        with a number like a year beside moved dates.

        Most formats do not store whether somebody has read a note.
        """
        if self._with_year:
            # A few marked years do not show that every reader of the file marks years.
            has = counted(len(self._with_year), "reviewed note has", "reviewed notes have")
            line = (
                f"{has} a date that was moved, and a number like a year that nobody has marked, such as "
                f"{self._with_year[0]!r}. A year reveals the shift of the dates. Look for years, and mark them."
            )
            print(one_line(line), file=sys.stderr)
        if self._predicted:
            line = (
                f"All spans of {counted(len(self._predicted), 'reviewed note')} have the confidence of a model, such "
                f"as those of {self._predicted[0]!r}, as in the output of tag or suggest. If nobody has read them, "
                "name the file that the reader saved."
            )
            print(one_line(line), file=sys.stderr)
        if self._unchanged:
            has = counted(len(self._unchanged), "reviewed note has", "reviewed notes have")
            was = "was" if len(self._unchanged) == 1 else "were"
            line = (
                f"{has} no span and {was} written unchanged, such as "
                f"{self._unchanged[0]!r}. If nobody has read them, take them out of the reviewed notes."
            )
            print(one_line(line), file=sys.stderr)

    def beside(self, model: Any) -> ReviewedNotes:
        """Return self, with a model for the notes that are not in the file; with None, these notes are withheld."""
        self._model = model
        return self

    def iter_annotate(self, documents: Iterable[Document]) -> Iterator[Annotated]:
        """Yield each note with its spans, as `NoteDeidentifier.iter_annotate`; None for a withheld note."""
        # The notes in their order; None stands for a note that the model has not returned yet.
        waiting: deque[Annotated | None] = deque()

        def others() -> Iterator[Document]:
            for document in documents:
                is_reviewed = document.doc_id in self._notes
                waiting.append(self._reviewed(document) if is_reviewed else None)
                if not is_reviewed:
                    yield document

        for found in self._by_model(others()):
            while (ready := waiting.popleft()) is not None:
                yield ready
            yield found
        yield from filter(None, waiting)

    def _by_model(self, documents: Iterator[Document]) -> Iterator[Annotated]:
        if self._model is not None:
            yield from self._model.iter_annotate(documents)
            return
        for document in documents:
            yield _withheld(document, "The note is not among the reviewed notes, and there is no --model.")

    def _reviewed(self, document: Document) -> Annotated:
        reviewed = self._notes[document.doc_id]
        # Offsets of another text would redact the wrong characters.
        if reviewed.text != document.text:
            return _withheld(document, "The text differs from the text of the reviewed note of this id.")
        # A reader marks what a browser shows: neither invisible text, nor the names in a base64 body.
        reason = unreadable_reason(document.text)
        if reason is not None:
            return _withheld(document, reason)
        spans = self._with_years(reviewed) if self._lacks_years else reviewed.spans
        if spans is None:
            return _withheld(document, _YEAR_STAYS)
        if not spans:
            self._unchanged.append(document.doc_id)
        elif is_predicted(reviewed):
            self._predicted.append(document.doc_id)
        pattern = _YEAR_OF_MODEL if self._lacks_years else _YEAR
        if self._moves_dates and _may_keep_year(replace(reviewed, spans=spans), pattern):
            self._with_year.append(document.doc_id)
        return document, spans

    def _with_years(self, note: Document) -> tuple[Span, ...] | None:
        """Spans of the reader, with years and states of the model; without a model, None if a year could stay beside
        dates that move.
        """
        found = None
        if self._model is not None:
            with warnings.catch_warnings():
                # A reader has read the note: what the model says about it is not reported.
                warnings.simplefilter("ignore")
                (found,) = self._model.annotate([note.text])
        if found is None:
            return None if _may_keep_year(note) else note.spans
        taken = {at for span in note.spans for at in range(span.start, span.end)}
        years = (s for s in fitted_spans(found, note.text) if taken.isdisjoint(range(s.start, s.end)))
        return tuple(sorted([*note.spans, *years], key=lambda span: (span.start, span.end)))


def _is_date(span: Span) -> bool:
    return known_labels().get(span.label) == "date"


def _may_keep_year(note: Document, year: re.Pattern[str] = _YEAR) -> bool:
    """Whether a note has a date that moves, and a number like a year that stays."""
    return any(map(_is_date, note.spans)) and year.search(_outside(note)) is not None


def _outside(note: Document) -> str:
    """Text of a note outside of its spans."""
    hidden = {at for span in note.spans for at in range(span.start, span.end)}
    return "".join(" " if at in hidden else character for at, character in enumerate(note.text))


def _withheld(document: Document, reason: str) -> Annotated:
    warnings.warn(WithheldWarning(reason, DeidError(reason, doc_id=document.doc_id)), stacklevel=2)
    return document, None
