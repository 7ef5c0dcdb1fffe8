"""Casing of a token as one of seven classes: what vectors of lower-cased words have lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CASING_CLASSES: tuple[str, ...] = (
    "other",
    "numeric",
    "mainly_numeric",
    "lower",
    "upper",
    "initial_upper",
    "contains_digit",
)

#: What `apply_casing` can put on another word; "stored" leaves it as it is.
CASING_PATTERNS: tuple[str, ...] = ("stored", "lower", "capitalised", "upper")


def casing_class(token: str) -> int:
    """Index of the casing class of one token in `CASING_CLASSES`.

    The first test that holds decides: all digits; more than half digits; all lower case; all upper case;
    initial upper case; contains a digit; other.

    Parameters
    ----------
    token : str
        One token; the empty string is "other".

    Returns
    -------
    int
        0 to 6.

    References
    ----------
    Reimers and Gurevych (2017), "Optimal Hyperparameters for Deep LSTM-Networks for Sequence Labeling Tasks";
    order of the tests as in Friedrich et al. (2019).

    Examples
    --------
    >>> [CASING_CLASSES[casing_class(token)] for token in ("2019", "25y", "pain", "MRI", "Lopez", "xT1", "-")]
    ['numeric', 'mainly_numeric', 'lower', 'upper', 'initial_upper', 'contains_digit', 'other']
    """
    digits = sum(map(str.isdigit, token))
    if digits and digits == len(token):
        return 1
    if 2 * digits > len(token):
        return 2
    if token.islower():
        return 3
    if token.isupper():
        return 4
    if token[:1].isupper():
        return 5
    return 6 if digits else 0


def casing_ids(tokens: Sequence[str]) -> np.ndarray:
    """Casing classes of many tokens.

    Parameters
    ----------
    tokens : sequence of str, length n
        Tokens, repeated ones included.

    Returns
    -------
    ndarray of shape (n,), dtype int64
        Indices into `CASING_CLASSES`.

    Examples
    --------
    >>> casing_ids(["Mr", ".", "lopez", "1958"])
    array([5, 0, 3, 1])
    """
    # The table lives for one call only: words of private notes must not stay behind in a module or a model.
    table = {token: casing_class(token) for token in set(tokens)}
    return np.fromiter(map(table.__getitem__, tokens), dtype=np.int64, count=len(tokens))


def casing_pattern(token: str) -> int:
    """Index in `CASING_PATTERNS` of the casing that a surrogate for this token should get.

    A single capital is a capitalised word, not one in capitals: the surrogate of an initial is a name.

    Examples
    --------
    >>> [CASING_PATTERNS[casing_pattern(token)] for token in ("pain", "Lopez", "McCoy", "MRI", "J", "12", "iPad")]
    ['lower', 'capitalised', 'capitalised', 'upper', 'capitalised', 'stored', 'stored']
    """
    if token.islower():
        return 1
    if token.isupper() and len(token) > 1:
        return 3
    return 2 if token[:1].isupper() else 0


def apply_casing(word: str, pattern: int) -> str:
    """A word in the casing of `CASING_PATTERNS` at index ``pattern``.

    Examples
    --------
    >>> [apply_casing("haven", pattern) for pattern in range(4)]
    ['haven', 'haven', 'Haven', 'HAVEN']
    """
    if pattern == 1:
        return word.lower()
    if pattern == 2:
        return word.lower().capitalize()
    return word.lower().upper() if pattern == 3 else word
