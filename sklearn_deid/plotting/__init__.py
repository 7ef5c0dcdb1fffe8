"""Displays: what was measured, drawn with matplotlib (extra ``plot``)."""

from .adversary_over_neighbors import AdversaryOverNeighborsDisplay, AdversaryOverNeighborsPoint
from .audit_display import AuditDisplay
from .bound_trade_off import BoundTradeOffDisplay, BoundTradeOffPoint
from .noise_display import NoiseStudyDisplay
from .privacy_grid import PrivacyUtilityGridDisplay, PrivacyUtilityGridPoint
from .privacy_usefulness import PrivacyUsefulnessDisplay, PrivacyUsefulnessPoint
from .reliability_display import ReliabilityDisplay
from .shared_fraction import SharedFractionDisplay, SharedFractionPoint
from .training_curves import TrainingCurvesDisplay
from .workers_over_epochs import WorkersOverEpochsDisplay, WorkersOverEpochsPoint

__all__ = [
    "AdversaryOverNeighborsDisplay",
    "AdversaryOverNeighborsPoint",
    "AuditDisplay",
    "BoundTradeOffDisplay",
    "BoundTradeOffPoint",
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
