"""Two columns of running text side by side, as programs write them that keep the layout of a page."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, pairwise
from typing import NamedTuple

from .rearranged_text import RearrangedText

_LINE = re.compile(r"[^\r\n]+")
_GUTTER = re.compile(r"(?<=[^ \t])(?:[ ]{2,}|[ ]*[\t|\u2502][ ]*)(?=[^ \t|\u2502])")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = "\t|\u2502"
_FEWEST_WORDS = 2  # in the mean of the lines
_FEWEST_LINES, _SHARE_OF_LINES, _SHARE_OF_GAPS, _BROKEN_SHARE = 6, 0.5, 0.3, 0.05

#: Half-open offsets of a passage.
Passage = tuple[int, int]


class _Row(NamedTuple):
    left: Passage
    right: Passage
    is_divided: bool


def columns_one_by_one(text: str) -> RearrangedText | None:
    r"""Text of the left column before that of the right column; None without two columns of running text.

    A tab, a bar or two spaces at the same place divide most lines. In both columns, some lines go on in the next line:
    other columns are those of a table. Lines without a right column belong to the left one. A line over both columns is
    read before the columns below it.

    Examples
    --------
    >>> left = ["She was seen", "by Dr. Otis", "in the clinic", "and told us", "that she had", "no pain."]
    >>> right = ["Her mother", "was with her", "and spoke to", "the nurse on", "our ward for", "an hour."]
    >>> page = "\n".join(f"{a:20}{b}" for a, b in zip(left, right))
    >>> columns_one_by_one(page).text.split() == " ".join([*left, *right]).split()
    True
    """
    # The first test, which most notes do not pass.
    n_gaps = sum("  " in line or "\t" in line or "|" in line or "\u2502" in line for line in text.splitlines())
    if n_gaps < _FEWEST_LINES:
        return None
    lines = [line.span() for line in _LINE.finditer(text) if not line[0].isspace()]
    if n_gaps < _SHARE_OF_GAPS * len(lines):
        return None
    rows = _rows_of_signs(text, lines) or _rows_of_places(text, lines)
    n_divided = sum(row.is_divided for row in rows)
    if n_divided < max(_FEWEST_LINES, _SHARE_OF_LINES * len(lines)):
        return None
    for side in ("left", "right"):
        parts = [text[slice(*getattr(row, side))].strip() for row in rows if row.is_divided]
        if not _is_running_text([part for part in parts if part]):
            return None
    return RearrangedText(text, _passages(rows))


def _rows_of_signs(text: str, lines: list[Passage]) -> list[_Row]:
    """Lines with one tab or bar inside; no line has more."""
    rows = []
    for start, stop in lines:
        places = [at for at in range(start, stop) if text[at] in _SIGNS]
        if len(places) > 1:
            return []
        at = places[0] if places else stop
        rows.append(_Row((start, at), (min(at + 1, stop), stop), bool(places)))
    width = max((row.left[1] - row.left[0] for row in rows if row.is_divided), default=0)
    return [row._replace(is_divided=row.left[1] - row.left[0] <= width) for row in rows] if width else []


def _rows_of_places(text: str, lines: list[Passage]) -> list[_Row]:
    """Lines with at least two spaces before the place at which most words behind such a gap begin."""
    places = Counter(
        gap.end() - start for start, stop in lines for gap in _GUTTER.finditer(text, start, stop) if gap[0].isspace()
    )
    if not places:
        return []
    (place, _), *_ = places.most_common(1)
    rows = []
    for start, stop in lines:
        at = start + place
        is_short = stop <= at - 2
        has_gap = text[at - 2 : at] == "  " and at < stop
        rows.append(_Row((start, at), (at, stop), True) if has_gap else _Row((start, stop), (stop, stop), is_short))
    return rows


def _is_running_text(parts: list[str]) -> bool:
    """Whether lines have several words, unlike cells, and some lines break off inside a sentence."""
    n_words = sum(len(_WORD.findall(line)) for line in parts)
    broken = sum(line[-1] not in ".:;!?" and after[0].islower() for line, after in pairwise(parts))
    has_words = len(parts) >= _FEWEST_LINES and n_words >= _FEWEST_WORDS * len(parts)
    return has_words and broken >= _BROKEN_SHARE * (len(parts) - 1)


def _passages(rows: list[_Row]) -> list[Passage]:
    passages: list[Passage] = []
    for is_divided, group in groupby(rows, lambda row: row.is_divided):
        block = list(group)
        passages += [row.left for row in block]
        if is_divided:
            end = block[-1].right[1]
            passages += [(end, end), *(row.right for row in block), (end, end)]
    return passages
