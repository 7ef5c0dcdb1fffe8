"""Output of ``tag`` and ``redact``: which targets they refuse, and how an interrupted run continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from ..exceptions import DeidError
from ..io import FORMATS, DocumentWriter
from ..text import Document
from .numbering import OutputNumbers, hide_order, hide_time, put_back
from .run_record import RunRecord

_ENDINGS = {suffix for known in FORMATS.values() for suffix in known.suffixes}
_PART = ".part"
_WORK_ENDINGS = (_PART, ".pieces")


class NoteState(Enum):
    """State of an output: nothing, the result of this note, or the result of another note with the same id."""

    NEW, DONE, CHANGED = range(3)


class NoteOutput:
    """Output in a folder with files for each note, or in one file with all notes.

    A record beside the output (`RunRecord`) holds the source of each output. An output that is not in the record never
    counts as the result of a run.

    Parameters
    ----------
    path : Path
        Folder or file to write.
    format : str
        Format of `io`.
    resume, overwrite : bool
        Whether to continue or to overwrite an existing output. If ``resume`` and ``overwrite`` are False, an existing
        output is refused.
    numbers : OutputNumbers, optional
        Random numbers that replace the ids of the notes in the output.
    stamp : mapping, optional
        Model and options of the run. With ``resume``, model and options must be the same as in the earlier run.

    Raises
    ------
    DeidError
        If the output exists and is refused, if the format needs a folder and the path is a file (or the reverse), or
        if ``resume`` is set and the format cannot be resumed.
    """

    def __init__(
        self,
        path: Path,
        format: str,
        *,
        resume: bool = False,
        overwrite: bool = False,
        numbers: OutputNumbers | None = None,
        stamp: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self.format, self.numbers = path, FORMATS[format], numbers
        self.resume, self.overwrite = resume, overwrite
        self.stamp = dict(stamp or {}, output_format=format, numbered=numbers is not None)
        self.record = RunRecord(path)
        self._changed: list[str] = []
        self._unread: set[str] = set()
        self._check()

    @property
    def n_unread(self) -> int:
        """Number of outputs of an earlier run whose notes this run has not read."""
        return len(self._unread)

    def state(self, document: Document) -> NoteState:
        """State of the output of this note after an earlier run.

        Results of changed notes are removed when the run ends.
        """
        name = self._name(document.doc_id)
        if name is None or name not in self._writer.completed:
            return NoteState.NEW
        self._unread.discard(name)
        if self.record.has_note(name, document):
            return NoteState.DONE
        self._changed.append(name)
        return NoteState.CHANGED

    def write(self, document: Document, note: Document) -> None:
        """Write the result of a note. The result is complete on disk when the method returns.

        Parameters
        ----------
        document : Document
            Result to write.
        note : Document
            Note from which the result was made.

        Raises
        ------
        CorpusFormatError
            If the format cannot hold this note. Other notes can still be written.
        """
        if self.numbers is not None:
            document = Document(self.numbers.assign(document.doc_id), document.text, document.spans)

        def announce(contents: Mapping[str, bytes]) -> None:
            joined = contents.values() if self.format.one_document else [b"".join(contents.values())]
            self.record.add(document.doc_id, note, joined)

        self._writer.write(document, before=announce)
        if self.numbers is not None and self.format.one_document:
            for suffix in self.format.suffixes:
                hide_time(self.path / f"{document.doc_id}{suffix}")

    def __enter__(self) -> NoteOutput:
        try:
            if self.overwrite:
                self._remove_earlier()
            used = self.is_used()
            if self.numbers is not None:
                self.numbers.open(keep=self.resume or self.overwrite)
            self.record.open(self.stamp, resume=self.resume and (used or self.record.path.exists()))
            if self.resume:
                self._check_earlier()
            self._writer = DocumentWriter(self.path, self.format.name, overwrite=self.overwrite, resume=self.resume)
            self._unread = set(self._writer.completed)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._changed:
                self._writer.drop(self._changed)
            # Notes of a folder are read in the order of their names: the order of lines would tell the rank of a name.
            if kind is None and self.numbers is not None:
                self._writer.sort()
            self._writer.__exit__(kind, error, trace)
            if kind is None and self.numbers is not None and self.format.one_document:
                hide_order(self.path, [file.name for file, _ in self._files()])
        finally:
            self._close()

    def _name(self, doc_id: str) -> str | None:
        return doc_id if self.numbers is None else self.numbers.known(doc_id)

    def _close(self) -> None:
        self.record.close()
        if self.numbers is not None:
            self.numbers.close()

    def _check(self) -> None:
        # All problems of the output are reported before the model is loaded, which takes seconds.
        if self.resume and not self.format.resumable:
            raise DeidError(f"Output in the format {self.format.name} cannot be resumed. Use --overwrite.")
        named_as_file = self.path.suffix.lower() in _ENDINGS or self.path.exists()
        if self.format.one_document and named_as_file and not self.path.is_dir():
            raise DeidError("The output has one file for each note and needs a folder.", path=str(self.path))
        if not self.format.one_document and self.path.is_dir():
            raise DeidError("The output is one file with all notes, but the path is a folder.", path=str(self.path))
        if self.format.one_document:
            put_back(self.path)
        if self.is_used() and not self.resume and not self.overwrite:
            raise existing_output(self.path)

    def is_used(self) -> bool:
        """Whether the output holds something already."""
        if self.format.one_document:
            return self.path.is_dir() and any(not entry.name.startswith(".") for entry in self.path.iterdir())
        return self.path.exists() or self.path.with_name(f"{self.path.name}{_PART}").exists()

    # ---- outputs of earlier runs

    def _files(self) -> Iterator[tuple[Path, str | None]]:
        """Visible files of an output folder, with the name of the output; None for a file of another kind."""
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else []:
            if not file.name.startswith("."):
                whole = file.name.removesuffix(_PART)
                ending = next((suffix for suffix in self.format.suffixes if whole.endswith(suffix)), None)
                yield file, None if ending is None or file.is_symlink() else whole.removesuffix(ending)

    def _check_earlier(self) -> None:
        """Refuse to continue an output that holds anything except results of the recorded run."""
        if not self.format.one_document:
            self._check_lines()
            return
        for file, name in self._files():
            if name is None or not self.record.has_output(name):
                raise foreign_file(file)
            if not file.name.endswith(_PART) and not self.record.has_output(name, file.read_bytes()):
                raise changed_file(file)

    def _check_lines(self) -> None:
        part = self.path.with_name(f"{self.path.name}{_PART}")
        for file in (part, self.path):
            if file.exists():
                with file.open("rb") as stream:
                    for number, line in enumerate(stream, start=1):
                        # Half a line of a killed run is cut off later.
                        if line.endswith(b"\n") and not self.record.has_line(line):
                            raise DeidError(
                                f"Line {number} is no output of the run. Use --overwrite or another --output.",
                                path=str(file),
                            )

    def _remove_earlier(self) -> None:
        """Remove the files of the run that is to be overwritten. Files of other origin are refused, not removed."""
        if not self.format.one_document:
            for earlier_file in (self.path, self.path.with_name(f"{self.path.name}{_PART}")):
                check_recorded(earlier_file, self.record)
            return
        earlier = self.record.earlier()
        files = list(self._files())
        for file, name in files:
            if name is None or earlier is None or not earlier.has_output(name):
                raise foreign_file(file)
        for file, _ in files:
            file.unlink()


def foreign_file(file: Path) -> DeidError:
    """Make the error for a file in the output folder that no run has written."""
    return DeidError(
        "This file in the output folder is no output of the run: it may be a raw note. Move it away, or use another "
        "--output.",
        path=str(file),
    )


def changed_file(file: Path) -> DeidError:
    """Error for a file that was changed after an earlier run wrote it."""
    return DeidError(
        "This file was changed after the run wrote it. Move it away, and use --resume again.", path=str(file)
    )


def existing_output(path: Path) -> DeidError:
    """Error for the output of an earlier run, if no option says whether to replace or to continue the output."""
    return DeidError(
        "The output exists already. Use --resume to continue an interrupted run, --overwrite to replace the output, or "
        "another --output.",
        path=str(path),
    )


def check_new(path: Path, overwrite: bool) -> None:
    """Refuse to replace a file without ``--overwrite``.

    Raises
    ------
    DeidError
        If the file exists.
    """
    if path.exists() and not overwrite:
        raise DeidError("The output exists already. Use --overwrite or another --output.", path=str(path))


def check_recorded(path: Path, record: RunRecord) -> None:
    """Refuse to overwrite an existing output that no record describes."""
    if path.exists() and record.stamp() is None:
        raise DeidError(
            "This file is no output of a recorded run. Remove it yourself, or use another --output.", path=str(path)
        )


def check_apart(notes: Path, outputs: list[Path]) -> None:
    """Refuse outputs that could overwrite the input notes.

    Parameters
    ----------
    notes : Path
        File or folder of the input.
    outputs : list of Path
        Files and folders that will be written.

    Raises
    ------
    DeidError
        If an output is the input, lies in the folder of the input, or is the folder that holds the input file, or if
        the input is a file that the run writes beside an output.
    """
    source = notes.resolve()
    for output in outputs:
        # Both paths are resolved, so that links and ".." cannot hide that two paths are one.
        target = output.resolve()
        inside = source.is_dir() and target.is_relative_to(source)
        if inside or target == source or target == source.parent:
            raise DeidError("The output must not lie in the folder of the notes.", path=str(output))
        check_no_work_file(notes, output)


def check_no_work_file(path: Path, output: Path) -> None:
    """Refuse a file of the user, such as notes or a key, in a place where a run keeps its unfinished output.

    Raises
    ------
    DeidError
        If the path is, or lies in, ``OUTPUT.part`` or ``OUTPUT.pieces``: the run would remove the file.
    """
    source, target = path.resolve(), output.resolve()
    if any(source.is_relative_to(target.with_name(f"{target.name}{ending}")) for ending in _WORK_ENDINGS):
        raise DeidError(
            "The run keeps its unfinished output under this name, and would remove the file. Rename it, or use another "
            "--output.",
            path=str(path),
        )
