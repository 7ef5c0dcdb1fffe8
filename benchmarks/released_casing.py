"""Cost of the casing that is released beside private vectors: open, left out, or drawn by randomised response.

    python -m benchmarks.released_casing --notes 300 --runs casing.jsonl
    python -m benchmarks.released_casing --corpus meddocan --data DATA --notes 150 --runs casing_meddocan.jsonl

For each arm and seed (the seed draws notes, noise and weights) a representer is trained. Two taggers are scored on one
release of other patients' sentences: the provider's, which was trained along, and a `DeidTagger` trained on one release
of the training sentences, as by a recipient. The bound on random pairs and on patients stands beside. Finished runs are
kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import torch

from sklearn_deid import DeidTagger, PrivateRepresenter
from sklearn_deid.metrics import phi_f1_score
from sklearn_deid.representations import PrivateModel, RandomizedCasing
from sklearn_deid.text import SentenceData

from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .perturbations import binary_token_f1
from .private_representation import vectors_of
from .resumable import by_arm, finish_runs, interval

ARMS: dict[str, Any] = {
    "open": True,
    "left-out": False,
    **{f"randomized-{epsilon}": RandomizedCasing(epsilon=float(epsilon)) for epsilon in (1, 2, 4)},
}
MEASURES = ("recipient_strict_f1", "recipient_token_f1", "provider_strict_f1", "provider_token_f1")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=300, test_notes=100)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, default=60, help="of the representer")
    parser.add_argument("--tagger-epochs", type=int, help="of the recipient's tagger; by default its own")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", default="released_casing.jsonl", help="file of finished runs")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in ("corpus", "notes", "test_notes", "epochs", "tagger_epochs")}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict[str, Any]:
    """Train a representer and a recipient's tagger, and score both taggers."""
    torch.set_num_threads(1)
    start = time.process_time()
    train, test = (sentences(corpus) for corpus in load(arguments, seed))
    representer = PrivateRepresenter(
        embeddings=vectors_of(arguments, train),
        exclude="es" if arguments.corpus == "meddocan" else "en",
        casing=ARMS[arm],
        max_epochs=arguments.epochs,
        random_state=seed,
    ).fit(train.X, train.y, train.groups)
    epochs = {} if arguments.tagger_epochs is None else {"max_epochs": arguments.tagger_epochs}
    recipient = DeidTagger(random_state=seed, **epochs).fit(representer.transform(train.X), train.y)
    bound = representer.certify(test.X, test.y, test.groups, random_state=seed, max_sentences=0)
    row = scores("recipient", test, recipient.predict(representer.transform(test.X)))
    row |= scores("provider", test, provider_tags(representer, test, seed))
    cpu_seconds = round(time.process_time() - start, 1)
    return {"arm": arm, "seed": seed, **row, "bound": bound.to_dict(), "cpu_seconds": cpu_seconds}


def scores(name: str, test: SentenceData, predicted: Any) -> dict[str, float]:
    """Strict F1 with types, and F1 of PHI tokens, in percent."""
    strict, token = float(phi_f1_score(test.y, predicted)), float(binary_token_f1(test.y, predicted))
    return {f"{name}_strict_f1": 100 * strict, f"{name}_token_f1": 100 * token}


def provider_tags(representer: PrivateRepresenter, test: SentenceData, seed: int) -> list[list[str]]:
    """Tags by the tagger that was trained with the representer, on one release."""
    model = PrivateModel(representer.network_, representer.tagger_).eval()
    tags: list[list[str]] = [[] for _ in range(len(test.X))]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for batch in representer.pair_batches(test.X, test.y).epoch(None, generator, moved=False):
            r = model.representer(batch.embeddings, batch.mask, generator=generator)
            best = model.tagger.best_tags(model.emissions(r, batch), batch.mask)  # shape: (batch, time)
            for row, found, on in zip(batch.rows.tolist(), best, batch.mask, strict=True):
                tags[row] = representer.classes_[found[on].numpy()].tolist()
    return tags


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each arm: means with intervals over seeds."""
    out = []
    for arm, rows in by_arm(runs).items():
        bounds = [row["bound"] for row in rows.values()]
        found = {name: interval([row[name] for row in rows.values()]) for name in MEASURES}
        found |= {"bound_pairs": interval([bound["mean_accuracy"] for bound in bounds])}
        found |= {"bound_patients": interval([bound["patients"]["mean_accuracy"] for bound in bounds])}
        for part, name in (("pairs", "pairs_with_casing"), ("patients", "mean_with_casing")):
            values = [(bound if part == "pairs" else bound["patients"]).get(name) for bound in bounds]
            found |= {} if None in values else {f"bound_{part}_with_casing": interval(values)}
        alone = [bound["casing"].get("sentence_accuracy") for bound in bounds]
        found |= {} if None in alone else {"casing_alone": interval(alone)}
        out.append({"arm": arm, "n_seeds": len(rows), **found})
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    rows = summarise(finish_runs(run, arguments, settings_of(arguments)))
    print(json.dumps({"benchmark": "released_casing", "settings": vars(arguments), "results": rows, **describe()}))


if __name__ == "__main__":
    main()
