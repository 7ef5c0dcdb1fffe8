"""Train the default tagger on MEDDOCAN and score it as the official scripts do.

    python -m benchmarks.meddocan_tagger DATA --predictions out/

DATA is the folder that holds ``meddocan/`` (or is given by SKLEARN_DEID_DATA). Prints one JSON object. With
``--predictions`` the predicted .ann files are written there, so that the official evaluation script can be run on them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time

import torch

from sklearn_deid import Corpus, DeidTagger, NoteDeidentifier, deid_report, fetch_meddocan, write_corpus

from .environment import describe, peak_memory_mib


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder with meddocan/")
    parser.add_argument("--train", nargs="+", default=["train"], help="splits to train on")
    parser.add_argument("--score", default="dev", help="split to score")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--predictions", help="folder for the predicted .ann files of the first seed")
    parser.add_argument("--parameters", type=json.loads, default={}, help="parameters of DeidTagger, as JSON")
    parser.add_argument("--verbose", type=int, default=0)
    arguments = parser.parse_args(argv)
    if arguments.data is None:
        parser.error("name the folder that holds meddocan/, or set SKLEARN_DEID_DATA")
    return arguments


def load(arguments: argparse.Namespace, split: str) -> Corpus:
    return fetch_meddocan(split, data_home=arguments.data, download_if_missing=False)


def run_seed(arguments: argparse.Namespace, seed: int, train: Corpus, gold: Corpus) -> tuple[dict, Corpus]:
    """Train once; scores, speeds, and the predicted corpus."""
    data, target = train.to_sentences(), gold.to_sentences()
    tagger = DeidTagger(random_state=seed, verbose=arguments.verbose).set_params(**arguments.parameters)
    (wall, cpu) = timed(lambda: tagger.fit(data.X, data.y, groups=data.groups))
    epochs = [row["dur"] for row in tagger.history]
    tags_time = timed(lambda: tagger.predict(target.X))
    deidentifier = NoteDeidentifier(tagger)
    texts = [document.text for document in gold]
    notes_time = timed(lambda: deidentifier.annotate(texts))
    predicted = target.to_documents(tagger.predict(target.X))
    report = deid_report(gold, predicted, output="dict")
    keys = ("strict", "relaxed", "token", "binary_strict", "binary_token", "merged")
    keys += tuple(f"hipaa_{key}" for key in keys[:-1])
    result = {
        "seed": seed,
        "scores": {k: {m: round(report[k][m], 5) for m in ("precision", "recall", "f1")} for k in keys},
        "fit_seconds": round(wall, 1),
        "fit_cpu_seconds": round(cpu, 1),
        "epochs": len(epochs),
        "training_tokens_per_second": round(len(data.X.data) / statistics.median(epochs)),
        "tagging_tokens_per_cpu_second": round(len(target.X.data) / tags_time[1]),
        "tagging_tokens_per_second": round(len(target.X.data) / tags_time[0]),
        "raw_notes_per_second": round(len(texts) / notes_time[0], 1),
        "raw_notes_per_cpu_second": round(len(texts) / notes_time[1], 1),
    }
    return result, predicted


def timed(work) -> tuple[float, float]:
    """Wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(arguments.threads)
    train = sum((load(arguments, split) for split in arguments.train[1:]), start=load(arguments, arguments.train[0]))
    gold = load(arguments, arguments.score)
    runs = []
    for number, seed in enumerate(arguments.seeds):
        result, predicted = run_seed(arguments, seed, train, gold)
        runs.append(result)
        print(f"seed {seed}: strict F1 {result['scores']['strict']['f1']:.4f}", file=sys.stderr)
        if arguments.predictions and number == 0:
            write_corpus(predicted, arguments.predictions, format="brat")
    f1 = [run["scores"]["strict"]["f1"] for run in runs]
    summary = {
        "benchmark": "meddocan_tagger",
        "train": arguments.train,
        "score": arguments.score,
        "parameters": arguments.parameters,
        "strict_f1_mean": round(statistics.mean(f1), 5),
        "strict_f1_sd": round(statistics.stdev(f1), 5) if len(f1) > 1 else None,
        "runs": runs,
        "peak_memory_mib": peak_memory_mib(),
        **describe(),
    }
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
