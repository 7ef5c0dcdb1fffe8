"""Alterations of notes that occur in practice or evade filters, with the position of each character.

An alteration replaces each character of a note by a piece of text, which may be empty. The pieces give the position of
each token in the altered note, so that recall is computed on the same tokens before and after the alteration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ..text import Document

Pieces = Callable[[Document, np.random.Generator], list[str]]
# Not the table of `NoteAugmenter`: a tagger would be good at errors on which it was trained.
_OCR = {"o": "0", "O": "0", "0": "O", "l": "1", "I": "l", "1": "l", "5": "S", "S": "5", "B": "8", "8": "B", "m": "rn"}
_OCR |= {"e": "c", "c": "e", "h": "b", "i": "j", "u": "v", "n": "ri", "g": "q", "Z": "2", "2": "Z", "6": "b"}
_WIDTH, _NARROW = 60, 20


@dataclass(frozen=True)
class AlteredNote:
    """Altered text of a note, and the position of each character of the note in the altered text.

    Parameters
    ----------
    text : str
        Altered text.
    places : sequence of int, one more than the note has characters
        For each character, the offset in the altered text at which its piece starts.
    """

    text: str
    places: Sequence[int]

    # Counts only: the text is note text.
    def __repr__(self) -> str:
        return f"AlteredNote({len(self.text)} characters)"


@dataclass(frozen=True)
class Alteration:
    """Kind of change for which `robustness_table` measures the recall, such as notes in capital letters.

    Parameters
    ----------
    name : str
        Name in tables.
    evasive : bool
        True if the change hides text from filters; False if the change occurs in ordinary notes.
    pieces : callable
        ``pieces(document, rng)`` returns a piece of text for each character of the note.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> note = Document("n", "Mr. Roe", (Span(4, 7, "PATIENT"),))
    >>> [a.altered(note, np.random.default_rng(0)).text for a in ALTERATIONS if a.name in ("capitals", "letter-spaced")]
    ['MR. ROE', 'M r .   R o e']
    """

    name: str
    evasive: bool
    pieces: Pieces

    def altered(self, document: Document, rng: np.random.Generator) -> AlteredNote:
        """Alter a note; the gold spans mark the personal details."""
        pieces = self.pieces(document, rng)
        return AlteredNote("".join(pieces), [0, *accumulate(map(len, pieces))])


def _by_character(change: Callable[[str], str]) -> Pieces:
    return lambda document, rng: [change(c) for c in document.text]


def _in_spans(change: Callable[[str], str]) -> Pieces:
    """Change the characters inside of spans only."""

    def pieces(document: Document, rng: np.random.Generator) -> list[str]:
        inside = {i for span in document.spans for i in range(span.start, span.end)}
        return [change(c) if i in inside else c for i, c in enumerate(document.text)]

    return pieces


def _with_chance(change: Callable[[str, np.random.Generator], str], share: float, chosen: str = r"\w") -> Pieces:
    pattern = re.compile(chosen)

    def pieces(document: Document, rng: np.random.Generator) -> list[str]:
        draws = rng.random(len(document.text)) < share
        both = zip(document.text, draws, strict=True)
        return [change(c, rng) if drawn and pattern.match(c) else c for c, drawn in both]

    return pieces


def _title_case(document: Document, rng: np.random.Generator) -> list[str]:
    text = document.text
    # The slice before the first character is empty, and begins a word, too.
    return [c.upper() if not text[i - 1 : i].isalnum() else c.lower() for i, c in enumerate(text)]


def _hyphenated(document: Document, rng: np.random.Generator) -> list[str]:
    """Split every word of five or more letters inside of spans by a hyphen and a line break."""
    pieces = list(document.text)
    for span in document.spans:
        for word in re.finditer(r"[^\W\d_]{5,}", document.text[span.start : span.end]):
            # Two letters at least stay on each line, as in printed text.
            place = span.start + word.start() + int(rng.integers(2, len(word[0]) - 1))
            pieces[place] = f"-\n{pieces[place]}"
    return pieces


def _wrapped(width: int) -> Pieces:
    def pieces(document: Document, rng: np.random.Generator) -> list[str]:
        out, column = list(document.text), 0
        for word in re.finditer(r"\S+|\n", document.text):
            if word[0] == "\n":
                column = 0
                continue
            size = len(word[0])
            # Only spaces become breaks, so that every word stays whole.
            if column and column + 1 + size > width and document.text[word.start() - 1] == " ":
                out[word.start() - 1], column = "\n", 0
            column += size + (column > 0)
        return out

    return pieces


def _typing_error(c: str, rng: np.random.Generator) -> str:
    other = "abcdefghijklmnopqrstuvwxyz"[int(rng.integers(26))]
    return ("", c + c, other.upper() if c.isupper() else other)[int(rng.integers(3))]


def _shifted(c: str, first: str, last: str, to: int) -> str:
    return chr(ord(c) - ord(first) + to) if first <= c <= last else c


_QUOTES = str.maketrans({"'": "\u2019", '"': "\u201d"})
_DASHES = str.maketrans({"-": "\u2013"})
#: All alterations, everyday ones first.
ALTERATIONS: tuple[Alteration, ...] = (
    Alteration("unchanged", False, _by_character(str)),
    Alteration("lower case", False, _by_character(lambda c: c.lower() if len(c.lower()) == 1 else c)),
    Alteration("capitals", False, _by_character(lambda c: c.upper() if len(c.upper()) == 1 else c)),
    Alteration("title case", False, _title_case),
    Alteration("hyphenated over lines", False, _hyphenated),
    Alteration("line breaks in PHI", False, _in_spans(lambda c: "\n" if c == " " else c)),
    Alteration(f"wrapped at {_WIDTH}", False, _wrapped(_WIDTH)),
    Alteration(f"wrapped at {_NARROW}", False, _wrapped(_NARROW)),
    Alteration("lines joined", False, _by_character(lambda c: " " if c == "\n" else c)),
    Alteration("punctuation lost", False, _by_character(lambda c: "" if c in ".,;:" else c)),
    Alteration("punctuation to spaces", False, _by_character(lambda c: " " if c in ".,;:-/()" else c)),
    Alteration("curly quotes", False, _by_character(lambda c: c.translate(_QUOTES))),
    Alteration("en dashes", False, _by_character(lambda c: c.translate(_DASHES))),
    Alteration("10 % of spaces lost", False, _with_chance(lambda c, rng: "", 0.1, " ")),
    Alteration("double spaces", False, _by_character(lambda c: "  " if c == " " else c)),
    Alteration("OCR 5 %", False, _with_chance(lambda c, rng: _OCR.get(c, c), 0.05)),
    Alteration("OCR 20 %", False, _with_chance(lambda c, rng: _OCR.get(c, c), 0.2)),
    Alteration("typing errors 2 %", False, _with_chance(_typing_error, 0.02, r"[^\W\d_]")),
    Alteration("zero-width spaces in PHI", True, _in_spans(lambda c: c + "\u200b")),
    Alteration("zero-width joiners in PHI", True, _in_spans(lambda c: c + "\u200d")),
    Alteration("byte order marks in PHI", True, _in_spans(lambda c: c + "\ufeff")),
    Alteration("soft hyphens in PHI", True, _in_spans(lambda c: c + "\u00ad")),
    Alteration("combining marks in PHI", True, _in_spans(lambda c: c + "\u0332" if c.isalnum() else c)),
    Alteration("full width", True, _by_character(lambda c: _shifted(c, "!", "~", 0xFF01) if c.isalnum() else c)),
    Alteration("Arabic digits", True, _by_character(lambda c: _shifted(c, "0", "9", 0x660))),
    Alteration("mathematical digits", True, _by_character(lambda c: _shifted(c, "0", "9", 0x1D7CE))),
    Alteration(
        "letter-spaced", True, lambda d, rng: [c if i == len(d.text) - 1 else c + " " for i, c in enumerate(d.text)]
    ),
    Alteration("entities", True, _by_character(lambda c: f"&#{ord(c)};" if c.isalnum() else c)),
)
