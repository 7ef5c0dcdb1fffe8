"""Atomic writing of files and folders: after a crash, either the old or the new version exists, never a part."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def new_file(path: str | os.PathLike[str], *, private: bool = False, work: Path | None = None) -> Iterator[BinaryIO]:
    """Stream to a temporary file that replaces ``path`` if the block ends without an error, and is otherwise deleted.

    The stream is flushed and synchronised before the file is renamed. All bytes are therefore on the disk when the
    final name appears.

    Parameters
    ----------
    path : path
        Final name of the file.
    private : bool, default=False
        Whether only the owner can read the file (mode 0600), from the first byte on. With False, the umask determines
        the mode.
    work : Path, optional
        Temporary name in the folder of ``path``. If an interrupted run has left a file with this name, the file is
        removed. By default, the name is unique and hidden.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "numbers")
    >>> with new_file(path) as stream:
    ...     _ = stream.write(b"1 2 3")
    >>> path.read_bytes()
    b'1 2 3'
    """
    target = Path(path)
    if work is None:
        work = hidden_name(target)
    else:
        # The old file is removed, not overwritten: it might be a link to another file.
        work.unlink(missing_ok=True)
    try:
        # O_BINARY exists on Windows only. Without this flag Windows would translate line feeds.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with naming(path), open(os.open(work, flags, 0o600 if private else 0o666), "wb") as stream:
            yield stream
            # A rename can reach the disk before the content does, so the content is synced first.
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(work, target)
    finally:
        work.unlink(missing_ok=True)


def write_file(
    path: str | os.PathLike[str], content: bytes, *, private: bool = False, work: Path | None = None
) -> None:
    """Write a whole file atomically. As for `new_file`."""
    with new_file(path, private=private, work=work) as stream:
        stream.write(content)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file name to write errors without a file name, such as the error of a full disk."""
    try:
        yield
    except OSError as error:
        # Without a number, the message of the error would be lost.
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextmanager
def new_folder(path: str | os.PathLike[str], *, replace: bool = True) -> Iterator[Path]:
    """Temporary folder that is renamed to ``path`` if the block ends without an error, and deleted otherwise.

    Parameters
    ----------
    path : path
        Final name of the folder. Missing parent folders are created.
    replace : bool, default=True
        Whether to replace an existing folder. Use False for content that is equal in all processes: the folder of a
        faster process is then kept.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "model")
    >>> with new_folder(path) as work:
    ...     _ = (work / "weights").write_bytes(b"1 2 3")
    >>> [file.name for file in path.iterdir()]
    ['weights']
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = hidden_name(target)
    # tempfile would make a folder for its owner alone and ignore a umask that admits colleagues.
    work.mkdir()
    try:
        yield work
        if not target.exists():
            _name_folder(work, target, replace)
        elif replace:
            _swap(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def hidden_name(target: Path) -> Path:
    """Unique hidden name in the folder of a file or folder."""
    return target.with_name(f".{target.name}-{uuid4().hex}")


def _name_folder(work: Path, target: Path, replace: bool) -> None:
    try:
        os.replace(work, target)
    except OSError:
        # Another process made the same folder in the meantime. With replace=False the first folder stays, as the caller
        # asked.
        if replace or not target.exists():
            raise


def _swap(work: Path, target: Path) -> None:
    """Replace the old folder by the new folder. If the replacement fails, the old folder is restored."""
    # A folder that is not empty cannot be replaced by a rename, so the old folder is moved aside first.
    old = work.with_name(f"{work.name}-old")
    os.replace(target, old)
    try:
        os.replace(work, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)
