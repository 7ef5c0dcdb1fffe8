"""Randomised maps of PHI tokens to surrogates, and the estimators that apply them.

A mechanism determines which tokens are replaced, by which words, and with which probability. The probabilities are
known or bounded, so that an audit can compute or bound the information that a release reveals.

Names are resolved on first use (PEP 562): Python loads a file of the package when you first use a name from this file.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "coherence": "shared_draws within_one_edit",
        "dp_pseudonymizers": "CusTextPseudonymizer MadlibPseudonymizer SanTextPseudonymizer",
        "neighbor_pseudonymizer": "NeighborPseudonymizer",
        "noisy_mechanism": "NoisyTokenMechanism NoisyVectors WordsTakenForVectors",
        "perturber": "PhiPerturber TokenPerturber",
        "phi_tokens": "PhiTokens find_phi_tokens limit_per_sentence",
        "policy": "DIGITS EXCLUDED MOVE RANDOM SHAPE UNKNOWN WordPolicy digit_words usable_words words_to_exclude",
        "release_space": "ReleaseSpace",
        "surrogate_card": "surrogate_card",
        "surrogate_pseudonymizer": "SurrogatePseudonymizer",
        "token_mechanism": "ExactTokenMechanism Replacements TokenMechanism random_of_shape",
        "vector_moves": "AddedNoise RandomVectors VectorMechanism ZeroVectors direction_log_density",
        "vector_perturbers": "GaussianNoisePerturber RandomVectorPerturber VectorPerturber ZeroVectorPerturber",
        "word_moves": "DigitsApart ExponentialNeighbors ExponentialVocabulary NoisyNearest UniformNeighbors WordMoves",
    },
)
