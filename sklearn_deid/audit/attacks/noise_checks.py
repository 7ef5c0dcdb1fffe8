"""Tests of standard normal residuals: size, independence over tokens and dimensions, and shape of the noise.

Each test statistic has a known distribution if the noise is as stated, so that a Bonferroni correction bounds the
probability of any false alarm. All tests read residuals of shape (n_tokens, d) from `noise_residuals.standardised`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import chdtr, chdtrc, ndtr  # as in `scipy.stats`, but much faster for a single number
from scipy.stats import beta, binomtest, chi2, kstest

_LAGS, _MOVED_LAGS = 32, 8
_MOST_PAIRED, _MOST_RANKED = 4096, 50_000
# The last limit is beyond the largest number that 16 random bits can make.
_TAILS = (3.0, 4.0, 4.25)
# Probabilities of small residuals, whose number is counted.
_SMALL = (1e-2, 1e-3)
_REACHES = (4.0, 5.0, 6.0, 7.0)
_LESS = "Some tokens carry less noise than stated, or none."


class Check(NamedTuple):
    """One test of the noise: the p-value, and the meaning of an alarm."""

    name: str
    p: float
    fault: str


def noise_checks(
    z: np.ndarray, groupings: Mapping[str, np.ndarray], means: np.ndarray | None = None
) -> Iterator[Check]:
    """Yield all tests of the residuals.

    Parameters
    ----------
    z : ndarray of shape (n_tokens, d)
        Residuals in the order of the release.
    groupings : mapping of str to ndarray of shape (n_tokens,)
        Names of properties, such as "position in the sentence", and the number of each token's group. If the noise
        depends on the property, the sums of the residuals over groups are larger than for independent Gaussian noise.
    means : ndarray of shape (n_tokens, d), optional
        Noise-free vectors, divided by the standard deviations. The projection of a residual on the direction of its
        mean is also tested, because this projection is Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).standard_normal((400, 5))
    >>> worst = min(noise_checks(z, {}), key=lambda check: check.p)
    >>> found = min(noise_checks(z / 2, {}), key=lambda check: check.p)
    >>> worst.p > 1e-4, found.name
    (True, 'size')
    """
    yield from _sizes(z)
    yield _by_group("over all tokens", np.zeros(len(z), dtype=np.int64), z, "The noise has a mean other than 0.")
    for name, groups in groupings.items():
        yield _by_group(name, groups, z, f"The noise is not independent: it is shared over tokens by {name}.")
    yield from _dimensions(z)
    yield from _lags(z)
    yield _moved_dimensions(z)
    yield from _norms(z)
    if means is not None:
        yield from _along(z, means)
    yield _pairs(z)
    yield from shape_checks(z)


def alarms(checks: Iterable[Check], level: float) -> tuple[list[Check], int]:
    """Return the tests that fail, and the number of tests; ``level`` applies to all tests together (Bonferroni)."""
    found = list(checks)
    # A probability that is not a number is no evidence of an intact release.
    return [check for check in found if not check.p >= level / len(found)], len(found)


def best_pairs(z: np.ndarray, other: np.ndarray | None = None) -> tuple[float, int]:
    """Return the largest absolute cosine of two residuals, and the number of pairs; without ``other``, the pairs are
    within z."""
    unit = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-300)
    if other is None:
        cosine, n_pairs = unit @ unit.T, len(z) * (len(z) - 1) // 2
        np.fill_diagonal(cosine, 0.0)
    else:
        cosine = unit @ (other / np.maximum(np.linalg.norm(other, axis=1, keepdims=True), 1e-300)).T
        n_pairs = cosine.size
    # Absolute values of millions of pairs would be another matrix.
    return float(min(max(cosine.max(initial=0.0), -cosine.min(initial=0.0)), 1.0)), n_pairs


def p_of_cosine(cosine: float, n_pairs: int, d: int) -> float:
    """Upper bound of the probability that the largest of ``n_pairs`` absolute cosines of independent directions is at
    least ``cosine``.

    The square of the cosine of two independent directions in d dimensions has the Beta(1/2, (d-1)/2) distribution.

    Examples
    --------
    >>> p_of_cosine(0.99, 1000, 50) < 1e-30, p_of_cosine(0.3, 1000, 50)
    (True, 1.0)
    """
    if d < 2:
        return 1.0  # directions in one dimension always agree up to the sign
    return float(min(1.0, n_pairs * beta.sf(cosine**2, 0.5, (d - 1) / 2.0)))


def _sizes(z: np.ndarray) -> Iterator[Check]:
    """Tests of the standard deviation, pooled and of each dimension: sums of squares have chi-squared distributions."""
    n, d = z.shape
    fault = "The size of the noise is not the stated standard deviation."
    yield Check("size", _two_sided(float(np.square(z).sum()), n * d), fault)
    for j, total in enumerate(np.square(z).sum(axis=0).tolist()):
        fault = f"The size of the noise in dimension {j} is not the stated standard deviation."
        yield Check("size of a dimension", _two_sided(total, n), fault)


def sums_of_groups(numbers: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of tokens and sums of each group, shapes (n_groups,) and (n_groups, n_columns of ``values``)."""
    number, sizes = np.unique(numbers, return_inverse=True, return_counts=True)[1:]
    total = np.zeros((len(sizes), values.shape[1]))
    np.add.at(total, number.reshape(-1), values)
    return sizes, total


