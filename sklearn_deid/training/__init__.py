"""Which module learns from which loss, when: schedules, averaging, early stopping."""

from .callbacks import EarlyStoppingOnF1, LearningRateDecay, WeightAverage
from .pair_batches import PairBatch, PairBatches, PairData
from .splits import hold_out_patients

__all__ = [
    "EarlyStoppingOnF1",
    "LearningRateDecay",
    "PairBatch",
    "PairBatches",
    "PairData",
    "WeightAverage",
    "hold_out_patients",
]
