"""Which module learns from which loss, when: schedules, averaging, early stopping."""

from .callbacks import EarlyStoppingOnF1, LearningRateDecay, WeightAverage
from .pair_batches import PairBatch, PairBatches, PairData
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups
from .splits import hold_out_patients

__all__ = [
    "BestState",
    "EarlyStoppingOnF1",
    "LearningRateDecay",
    "PairBatch",
    "PairBatches",
    "PairData",
    "PrivateModel",
    "TrainingLog",
    "WeightAverage",
    "deid_scores",
    "hold_out_patients",
    "noise_aware_groups",
]
