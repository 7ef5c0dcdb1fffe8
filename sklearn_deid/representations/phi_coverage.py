"""PHI tokens that a bound covers, and the reasons why other PHI tokens are not covered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..pseudonyms.phi_tokens import find_phi_tokens
from ..pseudonyms.policy import DIGITS, MOVE
from ..sequences import TokenSequences


@dataclass(frozen=True)
class PhiCoverage:
    """Number of PHI tokens that a bound covers, and number of the other PHI tokens by reason. Each token counts once.

    A bound covers replacements of a token by one of its N nearest words. The bound does not cover tokens that cannot be
    replaced.

    Attributes
    ----------
    n_phi_tokens : int
        Number of annotated PHI tokens.
    n_covered : int
        Tokens that can be replaced.
    n_label_not_protected : int
        Tokens of labels that are not in the ``labels`` of the representer.
    n_punctuation, n_stop_words : int
        Tokens without a letter or a digit, and lower-case words in ``exclude`` (not protected).
    n_numbers_without_vector, n_words_without_vector : int
        All-digit tokens and other tokens that have no word vector.
    n_without_neighbor : int
        Tokens whose only allowed neighbour is their own word.

    Examples
    --------
    >>> from sklearn_deid.representations import PhiCoverage
    >>> PhiCoverage(100, 66, 0, 9, 14, 5, 6, 0)
    PhiCoverage(34.0 % of 100 PHI tokens not covered: 9 punctuation, 14 stop words, 5 numbers without vector, 6 words \
without vector)
    """

    n_phi_tokens: int
    n_covered: int
    n_label_not_protected: int
    n_punctuation: int
    n_stop_words: int
    n_numbers_without_vector: int
    n_words_without_vector: int
    n_without_neighbor: int

    @property
    def share_not_covered(self) -> float:
        """Share of the PHI tokens that the bound does not cover; 0 without PHI."""
        return 1.0 - self.n_covered / self.n_phi_tokens if self.n_phi_tokens else 0.0

    def reasons(self) -> dict[str, int]:
        """Return the number of tokens that are not covered for each reason that occurs."""
        named = {name[2:].replace("_", " "): n for name, n in asdict(self).items()}
        return {name: n for name, n in named.items() if n and name not in ("phi tokens", "covered")}

    def to_dict(self) -> dict[str, int]:
        """Return plain numbers, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PhiCoverage:
        """Make the object from the numbers that `to_dict` returned."""
        return cls(**plain)

    def __repr__(self) -> str:
        reasons = ", ".join(f"{n} {name}" for name, n in self.reasons().items())
        share = f"{100 * self.share_not_covered:.1f} % of {self.n_phi_tokens} PHI tokens not covered"
        return f"{type(self).__name__}({share}{': ' + reasons if reasons else ''})"


def phi_coverage(
    X: TokenSequences, tags: TokenSequences, mechanism: Any, labels: Collection[str] | None = None
) -> PhiCoverage:
    """Count the PHI tokens that can be replaced, and the other PHI tokens by reason.

    Parameters
    ----------
    X, tags : TokenSequences
        Sentences and their tags.
    mechanism : ExactTokenMechanism
        Mechanism of a fitted `NeighborPseudonymizer`, which determines the words to replace and their neighbours.
    labels : collection of str, optional
        PHI categories to replace; all by default.
    """
    every, protected = find_phi_tokens(X, tags), find_phi_tokens(X, tags, labels)
    policy, words = mechanism.policy, protected.words
    actions, rows = policy.actions(words)
    reason = np.full(len(words), "n_covered", dtype=object)
    moves = np.isin(actions, (MOVE, DIGITS)) & (rows >= 0)
    support = mechanism.moves.support(rows[moves])[0]
    # A word may be among its own neighbours; the first column alone is not enough, so all columns are compared.
    alone = ((support < 0) | (support == rows[moves][:, None])).all(axis=1)
    reason[np.flatnonzero(moves)[alone]] = "n_without_neighbor"
    for i in np.flatnonzero(~moves).tolist():
        reason[i] = _reason(words[i], policy.exclude)
    counts = {name: 0 for name in PhiCoverage.__dataclass_fields__}
    names, numbers = np.unique(reason[protected.word_ids].astype(str), return_counts=True)
    counts |= dict(zip(names.tolist(), numbers.tolist(), strict=True))
    counts["n_phi_tokens"], counts["n_label_not_protected"] = len(every), len(every) - len(protected)
    return PhiCoverage(**counts)


def _reason(word: str, exclude: Collection[str]) -> str:
    """Return the field that counts a word that is not replaced."""
    if not any(map(str.isalnum, word)):
        return "n_punctuation"
    if word in exclude:
        return "n_stop_words"
    return "n_numbers_without_vector" if word.isdigit() else "n_words_without_vector"
