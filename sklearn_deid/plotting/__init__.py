"""Displays: what was measured, drawn with matplotlib (extra ``plot``)."""

from .noise_display import NoiseStudyDisplay
from .privacy_usefulness import PrivacyUsefulnessDisplay, PrivacyUsefulnessPoint

__all__ = ["NoiseStudyDisplay", "PrivacyUsefulnessDisplay", "PrivacyUsefulnessPoint"]
