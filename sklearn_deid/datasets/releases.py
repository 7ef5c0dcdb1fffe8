"""Public corpora in zip archives: download, check and unpack the required files.

An archive is downloaded from the internet and is not trusted. No file is written before all files are checked, no path
inside the archive is used as a target, and no member is read beyond a limit.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from .._atomic import new_folder
from ..exceptions import CorpusFormatError, DataNotFoundError

# Bytes of an archive, of one of its files, and of a piece of a download: a server could send without end.
_ARCHIVE_LIMIT = 256 * 2**20
_MEMBER_LIMIT = 2**20
_CHUNK = 2**20
_TIMEOUT = 60.0
# Exceptions for a damaged archive, a damaged member, a truncated file, an unknown compression method, and a password.
_BROKEN_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_FILE_NAME = re.compile(r"\w[\w.-]*\.(txt|ann)")


@dataclass(frozen=True, slots=True)
class Part:
    """Folder of an archive.

    Parameters
    ----------
    source : str
        Folder inside the archive, below its single top folder, such as ``"corpus/train/brat"``.
    target : str
        Target folder of the files, below the data folder, such as ``"meddocan/train/brat"``.
    n_files : int
        Expected number of .txt and .ann files.
    digest : str or None
        Expected `content_digest` of the files. With None, only the number of files is checked.
    """

    source: str
    target: str
    n_files: int
    digest: str | None


@dataclass(frozen=True, slots=True)
class Release:
    """Archive with the parts that are installed. All parts are installed together."""

    url: str
    parts: tuple[Part, ...]


def content_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 of the names and contents of files, in the order of the names.

    A web site may create an archive on demand, so the bytes of the archive can change from day to day. The digest
    therefore covers the files, which must not change.

    Examples
    --------
    >>> content_digest({"b.txt": b"2", "a.txt": b"1"}) == content_digest({"a.txt": b"1", "b.txt": b"2"})
    True
    """
    digest = hashlib.sha256()
    for name in sorted(files):
        # The length before the content prevents that two different sets of files give the same stream of bytes.
        digest.update(name.encode() + b"\0" + len(files[name]).to_bytes(8, "big") + files[name])
    return digest.hexdigest()


def install(release: Release, home: Path, opener: Callable[..., Any] = urlopen) -> None:
    """Download a release and unpack its parts below ``home``. Existing parts are not changed.

    Parameters
    ----------
    release : Release
        Archive and its parts.
    home : Path
        Data folder, created if missing. Each folder is renamed to its final name after all files were checked.
    opener : callable, default=urllib.request.urlopen
        Function that opens a URL: ``opener(url, timeout=seconds)`` returns a readable, closable stream.

    Raises
    ------
    DataNotFoundError
        If the archive cannot be fetched or the folder cannot be written.
    CorpusFormatError
        If the archive is damaged, is too large, or does not contain the expected files.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        # The folder is below ``home``, because a rename must stay on one file system.
        with tempfile.TemporaryDirectory(prefix=".download-", dir=home) as name:
            staging = Path(name)
            _download(release.url, staging / "archive.zip", opener)
            contents = _read_archive(release, staging / "archive.zip")
            for part, files in contents.items():
                _publish(files, home / part.target)
    # no network, unknown page, interrupted download, read-only folder, full disk
    except (OSError, HTTPException) as error:
        raise DataNotFoundError(f"{release.url} could not be fetched or stored ({error}).", path=str(home)) from error


def _download(url: str, path: Path, opener: Callable[..., Any]) -> None:
    size = 0
    with opener(url, timeout=_TIMEOUT) as stream, path.open("wb") as out:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            # The announced size of a download can be false. The limit applies to the bytes that arrive.
            if size > _ARCHIVE_LIMIT:
                raise CorpusFormatError(f"The archive is larger than {_ARCHIVE_LIMIT} bytes.", path=url)
            out.write(chunk)


def _read_archive(release: Release, path: Path) -> dict[Part, dict[str, bytes]]:
    contents: dict[Part, dict[str, bytes]] = {part: {} for part in release.parts}
    by_source = {part.source: part for part in release.parts}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                folder, _, name = member.filename.rpartition("/")
                # The first folder of the archive has a name with the commit, which is skipped here.
                part = by_source.get(folder.partition("/")[2])
                if part is None or not _FILE_NAME.fullmatch(name):
                    continue
                # A repeated name could replace a checked file.
                if name in contents[part]:
                    raise CorpusFormatError(f"The archive holds {member.filename!r} twice.", path=release.url)
                contents[part][name] = _read_member(archive, member, release.url)
    except _BROKEN_ARCHIVE as error:
        raise CorpusFormatError(f"The archive cannot be read ({error}).", path=release.url) from error
    # Every part is checked before the first one is installed.
    for part, files in contents.items():
        _check(part, files, release.url)
    return contents


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, url: str) -> bytes:
    with archive.open(member) as stream:
        # The size in the directory of an archive can be false, so the limit applies to the bytes that are read.
        content = stream.read(_MEMBER_LIMIT + 1)
    if len(content) > _MEMBER_LIMIT:
        raise CorpusFormatError(f"{member.filename!r} is larger than {_MEMBER_LIMIT} bytes.", path=url)
    return content


def _check(part: Part, files: Mapping[str, bytes], url: str) -> None:
    if len(files) != part.n_files:
        raise CorpusFormatError(
            f"{part.source} holds {len(files)} .txt and .ann files instead of {part.n_files}.", path=url
        )
    if part.digest is not None and content_digest(files) != part.digest:
        raise CorpusFormatError(f"The files of {part.source} differ from the published files.", path=url)


def _publish(files: Mapping[str, bytes], target: Path) -> None:
    if not target.exists():
        # If another process was faster, its files stay: that process has checked the same files.
        with new_folder(target, replace=False) as work:
            for name, content in files.items():
                (work / name).write_bytes(content)
