"""Data of an inversion attack: released sentences with the original words, and the attacker's knowledge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch


@dataclass(frozen=True, repr=False)
class ReleasedTokens:
    """Released sentences with the original words.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns.
    offsets : ndarray of shape (n_sentences + 1,)
        Position of the first token of each sentence, and the number of tokens at the end.
    words : ndarray of shape (n_tokens,)
        Row of each word in the table of word vectors.
    phi : ndarray of bool, shape (n_tokens,)
        Whether each token is PHI.
    casing, labels : ndarray of int, shape (n_tokens,), or None
        Casing class (0 to 6) and tag of each token, which are released without noise.
    groups : ndarray of shape (n_sentences,) or None
        Patient of each sentence. If None, each sentence counts as a separate patient.
    context_vectors : ndarray of shape (n_tokens, d) or None
        Vectors of the same sentences with masked PHI words. If None, the vectors at PHI tokens are set to zero, and the
        vectors of neighbouring tokens may still depend on the PHI.
    """

    vectors: np.ndarray
    offsets: np.ndarray
    words: np.ndarray
    phi: np.ndarray
    casing: np.ndarray | None = None
    labels: np.ndarray | None = None
    groups: np.ndarray | None = None
    context_vectors: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = len(self.words)
        parts = (self.vectors, self.phi, self.casing, self.labels, self.context_vectors)
        if any(part is not None and len(part) != n for part in parts) or self.offsets[-1] != n:
            raise ValueError(f"Every array must have one row for each of the {n} tokens.")


@dataclass(frozen=True, repr=False)
class InversionKnowledge:
    """Public word vectors, and the attackers' own text, encoded with the public network.

    Attributes
    ----------
    table : ndarray of shape (n_words, e)
        Word vectors. Words without a vector (zeros) cannot be recovered, and are not measured.
    train, valid : ReleasedTokens
        The attackers' own sentences, for training and for the choice of the epoch.
    vocabulary : ndarray of int or None
        Rows of the table among which the attackers search; None means all rows. PHI words outside the vocabulary are
        not measured.
    device : torch.device or str, default="cpu"
        Device of the computation.
    """

    table: np.ndarray
    train: ReleasedTokens
    valid: ReleasedTokens
    vocabulary: np.ndarray | None = None
    device: torch.device | str = "cpu"


def surroundings(data: ReleasedTokens) -> ReleasedTokens:
    """Return the same sentences without the vectors of PHI tokens."""
    if data.context_vectors is not None:
        return replace(data, vectors=data.context_vectors)
    # Fallback without masked vectors: the neighbouring vectors may still depend on the PHI.
    return replace(data, vectors=np.where(np.asarray(data.phi, dtype=bool)[:, None], 0.0, data.vectors))


def equal_rows(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of each distinct vector, and the number of the distinct vector of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks.released_tokens import equal_rows
    >>> [found.tolist() for found in equal_rows(np.array([[0.0, 1.0], [-0.0, 1.0]]))]
    [[0], [0, 0]]
    """
    # Whole rows are compared as bytes. Adding 0 turns -0.0 into 0.0, which has other bytes.
    rows = np.ascontiguousarray(vectors + vectors.dtype.type(0))
    rows = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


TOP = {"top1": 1, "top5": 5}


class Ranks(NamedTuple):
    """For each token, number of words ranked above the right word, and number of tied words (the right word included),
    shape (n,)."""

    n_better: np.ndarray
    n_tied: np.ndarray


def expected_hits(ranks: Ranks, k: int) -> np.ndarray:
    """Probability that the right word is among the first k, if ties are broken at random.

    Parameters
    ----------
    ranks : Ranks
        Ranks of the right words.
    k : int
        Number of guesses.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks.released_tokens import Ranks, expected_hits
    >>> expected_hits(Ranks(np.array([0, 0, 5]), np.array([1, 10, 1])), 5).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.clip((k - ranks.n_better) / ranks.n_tied, 0.0, 1.0)


def frequency_hits(
    known: np.ndarray, words: np.ndarray, k: int, known_keys: np.ndarray, keys: np.ndarray
) -> np.ndarray:
    """Whether a word is among the k most frequent words with the same key in the attacker's own text, shape (n,).

    Parameters
    ----------
    known, words : ndarray of int
        Words in the attacker's text, and the words to guess.
    k : int
        Number of guesses.
    known_keys, keys : ndarray of int
        Number for the visible properties (casing and label) of each word, or zeros. If a key has fewer than k words,
        the list is completed by the most frequent words of all keys.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks.released_tokens import frequency_hits
    >>> known, key = np.array([7, 7, 3]), np.zeros(3, int)
    >>> frequency_hits(known, np.array([7, 3]), 1, key, key[:2]).tolist()
    [1.0, 0.0]
    """
    overall = [word for word, _ in Counter(known.tolist()).most_common()]
    hits = np.zeros(len(words))
    for key in np.unique(keys):
        own = [word for word, _ in Counter(known[known_keys == key].tolist()).most_common()]
        # The attacker uses each word once: first the words of this key, then the words of all keys.
        guesses = list(dict.fromkeys([*own, *overall]))[:k]
        here = keys == key
        hits[here] = np.isin(words[here], guesses)
    return hits
