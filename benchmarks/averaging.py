"""Training together against training alone: sites of generated notes, with default settings, and a hostile site.

    python -m benchmarks.averaging --sites 20 20 20 --epochs 50 --seeds 0 1
    python -m benchmarks.averaging --sites 60 60 60 60 60 --epochs 12
    python -m benchmarks.averaging --sites 20 20 20 --epochs 40 --arms two fedavg attacked unlimited --attack -20
    python -m benchmarks.averaging --sites 60 60 60 60 60 --arms dp --epsilon 8 --warm-start
    python -m benchmarks.averaging --arms sessions sessions-absent sessions-masked every-attack every-attack-excluded
    python -m benchmarks.averaging --corpus meddocan --sites 100 100 100 100 100 --hidden-size 128

Strict F1 of typed spans on notes of other patients. Sites of generated notes draw from the same templates; those of
MEDDOCAN share the notes of train by chance, and are scored on dev. ``feedback`` is selective SGD with error feedback,
which sends a tenth of the values, ``two`` averaging without the last site, ``attacked`` averaging in which the last
site multiplies its updates by ``--attack``, ``unlimited`` the same without the limit on long updates, and
``rounds-10`` averaging with ten exchanges in a pass. ``tagger`` is the tagger of each site alone, and ``tagger-all``
that of all notes in one place, with all defaults of `DeidTagger.fit`, such as altered copies and vectors that are
trained on the notes, which workers do not have. The arms of
`benchmarks.site_sessions` run the sites and the service of a federation in one process: the last site multiplies its
updates by ``--attack``, sends millions, values that are not numbers, and stale and replayed content; with
``-excluded`` it is excluded after half of the epochs. ``stale-unlimited`` is stale content without the limit on
similar updates. The limits on single updates allow what these sites send: ``disguised`` ``--disguise`` times its
update, ``alternating`` the same in every third round and its honest update in the others, ``noisy`` its update with
noise of 4.5 times its length, ``constant`` about the same direction in every round. With ``-median`` and ``-trimmed``
the updates of a round are combined so. ``--no-screen`` adds updates that point against most others, too, and each on
arrival. ``sessions-dp`` and ``dp`` train with `PatientPrivacy` and ``--epsilon``. ``--warm-start`` begins with the
starter model, which was trained on generated notes, so that its F1 here flatters.
Prints a line of JSON for each run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from sklearn_deid import Corpus, DeidTagger, DSSGDEnsemble, make_clinical_notes
from sklearn_deid.federated import FederatedAveraging, PatientPrivacy, TaggerLearner
from sklearn_deid.federated.robust import FEWEST_UPDATES
from sklearn_deid.federated.rotating_patients import ROTATING

from .corpora import read_or_make, sentences
from .site_sessions import ARMS as SESSION_ARMS
from .site_sessions import run_sessions

ARMS: dict[str, dict[str, Any]] = {
    "local": {"strategy": "local", "predict_with": "vote"},
    "dssgd": {"strategy": "dssgd"},
    "feedback": {
        "strategy": "dssgd",
        "upload_fraction": 0.1,
        "selection": "largest",
        "error_feedback": True,
        "download_selection": "most-changed",
        "schedule": "sequential",
        "upload_dtype": "float16",
    },
    "fedavg": {},
    "fedavg-plain": {"strategy": FederatedAveraging(divide_batches=False, rounds_per_epoch=1), "server_step": 1.0},
    "rounds-10": {"strategy": FederatedAveraging(rounds_per_epoch=10)},
    "median": {"strategy": FederatedAveraging("median")},
    **{f"proximal-{mu:g}": {"strategy": FederatedAveraging(proximal=mu)} for mu in (0.01, 0.1, 1.0)},
    "centralized": {"strategy": "centralized"},
    "two": {},
    "attacked": {},
    "attacked-median": {"strategy": FederatedAveraging("median")},
    "unlimited": {"strategy": FederatedAveraging(max_ratio=math.inf)},
    "dp": {"strategy": "fedavg"},
    "tagger": {},
    "tagger-all": {},
}


class Hostile(TaggerLearner):
    """Site that multiplies its updates."""

    factor = -20.0

    def train_epoch(self) -> Any:
        before = self.get_flat()
        metrics = super().train_epoch()
        self.set_flat(before + np.float32(self.factor) * (self.get_flat() - before))
        return metrics


class Attacked(DSSGDEnsemble):
    """Ensemble whose last worker is hostile."""

    def _learners(self, *args: Any) -> dict[str, TaggerLearner]:
        learners = super()._learners(*args)
        learners[list(learners)[-1]].__class__ = Hostile
        return learners


def notes_of_sites(arguments: argparse.Namespace, seed: int) -> tuple[list[Corpus], Corpus]:
    """Notes of each site, and those that are scored."""
    if arguments.corpus == "generated":
        sites = [make_clinical_notes(n, random_state=1000 * seed + i) for i, n in enumerate(arguments.sites)]
        return sites, make_clinical_notes(arguments.test_notes, random_state=1000 * seed + 900)
    pool, test = read_or_make(arguments.corpus, arguments, seed)
    if len(pool) < sum(arguments.sites):
        raise SystemExit(f"The corpus has {len(pool)} notes to train on, and the sites {sum(arguments.sites)}.")
    order = np.random.default_rng(seed).permutation(len(pool))
    rows = np.split(order, np.cumsum(arguments.sites))[:-1]
    return [pool[np.sort(own)] for own in rows], test[: arguments.test_notes]


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict[str, Any]:
    """Train one arm, and score the network of the server and the sites' own taggers."""
    sites, test = notes_of_sites(arguments, seed)
    labels = sorted({span.label for corpus in (*sites, test) for note in corpus for span in note.spans})
    if arm in SESSION_ARMS:
        return run_sessions(arm, sites, test, labels, arguments, seed)
    parts = [(data.X, data.y, data.groups) for data in map(sentences, sites)]
    if arm in ("tagger", "tagger-all"):
        return own_taggers(sites if arm == "tagger" else [together(sites)], arm, test, arguments, seed)
    options = {"n_epochs": arguments.epochs or "auto", "labels": labels, "random_state": seed, **ARMS[arm]}
    if arm == "dp":
        options["privacy"] = PatientPrivacy(arguments.epsilon)
    options["validation_fraction"] = arguments.validation_fraction
    if not arguments.screened:
        chosen = options.get("strategy", FederatedAveraging())
        options["strategy"] = chosen.set_params(screen=False) if isinstance(chosen, FederatedAveraging) else chosen
    kind = Attacked if arm in ("attacked", "attacked-median", "unlimited") else DSSGDEnsemble
    begin = time.process_time()
    start = {"warm_start_from": "starter-en"} if arguments.warm_start else {"hidden_size": arguments.hidden_size}
    given = {name: getattr(arguments, name) for name in ("lr", "span_swap") if getattr(arguments, name) is not None}
    tagger = DeidTagger(**start, **given)
    ensemble = kind(tagger, **options)
    ensemble.fit_workers(parts[:-1] if arm == "two" else parts)
    seconds, scored = time.process_time() - begin, sentences(test)
    history = ensemble.history_
    return {
        "arm": arm,
        "seed": seed,
        "corpus": arguments.corpus,
        "sites": arguments.sites,
        "rounds": max(history.column("epoch")),
        "lr": ensemble.estimators_[0].lr,
        "warm_start": arguments.warm_start,
        "global": None if arm == "local" else round(ensemble.global_estimator_.score(scored.X, scored.y), 4),
        "workers": ensemble.score_workers(scored.X, scored.y).round(4).tolist(),
        "bytes_up": max(line.bytes_up for line in history),
        "half_precision": 2 * len(ensemble._training.workers[0].learner.get_flat()),
        "refused_downloads": [getattr(w.guard, "n_refused", None) for w in ensemble._training.workers],
        "left_out": sum(line.refused is not None for line in history),
        "epsilon": round(float(ensemble.epsilon_.max()), 3) if arm == "dp" else None,
        "cpu_seconds": round(seconds),
    }


