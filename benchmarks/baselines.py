"""What a tagger has to beat: a word list, a guess, a linear CRF; and what the tokenizer lets it reach.

    python -m benchmarks.baselines --runs baselines.jsonl
    python -m benchmarks.baselines --corpus meddocan --data DATA --runs meddocan.jsonl

"word-list" gives each token the commonest tag that it has in the training notes, with one more count for "no PHI", as
in table 6.1 of Friedrich (2018); "guess" draws tags by their frequency; "upper-bound" has the gold tags, so that it
loses only what tokenizer and sentence splitter lose; "crf" is a linear conditional random field on what a token and its
neighbours look like (sklearn-crfsuite, extra ``benchmarks``). "lstm" is the network of Friedrich et al. (2019), table
1, on public word vectors (Spanish: vectors of the training notes), "default" the default `DeidTagger`; ``--parameters``
changes both. Scores are the official ones of the i2b2 2014 task. Finished runs are kept in the file of ``--runs``, from
which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from sklearn_deid import DeidTagger
from sklearn_deid.embeddings import load_glove, train_fasttext
from sklearn_deid.text import SentenceData, casing_class, repair_tags

from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .official_scores import FIGURES, official_scores
from .resumable import by_arm, finish_runs, interval

FRIEDRICH: dict[str, Any] = {
    "n_layers": 2,
    "hidden_size": 128,
    "characters": None,
    "dropout__input": 0.1,
    "dropout__layer": 0.25,
    "dropout__output": 0.5,
    "span_swap": 0.0,
    "weight_average": 0.0,
}
MODELS = ("word-list", "guess", "upper-bound", "crf", "lstm", "default")
SETTINGS = ("corpus", "notes", "test_notes", "epochs", "parameters")
Tags = Sequence[Sequence[str]]


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=200, test_notes=100)
    add_training_options(parser)
    parser.add_argument("--arms", nargs="+", choices=MODELS, default=list(MODELS))
    return parser.parse_args(argv)


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """Options of what trains, and of the runs."""
    parser.add_argument("--epochs", type=int, help="of the networks (default: by the size of the data)")
    parser.add_argument("--parameters", type=json.loads, default={}, help="of the networks, as JSON")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--runs", required=True, help="file of finished runs")


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in SETTINGS}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train and score one arm."""
    torch.set_num_threads(1)
    train, test = (sentences(corpus) for corpus in load(arguments, seed))
    start = time.process_time()
    tags = tagged(arguments, arm, train, test, seed)
    seconds = round(time.process_time() - start, 1)
    return {"arm": arm, "seed": seed, "scores": official_scores(test, tags), "cpu_seconds": seconds}


def tagged(arguments: argparse.Namespace, model: str, train: SentenceData, test: SentenceData, seed: int) -> Any:
    """Tags that a model gives the test sentences."""
    if model == "word-list":
        return word_list(train, test)
    if model == "guess":
        return guess(train, test, np.random.default_rng(seed))
    if model == "upper-bound":
        return test.y
    if model == "crf":
        return linear_crf(train, test)
    given: dict[str, Any] = {"max_epochs": arguments.epochs or "auto", "device": arguments.device}
    if model == "lstm":
        spanish = arguments.corpus == "meddocan"
        given |= {"embeddings": train_fasttext(train.X, random_state=0) if spanish else load_glove(), **FRIEDRICH}
    tagger = DeidTagger(random_state=seed).set_params(**{**given, **arguments.parameters})
    return tagger.fit(train.X, train.y, groups=train.groups).predict(test.X)


def word_list(train: SentenceData, test: SentenceData) -> Tags:
    """The commonest tag of each token in the training notes; "O" for others."""
    counts: dict[str, Counter[str]] = defaultdict(lambda: Counter({"O": 1}))
    for row, tags in zip(train.X, train.y, strict=True):
        for token, tag in zip(row, tags, strict=True):
            counts[token][tag] += 1
    best = {token: found.most_common(1)[0][0] for token, found in counts.items()}
    return [repair_tags([best.get(token, "O") for token in row]) for row in test.X]


def guess(train: SentenceData, test: SentenceData, rng: np.random.Generator) -> Tags:
    """Tags drawn by their frequency in the training notes."""
    names, counts = np.unique([tag for row in train.y for tag in row], return_counts=True)
    return [repair_tags(rng.choice(names, size=len(row), p=counts / counts.sum()).tolist()) for row in test.X]


def linear_crf(train: SentenceData, test: SentenceData) -> Tags:
    """A conditional random field trained by L-BFGS, with the settings of its own tutorial."""
    from sklearn_crfsuite import CRF

    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    crf.fit([features(row) for row in train.X], [list(tags) for tags in train.y])
    return [repair_tags(list(tags)) for tags in crf.predict([features(row) for row in test.X])]


def features(row: Sequence[str]) -> list[dict[str, Any]]:
    """What each token of a sentence and its two neighbours on either side look like."""
    own = [look(token) for token in row]
    out = []
    for i in range(len(row)):
        found = {"bias": 1.0, "begin": i == 0, "end": i == len(row) - 1}
        for distance in range(-2, 3):
            if 0 <= i + distance < len(row):
                found |= {f"{distance}:{name}": value for name, value in own[i + distance].items()}
        out.append(found)
    return out


def look(token: str) -> dict[str, Any]:
    """Word, ends, casing and shape of a token."""
    shape = "".join("0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in token)
    ends = {f"first{n}": token[:n] for n in (1, 2, 3)} | {f"last{n}": token[-n:] for n in (2, 3)}
    return {"word": token.lower(), "casing": str(casing_class(token)), "shape": shape[:12], **ends}


def summary(rows: list[dict]) -> dict[str, dict[str, Any]]:
    """Each arm over its seeds: precision, recall and F1 of each way of counting, means with 95 % intervals."""
    out: dict[str, dict[str, Any]] = {}
    for arm, runs in by_arm(rows).items():
        found = [row["scores"] for row in runs.values()]
        rules = [rule for rule in found[0] if not rule.endswith("_by")]
        out[arm] = {"seeds": sorted(runs)} | {
            rule: {name: [round(v, 5) for v in interval([one[rule][name] for one in found])] for name in FIGURES}
            for rule in rules
        }
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    print(json.dumps({"benchmark": "baselines", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
