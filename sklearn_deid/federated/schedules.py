"""Schedules of an exchange: plans of the order of downloads, epochs and uploads."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .value_checks import check_choice, check_parameter

SCHEDULES = ("sequential", "concurrent", "random-delay")


class Step(NamedTuple):
    """Upload, download or training of a worker, as one step of the plan of `plan_steps`.

    Parameters
    ----------
    action : {"upload", "download", "train"}
        Kind of action. "train" includes the selection of the upload. "upload" is the arrival of the upload at the
        server.
    worker : int
        Index in the list of workers.
    epoch : int
        Epoch of this plan, counted from 0.
    """

    action: str
    worker: int
    epoch: int


def plan_steps(
    schedule: str, n_workers: int, n_epochs: int, rng: np.random.Generator | None = None, mean_delay: float = 1.0
) -> list[Step]:
    """Plan the order of all steps of all workers.

    - ``"sequential"``: one worker after the other. Each worker sees all earlier uploads. No upload is stale, in
      contrast to real sites, which train at the same time.
    - ``"concurrent"``: in each epoch all workers download, then all train, then all upload. The upload of the last of n
      workers is n - 1 updates stale, and n corrections of the same error add up.
    - ``"random-delay"``: workers of different speed do not wait for each other. Uploads arrive after a random delay,
      possibly after the next download of the same worker.

    Parameters
    ----------
    schedule : {"sequential", "concurrent", "random-delay"}
        Name of the schedule.
    n_workers, n_epochs : int
        Number of workers, and number of epochs of each worker.
    rng : Generator, optional
        Generator of the random delays. By default the operating system seeds a new generator.
    mean_delay : float, default=1.0
        Mean of the exponentially distributed delays of uploads, in epochs of a worker of mean speed.

    Returns
    -------
    list of Step
        Steps of all workers. Each epoch of a worker consists of a "download", a "train" and an "upload" step, in this
        order.

    References
    ----------
    Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning: round robin, random order, asynchronous. Festag &
    Spreckelsen (2020): asynchronous.

    Examples
    --------
    >>> [f"{step.action} {step.worker}" for step in plan_steps("concurrent", 2, 1)]
    ['download 0', 'download 1', 'train 0', 'train 1', 'upload 0', 'upload 1']
    """
    check_choice("plan_steps", "schedule", schedule, SCHEDULES)
    check_parameter("plan_steps", "mean_delay", mean_delay, 0.0 <= mean_delay < math.inf, "at least 0")
    actions, workers, epochs = ("download", "train", "upload"), range(n_workers), range(n_epochs)
    if schedule == "sequential":
        return [Step(action, worker, epoch) for epoch in epochs for worker in workers for action in actions]
    if schedule == "concurrent":
        # In each epoch all workers download before anyone uploads, so that no worker sees the others' updates of this
        # epoch.
        return [Step(action, worker, epoch) for epoch in epochs for action in actions for worker in workers]
    return _random_delays(n_workers, n_epochs, np.random.default_rng() if rng is None else rng, mean_delay)


def _random_delays(n_workers: int, n_epochs: int, rng: np.random.Generator, mean_delay: float) -> list[Step]:
    """Plan with simulated clocks. An epoch takes one unit of time on average; speeds differ by up to a factor of 3."""
    timed: list[tuple[float, int, Step]] = []
    for worker in range(n_workers):
        # Workers begin at different times, because equal starts would make the first epoch concurrent.
        now, pace = rng.uniform(0.0, 1.0), rng.uniform(0.5, 1.5)
        for epoch in range(n_epochs):
            # An epoch takes between 0.4 and 1.8 units: 0.5 to 1.5 by worker, a fifth more or less by epoch.
            done = now + pace * rng.uniform(0.8, 1.2)
            arrival = done + (rng.exponential(mean_delay) if mean_delay else 0.0)
            # At equal times the upload comes first, so that a worker without delay sees its own upload.
            timed.append((arrival, 0, Step("upload", worker, epoch)))
            timed.append((now, 1, Step("download", worker, epoch)))
            timed.append((now, 2, Step("train", worker, epoch)))
            now = done
    return [step for _, _, step in sorted(timed)]
