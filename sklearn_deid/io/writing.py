"""Write a whole corpus at once, or one document after another, so that an interrupted run can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from io import FileIO
from os import PathLike
from pathlib import Path
from types import TracebackType

from .._atomic import naming, write_file
from ..exceptions import DeidError
from ..text import Document
from .checking import SourceLocation, check_strings, writable_document
from .files import (
    already_there,
    close_locked,
    drop_unfinished_line,
    file_name,
    is_lockable,
    open_locked,
    open_part,
    part_of,
    turn_in,
)
from .format import Format
from .formats.jsonl import drop_lines, finished_ids, sort_lines
from .registry import FORMATS, get_format


def write_corpus(
    corpus: Iterable[Document],
    path: str | PathLike[str],
    format: str | Format | None = None,
    *,
    lossy: bool = False,
    overwrite: bool = False,
) -> None:
    """Write documents to files from which `read_corpus` restores them.

    Files are encoded in UTF-8. Newlines are not translated. Each file is written under a temporary name and renamed.

    ================  =================  ============================================================================
    format            ``path``           information that the format cannot store
    ================  =================  ============================================================================
    "jsonl"           a file             nothing is lost
    "docbin"          a file             nothing is lost; for spaCy, with named entities where spans overlap not
    "i2b2"            a folder           confidence; control characters other than tab, LF and CR (raises)
    "meddocan-xml"    a folder           confidence; control characters other than tab, LF and CR (raises)
    "brat"            a folder           category; labels with white space (raises)
    "conll"           a file             confidence and category; labels with white space, spans that do not begin and
                                         end with tokens, overlapping spans (raise)
    "labelstudio"     a file             category
    "doccano"         a file             nothing is lost
    "prodigy"         a file             nothing is lost
    "uima"            a folder           control characters other than tab, LF and CR (raises)
    "text"            a folder           spans, patient id, meta (raises if there are any)
    ================  =================  ============================================================================

    Both XML formats need a category for each span. For a span without a category, the writer uses the category of the
    label in the scheme of the format.

    Parameters
    ----------
    corpus : Corpus or iterable of Document
        Documents to write. The document ids must be unique.
    path : str or path-like
        A file for formats with all documents in one file, otherwise a folder. A missing folder is created. In the
        folder, the files of a document are named after its id.
    format : {"jsonl", "docbin", "i2b2", "meddocan-xml", "brat", "conll", "labelstudio", "doccano", "prodigy", \
            "uima", "text"}, optional
        Format of the files. With None, ``"jsonl"``, ``"docbin"``, ``"conll"`` and ``"labelstudio"`` are guessed from
        the suffix of the path.
    lossy : bool, default=False
        Whether the writer may drop information instead of raising an error, where the offsets can remain unchanged.
        With ``lossy``, ``"text"`` drops everything except the text. CoNLL widens spans to tokens and drops overlapping
        spans. XML writes a space for each control character.
    overwrite : bool, default=False
        Whether existing files may be replaced. The default protects gold annotations from being overwritten by
        predictions.

    Raises
    ------
    CorpusFormatError
        If the format cannot store a document, or a document id is repeated or is not a valid file name. In this case no
        file is written. After any other error, such as a full disk, all new files are removed: a part of the notes
        would look like all notes.
    FileExistsError
        If a file exists and ``overwrite`` is False.
    DeidError
        If another process has replaced the unfinished file, with ``overwrite``. A process that writes to a folder to
        which another process writes emits a UserWarning and waits for the other process.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_deid.io import read_corpus
    >>> from sklearn_deid.text import Document, Span
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.jsonl")
    >>> write_corpus([Document("n1", "Seen by Dr. Who.", (Span(12, 15, "DOCTOR"),), "p1")], path)
    >>> read_corpus(path)[0]
    Document(doc_id='n1', 16 characters, 1 span)
    """
    documents = list(corpus)
    writer = DocumentWriter(path, format, lossy=lossy, overwrite=overwrite)
    # Two processes that write the same names would mix their notes, and one that fails would remove those of the other.
    with turn_in(writer.path) if writer.format.one_document else nullcontext():
        _write_all(writer, documents)


def _write_all(writer: DocumentWriter, documents: Sequence[Document]) -> None:
    there = {file.name for file in writer.path.iterdir()} if writer.format.one_document else frozenset()
    try:
        # Files of a folder are checked before the first one is written. A stream can be discarded as a whole.
        if writer.format.one_document:
            writer.check(documents)
        for document in documents:
            writer.write(document)
        writer.close()
    except BaseException:
        writer.discard(there)
        raise


class DocumentWriter:
    """Writer for one document after another. A document is in the file as soon as `write` returns.

    Formats with one file per document write each file under a temporary name and rename it. A JSON lines file grows
    under its name with the suffix ``.part``. The file is renamed to its final name when the writer is closed without an
    error. A file with the final name is therefore always complete. A ``.part`` file holds the finished documents of an
    interrupted run. A DocBin is made from a ``.part`` file when the writer is closed.

    A writer locks its ``.part`` file until it is closed, or until writing has failed. A second writer with ``resume``
    raises a DeidError instead of mixing its documents with those of the first writer. Windows and some network drives
    have no such locks: there, two writers must not continue one file at the same time.

    Parameters
    ----------
    path, format, lossy, overwrite
        As for `write_corpus`.
    resume : bool, default=False
        Whether to continue an interrupted run: the writer keeps the finished documents and appends new documents.
        `completed` holds the ids of the finished documents; do not write these documents again. CoNLL and DocBin cannot
        be resumed.

    Attributes
    ----------
    completed : frozenset of str
        Ids of the documents that were finished before this writer was opened; empty without ``resume``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_deid.text import Document
    >>> path = pathlib.Path(tempfile.mkdtemp(), "redacted.jsonl")
    >>> notes = [Document("a", "One."), Document("b", "Two.")]
    >>> with DocumentWriter(path) as writer:
    ...     writer.write(notes[0])
    >>> with DocumentWriter(path, resume=True) as writer:
    ...     for note in notes:
    ...         if note.doc_id not in writer.completed:
    ...             writer.write(note)
    >>> sorted(completed_ids(path))
    ['a', 'b']
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | Format | None = None,
        *,
        lossy: bool = False,
        overwrite: bool = False,
        resume: bool = False,
    ) -> None:
        self.path = Path(path)
        self.format = _output_format(self.path, format)
        self.lossy, self.overwrite = lossy, overwrite
        if resume and not self.format.resumable:
            raise ValueError(
                f"The format {self.format.name!r} cannot be resumed. Use 'jsonl' or one file for each document."
            )
        self.completed: frozenset[str] = frozenset()
        self._made: set[tuple[int, int]] = set()
        self._stream: FileIO | None = None
        self._part: tuple[int, int] | None = None
        folder = self.path if self.format.one_document else self.path.parent
        # From the inside to the outside.
        self._new_folders = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        if not self.format.one_document:
            self._open(overwrite, resume)
        elif resume:
            self.completed = frozenset(completed_ids(self.path, self.format.name))
        self._written = set(self.completed)

    def check(self, documents: Iterable[Document]) -> None:
        """Check documents before the first document is written. The errors are as in `write`."""
        ids = set(self._written)
        for document in documents:
            self._targets(document, self._render(document, ids))
            ids.add(document.doc_id)

    def write(self, document: Document, *, before: Callable[[Mapping[str, bytes]], None] | None = None) -> None:
        """Write one document. The errors are as in `write_corpus`.

        Parameters
        ----------
        document : Document
            Document to write.
        before : callable, optional
            Function that is called with the content for each suffix, after all checks and before anything is written.
        """
        contents = self._render(document, self._written)
        targets = self._targets(document, contents) if self._stream is None else {}
        if before is not None:
            before(contents)
        self._written.add(document.doc_id)
        if self._stream is None:
            self._write_files(targets)
        else:
            self._append(self._stream, b"".join(contents.values()))

    def drop(self, doc_ids: Iterable[str]) -> None:
        """Remove documents that an earlier run has written. Documents that are not in the file are ignored."""
        dropped = set(doc_ids)
        if self._stream is None:
            for doc_id in dropped:
                for suffix in self.format.suffixes:
                    (self.path / file_name(doc_id, suffix)).unlink(missing_ok=True)
            return
        self._rewrite(self._stream, partial(drop_lines, doc_ids=dropped))

    def sort(self) -> None:
        """Sort the documents of a JSON lines file by id, including documents of earlier runs. Folders stay."""
        if self._stream is not None:
            self._rewrite(self._stream, sort_lines)

    def close(self) -> None:
        """Close the writer. A file with many documents is then renamed to its final name, unless writing has failed."""
        if self._stream is not None and not self._stream.closed:
            # A rename can reach the disk before the content does, so the content is synced first.
            with naming(self.path):
                os.fsync(self._stream.fileno())
            with _locked(self._stream):
                self._check_part()
                part = part_of(self.path)
                if self.format.pack is not None:
                    write_file(part, self.format.pack(part), work=part_of(part))
                    self._part = _identity(part)
                os.replace(part, self.path)

    def discard(self, kept: Set[str] = frozenset()) -> None:
        """Close the writer and remove what it has made, except for files whose names are in ``kept``."""
        if self._stream is not None:
            with _locked(self._stream):
                if self._has_part():
                    part_of(self.path).unlink(missing_ok=True)
        else:
            names = {file_name(doc_id, suffix) for doc_id in self._written for suffix in self.format.suffixes}
            for name in names - kept:
                (self.path / name).unlink(missing_ok=True)
        # An empty folder would look like a result.
        with suppress(OSError):
            for folder in self._new_folders:
                folder.rmdir()

    def __enter__(self) -> DocumentWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            # After an error the .part file is kept, so that resume=True can continue.
            if self._stream is not None:
                close_locked(self._stream)

    def _open(self, overwrite: bool, resume: bool) -> None:
        part = part_of(self.path)
        is_new = not part.exists()
        stream = open_part(self.path, overwrite=overwrite, resume=resume)
        self._take(stream)
        if resume:
            try:
                # Behind the lock: before, another writer may finish further documents.
                self.completed = frozenset(completed_ids(self.path, self.format.name))
                drop_unfinished_line(part)
            except BaseException:
                with _locked(stream):
                    if is_new:
                        part.unlink()
                raise

    def _rewrite(self, stream: FileIO, rewrite: Callable[[Path], None]) -> None:
        """Replace the unfinished file, and continue with the new file."""
        part = part_of(self.path)
        with _locked(stream):
            self._check_part()
            rewrite(part)
            self._take(open_locked(part, "ab"))

    def _take(self, stream: FileIO) -> None:
        status = os.fstat(stream.fileno())
        self._stream, self._part = stream, (status.st_dev, status.st_ino)

    def _has_part(self) -> bool:
        """Whether the unfinished file is of this writer. With ``overwrite``, another process can replace the file."""
        part = part_of(self.path)
        return part.exists() and _identity(part) == self._part

    def _check_part(self) -> None:
        if not self._has_part():
            part = part_of(self.path)
            raise DeidError("Another run has replaced the unfinished file of this output.", path=str(part))

    def _render(self, document: Document, ids: set[str]) -> dict[str, bytes]:
        place = SourceLocation(str(self.path), document.doc_id)
        document = writable_document(place, document)
        # Two documents with one id would overwrite each other's files, and readers would refuse the file.
        if document.doc_id in ids:
            raise place.error("The document id occurs twice.")
        contents = self.format.write(document, self.lossy)
        check_strings(place, document.doc_id, *contents.values())
        return {suffix: content.encode("utf-8") for suffix, content in contents.items()}

    def _targets(self, document: Document, contents: Mapping[str, bytes]) -> dict[Path, bytes]:
        targets = {self.path / file_name(document.doc_id, suffix): content for suffix, content in contents.items()}
        for target, content in targets.items():
            if target.exists() and _identity(target) in self._made:
                raise SourceLocation(str(self.path), document.doc_id).error(
                    "Another document has this file already: on this file system both ids are one name. Write into one "
                    ".jsonl file, number the outputs, or change the id."
                )
            # A file with the same content is no conflict: an interrupted run may have left half of a pair, or .ann
            # files are written beside their existing notes.
            if not self.overwrite and target.exists() and target.read_bytes() != content:
                raise already_there(target)
        return targets

    def _write_files(self, targets: Mapping[Path, bytes]) -> None:
        # The old second file is removed first. A run that is interrupted between the two files then leaves half of a
        # pair, and readers refuse half of a pair.
        if len(targets) > 1:
            list(targets)[-1].unlink(missing_ok=True)
        for target, content in targets.items():
            write_file(target, content, work=part_of(target))
            self._made.add(_identity(target))

    def _append(self, stream: FileIO, content: bytes) -> None:
        try:
            # An unbuffered write may write a part only. The loop writes the rest.
            rest = memoryview(content)
            with naming(self.path):
                while rest:
                    rest = rest[stream.write(rest) :]
        except BaseException:
            # The file may end with half a document. Closing the stream prevents that more documents follow.
            close_locked(stream)
            raise


