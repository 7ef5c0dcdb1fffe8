"""Sentences of raw notes, as `NoteDeidentifier` passes them to its tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..text import Segmentation
from ..text.segmentation import read_normalized, segment_normalized, with_original_offsets
from .forms import LabelledValue, labelled_values
from .note_segmenter import NoteSegmenter


class NormalizedSegmenter:
    """Split the normalised text of a note, in training and in tagging.

    Parameters
    ----------
    segmenter : object with a method ``segment(text)``, optional
        Splits the normalised text. None means `text.segment`.

    Examples
    --------
    >>> cut = NormalizedSegmenter().segment("J&#111;hn left.")
    >>> cut.tokens.texts, cut.tokens.starts, cut.tokens.ends
    (['John', 'left', '.'], [0, 10, 14], [9, 14, 15])
    """

    def __init__(self, segmenter: Any = None) -> None:
        self._split = NoteSegmenter(segmenter).segment

    def segment(self, text: str) -> Segmentation:
        """Return the tokens of the normalised text with their offsets in the unchanged text, and the sentences."""
        return segment_normalized(text, self._split)


class CutNotes(NamedTuple):
    """Segmentations of notes, and the sentences of all notes with the numbers of their notes."""

    segmented: list[Segmentation]
    X: TokenSequences
    values: list[list[LabelledValue]]


def cut_notes(texts: Sequence[str], segmenter: Any = None, patients: Sequence[int] | None = None) -> CutNotes:
    """Normalise raw notes and split the notes into sentences of tokens.

    Parameters
    ----------
    texts : sequence of str
        Raw notes.
    segmenter : object with a method ``segment(text)``, optional
        Splits texts into tokens and sentences. None means `text.segment`.
    patients : sequence of int, optional
        Number of the patient of each text, for taggers with a memory of the PHI words of a patient.

    Returns
    -------
    CutNotes
        Sentences of each note, with offsets in the unchanged note. ``X`` contains the sentences of all notes.

    Examples
    --------
    >>> cut = cut_notes(["Seen today. No pain.", ""])
    >>> len(cut.X), cut.X.documents.tolist()
    (2, [0, 0])
    """
    split = NoteSegmenter(segmenter).segment
    segmented, values = [], []
    for text in texts:
        reading, cut = read_normalized(text, split)
        values.append(labelled_values(reading.text, cut.tokens))
        segmented.append(with_original_offsets(reading, cut))
    X = TokenSequences.from_rows(row for cut in segmented for row in cut.rows())
    counts = np.array([len(cut.sentences) for cut in segmented], dtype=np.int64)
    # Each sentence carries the number of its note, for taggers that read a sentence in its context.
    of = None if patients is None else np.repeat(np.asarray(patients, dtype=np.int64), counts)
    return CutNotes(segmented, X.with_documents(np.repeat(np.arange(len(texts)), counts), of), values)
