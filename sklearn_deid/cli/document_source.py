"""Input of ``redact`` for Word, HTML and text files, whose redacted copies keep their layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..exceptions import CorpusFormatError, DeidError
from ..io.documents import open_document
from ..io.documents.opening import DOCUMENT_SUFFIXES, REFUSED_SUFFIXES
from ..text import Document
from .counting import counted

#: Key of the digest of a file in the meta data of its note.
DIGEST = "sha256"
_SMALLEST_DOCUMENT = 512
_WORD = (".docx", ".docm", ".doc", ".dotx", ".dotm")


class DocumentSource:
    """Files of a folder in the order of their names, or a single file.

    Hidden files, lock files of Word and sub-folders are left out.

    Parameters
    ----------
    path : Path
        File or folder.

    Raises
    ------
    DeidError
        If there is no such file or folder, or if the folder has no file to read: a wrong folder, or one whose files are
        in sub-folders, would look redacted.
    """

    noun = "file"

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise DeidError("There is no such file or folder.", path=str(path))
        entries = sorted(path.iterdir()) if path.is_dir() else []
        shown = [entry for entry in entries if not entry.name.startswith(".") and not _is_folder(entry)]
        files = [entry for entry in shown if not _is_lock(entry)] if path.is_dir() else [path]
        if not files:
            raise DeidError("The folder holds no file. Files in folders inside of it are not read.", path=str(path))
        #: Files by their names, which are the ids of the notes.
        self.paths = {file.name: file for file in files}
        self.expected: set[str] = set()
        self._n_aside = len(entries) - len(shown)

    def read(self, on_error: Callable[[CorpusFormatError], object]) -> Iterator[Document]:
        """Yield the texts of the files. ``on_error`` is called with an error for each file that cannot be read."""
        for name, path in self.paths.items():
            try:
                opened = open_document(path)
            except CorpusFormatError as error:
                on_error(error)
            else:
                yield Document(name, opened.text, meta={DIGEST: opened.digest})

    def size(self) -> int:
        """Number of files."""
        return len(self.paths)

    def aside(self, verb: str) -> list[str]:
        """Line with the number of sub-folders and hidden files, which are not read; no line if there are none."""
        n = self._n_aside
        aside = counted(n, "sub-folder or hidden file was", "sub-folders and hidden files were")
        return [f"{aside} not read."] if n else []


def is_document(written: str) -> bool:
    """Whether NOTES is a single file that only `open_document` can read, or refuses with a reason."""
    suffixes = {*DOCUMENT_SUFFIXES, *REFUSED_SUFFIXES} - {".txt"}
    return Path(written).suffix.lower() in suffixes and not Path(written).is_dir()


def _is_lock(path: Path) -> bool:
    """Whether the file is a lock file, which Word creates while somebody edits the document.

    A Word file is never as small as a lock file, but a text file or a page can be.
    """
    return (
        path.suffix.lower() in _WORD
        and path.name.startswith("~$")
        and not path.is_symlink()
        and path.stat().st_size < _SMALLEST_DOCUMENT
    )


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
