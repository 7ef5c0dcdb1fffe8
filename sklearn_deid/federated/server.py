"""Parameter server: one global vector, and a counter of updates for each parameter."""

from __future__ import annotations

import math
import operator
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from statistics import median
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ExchangeError
from .agreement_screen import OPPOSED, AgreementScreen
from .delivered import Delivered, check_sequence
from .past_updates import PastUpdates
from .robust import FEWEST_UPDATES, RARE_RATIO, VOID, combine_round, rare_kind
from .selection import check_finite_vector, select_download
from .server_limits import ServerLimits
from .sparse import SparseUpdate, read_only
from .state_file import generator_from, generator_state, read_state, valid_fields, write_state

_KIND = "parameter server"
_LONGEST_LOG = 1000
# Applied updates whose contents are remembered: 8 kB of a checkpoint.
_N_DIGESTS = 256
# Norms of a worker's updates that are remembered: more than the epochs of a usual training.
_N_NORMS = 500
# Number of successive updates with which the second-to-last update is compared. Its learning rate is nearly zero, but a
# worker with error feedback still sends earlier values: its update was 5 times as long as the others, and was lost.
_IN_A_ROW = 3
_WAY_OUT = "Lower the learning rate or the noise, or agree on a larger"


class Refusal(NamedTuple):
    """Upload that the server refused, with the reason."""

    worker: str
    sequence: Any
    reason: str


