"""Input of ``tag`` and ``redact``: notes that are read one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from ..exceptions import CorpusFormatError, DeidError
from ..io import FORMATS, iter_documents
from ..io.documents.opening import DOCUMENT_SUFFIXES
from ..text import Document, decode_body
from .counting import counted

_STANDARD_INPUT = Path("/dev/stdin")


def stop(error: CorpusFormatError) -> NoReturn:
    """Raise the error."""
    raise error


def _is_page(name: str) -> bool:
    suffix = Path(name).suffix.lower()
    return suffix in DOCUMENT_SUFFIXES and suffix != ".txt"


class NoteSource:
    """Input notes from a file, a folder, or standard input.

    Parameters
    ----------
    written : str
        Argument of the command line: a path, or ``"-"`` for standard input.
    format : str or None
        Format of `io`. With None, a folder, a ``.txt`` file and standard input are read as raw text, and other files in
        the format of their suffix.
    encoding : str or None
        Encoding of the files. With None, the encoding is UTF-8, or the encoding that an XML file declares.
    transfer_encoding : {"quoted-printable", "base64"} or None
        Transfer encoding of e-mail in which the texts are written. With ``transfer_encoding``, ``encoding`` is the
        encoding of the decoded bytes.

    Raises
    ------
    DeidError
        If the path does not exist, is a symbolic link to a file, or is a folder with Word or HTML files instead of
        notes. The path may be a link to a folder, but links inside a folder are withheld.
    """

    noun = "note"

    def __init__(
        self,
        written: str,
        format: str | None = None,
        encoding: str | None = None,
        transfer_encoding: str | None = None,
    ) -> None:
        self.path = _STANDARD_INPUT if written == "-" else Path(written)
        if not self.path.exists():
            raise DeidError("There is no such file or folder.", path=written)
        if written != "-" and self.path.is_symlink() and not self.path.is_dir():
            raise DeidError("The notes are a symbolic link. Name the file itself.", path=written)
        # Raw text needs no guess. A folder could otherwise count as brat if it holds .ann files, too.
        raw = written == "-" or self.path.is_dir() or self.path.suffix.lower() == ".txt"
        self.format = format or ("text" if raw else None)
        if self._is_folder_of_notes() and not self._files(wanted=True) and any(map(_is_page, self.left_aside())):
            raise DeidError(
                "The folder holds no notes, but Word or HTML files. `redact --documents` reads them.", path=written
            )
        self.encoding, self.transfer_encoding = encoding, transfer_encoding
        #: Ids of notes that should come, and were not read yet.
        self.expected: set[str] = set()

    def read(self, on_error: Callable[[CorpusFormatError], object] = stop) -> Iterator[Document]:
        """Yield the notes. ``on_error`` is called with an error for each note that cannot be read (default: raise)."""
        encoded = self.transfer_encoding is not None
        encoding = "ascii" if encoded else self.encoding
        documents = iter_documents(self.path, self.format, on_error=on_error, encoding=encoding, follow_links=False)
        return self._expected(self._decoded(documents, on_error) if encoded else documents)

    def _expected(self, documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            self.expected.discard(document.doc_id)
            yield document

    def _decoded(
        self, documents: Iterator[Document], on_error: Callable[[CorpusFormatError], object]
    ) -> Iterator[Document]:
        assert self.transfer_encoding is not None
        for document in documents:
            text = decode_body(document.text, self.transfer_encoding, self.encoding or "utf-8")
            if text is None:
                message = f"The note is not {self.transfer_encoding} text of the encoding {self.encoding or 'utf-8'}."
                on_error(CorpusFormatError(message, doc_id=document.doc_id))
            else:
                yield Document(document.doc_id, text, (), document.patient_id, document.meta)

    def size(self) -> int | None:
        """Number of notes, or None if the notes must be read to count them."""
        names = self._files(wanted=True) if self._is_folder_of_notes() else []
        # A table of notes among the files has a note in each row.
        return None if not names or any(name.lower().endswith(".csv") for name in names) else len(names)

    def files(self) -> list[Path]:
        """Files of the notes: the files of a folder, or the file itself."""
        names = sorted(self._files(wanted=True)) if self._is_folder_of_notes() else []
        return [self.path / name for name in names] or [self.path]

    def left_aside(self) -> list[str]:
        """Names of sub-folders, hidden files and files with other suffixes in the folder, which are not read."""
        return self._files(wanted=False) if self._is_folder_of_notes() else []

    def aside(self, verb: str) -> list[str]:
        """Lines about `left_aside`. These files may also be notes: a large number shows that the format was wrong."""
        aside = self.left_aside()
        left = counted(len(aside), "other file or sub-folder", "other files and sub-folders")
        lines = [f"{left} of the input folder {'was' if len(aside) == 1 else 'were'} not read."] if aside else []
        if verb == "redacted" and any(map(_is_page, aside)):
            lines.append("Word and HTML files are read with --documents.")
        return lines

    def _is_folder_of_notes(self) -> bool:
        return self.path.is_dir() and self.format is not None and FORMATS[self.format].one_document

    def _files(self, wanted: bool) -> list[str]:
        assert self.format is not None
        first, *others = FORMATS[self.format].suffixes
        alone = (first, *FORMATS[self.format].also_read)
        # Hidden files are no notes, as in `read_corpus`.
        entries = [*self.path.iterdir()]
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        if not wanted:
            known = {e.name for e in visible if not e.is_dir() and e.suffix.lower() in (*alone, *others)}
            return sorted({e.name for e in entries} - known)
        return [e.name for e in visible if e.suffix.lower() in alone and not e.is_dir()]
