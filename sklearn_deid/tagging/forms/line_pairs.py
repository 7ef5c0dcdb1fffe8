"""Values of labels that fill lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .cell_labels import ANY, CellLabel
from .label_words import OTHER, THING, has_many_values
from .note_form import NoteForm

# Labels behind headings that are labels, too, lines of unknown labels behind labels, and values of a label.
_MOST_BEHIND_HEADINGS, _MOST_UNKNOWN, _MOST_VALUES = 12, 2, 12


def pairs_of_lines(form: NoteForm, first: int, stop: int) -> Iterator[tuple[CellLabel, range]]:
    """Labels and values of lines that are one label each, and of the lines below them and above them.

    Parameters
    ----------
    form : NoteForm
        Note.
    first, stop : int
        Range of the lines with labels.
    """
    found = form.without_names_of_things([*map(form.line_label, range(first, stop))])
    labels = [label for label in found if label is not None]
    blocks = [labels, labels[-_MOST_BEHIND_HEADINGS:]] if len(labels) > 1 else []
    pairs = max((_of_block(form, block, stop) for block in blocks), key=len, default=[])
    yield from pairs or _of_label(form, labels[-1], stop)


def _of_block(form: NoteForm, labels: Sequence[CellLabel], stop: int) -> list[tuple[CellLabel, range]]:
    """Values on as many lines below. Lines with labels of unknown words may be between labels and values."""
    n_wanted = sum(label.kind not in (OTHER, THING, ANY) for label in labels)
    best: list[tuple[CellLabel, range]] = []
    for n in range(stop, min(stop + _MOST_UNKNOWN + 1, len(form) - len(labels) + 1)):
        # The value of an unknown label has a line, too, and no value is a label.
        if any(form.line_label(n + i) or len(form.lines[n + i].cells) > 1 for i in range(len(labels))):
            continue
        found = [(label, form.line_value(label.kind, n + i)) for i, label in enumerate(labels)]
        pairs = [(label, value) for label, value in found if value is not None]
        n_found = sum(label.kind != ANY for label, _ in pairs)
        if n_found == n_wanted:
            return pairs
        if not best and 2 * n_found >= n_wanted:
            best = pairs
    return best


def _of_label(form: NoteForm, label: CellLabel, n: int) -> Iterator[tuple[CellLabel, range]]:
    """Values on the next lines, or the name on the line before."""
    # A tagger that reads lines with a colon before their values does so itself, with the words that it knows.
    value = None if label.kind == ANY else form.line_value(label.kind, n)
    if value is None:
        yield from _above(form, label, n - 2) if label.kind == "person" else ()
        return
    yield label, value
    more = _names_below(form, n + 1) if label.kind == "person" else []
    if has_many_values(form.words(label)):
        yield from ((label, name) for name in more)
    elif len(more) == 1 and _ends_block(form, n + 2):
        # The name goes on in the next line.
        yield label, range(value.start, more[0].stop)


def _names_below(form: NoteForm, n: int) -> list[range]:
    names: list[range] = []
    while n < len(form) and len(names) < _MOST_VALUES and not form.lines[n].after_blank:
        name = form.line_value("person", n)
        if name is None:
            break
        names.append(name)
        n += 1
    return names


def _ends_block(form: NoteForm, n: int) -> bool:
    return n >= len(form) or form.lines[n].after_blank or form.line_label(n) is not None


def _above(form: NoteForm, label: CellLabel, n: int) -> Iterator[tuple[CellLabel, range]]:
    """Name on the line before its label, as in signatures: behind an empty line, a sentence or a row of signs."""
    is_apart = False
    while n >= 0 and form.is_rule(n):
        n, is_apart = n - 1, True
    if n < 0 or form.line_label(n - 1) is not None:
        return
    is_apart = is_apart or n == 0 or form.lines[n].after_blank or form.ends_sentence(n - 1)
    value = form.line_value("person", n) if is_apart else None
    if value is not None:
        yield label, value
