"""Which module learns from which loss, when: schedules, averaging, early stopping."""

from .adversary_fit import AdversarySettings, fit_adversaries, measure_pairs, new_adversaries
from .adversary_steps import AdversaryOptimizer, RunningMeans, chance_deviation, frozen
from .callbacks import EarlyStoppingOnF1, LearningRateDecay, WeightAverage
from .pair_adversaries import Judgement, PairAdversaries, ReleasedPairs, release_pairs, typical_norms
from .pair_batches import PairBatch, PairBatches, PairData
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups
from .probe import CONTROL_BAR, AttackAccuracy, ProbeResult, pair_accuracy, positive_control, train_probe
from .random_streams import own_torch_stream
from .splits import hold_out_patients

__all__ = [
    "CONTROL_BAR",
    "AdversaryOptimizer",
    "AdversarySettings",
    "AttackAccuracy",
    "BestState",
    "EarlyStoppingOnF1",
    "Judgement",
    "LearningRateDecay",
    "PairAdversaries",
    "PairBatch",
    "PairBatches",
    "PairData",
    "PrivateModel",
    "ProbeResult",
    "ReleasedPairs",
    "RunningMeans",
    "TrainingLog",
    "WeightAverage",
    "chance_deviation",
    "deid_scores",
    "fit_adversaries",
    "frozen",
    "hold_out_patients",
    "measure_pairs",
    "new_adversaries",
    "noise_aware_groups",
    "own_torch_stream",
    "pair_accuracy",
    "positive_control",
    "release_pairs",
    "train_probe",
    "typical_norms",
]
