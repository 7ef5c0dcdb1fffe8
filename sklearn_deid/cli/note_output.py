"""Output of ``tag`` and ``redact``: which targets they refuse, and how an interrupted run continues."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from ..exceptions import DeidError
from ..io import FORMATS, DocumentWriter
from ..text import Document
from .numbering import OutputNumbers

_ENDINGS = {suffix for known in FORMATS.values() for suffix in known.suffixes}


class NoteOutput:
    """Output in a folder with files for each note, or in one file with all notes.

    Parameters
    ----------
    path : Path
        Folder or file to write.
    format : str
        Format of `io`.
    resume, overwrite : bool
        Whether to continue or to overwrite an existing output. If both are False, an existing output is refused.
    numbers : OutputNumbers, optional
        Random numbers that replace the ids of the notes in the output.

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
    ) -> None:
        self.path, self.format, self.numbers = path, FORMATS[format], numbers
        self.resume, self.overwrite = resume, overwrite
        self._written: set[str] = set()
        self._check()

    def is_done(self, doc_id: str) -> bool:
        """Whether an earlier run has written this note."""
        return self._name(doc_id) in self._writer.completed

    def write(self, document: Document) -> None:
        """Write a note. The note is complete on disk when the method returns.

        Raises
        ------
        CorpusFormatError
            If the format cannot hold this note. Other notes can still be written.
        """
        doc_id = document.doc_id
        if self.numbers is not None:
            document = Document(self.numbers.assign(doc_id), document.text, document.spans)
        self._writer.write(document)
        # The id is recorded last: if the writer refuses the note, `withdraw` must remove the files of an earlier run.
        self._written.add(doc_id)

    def withdraw(self, doc_id: str) -> None:
        """Remove the files of an earlier run for a note that this run withholds."""
        name = self._name(doc_id)
        if not self.overwrite or doc_id in self._written:  # the second note with this id is withheld
            return
        # An id from a file could contain path separators, and deleting must not leave the output folder.
        if not self.format.one_document or name is None or Path(name).name != name:
            return
        for suffix in self.format.suffixes:
            (self.path / f"{name}{suffix}").unlink(missing_ok=True)

    def __enter__(self) -> NoteOutput:
        if self.numbers is not None:
            # The key file continues with --resume and --overwrite, so that a note keeps its number.
            self.numbers.open(keep=self.resume or self.overwrite)
        try:
            self._writer = DocumentWriter(self.path, self.format.name, overwrite=self.overwrite, resume=self.resume)
        except BaseException:
            self._close_numbers()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_numbers()
        self._writer.__exit__(kind, error, trace)

    def _name(self, doc_id: str) -> str | None:
        return doc_id if self.numbers is None else self.numbers.known(doc_id)

    def _close_numbers(self) -> None:
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
        if self._is_used() and not self.resume and not self.overwrite:
            raise DeidError(
                "The output exists already. Use --resume to continue an interrupted run, --overwrite to replace the "
                "output, or another --output.",
                path=str(self.path),
            )

    def _is_used(self) -> bool:
        if self.format.one_document:
            return self.path.is_dir() and any(not entry.name.startswith(".") for entry in self.path.iterdir())
        return self.path.exists() or self.path.with_name(f"{self.path.name}.part").exists()


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
        If an output is the input, lies in the folder of the input, or is the folder that holds the input file.
    """
    source = notes.resolve()
    for output in outputs:
        # Both paths are resolved, so that links and ".." cannot hide that two paths are one.
        target = output.resolve()
        inside = source.is_dir() and target.is_relative_to(source)
        if inside or target == source or target == source.parent:
            raise DeidError("The output must not lie in the folder of the notes.", path=str(output))
