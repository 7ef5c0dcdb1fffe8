"""Noise of real notes: misspellings, missing full stops, capitals, wrapped lines, and line ends of other systems."""

from __future__ import annotations

import re
from functools import partial

from ...surrogates import Chance
from .builder import NoteBuilder
from .context import Style

_LONG_WORD = re.compile(r"[a-z]{6,}")
_STOP = re.compile(r"(?<=[a-z])\.(?=\n| [A-Z]|$)")


def add_noise(note: NoteBuilder, style: Style, chance: Chance) -> None:
    """Add noise to a finished note, according to its style. The gold spans are adjusted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn_deid.datasets.notes.context import make_style
    >>> note = NoteBuilder().text("seen by ").phi("Hope", "DOCTOR")
    >>> style = replace(make_style(Chance(0)), sloppy=False, capitals=True, wrap=None, crlf=False)
    >>> add_noise(note, style, Chance(0)); note.pieces
    [('SEEN BY ', None), ('HOPE', 'DOCTOR')]
    """
    # Misspellings and dropped full stops change plain text only. Capitals and line ends change PHI too.
    if style.sloppy:
        note.change_text(partial(_misspell, chance=chance))
        note.change_text(partial(_drop_stops, chance=chance))
    if style.capitals:
        note.change_all(str.upper)
    if style.wrap is not None:
        note.wrap(style.wrap)
    if style.crlf:
        note.change_all(lambda text: text.replace("\n", "\r\n"))


def _drop_stops(text: str, chance: Chance) -> str:
    return _STOP.sub(lambda match: "" if chance.happens(0.25) else ".", text)


def _misspell(text: str, chance: Chance) -> str:
    def spoil(match: re.Match[str]) -> str:
        word = match[0]
        if not chance.happens(0.03):
            return word
        i = chance.number(1, len(word) - 2)
        # Three kinds of misspellings: a letter is left out, doubled, or exchanged with the next one.
        return chance.pick(
            (word[:i] + word[i + 1 :], word[: i + 1] + word[i:], word[:i] + word[i + 1] + word[i] + word[i + 2 :])
        )

    return _LONG_WORD.sub(spoil, text)
