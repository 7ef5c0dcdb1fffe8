"""Tokenizer for clinical notes that splits at all possible borders of PHI, with exact offsets.

PHI often starts or ends inside a word of a general tokenizer (``25yo``, ``SmithMD``, ``12/03/2019-14:00``). A span can
be tagged exactly only if its borders are token borders. This tokenizer therefore splits at every possible border of
PHI, and the tagger joins the parts again.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape
from html.entities import html5
from itertools import islice
from typing import NamedTuple

_MATCHES_AT_ONCE = 4096


class Tokens(NamedTuple):
    """Tokens of one text, as three parallel lists.

    Parameters
    ----------
    texts : list of str
        Text ``text[starts[i]:ends[i]]`` of each token. An HTML entity is unescaped.
    starts, ends : list of int
        Half-open offsets in the unchanged text, counted in Unicode code points. The offsets increase, and tokens never
        overlap.

    Examples
    --------
    >>> Tokens(["25", "yo"], [0, 2], [2, 4]).texts
    ['25', 'yo']
    """

    texts: list[str]
    starts: list[int]
    ends: list[int]

    # The repr shows counts only: the tokens are note text.
    def __repr__(self) -> str:
        return f"Tokens({len(self.texts)} tokens)"


# Scripts without spaces between words, and Hangul, where particles follow a name without a space. In these scripts each
# character is a token.
_UNSPACED_BLOCKS = (
    (0x0E01, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar, and its extensions
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1100, 0x11FF),  # Hangul letters
    (0xA960, 0xA97F),
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration mark and zero of ideographic text
    (0x3021, 0x303B),
    (0x3041, 0x33FF),  # kana, bopomofo, Hangul letters, squared words
    (0xF900, 0xFAFF),  # compatibility ideographs; the other ideographs and syllables are not scanned at all
    (0xFF66, 0xFFDC),  # half-width kana and Hangul
)
# Ranges of code points with cased letters, scripts with spaces, and combining marks. A letter outside of these ranges
# (ideographs, Hangul syllables, Tangut, ...) matches the last branch of the pattern and becomes a token by itself.
_SCANNED = ((0x0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x17000), (0x1BC00, 0x1F000))
_KINDS = {
    **dict.fromkeys(("Lu", "Lt"), ord("U")),
    **dict.fromkeys(("Ll", "Lm", "Lo", "Nl", "No"), ord("N")),
    **dict.fromkeys(("Mn", "Mc", "Me"), ord("M")),
}
# Soft hyphen, zero-width (non-)joiner, emoji tags, variation selectors: these characters are invisible and stay inside
# their word.
_JOINERS = "\u00ad\u200c\u200d\U000e0020-\U000e007f\U000e0100-\U000e01ef"
# Control characters, zero-width space, direction marks, byte order mark: these characters separate tokens and belong to
# no token.
_IGNORED = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
)
_PICTOGRAPHS = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
_FLAG_LETTERS = "\U0001f1e6-\U0001f1ff"
_STACKERS = "\u1039\u17d2"  # the next consonant is written under the one before (Myanmar, Khmer)


def _character_classes() -> dict[str, str]:
    """Ranges of upper case letters (U), other letters and non-decimal numbers (N), combining marks (M)."""
    # One byte for each code point: runs of equal bytes are the ranges of a character class, found by a regular
    # expression.
    kinds = bytearray(_SCANNED[-1][1])
    for first, stop in _SCANNED:
        categories = map(unicodedata.category, map(chr, range(first, stop)))
        kinds[first:stop] = bytes([_KINDS.get(category, 0) for category in categories])
    for first, last in _UNSPACED_BLOCKS:
        kinds[first : last + 1] = kinds[first : last + 1].replace(b"N", b"\0")
    classes = {}
    for kind in "UNM":
        runs = re.finditer(kind.encode() + b"+", kinds)
        classes[kind] = "".join([f"{chr(run.start())}-{chr(run.end() - 1)}" for run in runs])
    return classes


def is_latin_1(text: str) -> bool:
    """Whether all characters of a text are among the first 256 characters of Unicode.

    Examples
    --------
    >>> is_latin_1("Jos\u00e9"), is_latin_1("\u20ac 5")
    (True, False)
    """
    return text.isascii() or len(text.encode("latin-1", "ignore")) == len(text)


@lru_cache(maxsize=1)
def _token_pattern() -> re.Pattern[str]:
    """Regular expression of a token; every character except for white space and ignored characters matches."""
    ranges = _character_classes()
    upper, letter, mark = ranges["U"], ranges["N"], ranges["M"] + _JOINERS
    unspaced = "".join([f"{chr(first)}-{chr(last)}" for first, last in _UNSPACED_BLOCKS])
    branches = (
        rf"[{letter}{mark}]+",
        rf"\d[\d{mark}]*",
        rf"[{upper}][{upper}{mark}]*[{letter}{mark}]*",
        # Any other character is a token, together with its combining marks, skin tone and joined pictographs.
        rf"(?:[{_FLAG_LETTERS}]{{2}}|[^\s{_IGNORED}])"
        rf"(?:[{mark}{_SKIN_TONES}]+|(?<=\u200d)[{_PICTOGRAPHS}]|(?<=[{_STACKERS}])[{unspaced}])*",
    )
    return re.compile("|".join(branches))


@lru_cache(maxsize=1)
def _latin_1_pattern() -> re.Pattern[str]:
    """Pattern of a token for texts of the first 256 characters of Unicode, with small, fast character classes."""
    signs = [chr(code) for code in range(256)]
    kinds = [_KINDS.get(unicodedata.category(sign)) for sign in signs]
    upper, letter = ("".join(s for s, k in zip(signs, kinds, strict=True) if k == ord(kind)) for kind in "UN")
    # Of the marks and joiners, the first 256 characters hold the soft hyphen alone.
    mark, ignored = ("".join(filter(re.compile(f"[{members}]").match, signs)) for members in (_JOINERS, _IGNORED))
    branches = (
        rf"[{letter}{mark}]+",
        rf"[0-9][0-9{mark}]*",
        rf"[{upper}][{upper}{mark}]*[{letter}{mark}]*",
        rf"[^\s{ignored}][{mark}]*",
    )
    return re.compile("|".join(branches))


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def _entity_text(entity: str) -> str:
    """Unescaped form of an HTML entity; empty for an unknown entity, whose characters are ordinary text."""
    return unescape(entity) if entity[1] == "#" or entity[1:] in html5 else ""


def _append_tokens(
    tokens: Tokens, text: str, start: int, end: int, known: dict[str, str], pattern: re.Pattern[str]
) -> None:
    found = pattern.finditer(text, start, end)
    # In a note of a megabyte, the matches of all tokens would take more memory than the tokens.
    while matches := list(islice(found, _MATCHES_AT_ONCE)):
        # Equal words are one object, for the same reason.
        tokens.texts.extend([known.setdefault(word := match[0], word) for match in matches])
        tokens.starts.extend([match.start() for match in matches])
        tokens.ends.extend([match.end() for match in matches])


def tokenize(text: str) -> Tokens:
    r"""Split a text into tokens with exact offsets.

    The tokenizer knows four kinds of tokens:

    - A run of letters, split where an upper case letter follows a lower case letter (``SmithMD`` is Smith, MD;
      ``McCoy`` is Mc, Coy). Combining marks belong to their letter, so a decomposed accent does not split a name.
      Ordinal signs are lower case letters, as in Unicode (``PerezNºCol`` is Perez, Nº, Col and ``3ºA`` is 3, º, A).
    - A run of decimal digits (``25yo`` is 25, yo).
    - Any other single character: punctuation (including the underscore), symbols, a flag, or an emoji with skin tone
      and joined emoji. Also every character of scripts without spaces around names (Chinese, Japanese, Korean, Thai,
      Lao, Khmer, Burmese).
    - An HTML entity such as ``&lt;`` or ``&#39;``. The token text is the unescaped character.

    White space separates tokens and belongs to no token. Control characters, zero-width spaces, direction marks, the
    byte order mark, and entities of these characters also separate tokens and belong to no token. Every other character
    is in exactly one token. Soft hyphens and zero-width joiners stay inside their word.

    Parameters
    ----------
    text : str
        Unchanged text. You need not normalise newlines, entities and accents.

    Returns
    -------
    Tokens
        Token texts and half-open code point offsets.

    Examples
    --------
    >>> tokenize("25yo pt. of Dr.LopezMD").texts
    ['25', 'yo', 'pt', '.', 'of', 'Dr', '.', 'Lopez', 'MD']
    >>> tokenize("BP &lt; 90")
    Tokens(3 tokens)
    >>> tokenize("BP &lt; 90").ends
    [2, 7, 10]
    """
    tokens = Tokens([], [], [])
    position, known = 0, dict[str, str]()
    pattern = _latin_1_pattern() if is_latin_1(text) else _token_pattern()
    if "&" in text:
        for entity in _ENTITY.finditer(text):
            meaning = _entity_text(entity[0])
            if not meaning:
                continue
            _append_tokens(tokens, text, position, entity.start(), known, pattern)
            position = entity.end()
            if _token_pattern().search(meaning):
                tokens.texts.append(meaning)
                tokens.starts.append(entity.start())
                tokens.ends.append(position)
    _append_tokens(tokens, text, position, len(text), known, pattern)
    return tokens
