"""How often a target recall is missed although it was shown with confidence, on drawn probabilities of PHI.

    python -m benchmarks.recall_coverage --draws 1000

No tagger is trained: the probabilities of the PHI items of each patient are drawn, for three kinds of patients. With
"alike", the items of a patient resemble those of others. With "different", the log odds of all items of a patient move
together. With "recurring", one patient of ten also has a name that fills up to half of the items and is hard to find.
For each number of held-out patients, `recall_threshold` chooses a threshold, and 50,000 other patients show the true
recall. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from scipy.special import expit

from sklearn_deid.exceptions import TargetError
from sklearn_deid.metrics import recall_threshold

from .environment import describe

#: Mean of the log odds, their standard deviation between patients, and share of the patients with a recurring name.
KINDS = {"alike": (3.0, 0.0, 0.0), "different": (3.0, 1.0, 0.0), "recurring": (4.0, 1.0, 0.1)}
_OTHERS, _CONFIDENCE = 50_000, 0.95


def draw(n_patients: int, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Probability of PHI at each item, and the patient of each item: 31 items a patient in the mean."""
    mean, between, recurring = KINDS[kind]
    sizes = 1 + rng.poisson(30 * rng.gamma(2, 0.5, n_patients))
    patient = np.repeat(np.arange(n_patients), sizes)
    log_odds = mean + between * rng.normal(size=n_patients)[patient] + 1.5 * rng.normal(size=len(patient))
    shares = np.where(rng.random(n_patients) < recurring, rng.uniform(0.1, 0.5, n_patients), 0.0)
    place = np.arange(len(patient)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_hard = place < (shares * sizes)[patient]
    return expit(np.where(is_hard, rng.normal(-1, 2, len(patient)), log_odds)), patient


def measure(n_patients: int, kind: str, target: float, draws: int, seed: int) -> dict[str, float]:
    """Shares of the draws in which the target was refused, and accepted but missed."""
    rng = np.random.default_rng(seed)
    others = np.sort(draw(_OTHERS, kind, rng)[0])
    refused = missed = 0
    for _ in range(draws):
        try:
            # `RecallTunedTagger` chooses no threshold above 0.5.
            threshold = min(recall_threshold(*draw(n_patients, kind, rng), target, _CONFIDENCE), 0.5)
        except TargetError:
            refused += 1
            continue
        missed += 1 - np.searchsorted(others, threshold) / len(others) < target
    recall = float((others >= 0.5).mean())
    return {"recall_at_one_half": recall, "refused": refused / draws, "missed": missed / draws}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--patients", type=int, nargs="+", default=[20, 50, 100, 300])
    parser.add_argument("--target", type=float, default=0.98)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    shares = {
        kind: {n: measure(n, kind, arguments.target, arguments.draws, arguments.seed) for n in arguments.patients}
        for kind in KINDS
    }
    print(json.dumps({"benchmark": "recall_coverage", **vars(arguments), "shares": shares, **describe()}, indent=1))


if __name__ == "__main__":
    main()
