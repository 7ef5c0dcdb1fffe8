"""Private representations: vectors of tokens that are shared instead of notes.

The representer and its estimator, the bound on all attacks, adversaries, both trainings, and shared files.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "ThreePartResult": "adversarial_run",
    "ThreePartSettings": "adversarial_run",
    "EmbeddingPairAdversary": "adversaries",
    "RepresentationPairAdversary": "adversaries",
    "average_adversaries": "adversaries",
    "AdversaryOptimizer": "adversary_training",
    "RunningMeans": "adversary_training",
    "chance_deviation": "adversary_training",
    "frozen": "adversary_training",
    "AdversarySettings": "adversary_training",
    "fit_adversaries": "adversary_training",
    "measure_pairs": "adversary_training",
    "new_adversaries": "adversary_training",
    "PrivacyBound": "bound",
    "pair_distances": "bound",
    "pair_slack": "bound",
    "privacy_bound": "bound",
    "DualVariables": "bounded",
    "BoundedResult": "bounded",
    "BoundedSettings": "bounded",
    "calibrate_noise": "bounded",
    "train_bounded": "bounded",
    "privacy_card": "card",
    "train_dann": "three_part",
    "attack_accuracy": "bound",
    "distance_of_accuracy": "bound",
    "pair_distance": "bound",
    "released_r_times": "bound",
    "sampling_slack": "bound",
    "Representer": "network",
    "GaussianNoise": "noise",
    "noise_figures": "private_model",
    "Judgement": "pair_adversaries",
    "PairAdversaries": "pair_adversaries",
    "ReleasedPairs": "pair_adversaries",
    "release_pairs": "pair_adversaries",
    "typical_norms": "pair_adversaries",
    "PairBatch": "pair_batches",
    "PairBatches": "pair_batches",
    "PairData": "pair_data",
    "pool_representations": "pooling",
    "BestState": "private_model",
    "PrivateModel": "private_model",
    "TrainingLog": "private_model",
    "deid_scores": "private_model",
    "noise_aware_groups": "private_model",
    "PrivateRepresenter": "private_representer",
    "Bounded": "strategies",
    "DANN": "strategies",
    "ThreePart": "strategies",
    "TrainableNoise": "strategies",
    "CONTROL_BAR": "probe",
    "ProbeResult": "probe",
    "pair_accuracy": "probe",
    "positive_control": "probe",
    "train_probe": "probe",
    "reverse_gradient": "three_part",
    "SharedRepresentation": "sharing",
    "load_representation": "sharing",
    "save_representation": "sharing",
    "StrongEmbeddingAdversary": "adversaries",
    "StrongRepresentationAdversary": "adversaries",
    "cosine_distance": "adversaries",
    "fine_tune_tagger": "bounded",
    "rate_factor": "bounded",
    "train_three_part": "three_part",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
