"""Aggregation of updates that bounds the influence of malicious workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from statistics import median

import numpy as np

from ..exceptions import ExchangeError
from .sparse import SparseUpdate
from .value_checks import check_choice, check_parameter

AGGREGATES = ("mean", "median", "trimmed_mean")
# With two workers, nobody can tell which of them is hostile.
FEWEST_UPDATES = 3
# Updates without noise were 3 to 6 times as long as updates with `PatientPrivacy(8)`, and had more steps.
RARE_RATIO = 4.0
# Reason of a round of which fewer than two updates remain: the last one may be neither too long nor opposed.
VOID = "Fewer than two updates of the round were left, so that the round changes nothing."
# Number of coordinates that are combined at a time, so that the sorted arrays stay small.
_BLOCK = 2**18


def clip_norm(vector: np.ndarray, bound: float) -> np.ndarray:
    """Shrink a vector to a Euclidean norm of at most ``bound``. Shorter vectors are returned unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> clip_norm(np.array([3.0, 4.0], dtype=np.float32), 1.0).round(3).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if norm <= bound:
        return vector
    # The factor 1 - 1e-6 exceeds the rounding error of float32, so that the bound also holds for the sent values.
    return (vector * (bound / norm * (1 - 1e-6))).astype(vector.dtype)


def trimmed_mean(vectors: Sequence[np.ndarray], n_trim: int) -> np.ndarray:
    """Mean of each coordinate without its ``n_trim`` smallest and largest values.

    The result lies between the values of honest workers as long as at most ``n_trim`` workers are malicious.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (n,)
        One vector for each worker.
    n_trim : int
        Number of values left out at each end, from 0. ``2 * n_trim`` must be less than the number of workers.

    References
    ----------
    Yin et al. (2018), Byzantine-Robust Distributed Learning, definition 2.

    Examples
    --------
    >>> import numpy as np
    >>> trimmed_mean([np.array([v], dtype=np.float32) for v in (1, 2, 3, 1e6)], 1).tolist()
    [2.5]
    """
    wanted = f"from 0 to {(len(vectors) - 1) // 2} for {len(vectors)} workers"
    check_parameter("trimmed_mean", "n_trim", n_trim, 0 <= 2 * n_trim < len(vectors), wanted)
    # shape of a sorted block: (n_workers, block); the kept rows are in the middle
    kept = slice(n_trim, len(vectors) - n_trim)
    return _by_block(vectors, lambda block: np.sort(block, axis=0)[kept].mean(axis=0, dtype=np.float64))


