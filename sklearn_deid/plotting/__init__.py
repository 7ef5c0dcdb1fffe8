"""Displays: figures of measured results, drawn with matplotlib (extra ``plot``)."""

from .audit_display import AuditDisplay
from .noise_display import NoiseStudyDisplay
from .privacy_grid import PrivacyUtilityGridDisplay, PrivacyUtilityGridPoint
from .reliability_display import ReliabilityDisplay
from .trade_off import TradeOffDisplay, TradeOffPoint
from .training_curves import TrainingCurvesDisplay

__all__ = [
    "AuditDisplay",
    "NoiseStudyDisplay",
    "PrivacyUtilityGridDisplay",
    "PrivacyUtilityGridPoint",
    "ReliabilityDisplay",
    "TradeOffDisplay",
    "TradeOffPoint",
    "TrainingCurvesDisplay",
]
