"""Local epochs of several workers at the same time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from .rounds import MapEpochs
from .tagger_learner import TaggerLearner

__all__ = ["map_in_processes"]

_Task = Callable[[TaggerLearner], tuple[TaggerLearner, dict[str, float]]]


def map_in_processes(n_jobs: int | None) -> MapEpochs:
    """``map`` for `federated.run_strategy`: in this process, or as one joblib task for each local epoch.

    Processes, because random numbers of dropout come from torch's global stream, which threads would share.
    """

    def run(task: Any, learners: Sequence[Any]) -> Iterable[tuple[Any, dict[str, float]]]:
        if effective_n_jobs(n_jobs) == 1 or len(learners) == 1:
            return map(task, learners)
        return _elsewhere(task, learners, n_jobs)

    return run


def _elsewhere(
    task: _Task, learners: Sequence[TaggerLearner], n_jobs: int | None
) -> Iterator[tuple[TaggerLearner, dict[str, float]]]:
    pool = Parallel(n_jobs=min(effective_n_jobs(n_jobs), len(learners)), backend="loky", return_as="generator")
    trained = pool(delayed(_train)(task, learner) for learner in learners)
    try:
        for learner, (back, figures) in zip(learners, trained, strict=True):
            yield back.with_data_of(learner), figures
    finally:
        # Whoever ends the rounds early says why; joblib would add a warning about the epochs that it cancels.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained.close()


def _train(task: _Task, learner: TaggerLearner) -> tuple[TaggerLearner, dict[str, float]]:
    learner, figures = task(learner)
    return learner.without_data(), figures
