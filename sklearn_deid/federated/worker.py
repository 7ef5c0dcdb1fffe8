"""Worker of an exchange: downloads parameters, trains on its own notes, and selects a part of its update to send."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._randomness import KEYED, own_generator, release_generator
from ..exceptions import ExchangeError
from .held_out_guard import HeldOutGuard
from .noise import GaussianUpload, SparseVectorUpload
from .privacy_ledger import PrivacyLedger
from .rotating_guard import RotatingGuard
from .selection import Selected, check_finite_vector, check_upload, largest_number, select_upload
from .sparse import DTYPES, SparseUpdate
from .state_file import generator_from, generator_state, read_state, valid_fields, write_state
from .value_checks import check_choice, check_parameter

_KIND = "worker"


@runtime_checkable
class Learner(Protocol):
    """Protocol of an object that a `Worker` can train, one epoch at a time, with its parameters as one flat vector."""

    def get_flat(self) -> np.ndarray:
        """Return the parameters as a vector of shape (n,), float32."""

    def set_flat(self, vector: np.ndarray) -> None:
        """Replace the parameters by a copy of the vector."""

    def train_epoch(self) -> Mapping[str, float] | None:
        """Train for one epoch on the learner's own data. Returns metrics for the history, or None."""


def train_one_epoch(learner: Learner) -> tuple[Learner, dict[str, float]]:
    """Train a learner, and return the learner with its metrics. This task may run in another process."""
    return learner, dict(learner.train_epoch() or {})


@dataclass(frozen=True)
class WorkerSettings:
    """Settings that control which part of its updates a worker sends.

    Each worker has its own settings. No message contains the settings.

    Parameters
    ----------
    upload_fraction : float, default=0.5
        theta_u, the largest fraction of all parameters that is sent per epoch.
    download_fraction : float, default=0.1
        theta_d, the fraction of all parameters that is replaced before an epoch. With high values, the updates of other
        workers disturb the training. In Festag & Spreckelsen (2020), the networks fluctuated with 0.5.
    clip : float, default=10.0
        gamma, the largest magnitude of a sent value, before `GaussianUpload` adds noise. Rounding to ``upload_dtype``
        does not exceed the clip (``sent_clip``).
    threshold : float, default=1e-4
        tau. Values whose magnitude is at most tau are not sent.
    selection : {"random", "largest"}, default="random"
        Selection among the values above the threshold.
    upload_dtype : {"float32", "float16"}, default="float32"
        Type of the sent values.
    error_feedback : bool, default=False
        Whether unsent values of an epoch are added to the update of the next epoch. Small changes then accumulate until
        they are sent. Only refused updates are lost (sparsified SGD with memory). Combine error feedback with
        ``selection="largest"``.

    References
    ----------
    Stich, Cordonnier & Jaggi (2018), Sparsified SGD with Memory, NeurIPS, for ``error_feedback``.
    """

    upload_fraction: float = 0.5
    download_fraction: float = 0.1
    clip: float = 10.0
    threshold: float = 1e-4
    selection: str = "random"
    upload_dtype: str = "float32"
    error_feedback: bool = False

    def __post_init__(self) -> None:
        for name in ("upload_fraction", "download_fraction"):
            value = getattr(self, name)
            check_parameter("WorkerSettings", name, value, 0.0 <= value <= 1.0, "a number from 0 to 1")
        check_upload("WorkerSettings", self.threshold, self.clip, self.selection)
        check_choice("WorkerSettings", "upload_dtype", self.upload_dtype, DTYPES)
        wanted = f"a positive number of the type {self.upload_dtype}, or more"
        check_parameter("WorkerSettings", "clip", self.clip, self.sent_clip > 0.0, wanted)

    @property
    def sent_clip(self) -> float:
        """Largest number of the type ``upload_dtype`` that is at most ``clip``.

        Rounding to the type would otherwise lengthen clipped values, so that a server with the same limit would refuse
        the update.
        """
        return largest_number(self.clip, self.upload_dtype)

    def check_privacy(self, privacy: GaussianUpload | SparseVectorUpload | None) -> None:
        """Raise ValueError for settings under which the noise would give no guarantee."""
        if privacy is None:
            return
        privacy.check(self.threshold, self.clip, self.selection)
        if self.error_feedback:
            raise ValueError("'error_feedback' and noise exclude each other: the next update would remove the noise.")

    @classmethod
    def of(cls, holder: Any) -> WorkerSettings:
        """Copy the settings from an object with attributes of these names, such as an estimator."""
        return cls(**{field.name: getattr(holder, field.name) for field in fields(cls)})


