"""Audits of private representations: every attack beside the paper's own adversary.

    python -m benchmarks.audit --runs runs.jsonl
    python -m benchmarks.audit --runs runs.jsonl --arms three-part-100 --attacks quick

For each arm and seed (the seed draws notes, noise and weights) a representer is trained on generated notes, and audited
on patients that it has not seen. Finished runs are kept in the file of ``--runs``, from which an interrupted benchmark
goes on. Prints one JSON object: for each arm the score, the figure of each attack (means over seeds, with intervals
over seeds where there are several), and the whole report of the first seed.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import torch
from sklearn.base import clone

from sklearn_deid import AdversarialPrivacyAuditor, PrivateRepresenter, make_clinical_notes
from sklearn_deid.representations import Bounded, ThreePart

from .environment import describe
from .resumable import by_arm, finish_runs, interval

NEIGHBORS = (10, 100, 500)
FAITHFUL = {"training": ThreePart(adversary="paper", stopping="paper"), "max_epochs": 40}
# name -> what is trained
ARMS: dict[str, dict[str, Any]] = {
    **{f"bounded-{n}": {"n_neighbors": n} for n in NEIGHBORS},
    **{f"three-part-{n}": {"n_neighbors": n, **FAITHFUL} for n in NEIGHBORS},
    **{f"three-part-strong-{n}": {"n_neighbors": n, "training": ThreePart(), "max_epochs": 40} for n in NEIGHBORS},
    "almost-no-noise-100": {
        "noise": 0.01,
        "training": Bounded(max_attack_accuracy=1.0 - 1e-9, quantile_attack_accuracy=None),
    },
}
DEFAULT_ARMS = [f"{kind}-{n}" for kind in ("bounded", "three-part") for n in NEIGHBORS]


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", required=True, help="file that keeps finished runs")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=DEFAULT_ARMS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--notes", type=int, default=600, help="generated notes; half of the patients are audited on")
    parser.add_argument("--patients", type=int, help="of the notes (default: as generated, about three notes each)")
    parser.add_argument("--epochs", type=int, help="of the representer, for quick looks (default: its own)")
    parser.add_argument("--attacks", default="default")
    parser.add_argument("--attack-epochs", type=int, default=50)
    parser.add_argument("--max-sentences", type=int, default=4000)
    parser.add_argument("--max-seconds", type=float, help="of each audit")
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    names = ("notes", "patients", "epochs", "attacks", "attack_epochs", "max_sentences", "max_seconds")
    return {name: getattr(arguments, name) for name in names}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train and audit one arm."""
    torch.set_num_threads(1)
    start = time.process_time()
    notes = make_clinical_notes(arguments.notes, n_patients=arguments.patients, random_state=seed)
    half = set(notes.patients[: len(notes.patients) // 2])
    seen = [group in half for group in notes.groups]
    train = notes[[i for i, known in enumerate(seen) if known]].to_sentences()
    held_out = notes[[i for i, known in enumerate(seen) if not known]].to_sentences()
    parameters = {"embeddings": "glove-6b-50d", "random_state": seed, **ARMS[arm]}
    if arguments.epochs is not None:
        parameters["max_epochs"] = arguments.epochs
        if isinstance(parameters.get("training"), ThreePart):
            parameters["training"] = clone(parameters["training"]).set_params(pretrain_epochs=arguments.epochs)
    representer = PrivateRepresenter(**parameters).fit(train.X, train.y, train.groups)
    fitted = time.process_time()
    auditor = AdversarialPrivacyAuditor(
        arguments.attacks,
        n_epochs=arguments.attack_epochs,
        max_sentences=arguments.max_sentences,
        max_seconds=arguments.max_seconds,
        random_state=seed,
    )
    report = auditor.audit(representer, held_out.X, held_out.y, held_out.groups)
    return {
        "arm": arm,
        "seed": seed,
        "fit_cpu_seconds": round(fitted - start, 1),
        "audit_cpu_seconds": round(time.process_time() - fitted, 1),
        "report": report.to_dict(),
    }


def summarise(arms: list[str], runs: list[dict]) -> list[dict]:
    """One row for each arm: score, and each attack's figure beside its baseline."""
    out, found = [], by_arm(runs)
    for arm in (a for a in arms if a in found):
        rows = [found[arm][seed] for seed in sorted(found[arm])]
        attacks: dict[str, Any] = {}
        for name, measure in dict.fromkeys(_key(r) for row in rows for r in row["report"]["results"]):
            results = [r for row in rows for r in row["report"]["results"] if _key(r) == (name, measure)]
            attacks[f"{name}: {measure}" if measure else name] = _figures(results)
        out.append(
            {
                "arm": arm,
                "n_seeds": len(rows),
                "score": interval([row["report"]["score"] for row in rows]),
                "worst": [row["report"]["worst"] for row in rows],
                "audit_cpu_seconds": interval([row["audit_cpu_seconds"] for row in rows]),
                "attacks": attacks,
                "verdicts": rows[0]["report"]["verdicts"],
                "report": rows[0]["report"],
            }
        )
    return out


def _key(result: dict) -> tuple[str, str | None]:
    return result["name"], result["settings"].get("measure")


def _figures(results: list[dict]) -> dict[str, Any]:
    """Mean over seeds with its interval, and the attack's own interval for the first seed."""
    done = [r for r in results if r["attack"] is not None]
    figures: dict[str, Any] = {"status": [r["status"] for r in results]}
    if done:
        first = done[0]["attack"]
        figures["attack"] = interval([r["attack"]["value"] for r in done])
        figures["baseline"] = interval([r["baseline"]["value"] for r in done])
        figures["first_seed"] = [first["value"], first["low"], first["high"], first["n"]]
    return figures


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    runs = finish_runs(run, arguments, settings_of(arguments))
    result = {
        "benchmark": "audit",
        "settings": vars(arguments),
        "results": summarise(arguments.arms, runs),
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
