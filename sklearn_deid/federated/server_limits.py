"""`ServerLimits`: the updates that a server accepts, and the step size of the server."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .selection import DOWNLOAD_SELECTIONS
from .value_checks import check_choice, check_parameter, with_plain_numbers


@dataclass(frozen=True)
class ServerLimits:
    """Rules of the server: accepted updates, step size, and selection of the parameters that workers fetch.

    The defaults bound the effect of a single message. The defaults do not bound the effect of a worker over many
    rounds.

    Parameters
    ----------
    max_abs : float, default=10.0
        Largest magnitude of a single value; ``math.inf`` means no limit. The updates of a default `DeidTagger` on 150
        notes have values below 0.2, and below 0.6 with ``lr=0.01``.
    max_norm : float or None, default=None
        Largest Euclidean norm of an update. None means the norm of the first parameters of the server, but at least 1;
        ``math.inf`` means no limit. The updates of the same taggers have at most a fifth of the norm of the first
        parameters.
    max_ratio : float, default=5.0
        Largest norm of an update, as a multiple of a median norm. The median is taken over the other workers' updates
        with the same sequence number. If another worker has not sent this number, the last update before counts.
        Updates become shorter during a training; the early updates of a late worker are therefore compared with early
        updates. The limit applies as soon as two other workers have sent an update; ``math.inf`` means no limit.
    last_sequence : int, default=None
        Sequence number of the last update of each worker. The last update replaces the weights by their moving average,
        and is much longer than the update before. For the last update, ``max_ratio`` is therefore a multiple of the
        median of the other workers' longest updates. The update before the last has a learning rate near zero, and is
        compared with the longest of three updates in a row of each other worker. None means no exceptions for these two
        updates.
    max_similarity : float, default=0.95
        Largest cosine of an update and the earlier updates of the same worker (`PastUpdates`). Content that a worker
        sends again, with small changes or under a new version, is refused; ``math.inf`` means no limit. The limit has
        no effect on models with fewer than 1,000 parameters.
    max_staleness : int, default=None
        Largest staleness of an update: the number of updates of other workers that were applied since the worker's
        download, without the updates of the busiest other worker. A single worker with very many uploads can therefore
        not make the updates of other workers stale. With two workers the staleness is 0. None means no limit.
    refuse_replays : bool, default=True
        Whether the server refuses replays. A replay has a new sequence number, but the same values at the same
        positions as one of the last 256 applied updates of any worker. An honest worker is refused only if two of its
        epochs end with the same values, bit for bit. Updates without a value other than 0 are never refused.
    max_gaps : int, default=1000
        Largest number of separate ranges of sequence numbers that the server stores for a worker. A worker that numbers
        its uploads in order needs one range, and one more range for each delayed upload.
    step : float, default=1.0
        Factor by which updates are multiplied before they are added. The papers use 1. If n workers train at the same
        time, 1/n adds the mean of their updates instead of the sum.
    download_selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        Selection of the parameters that a worker fetches (`select_download`). The papers use "most-updated". For
        "most-changed" the server keeps a vector for each worker, with the parameters that this worker has fetched.
    """

    max_abs: float = 10.0
    max_norm: float | None = None
    max_ratio: float = 5.0
    max_similarity: float = 0.95
    max_staleness: int | None = None
    refuse_replays: bool = True
    max_gaps: int = 1000
    step: float = 1.0
    download_selection: str = "most-updated"
    last_sequence: int | None = None

    def __post_init__(self) -> None:
        with_plain_numbers(self)
        for name in ("max_abs", "max_norm", "max_ratio", "max_similarity"):
            value = getattr(self, name)
            self._check(name, name == "max_norm" if value is None else value > 0, "a positive number")
        for name in ("max_staleness", "last_sequence"):
            self._check(name, (getattr(self, name) or 0) >= 0, "at least 0 or None")
        self._check("max_gaps", self.max_gaps >= 1, "at least 1")
        self._check("step", 0.0 < self.step < math.inf, "a positive number")
        check_choice("ServerLimits", "download_selection", self.download_selection, DOWNLOAD_SELECTIONS)

    def to_state(self) -> dict[str, Any]:
        """JSON values from which `from_state` builds the same limits."""
        # JSON has no infinity.
        return {name: "inf" if value == math.inf else value for name, value in asdict(self).items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], none_means_no_limit: bool = False) -> ServerLimits:
        """Build limits from the result of `to_state`. A limit that is None has its default value.

        Parameters
        ----------
        state : mapping
            Names and values of limits.
        none_means_no_limit : bool, default=False
            Whether None in ``max_abs`` and ``max_norm`` means no limit, as in states of version 0.1.0. A federation
            that was started with version 0.1.0 thus keeps its rules.
        """
        given = dict(state)
        if none_means_no_limit:
            given |= {name: "inf" for name in ("max_abs", "max_norm") if given[name] is None}
        # A federation of an earlier version continues without the limit that it did not agree on.
        for name in ("max_ratio", "max_similarity"):
            given.setdefault(name, "inf")
        given = {name: value for name, value in given.items() if value is not None}
        named: dict[str, Any] = {name: math.inf if value == "inf" else value for name, value in given.items()}
        return cls(**named)

    def _check(self, name: str, is_allowed: bool, wanted: str) -> None:
        check_parameter("ServerLimits", name, getattr(self, name), is_allowed, wanted)


# Much larger weights of the proximal term overflow the numbers of the network.
LARGEST_PROXIMAL = 1e6
# For workers in one process, of which none is hostile.
_NONE = dict.fromkeys(("max_abs", "max_norm", "max_ratio", "max_similarity"), math.inf)
NO_LIMITS = ServerLimits(**_NONE, refuse_replays=False)  # type: ignore[arg-type]
