"""Aggressive tokenizer with exact offsets, for the text of clinical notes.

PHI starts and ends in the middle of what general tokenizers call a word (``25yo``, ``SmithMD``, ``12/03/2019-14:00``).
A span can only be tagged exactly if its borders are token borders, so this tokenizer cuts wherever a border may be and
leaves it to the tagger to put the pieces together again.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape
from html.entities import html5
from typing import NamedTuple

__all__ = ["Tokens", "tokenize"]


class Tokens(NamedTuple):
    """The tokens of one text, as three parallel lists.

    Parameters
    ----------
    texts : list of str
        ``text[starts[i]:ends[i]]``, or its unescaped form where that is an HTML entity.
    starts, ends : list of int
        Half-open offsets in the untouched text, counted in Unicode code points; strictly increasing, never overlapping.

    Examples
    --------
    >>> Tokens(["25", "yo"], [0, 2], [2, 4]).texts
    ['25', 'yo']
    """

    texts: list[str]
    starts: list[int]
    ends: list[int]


# Scripts written without spaces between words (or, Hangul, with particles glued to names): one token per character.
# Digits, marks and white space of these blocks are taken by other branches; their punctuation is a token each anyway.
_UNSPACED = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"  # Myanmar
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u303b\u3040-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, bopomofo, ideographs
    "\uff66-\uffdc"  # half-width kana and jamo
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
_PICTOGRAPHS = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_FLAG_LETTERS = "\U0001f1e6-\U0001f1ff"
_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
# Soft hyphen, zero-width (non-)joiner, emoji tags: invisible, but inside a word they hold it together.
_INVISIBLE_JOINERS = "\u00ad\u200c\u200d\U000e0020-\U000e007f"
# Control characters, zero-width space, direction marks, byte order mark: separate tokens, belong to none.
_INVISIBLE_SEPARATORS = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0001"
)
_VARIATION_SELECTORS = "\U000e0100-\U000e01ef"
# The parts of the code space that hold cased letters and combining marks; the rest is ideographs, syllables and symbols.
_SCANNED = ((0x0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x17000), (0x1A000, 0x1F000))


def _character_class(wanted: frozenset[str]) -> str:
    """Ranges for a regular expression that match the characters of the given general categories."""
    ranges = []
    for first, stop in _SCANNED:
        flags = "".join(["x" if unicodedata.category(chr(code)) in wanted else " " for code in range(first, stop)])
        for run in re.finditer("x+", flags):
            ranges.append(f"{chr(first + run.start())}-{chr(first + run.end() - 1)}")
    return re.sub(r"([\[\]\\^])", r"\\\1", "".join(ranges))


@lru_cache(maxsize=1)
def _token_pattern() -> re.Pattern[str]:
    upper = _character_class(frozenset({"Lu", "Lt"}))
    mark = _character_class(frozenset({"Mn", "Mc", "Me"})) + _INVISIBLE_JOINERS + _VARIATION_SELECTORS
    lower = rf"[^\W\d_{upper}{_UNSPACED}]"  # every other letter: lower case, caseless, modifiers, the ordinal signs
    rest = rf"{lower}*(?:[{mark}]+{lower}*)*"
    emoji = rf"[{_PICTOGRAPHS}][{mark}{_SKIN_TONES}]*"
    branches = (
        rf"{lower}{rest}",
        rf"\d[\d{mark}]*",
        rf"[{upper}][{upper}{mark}]*{rest}",
        rf"[{_FLAG_LETTERS}]{{2}}[{mark}]*",
        rf"{emoji}(?:(?<=\u200d){emoji})*",
        # A consonant stacked under another one (Khmer, Myanmar) belongs to the same cluster.
        rf"[{_UNSPACED}][{mark}]*(?:(?<=[\u17d2\u1039])[{_UNSPACED}][{mark}]*)*",
        rf"(?:_|[^\w\s{mark}{_INVISIBLE_SEPARATORS}])[{mark}]*",
        rf"[{mark}]+",
    )
    return re.compile("|".join(branches))


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def _entity_text(entity: str) -> str | None:
    """What an HTML entity stands for; None if it is none (then its characters are ordinary text)."""
    if entity[1] != "#" and entity[1:] not in html5:
        return None
    return unescape(entity) or None


def _tokenize_with_entities(text: str) -> Tokens:
    find = _token_pattern().finditer
    tokens = Tokens([], [], [])
    position = 0
    for entity in _ENTITY.finditer(text):
        meaning = _entity_text(entity[0])
        if meaning is None:
            continue
        _extend(tokens, list(find(text, position, entity.start())))
        position = entity.end()
        if _token_pattern().search(meaning):
            tokens.texts.append(meaning)
            tokens.starts.append(entity.start())
            tokens.ends.append(position)
    _extend(tokens, list(find(text, position)))
    return tokens


def _extend(tokens: Tokens, matches: list[re.Match[str]]) -> None:
    tokens.texts.extend([match[0] for match in matches])
    tokens.starts.extend([match.start() for match in matches])
    tokens.ends.extend([match.end() for match in matches])


def tokenize(text: str) -> Tokens:
    """Cut a text into tokens with exact offsets.

    Parameters
    ----------
    text : str
        Any text, untouched: no newline, entity or accent needs to be normalised first.

    Returns
    -------
    Tokens
        Token texts and half-open code point offsets.

    Examples
    --------
    >>> tokenize("25yo pt. of Dr.LopezMD").texts
    ['25', 'yo', 'pt', '.', 'of', 'Dr', '.', 'Lopez', 'MD']
    >>> tokenize("BP &lt; 90").texts
    ['BP', '<', '90']
    """
    if "&" in text:
        return _tokenize_with_entities(text)
    matches = list(_token_pattern().finditer(text))
    return Tokens(
        [match[0] for match in matches],
        [match.start() for match in matches],
        [match.end() for match in matches],
    )
