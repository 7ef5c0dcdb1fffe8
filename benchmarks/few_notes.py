"""F1 of taggers that start from the starter model and from random weights, with a few annotated notes.

    python -m benchmarks.few_notes --corpus asq-phi --sizes 10 25 50 --seeds 0 1 2 --runs few.jsonl

The notes of a seed are drawn by chance; more of one seed hold fewer of the same. All arms have the same notes, and
strict typed F1 with the labels of the corpus on the same other notes. "starter" has the settings of the starter,
"default" those of `NoteDeidentifier()`, and "scratch" the same with random weights: notes that are not in English have
no other default. GraSCCo: a seed is one of five folds, each of which has 12 letters to train on.
ASQ-PHI: a random half is held out. Generated notes flatter the starter, which was trained on notes of the same
templates. Finished runs are kept in the file of ``--runs``. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import torch

from sklearn_deid import DeidTagger, NoteDeidentifier
from sklearn_deid.tagging.default_start import default_settings

from .corpora import add_corpus_options, drawn, read_or_make
from .environment import describe
from .resumable import by_arm, finish_runs

ARMS: dict[str, dict[str, str] | None] = {
    "default": None,
    "starter": {"warm_start_from": "starter-en"},
    "scratch": {"context": "block"},
}
SETTINGS = ("corpus", "sizes", "test_notes")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=500, test_notes=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 25, 50])
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", required=True, help="file of the finished runs")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """F1 at each number of notes."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    pool, test = read_or_make(arguments.corpus, arguments, seed)
    test, scores, start = test[: arguments.test_notes], {}, time.process_time()
    for size in arguments.sizes:
        if size <= len(pool):
            notes = drawn(pool, size, seed)
            settings = ARMS[arm] or default_settings(notes)
            tagger = DeidTagger(**settings, random_state=seed, verbose=0)
            scores[size] = NoteDeidentifier(tagger).fit(notes).score(test)
    return {"arm": arm, "seed": seed, "f1": scores, "cpu_seconds": round(time.process_time() - start, 1)}


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    rows = by_arm(finish_runs(run, arguments, settings))
    scores = {arm: {seed: row["f1"] for seed, row in of.items()} for arm, of in rows.items()}
    print(json.dumps({"benchmark": "few_notes", **settings, "f1": scores, **describe()}, indent=1))


if __name__ == "__main__":
    main()
