"""Tests whether words with a property are left unchanged too often: long words, rare words, words of one letter.

The sum over all words does not reveal a few unchanged words. Each test therefore counts the unchanged words of one
group, or the unchanged words below or above a value of an ordered property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.stats import binom


def word_properties(words: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return two mappings by the name of a property: the group number of each word, and the ordered value of each word.

    Examples
    --------
    >>> groups, ordered = word_properties(["Alder", "B7", "alder"])
    >>> ordered["length of the word"].tolist(), ordered["frequency of the word"].tolist()
    ([5, 2, 5], [2, 1, 2])
    """
    folded = [word.casefold() for word in words]
    counts = Counter(folded)
    lengths = np.array([len(word) for word in folded], dtype=np.int64)
    first = np.array([ord(word[0]) if word else 0 for word in folded], dtype=np.int64)
    digits = np.array(
        [any(map(str.isdigit, word)) + 2 * any(map(str.isalpha, word)) for word in folded], dtype=np.int64
    )
    groups = {"length of the word": lengths, "first letter": first, "letters and digits": digits}
    ordered = {
        "length of the word": lengths,
        "frequency of the word": np.array([counts[word] for word in folded], dtype=np.int64),
        "place in the release": np.arange(len(folded)),
    }
    return groups, ordered


def tails_of_parts(kept: np.ndarray, sizes: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Upper bound for each part of the words: probability of at least as many unchanged words as in the release, shape
    (n_parts,).

    Parameters
    ----------
    kept, sizes : ndarray of shape (n_parts,)
        Number of unchanged words, and number of all words.
    expected : ndarray of shape (n_parts, r)
        Sums of the probabilities to stay unchanged (r = 1), or numbers of unchanged words in each of r > 1 simulated
        releases.

    Notes
    -----
    Let S be a sum of independent Bernoulli variables, and B a binomial variable with the same number of trials and the
    same mean. For every k that is at least the mean plus 1, P(S >= k) is at most P(B >= k) (Hoeffding, 1956).

    Examples
    --------
    >>> tails_of_parts(np.array([9, 2]), np.array([10, 10]), np.array([[2.0], [2.0]])).round(6).tolist()
    [4e-06, 1.0]
    """
    if expected.shape[1] > 1:
        total = kept + expected.sum(axis=1)
        return np.asarray(binom.sf(kept - 1, total, 1.0 / (1 + expected.shape[1])))
    mean = expected[:, 0]
    tails = binom.sf(kept - 1, sizes, np.minimum(mean / np.maximum(sizes, 1), 1.0))
    return np.where(kept >= mean + 1.0, tails, 1.0)
