"""What every format checks about a document that comes in or goes out, and how it says where something is wrong.

An error of this room names the file, the document, the annotation and the offsets. It never holds text of the note, nor
does an exception behind it: errors are raised outside of ``except`` blocks, because ``UnicodeDecodeError`` and
``JSONDecodeError`` carry the whole text that they failed on, and ``raise ... from None`` would keep them as context.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..exceptions import CorpusFormatError

_SURROGATE = re.compile("[\ud800-\udfff]")
# Everything that some tool takes for the end of a line; a tab ends a column.
_BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_OFFSET = re.compile(r"[0-9]{1,15}")
_ID = re.compile(r"[A-Za-z]{1,3}[0-9]{1,6}")


class SourceLocation(NamedTuple):
    """Where a reader or writer is, so that an error can say it.

    Parameters
    ----------
    path : str or None
        The file.
    doc_id : str or None, default=None
        The document, as soon as it is known.

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
        """The error to raise; the message must hold no note text."""
        return CorpusFormatError(
            message, path=self.path, doc_id=self.doc_id, annotation_id=annotation_id, start=start, end=end
        )


def without_traces(error: CorpusFormatError) -> CorpusFormatError:
    """Cut an error off from the frames it passed, whose local variables hold the note."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def known_id(written: str | None, number: int) -> str:
    """An annotation's id if it looks like one (``T12``, ``P0``); else its number: a broken file may hold text there.

    Examples
    --------
    >>> known_id("T12", 4), known_id("Thomas", 4), known_id(None, 4)
    ('T12', 'number 4', 'number 4')
    """
    return written if written is not None and _ID.fullmatch(written) else f"number {number}"


def parse_offset(place: SourceLocation, annotation_id: str, written: str) -> int:
    """A character offset written in decimal digits; nothing else that ``int`` would take."""
    if not _OFFSET.fullmatch(written):
        raise place.error("An offset is no whole number in decimal digits.", annotation_id)
    return int(written)


def flatten(text: str) -> str:
    """Every line break and tab as one space, so that the text fits on a line and keeps its length.

    Examples
    --------
    >>> flatten("Ann\\r\\nRoe")
    'Ann  Roe'
    """
    return _BREAKS.sub(" ", text)


def check_covered(
    place: SourceLocation, annotation_id: str, text: str, start: int, end: int, covered: str | None = None
) -> None:
    """Check the offsets of a span and, if the file repeats the covered text, that it is the same.

    Line breaks and tabs inside the covered text may be written as spaces: brat does so, and XML does so with the
    value of an attribute. A CRLF may be one space or two.

    Raises
    ------
    CorpusFormatError
        If the span is reversed, empty, outside the text, or its text disagrees with the offsets.
    """
    problem = None
    if start < 0 or end > len(text):
        problem = f"The span lies outside the text of {len(text)} characters."
    elif end == start:
        problem = "The span is empty."
    elif end < start:
        problem = "The span is reversed: it ends before it starts."
    elif covered is not None and covered != text[start:end]:
        allowed = {flatten(part) for part in (text[start:end], text[start:end].replace("\r\n", "\n"))}
        if flatten(covered) not in allowed:
            problem = "The text that the annotation repeats is not the text at its offsets."
    if problem:
        raise place.error(problem, annotation_id, start, end)


def check_label(place: SourceLocation, annotation_id: str, label: str, *, spaces: bool = True) -> None:
    """Refuse an empty label and, where the format separates by white space (``spaces=False``), one with a space."""
    if not label:
        raise place.error("The annotation has no label.", annotation_id)
    if not spaces and any(character.isspace() for character in label):
        raise place.error("This format cannot hold a label with white space.", annotation_id)


def has_surrogate(text: str) -> bool:
    """Whether UTF-8 cannot hold the text."""
    return _SURROGATE.search(text) is not None


def check_text(place: SourceLocation, text: str) -> None:
    """Refuse lone surrogates: they are halves of characters, and neither UTF-8 nor a tokenizer can take them."""
    found = _SURROGATE.search(text)
    if found:
        raise place.error("The text holds a lone surrogate, which is no character.", None, found.start(), found.end())
