"""Training together without moving notes: the experiments of Festag & Spreckelsen (2020).

    python -m benchmarks.dssgd --runs dssgd.jsonl --figures figures
    python -m benchmarks.dssgd --corpus meddocan --data DATA --notes 500 --test-notes 250 --runs meddocan.jsonl
    python -m benchmarks.dssgd --i2b2 FOLDER --network dernoncourt --optimizer sgd --epochs 200 --runs i2b2.jsonl

All notes of a patient (MEDDOCAN: a document) are with one of the workers, and all are scored on the same notes of
other patients. A trains one tagger on all data, B sends it round, C is distributed selective SGD (theta_u = 0.5;
theta_d = 0.1, or 0.5 as in the paper's second setting; concurrent exchange unless it says sequential), D leaves
everybody alone; federated averaging comes in addition, with one exchange in a pass. Token F1 is that of "this token
is PHI", the measure of the paper, of each worker's own tagger; it is also measured after every local epoch. Strict F1
counts typed spans. "global" is the network of the server. Intervals (95 %) are over seeds, which draw notes, split
and weights.

``--optimizer sgd`` is the paper's: plain SGD at a constant learning rate of 0.9, one sentence an update (the paper: one
text). "nadam" is the default of `DeidTagger`, "adam" a variant with small batches and without a moving average of the
weights. Finished runs are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON
object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sklearn_deid import Corpus, DeidTagger, DSSGDEnsemble, fetch_meddocan, make_clinical_notes, read_corpus
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import FederatedAveraging
from sklearn_deid.text import SentenceData

from .environment import describe
from .perturbations import binary_token_f1, save_figure
from .resumable import by_arm, finish_runs, interval

# name -> what is set; theta_u = 0.5, theta_d = 0.1, gamma = 10 and tau = 1e-4 where nothing is said
ARMS: dict[str, dict[str, Any]] = {
    "A": {"strategy": "centralized"},
    "B": {"strategy": "round_robin"},
    "C-0.1": {},
    "C-0.5": {"download_fraction": 0.5},
    "C-0.1-sequential": {"schedule": "sequential"},
    "C-0.5-sequential": {"schedule": "sequential", "download_fraction": 0.5},
    "D": {"strategy": "local", "predict_with": "vote"},
    # As in the literature: one exchange in a pass. `benchmarks.averaging` measures the default.
    "fedavg": {"strategy": FederatedAveraging(divide_batches=False, rounds_per_epoch=1), "server_step": 1.0},
    "C-0.1-upload-0.1": {"upload_fraction": 0.1},
    "C-0.1-upload-0.25": {"upload_fraction": 0.25},
    "C-0.1-upload-1": {"upload_fraction": 1.0},
    "C-0.1-random": {"download_selection": "random"},
    "C-0.1-random-upload-0.1": {"download_selection": "random", "upload_fraction": 0.1},
    "C-0.1-largest-0.1": {"upload_fraction": 0.1, "selection": "largest"},
    "C-0.1-feedback-0.1": {
        "upload_fraction": 0.1,
        "selection": "largest",
        "error_feedback": True,
        "download_selection": "most-changed",
        "server_step": 0.4,
    },
}
ARMS["C-0.1-feedback-0.1-sequential"] = {**ARMS["C-0.1-feedback-0.1"], "schedule": "sequential", "server_step": 1.0}
ARMS["C-0.1-feedback-sequential"] = {**ARMS["C-0.1-feedback-0.1-sequential"], "upload_fraction": 0.5}
MAIN_ARMS = list(ARMS)[:8]
NETWORKS: dict[str, dict[str, Any]] = {
    "default": {"hidden_size": 48},
    "dernoncourt": {
        "characters": "bilstm",
        "hidden_size": 100,
        "head": "softmax",
        "head__projection_size": 100,
        "dropout__input": 0.5,
        "dropout__output": 0.0,
        "span_swap": 0.0,
    },
}
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "nadam": {"optimizer": torch.optim.NAdam, "lr": 3e-3, "batch_size": 300},
    "adam": {"optimizer": torch.optim.Adam, "lr": 3e-3, "batch_size": 100, "weight_average": 0.0},
    # a batch never splits a sentence, so that one padded token is one sentence
    "sgd": {
        "optimizer": torch.optim.SGD,
        "lr": 0.9,
        "batch_size": 1,
        "weight_average": 0.0,
        "gradient_clip": None,
        "callbacks__lr_decay": None,
    },
}
SETTINGS = ("corpus", "notes", "test_notes", "epochs", "workers", "network", "optimizer", "tagger", "exchange")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=MAIN_ARMS, metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--corpus", choices=("generated", "meddocan", "i2b2"), default="generated")
    parser.add_argument("--data", help="folder with meddocan/, or by SKLEARN_DEID_DATA")
    parser.add_argument("--i2b2", help="folder with train/ and test/ of i2b2 2014, for those who hold the licence")
    parser.add_argument("--notes", type=int, default=100, help="notes of all workers together")
    parser.add_argument("--test-notes", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=25, help="of each worker")
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--network", choices=tuple(NETWORKS), default="default")
    parser.add_argument("--optimizer", choices=tuple(OPTIMIZERS), default="nadam")
    parser.add_argument("--tagger", type=json.loads, default={}, help="other parameters of the tagger, as JSON")
    parser.add_argument("--exchange", type=json.loads, default={}, help="other parameters of all C, as JSON")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--runs", default="dssgd.jsonl", help="file of finished runs")
    parser.add_argument("--figures", help="folder for the figures")
    arguments = parser.parse_args(argv)
    if arguments.i2b2:
        arguments.corpus = "i2b2"
    return arguments


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in SETTINGS}


class Watched(DSSGDEnsemble):
    """Measures token F1 of each worker's tagger on the test sentences after each local epoch."""

    test: SentenceData

    def _watching(self, n_epochs: int | None) -> dict[str, Any]:
        return {**super()._watching(n_epochs), "evaluate": self._token_f1}

    def _token_f1(self, name: str, learner: Any) -> Mapping[str, float]:
        return {"token_f1": binary_token_f1(self.test.y, learner.predict(self.test.X))}


