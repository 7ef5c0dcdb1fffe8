"""Strict F1 in each language, from 10 notes to all: the defaults against a linear CRF on the same tokens.

    python -m benchmarks.languages DATA --runs languages.jsonl --figure languages.png

Each folder of DATA that holds a ``dev.jsonl``, or brat files in ``train/brat`` and ``dev/brat``, is a corpus; both
parts of a corpus are joined. The folds are folds of patients (of documents where no patient is known), the same for
all seeds. The seed draws the training notes of a fold and starts the training; fewer notes are a part of more. "note"
is ``NoteDeidentifier()``, "forgets" the same without the memory of a note, "block" the same from random weights,
"starter" is ``DeidTagger(warm_start_from="starter-en")``, "rules" has ``segmenter="rules"`` and ``DeidTagger()``, and
"crf" is the linear CRF of `benchmarks.baselines` (sklearn-crfsuite, extra ``benchmarks``). All read the notes through a
`NoteDeidentifier`. "behind_title" counts names right behind a span of a title: the hidden ones, and all.
Finished folds are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold

from sklearn_deid import Corpus, DeidTagger, NoteDeidentifier, read_corpus
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.metrics import compare
from sklearn_deid.tagging.default_start import default_settings
from sklearn_deid.text import repair_tags

from .baselines import features
from .corpora import drawn
from .environment import describe
from .resumable import finish_runs, interval

MODELS = ("note", "forgets", "block", "starter", "rules", "crf")
_SETTINGS: dict[str, dict[str, str]] = {"block": {"context": "block"}, "starter": {"warm_start_from": "starter-en"}}
SIZES = ("10", "25", "50", "all")
_LABELS = {"note": "NoteDeidentifier()", "crf": "linear CRF"}


class LinearCRF(BaseEstimator):
    """The linear conditional random field of `benchmarks.baselines`, as an estimator."""

    def fit(self, X: Any, y: Any) -> LinearCRF:
        from sklearn_crfsuite import CRF

        self.crf_ = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
        self.crf_.fit([features(row) for row in X], [list(tags) for tags in y])
        return self

    def predict(self, X: Any) -> list[list[str]]:
        return [repair_tags(list(tags)) for tags in self.crf_.predict([features(row) for row in X])]


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with a folder for each corpus")
    parser.add_argument("--corpora", nargs="+", help="names of folders (default: all)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["note", "rules", "crf"])
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help='numbers of training notes, or "all"')
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--fold-numbers", type=int, nargs="+", help="only these folds (default: all)")
    parser.add_argument("--epochs", type=int, help="of the networks (default: by the size of the data)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", required=True, help="file of finished runs")
    parser.add_argument("--figure", help="image of F1 over the number of training notes")
    return parser.parse_args(argv)


def corpora_in(folder: Path) -> list[str]:
    """Names of the corpora of a folder."""
    return sorted(p.name for p in folder.iterdir() if (p / "dev.jsonl").is_file() or (p / "dev" / "brat").is_dir())


def read(folder: Path) -> Corpus:
    """All annotated notes of a corpus."""
    if (folder / "dev.jsonl").is_file():
        return read_corpus(folder / "dev.jsonl", format="jsonl")
    parts = [folder / part / "brat" for part in ("train", "dev")]
    return sum((read_corpus(part, format="brat") for part in parts if part.is_dir()), Corpus())


def splits(corpus: Corpus, n_folds: int) -> list[tuple[Corpus, Corpus]]:
    """Training and test notes of each fold; no patient is in both."""
    folds = GroupKFold(n_folds, shuffle=True, random_state=0).split(np.zeros(len(corpus)), groups=corpus.groups)
    return [(corpus[train], corpus[test]) for train, test in folds]


def arms_of(arguments: argparse.Namespace) -> list[str]:
    """Runs of one seed as "corpus/model/size/fold"; sizes that leave no note out are "all"."""
    arms = []
    for name in arguments.corpora or corpora_in(arguments.data):
        smallest = min(len(train) for train, _ in splits(read(arguments.data / name), arguments.folds))
        sizes = [size for size in arguments.sizes if size == "all" or int(size) < smallest]
        folds = arguments.fold_numbers or range(arguments.folds)
        arms += [f"{name}/{model}/{size}/{fold}" for size in sizes for model in arguments.models for fold in folds]
    return arms


def deidentifier(model: str, seed: int, epochs: int | None, notes: Corpus) -> NoteDeidentifier:
    """The model of an arm for these training notes, not fitted."""
    if model == "crf":
        return NoteDeidentifier(LinearCRF())
    if model == "rules":
        return NoteDeidentifier(DeidTagger(max_epochs=epochs or "auto", random_state=seed), segmenter="rules")
    settings = _SETTINGS.get(model) or default_settings(notes)
    tagger = DeidTagger(**settings, max_epochs=epochs or "auto", random_state=seed)
    return NoteDeidentifier(tagger)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train and score one fold."""
    torch.set_num_threads(1)
    name, model, size, fold = arm.split("/")
    train, test = splits(read(arguments.data / name), arguments.folds)[int(fold)]
    train = train if size == "all" else drawn(train, int(size), seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        fitted = deidentifier(model, seed, arguments.epochs, train).fit(train)
    if model == "forgets":
        fitted.estimator_.note_memory_ = None
    trained = time.process_time()
    found = fitted.annotate(test)
    seconds = {"fit_seconds": round(trained - start, 1), "tag_seconds": round(time.process_time() - trained, 2)}
    return {"arm": arm, "seed": seed, "notes": len(train), **scores(test, found), **seconds}


def scores(test: Corpus, found: list) -> dict[str, Any]:
    """All counts of a fold."""
    return {**counts(test, found), "behind_title": behind_title(test, found)}


def counts(test: Corpus, found: list) -> dict[str, Any]:
    """Strict counts of spans, and for each label the letters and digits that any span hides, and all of them."""
    strict = [compare("strict", note, note.spans, spans) for note, spans in zip(test, found, strict=True)]
    hidden: dict[str, list[int]] = {}
    for note, spans in zip(test, found, strict=True):
        covered = {i for span in spans for i in range(span.start, span.end)}
        for span in note.spans:
            row = hidden.setdefault(span.label, [0, 0])
            signs = [i for i in range(span.start, span.end) if note.text[i].isalnum()]
            row[0] += len(covered.intersection(signs))
            row[1] += len(signs)
    return {
        "right": sum(one.tp for one in strict),
        "predicted": sum(one.tp + one.fp for one in strict),
        "gold": sum(one.tp + one.fn for one in strict),
        "hidden": dict(sorted(hidden.items())),
    }


def behind_title(test: Corpus, found: list) -> list[int]:
    """Names right behind a span of a title: number of hidden ones, and of all."""
    hidden = total = 0
    for note, spans in zip(test, found, strict=True):
        covered = {i for span in spans for i in range(span.start, span.end)}
        for title, name in pairwise(sorted(note.spans, key=lambda span: span.start)):
            if "TITLE" in title.label and "NAME" in name.label and not note.text[title.end : name.start].strip():
                hidden += all(i in covered for i in range(name.start, name.end) if note.text[i].isalnum())
                total += 1
    return [hidden, total]


def summary(rows: list[dict]) -> dict[str, dict[str, Any]]:
    """F1 over all folds of a seed, mean and 95 % interval over seeds; recall by label and seconds over all runs."""
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["arm"].rpartition("/")[0], []).append(row)
    out = {}
    for name, runs in sorted(groups.items()):
        f1 = []
        for seed in sorted({row["seed"] for row in runs}):
            right, both = (
                sum(row[part] for row in runs for part in parts if row["seed"] == seed)
                for parts in (("right",), ("gold", "predicted"))
            )
            f1.append(2 * right / both if both else 0.0)
        labels = sorted({label for row in runs for label in row["hidden"]})
        sums = {label: np.sum([row["hidden"].get(label, [0, 0]) for row in runs], axis=0) for label in labels}
        out[name] = {
            "folds": len({row["arm"] for row in runs}),
            "seeds": sorted({row["seed"] for row in runs}),
            "notes": round(float(np.mean([row["notes"] for row in runs])), 1),
            "strict_f1": [round(value, 4) for value in interval(f1)],
            "recall": round(float(sum(s[0] for s in sums.values()) / max(1, sum(s[1] for s in sums.values()))), 4),
            "recall_by_label": {label: round(float(s[0] / max(1, s[1])), 4) for label, s in sums.items()},
            "behind_title": np.sum([row.get("behind_title", [0, 0]) for row in runs], axis=0).tolist(),
            "fit_seconds": round(float(np.mean([row["fit_seconds"] for row in runs])), 1),
            "tag_seconds": round(float(np.mean([row["tag_seconds"] for row in runs])), 2),
        }
    return out


