"""Tensors in, tensors out.

Batches and masks, word and sentence encoders, CRF head, augmentation of arrays; for private representations noise,
representer, adversaries, gradient reversal and the bound on attacks.
"""

from .adversaries import EmbeddingPairAdversary, RepresentationPairAdversary, average_adversaries
from .noise import GaussianNoise
from .privacy_bound import attack_accuracy, distance_of_accuracy, pair_distance, released_r_times, sampling_slack
from .representer import Representer
from .reversal import reverse_gradient
from .strong_adversaries import StrongEmbeddingAdversary, StrongRepresentationAdversary, cosine_distance

__all__ = [
    "EmbeddingPairAdversary",
    "GaussianNoise",
    "RepresentationPairAdversary",
    "Representer",
    "StrongEmbeddingAdversary",
    "StrongRepresentationAdversary",
    "attack_accuracy",
    "average_adversaries",
    "cosine_distance",
    "distance_of_accuracy",
    "pair_distance",
    "released_r_times",
    "sampling_slack",
    "reverse_gradient",
]
