"""Files with the secret key of surrogates."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._atomic import naming
from ..exceptions import DeidError
from .keyed_chance import KEY_BYTES, new_key

_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_DIFFERENT_BYTES = 16


def read_or_make_key(path: str | os.PathLike[str]) -> bytes:
    """Read a key file; if there is no file, make a file with a new key.

    Parameters
    ----------
    path : str or path-like
        File with 64 hexadecimal digits (256 bits). A new file is readable for its owner only.

    Raises
    ------
    DeidError
        If the file contains no key, if other users of the computer can read it, or if its folder is missing.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/key"
    >>> read_or_make_key(path) == read_or_make_key(path)
    True
    """
    path = Path(path)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_key(path)
    except FileNotFoundError:
        raise DeidError("The folder of the key file does not exist. Make it first.", path=str(path)) from None
    key = new_key()
    try:
        with naming(path), os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(key.hex() + "\n")
            # The outputs that need the key are synced, too.
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        # A full disk would leave a file without a key, which the next run refuses.
        path.unlink()
        raise
    return key


def read_key(path: str | os.PathLike[str]) -> bytes:
    """Read a key file.

    Raises
    ------
    DeidError
        If there is no file, if the file contains no key or a key that can be guessed, or if other users of the computer
        can read the file.
    """
    path = Path(path)
    # The key undoes all surrogates and shifts. The key of the masks of a federation has the same rule.
    if os.name == "posix" and path.is_file() and path.stat().st_mode & 0o077:
        raise DeidError(
            "Other users can read the key of the surrogates. Allow it to its owner only: chmod 600.", path=str(path)
        )
    written = path.read_bytes().strip() if path.is_file() else b""
    if not _KEY.fullmatch(written.decode("ascii", "replace")):
        raise DeidError("A key file holds 64 hexadecimal digits and nothing else.", path=str(path))
    key = bytes.fromhex(written.decode("ascii"))
    # 32 random bytes have about 30 different values. A key that somebody typed, such as zeros, can be guessed.
    if len(set(key)) < _DIFFERENT_BYTES:
        raise DeidError(
            "This key was not drawn at random and can be guessed. Remove the file: a new key is drawn.", path=str(path)
        )
    return key