class ParameterServer:
    """Server with one global vector, to which workers upload updates and from which they download parameters.

    The server does not schedule workers. You can call its methods at any time.

    Parameters
    ----------
    parameters : array of shape (n,)
        First global parameters.
    model : str
        Fingerprint of the model (`ParameterLayout.fingerprint`).
    limits : ServerLimits, default=None
        Rules of the server. None means ``ServerLimits()``. If ``max_norm`` is None, the attribute ``limits`` contains
        the norm that the server uses instead.
    random_state : int or Generator, default=None
        Random seed for breaking ties in downloads. None draws a seed from the operating system.
    checkpoint : path, default=None
        File that is written with every upload, before the upload is acknowledged. None keeps everything in memory.

    Attributes
    ----------
    version : int
        Number of applied updates.
    counts : ndarray of shape (n,), int32
        Number of updates of each parameter, read-only.
    parameters : ndarray of shape (n,), float32
        Read-only view of the global parameters. `download` returns a copy.
    refusals : deque of Refusal
        Last 1000 refusals, each with worker and reason. ``n_refused`` counts all refusals.

    Notes
    -----
    The argument ``worker`` must come from the authenticated connection and never from the message. Calls from several
    threads are serialised.

    With a checkpoint, `upload` returns when the update is on the disk. If workers repeat unacknowledged uploads, no
    update is then lost in a crash. The server applies a repeated upload only once. Without a checkpoint, a restarted
    server may have an older version than its workers, and then refuses their updates.

    References
    ----------
    Festag & Spreckelsen (2020), Distributed Selective Stochastic Gradient Descent.

    Examples
    --------
    >>> import numpy as np
    >>> server = ParameterServer(np.zeros(4), model="0" * 32, random_state=0)
    >>> update = SparseUpdate(np.array([1, 2]), np.array([0.5, -0.75], dtype=np.float32), size=4, model="0" * 32)
    >>> server.upload(update, worker="site-1", sequence=0), server.upload(update, worker="site-1", sequence=0)
    (True, False)
    >>> server.parameters.tolist(), server.counts.tolist()
    ([0.0, 0.5, -0.75, 0.0], [0, 1, 1, 0])
    >>> server.download(0.5).indices.tolist()
    [1, 2]
    """

    def __init__(
        self,
        parameters: np.ndarray,
        model: str,
        limits: ServerLimits | None = None,
        random_state: int | np.random.Generator | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        # The vector is copied, because the server changes its parameters in place.
        self._parameters = check_finite_vector(parameters).copy()
        self.model = SparseUpdate(np.zeros(0, int), np.zeros(0, np.float32), len(self._parameters), model).model
        limits = ServerLimits() if limits is None else limits
        norm = max(1.0, float(np.linalg.norm(self._parameters.astype(np.float64))))
        self.limits = limits if limits.max_norm is not None else replace(limits, max_norm=norm)
        self.checkpoint = checkpoint
        self.version = self.n_refused = 0
        self.refusals: deque[Refusal] = deque(maxlen=_LONGEST_LOG)
        self._counts = np.zeros(len(self._parameters), dtype=np.int32)
        self._delivered: dict[str, Delivered] = {}
        # One more than the largest number that a worker has sent, also with an update that was not applied.
        self._next_numbers: dict[str, int] = {}
        # Versions that the last updates of each worker made, as many as the bound on the staleness can distinguish.
        self._versions: dict[str, list[int]] = {}
        self._digests: list[str] = []
        # Pairs (sequence, norm) of the applied updates of each worker, sorted.
        self._norms: dict[str, list[tuple[int, float]]] = {}
        self._past = PastUpdates(len(self._parameters))
        self._screen = AgreementScreen()
        # For "most-changed": the value of each parameter that a worker fetched last. Shape of each array: (n,)
        self._handed_out: dict[str, np.ndarray] = {}
        self._rng = np.random.default_rng(random_state)
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"ParameterServer(size={self.size}, version={self.version}, workers={len(self._delivered)})"

    def __getstate__(self) -> dict[str, Any]:
        # Locks cannot be pickled. The copy receives a lock of its own.
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self._parameters)

    @property
    def parameters(self) -> np.ndarray:
        return read_only(self._parameters)

    @property
    def counts(self) -> np.ndarray:
        return read_only(self._counts)

    def download(self, download_fraction: float, worker: str | None = None) -> SparseUpdate:
        """Select parameters for a worker, by the ``download_selection`` of the limits.

        Parameters
        ----------
        download_fraction : float
            theta_d of the papers, from 0 to 1. Use 1 for the first download of a worker.
        worker : str, default=None
            Name of the worker, taken from the connection. "most-changed" needs the name.

        Returns
        -------
        SparseUpdate
            Message of the kind ``"parameters"``.

        Raises
        ------
        ExchangeError
            If the selection is "most-changed" and ``worker`` is None.

        Notes
        -----
        Checkpoints do not record the parameters that each worker has fetched. After a restart, all parameters that were
        ever updated count as changed. If a message to a worker is lost, the parameters in the message
        are not selected again until their next change.
        """
        with self._lock:
            selection = self.limits.download_selection
            if selection != "most-changed":
                indices = select_download(self._counts, download_fraction, self._rng, selection)
            elif worker is None:
                raise ExchangeError("The most-changed parameters depend on the worker: pass its name as 'worker'.")
            else:
                indices = self._most_changed(download_fraction, worker)
            return SparseUpdate(indices, self._parameters[indices], self.size, self.model, self.version, "parameters")

    def _most_changed(self, download_fraction: float, worker: str) -> np.ndarray:
        handed_out = self._handed_out.get(worker)
        if handed_out is None:
            # Nothing is known of this worker: any updated parameter may have changed since it last fetched.
            indices = select_download(self._counts, download_fraction, self._rng, "random")
            self._handed_out[worker] = self._parameters.copy()
            return indices
        changes = np.abs(self._parameters - handed_out)  # shape: (n,)
        indices = select_download(changes, download_fraction, self._rng, "most-changed")
        handed_out[indices] = self._parameters[indices]
        return indices

    def upload(self, update: SparseUpdate | bytes, worker: str, sequence: int) -> bool:
        """Add an update to the global parameters. A repeated upload is added only once.

        Parameters
        ----------
        update : SparseUpdate or bytes
            Message of the kind ``"update"``.
        worker : str
            Name of the worker, taken from the connection.
        sequence : int
            Sequence number of the upload among the uploads of this worker. The order of arrival does not matter.

        Returns
        -------
        bool
            True if the update was added, False if the upload is a repetition.

        Raises
        ------
        ExchangeError
            If the server refuses the update. In case of a refusal, only `refusals`, ``n_refused`` and `next_number`
            change.
        OSError
            If the checkpoint cannot be written. The server is unchanged in this case.
        """
        with self._lock:
            # The check of the number and the update are one step under the lock: two threads cannot apply the same
            # upload.
            checked = self.check(update, worker, sequence)
            if checked is None:
                return False
            with self._noting_refusal(worker, sequence):
                values = self._sum(checked)
            self._apply(checked, values, [(worker, sequence, checked)])
            return True

    def check(
        self, update: SparseUpdate | bytes, worker: str, sequence: int, in_round: bool = False
    ) -> SparseUpdate | None:
        """Check an update as in `upload`, without adding the update. The parameters are the same as in `upload`.

        With ``in_round``, an update may be four times as long as ``max_ratio`` allows, because `add_round` later
        compares the update with the other updates of the round.

        Returns
        -------
        SparseUpdate or None
            The decoded update. None if the update was already added.

        Raises
        ------
        ExchangeError
            If the server refuses the update.
        """
        with self._lock, self._noting_refusal(worker, sequence):
            checked = self._check(update, worker, sequence, RARE_RATIO if in_round else 1.0)
            return None if sequence in self._delivered.get(worker, ()) else checked

    def add_round(
        self,
        updates: Mapping[str, tuple[int, SparseUpdate]],
        how: str,
        n_trim: int = 1,
        screened: bool = False,
        factor: float = 1.0,
        noisy: Collection[str] = (),
    ) -> dict[str, str]:
        """Combine the updates of a round, and add the result to the global parameters as one new version.

        Parameters
        ----------
        updates : mapping of str to (int, SparseUpdate)
            Sequence number and checked update of each worker.
        how, n_trim
            Parameters of `aggregate`.
        screened : bool, default=False
            Whether updates that point against most other updates are left out, and unusually long updates are shrunk
            (`AgreementScreen`). The checkpoint includes the state of the screen.
        factor : float, default=1.0
            Factor by which the combined update is multiplied, in addition to the ``step`` of the limits.
        noisy : collection of str, default=()
            Workers that add noise. In a screened round, `rare_kind` finds the rarer kind of updates: with noise, or
            without noise. Updates of the rarer kind may be four times as long as ``max_ratio`` allows. If the rarer
            updates have noise, they are shrunk to the median norm.

        Returns
        -------
        dict of str to str
            Reason for each worker whose update was left out: the update is longer than ``max_ratio`` times the median
            norm, or points against most other updates, or fewer than two updates were left.

        Raises
        ------
        ExchangeError
            If the global parameters would no longer be finite. The server is unchanged in this case.
        OSError
            If the checkpoint cannot be written. The server is unchanged in this case.
        """
        with self._lock:
            names = sorted(updates)  # the order of arrival must not change the last bits of a mean
            vectors = [updates[name][1].dense() for name in names]
            told = dict(zip(names, vectors, strict=True))
            rare = rare_kind(names, noisy) if screened else []
            screen = self._screen.with_round(told, {*rare} & {*noisy}) if screened else self._screen
            is_judged = screened and len(names) >= FEWEST_UPDATES
            opposed = [names.index(name) for name in screen.opposed if name in updates] if is_judged else []
            longest = [screen.longest[name] for name in names] if screened else None
            ratio = self.limits.max_ratio
            ratios = [ratio * (RARE_RATIO if name in rare else 1.0) for name in names]
            combined, left_out = combine_round(vectors, how, n_trim, ratios, opposed=opposed, longest=longest)
            whole = SparseUpdate(np.arange(self.size), combined * np.float32(factor), self.size, self.model)
            kept = [(name, *updates[name]) for i, name in enumerate(names) if i not in left_out]
            self._apply(whole, self._sum(whole), kept, screen)
            long = VOID if not kept else f"The update is longer than {ratio:g} times the median of its round."
            reasons = {names[i]: OPPOSED if i in opposed else long for i in left_out}
            for name, reason in reasons.items():
                self._refuse(name, updates[name][0], reason)
            return reasons

    def _refuse(self, worker: str, sequence: Any, reason: str) -> None:
        self.n_refused += 1
        self.refusals.append(Refusal(str(worker), sequence, reason))

    @contextmanager
    def _noting_refusal(self, worker: str, sequence: Any) -> Iterator[None]:
        try:
            yield
        except ExchangeError as error:
            self._refuse(worker, sequence, error.message)
            raise

    def advance(self) -> None:
        """Give the unchanged parameters a new version, and write the checkpoint.

        Raises
        ------
        OSError
            If the checkpoint cannot be written. The server is unchanged in this case.
        """
        with self._lock:
            nothing = SparseUpdate(np.zeros(0, int), np.zeros(0, np.float32), self.size, self.model)
            self._apply(nothing, nothing.values, [])

    def _apply(
        self,
        update: SparseUpdate,
        values: np.ndarray,
        parts: Sequence[tuple[str, int, SparseUpdate]],
        screen: AgreementScreen | None = None,
    ) -> None:
        """Apply an update that combines the updates of some workers, completely or not at all.

        If the checkpoint fails, or after an interruption by Ctrl-C, the server is unchanged.
        """
        indices = update.indices
        # A copy of the touched entries suffices to go back; a copy of the whole vector would cost more than the update.
        before = self._parameters[indices], self._counts[indices], self.version
        remembered = self._digests, self._versions, self._norms, self._past, self._screen
        try:
            self._screen = self._screen if screen is None else screen
            self._parameters[indices] = values
            self._counts[indices] = before[1] + 1
            self.version += 1
            for worker, sequence, part in parts:
                self._remember(worker, sequence, part)
            if self.checkpoint is not None:
                self.save(self.checkpoint)
        except BaseException:
            self._parameters[indices], self._counts[indices], self.version = before
            self._digests, self._versions, self._norms, self._past, self._screen = remembered
            for worker, sequence, _ in parts:
                self._delivered.get(worker, Delivered()).discard(sequence)
            raise

    def _remember(self, worker: str, sequence: int, update: SparseUpdate) -> None:
        """Store an applied update, so that later updates can be compared with the update."""
        self._delivered.setdefault(worker, Delivered()).add(sequence)
        if update.largest():
            self._digests = [*self._digests, _digest(update)][-_N_DIGESTS:]
            norms = sorted([*self._norms.get(worker, []), (sequence, update.norm())])
            self._norms = {**self._norms, worker: norms[-_N_NORMS:]}
            self._past = self._past.with_one(worker, update)
        if self.limits.max_staleness is not None:
            own = [*self._versions.get(worker, []), self.version][-self.limits.max_staleness - 1 :]
            self._versions = {**self._versions, worker: own}

    def _check(self, update: SparseUpdate | bytes, worker: str, sequence: int, slack: float = 1.0) -> SparseUpdate:
        if not isinstance(worker, str) or not worker:
            raise ExchangeError("The name of a worker must be text.")
        self._next_numbers[worker] = max(check_sequence(sequence) + 1, self._next_numbers.get(worker, 0))
        if not isinstance(update, SparseUpdate):
            update = SparseUpdate.from_bytes(update, size=self.size, model=self.model, kind="update")
        if (update.size, update.model, update.kind) != (self.size, self.model, "update"):
            raise ExchangeError("The update belongs to another model, size or kind.")
        # A version from the future is possible after a restart from an older checkpoint.
        if update.version > self.version:
            raise ExchangeError(f"The update starts from version {update.version}; the server has {self.version}.")
        most = self.limits.max_staleness
        if most is not None and (staleness := self._staleness(update, worker)) > most:
            raise ExchangeError(
                f"The update is {staleness} or more updates of other workers old; {most} are allowed. Download the "
                "parameters and train again."
            )
        self._check_values(update)
        self._check_ratio(update, worker, sequence, slack)
        seen = self._delivered.get(worker, Delivered())
        if seen.n_ranges() >= self.limits.max_gaps and seen.opens_range(sequence):
            raise ExchangeError(
                f"The sequence numbers of the worker have {self.limits.max_gaps} ranges. Number uploads in order, and "
                "repeat the uploads that were not acknowledged."
            )
        # A repetition of an applied number is answered without being added again.
        is_new = sequence not in seen
        if is_new and self.limits.refuse_replays and update.largest() and _digest(update) in self._digests:
            raise ExchangeError("The update repeats the values of an applied one under another sequence number.")
        if is_new and self._past.similarity(worker, update) > self.limits.max_similarity:
            raise ExchangeError(
                "The update points in the direction of an earlier update of this worker. Training does not repeat "
                "itself like this; otherwise agree on a larger 'max_similarity'."
            )
        return update

    def _check_values(self, update: SparseUpdate) -> None:
        if update.largest() > self.limits.max_abs:
            raise ExchangeError(f"The update holds a value beyond {self.limits.max_abs:g}. {_WAY_OUT} 'max_abs'.")
        assert self.limits.max_norm is not None
        # The norm is computed only if a bound exists, because it reads all values.
        if self.limits.max_norm < math.inf and update.norm() > self.limits.max_norm:
            raise ExchangeError(f"The norm of the update is above {self.limits.max_norm:g}. {_WAY_OUT} 'max_norm'.")

    def _check_ratio(self, update: SparseUpdate, worker: str, sequence: int, slack: float) -> None:
        limit = self.limits.max_ratio * slack
        others = [norms for name, norms in self._norms.items() if name != worker]
        # Of two workers, nobody can tell which is hostile: each could lower the limit of the other.
        if limit == math.inf or len(others) < 2:
            return
        if sequence == self.limits.last_sequence:
            usual = median(max(norm for _, norm in norms) for norms in others)
        else:
            n_in_a_row = _IN_A_ROW if sequence + 1 == self.limits.last_sequence else 1
            usual = median(_recent_norm(norms, sequence, n_in_a_row) for norms in others)
        if update.norm() > limit * usual:
            raise ExchangeError(
                f"The norm of the update is more than {limit:g} times the median norm of the other workers' updates. "
                f"{_WAY_OUT} 'max_ratio'."
            )

    def _staleness(self, update: SparseUpdate, worker: str) -> int:
        """Number of updates of other workers since the download, without the updates of the busiest other worker.

        The busiest worker is left out, because a worker that sends very many updates could otherwise make the updates
        of all other workers stale.
        """
        others = (versions for name, versions in self._versions.items() if name != worker)
        counts = sorted(len(versions) - bisect_right(versions, update.version) for versions in others)
        return sum(counts[:-1])

    def _sum(self, update: SparseUpdate) -> np.ndarray:
        """New values of the updated parameters, shape (k,)."""
        # A step of 1 adds the values as they came, bit by bit.
        added = update.values if self.limits.step == 1.0 else np.float32(self.limits.step) * update.values
        # An overflow becomes infinite here and is refused below.
        with np.errstate(over="ignore"):
            values = self._parameters[update.indices]
            values += added
        if not np.isfinite(values).all():
            raise ExchangeError("With this update the global parameters would no longer be finite.")
        return values

    def delivered(self, worker: str) -> list[tuple[int, int]]:
        """Sequence numbers of a worker's applied uploads, as (first, last) ranges with both ends included."""
        with self._lock:
            return self._delivered[worker].ranges() if worker in self._delivered else []

    def next_number(self, worker: str) -> int:
        """Smallest number above all sequence numbers of a worker's uploads, including uploads that were not applied."""
        with self._lock:
            return self._next_numbers.get(worker, 0)

    def norms(self, worker: str) -> list[float]:
        """Norms of the last 500 applied uploads of a worker, ordered by sequence number."""
        with self._lock:
            return [norm for _, norm in self._norms.get(worker, [])]

    def forget_norms(self, workers: Collection[str]) -> None:
        """Forget the norms of all workers except ``workers``, such as the sites that were not excluded.

        The server compares the length of an update with the remaining norms. The last norms of a worker that sends no
        more updates would not show the usual length of a current update.
        """
        with self._lock:
            self._norms = {name: norms for name, norms in self._norms.items() if name in workers}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to one file. A crash leaves the complete old file or the complete new file."""
        with self._lock:
            state = {
                "model": self.model,
                "version": self.version,
                "limits": self.limits.to_state(),
                "delivered": {worker: seen.ranges() for worker, seen in self._delivered.items()},
                "next_numbers": self._next_numbers,
                "versions": self._versions,
                "digests": self._digests,
                "norms": self._norms,
                "n_refused": self.n_refused,
                "screen": {name: getattr(self._screen, name) for name in ("rounds", "opposed")},
                "generator": generator_state(self._rng),
            }
            past, state["past"] = self._past.to_arrays()
            write_state(path, _KIND, state, {"parameters": self._parameters, "counts": self._counts, **past})

    @classmethod
    def load(cls, path: str | os.PathLike[str], keep: bool = False) -> ParameterServer:
        """Load a server that `save` wrote. The loaded server breaks ties like the saved server.

        Parameters
        ----------
        path : path
            File that `save` wrote.
        keep : bool, default=False
            Whether the file becomes the checkpoint of the loaded server.

        Raises
        ------
        ExchangeError
            If the file is missing or damaged, or is not a saved server.
        """
        with valid_fields(path, _KIND):
            return cls._from_state(*read_state(path, _KIND), path if keep else None)

    @classmethod
    def _from_state(
        cls, state: dict[str, Any], arrays: dict[str, np.ndarray], checkpoint: str | os.PathLike[str] | None
    ) -> ParameterServer:
        limits = ServerLimits.from_state(state["limits"], none_means_no_limit="versions" not in state)
        server = cls(arrays["parameters"], state["model"], limits, checkpoint=checkpoint)
        if arrays["counts"].shape != arrays["parameters"].shape or not np.isfinite(arrays["counts"]).all():
            raise ValueError("counts of other parameters")
        server._counts = arrays["counts"].astype(np.int32)
        server.version, server.n_refused = operator.index(state["version"]), operator.index(state["n_refused"])
        server._delivered = {worker: Delivered(map(tuple, seen)) for worker, seen in state["delivered"].items()}
        # Servers saved by earlier versions know applied uploads only.
        applied = {worker: seen.ranges()[-1][1] + 1 for worker, seen in server._delivered.items() if len(seen)}
        told = {worker: operator.index(number) for worker, number in state.get("next_numbers", {}).items()}
        server._next_numbers = {**applied, **told}
        # Servers saved by earlier versions have neither list.
        versions, server._digests = state.get("versions", {}).items(), list(map(str, state.get("digests", [])))
        server._versions = {worker: [operator.index(number) for number in own] for worker, own in versions}
        norms = state.get("norms", {}).items()
        server._norms = {worker: [(operator.index(n), float(norm)) for n, norm in pairs] for worker, pairs in norms}
        server._past = PastUpdates.from_arrays(server.size, arrays, state.get("past", []))
        server._screen = AgreementScreen(**state.get("screen", {}))
        server._rng = generator_from(state["generator"])
        return server


def _recent_norm(norms: list[tuple[int, float]], sequence: int, n: int) -> float:
    """Largest norm of a worker's last ``n`` updates up to a sequence number. Without such updates, the first norm."""
    end = max(bisect_right(norms, (sequence, math.inf)), 1)
    return max(norm for _, norm in norms[max(end - n, 0) : end])


def _digest(update: SparseUpdate) -> str:
    """Digest of the positions and values of an update, without its version."""
    digest = blake2b(np.ascontiguousarray(update.indices).data, digest_size=16)
    digest.update(np.ascontiguousarray(update.values).data)
    return digest.hexdigest()
