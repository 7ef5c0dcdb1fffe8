"""Opt-in record of an exchange, for attacks by a simulated curious server or worker."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..exceptions import ExchangeError
from .sparse import SparseUpdate
from .state_file import read_state, valid_fields, write_state

_KIND = "exchange record"
_DIRECTIONS = ("down", "up")


class RecordedMessage(NamedTuple):
    """One message of an exchange.

    Parameters
    ----------
    direction : {"down", "up"}
        Download from the server or upload to the server.
    worker : str
        Name of the worker.
    epoch : int
        Number of local epochs that the worker had completed. The number increases during an epoch: the download before
        the third epoch has 2, and the upload after the third epoch has 3.
    data : bytes
        Encoded message.
    """

    direction: str
    worker: str
    epoch: int
    data: bytes

    def decode(self) -> SparseUpdate:
        """Decode the message.

        The ``version`` of a message is the version of the server at the last download of the worker.
        """
        return SparseUpdate.from_bytes(self.data)


class ExchangeRecord:
    """Record of all messages of a training, in the order in which the server saw them.

    Messages are recorded only if you pass a record to the training. The record holds all messages that the server sees,
    but no notes and no local parameters. A record is as sensitive as the exchange itself, and grows by the size of
    every message.

    Examples
    --------
    >>> import numpy as np
    >>> record = ExchangeRecord()
    >>> update = SparseUpdate(np.array([1]), np.array([0.5], dtype=np.float32), size=3, model="0" * 32)
    >>> record.add("up", "site-1", 1, update.to_bytes())
    >>> [message.decode().dense().tolist() for message in record.uploads("site-1")]
    [[0.0, 0.5, 0.0]]
    """

    def __init__(self) -> None:
        self._messages: list[RecordedMessage] = []

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[RecordedMessage]:
        return iter(self._messages)

    def __repr__(self) -> str:
        return f"ExchangeRecord({len(self)} messages)"

    def add(self, direction: str, worker: str, epoch: int, data: bytes) -> None:
        """Append a message."""
        if direction not in _DIRECTIONS:
            raise ExchangeError(f"'direction' must be one of {', '.join(_DIRECTIONS)}.")
        # bytes() copies a bytearray, which the caller could change later.
        self._messages.append(RecordedMessage(direction, worker, epoch, bytes(data)))

    def uploads(self, worker: str | None = None) -> list[RecordedMessage]:
        """Messages to the server, from one worker or from all workers."""
        return [m for m in self._messages if m.direction == "up" and worker in (None, m.worker)]

    def downloads(self, worker: str | None = None) -> list[RecordedMessage]:
        """Messages from the server, to one worker or to all workers."""
        return [m for m in self._messages if m.direction == "down" and worker in (None, m.worker)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to one file, without pickle."""
        # shape of each array: (n_bytes,), the message as uint8
        heads = [(m.direction, m.worker, m.epoch) for m in self._messages]
        arrays = {str(i): np.frombuffer(m.data, np.uint8) for i, m in enumerate(self._messages)}
        write_state(path, _KIND, {"messages": heads}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ExchangeRecord:
        """Read a record that `save` wrote.

        Raises
        ------
        ExchangeError
            If the file is missing or damaged, or is not a record.
        """
        state, arrays = read_state(path, _KIND)
        record = cls()
        with valid_fields(path, _KIND):
            for i, (direction, worker, epoch) in enumerate(state["messages"]):
                record.add(direction, str(worker), operator.index(epoch), arrays[str(i)].tobytes())
        return record
