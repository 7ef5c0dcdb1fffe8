"""Test whether the casing classes of a release were drawn by the stated randomised response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from ...representations.randomized_casing import response_probabilities
from ...text import CASING_CLASSES
from .noise_checks import Check

CASING_LEVEL = 1e-4  # probability of a false alarm of all tests together


@dataclass(frozen=True, repr=False)
class DrawnCasing:
    """Casing classes of the distinct sentences of a release, in the notes and in the release.

    Attributes
    ----------
    written, released : ndarray of int, shape (n_tokens,)
        Casing classes.
    words : ndarray of int, shape (n_tokens,)
        Number of each token; equal tokens have equal numbers.
    epsilon : float
        Stated privacy loss of one token.
    """

    written: np.ndarray
    released: np.ndarray
    words: np.ndarray
    epsilon: float


def drawn_casing_checks(drawn: DrawnCasing) -> Iterator[Check]:
    """Yield exact tests of two kinds: frequency of each released class given the class in the notes, and frequency of
    equal released classes in pairs of equal tokens.

    Examples
    --------
    >>> import numpy as np
    >>> written, words = np.repeat([3, 5], 300), np.arange(600) % 60
    >>> min(check.p for check in drawn_casing_checks(DrawnCasing(written, written, words, 2.0))) < 1e-30
    True
    """
    n = len(CASING_CLASSES)
    keep, other = response_probabilities(drawn.epsilon, n)
    counts = np.zeros((n, n), dtype=np.int64)
    np.add.at(counts, (drawn.written, drawn.released), 1)
    fault = "The casing classes were not drawn with the stated privacy loss (epsilon)."
    for row, column in np.ndindex(n, n):
        total = int(counts[row].sum())
        if total:
            p = binomtest(int(counts[row, column]), total, keep if row == column else other).pvalue
            yield Check("casing classes", float(p), fault)
    order = np.argsort(drawn.words, kind="stable")
    words, released = drawn.words[order], drawn.released[order]
    # Pairs without a common token are independent: the first and second token of a word, the third and fourth, ...
    place = np.arange(len(words)) - np.searchsorted(words, words)
    first = np.flatnonzero((place[:-1] % 2 == 0) & (words[1:] == words[:-1]))
    if len(first):
        same = int((released[first] == released[first + 1]).sum())
        p = binomtest(same, len(first), keep**2 + (n - 1) * other**2).pvalue
        yield Check(
            "casing of words", float(p), "Equal tokens do not have casing classes that were drawn independently."
        )
