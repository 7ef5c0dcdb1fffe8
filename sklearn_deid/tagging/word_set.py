"""Set of many words, stored in few bytes."""

from __future__ import annotations

from base64 import b85encode
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from ..exceptions import BundleError

# Value of each character of base 85, as `base64.b85decode` reads them; 255 of any other character.
_VALUES = np.full(256, 255, dtype=np.uint8)
_VALUES[np.frombuffer(b"".join(b85encode(bytes([0, 0, 0, n]))[4:] for n in range(85)), dtype=np.uint8)] = np.arange(85)

_BITS, _HASHES = 10, 6  # bits for each word, and bits that a word sets: 0.8 % of other words are taken for members


class WordSet:
    """Set of words that can only be tested for members (a Bloom filter). Casing is ignored.

    A member is always found. About one of 120 words that are not members is wrongly reported as a member. Anyone with
    the set can test whether a word is a member: build the set from public lists, never from notes.

    Parameters
    ----------
    bits : ndarray of uint8
        Bits of the set, eight in each number.

    Examples
    --------
    >>> words = WordSet.of(["rod", "consent"])
    >>> "Consent" in words, "Okafor" in words
    (True, False)
    """

    def __init__(self, bits: np.ndarray) -> None:
        self.bits = bits

    @classmethod
    def of(cls, words: Iterable[str]) -> WordSet:
        """Build the set of the given words.

        Raises
        ------
        ValueError
            If a word is not a string, such as an empty cell of a table.
        """
        listed = list(words)
        if not all(isinstance(word, str) for word in listed):
            raise ValueError("The words of a list must be strings. An empty cell of a table is not a string.")
        members = {word.lower() for word in listed}
        made = cls(np.zeros(1 + len(members) * _BITS // 8, dtype=np.uint8))
        for word in members:
            for place in made._places(word):
                made.bits[place // 8] |= 1 << place % 8
        return made

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and all(self.bits[p // 8] >> p % 8 & 1 for p in self._places(word.lower()))

    def _places(self, word: str) -> list[int]:
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _HASHES).digest()
        return [int.from_bytes(digest[i : i + 4], "big") % (8 * len(self.bits)) for i in range(0, len(digest), 4)]

    def to_state(self) -> dict[str, Any]:
        """JSON values from which `from_state` builds the same set."""
        # Base 85 needs 5 characters for 4 bytes, hexadecimal numbers need 8.
        return {"base85": b85encode(self.bits.tobytes()).decode()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WordSet:
        """Build a set from the result of `to_state`.

        Raises
        ------
        BundleError
            If the bits are missing or are not written in base 85. Also if most bits are set, because too many words
            would be members.
        """
        try:
            # Earlier versions wrote a hexadecimal number.
            written = bytes.fromhex(state["bits"]) if "bits" in state else _from_base85(state["base85"])
            bits = np.frombuffer(written, dtype=np.uint8).copy()
        except (KeyError, TypeError, ValueError):
            raise BundleError("The bits of a saved set of words are not written in base 85.") from None
        if not len(bits) or np.unpackbits(bits).mean() > 0.75:
            raise BundleError("A saved set of words is empty or holds nearly every word.")
        return cls(bits)


def _from_base85(text: Any) -> bytes:
    """Decode a text as `base64.b85decode` does, in a tenth of its time."""
    if not isinstance(text, str):
        raise TypeError("The text must be a string.")
    written = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    missing = -len(written) % 5
    digits = _VALUES[np.append(written, np.full(missing, ord("~"), dtype=np.uint8))].reshape(-1, 5)
    numbers = digits.astype(np.int64) @ 85 ** np.arange(4, -1, -1)
    if (digits == 255).any() or (numbers >= 2**32).any():
        raise ValueError("The text is not written in base 85.")
    return numbers.astype(">u4").tobytes()[: 4 * len(numbers) - missing]
