"""Recall on altered notes, for any model and corpus.

    python -m benchmarks.robustness --corpus generated --test-notes 200 --seeds 0 1 2 --figure robustness.svg
    python -m benchmarks.robustness --model my-model --gold my-notes/ --format brat

Trains a default tagger for each seed (or loads a model), tags the test notes as they are and with each alteration of
`sklearn_deid.metrics.ALTERATIONS`, and prints one JSON object: the table of each seed and the means. With ``--figure``,
also draws the mean recall of each alteration.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from sklearn_deid import Corpus, DeidTagger, NoteDeidentifier, load, read_corpus
from sklearn_deid.exceptions import AlignmentWarning, WithheldWarning
from sklearn_deid.metrics import ALTERATIONS, robustness_table
from sklearn_deid.tagging.default_start import default_settings

from . import corpora
from .environment import describe

MEASURES = ("recall", "name_recall", "precision", "false_alarms", "withheld")


def tables(arguments: argparse.Namespace) -> list[dict]:
    """Table of each seed; a given model is measured with the seeds of the alterations."""
    out = []
    for seed in arguments.seeds:
        if arguments.model:
            deidentifier, test = load(arguments.model), read_corpus(arguments.gold, arguments.format)
            deidentifier = (
                deidentifier if isinstance(deidentifier, NoteDeidentifier) else NoteDeidentifier(deidentifier)
            )
        else:
            train, test = corpora.load(arguments, seed)
            deidentifier = trained(train, seed, arguments.epochs, None if arguments.no_augmenter else "auto")
        table = robustness_table(
            deidentifier.set_params(on_error="withhold", on_unlike="pass"), test, random_state=seed
        )
        out.append({"seed": seed, "strict_f1": deidentifier.score(test), **table.to_dict()})
        print(f"seed {seed} done", file=sys.stderr)
    return out


def trained(train: Corpus, seed: int, epochs: str, augmenter: str | None) -> NoteDeidentifier:
    """De-identifier with the default tagger of `NoteDeidentifier`; the augmenter may differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        max_epochs = epochs if epochs == "auto" else int(epochs)
        settings = {**default_settings(train), "max_epochs": max_epochs, "augmenter": augmenter}
        return NoteDeidentifier(DeidTagger(**settings, random_state=seed)).fit(train)


def means(found: list[dict]) -> list[dict]:
    """Mean of each measure over the seeds; None where no seed has a value."""
    rows = []
    for number, alteration in enumerate(ALTERATIONS):
        row: dict = {"name": alteration.name, "evasive": alteration.evasive}
        for measure in MEASURES:
            values = [v for one in found if (v := one["rows"][number][measure]) is not None]
            row[measure] = float(np.mean(values)) if values else None
        rows.append(row)
    return rows


def draw(rows: list[dict], path: Path) -> None:
    """Draw the recall of each alteration, all PHI and names, and save the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.28 * len(rows) + 1), layout="constrained")
    ax = figure.subplots()
    heights = np.arange(len(rows))[::-1]
    for measure, label, marker in (("recall", "all PHI", "o"), ("name_recall", "names", "x")):
        ax.plot([np.nan if r[measure] is None else 100 * r[measure] for r in rows], heights, marker, label=label)
    ax.axvline(100 * rows[0]["recall"], color="0.7", zorder=0)
    withheld = [f" ({100 * r['withheld']:.0f} % withheld)" if r["withheld"] else "" for r in rows]
    ax.set_yticks(heights, [f"{r['name']}{note}" for r, note in zip(rows, withheld, strict=True)])
    ax.set_xlabel("PHI tokens found (%)")
    ax.set_xlim(0, 101)
    ax.legend(loc="lower left")
    figure.savefig(path)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpora.add_corpus_options(parser, notes=500, test_notes=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epochs", default="auto", help="epochs of training")
    parser.add_argument("--no-augmenter", action="store_true", help="train without the default augmenter")
    parser.add_argument("--model", help="saved model to measure instead of training one; needs --gold")
    parser.add_argument("--gold", help="annotated notes for --model")
    parser.add_argument("--format", help="format of --gold")
    parser.add_argument("--figure", type=Path, help="file of the figure, such as robustness.svg")
    arguments = parser.parse_args(argv)
    if bool(arguments.model) != bool(arguments.gold):
        parser.error("--model and --gold go together")
    warnings.simplefilter("ignore", WithheldWarning)
    found = tables(arguments)
    rows = means(found)
    if arguments.figure:
        draw(rows, arguments.figure)
    settings = {k: getattr(arguments, k) for k in ("corpus", "notes", "test_notes", "epochs", "no_augmenter", "model")}
    print(json.dumps({"benchmark": "robustness", **settings, "mean": rows, "seeds": found, **describe()}, indent=1))


if __name__ == "__main__":
    main()
