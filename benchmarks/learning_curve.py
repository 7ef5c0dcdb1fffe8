"""How F1 grows with the training documents, from a tenth of them to all.

    python -m benchmarks.learning_curve --runs curve.jsonl
    python -m benchmarks.learning_curve --corpus meddocan --data DATA --notes 500 --test-notes 250 --runs meddocan.jsonl

The models are those of `benchmarks.baselines`. A smaller share of one seed holds some of the documents of a larger one.
Finished runs are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import torch

from .baselines import SETTINGS, add_training_options, summary, tagged
from .corpora import add_corpus_options, drawn, load, sentences
from .environment import describe
from .official_scores import official_scores
from .resumable import finish_runs

SHARES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
ARMS = {f"{model}-{share}": (model, share) for model in ("lstm", "default", "crf", "word-list") for share in SHARES}


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=200, test_notes=100)
    add_training_options(parser)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS), metavar="ARM")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in SETTINGS}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train a model on its share of the documents."""
    torch.set_num_threads(1)
    model, share = ARMS[arm]
    notes, test_notes = load(arguments, seed)
    part = drawn(notes, max(1, round(len(notes) * share / 100)), seed)
    train, test = sentences(part), sentences(test_notes)
    start = time.process_time()
    tags = tagged(arguments, model, train, test, seed)
    return {
        "arm": arm,
        "seed": seed,
        "documents": len(part),
        "scores": official_scores(test, tags),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    print(json.dumps({"benchmark": "learning_curve", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
