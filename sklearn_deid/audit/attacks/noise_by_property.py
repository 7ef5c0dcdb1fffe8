"""Tests whether tokens with a property have less noise than stated: late tokens, long sentences, rare words, a label.

Sums over all tokens do not reveal that the noise is smaller at a few tokens. Each test therefore sums over the tokens
of one group, or over all tokens below or above a value of an ordered property. Two kinds of sums are tested. With too
little noise, sums of squared residuals are too small. If vectors have length 1, sums of projections on the noise-free
vectors are too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import chdtr, ndtr

from .noise_checks import Check, sums_of_groups

_MOST_CUTS = 48
_FEWEST = 8  # tokens on one side of a cut


def property_checks(
    z: np.ndarray, groups: Mapping[str, np.ndarray], ordered: Mapping[str, np.ndarray], means: np.ndarray
) -> Iterator[Check]:
    """Yield two tests for each property.

    Parameters
    ----------
    z, means : ndarray of shape (n_tokens, d)
        Residuals, and noise-free vectors divided by the standard deviations.
    groups : mapping of str to ndarray of shape (n_tokens,)
        Number of the group of each token, for properties without an order.
    ordered : mapping of str to ndarray of shape (n_tokens,)
        Values of properties with an order, such as the position in the sentence.

    Notes
    -----
    If the noise is as stated, the sum of squares of n residuals has a chi-squared distribution with n d degrees of
    freedom. The sum of the n projections on fixed directions has a normal distribution with variance n. The probability
    of a test is the smallest probability of its sums, times the number of sums (Bonferroni).

    Examples
    --------
    >>> import numpy as np
    >>> z, late = np.random.default_rng(0).standard_normal((400, 5)), np.arange(400) % 40
    >>> min(check.p for check in property_checks(z, {}, {"position": late}, np.ones_like(z))) > 1e-3
    True
    >>> z[late >= 30] /= 2
    >>> min(property_checks(z, {}, {"position": late}, np.ones_like(z)), key=lambda check: check.p).fault
    'Some tokens carry less noise than stated: it depends on the position.'
    """
    d = z.shape[1]
    lengths = np.linalg.norm(means, axis=1)
    # shape: (n_tokens, 3): squares, parts along the mean, and whether there is a mean
    sums = np.stack(
        [np.square(z).sum(axis=1), np.einsum("ij,ij->i", z, means) / np.maximum(lengths, 1e-300), lengths > 0], axis=1
    )
    for name, sizes, total in parts_by_property(groups, ordered, sums):
        if len(sizes):
            fault = f"Some tokens carry less noise than stated: it depends on the {name}."
            small = float(chdtr(sizes * d, total[:, 0]).min())
            along = float(ndtr(-total[:, 1] / np.sqrt(np.maximum(total[:, 2], 1.0))).min())
            for p in (small, along):
                yield Check("less noise by a property", min(1.0, len(sizes) * p), fault)


def parts_by_property(
    groups: Mapping[str, np.ndarray], ordered: Mapping[str, np.ndarray], sums: np.ndarray
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield for each property its name, the number of items in each part, and the sums of the columns over each
    part."""
    for name, numbers in groups.items():
        yield name, *sums_of_groups(numbers, sums)
    for name, values in ordered.items():
        yield name, *sums_of_sides(values, sums)


def sums_of_sides(values: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of tokens, and sums, below and above several cut points of the values."""
    order = np.argsort(values, kind="stable")
    run, below = np.cumsum(sums[order], axis=0), np.flatnonzero(np.diff(values[order]) > 0) + 1
    below = below[(below >= _FEWEST) & (len(values) - below >= _FEWEST)]
    if len(below) > _MOST_CUTS:
        # Evenly over the cuts, and not over the tokens: most sentences are short. Further cuts are near both ends.
        evenly = np.linspace(0, len(below) - 1, _MOST_CUTS).round().astype(np.int64)
        few = 2 ** np.arange(np.log2(_FEWEST), np.log2(len(values)))
        first, last = np.searchsorted(below, few), np.searchsorted(below, len(values) - few, side="right") - 1
        below = below[np.unique(np.clip(np.concatenate([evenly, first, last]), 0, len(below) - 1))]
    sizes = np.concatenate([below, len(values) - below])
    return sizes, np.concatenate([run[below - 1], run[-1] - run[below - 1]]) if len(below) else run[:0]