def completed_ids(path: str | PathLike[str], format: str | None = None) -> set[str]:
    """Ids of the documents that a finished or interrupted run has written completely.

    Parameters
    ----------
    path : str or path-like
        Path that you passed to `DocumentWriter`. The path need not exist.
    format : {"jsonl", "i2b2", "meddocan-xml", "brat", "text"}, optional
        Format of the files. With None, ``"jsonl"`` is guessed from the suffix.

    Returns
    -------
    set of str
        Ids of the completely written documents.

    Raises
    ------
    ValueError
        If the format is CoNLL or DocBin. Unfinished files of these formats do not show which documents are complete.
    CorpusFormatError
        If a JSON lines file has invalid content.

    Examples
    --------
    >>> completed_ids("no/such/folder", "brat")
    set()
    """
    path = Path(path)
    fmt = _output_format(path, format)
    if not fmt.resumable:
        raise ValueError(f"Completed documents cannot be listed for the format {fmt.name!r}.")
    if not fmt.one_document:
        part = part_of(path)
        # An unfinished file is newer than the finished file of an earlier run.
        return finished_ids(part, unfinished=True) if part.exists() else finished_ids(path) if path.exists() else set()
    names = {file.name for file in path.iterdir()} if path.is_dir() else set()
    first, *others = fmt.suffixes
    stems = {name.removesuffix(first) for name in names if name.endswith(first)}
    # Half of a pair is not complete and is written again.
    return {stem for stem in stems if all(stem + suffix in names for suffix in others)}


