r"""Times, dates, numbers and codes that an export wrote before all lines of a note, such as ``OBX|3|TX|``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from .rearranged_text import RearrangedText

_LINE = re.compile(r"[^\r\n]+")
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
# Numbers, names of months and days, halves of the day, other words, blanks, and signs.
_ITEM = re.compile(rf"\d+|(?P<name>(?i:(?:{_NAMES})[a-z]{{0,6}}|[ap]m)(?![^\W_]))|[^\W\d_]+|[ \t]+|[\W_]")
# Empty fields, fields of one or two characters and quotes, behind the text of a row.
_FIELDS_BEHIND = re.compile(r"(?:[|,;^~\"]\w{0,2})+\Z")
_LONGEST, _FEWEST_LINES, _FEWEST_NUMBERS, _SHARE_OF_TEXT = 60, 6, 2, 0.5


def without_prefixes(text: str) -> RearrangedText | None:
    r"""Lines without the prefix of one form that all of them have; None without such a prefix.

    In a form, all numbers are equal, and all names of months and days. A prefix has at least two numbers, or a letter.
    The first and the last line may have no prefix. Fields of a row behind the text of all lines are left out, too.

    Examples
    --------
    >>> lines = [f"10:{i} Seen by Ann" for i in range(42, 48)]
    >>> without_prefixes("\n".join(lines)).text.split("\n")[0], without_prefixes("Seen by Ann")
    ('Ann', None)
    """
    if text.count("\n") + text.count("\r") < _FEWEST_LINES - 1:
        return None
    found = (line.span() for line in _LINE.finditer(text) if not line[0].isspace())
    lines = [*islice(found, 3)]
    # Of most notes, the second and the third line begin with other words.
    if len(lines) < 3 or not _common_form(text, lines[1:]):
        return None
    lines += found
    if len(lines) < _FEWEST_LINES or not (form := _common_form(text, lines[1:-1])):
        return None
    bodies = [(start + _length(text, start, stop, form), stop) for start, stop in lines]
    behind = _behind(text, bodies[1:-1])
    bodies = [(a, b - len(behind) if text.endswith(behind, a, b) else b) for a, b in bodies] if behind else bodies
    n_texts = sum(any(map(str.isalpha, text[start:stop])) for start, stop in bodies)
    return RearrangedText(text, _with_gaps(text, lines, bodies)) if n_texts >= _SHARE_OF_TEXT * len(lines) else None


def _items(text: str, start: int, stop: int) -> Iterator[tuple[str, int]]:
    """Forms of the items of a line and their ends."""
    limit = min(stop, start + _LONGEST)
    for item in _ITEM.finditer(text, start, limit):
        # The last item may go on.
        if item.end() == limit < stop:
            return
        first = item[0][0]
        yield "0" if first.isdigit() else "name" if item["name"] else " " if first in " \t" else item[0], item.end()


def _common_form(text: str, lines: list[tuple[int, int]]) -> list[str]:
    """Items that all lines begin with, up to a sign or a blank; none if they may be a part of the text."""
    form = [kind for kind, _ in _items(text, *lines[0])]
    for start, stop in lines[1:]:
        n = 0
        for (kind, _), expected in zip(_items(text, start, stop), form, strict=False):
            if kind != expected:
                break
            n += 1
        del form[n:]
        if not form:
            return []
    while form and form[-1].isalnum():
        form.pop()
    has_word = any(kind != "0" and kind.isalnum() for kind in form)
    return form if has_word or form.count("0") >= _FEWEST_NUMBERS else []


def _length(text: str, start: int, stop: int, form: list[str]) -> int:
    """Length of the prefix of a line; 0 without the prefix."""
    end = start
    items = _items(text, start, stop)
    for expected in form:
        kind, end = next(items, ("", start))
        if kind != expected:
            return 0
    return end - start


def _behind(text: str, bodies: list[tuple[int, int]]) -> str:
    ends = os.path.commonprefix([text[start:stop][::-1] for start, stop in bodies])[::-1]
    fields = _FIELDS_BEHIND.search(ends[-_LONGEST:])
    return "" if fields is None else fields[0]


def _with_gaps(text: str, lines: list[tuple[int, int]], bodies: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Texts of the lines, and an empty passage for empty lines between them."""
    passages: list[tuple[int, int]] = []
    last = lines[0][0]
    for (start, stop), body in zip(lines, bodies, strict=True):
        if text.count("\n", last, start) > 1:
            passages.append((start, start))
        passages.append(body)
        last = stop
    return passages
