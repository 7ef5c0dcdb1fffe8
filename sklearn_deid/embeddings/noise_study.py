"""Study of how much noise a word vector tolerates before another word is nearer than the original word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .neighbor_search import search_neighbors
from .neighbors import distinct_rows
from .vectors import WordVectors

# Is the original the nearest word, or among the nearest five or ten, from which a reader would guess?
_RANKS = (1, 5, 10)
# Cosines with a smaller difference count as equal. Vectors have unit length only up to 1e-6, and two copies of the same
# vector must not compete.
_SAME = 4e-6


@dataclass(frozen=True, eq=False)
class NoiseStudy:
    """Proportions of words that an attacker still finds from noisy vectors. The result contains no word.

    Attributes
    ----------
    scales : ndarray of float64, shape (n_scales,)
        Standard deviations of the noise in each dimension of a unit vector.
    ranks : tuple of int
        Ranks of the columns of ``found``: (1, 5, 10).
    found : ndarray of float64, shape (n_scales, 3)
        Proportion of trials in which at most ``rank - 1`` other words are nearer to the noisy vector than the original
        word.
    low, high : ndarray of float64, shape (n_scales, 3)
        95 % Wilson intervals of ``found``.
    mean_cosine : ndarray of float64, shape (n_scales,)
        Mean cosine between the noisy vector and the original vector of a word.
    n : int
        Number of trials for each scale: words times draws. The intervals assume independent trials. Several draws of
        the same word are not independent; use ``n_draws=1`` for valid intervals over words.
    """

    scales: np.ndarray
    ranks: tuple[int, ...]
    found: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean_cosine: np.ndarray
    n: int


def noise_study(
    vectors: WordVectors, rows: Any, scales: Any, *, n_draws: int = 1, random_state: Any = None
) -> NoiseStudy:
    """Measure how often the nearest word of a noisy vector is the original word.

    The function adds Gaussian noise to unit vectors, scales the noisy vectors to length 1, and searches their nearest
    words. A proportion of 1 for rank 1 means that noise of this scale hides nothing: an attacker with the table can
    read the words from the noisy vectors. Friedrich (2018) found a proportion of 1 up to noise scales that already
    reduce usefulness (0.1 at 300 dimensions).

    Parameters
    ----------
    vectors : WordVectors
        Word vectors. All words of the table are candidates for the nearest word.
    rows : array-like of int, shape (n,)
        Rows of the words to study, such as PHI words. A repeated row counts once.
    scales : array-like of float, shape (n_scales,)
        Standard deviations of the noise, at least 0. All scales use the same random draws, so the result for a scale
        does not depend on the other scales.
    n_draws : int, default=1
        Number of noise draws for each word.
    random_state : int, RandomState or None, default=None
        Random seed of the noise.

    Returns
    -------
    NoiseStudy
        Proportions and intervals for each scale.

    Raises
    ------
    ValueError
        If a parameter is out of range, no row is given, or the vector of a row is zero.

    References
    ----------
    Friedrich, M. (2018). Data Protection Compliant Exchange of Training Data for Automatic De-Identification of Medical
    Text. Master's thesis, Universität Hamburg, section 6.2.2 and figure 6.2 (left).

    Examples
    --------
    >>> vectors = WordVectors(["pain", "ache", "fever"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> study = noise_study(vectors, [0, 1, 2], [0.0, 5.0], n_draws=200, random_state=0)
    >>> study.found[:, 0].round(1).tolist(), study.n
    ([1.0, 0.4], 600)
    """
    from sklearn.utils import check_random_state

    from ..metrics.intervals import normal_quantile, wilson_interval

    asked, levels = distinct_rows(rows, vectors), _check_scales(scales)
    if not len(asked) or n_draws < 1:
        raise ValueError(f"The study needs at least one row and one draw. Got {len(asked)} and {n_draws} instead.")
    rng = check_random_state(random_state)
    ids = np.flatnonzero(vectors.has_direction())
    table, unit = vectors.vectors_at(ids), vectors.vectors_at(asked).astype(np.float64)
    counts, cosines = np.zeros((len(levels), len(_RANKS)), dtype=np.int64), np.zeros(len(levels))
    for _ in range(n_draws):
        # The same draw for all scales: their proportions then differ by the scale alone, and a curve of them is smooth.
        noise = rng.standard_normal(unit.shape)
        for i, level in enumerate(levels):
            # shape: (n_rows, dim)
            noisy = unit + level * noise
            noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
            rank = _ranks(table, ids, noisy.astype(np.float32), asked)
            counts[i] += [(rank <= limit).sum() for limit in _RANKS]
            # Both vectors have length 1, so that the sum of their products is the sum of their cosines.
            cosines[i] += (noisy * unit).sum()
    n = len(asked) * n_draws
    low, high = wilson_interval(counts / n, n, normal_quantile(0.95))
    return NoiseStudy(levels, _RANKS, counts / n, low, high, cosines / n, n)


def _ranks(table: np.ndarray, ids: np.ndarray, noisy: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rank of each word among the nearest words of its noisy vector, at most 11. Equal cosines rank after the word."""
    # `search_neighbors` always lists the word itself first, so column 0 holds its own cosine.
    # shape: (n, n_neighbors), then (n, n_neighbors, dim) in the product
    n_neighbors = min(max(_RANKS) + 1, len(ids))
    nearest = np.searchsorted(ids, search_neighbors(table, ids, noisy, rows, n_neighbors))
    cosines = np.multiply(table[nearest], noisy[:, None, :], dtype=np.float64).sum(axis=2)
    return 1 + (cosines[:, 1:] > cosines[:, :1] + _SAME).sum(axis=1)


def _check_scales(scales: Any) -> np.ndarray:
    levels = np.asarray(scales, dtype=np.float64)
    if levels.ndim != 1 or not levels.size or not np.isfinite(levels).all() or (levels < 0).any():
        raise ValueError(
            "The 'scales' parameter of noise_study must be a 1-D array of finite floats of at least 0, and not empty. "
            f"Got shape {levels.shape} instead."
        )
    return levels
