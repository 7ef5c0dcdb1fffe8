"""How useful redacted notes still are: tables 3, 4 and 5a of Ahmed et al. (2020), on generated notes or MEDDOCAN.

    python -m benchmarks.utility --runs utility.jsonl

Each arm trains a system, redacts notes of other patients with it and measures them by `utility_report`: BLEU against
the notes as they are, agreement of topics, and accuracy of a classifier of notes (generated notes: of what kind a note
is). "gold" figures are those of notes redacted by the annotation. "transformer" is a self-attention tagger trained from
scratch, "lstm" a BiLSTM with a CRF and characters, near the paper's reference. The arms "gold-label", "gold-mask" and
"gold-surrogate" train nothing: the notes are redacted by the annotation, in three modes of ``redact``. Finished runs
are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object. Needs the extra
``utility``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from typing import Any

import torch

from sklearn_deid import Corpus, DeidTagger, utility_report
from sklearn_deid.surrogates import note_rewriter

from .baselines import linear_crf, word_list
from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .official_scores import official_scores
from .resumable import by_arm, finish_runs, interval
from .tagger_family import ATTENTION, GRU

ARMS: dict[str, dict[str, Any] | None] = {
    "transformer": ATTENTION,
    "gru": GRU,
    "lstm": {**GRU, "encoder": "lstm", "characters": "bilstm"},
    "crf": None,
    "word-list": None,
}
MODES = {"gold-label": "label", "gold-mask": "mask", "gold-surrogate": "surrogate"}
SETTINGS = ("corpus", "notes", "test_notes", "epochs", "hidden_size", "repeats", "classes")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=200, test_notes=200)
    parser.add_argument("--arms", nargs="+", choices=(*ARMS, *MODES), default=list(ARMS), metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5, help="starts of the topic model")
    parser.add_argument("--classes", type=int, nargs="+", default=[3, 5], help="commonest kinds of notes to tell apart")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--runs", required=True, help="file of finished runs")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in SETTINGS}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train, redact, and measure what is left."""
    torch.set_num_threads(1)
    train, test = (sentences(corpus) for corpus in load(arguments, seed))
    start = time.process_time()
    if arm in MODES:
        key: dict[str, Any] = {"key": seed.to_bytes(32, "big")} if arm == "gold-surrogate" else {}
        texts = [note.text for note in map(note_rewriter(MODES[arm], **key), test.corpus)]
        row: dict[str, Any] = {"arm": arm, "seed": seed, **left(arguments, test.corpus, texts, seed)}
        return {**row, "cpu_seconds": round(time.process_time() - start, 1)}
    parameters = ARMS[arm]
    if parameters is None:
        tags = (linear_crf if arm == "crf" else word_list)(train, test)
    else:
        settings = {"max_epochs": arguments.epochs, "hidden_size": arguments.hidden_size, "device": arguments.device}
        tagger = DeidTagger(random_state=seed).set_params(**{**settings, **parameters})
        tags = tagger.fit(train.X, train.y, groups=train.groups).predict(test.X)
    row = {"arm": arm, "seed": seed, "scores": official_scores(test, tags)}
    predicted = test.to_documents(tags)
    row |= left(arguments, test.corpus, predicted, seed)
    words = sum(len(note.text.split()) for note in test.corpus)
    removed = sum(len(note.text[s.start : s.end].split()) for note in predicted for s in note.spans)
    row["removed_words"] = removed / words
    return {**row, "cpu_seconds": round(time.process_time() - start, 1)}


def left(arguments: argparse.Namespace, gold: Corpus, predicted: Corpus | list[str], seed: int) -> dict[str, Any]:
    """The parts of the report, with a classification for each number of classes."""
    report = utility_report(gold, gold, predicted, n_repeats=arguments.repeats, random_state=seed).to_dict()
    out = {part: report[part] for part in ("bleu", "topics", "tokens")}
    if arguments.corpus == "generated":
        kinds = [note.meta["kind"] for note in gold]
        for n in arguments.classes:
            common = {kind for kind, _ in Counter(kinds).most_common(n)}
            labels = [kind if kind in common else None for kind in kinds]
            part = utility_report(
                gold, gold, predicted, labels=labels, n_grams=0, n_topics=None, n_splits=3, random_state=seed
            )
            out[f"classification_{n}"] = part.to_dict()["classification"]
    return out


def summary(rows: list[dict]) -> dict[str, dict[str, Any]]:
    """Each arm over its seeds; of "gold" and "original" what its runs measured."""
    out: dict[str, dict[str, Any]] = {}
    for arm, runs in by_arm(rows).items():
        figures: dict[str, Any] = {"seeds": sorted(runs)}
        found = list(runs.values())
        for part in [
            key for key in found[0] if key in ("bleu", "topics", "tokens") or key.startswith("classification_")
        ]:
            for system, measures in found[0][part].items():
                for measure in measures:
                    values = [row[part][system][measure]["value"] for row in found]
                    figures[f"{part}: {system}, {measure}"] = [round(v, 5) for v in interval(values)]
        out[arm] = figures
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    print(json.dumps({"benchmark": "utility", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
