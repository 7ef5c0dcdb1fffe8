"""Generated notes with names, places and numbers of many origins and forms in the place of their own."""

from __future__ import annotations

import re

import numpy as np

from sklearn_deid import Document, make_clinical_notes
from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.surrogates import Chance

from .periods import with_periods
from .values import Scene, slot

_WORD = re.compile(r"[^\W\d_][\w'’-]+")
# Slot that gives a new value, and the probability that a span of the label receives one.
_NEW = {
    "CITY": ("city", 0.6), "HOSPITAL": ("hosp", 0.5), "STREET": ("street", 0.5), "ORGANIZATION": ("org", 0.5),
    "MEDICALRECORD": ("mrn", 0.5), "HEALTHPLAN": ("plan", 0.5), "IDNUM": ("id", 0.5), "PHONE": ("phone", 0.4),
    "FAX": ("fax", 0.4), "EMAIL": ("email", 0.5), "PROFESSION": ("prof", 0.5),
}  # fmt: skip
_RENAMED, _REDATED = 0.85, 0.35
_PERIODS = 0.3  # share of notes whose abbreviations have periods
_WHOLE_DATE = 6  # characters; a shorter one, such as a month, keeps its form


def make_notes(n: int, random_state: int) -> list[Document]:
    """Notes of `make_clinical_notes`, rewritten."""
    notes = make_clinical_notes(n, random_state=random_state)
    return [rewrite(note, Chance(np.random.SeedSequence(random_state, spawn_key=(i,)))) for i, note in enumerate(notes)]


def rewrite(note: Document, chance: Chance) -> Document:
    """Draw new PHI for most spans of one note; the rest of the note stays."""
    builder, position = NoteBuilder(), 0
    scene = Scene(chance)
    for span in note.spans:
        builder.text(note.text[position : span.start])
        builder.phi(_rewritten(note.text[span.start : span.end], span.label, scene), span.label)
        position = span.end
    builder.text(note.text[position:])
    rewritten = builder.build(note.doc_id, patient_id=str(note.patient_id), meta=dict(note.meta))
    return with_periods(rewritten, chance) if chance.happens(_PERIODS) else rewritten


def _rewritten(text: str, label: str, scene: Scene) -> str:
    chance = scene.chance
    if label in ("PATIENT", "DOCTOR"):
        return _WORD.sub(lambda m: _renamed(m[0], scene), text) if chance.happens(_RENAMED) else text
    if label == "DATE" and len(text) > _WHOLE_DATE and text[-1].isdigit() and chance.happens(_REDATED):
        return slot("date.full", scene)[0][0]
    name, share = _NEW.get(label, ("", 0.0))
    if not chance.happens(share):
        return text
    made = slot(name, scene)[0][0]
    return made.upper() if text.isupper() and len(text) > 4 else made


def _renamed(word: str, scene: Scene) -> str:
    if len(word) < 3:
        return word
    name = scene.name(scene.chance.number(0, 1))
    return name.upper() if word.isupper() else name.lower() if word.islower() else name
