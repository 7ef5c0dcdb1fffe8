"""Whether a target recall that few notes show is reached on other notes, and at which precision.

    python -m benchmarks.recall_few_notes --corpus meddocan --notes 50 --runs few_recall.jsonl
    python -m benchmarks.recall_few_notes --corpus meddocan --notes 50 --start starter-en --folds 3 --runs from.jsonl

A seed draws the notes. Each arm is a target. With ``--start``, all trainings of a draw start from a model of other
notes, and read single sentences as the model does; without, they start from random weights and read blocks. With
``--start default``, they have the settings that `NoteDeidentifier` and ``train`` choose for the notes. ``train``
refuses a model where `RecallTunedTagger` warns of a low precision here, so that "warned" counts its refusals. Recall
and precision are those of tokens, under whatever label (``compare("binary_token", ...)``), on the other split. A
refusal of `RecallTunedTagger` is a result: its message is kept. Finished runs are kept in the file of ``--runs``.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import torch

from sklearn_deid import DeidTagger, NoteDeidentifier, RecallTunedTagger
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.metrics import compare
from sklearn_deid.tagging.default_start import default_settings

from .corpora import add_corpus_options, load
from .environment import describe
from .resumable import by_arm, finish_runs

SETTINGS = ("corpus", "notes", "test_notes", "start", "folds")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=50, test_notes=None)
    parser.add_argument("--arms", nargs="+", default=["0.98"], help="targets")
    parser.add_argument("--start", help="model that each training starts from, such as starter-en, or: default")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", required=True, help="file of the finished runs")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """One draw of notes with one target."""
    torch.set_num_threads(1)
    train, test = load(arguments, seed)
    if arguments.start == "default":
        reads = default_settings(train)
    else:
        reads = {"warm_start_from": arguments.start} if arguments.start else {"context": "block"}
    tagger = DeidTagger(**reads, random_state=seed, verbose=0)
    settings = {"target_recall": float(arm), "cv": arguments.folds, "random_state": seed}
    deidentifier = NoteDeidentifier(RecallTunedTagger(tagger, **settings))
    row: dict[str, Any] = {"arm": arm, "seed": seed}
    start = time.process_time()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", AlignmentWarning)
        try:
            deidentifier.fit(train)
        except ValueError as refusal:  # what these notes cannot show
            return row | {"refused": str(refusal), "cpu_seconds": round(time.process_time() - start)}
    row["warned"] = [str(one.message) for one in warned if "min_precision" in str(one.message)]
    report = deidentifier.estimator_.report_
    assert report is not None
    row |= {"promised": report.recall.to_dict(), "held_out_precision": report.precision.to_dict()}
    row["cpu_seconds"] = round(time.process_time() - start)
    found = deidentifier.annotate(test)
    every = [compare("binary_token", note, note.spans, spans) for note, spans in zip(test, found, strict=True)]
    right = sum(one.tp for one in every)
    row["recall"] = right / max(1, sum(one.tp + one.fn for one in every))
    row["precision"] = right / max(1, sum(one.tp + one.fp for one in every))
    return row


def summary(runs: dict[int, dict], target: float) -> dict[str, Any]:
    """How many draws reached the target, the lowest figures first."""
    done = [row for row in runs.values() if "refused" not in row]
    figures = {name: sorted(round(row[name], 4) for row in done) for name in ("recall", "precision")}
    return {
        "draws": len(runs),
        "refused": len(runs) - len(done),
        "reached": sum(row["recall"] >= target for row in done),
        "reached_at_precision_0.8": sum(row["recall"] >= target and row["precision"] >= 0.8 for row in done),
        "warned": sum(bool(row["warned"]) for row in done),
        **figures,
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    rows = by_arm(finish_runs(run, arguments, settings))
    results = {arm: summary(runs, float(arm)) for arm, runs in rows.items()}
    print(
        json.dumps(
            {"benchmark": "recall_few_notes", **settings, "results": results, "runs": rows, **describe()}, indent=1
        )
    )


if __name__ == "__main__":
    main()
