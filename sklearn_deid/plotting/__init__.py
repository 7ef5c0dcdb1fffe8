"""Displays: what was measured, drawn with matplotlib (extra ``plot``)."""

from .audit_display import AuditDisplay
from .noise_display import NoiseStudyDisplay
from .privacy_grid import PrivacyUtilityGridDisplay, PrivacyUtilityGridPoint
from .privacy_usefulness import PrivacyUsefulnessDisplay, PrivacyUsefulnessPoint
from .reliability_display import ReliabilityDisplay
from .shared_fraction import SharedFractionDisplay, SharedFractionPoint
from .training_curves import TrainingCurvesDisplay
from .workers_over_epochs import WorkersOverEpochsDisplay, WorkersOverEpochsPoint

__all__ = [
    "AuditDisplay",
    "NoiseStudyDisplay",
    "PrivacyUsefulnessDisplay",
    "PrivacyUsefulnessPoint",
    "PrivacyUtilityGridDisplay",
    "PrivacyUtilityGridPoint",
    "ReliabilityDisplay",
    "SharedFractionDisplay",
    "SharedFractionPoint",
    "TrainingCurvesDisplay",
    "WorkersOverEpochsDisplay",
    "WorkersOverEpochsPoint",
]
