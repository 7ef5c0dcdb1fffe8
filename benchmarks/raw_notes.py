"""What raw notes add to few annotated notes: `NoteDeidentifier` with and without ``unlabelled=``, on MEDDOCAN.

    python -m benchmarks.raw_notes DATA --runs raw_notes.jsonl --notes 25 50 --raw 200 --seeds 0 1 2
    python -m benchmarks.raw_notes DATA --runs raw_500.jsonl --notes 500 --background --raw 1000 --test-notes 250

The seed draws the annotated notes from the training split and starts the training; fewer notes are a part of more. The
raw notes are further notes of the training split without their annotations, the same for all numbers of annotated
notes. With ``--background``, the seed draws them from the raw cases of MEDDOCAN (``meddocan/unlabelled.jsonl``, none of
which is in another split). "alone" is ``NoteDeidentifier()``, "raw" the same with raw notes; both have the same
annotated notes. The scores are those of the first notes of the development split. "hidden" is the proportion of letters
and digits of annotated PHI that any span hides. Finished runs are kept in the file of ``--runs``. Prints one JSON
object.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sklearn_deid import DeidTagger, NoteDeidentifier, fetch_meddocan
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.tagging import SelfTraining
from sklearn_deid.tagging.default_start import default_settings

from .environment import describe
from .languages import counts
from .resumable import by_arm, finish_runs, interval

MODELS = ("alone", "raw")
_FIRST_RAW = 100


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="folder that holds meddocan/")
    parser.add_argument("--notes", type=int, nargs="+", default=[25, 50], help="up to 100 (500 with --background)")
    parser.add_argument("--raw", type=int, default=200, help="raw notes, up to 400 (up to 2,751 with --background)")
    parser.add_argument("--background", action="store_true", help="raw notes of meddocan/unlabelled.jsonl")
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--test-notes", type=int, default=60)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", required=True, help="file of finished runs")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train and score one model."""
    torch.set_num_threads(1)
    n_notes, model = arm.split("/")
    train, dev = (
        fetch_meddocan(split, data_home=arguments.data, download_if_missing=False) for split in ("train", "dev")
    )
    order = np.random.default_rng(seed).permutation(len(train))
    annotated = train[np.sort(order[: int(n_notes)])]
    if arguments.background:
        raw = raw_cases(arguments, seed)
    else:
        raw = [note.text for note in train[np.sort(order[_FIRST_RAW : _FIRST_RAW + arguments.raw])]]
    test = dev[: arguments.test_notes]
    tagger = DeidTagger(**default_settings(annotated), random_state=seed)
    deidentifier = NoteDeidentifier(tagger, self_training=SelfTraining(arguments.teachers))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        deidentifier.fit(annotated, unlabelled=raw if model == "raw" else None)
    seconds = round(time.process_time() - start, 1)
    used = getattr(deidentifier, "raw_notes_", {})
    return {
        "arm": arm,
        "seed": seed,
        **counts(test, deidentifier.annotate(test)),
        "fit_seconds": seconds,
        "raw_notes": used,
    }


def raw_cases(arguments: argparse.Namespace, seed: int) -> list[str]:
    """Raw cases of the same kind as MEDDOCAN, drawn by the seed."""
    lines = (Path(arguments.data) / "meddocan" / "unlabelled.jsonl").read_text(encoding="utf-8").strip("\n").split("\n")
    drawn = np.random.default_rng(seed).permutation(len(lines))[: arguments.raw]
    return [json.loads(lines[position])["text"] for position in np.sort(drawn)]


def summary(rows: list[dict]) -> dict[str, Any]:
    """Strict F1 and hidden PHI of each arm: mean and 95 % interval over seeds."""
    out = {}
    for arm, runs in sorted(by_arm(rows).items()):
        f1 = [2 * row["right"] / max(1, row["gold"] + row["predicted"]) for row in runs.values()]
        hidden = [np.divide(*np.sum(list(row["hidden"].values()), axis=0)) for row in runs.values()]
        out[arm] = {
            "seeds": sorted(runs),
            "strict_f1": [round(value, 4) for value in interval(f1)],
            "hidden": [round(value, 4) for value in interval(hidden)],
            "fit_seconds": round(float(np.mean([row["fit_seconds"] for row in runs.values()])), 1),
        }
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    arguments.arms = [f"{n}/{model}" for n in arguments.notes for model in arguments.models]
    settings = {"raw": arguments.raw, "test_notes": arguments.test_notes, "background": arguments.background}
    results = summary(finish_runs(run, arguments, settings))
    print(json.dumps({"benchmark": "raw notes", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
