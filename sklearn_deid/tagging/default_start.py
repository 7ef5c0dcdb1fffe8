"""Settings of the default tagger of a `NoteDeidentifier`, depending on the amount of training notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._storage import read_manifest
from ..surrogates.guessed_locale import guess_locale
from ..text import Document
from .note_likeness import Measured, NoteLikeness, measure
from .note_sentences import NormalizedSegmenter
from .shipped_models import STARTERS, starter_folder
from .strategies import ContextBlock

#: Largest number of characters of training notes for which a start from "starter-en" was measured to help.
FEW_CHARACTERS = 300_000
# Largest deviation of the letters of all notes together. English corpora have at most 0.6, German letters 19, French
# and Spanish letters 34 and more. A single note may deviate more, because a note is short.
_MOST_UNLIKE = 3.0


def default_settings(notes: Sequence[Document]) -> dict[str, Any]:
    """Parameters of a `DeidTagger` for notes: blocks of sentences, and a start from a model or random borders of the
    blocks.

    With few notes in a language of `sklearn_deid.surrogates.LOCALES`, the tagger starts from "starter-en". With many
    notes, each epoch divides the notes into other blocks.

    Parameters
    ----------
    notes : sequence of Document
        Annotated notes.

    Examples
    --------
    >>> default_settings([Document("n1", "Thank you for the referral. The patient has pain in the hip.")])
    {'context': 'block', 'warm_start_from': 'starter-en'}
    >>> default_settings([Document("n2", "Dziękujemy za skierowanie. Pacjent ma ból biodra.")])
    {'context': 'block'}
    >>> default_settings([Document("n3", "The patient has pain in the hip. " * 10_000)])
    {'context': ContextBlock(random_borders=True)}
    """
    settings: dict[str, Any] = {"context": "block"}
    starter, language = next(iter(STARTERS.items()))
    n_characters = sum(len(note.text) for note in notes)
    if n_characters > FEW_CHARACTERS:
        # 192 instead of 128 units with fixed borders find 0.1 to 0.2 points of F1 more, and take 1.5 times as long.
        # With fewer notes, random borders were not measured.
        settings["context"] = ContextBlock(random_borders=True)
    elif n_characters:
        # Only the statistics of its training notes: loading the whole model takes a second.
        likeness = NoteLikeness.from_state(read_manifest(starter_folder(starter))["state"]["likeness"])
        shown = " ".join(note.text for note in notes)[:FEW_CHARACTERS]
        if guess_locale(shown, default="") not in ("", language) or _are_in_language_of(likeness, notes):
            settings["warm_start_from"] = starter
    return settings


def _are_in_language_of(likeness: NoteLikeness, notes: Sequence[Document]) -> bool:
    """Whether the letters of all notes together resemble the letters of the training notes of a model."""
    segment = NormalizedSegmenter(None).segment
    each = [measure(segment(note.text), 0) for note in notes]
    together = Measured(*(np.sum([getattr(m, name) for m in each], axis=0) for name in ("sums", "units", "pairs")))
    return likeness.score(together)[0] <= _MOST_UNLIKE
