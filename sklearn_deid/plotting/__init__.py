"""Displays: what was measured, drawn with matplotlib (extra ``plot``)."""

from .adversary_over_neighbors import AdversaryOverNeighborsDisplay, AdversaryOverNeighborsPoint
from .bound_trade_off import BoundTradeOffDisplay, BoundTradeOffPoint
from .noise_display import NoiseStudyDisplay
from .privacy_usefulness import PrivacyUsefulnessDisplay, PrivacyUsefulnessPoint
from .training_curves import TrainingCurvesDisplay

__all__ = [
    "AdversaryOverNeighborsDisplay",
    "AdversaryOverNeighborsPoint",
    "BoundTradeOffDisplay",
    "BoundTradeOffPoint",
    "NoiseStudyDisplay",
    "PrivacyUsefulnessDisplay",
    "PrivacyUsefulnessPoint",
    "TrainingCurvesDisplay",
]
