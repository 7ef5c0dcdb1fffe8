"""Checks that all formats share, and errors that report the location of a problem.

An error of this package reports the file, the document, the annotation and the offsets. Neither the error nor its
context contains note text. ``UnicodeDecodeError`` and ``JSONDecodeError`` contain the whole invalid text, and
``raise ... from None`` would keep these errors as context. All errors are therefore raised outside of ``except``
blocks, without this context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..exceptions import CorpusFormatError
from ..text import Document, Span
from ..text.characters import LONE_SURROGATE, SURROGATES, has_surrogate

# Characters that some tools treat as the end of a line, and the tab, which ends a column.
_BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_OFFSET = re.compile(r"[0-9]{1,15}")
_ID = re.compile(r"[A-Za-z]{1,3}[0-9]{1,6}")


class SourceLocation(NamedTuple):
    """Current position of a reader or writer, for error messages.

    Parameters
    ----------
    path : str or None
        Path of the file.
    doc_id : str or None, default=None
        Document id; None as long as the id is unknown.

    Examples
    --------
    >>> print(SourceLocation("notes/a.ann", "a").error("The span is empty.", "T3", 10, 10))
    The span is empty. [file notes/a.ann, document a, annotation T3, characters 10-10]
    """

    path: str | None
    doc_id: str | None = None

    def error(
        self, message: str, annotation_id: str | None = None, start: int | None = None, end: int | None = None
    ) -> CorpusFormatError:
        """Make the error to raise. The message must not contain note text."""
        return CorpusFormatError(
            message, path=self.path, doc_id=self.doc_id, annotation_id=annotation_id, start=start, end=end
        )


def without_traces(error: CorpusFormatError) -> CorpusFormatError:
    """Remove context and traceback from an error: the local variables of their frames contain note text."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def known_id(written: str | None, number: int) -> str:
    """Annotation id for messages: the written id if it has a valid form (``T12``, ``P0``), otherwise the number.

    In a broken file, the id may be text of a note.

    Examples
    --------
    >>> known_id("T12", 4), known_id("Thomas", 4), known_id(None, 4)
    ('T12', 'number 4', 'number 4')
    """
    return written if written is not None and _ID.fullmatch(written) else f"number {number}"


def parse_offset(place: SourceLocation, annotation_id: str, written: str) -> int:
    """Parse a character offset that is written in decimal digits. Other forms that ``int`` accepts raise an error."""
    if not _OFFSET.fullmatch(written):
        raise place.error("An offset is not a whole number in decimal digits.", annotation_id)
    return int(written)


def flatten(text: str) -> str:
    """Replace every line break and tab by a space. The text then fits on a line and keeps its length.

    Examples
    --------
    >>> flatten("Ann\\r\\nRoe")
    'Ann  Roe'
    """
    return _BREAKS.sub(" ", text)


def check_covered(
    place: SourceLocation, annotation_id: str, text: str, start: int, end: int, covered: str | None = None
) -> None:
    """Check the offsets of a span. If the file repeats the covered text, check that text and offsets agree.

    The file may contain spaces instead of line breaks and tabs inside the covered text: brat writes spaces, and XML
    replaces line breaks in attribute values. A CRLF may be written as one space or as two spaces.

    Raises
    ------
    CorpusFormatError
        If the span is reversed, empty or outside of the text, or if the repeated text disagrees with the offsets.
    """
    problem = None
    if start < 0 or end > len(text):
        # Every problem has a fixed message, so that no message can contain text of the note.
        problem = f"The span lies outside the text of {len(text)} characters."
    elif end == start:
        problem = "The span is empty."
    elif end < start:
        problem = "The span is reversed: it ends before it starts."
    elif covered is not None and covered != text[start:end]:
        # Writers put a space in the place of a line break, and one or two spaces in the place of \r\n.
        allowed = {flatten(part) for part in (text[start:end], text[start:end].replace("\r\n", "\n"))}
        if flatten(covered) not in allowed:
            problem = "The repeated text of the annotation differs from the text at its offsets."
    if problem:
        raise place.error(problem, annotation_id, start, end)


def check_label(place: SourceLocation, annotation_id: str, label: str, *, spaces: bool = True) -> None:
    """Refuse an empty label. With ``spaces=False`` (formats separated by white space), white space is also refused."""
    if not label:
        raise place.error("The annotation has no label.", annotation_id)
    if not spaces and any(character.isspace() for character in label):
        raise place.error("This format cannot hold a label with white space.", annotation_id)


def is_share(value: Any) -> bool:
    """Whether a value of JSON can be the confidence of a span: a number in [0, 1], or None."""
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)


def check_text(place: SourceLocation, text: str) -> None:
    """Refuse lone surrogates. Neither UTF-8 nor a tokenizer can process lone surrogates."""
    found = SURROGATES.search(text)
    if found:
        raise place.error(LONE_SURROGATE, None, found.start(), found.end())


def check_strings(place: SourceLocation, *strings: str) -> None:
    """Refuse lone surrogates in ids, labels and metadata."""
    if any(map(has_surrogate, strings)):
        raise place.error("An id, a label or the meta data hold a lone surrogate, which is not a character.")


def writable_document(place: SourceLocation, document: Document) -> Document:
    """Check properties that `Document` does not check, and convert NumPy offsets and confidences to plain numbers.

    Raises
    ------
    CorpusFormatError
        If the document could be written, but its file could not be read again.
    """
    if not isinstance(document.doc_id, str) or not document.doc_id:
        raise place.error("A document id must be a string and not empty.")
    if not isinstance(document.meta, Mapping | None):
        raise place.error("The meta data must be a mapping.")
    check_text(place, document.text)
    spans = tuple(_writable_span(place, span, f"number {n}") for n, span in enumerate(document.spans, start=1))
    return replace(document, spans=spans, meta=document.meta or {})


def _writable_span(place: SourceLocation, span: Span, annotation_id: str) -> Span:
    check_label(place, annotation_id, span.label)
    # The sign of a zero is taken off: brat would lose such a confidence.
    share = None if span.confidence is None else abs(float(span.confidence))
    return Span(int(span.start), int(span.end), span.label, span.category, share)
