"""Rules alone, a small tagger alone, and both together.

    python -m benchmarks.rules DATA

DATA is the folder that holds ``meddocan/`` (or is given by SKLEARN_DEID_DATA); without it only the generated notes are
measured. Rules were written with other notes in view: MEDDOCAN's training split, and generated notes of another seed.
That they were written for these two formats at all is not undone by that. Precision, recall and F1 are those of typed
spans of tokens; "relabelled" counts a find under whatever label. With ``--languages``, `find_phi` reads the raw notes
of every corpus of DATA instead. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from sklearn_deid import DeidTagger, HybridTagger, RuleTagger, fetch_meddocan, make_clinical_notes
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.io import read_corpus
from sklearn_deid.metrics import phi_f1_score, phi_precision_score, phi_recall_score
from sklearn_deid.tagging.rules import LANGUAGES, find_phi, note_languages
from sklearn_deid.text import Corpus, SentenceData

from .environment import describe

SCORES = {"precision": phi_precision_score, "recall": phi_recall_score, "f1": phi_f1_score}


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder with meddocan/")
    parser.add_argument("--train-notes", type=int, default=100, help="notes the small tagger is trained on")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--languages", action="store_true", help="only find_phi on the corpora of DATA")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    return parser.parse_args(argv)


def corpora(arguments: argparse.Namespace) -> dict[str, tuple[str, SentenceData, SentenceData]]:
    """Language, notes to train on, notes to score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        n = arguments.train_notes
        train, test = make_clinical_notes(n, random_state=100), make_clinical_notes(200, random_state=200)
        found = {"generated": ("en", train.to_sentences(), test.to_sentences())}
        if arguments.data is not None:
            splits = [
                fetch_meddocan(split, data_home=arguments.data, download_if_missing=False) for split in ("train", "dev")
            ]
            found["meddocan-dev"] = ("es", splits[0][:n].to_sentences(), splits[1].to_sentences())
    return found


def scores(gold: Any, predicted: Any, by_label: bool = False) -> dict:
    """Of all spans, of tokens under whatever label, and of each label that is predicted."""
    result: dict[str, Any] = {name: round(score(gold, predicted), 4) for name, score in SCORES.items()}
    result["token_recall_relabelled"] = round(phi_recall_score(gold, predicted, level="token", binary=True), 4)
    result["token_precision_relabelled"] = round(phi_precision_score(gold, predicted, level="token", binary=True), 4)
    if by_label:
        each = {name: score(gold, predicted, average=None) for name, score in SCORES.items()}
        n_gold, n_found = count(gold), count(predicted)
        result["by_label"] = {
            label: {"gold": n_gold.get(label, 0), "found": n_found[label]}
            | {name: round(values[label], 4) for name, values in each.items()}
            for label in sorted(n_found)
        }
    return result


def count(tags: Any) -> dict[str, int]:
    """Spans of each label in legal IOB2 tags."""
    counts: dict[str, int] = {}
    for row in tags:
        for tag in row:
            if tag.startswith("B-"):
                counts[tag[2:]] = counts.get(tag[2:], 0) + 1
    return counts


def measure(language: str, train: SentenceData, test: SentenceData, arguments: argparse.Namespace) -> dict:
    rules = RuleTagger(language=language)
    started = time.process_time()
    found = rules.fit(train.X, train.y).predict(test.X)
    seconds = time.process_time() - started
    result: dict[str, Any] = {
        "tokens": len(test.X.data),
        "rules_tokens_per_cpu_second": round(len(test.X.data) / seconds),
        "rules": scores(test.y, found, by_label=True),
        "both_languages": scores(test.y, RuleTagger().fit(train.X, train.y).predict(test.X)),
        "runs": [],
    }
    for seed in arguments.seeds:
        tagger = DeidTagger(max_epochs=arguments.epochs, random_state=seed)
        both = HybridTagger(rules, tagger).fit(train.X, train.y, groups=train.groups)
        run: dict[str, Any] = {"seed": seed, "tagger": scores(test.y, both.tagger_.predict(test.X))}
        for on_conflict in ("rules_first", "tagger_first", "union"):
            run[on_conflict] = scores(test.y, both.set_params(on_conflict=on_conflict).predict(test.X))
        run["rules_precision_"] = round(both.rules_precision_, 4)
        result["runs"].append(run)
        print(language, seed, {k: v["f1"] for k, v in run.items() if isinstance(v, dict)}, file=sys.stderr)
    return result


def on_text(corpus: Corpus, language: Any) -> dict[str, Any]:
    """Precision and borders of `find_phi` on raw notes, whatever the labels, and the annotated spans that it hides."""
    n_found = n_right = n_exact = n_gold = n_hidden = 0
    for note in corpus:
        found = find_phi(note.text, language=language)
        borders = {(span.start, span.end) for span in note.spans}
        covered = {i for span in found for i in range(span.start, span.end)}
        n_found += len(found)
        n_exact += sum((span.start, span.end) in borders for span in found)
        n_right += sum(any(span.start < end and start < span.end for start, end in borders) for span in found)
        n_gold += len(note.spans)
        n_hidden += sum(
            all(i in covered for i in range(span.start, span.end) if note.text[i].isalnum()) for span in note.spans
        )
    precision, exact = (round(n / max(1, n_found), 4) for n in (n_right, n_exact))
    return {"found": n_found, "precision": precision, "exact": exact, "hidden": round(n_hidden / max(1, n_gold), 4)}


def in_languages(data: Path) -> dict[str, Any]:
    """Rules of the language of each note, of English and Spanish, and of all languages, on each corpus of a folder."""
    corpora = {path.parent.name: read_corpus(path, format="jsonl") for path in sorted(data.glob("*/dev.jsonl"))}
    if (data / "meddocan").is_dir():
        corpora["meddocan-dev"] = fetch_meddocan("dev", data_home=data, download_if_missing=False)
    results: dict[str, Any] = {}
    for name, corpus in corpora.items():
        guessed = [note_languages(note.text) for note in corpus]
        results[name] = {
            mode: on_text(corpus, value) for mode, value in (("auto", "auto"), ("en and es", None), ("all", LANGUAGES))
        }
        results[name]["languages"] = {
            language: sum(g == (language,) for g in guessed) for language in LANGUAGES if (language,) in guessed
        }
    return results


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(arguments.threads)
    if arguments.languages:
        results = in_languages(Path(arguments.data))
        print(json.dumps({"benchmark": "rules in languages", "results": results, **describe()}, indent=1))
        return
    results = {
        name: measure(language, train, test, arguments) for name, (language, train, test) in corpora(arguments).items()
    }
    settings = {"train_notes": arguments.train_notes, "epochs": arguments.epochs}
    print(json.dumps({"benchmark": "rules", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
