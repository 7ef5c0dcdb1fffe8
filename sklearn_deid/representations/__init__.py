"""Private representations: vectors of tokens that are shared instead of notes.

This package has the representer and its estimator, the bound on all attacks, the adversaries, the trainings, and the
shared files.

Names are resolved on first use (PEP 562): Python loads a file of the package when you first use a name from this file.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "adversarial_run": "ThreePartResult ThreePartSettings",
        "adversaries": (
            "EmbeddingPairAdversary RepresentationPairAdversary StrongEmbeddingAdversary "
            "StrongRepresentationAdversary average_adversaries cosine_distance"
        ),
        "adversary_training": (
            "AdversaryOptimizer AdversarySettings RunningMeans chance_deviation fit_adversaries frozen "
            "measure_pairs new_adversaries"
        ),
        "bound": (
            "PrivacyBound attack_accuracy distance_of_accuracy pair_distance pair_distances pair_slack "
            "privacy_bound released_r_times sampling_slack"
        ),
        "bounded": "BoundedResult calibrate_noise fine_tune_tagger rate_factor train_bounded",
        "bounded_settings": "BoundedSettings",
        "card": "privacy_card",
        "casing_disclosure": "CasingDisclosure casing_alone",
        "certificate": "Certificate disclosure_of",
        "dual_variables": "DualVariables",
        "patient_dual_variables": "PatientDualVariables",
        "class_privacy": "ClassPrivacy",
        "confidence_limits": "mean_limit share_limit",
        "three_part": "reverse_gradient train_dann train_three_part",
        "network": "Representer",
        "noise": "GaussianNoise",
        "private_model": "BestState PrivateModel TrainingLog deid_scores noise_aware_groups noise_figures",
        "pair_adversaries": "Judgement PairAdversaries ReleasedPairs release_pairs typical_norms",
        "pair_batches": "PairBatch PairBatches",
        "pair_data": "PairData",
        "part_bound": "PartBound",
        "phi_coverage": "PhiCoverage",
        "pooling": "pool_representations",
        "private_representer": "PrivateRepresenter",
        "recipients": "recipient_scores",
        "strategies": "Bounded DANN ThreePart TrainableNoise",
        "randomized_casing": "RandomizedCasing accuracy_with_casing respond response_probabilities",
        "twin_distances": "TwinDistances",
        "worst_neighbor": "WorstNeighbors worst_neighbors",
        "probe": "CONTROL_BAR ProbeResult pair_accuracy positive_control train_probe",
        "word_class_representer": "WordClassRepresenter",
        "sharing": "SharedRepresentation load_representation save_representation",
    },
)
