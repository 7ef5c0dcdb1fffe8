"""Values of labels in lines of several cells, and of labels with a sign behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .cell_labels import CellLabel
from .head_columns import HeadColumns
from .label_words import OTHER
from .note_form import NoteForm

_LONGEST_HEAD = 9  # tokens


def pairs_of_row(form: NoteForm, n: int) -> Iterator[tuple[CellLabel, range]]:
    """Labels and values of a line: values in columns below the line, in the cell of the label, and in the next cell."""
    labels = form.labels(n)
    below = list(_of_columns(form, n, form.without_names_of_things(labels))) if _is_head(form, n, labels) else []
    yield from below
    # A row of labels with values below has a value beside a label only if it has one beside each label.
    is_alternating = not any(labels[1::2]) and len(labels) % 2 == 0
    if not below or is_alternating:
        yield from _beside(form, n, labels)


def _beside(form: NoteForm, n: int, labels: Sequence[CellLabel | None]) -> Iterator[tuple[CellLabel, range]]:
    """Values in the cells of their labels, behind signs, or in the next cells."""
    for number, label in enumerate(labels):
        # Behind a colon, the value is read already.
        if label is None or label.has_colon:
            continue
        is_whole = label.rest == form.lines[n].cells[number].stop
        value = form.value(label.kind, n, number + 1) if is_whole else form.value(label.kind, n, number, label.rest)
        if value is not None:
            yield label, value


def _is_head(form: NoteForm, n: int, labels: Sequence[CellLabel | None]) -> bool:
    """Whether all cells of a line may be labels, and at least two are known ones."""
    if sum(label is not None for label in labels) < 2:
        return False
    return all(
        label.rest == cell.stop
        if label is not None
        else form.begins_with_word(n, number) and cell.stop - cell.first <= _LONGEST_HEAD
        for number, (cell, label) in enumerate(zip(form.lines[n].cells, labels, strict=True))
    )


def _of_columns(form: NoteForm, head: int, labels: Sequence[CellLabel | None]) -> Iterator[tuple[CellLabel, range]]:
    """Values below a row of labels; without one, values on the line before, as in signatures."""
    columns, has_values = HeadColumns(form.lines[head]), False
    for n in range(head + 1, len(form)):
        if form.is_rule(n):
            continue
        line = form.lines[n]
        if (len(line.cells) < 2 and not line.is_divided) or sum(label is not None for label in form.labels(n)) > 1:
            break
        for pair in _below(form, columns, labels, n):
            has_values = True
            yield pair
    above = head - 1
    while above >= 0 and form.is_rule(above):
        above -= 1
    if not has_values and above >= 0 and len(form.lines[above].cells) == len(labels) and not any(form.labels(above)):
        yield from _below(form, columns, labels, above)


def _below(
    form: NoteForm, columns: HeadColumns, labels: Sequence[CellLabel | None], n: int
) -> Iterator[tuple[CellLabel, range]]:
    """Values of a line in the columns of a row of labels."""
    line, own = form.lines[n], form.labels(n)
    for number, column in enumerate(columns.numbers(line)):
        label, word = None if column is None else labels[column], own[number]
        # Names such as "Ward" and "Case" are words of labels elsewhere.
        first = line.cells[number].first if word is not None and word.kind == OTHER else None
        value = None if label is None else form.value(label.kind, n, number, first)
        if label is not None and value is not None:
            yield label, value
