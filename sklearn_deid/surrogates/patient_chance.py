"""Source of all draws for one patient."""

from __future__ import annotations

from .keyed_chance import KeyedChance


class PatientChance:
    """Random draws for one patient under one secret key.

    Parameters
    ----------
    key : bytes
        Secret key.
    patient : str
        Id of the patient.
    copy : int, default=0
        Number of the copy. Copies of the same notes have different surrogates, except for the draws of `of_all_copies`.

    Examples
    --------
    >>> chance = PatientChance(bytes(32), "p1")
    >>> chance.of("town", "boston").number(0, 99) == chance.of("town", "boston").number(0, 99)
    True
    """

    def __init__(self, key: bytes, patient: str, copy: int = 0) -> None:
        self._key, self._patient, self._copy = key, patient, str(copy)
        # Above 0, `of` has other draws for places and institutions, because the earlier draws did not fit.
        self.attempt = 0

    def __repr__(self) -> str:  # neither the key nor the patient
        return "PatientChance()"

    def again(self, kind: str, *entity: str) -> KeyedChance:
        """Draws for an entity as in `of`, but different for each attempt."""
        return self.of(kind, *entity, *((f"attempt {self.attempt}",) if self.attempt else ()))

    def of(self, kind: str, *entity: str) -> KeyedChance:
        """Draws for an entity of the patient, such as a town; equal entities have equal draws."""
        return KeyedChance(self._key, self._patient, self._copy, kind, *entity)

    def of_all_copies(self, kind: str, *entity: str) -> KeyedChance:
        """Draws that are equal in all copies.

        Shifts of dates and ages are drawn here: each further shift would exclude possible originals.
        """
        return KeyedChance(self._key, self._patient, "0", kind, *entity)
