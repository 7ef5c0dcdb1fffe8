"""Files and folders that appear under their name when they are complete: a crash leaves the old one or the new one."""

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
    """Stream to a file that replaces ``path`` if the block ends without an error, and vanishes if not.

    The bytes are on the disk before the name is: the stream is flushed and synchronised first.

    Parameters
    ----------
    path : path
    private : bool, default=False
        Whether the file is for its owner alone (mode 0600), from the first byte on; else the umask decides.
    work : Path, optional
        Temporary name, in the folder of ``path``; what a killed run left there is removed. By default a hidden name
        that nothing else has.

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
        work = _hidden(target)
    else:
        work.unlink(missing_ok=True)  # never written through: it might be a link
    try:
        # O_BINARY exists on Windows only, where line feeds would be translated without it
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(work, flags, 0o600 if private else 0o666), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(work, target)
    finally:
        work.unlink(missing_ok=True)


def write_file(
    path: str | os.PathLike[str], content: bytes, *, private: bool = False, work: Path | None = None
) -> None:
    """Write a file as a whole; parameters as for `new_file`."""
    with new_file(path, private=private, work=work) as stream:
        stream.write(content)


@contextmanager
def new_folder(path: str | os.PathLike[str], *, replace: bool = True) -> Iterator[Path]:
    """Folder to fill, which gets its name if the block ends without an error, and vanishes if not.

    Parameters
    ----------
    path : path
        Its parents are made.
    replace : bool, default=True
        Whether a folder that is there is replaced. With False it stays, for content that is the same whoever wrote it:
        another process may have been faster.

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
    work = _hidden(target)
    work.mkdir()  # not by tempfile, which shuts out colleagues that the umask lets in
    try:
        yield work
        if not target.exists():
            _name_folder(work, target, replace)
        elif replace:
            _swap(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _hidden(target: Path) -> Path:
    return target.with_name(f".{target.name}-{uuid4().hex}")


def _name_folder(work: Path, target: Path, replace: bool) -> None:
    try:
        os.replace(work, target)
    except OSError:
        if replace or not target.exists():
            raise


def _swap(work: Path, target: Path) -> None:
    """Put the new folder in the place of the old one, which comes back if that fails."""
    old = work.with_name(f"{work.name}-old")
    os.replace(target, old)
    try:
        os.replace(work, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)
