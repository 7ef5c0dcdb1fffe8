"""Which module learns from which loss, when: schedules, averaging, early stopping."""

from .adversarial_settings import ThreePartResult, ThreePartSettings
from .adversary_fit import AdversarySettings, fit_adversaries, measure_pairs, new_adversaries
from .adversary_steps import AdversaryOptimizer, RunningMeans, chance_deviation, frozen
from .bounded import BoundedResult, BoundedSettings, BoundPrices, calibrate_noise, train_bounded
from .certificate import PrivacyBound, pair_distances, pair_slack, privacy_bound
from .dann import train_dann
from .noise_figures import noise_figures
from .pair_adversaries import Judgement, PairAdversaries, ReleasedPairs, release_pairs, typical_norms
from .pair_batches import PairBatch, PairBatches
from .pair_data import PairData
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups
from .probe import CONTROL_BAR, AttackAccuracy, ProbeResult, pair_accuracy, positive_control, train_probe
from .tagger_finish import finish_tagger, rate_factor
from .three_part import train_three_part

__all__ = [
    "CONTROL_BAR",
    "AdversaryOptimizer",
    "AdversarySettings",
    "AttackAccuracy",
    "BestState",
    "BoundPrices",
    "BoundedResult",
    "BoundedSettings",
    "Judgement",
    "PairAdversaries",
    "PairBatch",
    "PairBatches",
    "PairData",
    "PrivacyBound",
    "PrivateModel",
    "ProbeResult",
    "ReleasedPairs",
    "RunningMeans",
    "ThreePartResult",
    "ThreePartSettings",
    "TrainingLog",
    "chance_deviation",
    "calibrate_noise",
    "deid_scores",
    "finish_tagger",
    "fit_adversaries",
    "frozen",
    "measure_pairs",
    "new_adversaries",
    "noise_aware_groups",
    "pair_distances",
    "pair_slack",
    "privacy_bound",
    "noise_figures",
    "pair_accuracy",
    "positive_control",
    "rate_factor",
    "release_pairs",
    "train_bounded",
    "train_dann",
    "train_probe",
    "train_three_part",
    "typical_norms",
]
