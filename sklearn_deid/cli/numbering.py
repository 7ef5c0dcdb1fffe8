"""Random numbers in place of note ids, for outputs whose names must not identify patients."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from .._atomic import naming
from ..exceptions import CorpusFormatError, DeidError
from ..text.characters import has_surrogate

_HEADER = ["output", "note"]
# A spreadsheet runs such a cell as a formula. A number may begin with a minus.
_FORMULA = re.compile(r"[\s]*(?:[=+@]|-(?!\d+\Z))")
_NAME = re.compile("note-([0-9a-f]{12}|[0-9]{6,})")  # the second kind was counted, by earlier versions


def is_numbered(name: str) -> bool:
    """Whether an id has the form of the ids of ``--number-outputs``.

    Examples
    --------
    >>> is_numbered("note-0123456789ab"), is_numbered("note-linden")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


# 2000-01-01 UTC; .zip files know no time before 1980.
_TIME = 946_684_800


def hide_time(path: Path) -> None:
    """Set a fixed file time: notes are read by name, and file times would reveal the rank of a name."""
    os.utime(path, (_TIME, _TIME))


_ASIDE = ".sklearn-deid-order"


def hide_order(folder: Path, names: Iterable[str]) -> None:
    """Make the directory entries of the files of a folder again, in the order of their names.

    Many file systems, archives and copies of a folder list the files in the order in which the files were made. The
    time at which the status of a file changed (ctime) cannot be set. The order of the files and these times would
    reveal the alphabetical rank of a name, like other file times.
    """
    put_back(folder)
    aside = folder / _ASIDE
    aside.mkdir()
    # All files leave the folder first: a file that comes back alone can get its old place.
    for name in names:
        os.replace(folder / name, aside / name)
    put_back(folder)


def has_aside(folder: Path) -> bool:
    """Whether `hide_order` has set files aside. The run that does so still writes, or was killed.

    Raises
    ------
    DeidError
        If a link or a file has the name of the folder in which the files are set aside.
    """
    aside = folder / _ASIDE
    if aside.is_symlink() or aside.is_file():
        # The files would be moved to where the link leads.
        raise DeidError("A run of redact did not make this link or file. Remove it.", path=str(aside))
    return aside.is_dir()


def put_back(folder: Path) -> None:
    """Move back the files that `hide_order` has set aside, in the order of their names, also after a killed run.

    Only the run that holds the lock of the output may call the function: another run would move the files of a run that
    orders them, so that their order reveals the ranks of the names.

    Raises
    ------
    DeidError
        If a link or a file has the name of the folder in which the files are set aside.
    """
    if not has_aside(folder):
        return
    aside = folder / _ASIDE
    for file in sorted(aside.iterdir()):
        os.replace(file, folder / file.name)
    aside.rmdir()


