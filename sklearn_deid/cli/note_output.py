"""Output of ``tag`` and ``redact``: which outputs are refused, and how an interrupted run continues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..io import FORMATS, DocumentWriter
from ..io.format import Format
from ..text import Document
from .numbering import OutputNumbers, has_aside, hide_order, hide_time, put_back
from .recorded_output import PART, NoteState, RecordedOutput

_ENDINGS = {suffix for known in FORMATS.values() for suffix in (*known.suffixes, *known.also_read)}
_WORK_ENDINGS = (PART, ".pieces")


class NoteOutput(RecordedOutput):
    """Output in a folder with files for each note, or in one file with all notes.

    Parameters
    ----------
    path : Path
        Folder or file to write.
    format : str or Format
        Format of `io`.
    resume, overwrite, numbers, stamp
        As in `RecordedOutput`.

    Raises
    ------
    DeidError
        If the output exists and neither option is set, or if the format needs a folder and the path is a file (or the
        reverse). Also if ``resume`` is set and the format cannot be resumed.
    """

    def __init__(
        self,
        path: Path,
        format: str | Format,
        *,
        resume: bool = False,
        overwrite: bool = False,
        numbers: OutputNumbers | None = None,
        stamp: Mapping[str, Any] | None = None,
    ) -> None:
        self.format = FORMATS[format] if isinstance(format, str) else format
        stamp = dict(stamp or {}, output_format=self.format.name, numbered=numbers is not None)
        super().__init__(path, resume=resume, overwrite=overwrite, stamp=stamp, numbers=numbers)
        self._changed: list[str] = []
        self._check()

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

    def _begin(self) -> None:
        if self.resume and self.format.one_document:
            self._check_files(self.record, self._files(), by_content=True)
        elif self.resume:
            self._check_lines()
        self._writer = DocumentWriter(self.path, self.format, overwrite=self.overwrite, resume=self.resume)
        self._unread = set(self._writer.completed)

    def _end(self, kind: type[BaseException] | None) -> None:
        if kind is None and self._changed:
            self._writer.drop(self._changed)
        # Notes of a folder are read in the order of their names: the order of lines would tell the rank of a name.
        if kind is None and self.numbers is not None:
            self._writer.sort()
        self._writer.__exit__(kind, None, None)
        if kind is None and self.numbers is not None and self.format.one_document:
            hide_order(self.path, [file.name for file, _ in self._files()])

    def _name(self, doc_id: str) -> str | None:
        return doc_id if self.numbers is None else self.numbers.known(doc_id)

    def _check(self) -> None:
        # All problems of the output are reported before the model is loaded, which takes seconds.
        if self.resume and not self.format.resumable:
            raise DeidError(f"Output in the format {self.format.name} cannot be resumed. Use --overwrite.")
        named_as_file = self.path.suffix.lower() in _ENDINGS or self.path.exists()
        if self.format.one_document and named_as_file and not self.path.is_dir():
            raise DeidError("The output has one file for each note and needs a folder.", path=str(self.path))
        if not self.format.one_document and self.path.is_dir():
            raise DeidError("The output is one file with all notes, but the path is a folder.", path=str(self.path))
        self._refuse_used()

    def is_used(self) -> bool:
        """Whether the output already contains data."""
        if self.format.one_document:
            is_empty = not self.path.is_dir() or all(entry.name.startswith(".") for entry in self.path.iterdir())
            return has_aside(self.path) or not is_empty
        return any(file.exists() for file in self._one_file())

    # ---- outputs of earlier runs

    def _restore(self) -> None:
        if self.format.one_document:
            put_back(self.path)

    def _one_file(self) -> tuple[Path, Path]:
        """File of an output in a single file: the unfinished or the finished file."""
        return self.path.with_name(f"{self.path.name}{PART}"), self.path

    def _files(self) -> list[tuple[Path, str | None]]:
        found: list[tuple[Path, str | None]] = []
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else []:
            if not file.name.startswith("."):
                whole = file.name.removesuffix(PART)
                ending = next((suffix for suffix in self.format.suffixes if whole.endswith(suffix)), None)
                is_output = ending is not None and file.is_file() and not file.is_symlink()
                found.append((file, whole.removesuffix(ending or "") if is_output else None))
        return found

    def _check_lines(self) -> None:
        for file in self._one_file():
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
        if self.format.one_document:
            super()._remove_earlier()
        else:
            self._check_recorded(*self._one_file())
            self._remove(*self._one_file())


def check_new(overwrite: bool, *paths: Path) -> None:
    """Refuse to replace a file without ``--overwrite``.

    Raises
    ------
    DeidError
        If a file exists.
    """
    for path in paths:
        if path.exists() and not overwrite:
            raise DeidError("The output exists already. Use --overwrite or another --output.", path=str(path))


def check_apart(notes: Path, outputs: list[Path], of: str = "notes") -> None:
    """Refuse outputs that could overwrite the input notes.

    Parameters
    ----------
    notes : Path
        File or folder of the input.
    outputs : list of Path
        Files and folders that will be written.
    of : str, default="notes"
        Name of the input in the message.

    Raises
    ------
    DeidError
        If an output is the input, is inside the folder of the input, or is the folder that contains the input file.
        Also if the input is a file that the run writes next to an output.
    """
    source = notes.resolve()
    for output in outputs:
        # Both paths are resolved, so that links and ".." cannot hide that two paths are one.
        target = output.resolve()
        inside = source.is_dir() and target.is_relative_to(source)
        if inside or target == source or target == source.parent:
            raise DeidError(f"The output must not lie in the folder of the {of}.", path=str(output))
        check_no_work_file(notes, output)


def check_no_work_file(path: Path, output: Path) -> None:
    """Refuse a file of the user, such as notes or a key, where a run stores its unfinished output.

    Raises
    ------
    DeidError
        If the path is, or is inside, ``OUTPUT.part`` or ``OUTPUT.pieces``, since the run would remove the file.
    """
    source, target = path.resolve(), output.resolve()
    if any(source.is_relative_to(target.parent / f"{target.name}{ending}") for ending in _WORK_ENDINGS):
        raise DeidError(
            "The run keeps its unfinished output under this name, and would remove the file. Rename it, or use another "
            "--output.",
            path=str(path),
        )
