"""Knowledge that an attacker gains from public word classes: exact probabilities, since no noise is added."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ClassPrivacy:
    """Exact privacy of the PHI tokens of some notes that were released as word classes.

    Attributes
    ----------
    class_size : int
        k, number of words of the smallest class. If two words of a class are written in the same casing class, the
        release of a sentence is equal for the two words. No attacker can then distinguish the two words. The
        indistinguishability holds for any number of tokens, releases and attackers.
    n_tokens : int
        Number of PHI tokens.
    share_without_vector : float
        Share of the PHI tokens that have no vector, or whose word can be written in a combination of casing classes
        that fewer than k words share. All these words form one class, which has no smallest size.
    mean_class_size : float
        Mean size of the class of a PHI token with a vector.
    top_accuracy : float
        Probability that the best attacker guesses the word of a PHI token with a vector: the mean of 1 / size. Before
        the release, all words of a class are assumed to be equally likely. An attacker who knows more about the
        patients is right more often: with the largest probability of a word within the class.
    n_neighbors : int
        Number of nearest words N that are paired with each PHI token.
    pair_accuracy : float
        Accuracy of the best attacker on pairs of a PHI token and one of its N nearest words: 1/2 if both words are in
        one class, 1 otherwise. The value is the mean over all pairs of a PHI token and one of its N nearest words;
        compare `PrivateRepresenter.certify`.

    Examples
    --------
    >>> from sklearn_deid.representations import ClassPrivacy
    >>> ClassPrivacy(100, 40, 0.1, 140.0, 0.008, 100, 0.9).to_dict()["class_size"]
    100
    """

    class_size: int
    n_tokens: int
    share_without_vector: float
    mean_class_size: float
    top_accuracy: float
    n_neighbors: int
    pair_accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as plain values."""
        return asdict(self)
