"""Compressed files: gzip by Python, zstd by pyarrow."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from ..._optional import import_optional
from ..checking import SourceLocation
from ..files import links_followed, open_regular

ENDINGS = (".gz", ".zst")


def open_decompressed(path: Path) -> BinaryIO:
    """Open a file for reading in binary mode, decompressed if the name ends in ``.gz`` or ``.zst``.

    Reading raises a CorpusFormatError if the compressed bytes are damaged or end too early.

    Raises
    ------
    CorpusFormatError
        If the compressed file is empty, or the path is a symbolic link or no regular file.
    MissingDependencyError
        If the file is compressed by zstd and pyarrow is not installed (extra ``tables``).
    """
    pa = _pyarrow() if path.suffix.lower() == ".zst" else None
    with links_followed(False):
        packed = open_regular(SourceLocation(str(path)), path)
    if path.suffix.lower() not in ENDINGS:
        return packed
    if not os.fstat(packed.fileno()).st_size:
        packed.close()
        # The copy was interrupted at its start: even a compressed table without rows has bytes.
        raise _damaged(path)
    stream = gzip.GzipFile(fileobj=packed) if pa is None else pa.CompressedInputStream(pa.PythonFile(packed), "zstd")
    return io.BufferedReader(_Decompressed(stream, packed, path))


class _Decompressed(io.RawIOBase):
    """Stream whose errors contain the name of the file."""

    def __init__(self, stream: Any, packed: BinaryIO, path: Path) -> None:
        self._stream, self._packed, self._path = stream, packed, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            pass
        except OSError as error:
            # pyarrow raises an OSError without a number for bytes that are no zstd.
            if error.errno is not None:
                raise
        raise _damaged(self._path)

    def close(self) -> None:
        self._stream.close()
        self._packed.close()
        super().close()


def _damaged(path: Path) -> Exception:
    return SourceLocation(str(path)).error("The compressed file is damaged or ends too early.")


def write_compressed(path: Path, pieces: Iterable[Path], stream: BinaryIO) -> None:
    """Join files into a stream, with the compression that the name ``path`` implies.

    The bytes depend only on the pieces.
    """
    if path.suffix.lower() == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            _join(pieces, packed)
    elif path.suffix.lower() == ".zst":
        pa = _pyarrow()
        with pa.PythonFile(_Kept(stream), mode="w") as target, pa.CompressedOutputStream(target, "zstd") as packed:
            _join(pieces, packed)
    else:
        _join(pieces, stream)


def _join(pieces: Iterable[Path], stream: Any) -> None:
    for piece in pieces:
        with piece.open("rb") as content:
            shutil.copyfileobj(content, stream)


class _Kept:
    """Stream that remains open when pyarrow closes it."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write, self.flush = stream.write, stream.flush

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""


def _pyarrow() -> Any:
    return import_optional("pyarrow", extra="tables", purpose="files with the ending .zst")
