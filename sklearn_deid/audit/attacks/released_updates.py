"""Updates of a distributed training as a curious server sees them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exceptions import ExchangeError
from ...federated.layout import ParameterLayout
from ...federated.record import ExchangeRecord
from ...federated.sparse import SparseUpdate

__all__ = ["ReleasedUpdates", "UpdateKnowledge"]


@dataclass(frozen=True, repr=False)
class UpdateKnowledge:
    """What a server, or whoever listens, knows about the model.

    Attributes
    ----------
    layout : ParameterLayout
        Where each parameter lies in the vector that is exchanged.
    frequencies : array-like of shape (n_rows,), optional
        How frequent each row (word or tag) is in general; the baseline guesses by it. None knows nothing.
    table : array-like of shape (n_rows, d), optional
        Vectors of the words, where they are public and not trained.
    """

    layout: ParameterLayout
    frequencies: Any = None
    table: Any = None

    def __repr__(self) -> str:
        return f"UpdateKnowledge({len(self.layout.names)} parameters)"


@dataclass(frozen=True, repr=False)
class ReleasedUpdates:
    """Updates that were sent, and for the measurement what each was computed from.

    Attributes
    ----------
    updates : ExchangeRecord, or sequence of SparseUpdate or of messages
        Of an `ExchangeRecord` the uploads, in order.
    present : sequence of collections of int
        For each update the rows (numbers of words or of tags) that occurred in its batch or epoch.
    """

    updates: Any
    present: Sequence[Collection[int]]

    def __post_init__(self) -> None:
        sent = self.updates.uploads() if isinstance(self.updates, ExchangeRecord) else self.updates
        updates = [one if isinstance(one, SparseUpdate) else one.decode() for one in sent]
        if not updates or len(updates) != len(self.present):
            raise ValueError(f"'present' must say of each of {len(updates)} updates what it was made of.")
        if any(one.kind != "update" for one in updates):
            raise ValueError("Parameters that were downloaded are no updates.")
        object.__setattr__(self, "updates", updates)
        object.__setattr__(self, "present", [frozenset(int(row) for row in rows) for rows in self.present])

    def __len__(self) -> int:
        return len(self.updates)

    def __repr__(self) -> str:  # the numbers of the words are as good as words
        return f"ReleasedUpdates(n={len(self)})"

    def parameter(self, layout: ParameterLayout, name: str) -> list[np.ndarray]:
        """One parameter's part of each update, in its shape, with zeros where nothing was sent.

        Raises
        ------
        ExchangeError
            If an update is of another model.
        ValueError
            If there is no such parameter.
        """
        if name not in layout.names:
            raise ValueError(f"The model has no parameter of that name; it has {len(layout.names)} others.")
        if any(one.model != layout.fingerprint for one in self.updates):
            raise ExchangeError("An update is of another model than the layout.")
        return [layout.unflatten(one.dense())[name] for one in self.updates]
