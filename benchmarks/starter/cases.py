"""Notes of many departments with slots for PHI, in the files of the folder ``cases``, and pieces of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sklearn_deid.surrogates import Chance

from .lists import held_out_terms

_FOLDER = Path(__file__).parent / "cases"
_BORDER = "\n=====\n"
_WORD = re.compile(r"[^\W\d_]+")
# Lines of a piece: most pieces are short, so that many lines begin or end one.
_LENGTHS = ((1, 2), (2, 3), (3, 3), (5, 2), (8, 1))


def case_files() -> list[Path]:
    """The files of the notes."""
    return sorted(_FOLDER.glob("*.txt"))


@cache
def case_notes() -> tuple[tuple[str, ...], ...]:
    """Lines of each note, without those with a held-out term."""
    notes = [note for file in case_files() for note in file.read_text(encoding="utf-8").strip("\n").split(_BORDER)]
    return tuple(tuple(line for line in note.split("\n") if not has_held_out_term(line)) for note in notes)


def has_held_out_term(line: str) -> bool:
    """Whether a line has a term that the texts that set the bias have, and the training has not."""
    return not held_out_terms().isdisjoint(_WORD.findall(line))


@cache
def _starts() -> tuple[tuple[int, int], ...]:
    """Each line of each note."""
    return tuple((number, line) for number, lines in enumerate(case_notes()) for line in range(len(lines)))


def piece(chance: Chance) -> str:
    """Template of some lines of a note."""
    number, start = chance.pick(_starts())
    return "\n".join(case_notes()[number][start : start + chance.weighted(_LENGTHS)]).strip("\n")