@contextmanager
def _locked(stream: FileIO) -> Iterator[None]:
    """Keep the lock of an unfinished file until the end of the block, and close the file.

    Windows, which has no lock, does not rename a file that is open.
    """
    try:
        if not is_lockable():
            stream.close()
        yield
    finally:
        close_locked(stream)


def _identity(path: Path) -> tuple[int, int]:
    """Number of a file. Name for comparisons on file systems that ignore case and accents."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _output_format(path: Path, name: str | Format | None) -> Format:
    if name is None:
        found = [fmt for fmt in FORMATS.values() if not fmt.one_document and path.suffix.lower() in fmt.suffixes]
        if not found:
            writable = ", ".join(repr(name) for name, fmt in FORMATS.items() if fmt.writable)
            raise ValueError(f"The format cannot be inferred from the path. Pass one of {writable} as format=.")
        return found[0]
    fmt = name if isinstance(name, Format) else get_format(name)
    endings = {suffix for known in FORMATS.values() for suffix in (*known.suffixes, *known.also_read)}
    if fmt.one_document and path.suffix.lower() in endings and not path.is_dir():
        raise ValueError(
            f"The format {fmt.name!r} has one file for each document: 'path' must be a folder, not a file name."
        )
    if not fmt.one_document and path.is_dir():
        raise ValueError(f"The format {fmt.name!r} has all documents in one file: 'path' must be a file, not a folder.")
    return fmt
