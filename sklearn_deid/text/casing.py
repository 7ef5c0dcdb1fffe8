"""Casing of a token as one of seven classes. Vectors of lower-cased words do not contain this information."""

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

#: Casings that `apply_casing` can apply to a word; "stored" leaves the word unchanged.
CASING_PATTERNS: tuple[str, ...] = ("stored", "lower", "capitalised", "upper")


def casing_class(token: str) -> int:
    """Index of the casing class of one token in `CASING_CLASSES`.

    The first of these tests that is true determines the class: all digits; more than half digits; all lower case; all
    upper case; initial upper case; contains a digit; other.

    Parameters
    ----------
    token : str
        One token. The empty string has the class "other".

    Returns
    -------
    int
        Index of the class, 0 to 6.

    References
    ----------
    Reimers and Gurevych (2017), "Optimal Hyperparameters for Deep LSTM-Networks for Sequence Labeling Tasks";
    order of the tests as in Friedrich et al. (2019).

    Examples
    --------
    >>> [CASING_CLASSES[casing_class(token)] for token in ("2019", "25y", "pain", "MRI", "Lopez", "xT1", "-")]
    ['numeric', 'mainly_numeric', 'lower', 'upper', 'initial_upper', 'contains_digit', 'other']
    """
    # The order of the tests defines the classes: a token of digits is also neither lower nor upper.
    digits = 0 if token.isalpha() else sum(map(str.isdigit, token))
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
        Tokens; the same token may occur several times.

    Returns
    -------
    ndarray of shape (n,), dtype int64
        Indices into `CASING_CLASSES`.

    Examples
    --------
    >>> casing_ids(["Mr", ".", "lopez", "1958"])
    array([5, 0, 3, 1])
    """
    # The table exists during one call only: a module or a model must not keep words of private notes.
    table = {token: casing_class(token) for token in set(tokens)}
    return np.fromiter(map(table.__getitem__, tokens), dtype=np.int64, count=len(tokens))


def casing_pattern(token: str) -> int:
    """Index in `CASING_PATTERNS` of the casing that a surrogate for this token should have.

    A single capital letter counts as capitalised, not as upper case, because the surrogate of an initial is a name.

    Examples
    --------
    >>> [CASING_PATTERNS[casing_pattern(token)] for token in ("pain", "Lopez", "McCoy", "MRI", "J", "12", "iPad")]
    ['lower', 'capitalised', 'capitalised', 'upper', 'capitalised', 'stored', 'stored']
    """
    if token.islower():
        return 1
    # A single capital letter is an initial, and its surrogate should be a capitalised word, not a word in capitals.
    if token.isupper() and len(token) > 1:
        return 3
    return 2 if token[:1].isupper() else 0


def apply_casing(word: str, pattern: int) -> str:
    """Apply the casing ``CASING_PATTERNS[pattern]`` to a word.

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
