"""Stays in hospital: patient, hospital, case, staff and dates of a stay, and the notes of each stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ...surrogates import Chance, identifiers, shift, years_between
from .case import STAY_FACTS, Case
from .grammar import Choice, Node, Number, Slot, compile_template
from .people import Clinician, Hospital, Patient

# Kinds of notes of a stay, in the order of writing. Stays are drawn until the patient has all notes.
_BUNDLES = (
    (("admission", "nursing", "discharge"), 3.0),
    (("admission", "radiology", "nursing", "discharge", "letter"), 3.0),
    (("admission", "discharge"), 2.0),
    (("radiology",), 1.0),
    (("radiology", "letter"), 1.0),
    (("letter",), 1.0),
    (("message",), 1.2),
    (("nursing", "discharge", "message"), 1.0),
    (("discharge",), 1.0),
    (("admission", "radiology"), 1.0),
)


@dataclass(frozen=True, slots=True)
class Stay:
    """Facts that all notes of one stay share."""

    case: Case
    hospital: Hospital
    other: Hospital
    admitted: date
    discharged: date
    attending: Clinician
    resident: Clinician
    surgeon: Clinician
    consultant: Clinician
    second_consultant: Clinician
    radiologist: Clinician
    nurse: Clinician
    room: str
    account: str
    specimen: str
    side: str
    facts: dict[str, str]
    accession: str

    def day_of(self, kind: str, chance: Chance) -> date:
        """The day on which a note of this kind is written."""
        if kind == "admission":
            return self.admitted
        if kind == "discharge":
            return self.discharged
        if kind in ("letter", "message"):
            return shift(self.discharged, chance.number(1, 40))
        return shift(self.admitted, chance.number(0, (self.discharged - self.admitted).days))


def make_stay(
    chance: Chance, patient: Patient, hospital: Hospital, other: Hospital, earliest: date, cases: Sequence[Case]
) -> Stay:
    """Draw a stay of ``patient`` with one of ``cases``. The stay begins after ``earliest``."""
    admitted = shift(earliest, chance.number(0, 40))
    age = years_between(patient.birth, admitted)
    fitting = [case for case in cases if case.fits(patient.person.sex, age)]
    case = chance.pick(fitting)
    side = chance.pick(("left", "right"))
    # Six different doctors of the hospital have the roles of a stay.
    doctors = chance.shuffled(hospital.doctors)
    return Stay(
        case=case,
        side=side,
        facts={name: _settle(chance.pick(case.phrases[name]), side, chance) for name in STAY_FACTS},
        hospital=hospital,
        other=other,
        admitted=admitted,
        discharged=shift(admitted, chance.number(1, 11)),
        attending=doctors[0],
        resident=doctors[1],
        surgeon=doctors[2],
        consultant=doctors[3],
        second_consultant=doctors[4],
        radiologist=doctors[5],
        nurse=chance.pick(hospital.nurses),
        room=identifiers.room(chance),
        account=identifiers.account(chance),
        specimen=identifiers.study_number(chance),
        accession=identifiers.study_number(chance),
    )


def other_side(side: str) -> str:
    """Return ``"right"`` for ``"left"``, and ``"left"`` for ``"right"``."""
    return "right" if side == "left" else "left"


def _side(slot: Slot, side: str) -> str:
    if slot.name not in ("side", "other.side"):
        raise ValueError(f"A fact of a stay holds no PHI, only sides. Got the slot {slot.name!r} instead.")
    word = side if slot.name == "side" else other_side(side)
    return word.capitalize() if slot.case == "capital" else word


def _settle(template: str, side: str, chance: Chance) -> str:
    """Replace the names in a template without PHI once, so that all notes of a stay contain the same text."""

    def write(nodes: tuple[Node, ...]) -> str:
        out = ""
        for node in nodes:
            if isinstance(node, str):
                out += node
            elif isinstance(node, Number):
                out += chance.decimal(node.low, node.high, node.places)
            elif isinstance(node, Choice):
                out += write(chance.pick(node.options))
            else:
                out += _side(node, side)
        return out

    return write(compile_template(template))


def plan_notes(chance: Chance, n_notes: int) -> list[tuple[int, str]]:
    """Assign the notes of a patient to stays and kinds.

    Returns
    -------
    list of (stay number, kind)
        ``n_notes`` pairs. Stay numbers never decrease, and notes of one stay have the same number.

    Examples
    --------
    >>> len(plan_notes(Chance(0), 5))
    5
    """
    plan: list[tuple[int, str]] = []
    stay = 0
    while len(plan) < n_notes:
        bundle = chance.weighted(_BUNDLES)
        missing = n_notes - len(plan)
        # Without this case a last single note would always have a kind with which stays begin.
        if missing == 1:
            bundle = (chance.pick(bundle),)
        # The last bundle may be cut, so that a patient has exactly the planned number of notes.
        plan.extend((stay, kind) for kind in bundle[:missing])
        stay += 1
    return plan
