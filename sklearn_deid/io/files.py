"""File access: strict decoding, lines that end only at line feeds, safe file names, and files that grow line by
line.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from io import FileIO, TextIOWrapper
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from ..exceptions import CorpusFormatError, DeidError
from .checking import SourceLocation

_PART = ".part"
_UNDECODED = re.compile("[\udc80-\udcff]")
# Path separators, control characters, parent folders, hidden files, and names that are devices on Windows.
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]|\.\.|^\.|^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
_UNSAFE_ON_WINDOWS = re.compile(r'[:*?"<>|]')


# Only this pipe is read: the command line names it for "-".
_STANDARD_INPUT = Path("/dev/stdin")
_IRREGULAR = "This is no regular file, but a pipe, a device or a folder. Copy the notes to a file."
# Readers of formats open files by themselves, and only commands refuse links.
_follows_links: ContextVar[bool] = ContextVar("follows_links", default=True)
# Most bytes of a note and most characters of a line. A dump of a database among the notes would fill the memory, and
# the system would end the run and each of its repetitions.
_LARGEST = 2**26
# Longest name of a file on common file systems, in bytes.
_LONGEST_NAME = 255


def check_regular(place: SourceLocation, path: Path, *, follow_links: bool = True) -> None:
    """Refuse a path that is not a regular file, since reading a pipe could block, and reading a device might never end.

    Raises
    ------
    CorpusFormatError
        If the path is a pipe, a device or a socket or, without ``follow_links``, a symbolic link.
    """
    if path == _STANDARD_INPUT:
        return
    if not follow_links and path.is_symlink():
        raise place.error("The file is a symbolic link, which may lead to another folder. Copy the file itself.")
    if path.exists() and not path.is_file():
        raise place.error(_IRREGULAR)


@contextmanager
def links_followed(follow: bool) -> Iterator[None]:
    """Whether `open_regular` follows or refuses symbolic links inside of the block."""
    token = _follows_links.set(follow)
    try:
        yield
    finally:
        _follows_links.reset(token)


def open_regular(place: SourceLocation, path: Path) -> BinaryIO:
    """Open a regular file for reading, after the checks of `check_regular`.

    Where the system allows it, the file that is read is checked, not only its name: after a check by name, another
    program could replace the file by a link or a pipe.

    Raises
    ------
    CorpusFormatError
        If the path is a pipe, a device or a socket or, inside of `links_followed`, a symbolic link.
    OSError
        If the file cannot be opened, including a file that was replaced by a link after the checks.
    """
    follow = _follows_links.get()
    check_regular(place, path, follow_links=follow)
    if path == _STANDARD_INPUT:
        return path.open("rb")
    # Opening a pipe would wait for its writer.
    names = ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", *(() if follow else ("O_NOFOLLOW",)))
    stream = open(os.open(path, os.O_RDONLY | sum(getattr(os, name, 0) for name in names)), "rb")
    if not S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise place.error(_IRREGULAR)
    return stream


def read_note(place: SourceLocation, path: Path) -> bytes:
    """Read a file that is one note, as `read_bytes` does. A file of more than 64 MiB is refused."""
    data = read_bytes(place, path, _LARGEST + 1)
    if len(data) > _LARGEST:
        raise place.error("The file is larger than 64 MiB, too large for one note.")
    return data


def read_bytes(place: SourceLocation, path: Path, most: int = -1) -> bytes:
    """Read a whole file, or at most the given number of bytes.

    An OSError becomes a CorpusFormatError, which `read_corpus` can collect.
    """
    try:
        with open_regular(place, path) as stream:
            return stream.read(most)
    except OSError as error:
        # The error of the system is not chained: only its reason, which contains no text, belongs into the message.
        reason = error.strerror
    raise place.error(f"The file cannot be read: {reason}.")


def decode(place: SourceLocation, data: bytes, encoding: str) -> str:
    """Decode bytes.

    Newlines are not translated. A byte order mark is kept, except by encodings that define such a mark.
    """
    try:
        return data.decode(encoding)
    # Some codecs refuse the text as a whole and report no position.
    except UnicodeError as error:
        position = getattr(error, "start", 0)
    raise wrong_encoding(place, encoding, f"byte {position}")


def utf8_or_bytes(value: bytes) -> str | bytes:
    """Text of bytes in UTF-8. Other bytes are returned as bytes, so that no function reads them as text.

    Examples
    --------
    >>> utf8_or_bytes(b"No pain"), utf8_or_bytes(b"\\xe9")
    ('No pain', b'\\xe9')
    """
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def wrong_encoding(place: SourceLocation, encoding: str, where: str) -> CorpusFormatError:
    """Make the error for a file in another encoding than the given one."""
    name = encoding.removesuffix("-sig")
    return place.error(
        f"The file is not in the encoding {name} ({where}). Pass encoding=... with the encoding of the file."
    )


def read_lines(path: Path, encoding: str) -> Iterator[tuple[int, str | CorpusFormatError]]:
    """Lines of a file without their line feed, numbered from 1. The function needs constant memory.

    A line ends only at a line feed. Carriage returns, form feeds and Unicode line separators may be part of a token and
    do not end a line. A byte order mark at the start of the file is removed. For a line that cannot be decoded, or that
    has more than 2**26 characters, the function yields an error and continues with the next line.
    """
    place = SourceLocation(str(path))
    try:
        with TextIOWrapper(
            open_regular(place, path), encoding=encoding, errors="surrogateescape", newline="\n"
        ) as stream:
            lines = iter(partial(stream.readline, _LARGEST + 1), "")
            for number, line in enumerate(lines, start=1):
                if len(line) > _LARGEST and not line.endswith("\n"):
                    _skip_line(stream)
                    yield number, place.error(f"Line {number} has more than {_LARGEST:,} characters.")
                elif _UNDECODED.search(line):
                    yield number, wrong_encoding(place, encoding, f"line {number}")
                else:
                    yield number, line.removeprefix("\ufeff" if number == 1 else "").removesuffix("\n")
        return
    except OSError as error:
        failure = place.error(f"The file cannot be read: {error.strerror}.")
    # UTF-16 and UTF-32 do not support the error handler "surrogateescape".
    except UnicodeError:
        failure = wrong_encoding(place, encoding, "after the last line that could be read")
    raise failure


def _skip_line(stream: TextIOWrapper) -> None:
    """Read the rest of a line, piece by piece."""
    while (piece := stream.readline(_LARGEST)) and not piece.endswith("\n"):
        pass


def file_name(doc_id: str, suffix: str) -> str:
    """File name of a document; the id is checked to be valid on every system and to stay inside the folder.

    Raises
    ------
    CorpusFormatError
        If the id is empty, reserved or too long, starts with a dot, or contains a path separator, ``..`` or a control
        character.

    Examples
    --------
    >>> file_name("110-01", ".xml")
    '110-01.xml'
    """
    if not doc_id or _UNSAFE.search(doc_id) or (os.name == "nt" and _UNSAFE_ON_WINDOWS.search(doc_id)):
        raise SourceLocation(None, doc_id).error(
            "The document id cannot be a file name: it must not be empty or reserved, start with a dot, or hold a "
            "path separator, '..' or a control character. Write into one .jsonl file, number the outputs, or "
            "change the id."
        )
    # The temporary name is the longest name of the file.
    if len(f"{doc_id}{suffix}{_PART}".encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        raise SourceLocation(None, doc_id).error(
            "The document id is too long for a file name. Write into one .jsonl file, number the outputs, or "
            "change the id."
        )
    return doc_id + suffix


def part_of(path: Path) -> Path:
    """Temporary name of a file while it is written. Readers ignore files with this name."""
    return path.with_name(path.name + _PART)


@contextmanager
def turn_in(folder: Path) -> Iterator[None]:
    """Wait until no other process is inside of this block for the folder. The system ends the turn of a killed process.

    A folder that the other process has removed is made again. Windows and some network drives cannot lock a folder.
    There, the block does not wait. A process that waits emits a UserWarning with the name of the folder.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    while True:
        # A process that fails removes the empty folder that it has made.
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    # The other process can be stopped, or hang on a drive: the user must know for what this one waits.
                    warnings.warn(f"{folder}: another process is writing to this folder. Waiting.", stacklevel=5)
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            # A folder with this name that a third process has made is another folder, and has a lock of its own.
            if folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat()):
                yield
                return
        finally:
            os.close(descriptor)


