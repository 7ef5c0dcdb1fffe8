"""Selection of the parameters that are exchanged: a part of the update up, some global parameters down."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._randomness import release_generator
from ..exceptions import ExchangeError
from .ranking import largest_mask, random_subset

SELECTIONS = ("random", "largest")
DOWNLOAD_SELECTIONS = ("most-updated", "random", "most-changed")


@dataclass(frozen=True)
class Selected:
    """The part of an update that is sent.

    Parameters
    ----------
    indices : ndarray of shape (k,), intp
        Increasing.
    values : ndarray of shape (k,), float32
    n_candidates : int
        How many were above the threshold.
    n_clipped : int
        How many of the sent ones were clipped.
    """

    indices: np.ndarray
    values: np.ndarray
    n_candidates: int
    n_clipped: int


def n_shared(fraction: float, size: int) -> int:
    """How many parameters a fraction allows: never more than ``fraction * size``.

    Parameters
    ----------
    fraction : float
        From 0 to 1, of all parameters.
    size : int

    Raises
    ------
    ValueError
        If the fraction is out of range.

    Examples
    --------
    >>> n_shared(0.1, 30), n_shared(0.29, 100), n_shared(0.5, 3)
    (3, 29, 1)
    """
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"A fraction must be a number from 0 to 1. Got {fraction!r}.")
    # 0.29 * 100 is 28.999...96: rounding away what binary fractions add or lack, then down
    return math.floor(round(fraction * size, 6))


def select_upload(
    delta: np.ndarray,
    upload_fraction: float = 0.5,
    threshold: float = 1e-4,
    clip: float = 10.0,
    selection: str = "random",
    rng: np.random.Generator | None = None,
) -> Selected:
    """Choose what a worker sends, in the order of the papers: threshold, clip, select.

    1. Only entries with ``abs(delta) > threshold`` are candidates.
    2. Candidates are clamped to ``[-clip, clip]``.
    3. At most ``upload_fraction`` of *all* parameters are sent. They are drawn uniformly from the candidates, or they
       are the candidates of largest magnitude. Magnitudes are compared before clipping, which would make them equal.
       Ties are broken at random.

    Parameters
    ----------
    delta : ndarray of shape (n,), float32
        Local parameters after the epoch minus before it.
    upload_fraction : float, default=0.5
        The papers' theta_u, from 0 to 1.
    threshold : float, default=1e-4
        The papers' tau, not negative.
    clip : float, default=10.0
        The papers' gamma, positive; ``inf`` for none.
    selection : {"random", "largest"}, default="random"
        "random" as in Festag & Spreckelsen (2020); both are in Shokri & Shmatikov (2015).
    rng : Generator, optional
        By default one with a key from the operating system.

    Returns
    -------
    Selected

    Raises
    ------
    ExchangeError
        If ``delta`` is no finite vector: training has diverged.
    ValueError
        If a parameter is out of range.

    References
    ----------
    Festag & Spreckelsen (2020), Distributed Selective Stochastic Gradient Descent and Figure 5; Shokri & Shmatikov
    (2015), Privacy-Preserving Deep Learning. Festag & Spreckelsen leave open whether theta_u is a share of all
    parameters or of the candidates; here it is of all, as theta_d is.

    Examples
    --------
    >>> import numpy as np
    >>> delta = np.array([0.0, 20.0, -3.0, 0.5], dtype=np.float32)
    >>> chosen = select_upload(delta, upload_fraction=0.5, clip=10.0, selection="largest")
    >>> chosen.indices.tolist(), chosen.values.tolist()
    ([1, 2], [10.0, -3.0])
    """
    check_bounds(threshold, clip)
    if selection not in SELECTIONS:
        raise ValueError(f"The 'selection' parameter must be one of {', '.join(SELECTIONS)}. Got {selection!r}.")
    delta = check_finite_vector(delta)
    rng = release_generator(rng)
    k = n_shared(upload_fraction, len(delta))
    # Two comparisons: np.abs would allocate another vector of millions of floats.
    candidates = delta > threshold  # shape: (n,)
    candidates |= delta < -threshold
    n_candidates = int(np.count_nonzero(candidates))
    if n_candidates <= k:
        chosen = candidates
    elif selection == "random":
        chosen = random_subset(candidates, k, rng)
    else:
        chosen = largest_mask(np.abs(delta), k, rng)  # more than k are above the threshold, so the k largest are
    indices = np.flatnonzero(chosen)
    values = delta[indices]
    n_clipped = int(np.count_nonzero(values > clip) + np.count_nonzero(values < -clip))
    if n_clipped:
        np.clip(values, -clip, clip, out=values)
    return Selected(indices, values, n_candidates, n_clipped)


def select_download(
    counts: np.ndarray,
    download_fraction: float,
    rng: np.random.Generator | None = None,
    selection: str = "most-updated",
) -> np.ndarray:
    """The parameters that a worker fetches: most often updated, any updated, or most changed ones; ties at random.

    Parameters
    ----------
    counts : ndarray of shape (n,)
        Number of updates of each parameter; with "most-changed", the size of its change.
    download_fraction : float
        The papers' theta_d, from 0 to 1, of all parameters.
    rng : Generator, optional
        By default one with a key from the operating system.
    selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        "most-updated" is the selection of the papers. If most updates are above the threshold, the counters reflect
        chance, and the same parameters keep being chosen. "random" draws from all parameters that were ever updated.
        "most-changed" takes the parameters with the largest changes since the worker last fetched them.

    Returns
    -------
    ndarray of shape (k,), intp
        Increasing indices.

    References
    ----------
    Festag & Spreckelsen (2020), Distributed Selective Stochastic Gradient Descent. Random ties are this library's: with
    the first of all equals the last parameters would never be downloaded.

    Examples
    --------
    >>> import numpy as np
    >>> select_download(np.array([0, 3, 1, 2]), 0.5).tolist()
    [1, 3]
    """
    if selection not in DOWNLOAD_SELECTIONS:
        allowed = ", ".join(DOWNLOAD_SELECTIONS)
        raise ValueError(f"The 'download_selection' parameter must be one of {allowed}. Got {selection!r}.")
    rng = release_generator(rng)
    keys = np.asarray(counts)
    if selection == "random":
        # All updated parameters get equal keys: the random ties of largest_mask then draw from them uniformly.
        keys = (keys > 0).astype(np.int8)
    return np.flatnonzero(largest_mask(keys, n_shared(download_fraction, len(keys)), rng))


def check_bounds(threshold: float, clip: float) -> None:
    """Refuse a negative threshold and a clip that is not positive."""
    if not 0.0 <= threshold < math.inf:
        raise ValueError(f"The 'threshold' parameter must be a number that is not negative. Got {threshold!r}.")
    if not clip > 0.0:
        raise ValueError(f"The 'clip' parameter must be a positive number. Got {clip!r}.")


def check_finite_vector(vector: np.ndarray) -> np.ndarray:
    """The vector as float32, if it is one and finite."""
    vector = np.asarray(vector, dtype=np.float32)
    if vector.ndim != 1:
        raise ExchangeError(f"A flat vector is needed. Got {vector.ndim} dimensions.")
    if not np.isfinite(vector).all():
        raise ExchangeError("The vector holds numbers that are not finite: training has diverged.")
    return vector
