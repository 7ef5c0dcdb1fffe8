"""The doors: scikit-learn estimators with parameters, validation and wiring."""

from ._tagger_state import tagger_from_state, tagger_to_state
from .note_deidentifier import NoteDeidentifier
from .tagger import DeidTagger

__all__ = ["DeidTagger", "NoteDeidentifier", "tagger_from_state", "tagger_to_state"]
