"""Randomised maps of PHI tokens, and the estimators that apply them.

Which tokens move, where to, and how likely: a mechanism knows its probabilities, so that what it gives away can be
computed.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "shared_draws": "coherence",
    "within_one_edit": "coherence",
    "CusTextPseudonymizer": "dp_pseudonymizers",
    "MadlibPseudonymizer": "dp_pseudonymizers",
    "SanTextPseudonymizer": "dp_pseudonymizers",
    "NeighborPseudonymizer": "neighbor_pseudonymizer",
    "NoisyTokenMechanism": "noisy_mechanism",
    "NoisyVectors": "noisy_mechanism",
    "WordsTakenForVectors": "noisy_mechanism",
    "PhiPerturber": "perturber",
    "TokenPerturber": "perturber",
    "PhiTokens": "phi_tokens",
    "find_phi_tokens": "phi_tokens",
    "limit_per_sentence": "phi_tokens",
    "DIGITS": "policy",
    "EXCLUDED": "policy",
    "MOVE": "policy",
    "RANDOM": "policy",
    "SHAPE": "policy",
    "UNKNOWN": "policy",
    "WordPolicy": "policy",
    "usable_words": "policy",
    "words_to_exclude": "policy",
    "ReleaseSpace": "release_space",
    "ExactTokenMechanism": "token_mechanism",
    "Replacements": "token_mechanism",
    "TokenMechanism": "token_mechanism",
    "random_of_shape": "token_mechanism",
    "AddedNoise": "vector_moves",
    "RandomVectors": "vector_moves",
    "VectorMechanism": "vector_moves",
    "ZeroVectors": "vector_moves",
    "direction_log_density": "vector_moves",
    "GaussianNoisePerturber": "vector_perturbers",
    "RandomVectorPerturber": "vector_perturbers",
    "VectorPerturber": "vector_perturbers",
    "ZeroVectorPerturber": "vector_perturbers",
    "DigitsApart": "word_moves",
    "ExponentialNeighbors": "word_moves",
    "ExponentialVocabulary": "word_moves",
    "NoisyNearest": "word_moves",
    "UniformNeighbors": "word_moves",
    "WordMoves": "word_moves",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