def _by_group(name: str, groups: np.ndarray, z: np.ndarray, fault: str) -> Check:
    """Test of sums over groups: the sum of n residuals of a group is Gaussian with variance n in each dimension."""
    sizes, total = sums_of_groups(groups, z)
    return Check(name, _two_sided(float((np.square(total).sum(axis=1) / sizes).sum()), total.size), fault)


def _dimensions(z: np.ndarray) -> Iterator[Check]:
    """Tests of correlations between dimensions: of the sum over all dimensions, the largest correlation, and the sum of
    squares of all correlations."""
    n, d = z.shape
    if d < 2 or n < 4:
        return
    fault = "The noise of different dimensions is not independent."
    yield Check("equal dimensions", _two_sided(float(np.square(z.sum(axis=1)).sum() / d), n), fault)
    r = np.corrcoef(z.T)[np.triu_indices(d, 1)] if z.std(axis=0).all() else np.ones(d * (d - 1) // 2)
    # Independent Gaussian columns have a correlation whose square is Beta(1/2, (n-2)/2).
    largest = float(min(np.square(r).max(), 1.0))
    yield Check("pairs of dimensions", float(min(1.0, len(r) * beta.sf(largest, 0.5, (n - 2) / 2.0))), fault)
    # (n-1) r^2 has mean 1 and variance just below 2; pairs of columns are uncorrelated.
    excess = float((((n - 1) * np.square(r)).sum() - len(r)) / np.sqrt(2.0 * len(r)))
    if len(r) >= 100:  # below, the sum is too skewed for a normal tail, and the largest correlation suffices
        yield Check("all pairs of dimensions", float(chdtrc(len(r), len(r) + excess * np.sqrt(2.0 * len(r)))), fault)


def _lags(z: np.ndarray) -> Iterator[Check]:
    """Tests of the correlation between tokens at a fixed distance. Under independence, the sum of products is
    Gaussian."""
    for lag in range(1, min(_LAGS, len(z) - 1) + 1):
        first, second = z[:-lag], z[lag:]
        # Given one factor, the sum of products is exactly Gaussian with the sum of squares as its variance, up to
        # residuals that occur on both sides.
        total = float((first * second).sum() / np.sqrt(np.square(first).sum() + 1e-300))
        yield Check("tokens at a distance", float(2.0 * ndtr(-abs(total))), _repeated(lag))


def _moved_dimensions(z: np.ndarray) -> Check:
    """Test of noise that is repeated at one of the next tokens in other dimensions."""
    lags = range(1, min(_MOVED_LAGS, len(z) - 1) + 1)
    p = min((p_of_moved_dimensions(z[:-lag], z[lag:]) for lag in lags), default=1.0)
    return Check(
        "moved dimensions", min(1.0, len(lags) * p), "Tokens repeat the noise of other tokens in other dimensions."
    )


def p_of_moved_dimensions(one: np.ndarray, other: np.ndarray) -> float:
    """Upper bound of the probability of the largest correlation between a dimension of ``one`` and a dimension of
    ``other``, both of shape (n_tokens, d)."""
    # Given the first factor, the sum of products is Gaussian with the sum of squares as its variance.
    total = one.T @ other / np.sqrt(np.square(one).sum(axis=0) + 1e-300)[:, None]
    return float(min(1.0, total.size * 2.0 * ndtr(-np.abs(total).max())))


def _repeated(lag: int) -> str:
    return f"The noise of tokens {lag} apart is not independent."


def _norms(z: np.ndarray) -> Iterator[Check]:
    """Tests of the squared lengths of single residuals: smallest, largest, and all lengths against the chi-squared
    distribution."""
    n, d = z.shape
    squares = np.square(z).sum(axis=1)
    yield Check("smallest residual", float(min(1.0, n * chdtr(d, squares.min()))), _LESS)
    more = float(min(1.0, n * chdtrc(d, squares.max())))
    yield Check("largest residual", more, "Some tokens carry more noise than stated.")
    # A single token with half the noise is not impossible, but several such tokens are.
    for small in _SMALL:
        beyond = int((squares < chi2.ppf(small, d)).sum())
        yield Check("small noise", float(binomtest(beyond, n, small, "greater").pvalue), _LESS)
    fault = "The noise has another size at some tokens than at others."
    yield Check("sizes of tokens", float(kstest(squares, lambda values: chdtr(d, values)).pvalue), fault)


def _along(z: np.ndarray, means: np.ndarray) -> Iterator[Check]:
    """Tests of the projections of residuals on the noise-free vectors of their tokens, which are standard normal."""
    unit = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-300)
    along = np.einsum("ij,ij->i", z, unit)[means.any(axis=1)]
    if len(along):
        fault = "The noise depends on the noise-free vector of its token."
        yield Check("along the template", _two_sided(float(np.square(along).sum()), len(along)), fault)
        mean = float(abs(along.sum()) / np.sqrt(len(along)))
        yield Check("mean along the template", float(2.0 * ndtr(-mean)), fault)
    if z.shape[1] > 1:
        yield Check("closest direction", p_of_directions(z + means, means), _LESS)