def together(sites: list[Corpus]) -> Corpus:
    """Notes of all sites. Sites may have equal document ids, and patients of different sites are different."""
    return Corpus(
        [
            replace(note, doc_id=f"{number}/{note.doc_id}", patient_id=f"{number}/{note.patient_id}")
            for number, corpus in enumerate(sites)
            for note in corpus
        ]
    )


def own_taggers(
    corpora: list[Corpus], arm: str, test: Corpus, arguments: argparse.Namespace, seed: int
) -> dict[str, Any]:
    """Train a tagger with all its defaults on each corpus."""
    begin, scored, f1, epochs = time.process_time(), sentences(test), [], []
    for data in map(sentences, corpora):
        tagger = DeidTagger(hidden_size=arguments.hidden_size, random_state=seed)
        tagger.fit(data.X, data.y, groups=data.groups)
        f1.append(round(tagger.score(scored.X, scored.y), 4))
        epochs.append(len(tagger.history))
    run = {"arm": arm, "seed": seed, "corpus": arguments.corpus, "sites": arguments.sites, "rounds": epochs}
    return {**run, "alone": f1, "cpu_seconds": round(time.process_time() - begin)}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=("generated", "meddocan", "asq-phi"), default="generated")
    parser.add_argument("--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder of the corpora")
    parser.add_argument("--test-notes", type=int, default=60, help="at most so many notes to score")
    parser.add_argument("--sites", type=int, nargs="+", default=[20, 20, 20], help="notes of each site")
    parser.add_argument(
        "--arms", nargs="+", choices=(*ARMS, *SESSION_ARMS), default=["local", "dssgd", "fedavg", "centralized"]
    )
    parser.add_argument("--epochs", type=int, help="local epochs (default: that of the ensemble)")
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--lr", type=float, help="learning rate before averaging multiplies it (default: 0.003)")
    parser.add_argument("--span-swap", type=float, help="share of swapped spans (default: 0.5)")
    parser.add_argument("--attack", type=float, default=-20.0, help="factor of the hostile updates")
    parser.add_argument("--disguise", type=float, default=-3.0, help="factor of the disguised updates")
    parser.add_argument("--no-screen", dest="screened", action="store_false", help="as in earlier versions")
    parser.add_argument("--epsilon", type=float, default=8.0, help="of each patient, for the arm dp")
    parser.add_argument(
        "--validation-fraction",
        type=lambda written: ROTATING if written == ROTATING else float(written),
        help="patients that a site holds out to test downloads, or rotating (default: that of an ensemble or a plan)",
    )
    parser.add_argument("--jitter", type=float, default=0.0, help="relative change of the first weights, of sessions")
    parser.add_argument("--warm-start", action="store_true", help="begin with the starter model")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args(argv)
    absent = any("absent" in arm for arm in arguments.arms)
    if arguments.screened and absent and len(arguments.sites) == FEWEST_UPDATES:
        parser.error("A screened round needs three sites: name a fourth of them, or --no-screen.")
    torch.set_num_threads(1)
    Hostile.factor = arguments.attack
    for seed in arguments.seeds:
        for arm in arguments.arms:
            print(json.dumps(run(arguments, arm, seed)), flush=True)


if __name__ == "__main__":
    main()
