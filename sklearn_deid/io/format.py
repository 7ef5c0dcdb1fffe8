"""`Format` describes a corpus format to the other modules of this package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError
from ..text import Document
from .checking import SourceLocation, without_traces
from .files import open_regular

_CAS_JSON = re.compile(rb'\s*\{\s*"%(TYPES|FEATURE_STRUCTURES|VIEWS)"')

# Readers yield the error of a broken document as a value. Raising it would end the reader and hide later documents.
Item = Document | CorpusFormatError


@dataclass(frozen=True)
class Format:
    """Corpus format: its name, its file suffixes, and its functions for reading and writing.

    Parameters
    ----------
    name : str
        Name of the format, the value of ``format=``.
    suffixes : tuple of str
        Suffixes of the files in lower case. A writer uses the first suffix, except for brat, which uses all suffixes.
    read : callable
        ``read(path, encoding)`` yields the documents of a file. For a broken document the function yields a
        CorpusFormatError. The function may also raise a CorpusFormatError; no further document of the file is then
        read. ``encoding=None`` means UTF-8 or the encoding that the file declares.
    write : callable
        ``write(document, lossy)`` returns the content for each suffix. The function raises CorpusFormatError if the
        format cannot store the document and ``lossy`` does not allow the writer to drop information.
    also_read : tuple of str, default=()
        Further suffixes that only the reader accepts. A file with a further suffix is no part of a document in another
        file, even if both have the same stem.
    one_document : bool, default=True
        Whether each document has separate files, whose names are its id. With False, all documents are in one file.
    resumable : bool, default=True
        Whether an interrupted file shows which documents are finished.
    pack : callable, optional
        ``pack(path)`` makes the content of the final file from the collected results of ``write``. Only formats whose
        file must be written at once need ``pack``.
    seeded : callable, optional
        ``seeded(path, encoding, seed)`` replaces ``read`` for formats whose reader draws random numbers.
    recognise : callable, optional
        ``recognise(files)`` returns whether the files have this format. None for a format that is never guessed.
    unanswered : callable, optional
        ``unanswered(path, encoding)`` returns the ids of the documents of a file in which nobody has marked spans, and
        which would look like documents without PHI. None for a format whose files do not show whether a note was
        annotated.
    write_text : callable, optional
        ``write_text(document, lossy)`` replaces ``write`` for notes that nobody has read, if ``write`` without spans
        would say that somebody has read the note and found no PHI.
    annotated : bool, default=True
        Whether the files contain spans.
    writable : bool, default=True
        Whether documents can be written. With False, ``write`` raises an error.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, str | None], Iterator[Item]]
    write: Callable[[Document, bool], Mapping[str, str]]
    also_read: tuple[str, ...] = ()
    one_document: bool = True
    resumable: bool = True
    pack: Callable[[Path], bytes] | None = None
    seeded: Callable[[Path, str | None, int], Iterator[Item]] | None = None
    recognise: Callable[[Sequence[Path]], bool] | None = None
    unanswered: Callable[[Path, str | None], set[str]] | None = None
    write_text: Callable[[Document, bool], Mapping[str, str]] | None = None
    annotated: bool = True
    writable: bool = True

    def for_unread(self) -> Format:
        """Return the format that writes notes that nobody has read, such as raw and redacted notes."""
        return self if self.write_text is None else replace(self, write=self.write_text)

    def for_predicted(self) -> Format:
        """Return the format that writes notes with the spans of a model: nobody has read a note without spans."""
        unread = self.for_unread()
        return replace(self, write=lambda document, lossy: (self if document.spans else unread).write(document, lossy))


def document_or_error(read: Callable[..., Document], *arguments: Any) -> Item:
    """Return the document that ``read`` returns, or the CorpusFormatError that ``read`` raises."""
    try:
        return read(*arguments)
    except CorpusFormatError as error:
        return without_traces(error)


def has_suffix(*suffixes: str) -> Callable[[Sequence[Path]], bool]:
    """Function for ``recognise`` that returns whether any file has one of these suffixes."""
    # Suffixes are compared in lower case, because files from Windows often end in .TXT or .XML.
    return lambda files: any(file.suffix.lower() in suffixes for file in files)


def is_cas_json(files: Sequence[Path]) -> bool:
    """Whether the first ``.json`` file begins like UIMA CAS JSON, and not like tasks of Label Studio."""
    first = next((file for file in files if file.suffix.lower() == ".json"), None)
    if first is None:
        return False
    try:
        with open_regular(SourceLocation(str(first)), first) as stream:
            return _CAS_JSON.match(stream.read(1000)) is not None
    except OSError:
        return False  # The reader names the problem.