def p_of_directions(noisy: np.ndarray, means: np.ndarray) -> float:
    """Upper bound of the probability that some noisy vector is as close to the direction of its mean as observed.

    Scaling to length 1 hides the length of a noisy vector. The residual of a vector without noise then has an ordinary
    size, and only the direction reveals that the noise is missing. The component of a noisy vector along its mean is a
    + |mean| for a standard normal number a. The squared length of the orthogonal component is chi-squared with d - 1
    degrees of freedom. The angle is therefore at most t only if a is large, or if the length of the orthogonal
    component is at most (a + |mean|) tan(t). For several limits of a, the function adds the probabilities of both
    events. Each sum is an upper bound of the same probability, and the function returns the smallest sum.

    Parameters
    ----------
    noisy, means : ndarray of shape (n_tokens, d)
        Means plus noise, and means, both divided by the standard deviations; d is at least 2. The result does not
        depend on the lengths of the noisy vectors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> means = rng.normal(size=(300, 20))
    >>> noisy = means + rng.normal(size=(300, 20))
    >>> p_of_directions(noisy, means) > 0.01
    True
    >>> noisy[7] = 3.0 * means[7]
    >>> p_of_directions(noisy, means) < 1e-8
    True
    """
    some = means.any(axis=1)
    lengths = np.linalg.norm(means[some], axis=1)
    unit = means[some] / lengths[:, None]
    along = np.einsum("ij,ij->i", noisy[some], unit)
    rest = np.square(noisy[some] - along[:, None] * unit).sum(axis=1)
    # Squared tangents; vectors that point away from their mean get a huge value, because they are no evidence.
    tangents = rest / np.maximum(along, 1e-100) ** 2
    bounds = [ndtr(-a) + chdtr(means.shape[1] - 1, (lengths + a) ** 2 * tangents) for a in _REACHES]
    return float(min(1.0, len(means) * np.min(bounds, initial=1.0)))


def _pairs(z: np.ndarray) -> Check:
    # Tokens are drawn at random. If every k-th token were taken, distances that k does not divide would never occur.
    some = z[np.random.default_rng(0).permutation(len(z))[:_MOST_PAIRED]]
    p = p_of_cosine(*best_pairs(some), z.shape[1]) if len(some) > 1 else 1.0
    return Check("pairs of tokens", p, "Two different tokens carry the same noise.")


def shape_checks(z: np.ndarray) -> Iterator[Check]:
    """Kolmogorov-Smirnov test of all residuals against the normal distribution, and exact tests of its tails."""
    flat = z.reshape(-1)
    some = flat[:: max(1, len(flat) // _MOST_RANKED)]
    fault = "The noise is not Gaussian, or has another size."
    yield Check("shape", float(kstest(some, ndtr).pvalue), fault)
    for limit in _TAILS:
        beyond = int((np.abs(flat) > limit).sum())
        p = float(binomtest(beyond, len(flat), float(2.0 * ndtr(-limit))).pvalue)
        yield Check("tails", p, "The noise has other tails than Gaussian noise.")


def _two_sided(statistic: float, df: int) -> float:
    return float(min(1.0, 2.0 * min(chdtr(df, statistic), chdtrc(df, statistic))))
