"""From the first round to the next call: a strategy that can go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .record import ExchangeRecord
from .rounds import Evaluate, MapEpochs, run_rounds
from .schedules import plan_steps
from .strategies import StrategyPlan, Training, run_strategy
from .tagger_learner import TaggerLearner

__all__ = ["Progress", "begin", "go_on"]


def begin(
    plan: StrategyPlan, learners: Mapping[str, TaggerLearner], rng: np.random.Generator, **watching: Any
) -> Training:
    """The first training; all workers begin with the weights of the first."""
    first = next(iter(learners.values()))
    return run_strategy(plan, learners, first.get_flat(), first.layout.fingerprint, random_state=rng, **watching)


def go_on(
    plan: StrategyPlan,
    training: Training,
    rng: np.random.Generator,
    *,
    record: ExchangeRecord | None = None,
    map_epochs: MapEpochs = map,
    evaluate: Evaluate | None = None,
) -> Training:
    """Further rounds of the same workers, from where they stand; the history becomes longer."""
    workers = training.workers
    watching: dict[str, Any] = {"record": record, "map_epochs": map_epochs, "evaluate": evaluate}
    if training.server is not None:
        for worker in workers:
            settings = plan.settings
            worker.settings = settings if not isinstance(settings, Mapping) else settings[worker.name]
            worker.privacy = plan.privacy
        training.server.limits = plan.limits
        steps = plan_steps(plan.schedule, len(workers), plan.n_epochs, rng, plan.mean_delay)
        training.history.extend(run_rounds(training.server, workers, steps, **watching))
        training.parameters = training.server.parameters.copy()
        return training
    done = {line.worker: line.epoch for line in training.history}
    learners: Mapping[str, Any] = {worker.name: worker.learner for worker in workers}
    more = run_strategy(plan, learners, training.parameters, workers[0].model, random_state=rng, **watching)
    for line in more.history:
        line.epoch += done.get(line.worker, 0)
    history = training.history
    history.extend(more.history)
    return Training(more.workers, more.parameters, history)


class Progress:
    """Prints a line for each local epoch: numbers, no text of notes."""

    def __init__(self, n_epochs: int | None) -> None:
        self.n_epochs = n_epochs

    def __call__(self, name: str, learner: Any) -> dict[str, float]:
        figures = ", ".join(f"{key} {value:.4f}" for key, value in learner.figures.items())
        of_all = "" if self.n_epochs is None else f" of {self.n_epochs}"
        print(f"{name}, epoch {learner.n_epochs}{of_all}: {figures}", flush=True)
        return {}
