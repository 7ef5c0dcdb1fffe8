"""Text of HL7 version 2 with its escape sequences: reading the text, and writing other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ...exceptions import CorpusFormatError

# Escape sequences of the separators, in the order of `Separators`.
_CODES = "FSRET"
# Sequences without an own character. Line breaks become spaces, because each line of the note is a field.
_LAYOUT = {"H": "", "N": "", ".br": " ", ".sp": " ", ".ce": " ", ".fi": "", ".nf": ""}
_WORD, _LETTER = re.compile(r"\w+|\W"), re.compile(r"\w")
# Words that are compared at a time, and number of equal words that certainly belong together.
_WINDOW, _SURE = 256, 8


class Separators(NamedTuple):
    """Separators of a message, in the order of MSH-1 and MSH-2."""

    field: str
    component: str
    repetition: str
    escape: str
    subcomponent: str


class _Sign(NamedTuple):
    """Characters of the source, and the text that they represent."""

    source: str
    text: str


class EscapedText:
    r"""Part of a message that holds text.

    Parameters
    ----------
    source : str
        Part of the message.
    marks : Separators
        Separators of the message.
    encoding : str
        Encoding of the message, for characters that are written as bytes.

    Attributes
    ----------
    text : str
        Text without escape sequences, in one line.

    Raises
    ------
    CorpusFormatError
        If an escape sequence is not supported.

    Examples
    --------
    >>> found = EscapedText(r"Ann \T\ Co., \H\well\N\ today", Separators(*r"|^~\&"), "utf-8")
    >>> found.text
    'Ann & Co., well today'
    >>> print(found.changed("Eve & Co., ill today"))
    Eve \T\ Co., \H\ill\N\ today
    """

    def __init__(self, source: str, marks: Separators, encoding: str) -> None:
        self.source, self._marks, self._encoding = source, marks, encoding
        parts = source.split(marks.escape)
        if len(parts) % 2 == 0:
            raise CorpusFormatError("A text has an escape sign that begins no escape sequence.")
        self._signs: list[_Sign] = []
        for number, part in enumerate(parts):
            if number % 2:
                self._signs.append(_Sign(marks.escape + part + marks.escape, self._unescaped(part)))
            else:
                self._signs += [_Sign(character, character) for character in part]
        self.text = "".join(sign.text for sign in self._signs)

    def changed(self, new: str) -> str:
        """Source with a new text. Unchanged words keep their escape sequences."""
        if new == self.text:
            return self.source
        before, after = _words(self._signs), _WORD.findall(new)
        out: list[str] = []
        i = first = 0
        for j, stop, size in _equal_runs([sign.text for sign in before], after):
            # Sequences without text, such as those of highlighting, stay also where words are replaced.
            start = next((at for at in range(i, j) if before[at].text), j)
            out += [sign.source for sign in before[i:start]]
            out.append(self._escaped("".join(after[first:stop])))
            out += [sign.source for sign in before[start:j] if not sign.text]
            i, first = j + size, stop + size
            out += [sign.source for sign in before[j:i]]
        return "".join(out)

    def _unescaped(self, code: str) -> str:
        known = _LAYOUT | dict(zip(_CODES, self._marks, strict=True))
        if code in known:
            return known[code]
        if re.fullmatch(r"\.(sp|in|ti|sk)[-+]?[0-9]{1,3}", code):
            return " "
        if re.fullmatch(r"X(?:[0-9A-Fa-f]{2})+", code):
            try:
                text = bytes.fromhex(code[1:]).decode(self._encoding)
            except UnicodeError:
                text = "\0"
            # Other control characters could end a segment or a message when they are written back.
            if all(c.isprintable() or c in "\t\r\n" for c in text):
                return "".join(" " if c in "\t\r\n" else c for c in text)
        raise CorpusFormatError("A text has an escape sequence that is not read.")

    def _escaped(self, text: str) -> str:
        codes, sign = dict(zip(self._marks, _CODES, strict=True)), self._marks.escape
        return "".join(f"{sign}{codes[c]}{sign}" if c in codes else c for c in text)


def _words(signs: Sequence[_Sign]) -> list[_Sign]:
    """Words of a text with their source; each escape sequence is a separate word."""
    words: list[_Sign] = []
    for sign in signs:
        is_letter = sign.source == sign.text and _LETTER.fullmatch(sign.text) is not None
        if is_letter and words and words[-1].source == words[-1].text and _LETTER.match(words[-1].text):
            words[-1] = _Sign(words[-1].source + sign.source, words[-1].text + sign.text)
        else:
            words.append(sign)
    return words


def _equal_runs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield start in both texts, and length, of each run of equal words, and an empty run at the end.

    The texts are compared window by window. A comparison of all words takes time that grows faster than the square of
    the length if words are frequent.
    """
    i = j = 0
    while i < len(before) or j < len(after):
        some, others = before[i : i + _WINDOW], after[j : j + _WINDOW]
        runs = SequenceMatcher(None, some, others, autojunk=False).get_matching_blocks()[:-1]
        if i + len(some) < len(before) or j + len(others) < len(after):
            # Behind the last long run, a word may belong to a word behind the window.
            runs = runs[: max((n for n, run in enumerate(runs, 1) if run.size >= _SURE), default=len(runs))]
        yield from ((i + run.a, j + run.b, run.size) for run in runs)
        read = (runs[-1].a + runs[-1].size, runs[-1].b + runs[-1].size) if runs else (len(some), len(others))
        i, j = i + read[0], j + read[1]
    yield len(before), len(after), 0
