"""Runs the steps of a plan: each arm and seed is a task of its own, kept as soon as it is done."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from joblib import Parallel, delayed, parallel_config

from ..resumable import finished_runs, keep_run, missing_runs
from .plan import Step

BACKENDS = ("loky", "dask", "ray")


@dataclass(frozen=True)
class Task:
    """One arm and seed of a step."""

    step: Step
    argv: tuple[str, ...]
    arm: str
    seed: int


def module_of(script: str) -> ModuleType:
    """A benchmark script with ``parse_arguments``, ``settings_of``, ``run`` and ``main``."""
    return importlib.import_module(f"benchmarks.{script}")


def runs_file(results: Path, step: Step) -> Path:
    """Where the finished runs of a step are."""
    return results / "runs" / f"{step.name}.jsonl"


def argv_of(step: Step, results: Path, data: Mapping[str, str], device: str | None) -> list[str]:
    """The command line of a step; the device only for scripts that let one choose."""
    plain = step.argv(runs_file(results, step), data)
    chooses = "device" in vars(module_of(step.script).parse_arguments(plain))
    return step.argv(runs_file(results, step), data, device if chooses else None)


def tasks_of(step: Step, argv: list[str]) -> list[Task]:
    """What is not done yet."""
    arguments, settings = _understood(step, argv)
    missing = missing_runs(arguments, finished_runs(arguments, settings))
    return [Task(step, tuple(argv), arm, seed) for arm, seed in missing]


def _understood(step: Step, argv: list[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    module = module_of(step.script)
    arguments = module.parse_arguments(argv)
    return arguments, module.settings_of(arguments)


def run_task(task: Task) -> tuple[Task, dict[str, Any], float, float]:
    """Run one arm and seed, in whatever process: the row, wall seconds and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    module = module_of(task.step.script)
    row = module.run(module.parse_arguments(list(task.argv)), task.arm, task.seed)
    return task, row, time.perf_counter() - wall, time.process_time() - cpu


def run_all(steps: Mapping[Step, list[str]], results: Path, jobs: int, backend: str) -> int:
    """Run what is missing of all steps, first seeds first, and keep each row; how many there were."""
    (results / "runs").mkdir(parents=True, exist_ok=True)
    tasks = sorted((task for step, argv in steps.items() for task in tasks_of(step, argv)), key=lambda task: task.seed)
    if not tasks:
        return 0
    print(f"{len(tasks)} runs of {len({task.step.name for task in tasks})} steps", file=sys.stderr)
    start = time.perf_counter()
    with chosen_backend(backend, jobs):
        for done, (task, row, wall, cpu) in enumerate(_in_parallel(tasks, backend, jobs), 1):
            keep_run(*_understood(task.step, list(task.argv)), row)
            _note_cost(results, task, cpu)
            _show_progress(task, wall, done, len(tasks), time.perf_counter() - start)
    return len(tasks)


def _in_parallel(tasks: list[Task], backend: str, jobs: int) -> Iterator[tuple[Task, dict[str, Any], float, float]]:
    """As they end; Ray's backend gives a list alone, so that as many as run at a time are one list."""
    if backend != "ray":
        yield from Parallel(return_as="generator_unordered")(delayed(run_task)(task) for task in tasks)
        return
    for first in range(0, len(tasks), max(jobs, 1)):
        yield from Parallel()(delayed(run_task)(task) for task in tasks[first : first + max(jobs, 1)])


@contextlib.contextmanager
def chosen_backend(backend: str, jobs: int) -> Iterator[None]:
    """joblib's own processes, or the cluster that Dask or Ray are connected to (a local one if to none).

    The machines of a cluster need this repository on their path, the data at the same places, and the library.
    """
    if backend == "dask":
        distributed = importlib.import_module("distributed")
        with contextlib.ExitStack() as stack:
            if not distributed.client._get_global_client():
                stack.enter_context(distributed.Client(n_workers=jobs, threads_per_worker=1))
            stack.enter_context(parallel_config(backend="dask"))
            yield
        return
    if backend == "ray":
        importlib.import_module("ray.util.joblib").register_ray()
    with parallel_config(backend=backend, n_jobs=jobs):
        yield


def _note_cost(results: Path, task: Task, cpu: float) -> None:
    row = {"step": task.step.name, "arm": task.arm, "seed": task.seed, "cpu_seconds": round(cpu, 1)}
    with (results / "costs.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def _show_progress(task: Task, wall: float, done: int, n_tasks: int, elapsed: float) -> None:
    left = elapsed / done * (n_tasks - done) / 60
    name = f"{task.step.name}: {task.arm}, seed {task.seed}"
    print(f"[{done}/{n_tasks}] {name}, {wall:.0f} s; about {left:.0f} min left", file=sys.stderr)


def summarise(steps: Mapping[Step, list[str]], results: Path) -> None:
    """What each script prints of its finished runs, as results/<step>.json; those that are up to date stay."""
    for step, argv in steps.items():
        path = results / f"{step.name}.json"
        if path.exists() and path.stat().st_mtime >= runs_file(results, step).stat().st_mtime:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            module_of(step.script).main(argv)
        path.write_text(printed.getvalue(), encoding="utf-8")
