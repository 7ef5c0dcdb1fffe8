"""Sentences of raw notes, as `NoteDeidentifier` passes them to its tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..text import NormalizedText, Segmentation, normalize
from .note_segmenter import NoteSegmenter


class CutNotes(NamedTuple):
    """Normalised texts, their segmentations, and the sentences of all notes with the numbers of their notes."""

    readings: list[NormalizedText]
    segmented: list[Segmentation]
    X: TokenSequences


def cut_notes(texts: Sequence[str], segmenter: Any = None) -> CutNotes:
    """Normalise raw notes and cut them into sentences of tokens.

    Parameters
    ----------
    texts : sequence of str
        Raw notes.
    segmenter : object with a method ``segment(text)``, optional
        Splits texts into tokens and sentences. None means `text.segment`.

    Returns
    -------
    CutNotes
        For each note its normalised text and its sentences; ``X`` holds the sentences of all notes.

    Examples
    --------
    >>> cut = cut_notes(["Seen today. No pain.", ""])
    >>> len(cut.X), cut.X.documents.tolist()
    (2, [0, 0])
    """
    split = NoteSegmenter(segmenter).segment
    readings = [normalize(text) for text in texts]
    segmented = [split(reading.text) for reading in readings]
    X = TokenSequences.from_rows(row for cut in segmented for row in cut.rows())
    counts = np.array([len(cut.sentences) for cut in segmented], dtype=np.int64)
    # Each sentence carries the number of its note, for taggers that read a sentence in its context.
    return CutNotes(readings, segmented, X.with_documents(np.repeat(np.arange(len(texts)), counts)))
