"""Randomised maps of PHI tokens: which tokens move, where to, and how likely."""

from .coherence import shared_draws, within_one_edit
from .noisy_mechanism import NoisyTokenMechanism, NoisyVectors, WordsTakenForVectors
from .phi_tokens import PhiTokens, find_phi_tokens, limit_per_sentence
from .policy import DIGITS, EXCLUDED, MOVE, RANDOM, SHAPE, UNKNOWN, WordPolicy, usable_words, words_to_exclude
from .release_space import ReleaseSpace
from .token_mechanism import ExactTokenMechanism, Replacements, TokenMechanism, random_of_shape
from .vector_moves import AddedNoise, RandomVectors, VectorMechanism, ZeroVectors, direction_log_density
from .word_moves import (
    DigitsApart,
    ExponentialNeighbors,
    ExponentialVocabulary,
    NoisyNearest,
    UniformNeighbors,
    WordMoves,
)

__all__ = [
    "DIGITS",
    "EXCLUDED",
    "MOVE",
    "RANDOM",
    "SHAPE",
    "UNKNOWN",
    "AddedNoise",
    "DigitsApart",
    "ExactTokenMechanism",
    "ExponentialNeighbors",
    "ExponentialVocabulary",
    "NoisyNearest",
    "NoisyTokenMechanism",
    "NoisyVectors",
    "PhiTokens",
    "RandomVectors",
    "ReleaseSpace",
    "Replacements",
    "TokenMechanism",
    "UniformNeighbors",
    "VectorMechanism",
    "WordMoves",
    "WordPolicy",
    "WordsTakenForVectors",
    "ZeroVectors",
    "direction_log_density",
    "find_phi_tokens",
    "limit_per_sentence",
    "random_of_shape",
    "shared_draws",
    "usable_words",
    "within_one_edit",
    "words_to_exclude",
]
