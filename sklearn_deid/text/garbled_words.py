"""Notes whose words are reversed, joined or broken, because text was extracted wrongly from a PDF or a scanned page."""

from __future__ import annotations

import re
from itertools import pairwise

from .rotated_pages import FREQUENT, is_rotated

# Frequent words of several languages, written from right to left. None of them is a word itself.
_REVERSED = (
    *("eht", "htiw", "rof", "morf", "taht", "erew", "tneitap", "euq", "arap", "lled", "alled", "etneicap"),
    *("dnu", "thcin", "renie", "ceva", "snad", "ruop", "tnos"),
)
_REVERSED_WORD, _WORD = (
    re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])", re.IGNORECASE)
    for words in (_REVERSED, [word[::-1] for word in _REVERSED])
)
_FEWEST_REVERSED, _FEWEST_DISTINCT = 3, 2
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
# The second form is a whole line: lists of long words have shorter ones.
_JOINED_WORDS = re.compile(rf"(?<![^\W\d_])(?:(?<!\n)[{_LATIN}]{{20,}}(?![{_LATIN}\r\n])|[{_LATIN}]{{26,}})")
_FEWEST_JOINED, _JOINED_SHARE, _MOST_BLANKS = 4, 0.15, 0.02
# Single consonants behind longer words. "a", "e", "i", "o", "u" and "y" are words in some languages.
_FRAGMENT = re.compile(r"(?<=[^\W_]{2}\s)[b-df-hj-np-tv-xz](?!\S)")
_FRAGMENT_SHARE, _FEWEST_FRAGMENTS, _FEWEST_CONSONANTS = 0.025, 6, 5
# Of the single letters of broken words, every third is a vowel. In notes of abbreviations ("pain r hip x 3 d, s fever,
# c wife, lantus 20 u q h s"), nearly all are consonants, and two words in a row form no frequent word.
_VOWEL, _LEAST_VOWELS, _FEWEST_FREQUENT = re.compile(r"(?<=[^\W_]{2}\s)[eio](?!\S)"), 0.1, 2
_MOST_SINGLE_SHARE = 0.5


def garbled_reason(text: str) -> str | None:
    """Return the reason why the words of a note cannot be read; None for ordinary words.

    Examples
    --------
    >>> garbled_reason("redlA .rD htiw cinilc eht ni nees saw tneitap ehT")
    "The letters of the note's words are in reverse order, as in text of a mirrored page."
    >>> garbled_reason("The patient was seen in the clinic with Dr. Alder.") is None
    True
    """
    if _is_reversed(text):
        return "The letters of the note's words are in reverse order, as in text of a mirrored page."
    if _is_joined(text):
        return "The note has hardly any spaces between its words."
    if is_rotated(text):
        return "The letters of the note are in no order, as in text of a page that was turned by 90 degrees."
    return "The words of the note are broken by spaces." if _is_broken(text) else None


def _is_reversed(text: str) -> bool:
    folded = text.lower()
    # Searching for a fixed text is fast, and few notes have one of these letters in a row.
    if not any(word in folded for word in _REVERSED):
        return False
    words = [word.lower() for word in _REVERSED_WORD.findall(text)]
    is_frequent = len(words) >= _FEWEST_REVERSED and len(set(words)) >= _FEWEST_DISTINCT
    return is_frequent and len(words) > len(_WORD.findall(text))


def _is_joined(text: str) -> bool:
    if text.count(" ") > _MOST_BLANKS * len(text):
        return False
    joined = _JOINED_WORDS.findall(text)
    return len(joined) >= _FEWEST_JOINED and sum(map(len, joined)) >= _JOINED_SHARE * sum(map(str.isalpha, text))


def _is_broken(text: str) -> bool:
    """Whether many words are single consonants. A note with a space after each letter is read as words."""
    fragments = _FRAGMENT.findall(text)
    if len(fragments) < _FEWEST_FRAGMENTS or len(set(fragments)) < _FEWEST_CONSONANTS:
        return False
    words = text.split()
    n_frequent = sum(before + after in FREQUENT for before, after in pairwise(words))
    if n_frequent < _FEWEST_FREQUENT and len(_VOWEL.findall(text)) < _LEAST_VOWELS * len(fragments):
        return False
    n_single = sum(len(word) == 1 for word in words)
    return len(fragments) >= _FRAGMENT_SHARE * len(words) and n_single < _MOST_SINGLE_SHARE * len(words)
