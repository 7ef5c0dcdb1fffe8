"""Exchange in one process, with the same messages, server and workers as across sites."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exceptions import ExchangeError
from .history import EpochRecord, History
from .record import ExchangeRecord
from .schedules import Step, plan_steps
from .server import ParameterServer
from .worker import Learner, Worker, train_one_epoch

# Called as map(train_one_epoch, learners). Results come in the order of the learners, from this process or from others.
MapEpochs = Callable[[Callable[[Learner], Any], Sequence[Learner]], Iterable[tuple[Learner, dict[str, float]]]]
Evaluate = Callable[[str, Learner], Mapping[str, float]]


def run_rounds(
    server: ParameterServer,
    workers: Sequence[Worker],
    schedule: str | Sequence[Step] = "concurrent",
    n_epochs: int = 1,
    rng: np.random.Generator | None = None,
    record: ExchangeRecord | None = None,
    map_epochs: MapEpochs = map,
    evaluate: Evaluate | None = None,
) -> History:
    """Train the workers by distributed selective SGD, each for ``n_epochs`` local epochs.

    Workers without an earlier download start with a copy of all global parameters. Call the function again to continue
    a training. Messages that an earlier call left unacknowledged are then sent first.

    Parameters
    ----------
    server : ParameterServer
        Server with the global parameters.
    workers : sequence of Worker
        Workers to train.
    schedule : {"sequential", "concurrent", "random-delay"} or sequence of Step, default="concurrent"
        Plan made by `plan_steps`, or the name of a schedule.
    n_epochs : int, default=1
        Local epochs of each worker. A plan has its own number of epochs.
    rng : Generator, optional
        Generator of random delays.
    record : ExchangeRecord, default=None
        Record to which all messages are added.
    map_epochs : callable, default=map
        Function called as ``map_epochs(train_one_epoch, learners)`` for epochs that do not depend on each other. The
        function may train the learners in other processes. Results do not depend on ``map_epochs``.
    evaluate : callable, default=None
        Function called as ``evaluate(name, learner)`` after every local epoch, before the next download. The returned
        metrics are added to the history.

    Returns
    -------
    History
        Records of all epochs. After an interruption from the keyboard, the history contains the completed epochs only.
        Incomplete epochs are undone, and server and workers can continue.

    Raises
    ------
    ExchangeError
        If the training of a worker diverges. A refused upload raises no error and is recorded in the history.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.federated import WorkerSettings
    >>> class Descent:
    ...     def __init__(self, goal): self.goal, self.vector = np.float32(goal), np.zeros(3, dtype=np.float32)
    ...     def get_flat(self): return self.vector.copy()
    ...     def set_flat(self, vector): self.vector = np.array(vector)
    ...     def train_epoch(self): self.vector += (self.goal - self.vector) / 4
    >>> model, settings = "0" * 32, WorkerSettings(upload_fraction=1.0, download_fraction=1.0)
    >>> workers = [Worker(f"site-{goal}", Descent(goal), model, settings, random_state=goal) for goal in (1, 2)]
    >>> server = ParameterServer(np.zeros(3), model, random_state=0)
    >>> history = run_rounds(server, workers, "concurrent", n_epochs=1)
    >>> server.parameters.tolist(), history.column("staleness")
    ([0.75, 0.75, 0.75], [0, 1])
    """
    if len({worker.name for worker in workers}) != len(workers):
        raise ValueError("Workers need different names: the server counts uploads by name.")
    steps = plan_steps(schedule, len(workers), n_epochs, rng) if isinstance(schedule, str) else schedule
    exchange = _Exchange(server, workers, record, map_epochs, evaluate)
    try:
        exchange.start()
        for step in steps:
            getattr(exchange, step.action)(step.worker, step.epoch)
        exchange.train_waiting()
    # The epochs before the interruption are complete, so that their history is returned.
    except KeyboardInterrupt:
        exchange.history.interrupted = True
    return exchange.history


def trained(
    workers: Sequence[Worker], map_epochs: MapEpochs = map
) -> Generator[tuple[Worker, dict[str, float]], None, None]:
    """Train one epoch of several workers that do not depend on each other, and yield each worker after its epoch.

    After an interruption, an error or an early close, incomplete epochs are undone.

    Raises
    ------
    ExchangeError
        If the training of a worker diverges.
    """
    try:
        results = map_epochs(train_one_epoch, [worker.begin_epoch() for worker in workers])
        for worker, (learner, metrics) in zip(workers, results, strict=True):
            try:
                worker.finish_epoch(learner)
            except ExchangeError as error:
                raise ExchangeError(f"Worker {worker.name}: {error.message} Lower its learning rate.") from None
            yield worker, metrics
    except BaseException:
        # Learners in other processes may be half trained. All workers return to the parameters before the epoch.
        for worker in workers:
            worker.abandon_epoch()
        raise


@dataclass
class _Exchange:
    """State of one call of `run_rounds`."""

    server: ParameterServer
    workers: Sequence[Worker]
    record: ExchangeRecord | None
    map_epochs: MapEpochs
    evaluate: Evaluate | None
    history: History = field(default_factory=History)
    # record of the current epoch of each worker
    lines: dict[int, EpochRecord] = field(default_factory=dict)
    # pairs of (worker, epoch) that are ready to train
    waiting: list[tuple[int, int]] = field(default_factory=list)
    # selected uploads that have not arrived: sequence number, record, version of the download
    on_their_way: dict[tuple[int, int], tuple[int, EpochRecord, int]] = field(default_factory=dict)

    def start(self) -> None:
        """Download the first copies of the model, then send the unacknowledged messages of an earlier call."""
        for worker in self.workers:
            if worker.version is None:
                self.history.bytes_start += self._download(worker, 1.0, "float32")[0]
        for worker in self.workers:
            # Sending removes messages from ``pending``, so that the loop runs over a copy.
            for sequence, message in list(worker.pending.items()):
                self.history.bytes_repeated += len(message)
                self._deliver(worker, sequence, message)

    def download(self, place: int, epoch: int) -> None:
        self._train_if_waiting(place)
        worker = self.workers[place]
        # Downloads have the type of the uploads, as across sites.
        n_bytes, n_down = self._download(worker, worker.settings.download_fraction, worker.settings.upload_dtype)
        self.lines[place] = EpochRecord(worker.name, worker.n_epochs + 1, bytes_down=n_bytes, n_down=n_down)

    def train(self, place: int, epoch: int) -> None:
        # Training is postponed until this worker's next step, so that epochs of other workers can run in parallel.
        self._train_if_waiting(place)
        self.waiting.append((place, epoch))

    def upload(self, place: int, epoch: int) -> None:
        self._train_if_waiting(place)
        worker = self.workers[place]
        sequence, line, version = self.on_their_way.pop((place, epoch))
        # Staleness is counted on arrival: other uploads may have arrived since this worker's download.
        line.staleness = self.server.version - version
        line.refused = self._deliver(worker, sequence, worker.pending[sequence])

    def train_waiting(self) -> None:
        """Train all workers that wait, and select their uploads."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        with closing(trained([self.workers[place] for place, _ in waiting], self.map_epochs)) as results:
            for (place, epoch), (worker, metrics) in zip(waiting, results, strict=True):
                # Training has ended for this worker only. The results of the other workers are still on their way.
                line, sequence = self.lines.pop(place), worker.sequence
                line.metrics, line.update_norm = metrics, worker.update_norm
                update = worker.select_upload()
                self.on_their_way[place, epoch] = (sequence, line, update.version)
                self.history.add(line)
                line.bytes_up, line.n_up, line.sent_norm = len(worker.pending[sequence]), len(update), update.norm()
                if worker.selected is not None:
                    line.n_candidates, line.n_clipped = worker.selected.n_candidates, worker.selected.n_clipped
                if self.evaluate is not None:
                    line.metrics.update(self.evaluate(worker.name, worker.learner))

    def _train_if_waiting(self, place: int) -> None:
        if any(place == other for other, _ in self.waiting):
            self.train_waiting()

    def _download(self, worker: Worker, fraction: float, dtype: str) -> tuple[int, int]:
        update = self.server.download(fraction, worker.name)
        message = update.to_bytes(dtype)
        worker.apply_download(message)
        if self.record is not None:
            self.record.add("down", worker.name, worker.n_epochs, message)
        return len(message), len(update)

    def _deliver(self, worker: Worker, sequence: int, message: bytes) -> str | None:
        """Upload a message. Returns the reason of a refusal, or None."""
        if self.record is not None:
            self.record.add("up", worker.name, worker.n_epochs, message)
        refused = None
        try:
            self.server.upload(message, worker.name, sequence)
        except ExchangeError as error:
            refused = error.message
        # A refused message is acknowledged, too: a repetition would be refused again.
        worker.acknowledge(sequence)
        return refused
