"""Taggers trained on surrogates, and the form of surrogate notes.

    python -m benchmarks.surrogates --runs runs.jsonl
    python -m benchmarks.surrogates --corpus meddocan --data DATA --notes 500 --runs meddocan.jsonl
    python -m benchmarks.surrogates --forms --corpus meddocan --data DATA

A tagger with default parameters is trained on the notes as they are ("raw"), on one copy or five copies with
surrogates, on neighbours with N = 100, or on label placeholders, and scored on untouched notes of other patients. Five
copies are trained for the same number of epochs, which is five times the steps. With ``--forms``, no tagger is trained:
the notes are written with surrogates, broken forms are counted per 1,000 spans, and the merging and splitting of people
is counted. Finished runs are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one
JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from typing import Any

import numpy as np
import torch

from sklearn_deid import Corpus, DeidTagger, NeighborPseudonymizer, SurrogatePseudonymizer
from sklearn_deid.embeddings import train_fasttext
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.text import SentenceData, split_tag

from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .official_scores import official_scores
from .resumable import by_arm, finish_runs, interval
from .surrogate_forms import broken_forms, one_person_one_surrogate

ARMS = ("raw", "one-copy", "five-copies", "neighbors-100", "placeholders")
FIGURES = (("binary_token", "f1"), ("binary_token", "recall"), ("strict", "f1"))


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=100, test_notes=None)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS[:3]))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", default="surrogates.jsonl", help="file of finished runs")
    parser.add_argument("--forms", action="store_true", help="count broken forms instead of training taggers")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train one tagger and score it on untouched notes."""
    torch.set_num_threads(1)
    start = time.process_time()
    train, test = (sentences(corpus) for corpus in load(arguments, seed))
    X, y, groups = training_data(arguments, arm, train, seed)
    tags = DeidTagger(random_state=seed).fit(X, y, groups=groups).predict(test.X)
    scores = official_scores(test, tags)
    # Labels that are missed most show which surrogates are least like the originals.
    missed = Counter(
        split_tag(gold)[1]
        for row, found in zip(test.y, tags, strict=True)
        for gold, tag in zip(row, found, strict=True)
        if gold != "O" and tag == "O"
    )
    row = {"arm": arm, "seed": seed, "scores": scores, "missed_tokens": dict(missed.most_common())}
    return {**row, "cpu_seconds": round(time.process_time() - start, 1)}


def training_data(arguments: argparse.Namespace, arm: str, train: SentenceData, seed: int) -> tuple[Any, Any, Any]:
    """Sentences, tags and patients to train on."""
    if arm == "raw":
        return train.X, train.y, train.groups
    if arm in ("one-copy", "five-copies"):
        copies = 1 if arm == "one-copy" else 5
        return SurrogatePseudonymizer(random_state=seed).fit_resample(train.X, train.y, train.groups, n_copies=copies)
    if arm == "neighbors-100":
        vectors = "auto" if arguments.corpus != "meddocan" else train_fasttext(train.X, random_state=0)
        language = "es" if arguments.corpus == "meddocan" else "en"
        moved = NeighborPseudonymizer(embeddings=vectors, exclude=language, random_state=seed)
        return moved.fit_transform(train.X, train.y), train.y, train.groups
    data = train.X.data.copy()
    labels = [split_tag(tag)[1] for row in train.y for tag in row]
    for i, label in enumerate(labels):
        data[i] = data[i] if label is None else f"[{label}]"
    return type(train.X)(data, train.X.offsets).with_documents(train.X.documents), train.y, train.groups


def forms(corpus: Corpus) -> dict[str, Any]:
    """Counts of the form of surrogate notes, their speed, and the errors of the rules for one person."""
    engine = SurrogateEngine(key=bytes(32))
    engine.rewrite(corpus[0])  # Faker is imported with the first note
    start = time.process_time()
    replacements = [engine.replacements(document) for document in corpus]
    seconds = time.process_time() - start
    n_spans = sum(map(len, replacements))
    counts: Counter = Counter()
    for document, made in zip(corpus, replacements, strict=True):
        counts.update(broken_forms(document, made))
    no_rule = Counter(one.span.label for made in replacements for one in made if not one.has_rule)
    return {
        "notes": len(corpus),
        "spans": n_spans,
        "no_rule": dict(no_rule.most_common()),
        "broken": dict(counts.most_common()),
        "broken_per_1000_spans": round(1000 * sum(counts.values()) / max(n_spans, 1), 3),
        "notes_per_second": round(len(corpus) / seconds, 1),
        **one_person_one_surrogate(corpus, replacements),
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in ("corpus", "notes", "test_notes")}
    if arguments.forms:
        results: dict[str, Any] = {
            name: forms(corpus) for name, corpus in zip(("train", "test"), load(arguments, 0), strict=True)
        }
    else:
        rows = by_arm(finish_runs(run, arguments, settings))
        results = {
            arm: {
                f"{rule}_{figure}": [round(v, 5) for v in interval([r["scores"][rule][figure] for r in seeds.values()])]
                for rule, figure in FIGURES
            }
            | {"cpu_seconds": float(np.mean([r["cpu_seconds"] for r in seeds.values()]))}
            for arm, seeds in rows.items()
        }
    print(json.dumps({"benchmark": "surrogates", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
