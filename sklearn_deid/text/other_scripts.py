"""Words of another script in a text of mostly Latin letters, read as words of Latin letters.

A tagger of English notes knows neither the letters of a Hebrew, Thai or Chinese name nor its casing. In Latin letters,
the word has the form of a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .normalized_text import Edit
from .tokens import is_latin_1, tokenize

# Blocks of letters and marks of scripts other than Latin. The blocks also contain digits and punctuation.
_BLOCKS = (
    "\u0370-\u1aaf\u1b00-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2dff\u3005-\ua71f\ua800-\uab2f\uab70-\ufaff"
    "\ufb13-\ufdff\ufe70-\ufefc\uff66-\uffdc\U00010000-\U0001cfff\U0001e000-\U0001edff\U00020000-\U00031fff"
)
_OTHER = re.compile(f"[{_BLOCKS}]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# Greek words with fewer letters are symbols, such as those of variances and differences.
_FEWEST_GREEK = 3
# Longer runs of words are sentences in another language, which `NoteLikeness` must recognise.
_LONGEST_NAME = 6
_GAP = re.compile(r"[ \u00a0.'\u2019-]{0,3}")
# A Latin word with fewer letters may be an article or initials.
_FEWEST_LATIN = 4
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"


def words_of_other_scripts(text: str) -> list[Edit]:
    """Edits that write names of other scripts in Latin letters, if most letters of the text are Latin.

    Words in lower case and long runs of words remain unchanged, because they are no names. Cyrillic letters beside
    Latin letters are always changed.

    Examples
    --------
    >>> words_of_other_scripts("Seen by Dr. \u0418\u0432\u0430\u043d at noon")
    [Edit(start=12, end=16, replacement='Ivan')]
    >>> words_of_other_scripts("2 \u03bcg, \u03b2-blocker")
    []
    """
    if is_latin_1(text):
        return []
    words = [word for found in _OTHER.finditer(text) for word in _words(text, *found.span())]
    if not words or sum(end - start for start, end in words) >= len(_LATIN.findall(text)):
        return []
    runs: list[list[tuple[int, int]]] = []
    for word in words:
        if runs and _GAP.fullmatch(text, runs[-1][-1][1], word[0]):
            runs[-1].append(word)
        else:
            runs.append([word])
    return [
        Edit(start, end, _in_latin(text[start:end]))
        for run in runs
        if len(run) <= _LONGEST_NAME
        for start, end in run
        if not text[start:end].islower() or _is_inside_latin(text, start, end)
    ]


def tokens_as_written(written: str, token: str) -> list[str]:
    """Return the tokens of the written form of a token that `words_of_other_scripts` has changed, or the token.

    Examples
    --------
    >>> tokens_as_written("\u738b\u654f", "Zukumo"), tokens_as_written("\u0664", "4")
    (['王', '敏'], ['4'])
    """
    is_changed = token.isascii() and token.isalpha() and _OTHER.search(written)
    return tokenize(written).texts if is_changed else [token]


def _is_inside_latin(text: str, start: int, end: int) -> bool:
    """Whether Cyrillic letters, which look like Latin letters, are directly beside Latin letters."""
    is_cyrillic = "\u0400" <= text[start] < "\u0530"
    return is_cyrillic and any(map(_LATIN.fullmatch, (*text[max(0, start - 1) : start], *text[end : end + 1])))


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of letters and marks that begin with a letter."""
    first = start
    for at in range(start, end + 1):
        kind = unicodedata.category(text[at])[0] if at < end else "end"
        if kind == "L" or (kind == "M" and first < at):
            continue
        if first < at and at - first >= (_FEWEST_GREEK if "\u0370" <= text[first] < "\u0400" else 1):
            yield first, at
        first = at + 1


def _in_latin(word: str) -> str:
    letters = "".join(map(_latin_letters, word))
    if word.lower() != word.upper():
        return letters
    # In a script without casing, every word may be a name.
    return letters.capitalize() + "an" * (len(letters) < _FEWEST_LATIN)


@lru_cache(maxsize=4096)
def _latin_letters(character: str) -> str:
    """Latin letters for a letter, by its name in Unicode, such as "HEBREW LETTER MEM"; nothing for a mark."""
    if unicodedata.category(character)[0] == "M":
        return ""
    name = unicodedata.name(character, "").split(" WITH ")[0].split()
    sound = name[-1] if name else ""
    if not sound.isalpha():
        # Ideographs have numbers as names.
        number = ord(character)
        return _CONSONANTS[number % len(_CONSONANTS)] + _VOWELS[number // len(_CONSONANTS) % len(_VOWELS)]
    if not {"SYLLABLE", "HIRAGANA", "KATAKANA"}.isdisjoint(name):
        return sound.lower()
    # Cyrillic L, M, N, R, S and F are EL, EM, EN, ER, ES and EF.
    letter = sound[1] if name[0] == "CYRILLIC" and len(sound) == 2 and sound[0] == "E" else sound[0]
    if character.lower() != character.upper():
        return letter if character.isupper() else letter.lower()
    return letter.lower() + "a" * (letter not in "AEIOU")
