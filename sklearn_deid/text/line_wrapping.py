"""Which line breaks of a note end something, and which only wrap a paragraph at a fixed width.

Some systems write one statement a line, others fill lines up to about 80 columns. Splitting at every break
cuts names and streets in two in notes of the second kind; splitting at none glues the fields of the first
kind together.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import NamedTuple

__all__ = ["line_starts"]

# Two carriage returns before a line feed come from files that were converted twice: still one break.
_LINE_BREAK = re.compile(r"\r{0,2}\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ITEM = re.compile(
    r"[-*+•·▪◦‣⁃∙●○■□–—>»#]"  # bullets and rows of dashes
    r"|o\s"  # what word processors export as a round bullet
    r"|\(?\d{1,3}[.)](?!\S)|\(?[A-Za-z]\)(?!\S)|\(?[ivxIVX]{2,4}[.)](?!\S)"  # 1. 2) (3) a) ii.
)
_FIELD_WORD = r"[^\W\d_](?:[^\W\d_]|['/&])*"
_FIELD = re.compile(rf"{_FIELD_WORD}(?: {_FIELD_WORD}){{0,2}}:(?!\S)")  # "Discharge medications:"
_NARROWEST, _WIDEST = 40, 140
_MIN_EVIDENCE = 2  # breaks in the middle of a sentence, below which a note does not count as wrapped
_MIN_EVIDENCE_SHARE = 0.3  # of the breaks at full lines; in wrapped prose it is about two thirds
_MAX_OVERLONG_SHARE = 0.1  # lines beyond the width; a pasted address or table row may be
_MAX_CASELESS_SHARE = 0.05  # lower case characters in a note "without" lower case: a few units such as mg


class _Line(NamedTuple):
    """A line with anything visible on it."""

    start: int  # offset of the first visible character
    length: int  # columns up to the last visible character, indentation included
    needed: int  # columns that its first word would have needed at the end of the line before, with its space
    text: str  # visible part
    after_blank: bool  # nothing but white space in the line before


def _visible_lines(text: str) -> list[_Line]:
    lines = []
    start, after_blank = 0, True
    breaks = [(gap.start(), gap.end()) for gap in _LINE_BREAK.finditer(text)]
    for end, following in [*breaks, (len(text), len(text))]:
        raw = text[start:end].rstrip()
        visible = raw.lstrip()
        if visible:
            needed = 1 + len(visible.split(None, 1)[0])
            lines.append(_Line(start + len(raw) - len(visible), len(raw), needed, visible, after_blank))
        after_blank = not visible
        start = following
    return lines


def _is_full(line: _Line, following: _Line, width: int) -> bool:
    """Whether a width explains the break: the line fits into it, and would not with the next word added."""
    return line.length <= width < line.length + following.needed


def _breaks_off(line: _Line, following: _Line, caseless: bool) -> bool:
    """Whether the break is in mid-sentence: no final punctuation before, no capital after."""
    first = following.text[0]
    return line.text[-1] not in ".:;!?" and first.isalpha() and (caseless or not first.isupper())


def _may_run_on(line: _Line, following: _Line) -> bool:
    """False where a line starts something new whatever the widths: after a blank line or a row, at a list item."""
    is_row = not line.text.strip("-=_*~#. ")
    return not (following.after_blank or is_row or _ITEM.match(following.text))


def _wrap_width(lines: list[_Line], caseless: bool) -> int | None:
    """Width at which a note was wrapped; None if its lines end where the author ended them."""
    pairs = [(line, after) for line, after in pairwise(lines) if _may_run_on(line, after)]
    changes = [0] * (_WIDEST + 2)  # how many more breaks each width explains than the width before
    for line, after in pairs:
        first, stop = max(line.length, _NARROWEST), min(line.length + after.needed, _WIDEST + 1)
        if first < stop:
            changes[first] += 1
            changes[stop] -= 1
    explained = list(accumulate(changes))
    width = max(range(len(explained)), key=explained.__getitem__)  # the narrowest of the best
    evidence = sum(_is_full(line, after, width) and _breaks_off(line, after, caseless) for line, after in pairs)
    if evidence < max(_MIN_EVIDENCE, _MIN_EVIDENCE_SHARE * explained[width]):
        return None
    overlong = sum(line.length > width for line in lines)
    return width if overlong <= max(1, _MAX_OVERLONG_SHARE * len(lines)) else None


def _runs_on(line: _Line, following: _Line, width: int | None, caseless: bool) -> bool:
    """Whether the following line continues the line."""
    if not _may_run_on(line, following):
        return False
    if width is None:
        return line.length >= _NARROWEST and not caseless and _breaks_off(line, following, caseless)
    if not _is_full(line, following, width):
        return False
    return not (following.text[0].isupper() and _FIELD.match(following.text))


def line_starts(text: str) -> list[int]:
    r"""Offsets at which a line starts that does not continue the line before.

    Every visible line starts something new, but for two kinds:

    - in a hard-wrapped note, a line whose first word would not have fitted at the end of the line before;
    - in any other note, a line that breaks off in mid-sentence after 40 or more columns.

    Even these start something new after a blank line or a row of dashes and where they look like a list item
    (``-``, ``*``, ``•``, ``o``, ``1.``, ``2)``, ``a)``); in a hard-wrapped note also where they look like a field
    of up to three words (``Allergies: ...``).

    A note is hard-wrapped if there is a width of 40 to 140 columns that (a) at most a tenth of its lines
    exceed, or one line, and (b) explains breaks of which at least two, and 30 %, are in mid-sentence. A width
    explains a break if the line fits into it and would not with the next line's first word added. A break is
    in mid-sentence if there is no final punctuation before it and a lower case letter after it (any letter in
    notes without lower case). Breaks at blank lines, rows and list items count neither way.

    Parameters
    ----------
    text : str
        The untouched note.

    Returns
    -------
    list of int
        Increasing offsets of first visible characters.

    Examples
    --------
    >>> line_starts("Name: Roe\nAge: 40\n\n- pain")
    [0, 10, 19]
    """
    lines = _visible_lines(text)
    if not lines:
        return []
    caseless = sum(map(str.islower, text)) <= _MAX_CASELESS_SHARE * len(text)
    width = _wrap_width(lines, caseless)
    starts = [lines[0].start]
    starts.extend([after.start for line, after in pairwise(lines) if not _runs_on(line, after, width, caseless)])
    return starts
