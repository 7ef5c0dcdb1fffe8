"""`NormalizedText` is a changed text, with the position of each character in the unchanged text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Edit(NamedTuple):
    """Replacement of the characters ``start`` to ``end`` of a text by another text, which may be empty."""

    start: int
    end: int
    replacement: str = ""


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Apply edits, sorted and without overlap.

    Examples
    --------
    >>> edited("Seen by Alder.", [Edit(8, 13, "[DOCTOR]")])
    'Seen by [DOCTOR].'
    """
    parts, position = [], 0
    for start, end, replacement in edits:
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])


class NormalizedText:
    """Text with the offsets of each character in the text from which it was made.

    Parameters
    ----------
    text : str
        Text to read.
    starts, ends : ndarray of shape (n_characters,), dtype int64, optional
        Half-open offsets of each character in the original text. Starts and ends never decrease. With None, the text is
        the original text.

    Examples
    --------
    >>> changed = NormalizedText("J&#111;hn").edited([Edit(1, 7, "o")])
    >>> changed.text
    'John'
    >>> changed.original(0, 2)
    (0, 7)
    """

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, text: str, starts: np.ndarray | None = None, ends: np.ndarray | None = None) -> None:
        self.text = text
        self._starts, self._ends = starts, ends

    # Counts only: the text is note text.
    def __repr__(self) -> str:
        return f"NormalizedText({len(self.text)} characters)"

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Half-open offsets in the original text of the characters ``start`` to ``end``, at least one character."""
        if self._starts is None or self._ends is None:
            return start, end
        return int(self._starts[start]), int(self._ends[end - 1])

    def originals(self, starts: Sequence[int], ends: Sequence[int]) -> tuple[list[int], list[int]]:
        """Offsets in the original text of many passages, as two lists."""
        if self._starts is None or self._ends is None or not len(starts):
            return list(starts), list(ends)
        return self._starts[np.asarray(starts)].tolist(), self._ends[np.asarray(ends) - 1].tolist()

    def translated(self, table: dict[int, str]) -> NormalizedText:
        """Replace single characters by single characters, which changes no offset."""
        return NormalizedText(self.text.translate(table), self._starts, self._ends)

    def edited(self, edits: Sequence[Edit]) -> NormalizedText:
        """Apply edits, sorted and without overlap.

        If a replacement has the length of the replaced text, each character maps to the replaced character at its
        position. Otherwise, each character of the replacement maps to all replaced characters. Removed characters have
        no new character. A passage contains the removed characters if it has characters before and after them.
        """
        if not edits:
            return self
        n = len(self.text)
        starts = np.arange(n, dtype=np.int64) if self._starts is None else self._starts
        ends = np.arange(1, n + 1, dtype=np.int64) if self._ends is None else self._ends
        pieces: list[str] = []
        # For kept text and for replacements in turn: first and last old character, number of new characters, and
        # whether they map character by character.
        parts: list[tuple[int, int, int, bool]] = []
        position = 0
        for start, end, replacement in (*edits, Edit(n, n)):
            size = len(replacement)
            pieces += [self.text[position:start], replacement]
            parts += [(position, position, start - position, True)]
            parts += [(start, start, size, True) if size == end - start else (start, end - 1, size, False)]
            position = end
        first, last, sizes, by_character = np.array(parts, dtype=np.int64).T
        within = np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes, sizes)
        within *= np.repeat(by_character, sizes)
        new_starts, new_ends = starts[np.repeat(first, sizes) + within], ends[np.repeat(last, sizes) + within]
        return NormalizedText("".join(pieces), new_starts, new_ends)
