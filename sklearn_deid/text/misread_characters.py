"""Characters that a program wrote as codes or decoded wrongly, with the original characters.

A tokenizer splits a name with such a character, and a tagger finds only some of the parts. Examples are
``M\\u00fcller`` of JSON, ``M<U+00FC>ller`` of R, ``M\\xc3\\xbcller`` of Python, ``M\\'fcller`` of RTF without its
header, and UTF-8 that was read as Windows-1252 or in a code page of DOS. U+FFFD in a word replaces a letter that was
lost. This character is read as "e", so that the word is not split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .normalized_text import Edit

# The decimal numbers of RTF come first; then entities without a semicolon, hexadecimal numbers, and bytes, also of HL7
# and of RTF. RTF writes small digits: "O\\'Dea" is an escaped quote.
_CODE = re.compile(
    r"\\u(?P<decimal>[1-9][0-9]{2}|1[0-3][0-9]{2})(?:\?|\\'[0-9a-f]{2})|&#(?P<entity>[1-9][0-9]{1,3})(?![0-9;])"
    r"|(?:\\u|%u)(?P<number>[0-9A-Fa-f]{4})|<U\+(?P<of_r>[0-9A-Fa-f]{4,6})>|\\[ux]\{(?P<braced>[0-9A-Fa-f]{2,6})\}"
    r"|(?P<bytes>(?:\\x[0-9A-Fa-f]{2})+|(?:%[Cc][2-5]%[89ABab][0-9A-Fa-f])+|\\X(?:[0-9A-Fa-f]{2})+\\|\\'[c-f][0-9a-f])"
)
_NO_DIGIT = re.compile("[^0-9A-Fa-f]")
# Signs, and letters of Latin, Greek and Cyrillic script.
_FIRST_OTHER = 0x2100
_REST = range(0x80, 0xC0)


def _characters(codecs: tuple[str, ...]) -> dict[str, int]:
    """Bytes from 128 on, by the characters to which codecs decode these bytes. The first codec has priority."""
    found: dict[str, int] = {}
    for codec in codecs:
        for byte in range(0x80, 0x100):
            found.setdefault(bytes([byte]).decode(codec, "ignore"), byte)
    return {character: byte for character, byte in found.items() if character}


_WINDOWS, _DOS = _characters(("cp1252", "latin-1")), _characters(("cp437", "cp850"))


def _rest(characters: dict[str, int]) -> str:
    return f"[{''.join(re.escape(one) for one, byte in characters.items() if byte in _REST)}]"


# Characters in a row, also misread twice. Then letters in two bytes from C3 on, beside a letter; a quote at the end of
# a word, as in "MANHÃ”", is a quote. Then dashes, quotes and the blank of fixed width.
_MISREAD = re.compile(
    rf"\u00c3[{''.join(map(re.escape, _WINDOWS))}]{{3,}}"
    rf"|(?:(?<=[A-Za-z])|(?=..[A-Za-z]))(?:[\u00c3-\u00c5](?![\u2013-\u201e](?![A-Za-z])){_rest(_WINDOWS)}"
    rf"|\u251c{_rest(_DOS)})"
    rf"|\u00e2\u20ac{_rest(_WINDOWS)}|(?<![A-Z])\u00c2\u00a0"
)
_LOST = re.compile(r"(?<![\w\ufffd])(?:[^\W\d_]+\ufffd{1,3})+[^\W\d_]*")
_SIGNS_OF_ONE = re.compile("\ufffd+")
# In "patient's" and "don't", the lost sign is the apostrophe.
_AFTER_APOSTROPHE = frozenset(("s", "t", "d", "m", "re", "ll", "ve"))
_LEADS = ("\u00c3", "\u00c4", "\u00c5", "\u251c", "\u00e2\u20ac", "\u00c2\u00a0")


def misread_characters(text: str) -> Iterator[Edit]:
    """Edits that restore the original characters of a text, from left to right.

    Examples
    --------
    >>> list(misread_characters(r"Dr. M\\u00fcller"))
    [Edit(start=5, end=11, replacement='ü')]
    >>> [edit.replacement for edit in misread_characters("JosÃ© MuÃ±oz")]
    ['é', 'ñ']
    """
    found = []
    if any(sign in text for sign in ("\\", "<U+", "%u", "%C", "%c", "&#")):
        found += [Edit(*code.span(), _decoded(code)) for code in _CODE.finditer(text)]
    if any(lead in text for lead in _LEADS):
        for one in _MISREAD.finditer(text):
            known = _DOS if one[0][0] == "\u251c" else _WINDOWS
            found.append(Edit(*one.span(), _read_again(_read_again(one[0], known), known)))
    if "\ufffd" in text:
        found += [edit for word in _LOST.finditer(text) for edit in _lost(word)]
    for edit in sorted(found):
        if edit.replacement and all(_is_usual(character) for character in edit.replacement):
            yield edit


def _decoded(code: re.Match[str]) -> str:
    if code["bytes"] is None:
        decimal = code["decimal"] or code["entity"]
        number = int(decimal) if decimal else int(code["number"] or code["of_r"] or code["braced"], 16)
        return chr(number) if number < _FIRST_OTHER else ""
    data = bytes.fromhex(_NO_DIGIT.sub("", code["bytes"]))
    try:
        return data.decode("utf-8")
    except UnicodeError:
        return data.decode("cp1252", "ignore")


def _read_again(text: str, known: dict[str, int]) -> str:
    """Text that results if the characters are read as UTF-8 bytes; the text itself if they are not UTF-8 bytes."""
    try:
        return bytes(known[character] for character in text).decode("utf-8")
    except (KeyError, UnicodeError):
        return text


def _lost(word: re.Match[str]) -> Iterator[Edit]:
    for sign in _SIGNS_OF_ONE.finditer(word[0]):
        rest = word[0][sign.end() : sign.end() + 3]  # no more: the time would grow with the square of the word
        # Behind a word in small letters, it may be a closing quote.
        if rest or word[0][0].isupper():
            start = word.start()
            yield Edit(start + sign.start(), start + sign.end(), "'" if rest in _AFTER_APOSTROPHE else "e")


def _is_usual(character: str) -> bool:
    return ord(character) < _FIRST_OTHER and (character.isprintable() or character in "\t\r\n\u00a0")
