"""How much noise hides a word vector, and how often a neighbour still spells the word.

    python -m benchmarks.noise_ranks --runs ranks.jsonl

For words that stand as PHI in notes: the share whose noisy vector still has them as its nearest word or among the five
nearest (figure 6.2 left of Friedrich, 2018), and how many of the 100 nearest words contain the word (section 9 of
Friedrich et al., 2019). Finished runs are kept in the file of ``--runs``. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from sklearn_deid.embeddings import NeighborIndex, WordVectors, load_glove, noise_study, train_fasttext
from sklearn_deid.text import SentenceData

from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .resumable import by_arm, finish_runs, interval

SCALES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
ARMS = {f"noise-{scale}": scale for scale in SCALES} | {"spelled": None}
N_NEIGHBORS = 100


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=200, test_notes=1)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--words", type=int, default=500, help="at most so many different PHI words")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", required=True, help="file of finished runs")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in ("corpus", "notes", "words")}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """One scale of noise, or the neighbours that spell the word."""
    notes = sentences(load(arguments, seed)[0])
    vectors = load_glove() if arguments.corpus != "meddocan" else train_fasttext(notes.X, random_state=0)
    words = phi_words(notes, vectors, arguments.words, seed)
    row: dict[str, Any] = {"arm": arm, "seed": seed, "words": len(words)}
    if ARMS[arm] is None:
        return row | {"spelled": spelled(vectors, words)}
    study = noise_study(vectors, [vectors.index(word) for word in words], [ARMS[arm]], random_state=seed)
    shares = zip(study.ranks, study.found[0].tolist(), strict=True)
    return row | {f"top{rank}": share for rank, share in shares}


def spelled(vectors: WordVectors, words: list[str]) -> float:
    """How many of the nearest words of a word contain it, itself not counted; mean over words."""
    table = NeighborIndex(vectors).query([vectors.index(word) for word in words], min(N_NEIGHBORS, len(vectors)))
    names = vectors.words
    counts = [
        sum(names[row].lower() in names[near].lower() for near in found if near != row)
        for row, found in zip(table.rows, table.neighbors, strict=True)
    ]
    return float(np.mean(counts))


def phi_words(notes: SentenceData, vectors: WordVectors, n_words: int, seed: int) -> list[str]:
    """Words whose vectors PHI tokens of more than two letters and without a digit have, each once."""
    names = vectors.words
    found = {
        names[vectors.index(token)]
        for row, tags in zip(notes.X, notes.y, strict=True)
        for token, tag in zip(row, tags, strict=True)
        if tag != "O" and len(token) > 2 and token.isalpha() and token in vectors
    }
    words = sorted(found)
    return [words[i] for i in np.random.default_rng(seed).permutation(len(words))[:n_words]]


def summary(rows: list[dict]) -> dict[str, dict[str, Any]]:
    """Each arm over its seeds."""
    return {
        arm: {"seeds": sorted(runs)}
        | {
            name: interval([row[name] for row in runs.values()])
            for name in next(iter(runs.values()))
            if name.startswith(("top", "spelled"))
        }
        for arm, runs in by_arm(rows).items()
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    print(json.dumps({"benchmark": "noise_ranks", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
