"""Which module learns from which loss, when: schedules, averaging, early stopping."""

from .callbacks import EarlyStoppingOnF1, LearningRateDecay, WeightAverage
from .splits import hold_out_patients

__all__ = ["EarlyStoppingOnF1", "LearningRateDecay", "WeightAverage", "hold_out_patients"]
