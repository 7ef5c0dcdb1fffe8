"""What inversion is measured by: ranks of the right words, and guesses by frequency that need no release."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

__all__ = ["TOP", "Ranks", "expected_hits", "frequency_hits"]

TOP = {"top1": 1, "top5": 5}


class Ranks(NamedTuple):
    """Words ranked before the right one, and as high, itself included; both of shape (n,)."""

    n_better: np.ndarray
    n_tied: np.ndarray


def expected_hits(ranks: Ranks, k: int) -> np.ndarray:
    """Probability that the right word is among the first k, ties broken at random.

    Parameters
    ----------
    ranks : Ranks
    k : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks.word_guesses import Ranks, expected_hits
    >>> expected_hits(Ranks(np.array([0, 0, 5]), np.array([1, 10, 1])), 5).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.clip((k - ranks.n_better) / ranks.n_tied, 0.0, 1.0)


def frequency_hits(
    known: np.ndarray, words: np.ndarray, k: int, known_keys: np.ndarray, keys: np.ndarray
) -> np.ndarray:
    """Whether a word is among the k most frequent of its key in the attacker's own text, shape (n,).

    Parameters
    ----------
    known, words : ndarray of int
        Words in his text, and those he is to guess.
    k : int
    known_keys, keys : ndarray of int
        What he sees of each without reading its vector (casing and label), or zeros. Where a key has fewer than k
        words, the most frequent of all fill up.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks.word_guesses import frequency_hits
    >>> known, key = np.array([7, 7, 3]), np.zeros(3, int)
    >>> frequency_hits(known, np.array([7, 3]), 1, key, key[:2]).tolist()
    [1.0, 0.0]
    """
    overall = [word for word, _ in Counter(known.tolist()).most_common()]
    hits = np.zeros(len(words))
    for key in np.unique(keys):
        own = [word for word, _ in Counter(known[known_keys == key].tolist()).most_common()]
        guesses = list(dict.fromkeys([*own, *overall]))[:k]
        here = keys == key
        hits[here] = np.isin(words[here], guesses)
    return hits
