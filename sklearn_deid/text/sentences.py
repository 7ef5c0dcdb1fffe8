"""Sentences of clinical notes, as ranges of tokens.

A wrong split can cut a name or an address in two, and then no tagger can find it whole; a missed one only
makes a sentence longer. So in doubt nothing is split.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from .line_wrapping import line_starts
from .tokens import Tokens

__all__ = ["split_sentences"]

# Words that a full stop follows inside a sentence before a capital: titles, parts of addresses and names,
# references.
_ABBREVIATIONS = frozenset(
    # English
    """dr drs mr mrs ms messrs prof rev hon st mt ft capt col gen lt sgt maj gov sen rep jr sr dept univ hosp
    ave blvd apt ste vs cf approx fig figs ref tel ext attn inc ltd pt pts viz"""
    # Spanish
    """ dra dres dras sra sres sras srta srtas srs d dña lic lcda lcdo ing arq profa gral cap cnel tte fray pbro
    hno hna hnos fco sta sto av avd avda ctra carr crta cra crt cl c pza plza pl pso pº urb edif edf apdo apto
    apdos esc pta ptal bl blq dpto depto núm num nº n tlf tlfn telf km kms cp pol col cdad cd prov mpio del ee
    aprox ej p pág pag v máx mín calle avenida paseo plaza""".split()
)
# What goes on with an address after a stray full stop: "Calle Mayor. Nº 3", "Mayor 3. Bajo B".
_NUMBER_SIGNS = frozenset(("nº", "núm"))
_ADDRESS_PARTS = frozenset("bajo piso puerta planta portal escalera apt apto suite floor unit".split())
_AFTER_FINAL = re.compile(r"(?<=[.!?…؟۔।\"'”’»)\]])\s+(?=\S)")
_IDEOGRAPHIC_FINAL = re.compile(r"[。！？｡]+[」』）”’]*")
_LAST_WORD, _WORD = re.compile(r"[^\W_]+\Z"), re.compile(r"[^\W\d_]+")
_ITEM_NUMBER = re.compile(r"\d{1,3}|[ivxIVX]{2,4}")
_CLOSING, _OPENING = "\"'”’»)]", "\"'“‘«(["
_LONGEST_ABBREVIATION = 8


def _starts_sentence(text: str, position: int, after_full_stop: bool) -> bool:
    first = text[position]
    if first in "¿¡":
        return True
    if first in _OPENING:
        first = text[position + 1 : position + 2]
    if first.isdigit():
        # "No. 5", "km. 9", "12 Elm St. 02114": after a full stop a number mostly goes on.
        return not after_full_stop
    return first.isalpha() and not first.islower()


def _is_abbreviation(text: str, stop: int, following: int, starts: set[int]) -> bool:
    """Whether the full stop at offset ``stop`` belongs to the word before it; ``starts`` as for `_ends_sentence`."""
    found = _LAST_WORD.search(text, max(0, stop - _LONGEST_ABBREVIATION - 1), stop)
    if found is None:
        return text[stop - 1 : stop] == "/"  # "C/. Mayor"
    word = found[0]
    if len(word) == 1 and word.isalpha():
        # Initials, and the last letter of "e.g."; but "5 g. Then" ends.
        return word.isupper() or word in _ABBREVIATIONS or text[found.start() - 1 : found.start()] == "."
    if found.start() in starts and _ITEM_NUMBER.fullmatch(word):
        return True  # "2. Home"
    match = _WORD.match(text, following)
    after = match[0].lower() if match else ""
    if word.isdigit() and (len(after) == 1 or after in _ADDRESS_PARTS):
        return True  # "Mayor 3. B", "Mayor 3. Bajo"
    return after in _NUMBER_SIGNS or word.lower() in _ABBREVIATIONS


def _ends_sentence(text: str, gap_start: int, gap_end: int, starts: set[int]) -> bool:
    """Whether a sentence ends before a gap of white space; ``starts`` are the offsets where lines start."""
    final = gap_start - 1
    while final > 0 and text[final] in _CLOSING:
        final -= 1
    if text[final] not in ".!?…؟۔।" or not _starts_sentence(text, gap_end, text[final] == "."):
        return False
    return text[final] != "." or not _is_abbreviation(text, final, gap_end, starts)


def split_sentences(text: str, tokens: Tokens) -> list[tuple[int, int]]:
    """Cut the tokens of a note into sentences.

    A sentence ends at the end of a line that the next one does not continue (see
    ``text.line_wrapping``), and after ``.``, ``!``, ``?`` or ``…`` (with closing
    quotes or brackets) before white space and a capital, a letter of a caseless script, or ``¿`` and ``¡``;
    after ``!`` and ``?`` also before a digit. A full stop after an initial or a known English or Spanish
    abbreviation or the number of a list item ends nothing. Ideographic full stops need no white space.
    Sentences have no length limit.

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
    starts = set(line_starts(text))
    gaps = [gap.span() for gap in _AFTER_FINAL.finditer(text)]
    borders = starts.union([end for start, end in gaps if _ends_sentence(text, start, end, starts)])
    borders.update([final.end() for final in _IDEOGRAPHIC_FINAL.finditer(text)])
    n_tokens = len(tokens.starts)
    cuts = sorted({0, n_tokens, *(bisect_left(tokens.starts, border) for border in borders)})
    return list(zip(cuts[:-1], cuts[1:], strict=True))
