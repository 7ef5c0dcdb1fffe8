"""Comparison of released words with the audit's own draws: numbers of words that have a property only in the release,
or only in the draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from unicodedata import normalize

import numpy as np
from scipy.stats import binom


def folded_words(words: Iterable[Any]) -> np.ndarray:
    """Words without their casing, as an array of objects. Compatible Unicode forms of a character become equal."""
    return np.array([normalize("NFKC", str(word)).casefold() for word in words], dtype=object)


def alike(originals: np.ndarray, words: np.ndarray, of: Callable[[str], Any]) -> np.ndarray:
    """Whether each folded word has a property of its original."""
    return np.array([of(own) == of(word) for own, word in zip(originals, words, strict=True)], dtype=bool)


def counted(ours: np.ndarray, theirs: np.ndarray) -> tuple[int, int]:
    """Numbers of words that have a property only in the release, and only in the audit's own draw."""
    return int((ours & ~theirs).sum()), int((theirs & ~ours).sum())


def p_of_counts(ours: int, theirs: int, *, two_sided: bool = False) -> float:
    """Probability of at least ``ours`` heads in ``ours + theirs`` tosses of a fair coin.

    Examples
    --------
    >>> p_of_counts(3, 0), p_of_counts(0, 3, two_sided=True), p_of_counts(0, 0)
    (0.125, 0.25, 1.0)
    """
    most = max(ours, theirs) if two_sided else ours
    return float(min(1.0, (1 + two_sided) * binom.sf(most - 1, ours + theirs, 0.5)))
