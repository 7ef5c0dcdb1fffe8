"""Clinical cases. All notes of one stay describe the same case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STAY_FACTS = ("complaint", "dx", "study", "impression")
"""Phrases of a case that are answered once for the whole stay, so that its notes agree. They hold no PHI."""

CASE_PHRASES = (
    "complaint",  # noun phrases: why the patient came
    "dx",  # the main diagnosis
    "also",  # what else is on the problem list or was excluded
    "story",  # sentences of the present illness, in any order
    "findings",  # sentences or lines of the physical examination
    "study",  # the imaging study, in several spellings
    "imaging",  # sentences of the report on the imaging study
    "impression",  # conclusion of the report
    "course",  # sentences of the hospital course
    "plan",  # items of assessment and plan
    "drugs",  # lines of a medication list
    "nursing",  # remarks of the nurses
    "advice",  # sentences for the patient to take home
    "clinic",  # where the follow-up takes place
)
"""Phrases that every case has; the kinds of notes ask for them."""

MODALITY_PHRASES = ("technique", "extra")
"""Phrases that every imaging modality has: how the study was made, and what else its report mentions."""


@dataclass(frozen=True, slots=True)
class Case:
    """One clinical picture as templates.

    Parameters
    ----------
    name : str
        Short name of the case. The ``Document.meta`` of a note holds the name of its case.
    phrases : mapping of str to tuple of str
        Templates in the language of ``grammar``: alternatives for every name in ``CASE_PHRASES`` and, for the modality
        of the imaging study, for every name in ``MODALITY_PHRASES``.
    sex : {"M", "F"} or None, default=None
        Sex of the patients who can have this case. None means both sexes.
    ages : tuple of int, default=(18, 110)
        Youngest and oldest age in years.
    """

    name: str
    phrases: Mapping[str, tuple[str, ...]]
    sex: str | None = None
    ages: tuple[int, int] = (18, 110)

    def fits(self, sex: str, age: int) -> bool:
        """Whether a patient of this sex and age can have this case."""
        return self.sex in (None, sex) and self.ages[0] <= age <= self.ages[1]