class OutputNumbers:
    """Random names of outputs, and a key file that links each note to its output.

    The numbers are random, because consecutive numbers would reveal the rank of each id. Notes are read in the order of
    their ids. If the ids are names of patients, this rank is nearly the position of the name in the alphabet.

    A line is added to the key file before the output of a note is written. An interrupted run therefore continues with
    the same numbers. The key file is a CSV file with the columns ``output`` and ``note``. Only its owner can read the
    file.

    Parameters
    ----------
    path : Path
        Key file. A reader of the key file can identify the notes, so do not give the key file to the recipients of the
        outputs.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> numbers = OutputNumbers(pathlib.Path(tempfile.mkdtemp(), "key.csv"))
    >>> numbers.open()
    >>> name, other = numbers.assign("Smith_John"), numbers.assign("Roe_Ann")
    >>> len(name), name == other, numbers.known("Smith_John") == name
    (17, False, True)
    >>> numbers.close()
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._numbers: dict[str, str] = {}
        self._taken: set[str] = set()
        self._stream: io.TextIOWrapper | None = None

    def open(self, keep: bool = False) -> None:
        """Create the key file or, with ``keep``, continue an existing key file.

        Raises
        ------
        DeidError
            If the file exists and ``keep`` is False, or if the file is not a key file.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = self._complete_lines() if keep and self.path.exists() else 0
        # Another run can make the file at the same moment: one of both must not write into the key of the other.
        new = 0 if keep else os.O_EXCL
        try:
            # The key links outputs to patients, so that only its owner may read it (mode 0o600).
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | new, 0o600)
        except FileExistsError:
            raise DeidError(
                "The key file exists already. Use another file, --resume or --overwrite.", path=str(self.path)
            ) from None
        self._stream = open(descriptor, "a", encoding="utf-8", newline="")
        if not lines:
            self._append(_HEADER)

    def assign(self, doc_id: str) -> str:
        """Return the output name of a note. A new name is first written to the key file.

        Raises
        ------
        CorpusFormatError
            If the id contains a line break, which does not fit on a line of the key file, if the id begins like a
            formula of a spreadsheet, or if the id is a file name that is not UTF-8.
        """
        if doc_id not in self._numbers:
            if len(doc_id.splitlines()) > 1 or "\n" in doc_id or "\r" in doc_id:
                raise CorpusFormatError("The key file cannot hold an id with a line break.", doc_id=doc_id)
            if _FORMULA.match(doc_id):
                raise CorpusFormatError(
                    "The key file cannot hold an id that a spreadsheet would run as a formula. Change the id, or run "
                    "without --number-outputs.",
                    doc_id=doc_id,
                )
            if has_surrogate(doc_id):
                raise CorpusFormatError("The key file cannot hold a name that is not UTF-8.", doc_id=doc_id)
            # The key file is written before the output: after a crash no output is without a key.
            name = self._new_name()
            self._append([name, doc_id])
            self._numbers[doc_id] = name
            self._taken.add(name)
        return self._numbers[doc_id]

    def known(self, doc_id: str) -> str | None:
        """Return the output name of a note, or None if the note has no name yet."""
        return self._numbers.get(doc_id)

    def has(self, name: str) -> bool:
        """Whether a note has this output name."""
        return name in self._taken

    def close(self) -> None:
        """Close the key file."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            # The outputs are synced, too. Without the key, nobody knows whose outputs they are.
            with naming(self.path), stream:
                os.fsync(stream.fileno())

    def discard(self) -> None:
        """Close the key file, and remove it. It must be new and without notes."""
        self.close()
        self.path.unlink()

    def _new_name(self) -> str:
        # Random and not counted: consecutive numbers would reveal the order of the notes.
        while (name := f"note-{secrets.token_hex(6)}") in self._taken:
            pass
        return name

    def _append(self, row: list[str]) -> None:
        assert self._stream is not None
        csv.writer(self._stream, lineterminator="\n").writerow(row)
        self._stream.flush()

    def _complete_lines(self) -> int:
        """Read the key file, remove an incomplete last line of a killed run, and return the number of lines."""
        data = self.path.read_bytes()
        # A killed run can leave half of a line behind the last line feed.
        complete = data[: data.rfind(b"\n") + 1]
        try:
            rows = list(csv.reader(io.StringIO(complete.decode("utf-8"), newline=""), strict=True))
        except (UnicodeError, csv.Error):
            rows = [[]]
        names = [row[0] for row in rows[1:] if row]
        # A file that is no key file may belong to the user and must not be continued.
        is_key = rows[:1] == [_HEADER] and {len(row) for row in rows} == {2} and len(set(names)) == len(names)
        if rows and not (is_key and all(map(_NAME.fullmatch, names))):
            raise DeidError("The file is not a key file of numbered outputs.", path=str(self.path))
        os.truncate(self.path, len(complete))
        self._numbers, self._taken = {doc_id: name for name, doc_id in rows[1:]}, set(names)
        return len(rows)
