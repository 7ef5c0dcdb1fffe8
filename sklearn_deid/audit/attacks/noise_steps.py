"""Grid steps of released vectors: check that the numbers of steps are integers, and that their remainders do not depend
on words.

The noise is at least 32 steps wide, so that the remainder of the number of steps after a division by a small number is
uniform and independent of the notes. The remainder of the difference to the steps of the noise-free vector is also
uniform and independent of the notes. The checks find three faults: remainders that depend on a word, remainders that
are not uniform (a coarser grid than stated), and vectors that no whole numbers of steps explain. If information in the
remainders is encrypted with a secret key, no test can find this information.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd

import numpy as np
from scipy.sparse import csr_array

from ..._randomness import FINEST_STEP, n_signed_zeros, on_grid, to_grid
from .noise_checks import Check, shape_checks
from .noise_template import NoiseTemplate

# Of tokens with 50 numbers, 8,192 have 26 numbers beyond four standard deviations: noise that is cut off there shows.
_MOST_TOKENS, _LEAST_D = 8192, 8
_LONGEST = 2.0**15  # steps; the rounding to length 1 hides the whole numbers of longer vectors
# Lengths that are searched, relative to the expected length: a grid that is coarser than stated makes them shorter.
_SHORTEST, _REACH = 0.1, 4.0
_MOST_STRANGE = 0.02
_AT_ONCE = 256  # vectors, each with some hundred possible lengths
_WIDE = 2.0
_LARGEST_DIVISOR = 8
# Bound of the moment generating functions of cosines and sines of uniform remainders, relative to Gaussian ones: only
# cube roots of unity are skewed (Kearns and Saul, 1998: 1.082 for values of 1 and -1/2 with probability 1/3 and 2/3).
_SKEW = {3: 1.083}


def grid_faults(vectors: np.ndarray, step: float | None = None) -> list[str]:
    """Return a message for each kind of fault that shows that released numbers are not on the grid.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns.
    step : float, optional
        Step of the grid. Without a step, the function checks only that all numbers are finite and that no zero has a
        minus sign.

    Examples
    --------
    >>> grid_faults(np.array([[0.25, 0.0]]), 0.25)
    []
    >>> grid_faults(np.array([[0.25 + 1e-9, 0.0]]), 0.25)
    ['The released vectors do not lie on the grid of the noise.']
    """
    faults = []
    if step is not None and not on_grid(vectors, step):
        faults.append("The released vectors do not lie on the grid of the noise.")
    if not np.isfinite(vectors).all():
        faults.append("Some released numbers are not finite.")
    signed = n_signed_zeros(vectors)
    if signed:
        faults.append(f"{signed} zeros have a minus sign, which discloses the signs before rounding.")
    return faults


def whole_steps(vectors: np.ndarray, template: NoiseTemplate) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Find the grid steps of noisy vectors before they were scaled to length 1.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns.
    template : NoiseTemplate
        Noise-free vectors and stated noise of the same tokens.

    Returns
    -------
    tokens : ndarray of shape (n,)
        Tokens whose steps are known. If vectors have length 1, at most 8,192 vectors are searched.
    steps : ndarray of shape (n, d)
        Whole numbers of steps. If the steps of a vector of length 1 have a common divisor, only the steps divided by
        this divisor can be found. If most vectors have the same divisor, all steps are multiplied by this divisor.
    faults : list of str
        One sentence for each fault.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> template = NoiseTemplate(np.zeros((40, 20)), np.ones(20), True, 2.0**-5, False)
    >>> noisy = np.rint(rng.normal(size=(40, 20)) * 32)
    >>> unit = to_grid(noisy / np.linalg.norm(noisy, axis=1, keepdims=True), 2.0**-20)
    >>> tokens, steps, faults = whole_steps(unit, template)
    >>> bool((steps == noisy[tokens]).all()), len(tokens), faults
    (True, 40, [])
    >>> whole_steps(to_grid(unit + 2.0**-20, 2.0**-20), template)[2]
    ['40 of 40 vectors of length 1 are not those of noisy vectors on the stated grid: their low bits disclose more.']
    """
    n, d = vectors.shape
    values = np.asarray(vectors, dtype=np.float64)
    if not template.unit_norm:
        return np.arange(n), np.rint(values / template.grid), []
    expected = np.sqrt((template.mean**2).sum(axis=1) + (template.std**2).sum()) / template.grid  # shape: (n,)
    some = np.unique(np.linspace(0, n - 1, min(n, _MOST_TOKENS)).astype(np.int64))
    some = some[(expected[some] * _REACH < _LONGEST) & values[some].any(axis=1)]
    if d < _LEAST_D or template.input_noise or not len(some):
        return np.zeros(0, dtype=np.int64), np.zeros((0, d)), []
    parts = np.split(some, range(_AT_ONCE, len(some), _AT_ONCE))
    steps = np.concatenate([_steps_of_directions(values[part], expected[part]) for part in parts])
    found = steps.any(axis=1)
    again = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1.0)
    changed = (to_grid(again, FINEST_STEP) != values[some]).sum(axis=1)
    strange = int(np.count_nonzero(~found | (changed > 1)))  # the last bit of a quotient may differ between processors
    faults = []
    if strange > _MOST_STRANGE * len(some):
        faults.append(
            f"{strange} of {len(some)} vectors of length 1 are not those of noisy vectors on the stated grid: their "
            "low bits disclose more."
        )
    return some[found], _common_multiple(steps[found], expected[some[found]]), faults


