"""Labels in the cells of forms and tables."""

from __future__ import annotations

from typing import NamedTuple

from ...text import Tokens
from .label_words import SIGNS, is_label_word, label_kind, may_begin_label

_LONGEST = 9  # tokens
_BETWEEN = frozenset("=>-\u2192\u21d2")
_NOT_LAST = SIGNS - {")"}
#: Kind of a label of unknown words with a colon.
ANY = "any"


class CellLabel(NamedTuple):
    """Range of the tokens of a label, kind, first token of a value in the same cell, and whether a colon is behind it.

    Without a value in the cell, ``rest`` is the end of the cell.
    """

    first: int
    stop: int
    kind: str
    rest: int
    has_colon: bool


def cell_label(tokens: Tokens, first: int, stop: int) -> CellLabel | None:
    """Label that fills a cell, or that a sign other than a colon divides from its value in the cell.

    Parameters
    ----------
    tokens : Tokens
        Tokens of a note.
    first, stop : int
        Range of the tokens of the cell.

    Returns
    -------
    CellLabel or None
        None without a label.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> cell_label(tokenize("Attending Physician"), 0, 2)
    CellLabel(first=0, stop=2, kind='person', rest=2, has_colon=False)
    >>> cell_label(tokenize("Surgeon - Roe"), 0, 3).rest, cell_label(tokenize("Surgeon: Roe"), 0, 3)
    (2, None)
    """
    words = tokens.texts
    # The first test, which most cells do not pass.
    if not may_begin_label(words[first]) and not _is_by(words[first + 1 : min(stop, first + 2)]):
        return None
    end = first + 1
    while end < min(stop, first + _LONGEST) and (words[end] in SIGNS or is_label_word(words[end])):
        end += 1
    has_colon = words[end : end + 1] == [":"] and end + 1 == stop
    is_whole = has_colon or end == stop
    while end - 1 > first and words[end - 1] in _NOT_LAST:
        end -= 1
    rest = stop if is_whole else _behind_sign(tokens, end, stop)
    kind = label_kind(words[first:end]) if rest > end or is_whole else None
    return None if kind is None else CellLabel(first, end, kind, rest, has_colon)


def unknown_label(tokens: Tokens, first: int, stop: int) -> CellLabel | None:
    """Words with a colon that fill a cell, of which the first begins with a capital; None for other cells.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> unknown_label(tokenize("Circulated:"), 0, 2).kind, unknown_label(tokenize("Stable"), 0, 1)
    ('any', None)
    """
    *words, last = tokens.texts[first:stop]
    if last != ":" or not 0 < len(words) < _LONGEST or not words[0][0].isupper():
        return None
    is_label = all(word.isalpha() or word in SIGNS for word in words)
    return CellLabel(first, stop - 1, ANY, stop, True) if is_label else None


def _behind_sign(tokens: Tokens, at: int, stop: int) -> int:
    """First token behind signs such as ``=`` or a hyphen between spaces; ``at`` itself without such a sign."""
    rest = at
    while rest < stop - 1 and tokens.texts[rest] in _BETWEEN:
        rest += 1
    if tokens.texts[at:rest] == ["-"] and tokens.ends[at - 1] < tokens.starts[at]:
        return rest if tokens.ends[at] < tokens.starts[rest] else at
    return at if tokens.texts[at:rest] == ["-"] else rest


def _is_by(words: list[str]) -> bool:
    return bool(words) and words[0].lower() == "by"
