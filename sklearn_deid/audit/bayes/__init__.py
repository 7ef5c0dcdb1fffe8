"""Probability that the best attacker, who knows the mechanism, re-identifies a pseudonym: exact or estimated."""

from .bayes_reidentification import CategoryReidentification, Reidentification, bayes_reidentification

__all__ = [
    "CategoryReidentification",
    "Reidentification",
    "bayes_reidentification",
]
