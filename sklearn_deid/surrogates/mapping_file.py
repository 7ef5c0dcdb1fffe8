"""Encrypted files with the original of each surrogate, so that surrogates can be reversed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .._optional import import_optional
from ..exceptions import CorpusFormatError
from ..text import Document
from .surrogate_engine import Replacement

# Lines of the first format name no file, so that a line of another file of the same key could take their place.
_FIRST = b"sklearn-deid mapping 1, AES-256-GCM\n"
_HEADER = re.compile(rb"sklearn-deid mapping 2, AES-256-GCM, [0-9a-f]{32}\n")
_NAME = b"sklearn-deid mapping 2, AES-256-GCM, "
_NONCE_BYTES = 12
# Lines without padding reveal the length of all originals of a note, which are few letters in many notes.
_PADDED_TO = 2048


class MappingFile:
    """File with the originals of all surrogates, one encrypted line for each note (AES-256-GCM).

    The file is as sensitive as the notes. The encryption key of the file is derived from the key of the surrogates.
    Reading the file detects a line that was changed, moved, taken from another file, or left out before another line.
    Reading does not detect that lines at the end are missing, or that the whole file was replaced by an earlier state.
    Without the key, the file reveals the number and order of the notes. The file also reveals the size of the
    replacements of each note in steps of 2 KiB, which is about 20 replacements.

    Parameters
    ----------
    path : Path
        File to write, readable for its owner only.
    key : bytes
        Key of the surrogates.

    Raises
    ------
    MissingDependencyError
        If ``cryptography`` is not installed (extra ``mapping``).
    CorpusFormatError
        On entry, if the file exists and is not a mapping file, or was written with another key.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_deid import Span
    >>> path = Path(tempfile.mkdtemp(), "mapping")
    >>> with MappingFile(path, bytes(32)) as file:
    ...     note = Document("n1", "Ann left.", (Span(0, 3, "PATIENT"),))
    ...     file.write(note, [Replacement(note.spans[0], "Eva", True)])
    >>> [(row["doc_id"], row["replacements"][0]["original"]) for row in read_mapping(path, bytes(32))]
    [('n1', 'Ann')]
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._cipher = _cipher(key)
        self._number = self._size = 0
        self._header = _FIRST
        self._descriptor: int | None = None

    def __repr__(self) -> str:
        return f"MappingFile({str(self.path)!r})"

    def __enter__(self) -> MappingFile:
        exists = self.path.exists()
        data = self.path.read_bytes() if exists else b""
        has_header = exists and not (self.path.is_file() and _is_begun(data))
        if has_header:
            # An interrupted run may have left part of a line.
            complete = data[: data.rfind(b"\n") + 1]
            self._header = _header(complete, self.path)
            os.truncate(self.path, len(complete))
            self._number, self._size = complete.count(b"\n") - 1, len(complete)
            if self._number:
                # Lines of two keys in one file could be read with neither key.
                _opened(self._cipher, self._header, complete.splitlines()[-1], self._number - 1, self.path)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if not has_header:
            if exists:
                self.path.chmod(0o600)
                os.ftruncate(self._descriptor, 0)
            self._header = _NAME + secrets.token_hex(16).encode() + b"\n"
            self._append(self._header)
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                # The outputs are synced, too, and their originals must not be lost before them.
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def write(self, document: Document, replacements: Iterable[Replacement]) -> None:
        """Append a note. When the method returns, the line is in the file.

        Raises
        ------
        CorpusFormatError
            If another program has written to the file, since lines of two runs in one file could not be read.
        """
        assert self._descriptor is not None  # inside of the block of ``with``
        plain = json.dumps(mapping_row(document, replacements)).encode()
        # JSON may end with blanks.
        plain += b" " * (-len(plain) % _PADDED_TO)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, plain, _place(self._header, self._number))
        # Two writers would count the same line numbers, and readers could read neither line.
        if os.fstat(self._descriptor).st_size != self._size:
            raise CorpusFormatError("Another run is writing to this mapping file.", path=str(self.path))
        self._append(base64.b64encode(sealed) + b"\n")
        self._number += 1

    def _append(self, line: bytes) -> None:
        """Append a whole line, or nothing."""
        assert self._descriptor is not None
        rest = memoryview(line)
        try:
            # A nearly full disk takes a part of a line.
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            # Half of a line would make all later lines unreadable.
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)


def mapping_row(document: Document, replacements: Iterable[Replacement]) -> dict[str, Any]:
    """Content of the line of a note, as `read_mapping` yields it."""
    rows = [
        {
            "start": span.start,
            "end": span.end,
            "label": span.label,
            "original": document.text[span.start : span.end],
            "surrogate": surrogate,
        }
        for span, surrogate, _ in replacements
    ]
    return {"doc_id": document.doc_id, "replacements": rows}


def read_mapping(path: str | Path, key: bytes) -> Iterator[dict[str, Any]]:
    """Decrypt a mapping file.

    Parameters
    ----------
    path : path
        File that `MappingFile` wrote.
    key : bytes
        Key of the surrogates.

    Yields
    ------
    dict
        ``doc_id`` of each note and its ``replacements``: ``start``, ``end``, ``label``, ``original``, ``surrogate``.

    Raises
    ------
    CorpusFormatError
        If the file is not a mapping file, is damaged, or was written with another key. The message contains no text of
        a note.
    """
    cipher = _cipher(key)
    data = Path(path).read_bytes()
    header = _header(data, Path(path))
    for number, line in enumerate(data.splitlines()[1:]):
        yield json.loads(_opened(cipher, header, line, number, Path(path)))


def _header(data: bytes, path: Path) -> bytes:
    """First line of a mapping file, with the random number of the file."""
    header = data[: data.find(b"\n") + 1]
    if header != _FIRST and not _HEADER.fullmatch(header):
        raise CorpusFormatError("This is no mapping file.", path=str(path))
    return header


def _is_begun(data: bytes) -> bool:
    """Whether a file is empty, or holds a part of a header only: a run was stopped when it made the file."""
    begun = data[: len(_NAME)]
    return _NAME.startswith(begun) and re.fullmatch(rb"[0-9a-f]{0,32}", data[len(begun) :]) is not None


def _place(header: bytes, number: int) -> bytes:
    """Data that are authenticated together with a line: the file, and the number of the line from 0.

    An exchanged, repeated or copied line, and a missing line in the middle, are therefore detected.
    """
    return (b"" if header == _FIRST else header) + str(number).encode()


def _opened(cipher: Any, header: bytes, line: bytes, number: int, path: Path) -> bytes:
    """Decrypt a line."""
    from cryptography.exceptions import InvalidTag

    try:
        sealed = base64.b64decode(line.strip(), validate=True)
        return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _place(header, number))
    except (InvalidTag, binascii.Error, ValueError):
        raise CorpusFormatError(
            f"Line {number + 2} cannot be decrypted: the file is damaged or has another key.", path=str(path)
        ) from None


def _cipher(key: bytes) -> Any:
    aead = import_optional(
        "cryptography.hazmat.primitives.ciphers.aead", extra="mapping", purpose="encrypted mapping files"
    )
    # One key for one purpose: the mapping does not use the key of the surrogates itself.
    return aead.AESGCM(hmac.digest(key, b"sklearn-deid mapping file", hashlib.sha256))
