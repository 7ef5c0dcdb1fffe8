"""Output of ``redact`` for a table: finished pieces next to the output, which are joined at the end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from .._atomic import new_file, write_file
from .._storage import file_digest
from ..exceptions import DeidError
from ..io.tables import Table, TableChunk
from ..text import Document
from .recorded_output import RecordedOutput
from .run_record import WHOLE_TABLE


class TableOutput(RecordedOutput):
    """Table that is written in pieces.

    Each finished chunk is a file in the folder ``OUTPUT.pieces``, which only its owner can read. When the last chunk is
    finished, the whole table is written under its name. If a run is killed at any moment, at most one chunk is
    therefore repeated, and no row is written twice.

    Parameters
    ----------
    path : Path
        Table to write.
    resume, overwrite, stamp
        As in `RecordedOutput`.

    Raises
    ------
    DeidError
        If an earlier output exists and neither option is set, if the path is a folder, or if a link has the name of the
        folder for the pieces.
    """

    def __init__(self, path: Path, *, resume: bool, overwrite: bool, stamp: Mapping[str, Any]) -> None:
        super().__init__(path, resume=resume, overwrite=overwrite, stamp=stamp)
        self.pieces = path.with_name(f"{path.name}.pieces")
        self._parts: list[tuple[int, Path]] = []
        self._digest = sha256()
        self._is_complete = False
        if self.pieces.is_symlink():
            raise DeidError("A run of redact did not make this link. Remove it.", path=str(self.pieces))
        if path.is_dir():
            raise DeidError("The output is one table, but the path is a folder.", path=str(path))
        self._refuse_used()

    def is_used(self) -> bool:
        """Whether a table or a piece of a table exists."""
        return self.path.exists() or self.pieces.exists()

    def _remove_earlier(self) -> None:
        self._check_recorded(self.path, self.pieces)
        self._remove(self.path)

    def _begin(self) -> None:
        if self.overwrite:
            shutil.rmtree(self.pieces, ignore_errors=True)
        self.pieces.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.resume and self.path.exists():
            self._is_complete = self.record.has_output(WHOLE_TABLE, file_digest(self.path).encode("ascii"))
            if not self._is_complete:
                raise DeidError("The run has not written this output, or it was changed.", path=str(self.path))

    def _end(self, kind: type[BaseException] | None) -> None:
        # A wrong option must not look like an interrupted run.
        if kind is not None and not any(self.pieces.iterdir()):
            self.pieces.rmdir()

    def finished(self, number: int, chunk: TableChunk) -> list[tuple[int, str]] | None:
        """Cells of this chunk that an earlier run has withheld, by their number; None if the chunk is not finished.

        Call the method for every chunk, in the order of the table.

        Raises
        ------
        DeidError
            If the whole output is complete and was made from other rows.
        """
        name, path = str(number), self.pieces / f"{number:08}"
        self._parts.append((chunk.group, path))
        self._digest.update(chunk.digest.encode())
        is_known = self.record.has_note(name, Document(name, chunk.digest))
        if self._is_complete and not is_known:
            raise DeidError("The table has changed since its output was written. Use --overwrite.", path=str(self.path))
        has_piece = is_known and path.exists() and self.record.has_output(name, path.read_bytes())
        return self.record.withheld(name) if self._is_complete or has_piece else None

    def write(self, number: int, chunk: TableChunk, content: bytes, withheld: Sequence[tuple[int, str]]) -> None:
        """Write a chunk. The chunk is complete on disk when the method returns."""
        name = str(number)
        self.record.add(name, Document(name, chunk.digest), [content], withheld)
        write_file(self.pieces / f"{number:08}", content, private=True)

    def finish(self, table: Table, unused_fields: Sequence[str] = ()) -> None:
        """Write the whole table from its pieces, under its name, and remove the pieces.

        The record also contains the fields of the profile without text.
        """
        if self._is_complete:
            # An earlier output may have had more rows than the table has now.
            if not self.record.has_note(WHOLE_TABLE, self._whole()):
                raise DeidError(
                    "The table has changed since its output was written. Use --overwrite.", path=str(self.path)
                )
        else:
            # Among the pieces: what a killed run has left of the table goes with them.
            with new_file(self.path, work=self.pieces / "whole") as stream:
                digest = _Digest(stream)
                table.assemble(self._parts, digest)  # type: ignore[arg-type]
                # Recorded before the table gets its name: a killed run leaves no output without a record.
                self.record.add(WHOLE_TABLE, self._whole(), [digest.hexdigest()], list(enumerate(unused_fields)))
        shutil.rmtree(self.pieces)

    def _whole(self) -> Document:
        return Document(WHOLE_TABLE, self._digest.hexdigest())


class _Digest:
    """Stream that passes bytes on and computes their digest."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._digest, self.closed = stream, sha256(), False

    def write(self, content: Any) -> int:
        self._digest.update(content)
        return self._stream.write(content)

    def flush(self) -> None:
        self._stream.flush()

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""

    def hexdigest(self) -> bytes:
        return self._digest.hexdigest().encode("ascii")
