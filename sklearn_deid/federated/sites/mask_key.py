"""`MaskKey`: private key of a site for pairwise masks, and the state that the site keeps between rounds."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ...exceptions import DeidError, ExchangeError
from ..masks import MaskingSite
from .json_file import check_kinds, read_settings, write_settings

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class MaskKey:
    """Private key of a site and the last round that was masked with the key, in one file.

    Key and round are in one file, because without the number of the last round, a site could use a mask twice. Do not
    restore the file from a backup: make a new key instead.

    Parameters
    ----------
    private_key : str
        Private key, 64 hexadecimal digits.
    last_round : int, default=-1
        Number of the last masked round. The site refuses the number of the last masked round and smaller numbers.
    start : str, default=""
        Hash of the parameters from which the last update started.
    version, sequence : int, default=-1
        Version of these parameters at the server, and number of the last update among the updates of the site.
    sent : int, default=-1
        Number of the last update that was masked. A state folder without this update is an older copy.
    agreed : str, default=""
        Fingerprint of the names and keys of the sites whose updates are added to the last update.

    Examples
    --------
    >>> MaskKey("00" * 31 + "01")
    MaskKey(last_round=-1, start='', version=-1, sequence=-1, agreed='', sent=-1)
    """

    private_key: str = field(repr=False)
    last_round: int = -1
    start: str = ""
    version: int = -1
    sequence: int = -1
    agreed: str = ""
    sent: int = -1

    def __post_init__(self) -> None:
        check_kinds(self)
        if not _HEX.fullmatch(self.private_key):
            raise ExchangeError("'private_key' must have 64 hexadecimal digits.")
        for name in ("last_round", "version", "sequence", "sent"):
            if getattr(self, name) < -1:
                raise ExchangeError(f"'{name}' must be a whole number from -1.")

    def masking_site(self, name: str) -> MaskingSite:
        """Create the `MaskingSite` with this key."""
        return MaskingSite(name, bytes.fromhex(self.private_key), self.last_round)


def make_mask_key(path: str | os.PathLike[str]) -> str:
    """Make a key, unless the file exists already, and return the public key as 64 hexadecimal digits.

    Parameters
    ----------
    path : path
        File for the private key. Only its owner can read the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mask.key")
    >>> make_mask_key(path) == make_mask_key(path)
    True
    """
    # A new key for a site whose public key is already agreed would end all rounds.
    if not Path(path).exists():
        remove_unfinished(Path(path))
        write_settings(MaskKey(MaskingSite("").private_key.hex()), path, private=True)
    return read_mask_key(path).masking_site("").public_key.hex()


def remove_unfinished(path: Path) -> None:
    """Delete the hidden copies of a key that a killed process has left while it wrote the file.

    A copy contains the private key, and would outlast the deletion of the file. Call the function only if no other
    process writes the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mask.key")
    >>> _ = path.with_name(f".mask.key-{'0' * 32}").write_text("left by a killed process")
    >>> remove_unfinished(path)
    >>> list(path.parent.iterdir())
    []
    """
    copy = re.compile(re.escape(f".{path.name}-") + r"[0-9a-f]{32}")  # as `_atomic.hidden_name` names it
    for other in path.parent.iterdir() if path.parent.is_dir() else ():
        if copy.fullmatch(other.name):
            other.unlink(missing_ok=True)


def read_mask_key(path: str | os.PathLike[str]) -> MaskKey:
    """Read the file of `make_mask_key`.

    Raises
    ------
    DeidError
        If the file is missing or damaged, or if other users of the computer can read the file.
    """
    key = read_settings(MaskKey, path)
    if os.name == "posix" and Path(path).stat().st_mode & 0o077:
        raise DeidError(
            "Other users can read the key of the masks. Allow only the owner to read the file.", path=str(path)
        )
    return key
