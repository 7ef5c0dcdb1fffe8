"""Output of ``redact`` for Word, HTML and text files: each file is written as a file of the same kind."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from .._atomic import write_file
from ..exceptions import CorpusFormatError, DeidError
from ..io.documents import open_document
from ..io.documents.opening import DOCUMENT_SUFFIXES, REFUSED_SUFFIXES
from ..surrogates import Replacement
from ..text import Document
from .document_source import DIGEST
from .numbering import OutputNumbers, has_aside, hide_order, hide_time, put_back
from .recorded_output import NoteState, RecordedOutput


class DocumentOutput(RecordedOutput):
    """Folder of redacted files; the record of the run is next to the folder.

    Parameters
    ----------
    path : Path
        Folder.
    paths : mapping of str to Path
        Original files, by name.
    resume, overwrite, numbers, stamp
        As in `RecordedOutput`.

    Raises
    ------
    DeidError
        If the path is a file or has the name of a file, or if there is an earlier output and neither option is set.
    """

    def __init__(
        self,
        path: Path,
        paths: Mapping[str, Path],
        *,
        resume: bool,
        overwrite: bool,
        numbers: OutputNumbers | None,
        stamp: Mapping[str, Any],
    ) -> None:
        stamp = dict(stamp, numbered=numbers is not None)
        super().__init__(path, resume=resume, overwrite=overwrite, stamp=stamp, numbers=numbers)
        self._paths = paths
        if path.is_file() or path.suffix.lower() in (*DOCUMENT_SUFFIXES, *REFUSED_SUFFIXES, ".jsonl"):
            raise DeidError("The output has one file for each document and needs a folder.", path=str(path))
        self._refuse_used()

    def is_used(self) -> bool:
        """Whether the folder holds a file that is not hidden, or files that a run has set aside."""
        return has_aside(self.path) or bool(self._files())

    def _restore(self) -> None:
        put_back(self.path)

    def _begin(self) -> None:
        if self.resume:
            self._check_files(self.record, self._files(), by_content=True)
            self._unread = {file.name for file, _ in self._files()}
        self.path.mkdir(parents=True, exist_ok=True)

    def _end(self, kind: type[BaseException] | None) -> None:
        if kind is None and self.numbers is not None:
            hide_order(self.path, [file.name for file, _ in self._files()])

    def state(self, note: Document) -> NoteState:
        """State of the output of a file after an earlier run. The output of a file that has changed is removed."""
        name = self._name(note.doc_id, is_known=True)
        self._unread.discard(name or "")
        # A name that is not in the record can be another name of a file that this run has written.
        if name is None or not self.record.has_output(name) or not (self.path / name).exists():
            return NoteState.NEW
        if self.record.has_note(name, note):
            return NoteState.DONE
        (self.path / name).unlink()
        return NoteState.CHANGED

    def write(self, found: Sequence[Replacement], note: Document) -> None:
        """Write a redacted file. The file is complete on disk when the method returns.

        Raises
        ------
        CorpusFormatError
            If the file has changed since it was read, or if another file of this run has the same name on a disk that
            ignores case or accents.
        """
        # Read again: the files of a batch of notes could be large.
        opened = open_document(self._paths[note.doc_id])
        if opened.digest != note.meta[DIGEST] or opened.text != note.text:
            raise CorpusFormatError("The file has changed while it was read.", doc_id=note.doc_id)
        content = opened.replaced(found)
        name = self._name(note.doc_id)
        assert name is not None
        if (self.path / name).exists():
            message = "Another file has this name already: on this disk both names are one. Rename one of the files."
            raise CorpusFormatError(message, doc_id=note.doc_id)
        # The record comes first: a file without a record would look foreign to a resumed run.
        self.record.add(name, note, [content])
        # One hidden name for each file: what a killed run has left of a file is removed when it is written again. The
        # name of the file with an ending could be too long.
        work = self.path / f".{sha256(os.fsencode(name)).hexdigest()}.part"
        write_file(self.path / name, content, work=work)
        if self.numbers is not None:
            hide_time(self.path / name)

    def _name(self, doc_id: str, *, is_known: bool = False) -> str | None:
        if self.numbers is None:
            return doc_id
        number = self.numbers.known(doc_id) if is_known else self.numbers.assign(doc_id)
        return None if number is None else number + Path(doc_id).suffix.lower()

    def _files(self) -> list[tuple[Path, str | None]]:
        entries = sorted(self.path.iterdir()) if self.path.is_dir() else []
        visible = (entry for entry in entries if not entry.name.startswith("."))
        return [(file, file.name if file.is_file() and not file.is_symlink() else None) for file in visible]
