"""Runs of arms and seeds that are kept in a file one by one, so that an interrupted benchmark goes on."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from sklearn_deid.metrics.intervals import mean_interval


def finish_runs(run: Callable[..., dict], arguments: argparse.Namespace, settings: dict) -> list[dict]:
    """Run what the file of ``arguments.runs`` lacks; all its rows of the arms asked for.

    Parameters
    ----------
    run : callable
        ``run(arguments, arm, seed)`` returns a row with "arm", "seed" and numbers.
    arguments : Namespace
        With ``runs``, ``arms``, ``seeds`` and ``jobs``.
    settings : dict
        Put into every row; a file with other settings is refused.
    """
    done = finished_runs(arguments, settings)
    pool = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    for row in pool(delayed(run)(arguments, arm, seed) for arm, seed in missing_runs(arguments, done)):
        done.append(keep_run(arguments, settings, row))
        print(f"{row['arm']} seed {row['seed']} done", file=sys.stderr)
    return [row for row in done if row["arm"] in arguments.arms and row["seed"] in arguments.seeds]


def finished_runs(arguments: argparse.Namespace, settings: dict) -> list[dict]:
    """Rows of the file; one with other settings ends the program."""
    path = Path(arguments.runs)
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if any({k: row.get(k) for k in settings} != settings for row in done):
        sys.exit(f"{path} holds runs with other settings; name another file.")
    return done


def missing_runs(arguments: argparse.Namespace, done: list[dict]) -> list[tuple[str, int]]:
    """Arms and seeds that were asked for and are not done, one seed after the other."""
    missing = {(a, s) for s in arguments.seeds for a in arguments.arms} - {(row["arm"], row["seed"]) for row in done}
    return sorted(missing, key=lambda key: (key[1], arguments.arms.index(key[0])))


def keep_run(arguments: argparse.Namespace, settings: dict, row: dict) -> dict:
    """Add a finished run to the file; the row with its settings."""
    kept = {**settings, **row}
    with Path(arguments.runs).open("a") as file:
        file.write(json.dumps(kept) + "\n")
    return kept


def by_arm(rows: list[dict]) -> dict[str, dict[int, dict]]:
    """Rows of each arm by seed."""
    out: dict[str, dict[int, dict]] = {}
    for row in rows:
        out.setdefault(row["arm"], {})[row["seed"]] = row
    return out


def interval(values: list[float] | np.ndarray) -> tuple[float, float, float]:
    """Mean and 95 % interval over seeds (Student's t); without width for one seed."""
    mean = float(np.mean(values))
    return mean, *(mean_interval(values, 0.95) if len(values) > 1 else (mean, mean))
