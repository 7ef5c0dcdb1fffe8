"""Training together without moving notes: the experiments of Festag & Spreckelsen (2020) on generated notes.

    python -m benchmarks.festag --runs festag.jsonl
    python -m benchmarks.festag --notes 400 --epochs 50 --hidden-size 128 --seeds 0 1 2 3 4 --runs large.jsonl

All notes of a patient are with one of the workers, and all are scored on the same notes of other patients. A trains one
tagger on all data, B sends it round, C is distributed selective SGD (theta_u = 0.5; theta_d = 0.1, or 0.5 as in the
paper's second setting; concurrent exchange unless it says sequential), D leaves everybody alone; federated averaging
comes in addition. Token F1 is that of "this token is PHI", the measure of the paper; strict F1 counts typed spans. Both
are means over the workers' own taggers, with the worst and the best worker; "global" is the network of the server.
Intervals (95 %) are over seeds, which draw notes, split and weights. Finished runs are kept in the file of ``--runs``,
from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch

from sklearn_deid import DeidTagger, DSSGDEnsemble, make_clinical_notes
from sklearn_deid.text import SentenceData

from .environment import describe
from .perturbations import binary_token_f1
from .resumable import by_arm, finish_runs, interval

# name -> what is set; theta_u = 0.5, theta_d = 0.1, gamma = 10 and tau = 1e-4 where nothing is said
ARMS: dict[str, dict[str, Any]] = {
    "A": {"strategy": "centralized"},
    "B": {"strategy": "round_robin"},
    "C-0.1": {},
    "C-0.5": {"download_fraction": 0.5},
    "C-0.1-sequential": {"schedule": "sequential"},
    "C-0.5-sequential": {"schedule": "sequential", "download_fraction": 0.5},
    "C-0.1-upload-0.1": {"upload_fraction": 0.1},
    "C-0.1-largest-0.1": {"upload_fraction": 0.1, "selection": "largest"},
    "D": {"strategy": "local", "aggregate": "vote"},
    "fedavg": {"strategy": "fedavg"},
}
SETTINGS = ("notes", "test_notes", "epochs", "workers", "hidden_size", "batch_size", "lr")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--notes", type=int, default=100, help="notes of all workers together")
    parser.add_argument("--test-notes", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=25, help="of each worker")
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--hidden-size", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=300, help="tokens")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--runs", default="festag.jsonl", help="file of finished runs")
    return parser.parse_args(argv)


def data(arguments: argparse.Namespace, seed: int) -> tuple[SentenceData, SentenceData]:
    """Sentences of the workers, and sentences of other patients."""
    train = make_clinical_notes(arguments.notes, random_state=100 + seed)
    test = make_clinical_notes(arguments.test_notes, random_state=900 + seed)
    return train.to_sentences(), test.to_sentences()


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train one arm; scores of each worker and of the global network, and what was sent."""
    torch.set_num_threads(1)
    train, test = data(arguments, seed)
    tagger = DeidTagger(hidden_size=arguments.hidden_size, batch_size=arguments.batch_size, lr=arguments.lr)
    ensemble = DSSGDEnsemble(
        tagger, n_workers=arguments.workers, n_epochs=arguments.epochs, random_state=seed, **ARMS[arm]
    )
    start = time.process_time()
    ensemble.fit(train.X, train.y, groups=train.groups)
    history = ensemble.history_
    row: dict[str, Any] = {
        "arm": arm,
        "seed": seed,
        "cpu_seconds": round(time.process_time() - start, 1),
        "worker_strict_f1": ensemble.score_workers(test.X, test.y).round(4).tolist(),
        "worker_token_f1": [
            round(binary_token_f1(test.y, worker.predict(test.X)), 4) for worker in ensemble.estimators_
        ],
        "bytes_up_per_epoch": round(history.bytes_up / len(history)),
        "bytes_down_per_epoch": round((history.bytes_down - history.bytes_start) / len(history)),
        "largest_staleness": max([line.staleness or 0 for line in history]),
    }
    if arm != "D":
        row["global_strict_f1"] = round(ensemble.global_estimator_.score(test.X, test.y), 4)
        row["global_token_f1"] = round(binary_token_f1(test.y, ensemble.global_estimator_.predict(test.X)), 4)
    return row


def summary(rows: list[dict]) -> list[dict]:
    """Each arm over its seeds."""
    out = []
    for arm, runs in by_arm(rows).items():
        result: dict[str, Any] = {"arm": arm, "seeds": sorted(runs)}
        for measure in ("token_f1", "strict_f1"):
            workers = np.array([row[f"worker_{measure}"] for row in runs.values()])
            mean, low, high = interval(workers.mean(axis=1))
            result[measure] = {
                "mean": round(mean, 4),
                "interval": [round(low, 4), round(high, 4)],
                "worst_worker": float(workers.min()),
                "best_worker": float(workers.max()),
            }
            served = [row[f"global_{measure}"] for row in runs.values() if f"global_{measure}" in row]
            result[measure]["global"] = round(float(np.mean(served)), 4) if served else None
        for name in ("bytes_up_per_epoch", "bytes_down_per_epoch", "cpu_seconds"):
            result[name] = round(float(np.mean([row[name] for row in runs.values()])), 1)
        out.append(result)
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    rows = finish_runs(run, arguments, settings)
    print(json.dumps({"benchmark": "festag", **settings, "results": summary(rows), **describe()}, indent=1))


if __name__ == "__main__":
    main()