def draw(results: dict[str, dict[str, Any]], path: str) -> None:
    """Mean strict F1 over the number of training notes: one panel for each corpus, one line for each model."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names = sorted({key.split("/")[0] for key in results})
    figure, axes = pyplot.subplots(1, len(names), figsize=(4 * len(names), 3.4), squeeze=False, layout="constrained")
    for ax, name in zip(axes[0], names, strict=True):
        for model, marker in zip(MODELS, "ovDPs^", strict=True):
            keys = [key for key in results if key.startswith(f"{name}/{model}/")]
            points = sorted((results[key]["notes"], results[key]["strict_f1"][0]) for key in keys)
            if points:
                ax.plot(*zip(*points, strict=True), marker=marker, label=_LABELS.get(model, model))
        sizes = sorted({round(results[key]["notes"]) for key in results if key.startswith(f"{name}/")})
        ax.set(title=name, xlabel="Training notes", ylabel="Strict F1", xscale="log")
        ax.set_xticks(sizes, map(str, sizes))
        ax.minorticks_off()
        ax.grid(True, color="0.9")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(MODELS))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    arguments.arms = arms_of(arguments)
    settings = {"folds": arguments.folds, "epochs": arguments.epochs}
    results = summary(finish_runs(run, arguments, settings))
    if arguments.figure:
        draw(results, arguments.figure)
    print(json.dumps({"benchmark": "languages", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
