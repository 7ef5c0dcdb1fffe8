"""`Passages`: the text of a file as one note, and the piece of the file from which each character comes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ...surrogates import Replacement
from ...text import Edit, Span
from ...text.normalized_text import edited

_SEPARATOR = re.compile(r"[\n\t]")


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
        """Edits of each piece: the first piece of a span receives the replacement, and later pieces lose their part.

        If a span has several lines, and the replacement as many, each line of the replacement is put into its line.
        """
        found: dict[int, list[Edit]] = {}
        for span, new, _ in replacements:
            parts = list(self._parts_of(span))
            for (number, first, last), text in zip(parts, self._texts(span, new, parts), strict=True):
                found.setdefault(number, []).append(Edit(first, last, text))
        return found

    def _parts_of(self, span: Span) -> Iterator[tuple[int, int, int]]:
        """Number of each piece that a span touches, and the start and the end of the span in the piece."""
        first, stop = bisect_right(self._starts, span.start) - 1, bisect_right(self._starts, span.end - 1)
        for number in range(max(0, first), stop):
            begin, length = self._starts[number], len(self.pieces[number])
            start, end = max(span.start - begin, 0), min(span.end - begin, length)
            if start < end:
                yield number, start, end

    def _texts(self, span: Span, new: str, parts: Sequence[tuple[int, int, int]]) -> list[str]:
        """Text for each piece of a span. The file itself separates the pieces, so that no piece needs a line feed."""
        # Characters of the span up to each piece, and up to the separator before it.
        gaps = [(self._starts[a] + end, self._starts[b] + start) for (a, _, end), (b, start, _) in pairwise(parts)]
        if not any(start < end for start, end in gaps) or not _SEPARATOR.search(new):
            return [new, *[""] * (len(parts) - 1)] if parts else []
        note = self.text
        old = [found.start() for found in _SEPARATOR.finditer(note, span.start, span.end)]
        cuts = [found.span() for found in _SEPARATOR.finditer(new)]
        if [note[at] for at in old] != [new[start] for start, _ in cuts]:
            return [_SEPARATOR.sub(" ", new), *[""] * (len(parts) - 1)]
        texts, line, at = [""] * len(parts), 0, 0
        for number, (start, end) in enumerate(gaps, 1):
            between = [cut for place, cut in zip(old, cuts, strict=True) if start <= place < end]
            if between:
                texts[line], line, at = new[at : between[0][0]], number, between[-1][1]
        texts[line] = new[at:]
        return texts

    def edited(self, replacements: Iterable[Replacement]) -> list[str]:
        """All pieces with their edits."""
        found = self.edits(replacements)
        return [edited(piece, found.get(number, ())) for number, piece in enumerate(self.pieces)]

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
