"""From a seed to a stream of notes, patient by patient."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import numpy as np

from ...surrogates import Chance, shift, years_between
from ...text import Document
from .kinds import KIND_RULES, KINDS_BY_NAME, write_kind
from .people import Hospital, Patient, make_hospital, make_patient
from .rules import CHILD_RULES, ELDER_RULES, SHARED_RULES
from .scene import Scene
from .stays import Stay, make_stay, plan_notes
from .untidy import make_untidy
from .words import WORDS

__all__ = ["write_notes"]

_RULES = {**SHARED_RULES, **KIND_RULES}
_RULES_FOR_CHILDREN = {**_RULES, **CHILD_RULES}
_RULES_FOR_ELDERS = {**_RULES, **ELDER_RULES}
_N_SHARED_HOSPITALS = 6
_N_DOCTORS = 8
_SHARE_IN_SHARED_HOSPITALS = 0.35


def write_notes(n_notes: int, n_patients: int, entropy: int) -> Iterator[Document]:
    """Write the notes of one corpus, one patient after the other, holding one patient in memory at a time.

    Every patient has an own stream of random numbers. A third of them are treated in hospitals that the corpus
    shares, with the same doctors; the others bring their own.
    """
    shared = [make_hospital(chance, _N_DOCTORS) for chance in _chances(entropy, 0, _N_SHARED_HOSPITALS)]
    written = 0
    for number, n_own in enumerate(_spread(n_notes, n_patients, entropy)):
        chance = Chance(np.random.SeedSequence(entropy, spawn_key=(2, number)))
        yield from _notes_of_patient(chance, shared, n_own, f"patient-{number + 1:04d}", written)
        written += n_own


def _chances(entropy: int, key: int, number: int) -> list[Chance]:
    return [Chance(np.random.SeedSequence(entropy, spawn_key=(key, i))) for i in range(number)]


def _spread(n_notes: int, n_patients: int, entropy: int) -> list[int]:
    """Notes for each patient: at least one, the others at random."""
    chance = Chance(np.random.SeedSequence(entropy, spawn_key=(1,)))
    counts = [1] * n_patients
    for _ in range(n_notes - n_patients):
        counts[chance.number(0, n_patients - 1)] += 1
    return counts


def _notes_of_patient(
    chance: Chance, shared: list[Hospital], n_notes: int, patient_id: str, written: int
) -> Iterator[Document]:
    local = chance.happens(_SHARE_IN_SHARED_HOSPITALS)
    hospital = chance.pick(shared) if local else make_hospital(chance, _N_DOCTORS)
    other = chance.pick(shared) if chance.happens(_SHARE_IN_SHARED_HOSPITALS) else make_hospital(chance, 2)
    patient = make_patient(chance, hospital)
    stays: list[Stay] = []
    earliest = patient.first_stay
    for i, (number, kind) in enumerate(plan_notes(chance, n_notes)):
        if number == len(stays):
            stays.append(make_stay(chance, patient, hospital, other, earliest))
            earliest = shift(stays[-1].discharged, chance.number(45, 700))
        stay = stays[number]
        scene = _make_scene(chance, patient, stay, stay.day_of(kind, chance))
        write_kind(scene, KINDS_BY_NAME[kind])
        make_untidy(scene.note, scene.style, chance)
        meta = {"kind": kind, "case": stay.case.name}
        yield scene.note.build(f"note-{written + i + 1:05d}", patient_id=patient_id, meta=meta)


def _make_scene(chance: Chance, patient: Patient, stay: Stay, day: date) -> Scene:
    age = years_between(patient.birth, day)
    rules = _RULES_FOR_CHILDREN if age < 18 else _RULES_FOR_ELDERS if age > 66 else _RULES
    return Scene(chance, patient, stay, day, WORDS, rules)
