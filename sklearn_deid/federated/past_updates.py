"""Directions of the last updates of each worker, so that a worker cannot send the same content repeatedly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from .sparse import SparseUpdate

# A copy of an update without its last bits is similar to it at 1.00. Successive updates of an honest site are at most
# 0.5 (three sites of 20 generated notes, 12 epochs), so that a short summary distinguishes copies.
_WIDTH = 512
_N_KEPT = 256
# Vectors of few values are similar by chance.
FEWEST_PARAMETERS = 1000


class PastUpdates:
    """Short summaries of the last 256 updates, whose cosines are close to the cosines of the updates (count sketch).

    The object is immutable: `with_one` returns a new object.

    Parameters
    ----------
    size : int
        Number of parameters.
    workers : sequence of str
        Worker of each update.
    summaries : ndarray of shape (n_updates, 512), float32
        Summaries of norm 1.

    References
    ----------
    Charikar, Chen & Farach-Colton (2004), Finding frequent items in data streams, Theoretical Computer Science.

    Examples
    --------
    >>> update = SparseUpdate(np.arange(2000), np.ones(2000, np.float32), 2000, "0" * 32)
    >>> past = PastUpdates(2000).with_one("a", update)
    >>> round(past.similarity("a", update), 2), past.similarity("b", update)
    (1.0, -1.0)
    """

    def __init__(self, size: int, workers: Sequence[str] = (), summaries: np.ndarray | None = None) -> None:
        self.size, self.workers = size, tuple(workers)
        self.summaries = np.zeros((0, _WIDTH), np.float32) if summaries is None else summaries

    def with_one(self, worker: str, update: SparseUpdate) -> PastUpdates:
        """Return a copy with the summary of one more update."""
        if self.size < FEWEST_PARAMETERS:
            return self
        summaries = np.vstack([self.summaries, self._summary(update)])[-_N_KEPT:]
        return PastUpdates(self.size, (*self.workers, worker)[-_N_KEPT:], summaries)

    def similarity(self, worker: str, update: SparseUpdate) -> float:
        """Largest cosine of an update and the earlier updates of this worker; -1 without earlier updates."""
        own = np.array([name == worker for name in self.workers], dtype=bool)
        if not own.any() or not update.largest():
            return -1.0
        return float((self.summaries[own] @ self._summary(update)).max())

    def to_arrays(self) -> tuple[dict[str, np.ndarray], list[str]]:
        """Arrays and names for a file."""
        return {"past": self.summaries.astype(np.float16)}, list(self.workers)

    @classmethod
    def from_arrays(cls, size: int, arrays: Mapping[str, np.ndarray], workers: Sequence[str]) -> PastUpdates:
        """Restore the object from the result of `to_arrays`. Files of earlier versions contain no summaries."""
        return cls(size, workers, arrays["past"].astype(np.float32)) if workers else cls(size)

    def _summary(self, update: SparseUpdate) -> np.ndarray:
        places, signs = _random_places(self.size)
        weights = signs[update.indices] * update.values.astype(np.float64)
        summary = np.bincount(places[update.indices], weights=weights, minlength=_WIDTH)  # shape: (512,)
        return (summary / max(float(np.linalg.norm(summary)), 1e-30)).astype(np.float32)


@lru_cache(maxsize=4)
def _random_places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Random position and sign of each parameter, shape (size,) each. Positions and signs are public and constant."""
    rng = np.random.default_rng(size)
    return rng.integers(0, _WIDTH, size, dtype=np.int32), 2.0 * rng.integers(0, 2, size) - 1.0
