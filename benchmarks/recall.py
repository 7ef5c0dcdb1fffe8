"""Whether a target recall is reached on other patients, at which precision, and what calibration is worth.

    python -m benchmarks.recall DATA --runs recall.jsonl

DATA is the folder that holds ``meddocan/`` (or is given by SKLEARN_DEID_DATA); without it only the generated notes are
measured. A tagger is trained on three quarters of the training patients (MEDDOCAN: documents), thresholds and
temperature are chosen on the others, and everything is measured on notes of other patients: MEDDOCAN's development
split, or generated notes of another seed. Recall and precision are those of tokens, under whatever label. Prints one
JSON object; finished runs are kept in the file of ``--runs``, so that an interrupted benchmark goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupShuffleSplit

from sklearn_deid import (
    DeidTagger,
    RecallTunedTagger,
    TemperatureScaledTagger,
    fetch_meddocan,
    make_clinical_notes,
)
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.metrics import (
    expected_calibration_error,
    phi_confidences,
    phi_f1_score,
    phi_precision_score,
    phi_recall_score,
    span_confidences,
)
from sklearn_deid.tagging import direct_identifiers
from sklearn_deid.text import SentenceData, split_tag

from .environment import describe
from .resumable import by_arm, finish_runs, interval

TARGETS: dict[str, dict[str, Any]] = {
    "untuned": {"decision_bias": 0.0},
    "recall 0.99": {"target_recall": 0.99},
    "recall 0.99, no margin": {"target_recall": 0.99, "confidence": None},
    "recall 0.995": {"target_recall": 0.995},
    "missed patients 0.05": {"target_recall": None, "max_missed_patients": 0.05},
    "missed patients 0.1": {"target_recall": None, "max_missed_patients": 0.1},
}


class Remembering(BaseEstimator):
    """A fitted tagger that tags each corpus once, since several rules look at the same probabilities."""

    def __init__(self, tagger: Any = None) -> None:
        self.tagger = tagger
        self.classes_ = tagger.classes_
        self._known: dict[tuple[str, int], Any] = {}

    def fit(self, X: Any, y: Any) -> Remembering:
        raise NotImplementedError("Trained already.")

    def _recall(self, method: str, X: Any) -> Any:
        key = (method, len(X.data))
        if key not in self._known:
            self._known[key] = getattr(self.tagger, method)(X)
        return self._known[key]

    def predict(self, X: Any) -> Any:
        return self._recall("predict", X)

    def predict_proba(self, X: Any) -> Any:
        return self._recall("predict_proba", X)


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder with meddocan/")
    parser.add_argument(
        "--arms", nargs="+", choices=("meddocan", "generated"), help="by default those there is data of"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--train-notes", type=int, default=None, help="at most so many notes to train and tune on")
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--runs", default="recall-runs.jsonl", help="file that keeps finished runs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args(argv)
    if arguments.arms is None:
        arguments.arms = ["generated"] if arguments.data is None else ["meddocan", "generated"]
    return arguments


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {"train_notes": arguments.train_notes, "epochs": arguments.epochs}


def corpora(arguments: argparse.Namespace, arm: str, seed: int) -> tuple[SentenceData, SentenceData]:
    """Notes to train and tune on, and notes of other patients."""
    n = arguments.train_notes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        if arm == "generated":
            train = make_clinical_notes(n or 600, n_patients=(n or 600) // 2, random_state=1000 + seed)
            return train.to_sentences(), make_clinical_notes(
                400, n_patients=200, random_state=2000 + seed
            ).to_sentences()
        splits = [fetch_meddocan(s, data_home=arguments.data, download_if_missing=False) for s in ("train", "dev")]
        return splits[0][:n].to_sentences(), splits[1].to_sentences()


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """One seed of one corpus: one training, all rules."""
    torch.set_num_threads(arguments.threads)
    data, test = corpora(arguments, arm, seed)
    split = GroupShuffleSplit(1, test_size=0.25, random_state=seed)
    train, held = next(split.split(np.zeros(len(data.X)), groups=data.groups))
    started = time.process_time()
    tagger = DeidTagger(max_epochs=arguments.epochs or "auto", random_state=seed)
    tagger = Remembering(tagger.fit(data.X[train], data.y[train], groups=data.groups[train]))
    row: dict[str, Any] = {"arm": arm, "seed": seed, "training_cpu_seconds": round(time.process_time() - started, 1)}
    row["held_out_patients"] = len(np.unique(data.groups[held]))
    row["test_patients"] = len(np.unique(test.groups))
    row["rules"] = {}
    for name, aim in TARGETS.items():
        tuned = RecallTunedTagger(tagger, cv="prefit", **aim)
        row["rules"][name] = measured(tuned, data.X[held], data.y[held], data.groups[held], test)
    row["calibration"] = calibration(tagger, data.X[held], data.y[held], test)
    return row


def measured(tuned: RecallTunedTagger, X: Any, y: Any, groups: Any, test: SentenceData) -> dict:
    """What a rule promised on held-out patients, and what it does on others."""
    try:
        tuned.fit(X, y, groups=groups)
    except ValueError as refusal:  # too few patients for what is asked
        return {"refused": str(refusal)}
    assert tuned.report_ is not None
    tags = tuned.predict(test.X)
    return {
        "decision_bias": round(tuned.decision_bias_, 3),
        "held_out": {name: list(getattr(tuned.report_, name)) for name in ("recall", "precision", "missed_patients")},
        "recall": phi_recall_score(test.y, tags, level="token", binary=True),
        "precision": phi_precision_score(test.y, tags, level="token", binary=True),
        "strict_span_recall": phi_recall_score(test.y, tags),
        "strict_span_f1": phi_f1_score(test.y, tags),
        "missed_patients": missed_patients(tuned, tags, test),
    }


def missed_patients(tuned: RecallTunedTagger, tags: Any, test: SentenceData) -> float:
    """Share of the test patients with a direct identifier of which a token is not tagged, counted anew."""
    direct = direct_identifiers({split_tag(tag)[1] for row in test.y for tag in row} - {None}, tuned.direct_labels)
    missed = set()
    for gold, found, patient in zip(test.y, tags, test.groups, strict=True):
        if any(split_tag(a)[1] in direct and b == "O" for a, b in zip(gold, found, strict=True)):
            missed.add(patient)
    return len(missed) / len(np.unique(test.groups))


def calibration(tagger: Any, X: Any, y: Any, test: SentenceData) -> dict:
    """Expected calibration error on other patients with and without temperature scaling."""
    scaled = TemperatureScaledTagger(tagger, cv="prefit").fit(X, y)
    plain = TemperatureScaledTagger(tagger, cv="prefit").fit(X, y)
    plain.temperature_ = 1.0
    row: dict[str, Any] = {"temperature": round(scaled.temperature_, 3)}
    for name, one in (("plain", plain), ("scaled", scaled)):
        token = phi_confidences(test.y, one.predict_proba(test.X), one.classes_)
        tags, sure = one.predict(test.X, return_confidence=True)
        span = span_confidences(test.y, tags, sure)
        row[name] = {
            "token_ece": expected_calibration_error(*token),
            "span_ece": expected_calibration_error(*span),
            "span_confidence": float(span[1].mean()),
            "span_precision": float(span[0].mean()),
        }
    return row


def summary(rows: dict[int, dict]) -> dict:
    """Means over seeds with 95 % intervals."""
    out: dict[str, Any] = {"seeds": sorted(rows)}
    for name in TARGETS:
        done = [row["rules"][name] for row in rows.values() if "refused" not in row["rules"][name]]
        out[name] = {"refused": len(rows) - len(done)}
        for figure in ("recall", "precision", "strict_span_f1", "missed_patients", "decision_bias") if done else ():
            out[name][figure] = [round(value, 4) for value in interval([row[figure] for row in done])]
        if done:
            out[name]["smallest_recall"] = round(min(row["recall"] for row in done), 4)
    for figure in ("token_ece", "span_ece"):
        for kind in ("plain", "scaled"):
            values = [row["calibration"][kind][figure] for row in rows.values()]
            out[f"{figure}_{kind}"] = [round(value, 5) for value in interval(values)]
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    rows = finish_runs(run, arguments, settings)
    results = {arm: summary(by_seed) for arm, by_seed in by_arm(rows).items()}
    print(json.dumps({"benchmark": "recall", **settings, "results": results, "runs": rows, **describe()}, indent=1))


if __name__ == "__main__":
    main()
