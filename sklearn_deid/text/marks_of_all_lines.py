r"""Signs and line numbers that an export wrote before or behind all lines of a note, such as ``# `` and ``012 ``.

A name, a date or a number that goes on in the next line has such a mark in its middle.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from .normalized_text import Edit
from .sentences import is_wrapped

_LINE = re.compile(r"[^\r\n]+")
# Signs of quoted mails and bars are read by `line_marks`. A bracket opens or closes something in its own line.
_BEFORE = re.compile(r"[ \t]*(?![>|\u2502])[^\w\s()\[\]{}<]{1,3}(?![^\w\s])")
_BEHIND = re.compile(r"(?:[ \t]|\\n)*(?:(?![.,:!?%'])[^\w\s()\[\]{}>]){1,2}(?:[ \t][+&_\\])?\Z")
_NUMBER = re.compile(r"[ \t]*[\[(#L]?(\d{1,6})[.):\]>|-]{0,2}(?:[ \t]+|\Z)")
# The first and the last line may be those of the export, and a mark that continues a line is not behind the last line.
_FEWEST_LINES = 6
_STEPS, _LARGEST_ROOM = (1, 10, 100), 9_999
_MOST_INSIDE_SHARE = 0.1


class _Marked(NamedTuple):
    first: int  # half-open offsets of the line without the mark
    stop: int
    mark: Edit
    is_no_room: bool


def marks_of_all_lines(text: str) -> list[Edit]:
    r"""Edits that remove the marks of all lines, and the blanks between mark and text, from left to right.

    A mark is the same sign, or a number that counts up. All lines with text have the mark, except the first and the
    last. Lists have marks, too. In a note with marks, some lines are empty except for the mark, or the lines are
    wrapped. Numbers with up to four digits that do not begin with 0 or 1 may be rooms or beds, and stay unless the
    lines are wrapped.

    Examples
    --------
    >>> from sklearn_deid.text.normalized_text import edited
    >>> written = "# Seen by\n#\n# Ann\n# Alder\n# on May\n# 3."
    >>> edited(written, marks_of_all_lines(written))
    'Seen by\n\nAnn\nAlder\non May\n3.'
    >>> marks_of_all_lines("# HTN\n# DM\n# CHF\n# CKD\n# COPD\n# OSA")
    []
    """
    if text.count("\n") + text.count("\r") < _FEWEST_LINES - 1:
        return []
    lines = [line.span() for line in _LINE.finditer(text) if not line[0].isspace()]
    if len(lines) < _FEWEST_LINES:
        return []
    before = _numbers(text, lines) or _signs_before(text, lines)
    firsts = {line.stop: line for line in before}
    behind = _signs_behind(text, [(firsts[stop].first if stop in firsts else start, stop) for start, stop in lines])
    # A sign at the end of a line looks like the end of a sentence.
    both = [line._replace(is_no_room=firsts[line.mark.end].is_no_room) for line in behind if line.mark.end in firsts]
    if both and _is_evident(text, both):
        return _edits(before + behind)
    # The names of the fields of JSON begin with a quote.
    if before and '"' not in text[slice(*before[0].mark[:2])] and _is_evident(text, before):
        return _edits(before)
    behind = _signs_behind(text, lines)
    return _edits(behind) if behind and _is_evident(text, behind) else []


def _edits(marked: list[_Marked]) -> list[Edit]:
    return sorted(line.mark for line in marked if line.mark.start < line.mark.end)


def _numbers(text: str, lines: list[tuple[int, int]]) -> list[_Marked]:
    """Lines with numbers that increase by the same step from line to line."""
    found = [_NUMBER.match(text, *line) for line in lines]
    values = [None if number is None else int(number[1]) for number in found]
    if values[1] is None or values[2] is None or (step := values[2] - values[1]) not in _STEPS:
        return []
    if any(value != values[1] + step * i for i, value in enumerate(values[1:-1])):
        return []
    is_no_room = values[1] - step in (0, 1, step) or values[1] > _LARGEST_ROOM
    kept = [number for i, number in enumerate(found) if number and values[i] == values[1] + step * (i - 1)]
    stops = {start: stop for start, stop in lines}
    return [_Marked(number.end(), stops[number.start()], Edit(*number.span()), is_no_room) for number in kept]


def _signs_before(text: str, lines: list[tuple[int, int]]) -> list[_Marked]:
    """Lines that begin with the same signs."""
    found = _BEFORE.match(os.path.commonprefix([text[start:stop] for start, stop in lines[1:-1]]))
    if found is None:
        return []
    mark, marked = found[0], []
    for start, stop in lines:
        if text.startswith(mark, start, stop):
            first = stop - len(text[start + len(mark) : stop].lstrip())
            marked.append(_Marked(first, stop, Edit(start, first), True))
    return marked


def _signs_behind(text: str, lines: list[tuple[int, int]]) -> list[_Marked]:
    """Lines that end in the same signs, of which hardly any line has one elsewhere."""
    ends = [text[start:stop].rstrip() for start, stop in lines]
    common = os.path.commonprefix([line[::-1] for line in ends[1:-1]])[::-1]
    found = _BEHIND.search(common)
    if found is None:
        return []
    mark, marked = found[0].lstrip(" \t"), []
    for (start, stop), line in zip(lines, ends, strict=True):
        if line.endswith(mark):
            end = start + len(line.removesuffix(mark).rstrip())
            marked.append(_Marked(start, end, Edit(end, stop), True))
    n_inside = sum(mark in text[line.first : line.stop] for line in marked)
    return marked if n_inside <= _MOST_INSIDE_SHARE * len(marked) else []


def _is_evident(text: str, marked: list[_Marked]) -> bool:
    """Whether lines without their marks are running text and no items of a list."""
    parts = [text[line.first : line.stop].strip() for line in marked]
    n_texts = sum(map(bool, parts))
    if 2 * n_texts < len(parts) or n_texts < 2:
        return False
    if "" in parts[1:-1] and marked[0].is_no_room:
        return True
    return is_wrapped("\n".join(parts))
