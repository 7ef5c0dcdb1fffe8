"""How many annotated notes a tagger needs if `suggest_notes` chooses them, and if chance does.

    python -m benchmarks.suggest --runs suggest.jsonl

Both arms of a seed start with the same random notes of the train set of MEDDOCAN, and then add batches until they hold
``--most`` notes. Each tagger is trained anew with its default settings. The scores are those of the dev set (strict
typed F1). Finished draws are kept in the file of ``--runs``. Prints one JSON object with the curves, and the notes that
each arm needs for the F1 of ``--target`` (linear between two batches; null if the curve ends below).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np
import torch

from sklearn_deid import Corpus, DeidTagger, NoteDeidentifier
from sklearn_deid.review import suggest_notes

from .corpora import add_corpus_options, read_or_make
from .environment import describe
from .resumable import by_arm, finish_runs

ARMS = {"suggest": True, "random": False}
SETTINGS = ("corpus", "notes", "test_notes", "first", "batch", "most")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=500, test_notes=100)
    parser.set_defaults(corpus="meddocan")
    parser.add_argument("--first", type=int, default=10, help="random notes at the start")
    parser.add_argument("--batch", type=int, default=20, help="notes of each further batch")
    parser.add_argument("--most", type=int, default=110, help="notes at the end")
    parser.add_argument("--target", type=float, default=0.93)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", required=True, help="file of the finished draws")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """One curve: F1 after each batch."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    pool, test = read_or_make(arguments.corpus, arguments, seed)
    pool, test = pool[: arguments.notes], test[: arguments.test_notes]
    order = np.random.default_rng(seed).permutation(len(pool)).tolist()
    chosen, curve, start = order[: arguments.first], [], time.process_time()
    while True:
        tagger = DeidTagger(random_state=seed, verbose=0)
        model = NoteDeidentifier(tagger).fit(Corpus(pool[place] for place in sorted(chosen)))
        curve.append([len(chosen), model.score(test)])
        if len(chosen) >= arguments.most:
            break
        rest = [place for place in order if place not in set(chosen)]
        if ARMS[arm]:
            found = suggest_notes(model, [pool[place] for place in rest], arguments.batch)
            chosen = chosen + [rest[place] for place in found]
        else:
            chosen = chosen + rest[: arguments.batch]
    return {"arm": arm, "seed": seed, "curve": curve, "cpu_seconds": round(time.process_time() - start, 1)}


def notes_needed(curve: list[list[float]], target: float) -> float | None:
    """Notes at which the curve first reaches the target, linear between two batches."""
    for (n_before, before), (n, score) in zip(curve, curve[1:], strict=False):
        if score >= target:
            return n_before + (n - n_before) * (target - before) / (score - before) if score > before else n
    return None


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    rows = by_arm(finish_runs(run, arguments, settings))
    needed = {arm: {s: notes_needed(r["curve"], arguments.target) for s, r in of.items()} for arm, of in rows.items()}
    curves = {arm: {seed: row["curve"] for seed, row in of.items()} for arm, of in rows.items()}
    result = {"benchmark": "suggest", **settings, "target": arguments.target, "needed": needed, "curves": curves}
    print(json.dumps({**result, **describe()}, indent=1))


if __name__ == "__main__":
    main()
