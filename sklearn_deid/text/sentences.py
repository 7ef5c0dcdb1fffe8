"""Sentences of clinical notes, as ranges of tokens."""

from __future__ import annotations

import re
from bisect import bisect_left

from .tokens import Tokens

__all__ = ["split_sentences"]

_ABBREVIATIONS = frozenset(
    "dr dra drs mr mrs ms sr sra srta prof st vs no nº núm num tel tlf fig c cf ca approx e.g i.e etc avda av pl ctra".split()
)
_BREAK = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]+|(?<=[.!?])[^\S\n]+(?=[A-ZÁÉÍÓÚÑÜ\d¿¡(\"])")
_LAST_WORD = re.compile(r"([^\W_]+)\.$")


def _boundaries(text: str) -> list[int]:
    positions = []
    for gap in _BREAK.finditer(text):
        if text[gap.start() - 1 : gap.start()] == "." and not gap[0].strip(" \t\xa0"):
            word = _LAST_WORD.search(text, max(0, gap.start() - 12), gap.start())
            if word and (word[1].lower() in _ABBREVIATIONS or (len(word[1]) == 1 and word[1].isupper())):
                continue
        positions.append(gap.end())
    return positions


def split_sentences(text: str, tokens: Tokens) -> list[tuple[int, int]]:
    """Cut the tokens of a note into sentences.

    Parameters
    ----------
    text : str
        The untouched note.
    tokens : Tokens
        ``tokenize(text)``.

    Returns
    -------
    list of (int, int)
        Half-open token ranges that cover all tokens, in order, none empty.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> text = "Seen by Dr. Who. Stable."
    >>> split_sentences(text, tokenize(text))
    [(0, 6), (6, 8)]
    """
    n = len(tokens.starts)
    borders = sorted({0, n, *(bisect_left(tokens.starts, position) for position in _boundaries(text))})
    return list(zip(borders[:-1], borders[1:], strict=True))