def coordinate_median(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """Median of each coordinate. For an even number of workers, the median is the mean of the two middle values.

    References
    ----------
    Yin et al. (2018), Byzantine-Robust Distributed Learning, definition 1.

    Examples
    --------
    >>> import numpy as np
    >>> coordinate_median([np.array([v], dtype=np.float32) for v in (1, 2, 1e6)]).tolist()
    [2.0]
    """
    return _by_block(vectors, lambda block: np.median(block.astype(np.float64), axis=0))


def aggregate(
    vectors: Sequence[np.ndarray | SparseUpdate],
    how: str = "mean",
    n_trim: int = 1,
    weights: Sequence[float] | None = None,
) -> np.ndarray:
    """Combine the vectors of several workers into one vector.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (n,), or of SparseUpdate
        One vector for each worker. Values that a worker did not send count as zero. With median and trimmed mean, these
        zeros therefore outvote a worker that alone sends a coordinate.
    how : {"mean", "median", "trimmed_mean"}, default="mean"
        Rule of combination. Median and trimmed mean give each worker one vote.
    n_trim : int, default=1
        Number of values that the trimmed mean leaves out at each end.
    weights : sequence of float, default=None
        Weights of the workers in the mean. None means equal weights. Median and trimmed mean take no weights.

    Returns
    -------
    ndarray of shape (n,), float32
        Combined vector.

    Examples
    --------
    >>> import numpy as np
    >>> aggregate([np.zeros(1, np.float32), np.ones(1, np.float32)], weights=[1, 3]).tolist()
    [0.75]
    """
    if not len(vectors):
        raise ExchangeError("At least one vector is needed.")
    # A missing value is a vote for zero. The mean over workers that sent a value would let a single worker decide
    # alone.
    dense = [vector.dense() if isinstance(vector, SparseUpdate) else vector for vector in vectors]
    check_choice("aggregate", "how", how, AGGREGATES)
    if how != "mean" and weights is not None:
        raise ValueError("The 'weights' parameter of aggregate must be None unless how='mean'.")
    if how == "median":
        return coordinate_median(dense)
    if how == "trimmed_mean":
        return trimmed_mean(dense, n_trim)
    # Sums in float64, so that rounding does not grow with the number of workers.
    share = np.ones(len(dense)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(share) != len(dense) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise ValueError("'weights' must hold one number of at least 0 for each worker, and not only zeros.")
    return _by_block(dense, lambda block: np.einsum("w,wn->n", share / share.sum(), block.astype(np.float64)))


def combine_round(
    vectors: Sequence[np.ndarray],
    how: str = "mean",
    n_trim: int = 1,
    max_ratio: float | Sequence[float] = math.inf,
    max_norm: float = math.inf,
    weights: Sequence[float] | None = None,
    opposed: Collection[int] = (),
    longest: Sequence[float] | None = None,
) -> tuple[np.ndarray, list[int]]:
    """Combine the updates of a round, without updates that are too long or point against the other updates.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (n,)
        Update of each worker.
    how, n_trim, weights
        Parameters of `aggregate`. If updates are left out, fewer values may remain than ``n_trim`` needs: the trimmed
        mean then leaves out as many values as possible.
    max_ratio : float or sequence of float, default=inf
        Largest norm of an update as a multiple of the median norm: one limit for all updates, or one limit for each
        update. Longer updates are left out. The limit has no effect on fewer than three updates, because the server
        cannot decide which of two updates is unusual.
    max_norm : float, default=inf
        Largest norm of an update in the combination: longer updates are shrunk to this norm. In contrast to
        ``max_ratio``, ``max_norm`` leaves out no update.
    opposed : collection of int, default=()
        Positions of further updates to leave out (`AgreementScreen`).
    longest : sequence of float, default=None
        Further limit of the norm of each update: longer updates are shrunk to this norm (`AgreementScreen`).

    Returns
    -------
    ndarray of shape (n,), float32
        Combined update. If only one of several updates remains, or none, the result is zero: the server cannot decide
        which update is hostile.
    list of int
        Positions of the updates that were left out.

    Examples
    --------
    >>> short, long = np.ones(2, np.float32), np.full(2, 9, np.float32)
    >>> combine_round([short, short, long], max_ratio=5.0)
    (array([1., 1.], dtype=float32), [2])
    """
    norms = [_norm(vector) for vector in vectors]
    # Workers that learned nothing set no limit.
    usual = (median(norms) if len(norms) >= FEWEST_UPDATES else 0.0) or math.inf
    too_long = (usual * np.broadcast_to(max_ratio, len(norms))).tolist()
    kept = [i for i, norm in enumerate(norms) if norm <= too_long[i] and i not in opposed]
    if len(kept) < min(2, len(vectors)):
        return np.zeros_like(vectors[0]), list(range(len(vectors)))
    own = None if weights is None else [weights[i] for i in kept]
    if len(kept) < len(vectors):
        n_trim = min(n_trim, (len(kept) - 1) // 2)
    bounds = [max_norm] * len(norms) if longest is None else [min(max_norm, bound) for bound in longest]
    combined = aggregate([clip_norm(vectors[i], bounds[i]) for i in kept], how, n_trim, own)
    return combined, [i for i in range(len(norms)) if i not in kept]


def rare_kind(workers: Sequence[str], noisy: Collection[str]) -> list[str]:
    """Workers of a round whose updates are of the rarer kind: with noise, or without noise.

    The median norm of the round gives little information on the usual length of the rarer kind of updates.

    Examples
    --------
    >>> rare_kind(["a", "b", "c"], noisy=["c"]), rare_kind(["a", "b", "c"], noisy=["a", "b", "c"])
    (['c'], [])
    """
    kinds = [[one for one in workers if (one in noisy) == with_noise] for with_noise in (False, True)]
    return [one for kind in kinds if 2 * len(kind) <= len(workers) for one in kind]


def _norm(vector: np.ndarray) -> float:
    # The sum is in float64, because squares of finite float32 numbers can overflow.
    return math.sqrt(np.einsum("i,i->", vector, vector, dtype=np.float64))


def _by_block(vectors: Sequence[np.ndarray], combine: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    if not len(vectors):
        raise ExchangeError("At least one vector is needed.")
    n = len(vectors[0])
    if any(np.shape(vector) != (n,) for vector in vectors):
        raise ExchangeError("All vectors must have the same length.")
    combined = np.empty(n, dtype=np.float32)
    for start in range(0, n, _BLOCK):
        stop = start + _BLOCK
        # shape: (n_workers, block) -> (block,)
        combined[start:stop] = combine(np.stack([vector[start:stop] for vector in vectors]))
    return combined
