"""`RearrangedText`: passages of a text in another order, or without the text between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np


class RearrangedText:
    r"""Passages of a text, with a line end or nothing between two passages.

    Parameters
    ----------
    text : str
        Unchanged text.
    passages : sequence of (int, int)
        Half-open offsets of the passages, in the order of reading. A passage may be empty.
    between : {"\n", ""}, default="\n"
        Text between two passages.

    Attributes
    ----------
    text : str
        Rearranged text.

    Examples
    --------
    >>> read = RearrangedText("10:42 Ann\n10:45 Roe", [(6, 9), (16, 19)])
    >>> read.text, list(read.originals(0, 7))
    ('Ann\nRoe', [(6, 9), (16, 19)])
    """

    __slots__ = ("_places", "text")

    def __init__(self, text: str, passages: Sequence[tuple[int, int]], between: str = "\n") -> None:
        self.text = between.join(text[start:end] for start, end in passages)
        # Offset of each character. The line end behind each passage has a number that is beside no offset.
        gap = [-2] * len(between)
        parts = [part for start, end in passages for part in (np.arange(start, end), gap)]
        self._places = np.concatenate([*parts, [-2]]).astype(np.int64)

    # Counts only: the text is note text.
    def __repr__(self) -> str:
        return f"RearrangedText({len(self.text)} characters)"

    def originals(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Half-open offsets, in the unchanged text, of the parts of a range of the rearranged text."""
        places = self._places[start:end]
        borders = [0, *(np.flatnonzero(np.diff(places) != 1) + 1).tolist(), len(places)]
        for first, stop in pairwise(borders):
            if first < stop and places[first] >= 0:
                yield int(places[first]), int(places[stop - 1]) + 1
