"""Which notes the starter was not made for: notes in other languages than English."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_deid import Document
from sklearn_deid.tagging.note_likeness import FEATURES, Measured, NoteLikeness, measure
from sklearn_deid.tagging.note_segmenter import NoteSegmenter
from sklearn_deid.text import normalize

_PAIRS = FEATURES.index("letter pairs")
_IGNORED = 1e9  # scale of a figure that has no influence


def language_gate(notes: Sequence[Document]) -> NoteLikeness:
    """Likeness that judges the pairs of letters alone; no generated note is unlike.

    The form of notes (tables, capitals, length of sentences) differs too much between hospitals for a model that has
    seen generated notes only.
    """
    measured = [_measured(note) for note in notes]
    learned = NoteLikeness.learn(measured, [note.doc_id for note in notes], any_casing=True)
    if learned is None:
        raise ValueError("The language gate needs more notes.")
    state = learned.to_state()
    low, high = np.full(len(FEATURES), _IGNORED), np.full(len(FEATURES), _IGNORED)
    high[_PAIRS] = state["high"][_PAIRS]
    gate = NoteLikeness.from_state({**state, "low": low.tolist(), "high": high.tolist()})
    return NoteLikeness.from_state({**gate.to_state(), "threshold": max(gate.score(note)[0] for note in measured)})


def share_withheld(gate: NoteLikeness, notes: Sequence[Document]) -> float:
    """Share of the notes that are unlike English notes."""
    return sum(gate.problem(_measured(note)) is not None for note in notes) / len(notes)


def _measured(note: Document) -> Measured:
    return measure(NoteSegmenter(None).segment(normalize(note.text).text), 0)
