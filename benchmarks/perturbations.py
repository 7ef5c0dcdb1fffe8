"""Privacy against usefulness of every perturbation of PHI tokens.

    python -m benchmarks.perturbations --runs runs.jsonl --figure perturbations.png
    python -m benchmarks.perturbations --corpus meddocan --data DATA --runs meddocan.jsonl

For each mechanism and parameter a tagger is trained on perturbed sentences and scored on untouched ones, once a seed
(the seed draws notes, perturbation and weights), and the best attacker's probability of naming the original of a
released token is computed. Mechanisms that release words are compared with training on the words as they are ("raw"),
those that release vectors with training on the vectors as they are ("raw vectors"). Finished runs are kept in the file
of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sklearn_deid import (
    CusTextPseudonymizer,
    DeidTagger,
    GaussianNoisePerturber,
    MadlibPseudonymizer,
    NeighborPseudonymizer,
    RandomVectorPerturber,
    SanTextPseudonymizer,
    WordVectors,
    ZeroVectorPerturber,
)
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.embeddings import load_glove, noise_study, train_fasttext
from sklearn_deid.metrics import phi_f1_score, phi_word_prior
from sklearn_deid.text import SentenceData

from .corpora import add_corpus_options, read_or_make, sentences
from .environment import describe
from .official_scores import official_scores
from .resumable import by_arm, finish_runs, interval

# name -> (mechanism, parameter, class, parameters); "raw" ones have no class, "redrawn" ones perturb in each epoch.
ARMS: dict[str, tuple[str, Any, Any, dict]] = {
    "raw": ("raw", None, None, {}),
    **{
        f"neighbors-{n}": ("neighbors", n, NeighborPseudonymizer, {"n_neighbors": n})
        for n in (1, 5, 10, 20, 50, 100, 200, 500, 1000)
    },
    **{
        f"neighbors-{n}-redrawn": ("neighbors, redrawn", n, NeighborPseudonymizer, {"n_neighbors": n})
        for n in (20, 100)
    },
    **{f"madlib-{e}": ("MADLIB", e, MadlibPseudonymizer, {"epsilon": e}) for e in (15, 30, 60)},
    **{f"santext-{e}": ("SanText", e, SanTextPseudonymizer, {"epsilon": e}) for e in (10, 20, 30)},
    **{f"custext-{e}": ("CusText", e, CusTextPseudonymizer, {"epsilon": e}) for e in (2, 8)},
    "raw-vectors": ("raw vectors", None, GaussianNoisePerturber, {"scale": 0.0}),
    **{f"gaussian-{s}": ("Gaussian", s, GaussianNoisePerturber, {"scale": s}) for s in (0.05, 0.1, 0.2, 0.4)},
    "random": ("random vectors", None, RandomVectorPerturber, {}),
    "random-unk": ("random vectors", "UNK", RandomVectorPerturber, {"unknown": "keep"}),
    "zeros": ("zeros", None, ZeroVectorPerturber, {}),
}
NEW_EACH_EPOCH = {"random", "random-unk"} | {name for name in ARMS if name.endswith("-redrawn")}


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=1_000, test_notes=None)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--prior-notes", type=int, default=100, help="notes whose PHI tokens the attacker looks for")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", default="perturbations.jsonl", help="file of finished runs")
    parser.add_argument("--no-attack", action="store_true", help="leave the attacker out")
    parser.add_argument("--figure", help="write privacy against usefulness to this file")
    parser.add_argument("--noise-figure", help="write the noise study to this file")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    return {name: getattr(arguments, name) for name in ("corpus", "notes", "test_notes", "epochs")}


def load(arguments: argparse.Namespace, seed: int) -> tuple[SentenceData, SentenceData]:
    """Sentences to train on and to score."""
    train, test = read_or_make(arguments.corpus, arguments, seed)
    return sentences(train[: arguments.notes]), sentences(test[: arguments.test_notes])


def vectors_of(arguments: argparse.Namespace, train: SentenceData) -> WordVectors:
    """GloVe for English; MEDDOCAN's own words for Spanish, since no public vectors come with the library."""
    return load_glove() if arguments.corpus != "meddocan" else train_fasttext(train.X, random_state=0)


