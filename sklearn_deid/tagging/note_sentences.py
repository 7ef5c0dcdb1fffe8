"""Sentences of raw notes, as `NoteDeidentifier` passes them to its tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..text import NormalizedText, Segmentation, normalize, segment


class CutNotes(NamedTuple):
    """Normalised texts, their segmentations, and the sentences of all notes with the numbers of their notes."""

    readings: list[NormalizedText]
    segmented: list[Segmentation]
    X: TokenSequences


def cut_notes(texts: Sequence[str]) -> CutNotes:
    """Normalise raw notes and cut them into sentences of tokens.

    Parameters
    ----------
    texts : sequence of str
        Raw notes.

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
    readings = [normalize(text) for text in texts]
    segmented = [_without_endless_sentences(segment(reading.text)) for reading in readings]
    X = TokenSequences.from_rows(row for cut in segmented for row in cut.rows())
    counts = np.array([len(cut.sentences) for cut in segmented], dtype=np.int64)
    # Each sentence carries the number of its note, for taggers that read a sentence in its context.
    return CutNotes(readings, segmented, X.with_documents(np.repeat(np.arange(len(texts)), counts)))


# Tokens of the longest sentence that is tagged as a whole. Text without the end of a sentence, such as a table without
# line breaks, would otherwise take a time and memory that grow faster than its length.
_LONGEST_SENTENCE = 2000


def _without_endless_sentences(cut: Segmentation) -> Segmentation:
    """Cut sentences that are far longer than any written one."""
    if all(end - start <= _LONGEST_SENTENCE for start, end in cut.sentences):
        return cut
    parts = [
        (first, min(first + _LONGEST_SENTENCE, end))
        for start, end in cut.sentences
        for first in range(start, end, _LONGEST_SENTENCE)
    ]
    return cut._replace(sentences=parts)
