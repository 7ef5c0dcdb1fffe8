"""History of a distributed training: one record per worker and epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass
class EpochRecord:
    """One local epoch of one worker.

    Parameters
    ----------
    worker : str
    epoch : int
        Of this worker, from 1.
    bytes_down, bytes_up : int
        Length of the messages.
    n_down, n_up : int
        Number of parameters in them.
    n_candidates, n_clipped : int
        How many updates were above the threshold, and how many of the sent ones were clipped.
    staleness : int or None
        Number of uploads that the server had applied since the download that this upload answers. None if the upload
        did not arrive before an interruption, or if the strategy has no staleness.
    update_norm, sent_norm : float
        Euclidean norm of the whole update and of what was sent.
    refused : str or None
        Why the server refused the upload.
    metrics : dict of str to float
        The learner's metrics and those of ``evaluate``.

    Notes
    -----
    Norms, numbers of candidates and metrics are computed from the data without noise. A worker with differential
    privacy must not publish them.
    """

    worker: str
    epoch: int
    bytes_down: int = 0
    n_down: int = 0
    bytes_up: int = 0
    n_up: int = 0
    n_candidates: int = 0
    n_clipped: int = 0
    staleness: int | None = None
    update_norm: float = 0.0
    sent_norm: float = 0.0
    refused: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)


class History:
    """Records of all workers and epochs, in the order in which the epochs ended.

    Attributes
    ----------
    interrupted : bool
        Whether the training was interrupted from the keyboard; only epochs that ended are listed.
    bytes_start : int
        First copies of the model that workers downloaded.
    bytes_repeated : int
        Messages that were sent again because they had not been acknowledged.

    Examples
    --------
    >>> history = History()
    >>> history.add(EpochRecord("site-1", 1, bytes_up=40))
    >>> history.add(EpochRecord("site-2", 1, metrics={"f1": 0.5}))
    >>> history.bytes_up, history.column("f1")
    (40, [nan, 0.5])
    """

    def __init__(self) -> None:
        self._records: list[EpochRecord] = []
        self.interrupted = False
        self.bytes_start = 0
        self.bytes_repeated = 0

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[EpochRecord]:
        return iter(self._records)

    def __getitem__(self, place: int) -> EpochRecord:
        return self._records[place]

    def __repr__(self) -> str:
        return f"History({len(self)} local epochs, {self.bytes_up} bytes up, {self.bytes_down} bytes down)"

    def add(self, record: EpochRecord) -> None:
        """Append a line."""
        self._records.append(record)

    def extend(self, other: History) -> None:
        """Append the history of a later training of the same workers."""
        self._records.extend(other)
        self.interrupted = other.interrupted
        self.bytes_start += other.bytes_start
        self.bytes_repeated += other.bytes_repeated

    @property
    def bytes_up(self) -> int:
        """All uploads, repetitions included."""
        return sum(record.bytes_up for record in self._records) + self.bytes_repeated

    @property
    def bytes_down(self) -> int:
        """All downloads, first copies included."""
        return sum(record.bytes_down for record in self._records) + self.bytes_start

    def column(self, name: str) -> list[Any]:
        """A field or metric of every line; nan where a line has no such metric."""
        return [_value(record, name) for record in self._records]

    def table(self, name: str) -> Mapping[str, np.ndarray]:
        """A field or metric by worker: an array of shape (n_epochs of this worker,) each."""
        workers: dict[str, list[Any]] = {}
        for record in self._records:
            workers.setdefault(record.worker, []).append(_value(record, name))
        return {worker: np.array(values) for worker, values in workers.items()}

    def to_list(self) -> list[dict[str, Any]]:
        """JSON values, one dict a line."""
        return [asdict(record) for record in self._records]


def _value(record: EpochRecord, name: str) -> Any:
    # A record without this metric gives nan, so that all columns have one length.
    return record.metrics.get(name, float("nan")) if name not in vars(record) else getattr(record, name)