def data(arguments: argparse.Namespace, seed: int) -> tuple[SentenceData, SentenceData]:
    """Sentences of the workers, and sentences of other patients."""
    n, n_test = arguments.notes, arguments.test_notes
    if arguments.corpus == "generated":
        train = make_clinical_notes(n, random_state=100 + seed)
        return train.to_sentences(), make_clinical_notes(n_test, random_state=900 + seed).to_sentences()
    if arguments.corpus == "i2b2":
        train, test = (read_corpus(Path(arguments.i2b2) / s, format="i2b2") for s in ("train", "test"))
    else:
        train, test = (fetch_meddocan(s, data_home=arguments.data, download_if_missing=False) for s in ("train", "dev"))
    return drawn(train, n, seed).to_sentences(), test[:n_test].to_sentences()


def drawn(corpus: Corpus, n: int, seed: int) -> Corpus:
    """``n`` notes by chance, or all if there are fewer."""
    return corpus[np.sort(np.random.default_rng(seed).permutation(len(corpus))[:n])]


def ensemble_of(arguments: argparse.Namespace, arm: str, seed: int) -> Watched:
    """What an arm trains."""
    tagger = DeidTagger().set_params(**NETWORKS[arguments.network])
    tagger.set_params(**OPTIMIZERS[arguments.optimizer])
    tagger.set_params(**arguments.tagger)
    is_exchange = arm.startswith("C")
    exchange = {"strategy": "dssgd", **arguments.exchange, **ARMS[arm]} if is_exchange else ARMS[arm]
    return Watched(tagger, n_workers=arguments.workers, n_epochs=arguments.epochs, random_state=seed, **exchange)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train one arm; scores of each worker and of the global network, and what was sent."""
    torch.set_num_threads(1)
    train, test = data(arguments, seed)
    ensemble = ensemble_of(arguments, arm, seed)
    ensemble.test = test
    row: dict[str, Any] = {"arm": arm, "seed": seed, "sentences": len(train.X)}
    start = time.process_time()
    try:
        ensemble.fit(train.X, train.y, groups=train.groups)
    except ExchangeError as error:  # the training of a worker diverged
        return {**row, "diverged": str(error), "cpu_seconds": round(time.process_time() - start, 1)}
    history = ensemble.history_
    first = ensemble.estimators_[0]
    row |= {
        "cpu_seconds": round(time.process_time() - start, 1),
        "model_parameters": sum(p.numel() for p in first.module_.parameters()),
        "worker_strict_f1": ensemble.score_workers(test.X, test.y).round(4).tolist(),
        "worker_token_f1": [round(binary_token_f1(test.y, one.predict(test.X)), 4) for one in ensemble.estimators_],
        "token_f1_by_epoch": np.round(list(history.table("token_f1").values()), 4).tolist(),
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
        done = [row for row in runs.values() if "diverged" not in row]
        result: dict[str, Any] = {"arm": arm, "seeds": sorted(runs), "diverged": len(runs) - len(done)}
        out.append(result)
        if not done:
            continue
        for measure in ("token_f1", "strict_f1"):
            result[measure] = over_seeds(done, measure)
        curves = np.array([row["token_f1_by_epoch"] for row in done])  # shape: (seeds, workers, epochs)
        result["token_f1_by_epoch"] = {
            "mean": curves.mean(axis=(0, 1)).round(4).tolist(),
            "worst_worker": curves.min(axis=(0, 1)).tolist(),
            "best_worker": curves.max(axis=(0, 1)).tolist(),
        }
        for name in ("bytes_up_per_epoch", "bytes_down_per_epoch", "cpu_seconds", "largest_staleness"):
            result[name] = round(float(np.mean([row[name] for row in done])), 1)
    return out


def over_seeds(rows: list[dict], measure: str) -> dict[str, Any]:
    """Mean over the workers with its interval over seeds, worst and best worker of all, and the global network."""
    workers = np.array([row[f"worker_{measure}"] for row in rows])
    mean, low, high = interval(workers.mean(axis=1))
    served = [row[f"global_{measure}"] for row in rows if f"global_{measure}" in row]
    return {
        "mean": round(mean, 4),
        "interval": [round(low, 4), round(high, 4)],
        "worst_worker": float(workers.min()),
        "best_worker": float(workers.max()),
        "global": round(float(np.mean(served)), 4) if served else None,
    }


def draw(folder: str, results: list[dict]) -> None:
    """F1 over epochs, of the main arms, and against what was shared."""
    from matplotlib import pyplot

    from sklearn_deid.plotting import TradeOffDisplay

    Path(folder).mkdir(parents=True, exist_ok=True)
    done = [result for result in results if "token_f1" in result]
    shown = [result for result in done if result["arm"] in MAIN_ARMS]
    if shown:
        display = TradeOffDisplay.from_results(
            epoch_rows(shown),
            name="strategy",
            x="epoch",
            y="f1",
            ranges="band",
            x_name="Local epochs of each worker",
            y_name="Token F1, PHI or not (mean and range over workers)",
        )
        save_figure(display.plot(), Path(folder) / "f1_over_epochs.png")
    if done:
        rows = sorted(map(share_row, done), key=lambda row: row["kib_per_epoch"] or 0.0)
        _, (left, right) = pyplot.subplots(ncols=2, sharey=True, figsize=(11.0, 4.2), layout="constrained")
        common: dict[str, Any] = {"name": "method", "y": "f1", "log_x": True, "y_name": "F1 (0 to 1)"}
        share = "Share of the parameters sent after an epoch (log scale)"
        sent = "KiB sent and fetched in a local epoch (log scale)"
        TradeOffDisplay.from_results(rows, x="shared_fraction", x_name=share, **common).plot(left)
        left.get_legend().remove()
        display = TradeOffDisplay.from_results(rows, x="kib_per_epoch", x_name=sent, **common).plot(right)
        save_figure(display, Path(folder) / "f1_over_shared.png")


def epoch_rows(results: list[dict]) -> list[dict]:
    """Rows of the figure over epochs."""
    return [
        {"strategy": result["arm"], "epoch": epoch, "f1": f1, "f1_low": min(low, f1), "f1_high": max(high, f1)}
        for result in results
        for epoch, (f1, low, high) in enumerate(zip(*result["token_f1_by_epoch"].values(), strict=True), 1)
    ]


def share_row(result: dict) -> dict:
    """A row of the figure of what is shared; arms that differ in theta_u alone are one line."""
    arm, f1 = result["arm"], result["token_f1"]
    uploads = ARMS[arm].get("upload_fraction", 0.5) if arm.startswith("C") else {"fedavg": 1.0}.get(arm)
    sent = result["bytes_up_per_epoch"] + result["bytes_down_per_epoch"]
    return {
        "method": arm.split("-upload")[0],
        "f1": f1["mean"],
        "f1_low": min(f1["worst_worker"], f1["mean"]),
        "f1_high": max(f1["best_worker"], f1["mean"]),
        "shared_fraction": uploads,
        "kib_per_epoch": sent / 1024 if sent else None,
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    if arguments.figures:
        draw(arguments.figures, results)
    print(json.dumps({"benchmark": "dssgd", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
