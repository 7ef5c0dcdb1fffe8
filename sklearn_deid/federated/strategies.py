"""Five strategies for training with distributed data: experiments A to D of the paper, and federated averaging."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .agreement_screen import OPPOSED, AgreementScreen
from .history import EpochRecord, History
from .masks import FEWEST_SITES, FixedPoint, MaskingSite, masked_mean
from .noise import GaussianUpload, SparseVectorUpload
from .privacy_ledger import SITE_DELTA, check_promise
from .record import ExchangeRecord
from .robust import AGGREGATES, VOID, clip_norm, combine_round
from .rotating_guard import guard_of
from .rotating_patients import ROTATING
from .rounds import Evaluate, MapEpochs, run_rounds, trained
from .schedules import plan_steps
from .server import ParameterServer
from .server_limits import NO_LIMITS, ServerLimits
from .sparse import SparseUpdate
from .value_checks import check_choice
from .worker import Learner, Worker, WorkerSettings

STRATEGIES = ("centralized", "round_robin", "dssgd", "local", "fedavg")


@dataclass(frozen=True)
class StrategyPlan:
    """Configuration of `run_strategy`: strategy, number of epochs, limits and privacy.

    Parameters
    ----------
    strategy : {"centralized", "round_robin", "dssgd", "local", "fedavg"}, default="dssgd"
        Name of the strategy.

        - ``"centralized"`` (experiment A): one learner that holds all data.
        - ``"round_robin"`` (B): each worker trains the whole model for one local epoch and passes the model on (cyclic
          weight transfer). Data stay with their worker. The next worker receives the complete trained model.
        - ``"dssgd"`` (C): distributed selective SGD.
        - ``"local"`` (D): each worker trains alone.
        - ``"fedavg"``: in each round all workers start from the global model, train for one epoch and send their whole
          update. The server adds the mean of the updates to the global model.
    n_epochs : int, default=10
        Local epochs of each worker.
    settings : WorkerSettings or mapping of worker name to WorkerSettings, default=WorkerSettings()
        Settings of all workers, or of each worker ("dssgd" only).
    schedule : {"sequential", "concurrent", "random-delay"}, default="concurrent"
        Order of downloads, epochs and uploads ("dssgd" only), see `plan_steps`.
    mean_delay : float, default=1.0
        Mean delay of uploads (schedule "random-delay" only), see `plan_steps`.
    limits : ServerLimits, default=NO_LIMITS
        Limits of the server ("dssgd"). By default, no update is refused, because all workers run in one process.
        "fedavg" shrinks long updates to ``max_norm`` instead of refusing the updates; ``max_norm=None`` means no
        shrinking.
    privacy : GaussianUpload or SparseVectorUpload, default=None
        Noise on the uploads ("dssgd" only).
    delta : float, default=1e-5
        delta at which the epsilon of all uploads must be at most 100.
    aggregation : {"mean", "median", "trimmed_mean"}, default="mean"
        Combination of the updates ("fedavg" only).
    n_trim : int, default=1
        Number of values that "trimmed_mean" leaves out at each end.
    max_ratio : float, default=inf
        Largest norm of an update as a multiple of the median norm of the round ("fedavg" without masks, from three
        workers on). Longer updates are left out.
    screened : bool, default=False
        Whether updates that point against most other updates are left out, and unusually long updates are shrunk
        (`AgreementScreen`; "fedavg" without masks).
    masks : FixedPoint, default=None
        Pairwise masks of the updates ("fedavg" with the mean and equal weights only). None sends unmasked updates.
    guarded : bool, float or "rotating", default=False
        Whether each worker tests downloads ("dssgd" and "fedavg" only). With True or a fraction of the patients, the
        tests use held-out patients (`HeldOutGuard`). With "rotating", each pass holds out other patients for the tests
        (`RotatingGuard`).
    keyed : bool, default=False
        Whether the random numbers of each upload come from a new key of the operating system, even if ``random_state``
        is set.
    weights : mapping of worker name to float, default=None
        Weight of each worker, such as its number of samples ("fedavg" with the mean only). None means equal weights.
    """

    strategy: str = "dssgd"
    n_epochs: int = 10
    settings: WorkerSettings | Mapping[str, WorkerSettings] = field(default_factory=WorkerSettings)
    schedule: str = "concurrent"
    mean_delay: float = 1.0
    limits: ServerLimits = NO_LIMITS
    privacy: GaussianUpload | SparseVectorUpload | None = None
    delta: float = SITE_DELTA
    aggregation: str = "mean"
    n_trim: int = 1
    max_ratio: float = math.inf
    weights: Mapping[str, float] | None = None
    keyed: bool = False
    screened: bool = False
    masks: FixedPoint | None = None
    guarded: bool | float | str = False

    def __post_init__(self) -> None:
        for name, allowed in (("strategy", STRATEGIES), ("aggregation", AGGREGATES)):
            check_choice("StrategyPlan", name, getattr(self, name), allowed)
        if self.masks is not None and (self.strategy, self.aggregation, self.weights) != ("fedavg", "mean", None):
            # A median and a weighted mean need the single updates, which masks hide.
            raise ValueError(
                "With 'masks', 'strategy' must be 'fedavg' and 'aggregation' must be 'mean', without 'weights'."
            )
        if self.privacy is not None and self.strategy != "dssgd":
            raise ValueError(f"Randomised uploads belong to strategy='dssgd'. Got strategy={self.strategy!r} instead.")
        if self.privacy is not None:
            check_promise(self.privacy.event(), self.n_epochs, self.delta)

    @property
    def has_downloads(self) -> bool:
        """Whether workers download parameters that other workers have changed, and then continue their training."""
        return self.strategy in ("dssgd", "fedavg")

    def tested(self, validation_fraction: float | str | None) -> float | str | None:
        """Return the validation fraction; None instead of "rotating" if the strategy has no downloads to test."""
        return validation_fraction if validation_fraction != ROTATING or self.has_downloads else None


@dataclass
class Training:
    """Result of `run_strategy`: trained workers, global parameters, and records.

    Parameters
    ----------
    workers : list of Worker
        Workers with their trained learners.
    parameters : ndarray of shape (n,), float32, or None
        Parameters of the global model. None for "local".
    history : History
        Records of all epochs.
    server : ParameterServer or None
        Server of "dssgd", None for other strategies. Pass the server and the workers to `run_rounds` to continue.
    """

    workers: list[Worker]
    parameters: np.ndarray | None
    history: History
    server: ParameterServer | None = None


def run_strategy(
    plan: StrategyPlan,
    learners: Mapping[str, Learner],
    parameters: np.ndarray | None,
    model: str,
    *,
    random_state: int | np.random.Generator | None = None,
    record: ExchangeRecord | None = None,
    map_epochs: MapEpochs = map,
    evaluate: Evaluate | None = None,
) -> Training:
    """Train learners from the same first parameters.

    Parameters
    ----------
    plan : StrategyPlan
        Configuration of the run.
    learners : mapping of name to Learner
        One learner for each worker. "centralized" has a single learner.
    parameters : ndarray of shape (n,) or None
        Parameters from which all workers start. With None each learner continues with its own parameters ("local"
        only).
    model : str
        Fingerprint of the model.
    random_state : int or Generator, default=None
        Random seed of the exchange. The learners have random numbers of their own. None has the effect of
        ``plan.keyed``.
    record, map_epochs, evaluate
        Parameters of `run_rounds`. With "round_robin", each transfer of the model is recorded once, as a download of
        the next worker.

    Returns
    -------
    Training
        Result of the run. After an interruption from the keyboard, the result contains the completed epochs, and
        ``history.interrupted`` is True.

    References
    ----------
    Festag & Spreckelsen (2020), Collaborative Training and Table 2.
    Chang et al. (2018) for cyclic weight transfer, McMahan et al. (2017) for federated averaging.

    Examples
    --------
    >>> import numpy as np
    >>> class Descent:
    ...     def __init__(self, goal): self.goal, self.vector = np.float32(goal), np.zeros(2, dtype=np.float32)
    ...     def get_flat(self): return self.vector.copy()
    ...     def set_flat(self, vector): self.vector = np.array(vector)
    ...     def train_epoch(self): self.vector += (self.goal - self.vector) / 2
    >>> learners = {"site-1": Descent(1), "site-2": Descent(3)}
    >>> run_strategy(StrategyPlan("fedavg", n_epochs=1), learners, np.zeros(2), "0" * 32).parameters.tolist()
    [1.0, 1.0]
    """
    if plan.strategy == "centralized" and len(learners) != 1:
        raise ValueError(f"strategy='centralized' trains a single learner on all data. Got {len(learners)} instead.")
    rng = np.random.default_rng(random_state)
    if parameters is None and plan.strategy != "local":
        raise ValueError(f"strategy={plan.strategy!r} needs the first parameters of all workers.")
    # A copy in float32: every worker begins with exactly these values, as after a download.
    first = np.array([] if parameters is None else parameters, dtype=np.float32)
    # The streams are spawned even if they are unused, so that the server has the same stream with and without keys.
    spawned = rng.spawn(len(learners))
    streams = [None if plan.keyed or random_state is None else own for own in spawned]
    guarded = plan.guarded if plan.has_downloads else None
    workers = [
        Worker(name, learner, model, _settings_of(plan, name), privacy=plan.privacy, random_state=own)
        for (name, learner), own in zip(learners.items(), streams, strict=True)
    ]
    for worker in workers:
        worker.guard = guard_of(guarded)
        # All workers start from the same weights, so that their updates can be added.
        if parameters is not None:
            worker.learner.set_flat(first)
    if plan.strategy == "dssgd":
        server = ParameterServer(first, model, plan.limits, random_state=rng.spawn(1)[0])
        steps = plan_steps(plan.schedule, len(workers), plan.n_epochs, rng, plan.mean_delay)
        history = run_rounds(server, workers, steps, record=record, map_epochs=map_epochs, evaluate=evaluate)
        return Training(workers, server.parameters.copy(), history, server)
    run = _Run(plan, workers, first, record, map_epochs, evaluate)
    rounds: dict[str, Callable[[], None]] = {"round_robin": run.round_robin, "fedavg": run.fedavg}
    run.repeat(rounds.get(plan.strategy, run.local))
    if plan.strategy == "centralized":
        run.parameters = np.array(workers[0].learner.get_flat(), dtype=np.float32)
    return Training(workers, None if plan.strategy == "local" else run.parameters, run.history)


def go_on(
    plan: StrategyPlan,
    training: Training,
    rng: np.random.Generator,
    **watching: Any,
) -> Training:
    """Train the same workers for further rounds, and extend their history. ``watching`` is passed to `run_rounds`."""
    workers = training.workers
    if training.server is not None:
        for worker in workers:
            worker.settings, worker.privacy = _settings_of(plan, worker.name), plan.privacy
            # A seed of an earlier round would also give the noise of this one.
            worker._rng = None if plan.keyed else worker._rng
        training.server.limits = plan.limits
        steps = plan_steps(plan.schedule, len(workers), plan.n_epochs, rng, plan.mean_delay)
        training.history.extend(run_rounds(training.server, workers, steps, **watching))
        training.parameters = training.server.parameters.copy()
        return training
    # Only selective SGD has a server that outlives a run. Other strategies start again from the trained parameters.
    # Epochs are counted from 1 in each run. Adding the earlier epochs makes the count of the history continuous.
    done = {line.worker: line.epoch for line in training.history}
    learners: Mapping[str, Any] = {worker.name: worker.learner for worker in workers}
    more = run_strategy(plan, learners, training.parameters, workers[0].model, random_state=rng, **watching)
    for line in more.history:
        line.epoch += done.get(line.worker, 0)
    history = training.history
    history.extend(more.history)
    return Training(more.workers, more.parameters, history)


def _settings_of(plan: StrategyPlan, name: str) -> WorkerSettings:
    return plan.settings if isinstance(plan.settings, WorkerSettings) else plan.settings[name]


@dataclass
class _Run:
    """State of the strategies in which rounds follow each other."""

    plan: StrategyPlan
    workers: list[Worker]
    parameters: np.ndarray
    record: ExchangeRecord | None
    map_epochs: MapEpochs
    evaluate: Evaluate | None
    history: History = field(default_factory=History)
    masking: dict[str, MaskingSite] = field(default_factory=dict)
    screen: AgreementScreen = field(default_factory=AgreementScreen)
    number: int = 0

    def __post_init__(self) -> None:
        if self.plan.masks is not None:
            if len(self.workers) < FEWEST_SITES:
                raise ValueError(f"Masks need at least {FEWEST_SITES} sites. Got {len(self.workers)} instead.")
            self.plan.masks.step(len(self.workers))  # refuses too many workers before they train
            self.masking = {worker.name: MaskingSite(worker.name) for worker in self.workers}

    def repeat(self, one_round: Callable[[], None]) -> None:
        try:
            for number in range(self.plan.n_epochs):
                self.number = number
                one_round()
        except KeyboardInterrupt:
            self.history.interrupted = True

    def local(self) -> None:
        """Train each worker alone, or one worker with all data."""
        self._train(self.workers)

    def round_robin(self) -> None:
        """Pass the model once through all workers. Each transfer is one message, a download and an upload."""
        # The next worker continues with the weights of the worker before. Optimizers stay with their workers.
        for worker in self.workers:
            worker.learner.set_flat(self.parameters)
            fields = self._message_fields(worker, self.parameters, "parameters", "down")
            self._train([worker], **fields)
            self.parameters = np.array(worker.learner.get_flat(), dtype=np.float32)
            line = self.history[-1]
            # The transfer to the next worker is one message: a download of that worker and an upload of this worker.
            line.bytes_up = len(self._message(self.parameters, "parameters"))
            line.n_up = len(self.parameters)

    def fedavg(self) -> None:
        """Train all workers from the global model, and add the combined updates after a complete round."""
        fields: dict[str, Any] = {}
        for worker in self.workers:
            worker.start_from(self.parameters)
            fields = self._message_fields(worker, self.parameters, "parameters", "down")
        updates = self._train(self.workers, **fields)
        lines = list(self.history)[-len(updates) :]
        for line in lines:
            line.sent_norm, line.staleness = line.update_norm, 0
        combined = self._combined if self.plan.masks is None else self._masked
        # The last update leads back to the moving average of the weights: a longer step would go back too far.
        is_last = self.number + 1 == self.plan.n_epochs
        step = min(self.plan.limits.step, 1.0) if is_last else self.plan.limits.step
        self.parameters = self.parameters + combined(updates, lines) * np.float32(step)  # shape: (n,)

    def _combined(self, updates: list[np.ndarray], lines: list[EpochRecord]) -> np.ndarray:
        """Send the unmasked updates, and combine them; shape (n,)."""
        for worker, update, line in zip(self.workers, updates, lines, strict=True):
            sent = self._message_fields(worker, update, "update", "up")
            line.bytes_up, line.n_up = sent["bytes_up"], sent["n_up"]
        plan = self.plan
        weights = None if plan.weights is None else [plan.weights[worker.name] for worker in self.workers]
        opposed, longest = self._screened(updates) if plan.screened else ([], None)
        how = (plan.aggregation, plan.n_trim, plan.max_ratio, self._bound)
        combined, left_out = combine_round(updates, *how, weights, opposed, longest)
        long = f"The norm of the update is more than {plan.max_ratio:g} times the median norm."
        long = VOID if len(left_out) == len(updates) else long
        for i in left_out:
            lines[i].refused = OPPOSED if i in opposed else long
        return combined

    def _screened(self, updates: list[np.ndarray]) -> tuple[list[int], list[float]]:
        """Positions of the workers whose updates are left out, and the largest norm of each update."""
        names = [worker.name for worker in self.workers]
        self.screen = self.screen.with_round(dict(zip(names, updates, strict=True)))
        return [names.index(name) for name in self.screen.opposed], list(self.screen.longest.values())

    @property
    def _bound(self) -> float:
        return math.inf if self.plan.limits.max_norm is None else self.plan.limits.max_norm

    def _masked(self, updates: list[np.ndarray], lines: list[EpochRecord]) -> np.ndarray:
        """Send masked updates, and return their mean; shape (n,). Each site bounds the norm of its own update."""
        assert self.plan.masks is not None
        bounded = {
            worker.name: clip_norm(update, self._bound) for worker, update in zip(self.workers, updates, strict=True)
        }
        mean, messages = masked_mean(bounded, self.masking, self.number, self.workers[0].model, self.plan.masks)
        for worker, line in zip(self.workers, lines, strict=True):
            line.bytes_up, line.n_up = len(messages[worker.name]), len(mean)
            line.n_clipped = self.masking[worker.name].n_clipped
        return mean

    def _train(self, workers: Sequence[Worker], **fields: Any) -> list[np.ndarray]:
        """Train each worker for one epoch, and return the updates. The history receives a record for each worker."""
        updates = []
        with closing(trained(workers, self.map_epochs)) as results:
            # Records are added one by one, so that an interruption loses no complete epoch.
            for worker, metrics in results:
                line = EpochRecord(
                    worker.name, worker.n_epochs, update_norm=worker.update_norm, metrics=metrics, **fields
                )
                updates.append(worker.take_update())
                self.history.add(line)
                if self.evaluate is not None:
                    line.metrics.update(self.evaluate(worker.name, worker.learner))
        return updates

    def _message_fields(self, worker: Worker, vector: np.ndarray, kind: str, direction: str) -> dict[str, int]:
        message = self._message(vector, kind)
        if self.record is not None:
            self.record.add(direction, worker.name, worker.n_epochs, message)
        return {f"bytes_{direction}": len(message), f"n_{direction}": len(vector)}

    def _message(self, vector: np.ndarray, kind: str) -> bytes:
        return SparseUpdate(np.arange(len(vector)), vector, len(vector), self.workers[0].model, 0, kind).to_bytes()
