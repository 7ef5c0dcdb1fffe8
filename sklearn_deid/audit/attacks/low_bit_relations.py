"""Low bits of the noise that follow from each other: counters, shift registers, sums that are always even, and copies.

Sums over groups of tokens reveal low bits that are shared by the group, but no bits that alternate from token to token.
An attacker who can compute the low bits of the noise can read the low bits of the noise-free vector, and with them the
word. Here, the low bits of a token and of the next token of the sentence are columns of a matrix over the field of two
elements. If the noise is as stated, no sum of columns of the noise equals a sum of known columns, up to a probability
that decreases with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .noise_checks import Check

# A sum of columns that holds in all rows by chance has this probability as a power of two, for each of the windows.
_SPARE, _MOST_WINDOWS = 48, 2
_PLANES, _WIDE = 3, 4.0
_FAULT = "The low bits of the noise are no noise: they follow from other bits of the token or of the token before it."


def relation_checks(steps: np.ndarray, known: np.ndarray, sentence: np.ndarray, width: float) -> Iterator[Check]:
    """Yield tests of linear relations between the bits of grid steps of successive tokens.

    A relation is found if it holds at all tokens of a window of about four tokens for each dimension. Releases with
    fewer tokens are not tested.

    Parameters
    ----------
    steps, known : ndarray of shape (n_tokens, d)
        Whole numbers of steps of the released and of the noise-free vectors.
    sentence : ndarray of shape (n_tokens,)
        Number of the sentence of each token. Only neighbours in one sentence are compared, because the order of the
        sentences is random.
    width : float
        Smallest standard deviation of the noise in steps.

    Examples
    --------
    >>> steps = np.random.default_rng(0).integers(-99, 99, size=(200, 4))
    >>> sentence, known = np.arange(200) // 10, np.zeros((200, 4))
    >>> max(check.p for check in relation_checks(steps, known, sentence, 32.0)) > 0.5
    True
    >>> steps[:, 3] += (steps.sum(axis=1) + np.arange(200)) % 2
    >>> [check.name for check in relation_checks(steps, known, sentence, 32.0) if check.p < 1e-9]
    ['low bits', 'low bits']
    """
    at = np.flatnonzero(sentence[1:] == sentence[:-1])
    n_rows = 4 * steps.shape[1] + 1 + _SPARE
    windows = [at[i : i + n_rows] for i in range(0, len(at) - n_rows + 1, n_rows)][:_MOST_WINDOWS]
    released, fixed = steps.astype(np.int64), known.astype(np.int64)
    for plane in range(_PLANES if windows else 0):
        if width < _WIDE * 2**plane:
            return
        for numbers in (released, released - fixed):
            noise, given = numbers >> plane & 1, fixed >> plane & 1
            found = any(_has_relation(_of_pairs(given, rows), _of_pairs(noise, rows)) for rows in windows)
            yield Check("low bits", len(windows) * 2.0**-_SPARE if found else 1.0, _FAULT)


def _of_pairs(bits: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Bits of each token and of the next token, shape (n_rows, 2 d)."""
    return np.hstack([bits[rows], bits[rows + 1]]).astype(np.uint8)


def _has_relation(given: np.ndarray, noise: np.ndarray) -> bool:
    """Whether some columns of the noise have the same sum as some given columns, in all rows; the constant is given.

    Under uniform independent bits of the noise, each of the fewer than 2^a sums of noise is uniform, and there are at
    most 2^b given sums of n rows. The probability of a relation is therefore below 2^(a + b - n).
    """
    basis: dict[int, int] = {}
    is_given = np.repeat([True, False], [1 + given.shape[1], noise.shape[1]])
    columns = np.hstack([np.ones((len(given), 1), dtype=np.uint8), given, noise]).T
    for known, column in zip(is_given.tolist(), np.packbits(columns, axis=1), strict=True):
        rest = int.from_bytes(column.tobytes(), "big")
        while rest and (other := basis.get(rest.bit_length())):
            rest ^= other
        if rest:
            basis[rest.bit_length()] = rest
        elif not known:
            return True
    return False