def already_there(path: Path) -> FileExistsError:
    """Make the error for an existing file that the user has not allowed to replace."""
    return FileExistsError(errno.EEXIST, "The file exists already; pass overwrite=True to replace it", str(path))


def open_part(path: Path, *, overwrite: bool, resume: bool) -> FileIO:
    """Open the ``.part`` file for appending, and lock it as `open_locked` does.

    With ``resume`` the file keeps its content; otherwise it is emptied.

    Raises
    ------
    FileExistsError
        If a finished or an unfinished file exists, and neither ``overwrite`` nor ``resume`` is set. Also if another
        process opens the file at the same time.
    DeidError
        If another writer has the file open, with ``resume``.
    """
    part = part_of(path)
    if resume:
        # Without a look before: meanwhile, another writer could give its file the final name, and an empty file would
        # be made, without the documents of that writer.
        with suppress(FileNotFoundError):
            return open_locked(part, "ab", opener=_open_existing)
        return _new_part(path, part)
    if path.exists() and not overwrite:
        raise already_there(path)
    if part.exists() and not overwrite:
        message = "An interrupted run left this file; pass resume=True to continue or overwrite=True to start again"
        raise FileExistsError(errno.EEXIST, message, str(part))
    if overwrite:
        part.unlink(missing_ok=True)
    # A file that another process has made since the check is not shared: the notes of both would be mixed.
    return open_locked(part, "xb")


