"""Private representations: vectors of tokens that are shared instead of notes.

The representer and its estimator, the bound on all attacks, adversaries, both trainings, and shared files.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "ThreePartResult": "adversarial_settings",
    "ThreePartSettings": "adversarial_settings",
    "EmbeddingPairAdversary": "adversaries",
    "RepresentationPairAdversary": "adversaries",
    "average_adversaries": "adversaries",
    "AdversaryOptimizer": "adversary_steps",
    "RunningMeans": "adversary_steps",
    "chance_deviation": "adversary_steps",
    "frozen": "adversary_steps",
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
    "train_dann": "dann",
    "attack_accuracy": "gaussian_bound",
    "distance_of_accuracy": "gaussian_bound",
    "pair_distance": "gaussian_bound",
    "released_r_times": "gaussian_bound",
    "sampling_slack": "gaussian_bound",
    "Representer": "network",
    "GaussianNoise": "noise",
    "noise_figures": "noise_metrics",
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
    "CONTROL_BAR": "probe",
    "ProbeResult": "probe",
    "pair_accuracy": "probe",
    "positive_control": "probe",
    "train_probe": "probe",
    "reverse_gradient": "reversal",
    "SharedRepresentation": "shared",
    "load_representation": "sharing",
    "save_representation": "sharing",
    "StrongEmbeddingAdversary": "strong_adversaries",
    "StrongRepresentationAdversary": "strong_adversaries",
    "cosine_distance": "strong_adversaries",
    "fine_tune_tagger": "fine_tuning",
    "rate_factor": "fine_tuning",
    "train_three_part": "three_part",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