def run(arguments: argparse.Namespace, name: str, seed: int) -> dict:
    """Train and score one arm."""
    torch.set_num_threads(1)
    start = time.process_time()
    train, test = load(arguments, seed)
    vectors = vectors_of(arguments, train)
    _, _, cls, parameters = ARMS[name]
    language = {"exclude": "en" if arguments.corpus != "meddocan" else "es"}
    X, augmenter = train.X, None
    if cls is not None:
        perturber = cls(embeddings=vectors, random_state=seed, **language, **parameters)
        if name in NEW_EACH_EPOCH:
            augmenter = perturber
        else:
            X = perturber.fit_transform(train.X, train.y)
    tagger = DeidTagger(embeddings=vectors, augmenter=augmenter, max_epochs=arguments.epochs, random_state=seed)
    tagger.fit(X, train.y)
    released_vectors = not isinstance(X, type(train.X)) and cls is not None
    predicted = tagger.predict(perturber.transform(test.X) if released_vectors else test.X)
    return {
        "arm": name,
        "seed": seed,
        "strict_f1": float(phi_f1_score(test.y, predicted)),
        "binary_token_f1": binary_token_f1(test.y, predicted),
        "scores": official_scores(test, predicted),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def binary_token_f1(gold: Any, predicted: Any) -> float:
    """F1 of "this token is PHI", the measure of Friedrich et al. (2019)."""
    a, b = (np.array([tag != "O" for row in rows for tag in row]) for rows in (gold, predicted))
    return float(2 * (a & b).sum() / (a.sum() + b.sum()))


def attack(arguments: argparse.Namespace, name: str) -> dict | None:
    """What the best attacker names, for the PHI tokens of some notes."""
    _, _, cls, parameters = ARMS[name]
    if cls is None or (name == "raw-vectors"):
        return None
    train, _ = load(arguments, 0)
    rows = np.flatnonzero(np.isin(train.doc_ids, [d.doc_id for d in train.corpus[: arguments.prior_notes]]))
    X, y = train.X[rows], train.y[rows]
    language = {"exclude": "en" if arguments.corpus != "meddocan" else "es"}
    perturber = cls(embeddings=vectors_of(arguments, train), random_state=0, **language, **parameters).fit(X, y)
    start = time.perf_counter()
    found = bayes_reidentification(perturber, phi_word_prior(X, y), random_state=0, n_samples=1_000)
    by_label = {k: round(v.probability.value, 4) for k, v in found.by_category.items()}
    return {
        "probability": found.probability.value,
        "lower": found.probability.low,
        "upper": found.probability.high,
        "worst_case": found.worst_case,
        "prior_guess": found.prior_guess,
        "method": found.method,
        "by_label": by_label,
        "seconds": round(time.perf_counter() - start, 1),
    }


def summarise(arguments: argparse.Namespace, runs: list[dict]) -> list[dict]:
    """One row for each arm: F1 with interval, difference to raw on the same seeds, attack."""
    found, out = by_arm(runs), []
    for arm in (a for a in arguments.arms if a in found):
        mechanism, parameter, cls, _ = ARMS[arm]
        words = cls is None or cls.__name__.endswith("Pseudonymizer")
        base = found.get("raw" if words else "raw-vectors", {})
        result: dict[str, Any] = {
            "arm": arm,
            "mechanism": mechanism,
            "parameter": parameter,
            "n_seeds": len(found[arm]),
        }
        for measure in ("strict_f1", "binary_token_f1"):
            result[measure] = interval([row[measure] for row in found[arm].values()])
            shared = sorted(set(base) & set(found[arm]))
            lost = [100 * (base[s][measure] - found[arm][s][measure]) for s in shared]
            result[f"{measure}_points_lost"] = interval(lost) if len(lost) else None
        result["reidentification"] = None if arguments.no_attack else attack(arguments, arm)
        out.append(result)
    return out


def draw(arguments: argparse.Namespace, rows: list[dict]) -> None:
    """Strict F1 over the probability of naming the original."""
    import matplotlib

    matplotlib.use("Agg")
    from sklearn_deid.plotting import TradeOffDisplay

    if arguments.figure:
        display = TradeOffDisplay.from_results(
            map(figure_row, rows),
            name="mechanism",
            x="named",
            y="f1",
            label="parameter",
            log_x=True,
            x_name="Bayes re-identification probability of a token (left: more private)",
            y_name="F1 on raw notes (up: more useful)",
        )
        save_figure(display.plot(), arguments.figure)
    if arguments.noise_figure:
        vectors = vectors_of(arguments, load(arguments, 0)[0])
        rows_studied = np.random.default_rng(0).choice(min(len(vectors), 20_000), size=1_000, replace=False)
        study = noise_study(vectors, rows_studied, [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5], random_state=0)
        save_figure(TradeOffDisplay.from_noise_study(study).plot(), arguments.noise_figure)


def figure_row(row: dict) -> dict:
    """A row of the figure; training on raw notes, which releases every token, is a line of reference."""
    found = row["reidentification"] or {"probability": None, "lower": None, "upper": None}
    f1, low, high = np.clip(row["strict_f1"], 0.0, 1.0).tolist()  # an interval over few seeds may leave the range
    named = {"named": found["probability"], "named_low": found["lower"], "named_high": found["upper"]}
    return {
        "mechanism": row["mechanism"],
        "parameter": row["parameter"],
        "f1": f1,
        "f1_low": low,
        "f1_high": high,
    } | named


def save_figure(display: Any, path: str | Path) -> None:
    """The figure of a display that was plotted on axes of its own."""
    display.figure_.savefig(path, dpi=150, bbox_inches="tight")


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    rows = summarise(arguments, finish_runs(run, arguments, settings_of(arguments)))
    draw(arguments, rows)
    result = {"benchmark": "perturbations", "settings": vars(arguments), "results": rows, **describe()}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
