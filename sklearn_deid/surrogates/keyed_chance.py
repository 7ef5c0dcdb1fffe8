"""Random draws that depend only on a secret key and on the name of the draw."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from collections.abc import Iterator

from .chance import Chance

KEY_BYTES = 32
_FOUR_NUMBERS = struct.Struct(">4Q")


class KeyedChance(Chance):
    """Uniform draws from the stream that HMAC-SHA256 computes from a key and a description.

    The same key and description give the same draws on every machine. For readers without the key, the draws of two
    descriptions are independent random numbers.

    Parameters
    ----------
    key : bytes
        Secret key.
    *parts : str
        Description, such as the patient, the kind of PHI and the entity.

    Notes
    -----
    The stream is HMAC-SHA256 in counter mode. NumPy's generators were rejected: their seeding is not a cryptographic
    function, and making a generator takes longer than the few draws that a surrogate needs.

    References
    ----------
    RFC 2104, HMAC; NIST SP 800-108, key derivation in counter mode.

    Examples
    --------
    >>> key = bytes(32)
    >>> first, again = (KeyedChance(key, "patient 1", "town").number(1, 1000) for _ in range(2))
    >>> first == again, first == KeyedChance(key, "patient 2", "town").number(1, 1000)
    (True, False)
    """

    __slots__ = ()

    def __init__(self, key: bytes, *parts: str) -> None:
        # A length in front of each part: ("ab", "c") and ("a", "bc") must not be the same message.
        encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
        message = b"".join([len(part).to_bytes(4, "big") + part for part in encoded])
        self._random = _numbers(key, message).__next__  # type: ignore[assignment]


def _numbers(key: bytes, message: bytes) -> Iterator[float]:
    counter = 0
    while True:
        block = hmac.digest(key, counter.to_bytes(4, "big") + message, hashlib.sha256)
        for number in _FOUR_NUMBERS.unpack(block):
            # 53 bits: the doubles in [0, 1) that Generator.random() uses, too.
            yield (number >> 11) * 2.0**-53
        counter += 1


def new_key() -> bytes:
    """Draw a key of 256 bits from the operating system.

    Examples
    --------
    >>> len(new_key()), new_key() == new_key()
    (32, False)
    """
    return secrets.token_bytes(KEY_BYTES)