def open_locked(part: Path, mode: str, opener: Callable[[str, int], int] | None = None) -> FileIO:
    """Open an unfinished file, and lock it until it is closed. The system ends the lock of a killed process.

    Windows and some network drives know no such locks. There, a second writer is not noticed.

    Raises
    ------
    DeidError
        If another writer has locked the file, or has finished or replaced it in this moment.
    """
    stream = FileIO(part, mode, opener=opener)
    if is_lockable() and not (_lock(stream) and _is_same(stream, part)):
        stream.close()
        raise _in_use(part)
    return stream


def _open_existing(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_CREAT)


def _new_part(path: Path, part: Path) -> FileIO:
    """Make an unfinished file with the documents of the final file, if there is one, and lock it as `open_locked` does.

    The final file may be complete from an earlier run. Resuming continues with a copy and never damages the file.
    """
    copy = part_of(part)
    # With the lock of the copy, no other writer that resumes copies or finishes the file meanwhile.
    stream = open_locked(copy, "ab")
    try:
        if part.exists():
            raise _in_use(part)
        if not is_lockable():
            stream.close()  # Windows does not rename a file that is open.
        if path.exists():
            _copy_lines(path, copy)
        else:
            os.truncate(copy, 0)
        os.replace(copy, part)
    except BaseException:
        copy.unlink(missing_ok=True)
        close_locked(stream)
        raise
    return stream if is_lockable() else FileIO(part, "ab")


def _in_use(part: Path) -> DeidError:
    return DeidError(
        "Another writer has this unfinished file open. Close it, wait for its end, or write to another path.",
        path=str(part),
    )


def close_locked(stream: FileIO) -> None:
    """End the lock of an unfinished file, and close the file. A file that is closed already stays closed."""
    if is_lockable() and not stream.closed:
        import fcntl

        # A process that was forked meanwhile, such as one of a pool, has the file open, too, and would keep the lock.
        with suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_UN)
    stream.close()


def is_lockable() -> bool:
    """Whether the system has locks that allow other programs to rename the file."""
    return sys.platform != "win32"


def _lock(stream: FileIO) -> bool:
    """Lock an open file; return whether no other writer holds the lock."""
    import fcntl

    # Some network drives know no locks.
    with suppress(OSError):
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
    return True


def _is_same(stream: FileIO, path: Path) -> bool:
    """Whether the name is still the name of the open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    return False


def _copy_lines(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with target.open("rb+") as stream:
        if stream.seek(0, os.SEEK_END):
            stream.seek(-1, os.SEEK_END)
            # A file that was edited by hand may lack its last line feed, and the next line would continue the last one.
            if stream.read(1) != b"\n":
                stream.write(b"\n")


def drop_unfinished_line(path: Path) -> None:
    """Remove a last line without a line feed, which is half of a document. Its document is written again."""
    with path.open("rb+") as stream:
        stream.truncate(sum(len(line) for line in stream if line.endswith(b"\n")))
