"""Training together with sites that see all updates of a round, collude, or have unusual notes.

    python -m benchmarks.hostile_sites --attacks honest absent multiplied:-3 little:1 own-and-noise:4.9 --seeds 0 1 2
    python -m benchmarks.hostile_sites --sites 20 20 20 20 20 --n-hostile 2 --epochs 30 --attacks multiplied:-3
    python -m benchmarks.hostile_sites --n-hostile 0 --unusual spanish --epochs 20 --attacks honest

Federated averaging in one process, generated notes, strict F1 of typed spans on notes of other patients. The last
``--n-hostile`` sites send what an attack makes of their own update and of the honest updates of the same round:

- ``multiplied:F``: F times the own update; ``late:F`` from the middle of the training on, ``alternating:F`` in every
  third round, and otherwise the honest one; ``swinging:F`` F times in two rounds and -F times in the third;
- ``opposite:F``: F times the mean of the honest updates;
- ``little:Z``: their mean minus Z standard deviations of each parameter (Baruch, Baruch & Goldberg 2019);
- ``edge:F``: noise of F times the usual length, with a mean cosine of -.09 with the honest updates;
- ``noise:F``, ``own-and-noise:F``: noise of F times the usual length, alone or added to the own update;
- ``constant:F``: about the same random direction in every round, of F times the usual length.

With ``absent``, the hostile sites take no part. With ``--unusual``, the last honest site has notes of MEDDOCAN with
the labels of the other sites (``spanish``) or its own (``own-labels``), or no annotations (``unlabelled``). Prints a
line of JSON for each run; ``left_out`` counts the updates of each site that the screen or the limit of lengths left
out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from typing import Any

import numpy as np
import torch

from sklearn_deid import Corpus, DeidTagger, DSSGDEnsemble, fetch_meddocan, make_clinical_notes
from sklearn_deid.federated import FederatedAveraging, TaggerLearner
from sklearn_deid.text import label_map, relabel

from .corpora import sentences

# Just above the bound of the mean over several rounds.
_EDGE = 0.09
ATTACKS = (
    "honest",
    "absent",
    "multiplied",
    "late",
    "alternating",
    "swinging",
    "opposite",
    "little",
    "edge",
    "noise",
    "own-and-noise",
    "constant",
)


class Attacker(TaggerLearner):
    """Hostile site that trains after all honest ones, and replaces its update."""

    attack, strength, n_rounds = "honest", 1.0, 0

    def watch(self, honest: list[TaggerLearner], attack: str, strength: float, n_rounds: int, seed: int) -> None:
        self.honest, self.attack, self.strength, self.n_rounds = honest, attack, strength, n_rounds
        self.rng, self.number, self.direction = np.random.default_rng(seed), 0, None

    def train_epoch(self) -> Any:
        before = self.get_flat().astype(np.float64)
        metrics = super().train_epoch()
        others = np.stack([learner.get_flat() - before for learner in self.honest])
        sent = self._update(self.get_flat() - before, others)  # shape: (n,)
        self.set_flat((before + sent).astype(np.float32))
        self.number += 1
        return metrics

    def _update(self, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        strength, mean = self.strength, others.mean(axis=0)
        if self.attack in ("multiplied", "late", "alternating"):
            waits = {"late": self.number < self.n_rounds // 2, "alternating": self.number % 3 < 2}
            return own if waits.get(self.attack) else strength * own
        if self.attack == "swinging":
            return strength * own if self.number % 3 < 2 else -strength * own
        if self.attack == "opposite":
            return strength * mean
        if self.attack == "little":
            return mean - strength * others.std(axis=0)
        length = strength * float(np.median(np.linalg.norm(others, axis=1)))
        noise = _unit(self.rng.normal(size=own.shape))
        if self.attack == "edge":
            return _beside(_unit(mean), others, noise, length)
        if self.attack == "constant":
            self.direction = noise if self.direction is None else self.direction
            return length * _unit(self.direction + 0.4 * noise)
        return length * noise + (own if self.attack == "own-and-noise" else 0)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _beside(mean: np.ndarray, others: np.ndarray, noise: np.ndarray, length: float) -> np.ndarray:
    """Vector of a length whose mean cosine with the others is -.09; ``mean`` has the norm 1."""
    usual = float(np.mean([mean @ _unit(other) for other in others]))
    along = min(_EDGE / max(usual, _EDGE), 1.0)
    across = _unit(noise - (noise @ mean) * mean)
    return length * (math.sqrt(1 - along**2) * across - along * mean)


class Attacked(DSSGDEnsemble):
    """Ensemble whose last workers are hostile."""

    def attack_with(self, attack: str, strength: float, n_hostile: int, n_rounds: int) -> Attacked:
        self._attack = attack, strength, n_hostile, n_rounds
        return self

    def _learners(self, *args: Any) -> dict[str, TaggerLearner]:
        learners = super()._learners(*args)
        attack, strength, n_hostile, n_rounds = self._attack
        known = list(learners.values())
        honest = known[: len(known) - n_hostile]
        for number, learner in enumerate(known[len(honest) :]):
            learner.__class__ = Attacker
            learner.watch(honest, attack, strength, n_rounds, 99 + number)
        return learners


def notes_of_sites(arguments: argparse.Namespace, seed: int) -> list[Corpus]:
    """Notes of each site; those of `benchmarks.averaging`, but for an unusual site."""
    sites = [make_clinical_notes(n, random_state=1000 * seed + i) for i, n in enumerate(arguments.sites)]
    last = len(sites) - arguments.n_hostile - 1
    if arguments.unusual in ("spanish", "own-labels"):
        pool = fetch_meddocan("train", data_home=arguments.data)
        rows = np.random.default_rng(seed).permutation(len(pool))[: arguments.sites[last]]
        sites[last] = pool[np.sort(rows)]
    if arguments.unusual == "spanish":
        mapping = label_map("meddocan", "i2b2-2014")
        sites[last] = Corpus([relabel(note, mapping, "i2b2-2014") for note in sites[last]])
    return sites


def run(arguments: argparse.Namespace, attack: str, seed: int) -> dict[str, Any]:
    """Train with one attack, and score the common network and the honest sites' own taggers."""
    sites, n_honest = notes_of_sites(arguments, seed), len(arguments.sites) - arguments.n_hostile
    test = make_clinical_notes(arguments.test_notes, random_state=1000 * seed + 900)
    labels = sorted({span.label for corpus in (*sites, test) for note in corpus for span in note.spans})
    parts = [(data.X, data.y, data.groups) for data in map(sentences, sites)]
    if arguments.unusual == "unlabelled":
        X, y, groups = parts[n_honest - 1]
        parts[n_honest - 1] = X, [["O"] * len(tags) for tags in y], groups
    name, _, strength = attack.partition(":")
    tagger, strategy = DeidTagger(hidden_size=64), FederatedAveraging(screen=arguments.screened)
    options = {"strategy": strategy, "n_epochs": arguments.epochs, "labels": labels, "random_state": seed}
    begin = time.process_time()
    if name in ("honest", "absent"):
        ensemble = DSSGDEnsemble(tagger, **options).fit_workers(parts[:n_honest] if name == "absent" else parts)
    else:
        ensemble = Attacked(tagger, **options)
        ensemble.attack_with(name, float(strength or 1), arguments.n_hostile, arguments.epochs).fit_workers(parts)
    seconds, scored, history = time.process_time() - begin, sentences(test), ensemble.history_
    left_out = {line.worker: 0 for line in history}
    for line in history:
        left_out[line.worker] += line.refused is not None
    return {
        "benchmark": "hostile_sites",
        "attack": attack,
        "n_hostile": arguments.n_hostile,
        "unusual": arguments.unusual,
        "screened": arguments.screened,
        "seed": seed,
        "sites": arguments.sites,
        "rounds": max(history.column("epoch")),
        "global": round(ensemble.global_estimator_.score(scored.X, scored.y), 4),
        "workers": ensemble.score_workers(scored.X, scored.y)[:n_honest].round(4).tolist(),
        "left_out": list(left_out.values()),
        "cpu_seconds": round(seconds),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attacks", nargs="+", default=["honest", "absent", "multiplied:-3"], help="NAME:STRENGTH")
    parser.add_argument("--sites", type=int, nargs="+", default=[20, 20, 20, 20], help="notes of each site")
    parser.add_argument("--n-hostile", type=int, default=1, help="the last sites")
    parser.add_argument("--unusual", choices=("spanish", "own-labels", "unlabelled"), help="the last honest site")
    parser.add_argument("--no-screen", dest="screened", action="store_false")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--test-notes", type=int, default=60)
    parser.add_argument("--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder that holds meddocan/")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args(argv)
    if unknown := [attack for attack in arguments.attacks if attack.partition(":")[0] not in ATTACKS]:
        parser.error(f"An attack must be one of {', '.join(ATTACKS)}. Got {', '.join(unknown)} instead.")
    torch.set_num_threads(1)
    for seed in arguments.seeds:
        for attack in arguments.attacks:
            print(json.dumps(run(arguments, attack, seed)), flush=True)


if __name__ == "__main__":
    main()
