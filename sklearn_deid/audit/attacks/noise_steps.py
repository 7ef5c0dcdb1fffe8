"""Grid steps of released vectors: check that they are whole, and that their low bits do not depend on words.

The noise is at least 32 steps wide, so that the lowest bits of the number of steps are uniform and independent of the
notes. Bits that depend on a word, or vectors that no whole numbers of steps explain, reveal information other than
noise. Bits that a secret key hides look like noise, and no test finds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..._randomness import FINEST_STEP, to_grid
from .noise_checks import Check
from .noise_template import NoiseTemplate

_MOST_TOKENS, _LEAST_D = 2048, 8
_LONGEST = 2.0**15  # steps; the rounding to length 1 hides the whole numbers of longer vectors
_REACH = 4.0  # lengths that are searched, relative to the expected length
_MOST_STRANGE = 0.02
_BITS, _WIDE = 3, 2.0


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
        Tokens whose steps are known. Of vectors of length 1, at most 2,048 are searched.
    steps : ndarray of shape (n, d)
        Whole numbers of steps.
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
    ['40 of 40 vectors of length 1 are not those of noisy vectors on the stated grid: their low bits tell more.']
    """
    n, d = vectors.shape
    values = np.asarray(vectors, dtype=np.float64)
    if not template.unit_norm:
        return np.arange(n), np.rint(values / template.grid), []
    expected = np.sqrt((template.mean**2).sum(axis=1) + (template.std**2).sum()) / template.grid  # shape: (n,)
    some = np.arange(0, n, max(1, -(-n // _MOST_TOKENS)))
    some = some[(expected[some] * _REACH < _LONGEST) & values[some].any(axis=1)]
    if d < _LEAST_D or template.input_noise or not len(some):
        return np.zeros(0, dtype=np.int64), np.zeros((0, d)), []
    steps = np.stack([_steps_of_direction(values[i], expected[i]) for i in some.tolist()])
    found = steps.any(axis=1)
    again = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1.0)
    changed = (to_grid(again, FINEST_STEP) != values[some]).sum(axis=1)
    strange = int(np.count_nonzero(~found | (changed > 1)))  # the last bit of a quotient may differ between processors
    faults = []
    if strange > _MOST_STRANGE * len(some):
        faults.append(
            f"{strange} of {len(some)} vectors of length 1 are not those of noisy vectors on the stated grid: their "
            "low bits tell more."
        )
    return some[found], steps[found], faults


def _steps_of_direction(unit: np.ndarray, expected: float) -> np.ndarray:
    """Smallest whole numbers whose direction is that of a released vector; zeros if there are none."""
    order = np.argsort(-np.abs(unit))
    largest = abs(unit[order[0]])
    first, last = np.ceil(expected * largest / _REACH), np.floor(expected * largest * _REACH)
    lengths = np.arange(max(first, 1.0), last + 1.0) / largest  # shape: (n_candidates,)
    for j in order[1:].tolist():
        at = unit[j] * lengths
        # Both numbers of the released vector were rounded by half a step of the finest grid.
        lengths = lengths[np.abs(at - np.rint(at)) <= (1.0 + abs(unit[j]) / largest) * lengths * FINEST_STEP / 2 + 1e-9]
    return np.rint(unit * lengths[0]) if len(lengths) else np.zeros_like(unit)


def bit_checks(steps: np.ndarray, groupings: Mapping[str, np.ndarray], width: float) -> Iterator[Check]:
    """Yield tests of the low bits of grid steps, which must not depend on a property of the tokens.

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
    A bit counts as 1 or -1. The square of a sum of n independent signs, divided by n, has a moment generating function
    of at most that of the square of a normal number, so that Chernoff's bound of the chi-squared distribution holds.
    """
    everything = {"all tokens": np.zeros(len(steps), dtype=np.int64), **groupings}
    for bit in range(_BITS):
        if width < _WIDE * 2.0 ** (bit + 1):
            return
        signs = 1.0 - 2.0 * (np.floor(steps / 2.0**bit) % 2.0)
        for name, groups in everything.items():
            number, sizes = np.unique(groups, return_inverse=True, return_counts=True)[1:]
            total = np.zeros((len(sizes), steps.shape[1]))
            np.add.at(total, number.reshape(-1), signs)
            several = sizes > 1  # the square of a single sign is always 1
            squares = np.square(total[several]).sum(axis=1) / sizes[several]
            fault = f"The low bits of the released numbers are no noise: they are shared by {name}."
            yield Check("low bits", _chernoff(float(squares.sum()), int(several.sum()) * steps.shape[1]), fault)


def _chernoff(total: float, df: int) -> float:
    """Bound of the probability that a chi-squared number is this large."""
    ratio = total / df if df else 0.0
    return float(np.exp(-df / 2.0 * (ratio - 1.0 - np.log(ratio)))) if ratio > 1.0 else 1.0
