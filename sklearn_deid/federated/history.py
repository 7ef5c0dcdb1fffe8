"""History of a distributed training: one record per worker and epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass
class EpochRecord:
    """Record of one local epoch of one worker.

    Parameters
    ----------
    worker : str
        Name of the worker.
    epoch : int
        Epoch of this worker, counted from 1.
    bytes_down, bytes_up : int
        Length of the downloaded and of the uploaded message.
    n_down, n_up : int
        Number of parameters in the messages.
    n_candidates, n_clipped : int
        Number of values above the threshold, and number of sent values that were clipped.
    staleness : int or None
        Number of uploads that the server applied between the download before the epoch and the upload after the epoch.
        None if the upload did not arrive before an interruption, or if the strategy has no staleness.
    update_norm, sent_norm : float
        Euclidean norms of the whole update and of the sent values.
    refused : str or None
        Reason why the server refused the upload. None if the server accepted the upload.
    metrics : dict of str to float
        Metrics of the learner and of ``evaluate``.

    Notes
    -----
    Norms, numbers of candidates and metrics are computed from the data without noise. A worker with differential
    privacy must not publish these values.
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
        Whether the training was interrupted from the keyboard. The history contains completed epochs only.
    bytes_start : int
        Bytes of the first copies of the model that workers downloaded.
    bytes_repeated : int
        Bytes of messages that were sent again because they had not been acknowledged.

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
        """Append a record."""
        self._records.append(record)

    def extend(self, other: History) -> None:
        """Append the history of a later training of the same workers."""
        self._records.extend(other)
        # Only the latest training counts: an interrupted training may have been continued.
        self.interrupted = other.interrupted
        self.bytes_start += other.bytes_start
        self.bytes_repeated += other.bytes_repeated

    @property
    def bytes_up(self) -> int:
        """Bytes of all uploads, including repetitions."""
        return sum(record.bytes_up for record in self._records) + self.bytes_repeated

    @property
    def bytes_down(self) -> int:
        """Bytes of all downloads, including first copies."""
        return sum(record.bytes_down for record in self._records) + self.bytes_start

    def column(self, name: str) -> list[Any]:
        """Values of a field or metric in all records; nan if a record does not have the metric."""
        return [_value(record, name) for record in self._records]

    def table(self, name: str) -> Mapping[str, np.ndarray]:
        """Values of a field or metric by worker, each as an array of shape (n_epochs of this worker,)."""
        workers: dict[str, list[Any]] = {}
        for record in self._records:
            workers.setdefault(record.worker, []).append(_value(record, name))
        return {worker: np.array(values) for worker, values in workers.items()}

    def to_list(self) -> list[dict[str, Any]]:
        """Convert to JSON values, one dict for each record."""
        return [asdict(record) for record in self._records]


def _value(record: EpochRecord, name: str) -> Any:
    # A record without this metric gives nan, so that all columns have one length.
    return record.metrics.get(name, float("nan")) if name not in vars(record) else getattr(record, name)
