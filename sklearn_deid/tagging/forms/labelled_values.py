"""Values whose labels stand elsewhere in forms and tables: on another line, in another cell, or behind a sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...text import Tokens
from .cell_labels import CellLabel, cell_label
from .label_words import OTHER, THING
from .line_pairs import pairs_of_lines
from .note_cells import note_lines, passages
from .note_form import NoteForm
from .table_pairs import pairs_of_row


class LabelledValue(NamedTuple):
    """Ranges of tokens of a label and of its value."""

    label: range
    value: range


def labelled_values(text: str, tokens: Tokens) -> list[LabelledValue]:
    r"""Labels and values that fit them, if the value is not simply behind the label and a colon.

    The value is below or above the line of its label, below its label in a column, in the next cell, or behind another
    sign. As many lines of values may follow several lines of labels.

    Parameters
    ----------
    text : str
        Normalised text of a note.
    tokens : Tokens
        Tokens of this text.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> tokens = tokenize(text := "Patient\nNurse\nRoe\nBirch\n\nDiet    Regular    Surgeon    Elm")
    >>> for label, value in labelled_values(text, tokens):
    ...     print(tokens.texts[label.start], tokens.texts[value.start])
    Patient Roe
    Nurse Birch
    Surgeon Elm
    """
    parts = passages(text, tokens)
    found = (cell_label(tokens, first, stop) for first, stop, _, _ in parts if stop > first)
    labels = [label for label in found if label is not None]
    # Most notes have no label whose value is read.
    if all(label.kind in (OTHER, THING) for label in labels):
        return []
    form = NoteForm(tokens, note_lines(text, tokens, parts), labels)
    pairs = (LabelledValue(range(label.first, label.stop), value) for label, value in _pairs(form))
    return list(dict.fromkeys(pairs))


def _pairs(form: NoteForm) -> Iterator[tuple[CellLabel, range]]:
    n = 0
    while n < len(form):
        stop = n
        while form.line_label(stop) is not None:
            stop += 1
        if stop > n:
            yield from pairs_of_lines(form, n, stop)
        elif any(form.labels(n)):
            yield from pairs_of_row(form, n)
        n = max(stop, n + 1)
