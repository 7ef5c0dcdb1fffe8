"""Output of a run and the record of the run: which earlier outputs a run refuses, removes or continues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import DeidError
from .numbering import OutputNumbers
from .run_record import RunRecord

if TYPE_CHECKING:
    from typing_extensions import Self

PART = ".part"


class NoteState(Enum):
    """State of an output: no output, the result of this note, or the result of another note with the same id."""

    NEW, DONE, CHANGED = range(3)


class RecordedOutput:
    """Output of a run. A record next to the output (`RunRecord`) contains the source of each output.

    An output that is not in the record never counts as the result of a run.

    Parameters
    ----------
    path : Path
        Folder or file to write.
    resume, overwrite : bool
        Whether to continue or to overwrite an existing output. If ``resume`` and ``overwrite`` are False, an existing
        output is refused.
    stamp : mapping
        Model and options of the run. With ``resume``, model and options must be the same as in the earlier run.
    numbers : OutputNumbers, optional
        Random numbers that replace the ids of the notes in the output.
    """

    def __init__(
        self,
        path: Path,
        *,
        resume: bool,
        overwrite: bool,
        stamp: Mapping[str, Any],
        numbers: OutputNumbers | None = None,
    ) -> None:
        self.path, self.resume, self.overwrite, self.numbers = path, resume, overwrite, numbers
        self.stamp = dict(stamp)
        self.record = RunRecord(path)
        self._unread: set[str] = set()

    @property
    def n_unread(self) -> int:
        """Number of outputs of an earlier run whose notes this run has not read."""
        return len(self._unread)

    def is_used(self) -> bool:
        """Whether the output already contains data."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            keep = self.resume or self.overwrite
            # A key that exists, and the outputs, may be of a run that still writes to them.
            is_old = keep and self.numbers is not None and self.numbers.path.exists()
            if self.numbers is not None and not is_old:
                self.numbers.open()
            self._lock(is_old)
            self._restore()
            # Another run can have ended since the first check, while this run loaded its model.
            self._refuse_used()
            if self.overwrite:
                self._remove_earlier()
            if self.numbers is not None and is_old:
                self.numbers.open(keep)
            has_earlier = self.is_used() or self.record.has_head()
            self.record.open(self.stamp, resume=self.resume and has_earlier)
            self._begin()
        except BaseException:
            self._close()
            raise
        self._check_numbers()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self._end(kind)
        finally:
            self._close()

    def _lock(self, is_old: bool) -> None:
        """Lock the record. If another run holds the lock, a key that this run has made is removed."""
        try:
            self.record.lock()
        except DeidError:
            if self.numbers is not None and not is_old:
                self.numbers.discard()
            raise

    def _refuse_used(self) -> None:
        """Refuse an existing output if no option requests to replace or to continue the output."""
        if self.is_used() and not self.resume and not self.overwrite:
            raise DeidError(
                "The output exists already. Use --resume to continue an interrupted run, --overwrite to replace the "
                "output, or another --output.",
                path=str(self.path),
            )

    def _remove_earlier(self) -> None:
        """Remove the output of the earlier run, which is overwritten.

        Files that the earlier run has not written are refused, not removed.
        """
        earlier, files = self.record.earlier(), self._files()
        self._check_files(earlier, files)
        for file, _ in files:
            file.unlink()

    def _check_numbers(self) -> None:
        """Refuse a key file that lacks an earlier output: its note would get a second output under another name."""
        if self.numbers is not None and not all(self.numbers.has(Path(name).stem) for name in self._unread):
            self.__exit__(DeidError)
            raise DeidError(
                "The key file lacks outputs of the earlier run. Name the key file of this run, or use --overwrite.",
                path=str(self.numbers.path),
            )

    def _restore(self) -> None:
        """Repair what a killed run has left of the output, while the record is locked."""

    def _begin(self) -> None:
        """Check the existing output while the record is open, and prepare to write."""

    def _end(self, kind: type[BaseException] | None) -> None:
        """Finish the output, unless an exception has ended the run."""

    def _files(self) -> list[tuple[Path, str | None]]:
        """Visible files of an output folder, with the names of the outputs; None for a file of another kind."""
        raise NotImplementedError

    def _check_files(
        self, record: RunRecord | None, files: Iterable[tuple[Path, str | None]], *, by_content: bool = False
    ) -> None:
        """Refuse files that are not outputs of the recorded run."""
        for file, name in files:
            if name is None or record is None or not record.has_output(name):
                raise DeidError(
                    "This file in the output folder is no output of the run: it may be a raw note. Move it away, or "
                    "use another --output.",
                    path=str(file),
                )
            # The unfinished file of a killed run is written again.
            if by_content and not file.name.endswith(PART) and not record.has_output(name, file.read_bytes()):
                raise DeidError(
                    "This file was changed after the run wrote it. Move it away, and use --resume again.",
                    path=str(file),
                )

    def _check_recorded(self, *paths: Path) -> None:
        """Refuse to overwrite an existing output that is in no record."""
        for path in paths:
            if path.exists() and self.record.stamp() is None:
                raise DeidError(
                    "This file is no output of a recorded run. Remove it yourself, or use another --output.",
                    path=str(path),
                )

    def _remove(self, *paths: Path) -> None:
        """Remove outputs in a single file: an interrupted run must leave no output of the run that it overwrites."""
        for path in paths:
            path.unlink(missing_ok=True)

    def _close(self) -> None:
        try:
            self.record.close()
        finally:
            if self.numbers is not None:
                self.numbers.close()
