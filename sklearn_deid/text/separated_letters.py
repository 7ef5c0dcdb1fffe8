r"""Letters and digits with a sign, a tab or a line end after each of them, as in the cells of a form (``R | O | E``).

A tagger reads each letter as a word and finds nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .normalized_text import Edit

# One sign with the same blanks, or a tab, after each character. A cell may be empty or hold a blank, which is the space
# between two words.
_SIGN = r"[^\w\s\u0300-\u036f\u200b-\u200f\u2060\ufeff]"
_CELLS = re.compile(
    rf"\b[^\W_]\b(?P<sign>[ ]{{0,3}}{_SIGN}{{1,2}}[ ]{{0,3}}|\t)(?:[^\n\r]?(?P=sign))+(?:[^\s](?![^\W_]))?"
)
# The text of a span. Letters with periods are abbreviations, and their letters have surrogates.
_IN_SPAN = re.compile(
    rf"(?<![^\W_])[^\W_](?P<sign>[ ]{{0,3}}(?!\.){_SIGN}{{1,2}}[ ]{{0,3}}|[ ]?(?:\t|\r?\n)[ ]?)"
    r"(?:[^\n\r]?(?P=sign))+[^\W_](?![^\W_])"
)
# Words with a space of any width after each letter.
_SPACED_IN_SPAN = re.compile(r"(?<!\S)(?:[^\W_][^\S\r\n]{1,3}){4,}[^\W_](?!\S)")
_BARS = ("|", "\u00a6", "\u2502", "\u2503", "")
# Lines of at most one character.
_COLUMN = re.compile(r"(?<![^\r\n])[^\s][ \t]?(?:\r?\n[ \t]?[^\s]?[ \t]?(?=[\r\n]|\Z)){7,}")
_SHORT_LINES = re.compile(r"\n[ \t]?[^\s]?[ \t]?(?:\r?\n[ \t]?[^\s]?[ \t]?){5,}\r?\n")
_GAP = re.compile(r"\s+")
_FEWEST_LETTERS, _FEWEST_IN_LIST, _FEWEST_IN_COLUMN, _FEWEST_DIGITS, _FEWEST_DISTINCT = 4, 9, 36, 8, 3
# Answers in the row of a table, such as yes, no and unknown.
_ANSWERS = frozenset("ynux")
# Flags of results in a column, such as H and L, have fewer.
_DISTINCT_IN_COLUMN, _SHARE_OF_NOTE, _FEWEST_IN_BARS, _FEWEST_IN_SPAN = 8, 0.5, 3, 5
_VOWEL = re.compile("[aeiouy\u00e0-\u00ff]")


class _Cell(NamedTuple):
    character: str  # empty for an empty cell
    start: int  # half-open offsets, in the run, of the sign after the cell
    end: int


def letters_in_cells(text: str) -> list[Edit]:
    r"""Edits that remove the sign or the tab after each of several letters or digits, from left to right.

    Examples
    --------
    >>> from sklearn_deid.text.normalized_text import edited
    >>> for written in ("R | O | W | A | N", "R,o,w,a,n, ,O,t,i,s", "Y | N | Y | N | U"):
    ...     print(edited(written, letters_in_cells(written)))
    ROWAN
    Rowan Otis
    Y | N | Y | N | U
    """
    edits: list[Edit] = []
    runs = list(_CELLS.finditer(text))
    if not runs:
        return edits
    kept = [(found, list(_cells(found[0], found["sign"]))) for found in runs]
    words = [_are_words(_characters(cells), len(cells), found["sign"].strip() in _BARS) for found, cells in kept]
    everywhere = _sign_of_all(text, [run for run, is_word in zip(kept, words, strict=True) if is_word])
    for (found, cells), is_word in zip(kept, words, strict=True):
        if is_word or found["sign"] == everywhere:
            start = found.start()
            # The bar behind the last letter is the border of the table.
            stop = len(found[0]) + (found["sign"] == everywhere)
            edits += [Edit(start + a, start + b, "" if cell else " ") for cell, a, b in cells if a < b < stop]
    return edits


def _characters(cells: list[_Cell]) -> str:
    return "".join(cell.character for cell in cells)


def _sign_of_all(text: str, runs: list[tuple[re.Match[str], list[_Cell]]]) -> str | None:
    """Sign that separates most characters of a note. Then it also separates numbers and short words."""
    counts = Counter[str]()
    for found, cells in runs:
        counts[found["sign"]] += sum(map(str.isalnum, _characters(cells)))
    sign, n = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return sign if n and n >= _SHARE_OF_NOTE * sum(map(str.isalnum, text)) else None


def letters_in_lines(text: str) -> list[Edit]:
    r"""Edits that remove the line end after each of many letters. An empty line between letters is a space.

    Examples
    --------
    >>> from sklearn_deid.text.normalized_text import edited
    >>> written = "\n".join("Seen by Rowan Otis on March 14 in the new clinic.")
    >>> edited(written, letters_in_lines(written))
    'Seen by Rowan Otis on March 14 in the new clinic.'
    """
    edits: list[Edit] = []
    # Starts with a line end, which is found fast.
    if _SHORT_LINES.search(text) is None:
        return edits
    for found in _COLUMN.finditer(text):
        characters = "".join(found[0].split())
        n_distinct = len({c for c in characters.lower() if c.isalpha()})
        is_long = len(characters) >= _FEWEST_IN_COLUMN and n_distinct >= _DISTINCT_IN_COLUMN
        if is_long and _are_words(characters, len(characters), False):
            start, end = found.start(), found.start() + len(found[0].rstrip())
            edits += [Edit(*gap.span(), _ends_as_read(gap[0].count("\n"))) for gap in _GAP.finditer(text, start, end)]
    return edits


def is_in_cells(span_text: str) -> bool:
    r"""Whether a span has the same sign or spaces after each of at least five letters, or a bar, tab or line end after
    three.

    Examples
    --------
    >>> [is_in_cells(text) for text in ("A|n|n", "A\nn\nn", "A l d e r", "U.C.S.F.", "Ann", "1/2/3", "J R R Roe")]
    [True, True, True, False, False, False, False]
    """
    spaced = _SPACED_IN_SPAN.search(span_text)
    if spaced is not None and sum(map(str.isalpha, spaced[0])) >= _FEWEST_IN_SPAN:
        return True
    found = _IN_SPAN.search(span_text)
    fewest = _FEWEST_IN_BARS if found is not None and found["sign"].strip() in _BARS else _FEWEST_IN_SPAN
    return found is not None and sum(map(str.isalpha, found[0])) >= fewest


def _ends_as_read(n: int) -> str:
    return "" if n == 1 else " " if n == 2 else "\n"


def _cells(run: str, sign: str) -> Iterator[_Cell]:
    at = 0
    while at < len(run):
        # A comma between two commas is a character if a comma follows, and else an empty cell.
        cell = run[at] if at + 1 == len(run) or run.startswith(sign, at + 1) else ""
        at += len(cell)
        end = at + len(sign) if run.startswith(sign, at) else at
        yield _Cell(cell, at, end)
        at = max(end, at + (not cell and end == at))


def _are_words(characters: str, n_cells: int, in_bars: bool) -> bool:
    """Whether characters are the letters of words or the digits of a number, and no answers, scores or options."""
    visible = "".join(characters.split()).lower()
    letters, digits = ("".join(filter(kind, visible)) for kind in (str.isalpha, str.isdigit))
    if 2 * len(visible) < n_cells or (len(letters) < _FEWEST_LETTERS and len(digits) < _FEWEST_DIGITS):
        return False
    if 2 * len(letters) < len(visible):
        return in_bars and len(digits) >= _FEWEST_DIGITS and len(set(digits)) >= _FEWEST_DISTINCT
    if len(letters) < (_FEWEST_LETTERS if in_bars else _FEWEST_IN_LIST) or set(letters) <= _ANSWERS:
        return False
    are_options = all(ord(b) - ord(a) == 1 for a, b in zip(letters, letters[1:], strict=False))
    return len(set(letters)) >= _FEWEST_DISTINCT and _VOWEL.search(letters) is not None and not are_options
