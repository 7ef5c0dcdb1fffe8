"""Record of a run next to its output: the lock, the stamp of the run, and the digests of the finished notes."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from .._atomic import naming
from .._storage import file_digest
from ..exceptions import DeidError
from ..text import Document

_KIND = "sklearn-deid run 1"
#: Name of the output of a run over a table.
WHOLE_TABLE = "whole table"


class RunRecord:
    """Record in the file ``OUTPUT.run``, which only its owner can read.

    The record contains a line with the stamp of the run (tool, model, options), and a line for each finished note. The
    line of a note is written before its output. The line contains a digest of the name of the output, a digest of the
    note, and the digests of the output. A killed run therefore never leaves an output without a line in the record.

    Digests of names and notes are keyed, and the key is in the record. With the key, an attacker could find short notes
    by trying, so do not share the record with the outputs.

    Parameters
    ----------
    output : Path
        Folder or file of the run.

    Examples
    --------
    >>> import tempfile
    >>> output = Path(tempfile.mkdtemp(), "redacted")
    >>> record, note = RunRecord(output), Document("n1", "Seen today.")
    >>> record.open({"mode": "label"})
    >>> record.add("n1", note, [b"Seen today."])
    >>> record.has_note("n1", note), record.has_note("n1", Document("n1", "Seen now.")), record.has_output("n2")
    (True, False, False)
    >>> record.close()
    """

    def __init__(self, output: Path) -> None:
        target = output.resolve()
        # The root of a drive has no name. No run writes there, but notes of other tools can lie there.
        self.path = target.parent / f"{target.name}.run"
        self._stream: IO[bytes] | None = None
        self._key = b""
        self._notes: dict[str, str] = {}
        self._outputs: dict[str, list[str]] = {}
        self._withheld: dict[str, list[list[Any]]] = {}
        self._lines: frozenset[str] | None = None

    def lock(self) -> None:
        """Lock the record of the output, as the other methods do. A second call does nothing.

        Raises
        ------
        DeidError
            If another run holds the lock, or if the drive knows no locks.
        """
        if self._stream is not None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Not a link: the record would be written somewhere else.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        stream = open(os.open(self.path, flags, 0o600), "ab+")
        try:
            _lock_file(stream)
        except OSError as error:
            stream.close()
            raise DeidError(_lock_problem(error), path=str(self.path)) from None
        self._stream = stream

    def open(self, stamp: Mapping[str, Any], *, resume: bool = False) -> None:
        """Lock the record, and start a new record or, with ``resume``, continue the earlier record.

        Parameters
        ----------
        stamp : mapping
            Strings, numbers and booleans on which the outputs depend.
        resume : bool, default=False
            Whether to continue the record of an earlier run with the same stamp.

        Raises
        ------
        DeidError
            If another run holds the lock, if the record is missing or invalid, or if the stamps differ.
        """
        self.lock()
        assert self._stream is not None
        if resume:
            self._read(stamp)
            return
        self._check_own(self._content())
        self._key, self._notes, self._outputs, self._withheld = secrets.token_bytes(32), {}, {}, {}
        self._lines = None
        self._stream.truncate(0)
        self._append({"kind": _KIND, "stamp": dict(stamp), "key": self._key.hex()})

    def has_head(self) -> bool:
        """Whether the file has a first line. A run that was killed at once leaves a part of the line, and no output."""
        return self.path.exists() and b"\n" in self.path.read_bytes()

    def earlier(self) -> RunRecord | None:
        """Content of the record of an earlier run, while the lock is held; None without a record."""
        self.lock()
        before = self._beside()
        try:
            before._parse(self._content())
        except DeidError:
            return None
        return before

    def stamp(self) -> dict[str, Any] | None:
        """Model and options of the recorded run; None without a readable record."""
        if not self.path.is_file():
            return None
        try:
            return self._beside()._parse(self.path.read_bytes())
        except DeidError:
            return None

    def n_foreign(self, files: Iterable[Path]) -> int | None:
        """Number of files, or of lines of a single file, that the run has not written; None without a record."""
        if self.stamp() is None:
            return None
        saved = self._beside()
        saved._parse(self.path.read_bytes())
        n = 0
        for file in files:
            with file.open("rb") as stream:
                if saved.has_output(WHOLE_TABLE, file_digest(file).encode("ascii")):
                    continue
                if file.suffix.lower() == ".jsonl":
                    n += sum(not saved.has_line(line) for line in stream)
                else:
                    content = stream.read()
                    # Runs over documents keep the endings of files in their names.
                    n += not any(saved.has_output(name, content) for name in (file.stem, file.name))
        return n

    def _beside(self) -> RunRecord:
        return RunRecord(self.path.with_name(self.path.name.removesuffix(".run")))

    def add(
        self, name: str, note: Document, contents: Iterable[bytes], withheld: Sequence[tuple[int, str]] = ()
    ) -> None:
        """Record a note before its output is written.

        Parameters
        ----------
        name : str
            Name of the output.
        note : Document
            Note of the input.
        contents : iterable of bytes
            Contents of the files of the output, or the line in the output.
        withheld : sequence of (int, str), default=()
            Reasons for the missing parts of the output, by the number of the part.
        """
        digests = [sha256(content).hexdigest() for content in contents]
        row: dict[str, Any] = {"name": self._digest(name), "note": self._digest(_told(note)), "output": digests}
        if withheld:
            row["withheld"] = [list(pair) for pair in withheld]
        self._append(row)
        self._take(row)

    def has_note(self, name: str, note: Document) -> bool:
        """Whether the output with this name was made from exactly this note."""
        return self._notes.get(self._digest(name)) == self._digest(_told(note))

    def has_output(self, name: str, content: bytes | None = None) -> bool:
        """Whether a run has recorded an output of this name and, if given, with this content."""
        digests = self._outputs.get(self._digest(name))
        return digests is not None and (content is None or sha256(content).hexdigest() in digests)

    def withheld(self, name: str) -> list[tuple[int, str]]:
        """Reasons for the missing parts of the output with this name, by the number of the part."""
        return [(number, reason) for number, reason in self._withheld.get(self._digest(name), [])]

    def has_line(self, line: bytes) -> bool:
        """Whether a run has recorded this line of an output in one file."""
        if self._lines is None:
            self._lines = frozenset(digest for digests in self._outputs.values() for digest in digests)
        return sha256(line).hexdigest() in self._lines

    def close(self) -> None:
        """Close the record and release the lock."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            # The outputs are synced, too. Without their lines, a resumed run would refuse them.
            with naming(self.path), stream:
                os.fsync(stream.fileno())

    def _check_own(self, content: bytes) -> None:
        """Refuse to overwrite a file with this name that is not a record, such as notes or a key."""
        head = json.dumps({"kind": _KIND})[:-1].encode("ascii")
        # A run that was killed at once leaves a part of the head.
        if not content.startswith(head[: len(content)]):
            raise DeidError("The record of the run would replace this file. Move it away.", path=str(self.path))

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), sha256).hexdigest()

    def _append(self, row: Mapping[str, Any]) -> None:
        assert self._stream is not None
        self._stream.write(json.dumps(row).encode("ascii") + b"\n")
        self._stream.flush()

    def _take(self, row: Mapping[str, Any]) -> None:
        self._notes[row["name"]], self._outputs[row["name"]] = row["note"], row["output"]
        self._withheld.pop(row["name"], None)
        if row.get("withheld"):
            self._withheld[row["name"]] = row["withheld"]
        self._lines = None

    def _content(self) -> bytes:
        assert self._stream is not None
        self._stream.seek(0)
        return self._stream.read()

    def _read(self, stamp: Mapping[str, Any]) -> None:
        assert self._stream is not None
        content = self._content()
        saved = self._parse(content)
        different = sorted(name for name in {*saved, *stamp} if saved.get(name) != stamp.get(name))
        if different:
            raise DeidError(
                f"The earlier run differs from this one in: {', '.join(different)}. Use --resume with the same model, "
                "options and version, --overwrite to begin anew, or another --output.",
                path=str(self.path),
            )
        # A killed run leaves half a line at most, whose output was not written.
        self._stream.truncate(content.rfind(b"\n") + 1)

    def _parse(self, content: bytes) -> dict[str, Any]:
        """Read the lines of a record and return the stamp."""
        first, *rows = content[: content.rfind(b"\n") + 1].splitlines() or [b""]
        try:
            head = json.loads(first)
            known = isinstance(head, dict) and head.get("kind") == _KIND
            self._key, stamp = (bytes.fromhex(head["key"]), dict(head["stamp"])) if known else (b"", {})
            for row in map(json.loads, rows):
                self._take(row)
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise DeidError(
                "There is no record of an earlier run into this output, so nothing shows what the output holds. Use "
                "--overwrite or another --output.",
                path=str(self.path),
            )
        return stamp


def _lock_problem(error: OSError) -> str:
    # A lock of another process is one of these, on each system. Some network drives know no locks.
    if isinstance(error, BlockingIOError | PermissionError):
        return "Another run is writing to this output. Wait until it has ended, or use another --output."
    return (
        f"The record of the run cannot be locked: {error.strerror}. A second run into this output would not be "
        "noticed. Write to another drive, and copy the output from there."
    )


def _told(note: Document) -> str:
    """All content of a note on which its output can depend, as one text."""
    return json.dumps([note.doc_id, note.text, note.patient_id, note.meta], sort_keys=True, default=str)


def _lock_file(stream: IO[bytes]) -> None:
    """Lock a file. The system releases the lock when the process ends, even if the process is killed."""
    if sys.platform == "win32":
        import msvcrt

        stream.seek(2**30)  # far behind the content: a locked byte cannot be read
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