def _common_multiple(steps: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Multiply all vectors of smallest whole numbers by one factor, so that their lengths are about the expected
    lengths."""
    if not len(steps):
        return steps
    return steps * max(1.0, np.rint(np.median(expected / np.linalg.norm(steps, axis=1))))


def _steps_of_directions(units: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Vectors of the smallest whole numbers with the directions of released vectors, shape (n, d); zeros for a vector
    whose direction no whole numbers have."""
    tokens, columns = np.arange(len(units)), np.argsort(-np.abs(units), axis=1)
    largest = np.abs(units[tokens, columns[:, 0]])
    first = np.maximum(np.ceil(expected * largest * _SHORTEST), 1.0)
    n_candidates = np.maximum(np.floor(expected * largest * _REACH) - first + 1.0, 0.0).astype(np.int64)
    # shape of both: (n_candidates,), ascending for each vector
    of = np.repeat(tokens, n_candidates)
    lengths = np.arange(len(of)) + (first - np.cumsum(n_candidates) + n_candidates)[of]
    lengths /= largest[of]
    # One number of each vector rules out most candidates of this vector.
    for column in columns.T[1:]:
        value = units[tokens, column]
        at = value[of] * lengths
        # Both numbers of the released vector were rounded by half a step of the finest grid.
        most = (1.0 + np.abs(value) / largest)[of] * lengths
        most *= FINEST_STEP / 2
        most += 1e-9
        at -= np.rint(at)
        fits = np.abs(at, out=at) <= most
        of, lengths = of[fits], lengths[fits]
    found, at = np.unique(of, return_index=True)
    steps = np.zeros_like(units)
    steps[found] = np.rint(units[found] * lengths[at, None])
    return steps


def step_checks(steps: np.ndarray, groupings: Mapping[str, np.ndarray], template: NoiseTemplate) -> Iterator[Check]:
    """Yield tests of the remainders of grid steps and, for vectors of length 1, of the noise without the rounding.

    Parameters
    ----------
    steps : ndarray of shape (n_tokens, d)
        Whole numbers of steps.
    groupings : mapping of str to ndarray of shape (n_tokens,)
        Properties of the tokens, as for `noise_checks`.
    template : NoiseTemplate
        Noise-free vectors and stated noise of these tokens.
    """
    if not len(steps):
        return
    width = float(template.std.min() / template.grid)
    yield from bit_checks(steps, groupings, width)
    rest = steps - np.rint(template.mean / template.grid)
    for check in bit_checks(rest, groupings, width):
        yield check._replace(fault=check.fault.replace("numbers", "numbers without the noise-free vectors"))
    if template.unit_norm:
        # `standardised` draws one of d numbers anew, and hides the tails of the noise.
        yield from shape_checks((steps * template.grid - template.mean) / template.std)


def bit_checks(steps: np.ndarray, groupings: Mapping[str, np.ndarray], width: float) -> Iterator[Check]:
    """Yield tests of the remainders of grid steps, which must be uniform and independent of the properties of the
    tokens.

    Parameters
    ----------
    steps : ndarray of shape (n_tokens, d)
        Whole numbers of steps.
    groupings : mapping of str to ndarray of shape (n_tokens,)
        Properties of the tokens, as for `noise_checks`.
    width : float
        Smallest standard deviation of the noise in steps.

    Notes
    -----
    A remainder r after the division by q is represented by the complex number exp(2 pi i h r / q), for each h without a
    common divisor with q. The terms of a sum of n of these numbers are independent and have mean zero. The squared
    length of the sum is divided by n / 2 (by n for q = 2, where the numbers are 1 or -1). The moment generating
    function of the quotient is at most that of a chi-squared variable with 2 degrees of freedom (1 for q = 2). The
    Chernoff bound of the chi-squared distribution therefore holds. Sums of cube roots of unity are divided by 1.083,
    because their cosines are skewed.
    """
    members = {
        name: _indicators(groups)
        for name, groups in {"all tokens": np.zeros(len(steps), dtype=np.int64), **groupings}.items()
    }
    for q in range(2, _LARGEST_DIVISOR + 1):
        if width < _WIDE * q:
            return
        remainders = np.mod(steps, q).astype(np.int64)
        for h in (h for h in range(1, q // 2 + 1) if gcd(h, q) == 1):
            numbers = np.exp(2j * np.pi * h * np.arange(q) / q)[remainders]
            for name, (member, sizes) in members.items():
                squares = np.square(np.abs(member @ numbers)).sum(axis=1) / sizes / _SKEW.get(q, 1.0)
                df = len(sizes) * steps.shape[1] * (1 if q == 2 else 2)
                fault = f"The low bits of the released numbers are no noise: they are shared by {name}."
                p = _chernoff(float(squares.sum()) * (1 if q == 2 else 2), df)
                yield Check("low bits", p, fault)


def _indicators(groups: np.ndarray) -> tuple[csr_array, np.ndarray]:
    """Matrix that sums over groups of at least two tokens, and the sizes of these groups."""
    # The square of a single number is always 1.
    number, sizes = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    n = len(number)
    member = csr_array((np.ones(n), (number.reshape(-1), np.arange(n))), shape=(len(sizes), n))
    return member[np.flatnonzero(sizes > 1)], sizes[sizes > 1]


def _chernoff(total: float, df: int) -> float:
    """Chernoff bound of the probability that a chi-squared variable is at least ``total``."""
    ratio = total / df if df else 0.0
    return float(np.exp(-df / 2.0 * (ratio - 1.0 - np.log(ratio)))) if ratio > 1.0 else 1.0
