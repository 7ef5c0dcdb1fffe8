"""What a worker asks of whatever it trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

__all__ = ["Learner", "train_one_epoch"]


@runtime_checkable
class Learner(Protocol):
    """Whatever can be trained for an epoch and shows its parameters as one flat vector."""

    def get_flat(self) -> np.ndarray:
        """Parameters as a vector of shape (n,), float32."""

    def set_flat(self, vector: np.ndarray) -> None:
        """Replace the parameters by a copy of the vector."""

    def train_epoch(self) -> Mapping[str, float] | None:
        """Train for one epoch on the own data; figures for the history, or None."""


def train_one_epoch(learner: Learner) -> tuple[Learner, dict[str, float]]:
    """Train and give back the learner with its figures: the task that may run in another process."""
    return learner, dict(learner.train_epoch() or {})
