"""Notes of many departments with slots for PHI, in the files of the folder ``cases``, and pieces of them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from sklearn_deid import Document
from sklearn_deid.surrogates import Chance

from .lists import held_out_terms

#: Files of the notes of some kinds: questions, and sentences outside of medicine.
FILES = {"case question": ("questions",), "case outside": ("sentences", "world")}
_FOLDER = Path(__file__).parent / "cases"
_BORDER = "\n=====\n"
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = 6  # of a line beside its PHI that must be capitals, or small
_ALSO_SMALL = 0.5  # share of the lines in small letters whose names are small, too
# Lines of a piece: most pieces are short, so that many lines begin or end one.
_LENGTHS = ((1, 2), (2, 3), (3, 3), (5, 2), (8, 1))


def case_files() -> list[Path]:
    """The files of the notes."""
    return sorted(_FOLDER.glob("*.txt"))


@cache
def case_notes(names: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """Lines of each note, of all files or of those with a name, without the lines with a held-out term."""
    files = [file for file in case_files() if not names or file.stem in names]
    notes = [note for file in files for note in file.read_text(encoding="utf-8").strip("\n").split(_BORDER)]
    return tuple(tuple(line for line in note.split("\n") if not has_held_out_term(line)) for note in notes)


def has_held_out_term(line: str) -> bool:
    """Whether a line has a term that the texts that set the bias have, and the training has not."""
    return not held_out_terms().isdisjoint(_WORD.findall(line))


@cache
def _starts(names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Each line of each note."""
    return tuple((number, line) for number, lines in enumerate(case_notes(names)) for line in range(len(lines)))


def piece(kind: str, chance: Chance) -> str:
    """Template of some lines of a note: of any file ("case"), or of the files of a kind (`FILES`)."""
    names = FILES.get(kind, ())
    number, start = chance.pick(_starts(names))
    return "\n".join(case_notes(names)[number][start : start + chance.weighted(_LENGTHS)]).strip("\n")


def with_casing_of_lines(document: Document, chance: Chance) -> Document:
    """Write PHI in capitals in lines of capitals, and often in small letters in lines of small letters."""
    inside = {i for span in document.spans for i in range(span.start, span.end)}
    lines, position = [], 0
    for line in document.text.split("\n"):
        beside = [c for i, c in enumerate(line, position) if c.isalpha() and i not in inside]
        position += len(line) + 1
        if len(beside) >= _LETTERS and all(c.isupper() for c in beside):
            lines.append(line.upper())
        elif len(beside) >= _LETTERS and all(c.islower() for c in beside) and chance.happens(_ALSO_SMALL):
            lines.append(line.lower())
        else:
            lines.append(line)
    text = "\n".join(lines)
    # Some letters of other scripts become two.
    return replace(document, text=text) if len(text) == len(document.text) else document
