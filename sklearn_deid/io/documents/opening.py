"""Selects the reader of a file with a layout by the suffix of its name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ...surrogates import Replacement
from ..checking import SourceLocation
from ..files import links_followed, open_regular, utf8_or_bytes
from .document_file import DocumentFile
from .docx_file import DocxFile
from .html_file import HtmlFile
from .passages import Passages

#: Largest file in bytes.
MOST_BYTES = 2**26
_CONVERT = "Save it as .docx or .html first."
_REFUSED = {
    ".pdf": "PDF holds drawn signs, images of pages and hidden layers, so that text cannot be replaced in "
    "place without loss. Convert it to text, and redact the text.",
    **dict.fromkeys(
        (".doc", ".docm", ".dotx", ".dotm", ".rtf", ".odt"), f"Files of this kind are not read. {_CONVERT}"
    ),
    **dict.fromkeys((".mht", ".mhtml", ".eml", ".msg"), f"Files of this kind are not read. {_CONVERT}"),
}


class PlainFile(DocumentFile):
    """Plain text in UTF-8."""

    def _read(self, data: bytes) -> Passages:
        passages = Passages()
        text = utf8_or_bytes(data)
        if isinstance(text, bytes):
            raise self._place.error("The text is not in UTF-8. Save it in UTF-8 first.")
        passages.add(text)
        return passages

    def _written(self, replacements: Sequence[Replacement]) -> bytes:
        return "".join(self._passages.edited(replacements)).encode("utf-8")


_READERS: Mapping[str, type[DocumentFile]] = MappingProxyType(
    {".docx": DocxFile, ".html": HtmlFile, ".htm": HtmlFile, ".xhtml": HtmlFile, ".txt": PlainFile}
)
#: Endings of the files that `open_document` reads.
DOCUMENT_SUFFIXES = tuple(_READERS)
#: Endings of documents that are refused with a reason.
REFUSED_SUFFIXES = tuple(_REFUSED)


def open_document(path: str | os.PathLike[str]) -> DocumentFile:
    """Open a Word, HTML or text file for redaction that keeps its layout.

    Parameters
    ----------
    path : path
        File with the suffix .docx (extra ``documents``), .html, .htm, .xhtml or .txt.

    Returns
    -------
    DocumentFile
        The attribute ``text`` is the note; ``redacted(spans)`` is the content of the redacted file.

    Raises
    ------
    CorpusFormatError
        If the file is of another kind, damaged or too large, or has parts that could hold text and are neither read
        nor removed, such as tracked changes and embedded files.
    MissingDependencyError
        If lxml is not installed, for a .docx file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_deid import NoteDeidentifier, RuleTagger
    >>> path = Path(tempfile.mkdtemp(), "letter.html")
    >>> _ = path.write_text("<p>Mail to <b>roe@</b>example.org</p>")
    >>> letter = open_document(path)
    >>> (spans,) = NoteDeidentifier(RuleTagger().fit([])).annotate([letter.text])
    >>> letter.redacted(spans)
    b'<p>Mail to <b>[EMAIL]</b></p>'
    """
    file = Path(path)
    place = SourceLocation(str(file), file.name)
    suffix = file.suffix.lower()
    if suffix not in _READERS:
        reason = _REFUSED.get(suffix, f"A document must end in one of {', '.join(_READERS)}.")
        raise place.error(reason)
    try:
        with links_followed(False), open_regular(place, file) as stream:
            data = stream.read(MOST_BYTES + 1)
        reason = "" if len(data) <= MOST_BYTES else f"The file is larger than {MOST_BYTES // 2**20} MiB."
    except OSError as error:
        reason = f"The file cannot be read: {error.strerror}."
    if reason:
        raise place.error(reason)
    return _READERS[suffix](place, data)
