"""`RowCopies`: texts that another row of a table repeats in a column that nobody has named."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np

from .column_names import decoded, folded_text, long_texts

# Shorter texts, such as descriptions of codes, are equal in several rows by chance.
_FEWEST_WORDS = 12


class RowCopies:
    """Comparison of the texts of all rows with the copied values of all rows, such as those of ``note.shift()``.

    Whole texts of at least twelve words are compared, without regard to case and repeated blanks. The copied values
    also include the texts inside of lists, objects and JSON. A text that occurs twice in the columns of texts is no
    copy. `count_words` counts the words, also of scripts without spaces.

    The object holds a hash of 8 bytes for each text, and for each copied value of twelve words, so that the chunks of a
    large table can be compared one after the other.

    Examples
    --------
    >>> note = "Seen today by Dr. Alder on the ward, no pain, no fever, home tomorrow."
    >>> copies = RowCopies()
    >>> copies.add("note", ["Well.", note])
    >>> copies.repeated() is None
    True
    >>> copies.add_copied([None, [note.upper()]])
    >>> copies.repeated()
    'note'
    """

    def __init__(self) -> None:
        self._texts: dict[Any, _Hashes] = {}
        self._copied = _Hashes()
        # Also a whole data frame at once needs 8 bytes for each text.
        self._new_texts: dict[Any, array[int]] = {}
        self._new_copied = array("Q")

    def add(self, column: Any, texts: Iterable[Any]) -> None:
        """Add values of a column of texts. Values that are no texts are ignored."""
        self._texts.setdefault(column, _Hashes())
        new = self._new_texts.setdefault(column, array("Q"))
        for value in texts:
            text = decoded(value)
            if text is not None and (folded := folded_text(text, _FEWEST_WORDS)) is not None:
                new.append(_hash(folded))

    def add_copied(self, values: Iterable[Any]) -> None:
        """Add values that are copied, of any type."""
        self._new_copied.extend(map(_hash, long_texts(values, _FEWEST_WORDS)))

    def repeated(self) -> Any:
        """Column of a text that a copied value repeats, of all that were added; None without such a text.

        Only what was added since the last call is compared with all others.
        """
        copied = np.unique(np.array(self._new_copied, np.uint64))
        self._copied.add(copied)
        found = []
        for column, known in self._texts.items():
            texts = np.unique(np.array(self._new_texts[column], np.uint64))
            if known.has_any(copied) or self._copied.has_any(texts):
                found.append(column)
            known.add(texts)
            self._new_texts[column] = array("Q")
        self._new_copied = array("Q")
        return found[0] if found else None


class _Hashes:
    """Set of hashes in sorted arrays, of which each is more than twice as long as the next one.

    A set of Python would need ten times the memory.
    """

    def __init__(self) -> None:
        self._sorted: list[np.ndarray] = []

    def add(self, hashes: np.ndarray) -> None:
        while self._sorted and len(self._sorted[-1]) <= 2 * len(hashes):
            hashes = np.unique(np.concatenate((self._sorted.pop(), hashes)))
        if len(hashes):
            self._sorted.append(hashes)

    def has_any(self, hashes: np.ndarray) -> bool:
        return any(
            bool((part[np.minimum(np.searchsorted(part, hashes), len(part) - 1)] == hashes).any())
            for part in self._sorted
        )


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