class Worker:
    """One participant of a federated training, which exchanges updates with a server.

    An epoch consists of `apply_download`, `local_epoch` and `select_upload`. The caller sends the update to the server
    together with its sequence number. The update stays in ``pending`` until you call `acknowledge`.

    Parameters
    ----------
    name : str
        Name of the worker.
    learner : Learner
        Learner of this worker. Workers must not share a learner.
    model : str
        Fingerprint of the model.
    settings : WorkerSettings, default=None
        Part of its updates that the worker sends. None means ``WorkerSettings()``.
    privacy : GaussianUpload or SparseVectorUpload, default=None
        Noise on the update. None sends the selected values without noise, which gives no formal guarantee.
    random_state : int or Generator, default=None
        Random seed of the selection and the noise. Set a seed in tests only: anyone who knows the seed can subtract the
        noise. None draws a new key from the operating system for each upload (`_randomness.release_generator`); no key
        is kept or saved.
    guard : HeldOutGuard or RotatingGuard, default=None
        Test of downloads on held-out patients. With a guard, the learner needs a method ``held_out()``, or for a
        `RotatingGuard` ``held_out_loss()``. None accepts every download.

    Attributes
    ----------
    n_epochs : int
        Number of local epochs that ended.
    sequence : int
        Sequence number of the next upload.
    pending : dict of int to bytes
        Messages that were not acknowledged, by sequence number. After a failure, send the pending messages again.
    version : int or None
        Version of the server at the last download. None before the first download.
    selected : Selected or None
        Last selection.
    ledger : PrivacyLedger
        Record of all randomised uploads, from which a privacy accountant computes epsilon.

    References
    ----------
    Festag & Spreckelsen (2020), Figure 5.

    Examples
    --------
    >>> import numpy as np
    >>> class Descent:
    ...     def __init__(self): self.vector = np.zeros(2, dtype=np.float32)
    ...     def get_flat(self): return self.vector.copy()
    ...     def set_flat(self, vector): self.vector = np.array(vector)
    ...     def train_epoch(self): self.vector -= 0.5 * (self.vector - 1)
    >>> worker = Worker("site-1", Descent(), "0" * 32, WorkerSettings(upload_fraction=1.0))
    >>> worker.local_epoch()
    {}
    >>> worker.select_upload().values.tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        name: str,
        learner: Learner,
        model: str,
        settings: WorkerSettings | None = None,
        *,
        privacy: GaussianUpload | SparseVectorUpload | None = None,
        random_state: int | np.random.Generator | None = None,
        guard: HeldOutGuard | RotatingGuard | None = None,
    ) -> None:
        self.name = name
        self.guard = guard
        self.learner = learner
        self.model = model
        self.settings = WorkerSettings() if settings is None else settings
        self.privacy = privacy
        self.settings.check_privacy(privacy)
        self.ledger = PrivacyLedger()
        self.n_epochs = 0
        self.sequence = 0
        self.version: int | None = None
        self.pending: dict[int, bytes] = {}
        self.selected: Selected | None = None
        # None means a new key for each upload. A stored generator would repeat its noise in copies of the worker, in
        # forked processes and after a restore, and repeated noise can be subtracted.
        self._rng = None if random_state is None else own_generator(random_state)
        self._before: np.ndarray | None = None
        self._delta: np.ndarray | None = None
        self._unsent: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Worker({self.name!r}, n_epochs={self.n_epochs}, pending={len(self.pending)})"

    def apply_download(self, parameters: SparseUpdate | bytes) -> bool:
        """Overwrite local parameters with downloaded parameters. Returns False if the guard refuses the download.

        With error feedback, unsent values are added to the downloaded parameters. Otherwise, training would learn the
        unsent changes again, and the worker would send them twice.

        Raises
        ------
        ExchangeError
            If the message is damaged or belongs to another model. The learner is unchanged in this case.
        """
        # shape: (n,)
        vector = np.array(self.learner.get_flat(), dtype=np.float32)
        if not isinstance(parameters, SparseUpdate):
            parameters = SparseUpdate.from_bytes(parameters, size=len(vector), model=self.model, kind="parameters")
        if (parameters.size, parameters.model, parameters.kind) != (len(vector), self.model, "parameters"):
            raise ExchangeError("The download belongs to another model, size or kind.")
        vector[parameters.indices] = parameters.values
        # With error feedback the worker keeps its unsent remainder on top of the downloaded values.
        if self._unsent is not None:
            vector[parameters.indices] += self._unsent[parameters.indices]
        is_taken = self.start_from(vector)
        self.version = parameters.version
        return is_taken

    def start_from(self, vector: np.ndarray) -> bool:
        """Replace the parameters unless the guard refuses the new values; return whether the guard accepts."""
        before = None if self.guard is None else np.array(self.learner.get_flat(), dtype=np.float32)
        self.learner.set_flat(vector)
        if self.guard is None or (before is not None and self.guard.accepts(self.learner, before)):
            return True
        assert before is not None
        self.learner.set_flat(before)
        return False

    def settle(self) -> None:
        """End the training with the last parameters that passed the guard's test. Without a guard, nothing changes."""
        if self.guard is not None:
            self.guard.settle(self.learner)

    def local_epoch(self) -> dict[str, float]:
        """Train for one epoch in this process; returns the learner's metrics."""
        learner, metrics = train_one_epoch(self.begin_epoch())
        self.finish_epoch(learner)
        return metrics

    def begin_epoch(self) -> Learner:
        """Store the parameters, and return the learner for `train_one_epoch`, in this process or another."""
        # A copy: the learner may train in place.
        self._before = np.array(self.learner.get_flat(), dtype=np.float32)
        return self.learner

    def finish_epoch(self, learner: Learner) -> None:
        """Replace the learner by the trained learner.

        Raises
        ------
        ExchangeError
            If the parameters of the learner are no longer finite. The worker then returns to the parameters before the
            epoch.
        """
        if self._before is None:
            raise ExchangeError("There is no epoch to finish: call begin_epoch first.")
        delta = np.asarray(learner.get_flat(), dtype=np.float32) - self._before  # shape: (n,)
        self.learner = learner
        try:
            self._delta = check_finite_vector(delta)
        except ExchangeError:
            self.abandon_epoch()
            raise
        self._before = None
        if self.guard is not None:
            self.guard.after_epoch(self.learner)
        self.n_epochs += 1

    def abandon_epoch(self) -> None:
        """Return to the parameters before an incomplete epoch."""
        if self._before is not None:
            self.learner.set_flat(self._before)
        self._before = None

    @property
    def update_norm(self) -> float:
        """Euclidean norm of the whole update of the last epoch, for local use; 0.0 if there is no update to send."""
        delta = self._delta
        # The sum is in float64, because squares of finite float32 numbers can overflow.
        return 0.0 if delta is None else math.sqrt(np.einsum("i,i->", delta, delta, dtype=np.float64))

    def take_update(self) -> np.ndarray:
        """Return the whole update of the last epoch, shape (n,), float32. Call the method once per epoch.

        The update is not clipped and has no noise.

        Raises
        ------
        ExchangeError
            If no epoch has ended since the last call.
        """
        delta, self._delta = self._update(), None
        return delta

    def shrink_update(self, factor: float) -> None:
        """Multiply the update of the last epoch by a factor from 0 to 1, before you call `select_upload`.

        The last update of a training replaces the weights by their moving average. Use a factor below 1 if the server
        multiplies the mean of the updates by a factor above 1: the last update would otherwise be too long.
        """
        self._delta = self._update() * np.float32(factor)

    def _update(self) -> np.ndarray:
        if self._delta is None:
            raise ExchangeError("There is no update: train an epoch first, and take each update only once.")
        return self._delta

    def select_upload(self) -> SparseUpdate:
        """Select the part of the last epoch's update that is sent. Call the method once per epoch.

        Returns
        -------
        SparseUpdate
            Selected part of the update. With float16 its values are rounded to the values that the server will read.
            ``pending`` holds the encoded update, with the sequence number of the upload as key.

        Raises
        ------
        ExchangeError
            If no epoch has ended since the last call.
        """
        delta, settings, rng = self._update(), self.settings, release_generator(self._rng)
        if self._unsent is not None:
            # Error feedback: the remainder of earlier epochs competes with the new update for the same share.
            # shape: (n,)
            delta = check_finite_vector(delta + self._unsent)
        if self.privacy is None:
            options = (settings.upload_fraction, settings.threshold, settings.sent_clip, settings.selection)
            chosen = select_upload(delta, *options, rng)
        else:
            numbers = settings.upload_fraction, settings.threshold, settings.sent_clip
            chosen, event = self.privacy.select(delta, *numbers, rng)
            self.ledger.add(event)
        # A worker that has never downloaded starts from version 0.
        version = 0 if self.version is None else self.version
        update = SparseUpdate(chosen.indices, chosen.values, len(delta), self.model, version)
        message = update.to_bytes(settings.upload_dtype)
        # ``sent`` holds the values that the server will read. Error feedback therefore also keeps the differences that
        # rounding to float16 makes.
        sent, unsent = update if settings.upload_dtype == "float32" else SparseUpdate.from_bytes(message), None
        if settings.error_feedback:
            # The remainders of clipping and rounding are kept too. Only an update that the server refuses is lost.
            unsent = delta.copy()
            unsent[sent.indices] -= sent.values
        # The number is taken before the message is stored, so that an interruption never gives two messages the same
        # number.
        sequence, self.sequence = self.sequence, self.sequence + 1
        self.pending[sequence] = message
        self.selected, self._delta, self._unsent = chosen, None, unsent
        return sent

    def acknowledge(self, sequence: int) -> None:
        """Remove a message from ``pending`` after the server has applied or refused the message."""
        self.pending.pop(sequence, None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to one file, atomically. Save before you send, so that a repeated upload is unchanged.

        The file holds the local parameters and unsent values, and therefore reveals more than the sent messages. Keep
        the file at the site. Only its owner can read the file. The file also holds the unacknowledged messages,
        unchanged. Without a seed, the file contains no state of a random generator, because each later message has its
        own key.
        """
        kept = {"delta": self._delta, "unsent": self._unsent}
        delta = {name: vector for name, vector in kept.items() if vector is not None}
        pending = {f"pending-{number}": np.frombuffer(data, np.uint8) for number, data in self.pending.items()}
        state = {
            "name": self.name,
            "model": self.model,
            "n_epochs": self.n_epochs,
            "sequence": self.sequence,
            "version": self.version,
            "ledger": self.ledger.to_list(),
            "generator": KEYED if self._rng is None else generator_state(self._rng),
        }
        vector = np.asarray(self.learner.get_flat(), dtype=np.float32)
        write_state(path, _KIND, state, {"parameters": vector, **delta, **pending})

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Load a state that `save` wrote. The learner of this worker receives the saved parameters.

        The file does not hold the state of an optimizer (momentum, Adam).

        Raises
        ------
        ExchangeError
            If the file is damaged, or belongs to another worker or model.
        """
        state, arrays = read_state(path, _KIND)
        # All fields are read before the first is taken over: an invalid file changes nothing.
        with valid_fields(path, _KIND):
            if (state["name"], state["model"]) != (self.name, self.model):
                raise ExchangeError("The saved state belongs to another worker or model.", path=str(path))
            vectors = {name: arrays.pop(name) for name in ("parameters", "delta", "unsent") if name in arrays}
            size = len(self.learner.get_flat())
            if any(vector.shape != (size,) or not np.isfinite(vector).all() for vector in vectors.values()):
                raise ValueError("a vector of another size, or a diverged one")
            n_epochs, sequence = operator.index(state["n_epochs"]), operator.index(state["sequence"])
            version = None if state["version"] is None else operator.index(state["version"])
            pending = {int(key.removeprefix("pending-")): data.tobytes() for key, data in arrays.items()}
            ledger = PrivacyLedger.from_list(state["ledger"])
            # A worker without a seed stays without a seed, even if an earlier version saved the state of a generator.
            is_keyed = self._rng is None or state["generator"] == KEYED
            rng = None if is_keyed else generator_from(state["generator"])
            self.learner.set_flat(vectors["parameters"])
        # An epoch that had begun is not saved, so that a restored worker repeats it from its parameters.
        self._delta, self._unsent, self._before = vectors.get("delta"), vectors.get("unsent"), None
        self.n_epochs, self.sequence, self.version = n_epochs, sequence, version
        self.pending, self.ledger, self._rng = pending, ledger, rng
