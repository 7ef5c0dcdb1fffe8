"""`Passages`: the text of a file as one note, and the piece of the file from which each character comes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from ...surrogates import Replacement
from ...text import Edit
from ...text.normalized_text import edited


class Passages:
    """Pieces of a file in reading order. A name may span several pieces.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> passages = Passages()
    >>> passages.add("Seen by Al"), passages.add("der"), passages.separate(), passages.add("Well.")
    (0, 1, None, 2)
    >>> passages.text
    'Seen by Alder\\nWell.'
    >>> passages.edits([Replacement(Span(8, 13, "DOCTOR"), "[DOCTOR]", False)])
    {0: [Edit(start=8, end=10, replacement='[DOCTOR]')], 1: [Edit(start=0, end=3, replacement='')]}
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.pieces: list[str] = []
        self._starts: list[int] = []

    @property
    def text(self) -> str:
        """The note."""
        return "".join(self._parts)

    def add(self, piece: str) -> int:
        """Add a piece of the file and return its number."""
        self.pieces.append(piece)
        self._starts.append(self._length)
        self._write(piece)
        return len(self.pieces) - 1

    def separate(self, text: str = "\n") -> None:
        """Add characters that are not in the file, such as the end of a paragraph.

        A line feed is not added twice in a row.
        """
        if text != "\n" or (self._parts and not self._parts[-1].endswith("\n")):
            self._write(text)

    def edits(self, replacements: Iterable[Replacement]) -> dict[int, list[Edit]]:
        """Edits of each piece: the first piece of a span receives the replacement, and later pieces lose their part."""
        found: dict[int, list[Edit]] = {}
        for span, new, _ in replacements:
            start, end = span.start, span.end
            text = new
            for number in range(max(0, bisect_right(self._starts, start) - 1), bisect_right(self._starts, end - 1)):
                begin, length = self._starts[number], len(self.pieces[number])
                first, last = max(start - begin, 0), min(end - begin, length)
                if first < last:
                    found.setdefault(number, []).append(Edit(first, last, text))
                    text = ""
        return found

    def edited(self, replacements: Iterable[Replacement]) -> list[str]:
        """All pieces with their edits."""
        found = self.edits(replacements)
        return [edited(piece, found.get(number, ())) for number, piece in enumerate(self.pieces)]

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
