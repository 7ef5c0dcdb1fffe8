"""`NoteForm`: lines of a note as cells, with the labels in the cells."""

from __future__ import annotations

from collections.abc import Iterable

from ...text import Tokens
from .cell_labels import CellLabel, unknown_label
from .label_words import THING, is_name_alone
from .note_cells import Line
from .value_forms import fitting


class NoteForm:
    """Lines, labels and values of a note.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the note.
    lines : list of Line
        Lines of the note.
    labels : iterable of CellLabel
        Labels of known words in the cells of the lines.
    """

    def __init__(self, tokens: Tokens, lines: list[Line], labels: Iterable[CellLabel]) -> None:
        self.lines = lines
        self._tokens = tokens
        self._labels = {label.first: label for label in labels}

    def __len__(self) -> int:
        return len(self.lines)

    def labels(self, n: int) -> list[CellLabel | None]:
        """Label of each cell of a line."""
        return [self._labels.get(cell.first) for cell in self.lines[n].cells]

    def line_label(self, n: int) -> CellLabel | None:
        """Label that fills a line; None if the line is no such label, or there is no such line."""
        if not 0 <= n < len(self.lines) or len(self.lines[n].cells) > 1:
            return None
        cell = self.lines[n].cells[0]
        label = self._labels.get(cell.first) or unknown_label(self._tokens, cell.first, cell.stop)
        is_whole = label is not None and label.rest == cell.stop
        # A line of prose that goes on begins with a small letter.
        is_prose = label is not None and not label.has_colon and self._tokens.texts[cell.first][0].islower()
        return label if is_whole and not is_prose else None

    def words(self, label: CellLabel) -> list[str]:
        """Tokens of a label."""
        return self._tokens.texts[label.first : label.stop]

    def value(self, kind: str, n: int, number: int, first: int | None = None) -> range | None:
        """Tokens of a cell that fit a kind, without those before ``first``; None for a cell that is a label."""
        if number >= len(self.lines[n].cells):
            return None
        cell = self.lines[n].cells[number]
        if first is None and cell.first in self._labels:
            return None
        return fitting(kind, self._tokens.texts, cell.first if first is None else first, cell.stop)

    def line_value(self, kind: str, n: int) -> range | None:
        """The same for the only cell of a line; None if the line has several cells, or there is no such line."""
        if not 0 <= n < len(self.lines) or len(self.lines[n].cells) > 1:
            return None
        return None if self.line_label(n) is not None else self.value(kind, n, 0)

    def is_rule(self, n: int) -> bool:
        """Whether a line has no letters and digits."""
        words = self._tokens.texts
        return not any(words[i].isalnum() for cell in self.lines[n].cells for i in range(cell.first, cell.stop))

    def ends_sentence(self, n: int) -> bool:
        """Whether a line ends with punctuation."""
        return self._tokens.texts[self.lines[n].cells[-1].stop - 1] in ".:,!?"

    def begins_with_word(self, n: int, number: int) -> bool:
        """Whether the first token of a cell is a word."""
        return self._tokens.texts[self.lines[n].cells[number].first].isalpha()

    def without_names_of_things(self, labels: list[CellLabel | None]) -> list[CellLabel | None]:
        """Labels of a row or of a column, without "Name" if another label belongs to drugs, tests or devices."""
        if all(label is None or label.kind != THING for label in labels):
            return labels
        things = (label is not None and is_name_alone(self.words(label)) for label in labels)
        return [
            label and label._replace(kind=THING) if is_thing else label
            for label, is_thing in zip(labels, things, strict=True)
        ]
