"""Re-identification of pseudonyms by an attacker who knows the mechanism: exact, or estimated."""

from .bayes_reidentification import CategoryReidentification, Reidentification, bayes_reidentification

__all__ = [
    "CategoryReidentification",
    "Reidentification",
    "bayes_reidentification",
]
