"""Folding of words for comparison: case, accents, and edits."""

from __future__ import annotations

import unicodedata

from ..text.tokens import is_latin_1

# Letters of Latin-1, and the form of each in lower case without accents.
_LATIN_1 = {
    code: "".join(sign for sign in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(sign))
    for code in range(0x80, 0x100)
}


def fold(text: str) -> str:
    """Text in lower case, without accents and with single spaces.

    Examples
    --------
    >>> fold("  García\\u00a0LÓPEZ ")
    'garcia lopez'
    """
    # No cache: a module must not keep words of notes.
    if text.isascii():
        return " ".join(text.lower().split())
    folded = text.casefold()
    if is_latin_1(folded):
        return " ".join(folded.translate(_LATIN_1).split())
    plain = unicodedata.normalize("NFKD", folded)
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


# Letters with a stroke, and joined letters, that Unicode does not decompose.
_PLAIN = str.maketrans(
    {
        **{"\u00f8": "o", "\u00e6": "ae", "\u0153": "oe", "\u0142": "l", "\u0111": "d"},
        **{"\u0131": "i", "\u00f0": "d", "\u00fe": "th", "\u0127": "h", "\u0167": "t", "\u014b": "n"},
    }
)
_TRANSCRIBED = str.maketrans(
    {"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue", "\u00e6": "ae", "\u00f8": "oe", "\u00e5": "aa"}
)


def plain_letters(text: str) -> str:
    """Folded text, with plain letters also for letters that are no accented letters (ø as o, ł as l).

    Examples
    --------
    >>> plain_letters("J\u00f8rgen"), plain_letters("\u0141ukasz")
    ('jorgen', 'lukasz')
    """
    return fold(text).translate(_PLAIN)


def transcribed(text: str) -> str:
    """Folded text with two letters for some letters (ü as ue), as in mail addresses.

    Examples
    --------
    >>> transcribed("M\u00fcller"), transcribed("Alder")
    ('mueller', 'alder')
    """
    return fold(unicodedata.normalize("NFC", text).casefold().translate(_TRANSCRIBED))


def within_one_slip(a: str, b: str) -> bool:
    """Whether one inserted, missing or wrong letter, or two swapped neighbours, turn one word into the other.

    Examples
    --------
    >>> within_one_slip("alder", "adler"), within_one_slip("alder", "aldert"), within_one_slip("alder", "elmer")
    (True, True, False)
    """
    if abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    end = 0
    while end < min(len(a), len(b)) and a[len(a) - 1 - end] == b[len(b) - 1 - end]:
        end += 1
    a, b = a[: len(a) - end], b[: len(b) - end]
    return max(len(a), len(b)) <= 1 or (len(a) == len(b) == 2 and a == b[::-1])
