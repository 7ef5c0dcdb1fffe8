"""Selection of the exchanged parameters: a part of the update for the upload, global parameters for the download."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._randomness import release_generator
from ..exceptions import ExchangeError
from .ranking import largest_mask, random_subset
from .value_checks import check_choice, check_parameter

SELECTIONS = ("random", "largest")
DOWNLOAD_SELECTIONS = ("most-updated", "random", "most-changed")


@dataclass(frozen=True)
class Selected:
    """The part of an update that is sent.

    Parameters
    ----------
    indices : ndarray of shape (k,), intp
        Increasing positions of the sent values.
    values : ndarray of shape (k,), float32
        Sent values.
    n_candidates : int
        Number of values above the threshold.
    n_clipped : int
        Number of sent values that were clipped.
    """

    indices: np.ndarray
    values: np.ndarray
    n_candidates: int
    n_clipped: int


def n_shared(fraction: float, size: int) -> int:
    """Number of parameters that a fraction allows. The number is never more than ``fraction * size``.

    Parameters
    ----------
    fraction : float
        Fraction of all parameters, from 0 to 1.
    size : int
        Number of all parameters.

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
        raise ValueError(f"A fraction must be a number from 0 to 1. Got {fraction!r} instead.")
    # 0.29 * 100 is 28.999...96 in binary floating point. Rounding to six digits first corrects such errors.
    return math.floor(round(fraction * size, 6))


def select_upload(
    delta: np.ndarray,
    upload_fraction: float = 0.5,
    threshold: float = 1e-4,
    clip: float = 10.0,
    selection: str = "random",
    rng: np.random.Generator | None = None,
) -> Selected:
    """Choose the values that a worker sends, in the order of the papers: threshold, clip, select.

    1. Only entries with ``abs(delta) > threshold`` are candidates.
    2. Candidates are clamped to ``[-clip, clip]``.
    3. At most ``upload_fraction`` of *all* parameters are sent. The sent values are drawn uniformly from the
       candidates, or are the candidates of largest magnitude. Magnitudes are compared before clipping, because clipped
       magnitudes can be equal. Ties are broken at random.

    Parameters
    ----------
    delta : ndarray of shape (n,), float32
        Local parameters after the epoch minus local parameters before the epoch.
    upload_fraction : float, default=0.5
        theta_u of the papers, from 0 to 1.
    threshold : float, default=1e-4
        tau of the papers, not negative.
    clip : float, default=10.0
        gamma of the papers, positive. ``inf`` means no clipping.
    selection : {"random", "largest"}, default="random"
        Selection among the candidates. Festag & Spreckelsen (2020) use "random". Shokri & Shmatikov (2015) describe
        both selections.
    rng : Generator, optional
        Random generator. By default a generator with a key from the operating system is used.

    Returns
    -------
    Selected
        Positions and values to send.

    Raises
    ------
    ExchangeError
        If ``delta`` is not a finite vector. Training has then diverged.
    ValueError
        If a parameter is out of range.

    References
    ----------
    Festag & Spreckelsen (2020), Distributed Selective Stochastic Gradient Descent and Figure 5; Shokri & Shmatikov
    (2015), Privacy-Preserving Deep Learning. Festag & Spreckelsen leave open whether theta_u is a fraction of all
    parameters or of the candidates. In this library, theta_u and theta_d are fractions of all parameters.

    Examples
    --------
    >>> import numpy as np
    >>> delta = np.array([0.0, 20.0, -3.0, 0.5], dtype=np.float32)
    >>> chosen = select_upload(delta, upload_fraction=0.5, clip=10.0, selection="largest")
    >>> chosen.indices.tolist(), chosen.values.tolist()
    ([1, 2], [10.0, -3.0])
    """
    check_upload("select_upload", threshold, clip, selection)
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
        # More than k values are above the threshold, so the k largest of all values are candidates.
        chosen = largest_mask(np.abs(delta), k, rng)
    # shape of both: (number of sent values,), at most k
    # Increasing positions, as messages need them. The order of the draws is not visible in a message.
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
    """Choose the parameters that a worker fetches. Ties are broken at random.

    Parameters
    ----------
    counts : ndarray of shape (n,)
        Number of updates of each parameter. With "most-changed", the magnitude of the change of each parameter.
    download_fraction : float
        theta_d of the papers, a fraction of all parameters from 0 to 1.
    rng : Generator, optional
        Random generator. By default a generator with a key from the operating system is used.
    selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        "most-updated" is the selection of the papers. If most updates are above the threshold, the counters reflect
        chance, and the same parameters keep being chosen. "random" draws from all parameters that were ever updated.
        "most-changed" takes the parameters with the largest changes since the worker last fetched them.

    Returns
    -------
    ndarray of shape (k,), intp
        Increasing indices of the parameters.

    References
    ----------
    Festag & Spreckelsen (2020), Distributed Selective Stochastic Gradient Descent. Random ties are an addition of this
    library. If ties were broken by position, the last parameters would never be downloaded.

    Examples
    --------
    >>> import numpy as np
    >>> select_download(np.array([0, 3, 1, 2]), 0.5).tolist()
    [1, 3]
    """
    if selection not in DOWNLOAD_SELECTIONS:
        allowed = ", ".join(DOWNLOAD_SELECTIONS)
        raise ValueError(f"The 'download_selection' parameter must be one of {allowed}. Got {selection!r} instead.")
    rng = release_generator(rng)
    keys = np.asarray(counts)
    if selection == "random":
        # All updated parameters get equal keys: the random ties of largest_mask then draw uniformly from these
        # parameters.
        keys = (keys > 0).astype(np.int8)
    return np.flatnonzero(largest_mask(keys, n_shared(download_fraction, len(keys)), rng))


def largest_number(bound: float, dtype: str) -> float:
    """Largest number of a floating-point type that is at most ``bound``.

    Examples
    --------
    >>> largest_number(0.3, "float16"), largest_number(1e6, "float16"), largest_number(0.5, "float32")
    (0.2998046875, 65504.0, 0.5)
    """
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        number = kind(bound)
    return float(number if float(number) <= bound else np.nextafter(number, kind(0.0)))


def check_upload(owner: str, threshold: float, clip: float, selection: str) -> None:
    """Raise ValueError for a negative threshold, a clip that is not positive, and an unknown selection."""
    check_parameter(owner, "threshold", threshold, 0.0 <= threshold < math.inf, "a number of at least 0")
    check_parameter(owner, "clip", clip, clip > 0.0, "a positive number")
    check_choice(owner, "selection", selection, SELECTIONS)


def check_finite_vector(vector: np.ndarray) -> np.ndarray:
    """Return the vector as float32; raise ExchangeError if the vector is not one-dimensional and finite."""
    vector = np.asarray(vector, dtype=np.float32)
    if vector.ndim != 1:
        raise ExchangeError(f"A flat vector is needed. Got {vector.ndim} dimensions.")
    if not np.isfinite(vector).all():
        raise ExchangeError("The vector holds numbers that are not finite: training has diverged.")
    return vector
