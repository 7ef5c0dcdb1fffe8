"""Run of ``redact`` over Word, HTML and text files: each file becomes a file of the same kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._atomic import write_file
from ..exceptions import CorpusFormatError, DeidError
from ..io.documents import open_document
from ..io.documents.opening import DOCUMENT_SUFFIXES, REFUSED_SUFFIXES
from ..surrogates import Replacement
from ..text import Document, Span
from .annotating import Account, report_unread, results_of
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .note_output import NoteState, changed_file, existing_output, foreign_file
from .numbering import OutputNumbers, hide_order, hide_time, put_back
from .run_record import RunRecord

_SMALLEST_DOCUMENT = 512
_CHANGED = "The file has changed since its output was written, which is now removed. Run again with --resume."


def is_document(written: str) -> bool:
    """Whether NOTES is a single file that only `open_document` reads, or refuses with a reason."""
    suffixes = {*DOCUMENT_SUFFIXES, *REFUSED_SUFFIXES} - {".txt"}
    return Path(written).suffix.lower() in suffixes and not Path(written).is_dir()


def document_files(source: Path) -> list[Path]:
    """Files to redact, in the order of their names. Hidden files, lock files of Word and sub-folders are left out.

    Raises
    ------
    DeidError
        If there is no such file or folder.
    """
    if not source.exists():
        raise DeidError("There is no such file or folder.", path=str(source))
    if not source.is_dir():
        return [source]
    visible = (entry for entry in source.iterdir() if not entry.name.startswith("."))
    return sorted(entry for entry in visible if not _is_folder(entry) and not _is_lock(entry))


def sub_folders(source: Path) -> int:
    """Number of the sub-folders, whose files are not read, and of hidden files."""
    if not source.is_dir():
        return 0
    return sum(_is_folder(entry) or entry.name.startswith(".") for entry in source.iterdir())


def _is_lock(path: Path) -> bool:
    """Whether the file is a lock file, which Word creates while somebody edits the document.

    A document is never as small as a lock file.
    """
    return path.name.startswith("~$") and not path.is_symlink() and path.stat().st_size < _SMALLEST_DOCUMENT


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


class DocumentOutput:
    """Folder of redacted files, with the record of the run beside it.

    Parameters
    ----------
    path : Path
        Folder.
    resume, overwrite : bool
        Whether to continue or to replace an earlier output. If ``resume`` and ``overwrite`` are False, a folder that is
        not empty is refused.
    numbers : OutputNumbers, optional
        Random names instead of the names of the files.
    stamp : mapping
        Model and options of the run.

    Raises
    ------
    DeidError
        If the path is a file or has the name of a file, or if there is an earlier output and neither option is set.
    """

    def __init__(
        self, path: Path, *, resume: bool, overwrite: bool, numbers: OutputNumbers | None, stamp: Mapping[str, Any]
    ) -> None:
        self.path, self.resume, self.overwrite, self.numbers = path, resume, overwrite, numbers
        self.stamp = dict(stamp, numbered=numbers is not None)
        self.record = RunRecord(path)
        self._unread: set[str] = set()
        if path.is_file() or path.suffix.lower() in (*DOCUMENT_SUFFIXES, *REFUSED_SUFFIXES, ".jsonl"):
            raise DeidError("The output has one file for each document and needs a folder.", path=str(path))
        put_back(path)
        if self._files() and not resume and not overwrite:
            raise existing_output(path)

    def __enter__(self) -> DocumentOutput:
        try:
            if self.overwrite:
                self._check(self.record.earlier())
                for file in self._files():
                    file.unlink()
            if self.numbers is not None:
                self.numbers.open(keep=self.resume or self.overwrite)
            is_used = bool(self._files()) or self.record.path.exists()
            self.record.open(self.stamp, resume=self.resume and is_used)
            if self.resume:
                self._check(self.record, by_content=True)
                self._unread = {file.name for file in self._files()}
            self.path.mkdir(parents=True, exist_ok=True)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None and self.numbers is not None:
                hide_order(self.path, (file.name for file in self._files()))
        finally:
            self._close()

    @property
    def n_unread(self) -> int:
        """Number of outputs of an earlier run that belong to files that this run has not read."""
        return len(self._unread)

    def state(self, source: Document) -> NoteState:
        """State of the output of a file after an earlier run. The output of a file that has changed is removed."""
        name = self._name(source.doc_id, is_known=True)
        self._unread.discard(name or "")
        # A name that is not in the record can be another name of a file that this run has written.
        if name is None or not self.record.has_output(name) or not (self.path / name).exists():
            return NoteState.NEW
        if self.record.has_note(name, source):
            return NoteState.DONE
        (self.path / name).unlink()
        return NoteState.CHANGED

    def write(self, source: Document, content: bytes) -> None:
        """Write a redacted file. The file is complete on disk when the method returns.

        Raises
        ------
        CorpusFormatError
            If another file of this run has the same name on a disk that ignores case or accents.
        """
        name = self._name(source.doc_id)
        assert name is not None
        if (self.path / name).exists():
            message = "Another file has this name already: on this disk both names are one. Rename one of the files."
            raise CorpusFormatError(message, doc_id=source.doc_id)
        # The record comes first: a file without a record would look foreign to a resumed run.
        self.record.add(name, source, [content])
        # One hidden name for each file: what a killed run has left of a file is removed when it is written again.
        write_file(self.path / name, content, work=self.path / f".{name}.part")
        if self.numbers is not None:
            hide_time(self.path / name)

    def _name(self, doc_id: str, *, is_known: bool = False) -> str | None:
        if self.numbers is None:
            return doc_id
        number = self.numbers.known(doc_id) if is_known else self.numbers.assign(doc_id)
        return None if number is None else number + Path(doc_id).suffix.lower()

    def _files(self) -> list[Path]:
        entries = self.path.iterdir() if self.path.is_dir() else []
        return sorted(entry for entry in entries if not entry.name.startswith("."))

    def _check(self, record: RunRecord | None, *, by_content: bool = False) -> None:
        """Refuse a folder with a file that is not an output of the recorded run."""
        for file in self._files():
            is_file = file.is_file() and not file.is_symlink()
            if record is None or not is_file or not record.has_output(file.name):
                raise foreign_file(file)
            if by_content and not record.has_output(file.name, file.read_bytes()):
                raise changed_file(file)

    def _close(self) -> None:
        self.record.close()
        if self.numbers is not None:
            self.numbers.close()


def redact_documents(
    files: Sequence[Path],
    output: DocumentOutput,
    deidentifier: Any,
    replacements: Callable[[Document, tuple[Span, ...]], list[Replacement]],
    *,
    quiet: bool,
    n_folders: int = 0,
) -> int:
    """Redact files. The report shows the number of skipped sub-folders and hidden files.

    Returns
    -------
    int
        Exit code: `DONE`, or `SOME_WITHHELD` if a file could not be read, processed or written.
    """
    from tqdm import tqdm

    run = _DocumentRun(files, output, n_folders)
    account = run.account
    with output:
        try:
            with tqdm(total=len(files), unit=" files", mininterval=0.5, disable=quiet, file=sys.stderr) as bar:
                for found, note in results_of(
                    run.notes(), deidentifier, run.kept(replacements), account.withheld.append, account.unlike
                ):
                    run.write(found.doc_id, note)
                    bar.update(account.seen - bar.n)
                bar.update(account.seen - bar.n)
        finally:
            run.report()
    report_unread(output.n_unread)
    return SOME_WITHHELD if account.withheld else DONE


class _DocumentRun:
    def __init__(self, files: Sequence[Path], output: DocumentOutput, n_folders: int) -> None:
        self.paths = {file.name: file for file in files}
        self.output, self.n_folders = output, n_folders
        self.account = Account()
        self._found: dict[str, list[Replacement]] = {}
        self._sources: dict[str, Document] = {}

    def notes(self) -> Iterator[Document]:
        """Yield the texts of the files that no earlier run has finished."""
        for name, path in self.paths.items():
            try:
                opened = open_document(path)
            except CorpusFormatError as error:
                self.account.withheld.append(error)
                continue
            source = Document(name, opened.digest)
            state = self.output.state(source)
            if state is NoteState.NEW:
                self._sources[name] = source
                yield Document(name, opened.text)
            elif state is NoteState.DONE:
                self.account.skipped += 1
            else:
                self.account.withheld.append(CorpusFormatError(_CHANGED, doc_id=name))

    def kept(
        self, replacements: Callable[[Document, tuple[Span, ...]], list[Replacement]]
    ) -> Callable[[Document, tuple[Span, ...]], Document]:
        """Function for `results_of` that returns the replacements, from which the redacted file is made."""

        def result(document: Document, spans: tuple[Span, ...]) -> Document:
            self._found[document.doc_id] = replacements(document, spans)
            return document

        return result

    def write(self, name: str, note: Document) -> None:
        """Write a redacted file, or withhold it."""
        found, source = self._found.pop(name), self._sources.pop(name)
        try:
            # Read again: the files of a batch of notes could be large.
            opened = open_document(self.paths[name])
            if opened.digest != source.text or opened.text != note.text:
                raise CorpusFormatError("The file has changed while it was read.", doc_id=name)
            self.output.write(source, opened.replaced(found))
        except CorpusFormatError as error:
            self.account.withheld.append(error)
        else:
            self.account.done += 1

    def report(self) -> None:
        """Print the account of the run."""
        lines = self.account.lines("file")
        if self.n_folders:
            aside = counted(self.n_folders, "sub-folder or hidden file was", "sub-folders and hidden files were")
            lines.append(f"{aside} not read.")
        print(*lines, sep="\n", file=sys.stderr)
