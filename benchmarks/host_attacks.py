"""What the host of a federation learns: names, words and sentences, from plain, masked and noisy updates.

    python -m benchmarks.host_attacks --sites 20 20 20 --epochs 12 --warm-start --seeds 0 1 2
    python -m benchmarks.host_attacks --inversion --seeds 0 1 2

The first command trains sites as in `benchmarks.site_sessions`, rebuilds the models of each site from its last ten
uploads, and asks whose name and whose word a candidate is, without word vectors. Values are AUC for each site. Words
are those of letters outside of PHI that one site alone has. With ``--warm-start`` the networks have learned before.

What the host sees under masks depends on the keys of the masks, and a site has few names: one AUC tells little. The
updates of a training with masks are therefore masked again with ``--mask-keys`` new sets of keys, and attacked each
time. Values are then means over the keys, with 95 % intervals ("patients_interval"; t distribution).

The second command inverts gradients in the setting that is easiest to attack: a small network, and an update that is
one plain gradient step on one sentence, which no site of this library sends. Noise is that of a step of
`PatientPrivacy` for the planned epsilon, with six patients, of whom the sentence is all that a step drew. Each line of
JSON is one arm and seed; "before" is F1 of the first weights, and "global" that of the common network at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats
from sklearn.base import clone

from sklearn_deid.audit.attacks import GradientInversionAttack, GradientKnowledge, SentenceUpdates, one_step_update
from sklearn_deid.audit.site_models import name_attack, names_of, word_attack, words_of
from sklearn_deid.federated import FixedPoint, MaskedRound, MaskingSite, PatientPrivacy, SparseUpdate
from sklearn_deid.federated.patient_steps import noisy_mean
from sklearn_deid.federated.tagger_learner import tagger_from_vector

from .averaging import notes_of_sites
from .site_sessions import Federation

ARMS: dict[str, dict[str, Any]] = {
    "plain": {"masked": False},
    "masks": {"masked": True},
    "epsilon 8": {"masked": False, "epsilon": 8.0},
    "epsilon 3": {"masked": False, "epsilon": 3.0},
}
CANDIDATES = {
    # Labels of i2b2 2014, and those of MEDDOCAN.
    "patients": lambda corpus: names_of(corpus, "PATIENT") | names_of(corpus, "NOMBRE_SUJETO_ASISTENCIA"),
    "doctors": lambda corpus: names_of(corpus, "DOCTOR") | names_of(corpus, "NOMBRE_PERSONAL_SANITARIO"),
    "words": words_of,
}
NAMES = ("patients", "doctors")
# Small network of the inversion: words, width of their vectors, tags; sentences and their length; patients of a site.
_N_WORDS, _D, _N_TAGS, _N_SENTENCES, _LENGTH, _N_PATIENTS = 200, 8, 5, 10, 4, 6


def attacked(options: argparse.Namespace, arm: str, seed: int) -> dict[str, Any]:
    """Train one arm, and attack what the host has seen."""
    sites, test = notes_of_sites(options, seed)
    labels = sorted({span.label for corpus in (*sites, test) for note in corpus for span in note.spans})
    begin, scored = time.process_time(), test.to_sentences()
    with tempfile.TemporaryDirectory() as folder:
        federation = Federation(Path(folder), sites, labels, options, seed, **ARMS[arm])
        federation.run(None, options, None)
        models = {site: federation.rebuilt(site) for site in federation.names}
        common = federation.agreement.tagger_with(federation.server.parameters, federation.server.model)
        result: dict[str, Any] = {"arm": arm, "seed": seed, "sites": options.sites, "epochs": options.epochs}
        first = federation.agreement.new_server()
        start = federation.agreement.tagger_with(first.parameters, first.model)
        result["warm_start"], result["corpus"] = options.warm_start, options.corpus
        result["before"], result["global"] = (round(one.score(scored.X, scored.y), 4) for one in (start, common))
        found = {
            kind: {site: candidates(corpus) for site, corpus in zip(federation.names, sites, strict=True)}
            for kind, candidates in CANDIDATES.items()
        }
        for kind, candidates in found.items():
            attack = word_attack if kind == "words" else name_attack
            result[kind] = [round(value, 3) for value in attack(models, candidates).values()]
        if ARMS[arm]["masked"]:
            result |= masked_again(federation, common, {kind: found[kind] for kind in NAMES}, options.mask_keys)
    return {**result, "cpu_seconds": round(time.process_time() - begin)}


def masked_again(
    federation: Federation, common: Any, found: dict[str, dict[str, set[str]]], n_keys: int
) -> dict[str, Any]:
    """AUC of each site under further keys of the masks: mean and 95 % interval."""
    values: dict[str, list[list[float]]] = {kind: [] for kind in found}
    for _ in range(n_keys):
        keys = {site: MaskingSite(site) for site in federation.names}
        models = {
            site: [tagger_from_vector(common, clone(common), vector) for vector in federation.masked_again(site, keys)]
            for site in federation.names
        }
        for kind, candidates in found.items():
            values[kind].append(list(name_attack(models, candidates).values()))
    result: dict[str, Any] = {"mask_keys": n_keys}
    for kind, own in values.items():
        auc = np.array(own)  # shape: (n_keys, n_sites)
        mean, half = auc.mean(axis=0), stats.t.ppf(0.975, n_keys - 1) * auc.std(axis=0, ddof=1) / np.sqrt(n_keys)
        result[kind] = mean.round(3).tolist()
        result[f"{kind}_interval"] = np.stack([mean - half, mean + half], axis=1).round(3).tolist()
    return result


class Window(torch.nn.Module):
    """Tags from a token and its two neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(3 * _D, 32)
        self.emit = torch.nn.Linear(32, _N_TAGS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded, n = torch.nn.functional.pad(x, (0, 0, 1, 1)), x.shape[1]
        return self.emit(torch.tanh(self.hidden(torch.cat([padded[:, i : i + n] for i in range(3)], dim=2))))


def inverted(arm: str, options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Share of words of single sentences that the attacker names."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    knowledge = GradientKnowledge(Window(), rng.standard_normal((_N_WORDS, _D)))
    words = [rng.integers(_N_WORDS, size=_LENGTH).tolist() for _ in range(_N_SENTENCES)]
    updates = [one_step_update(knowledge, row, rng.integers(_N_TAGS, size=_LENGTH).tolist()) for row in words]
    hidden = [hidden_update(update, arm, options) for update in updates]
    attack = GradientInversionAttack(n_steps=100, n_starts=3, n_control=1, random_state=seed)
    found = attack.fit(knowledge).attack(SentenceUpdates(hidden, words))
    interval = [round(value, 3) for value in (found.attack.value, found.attack.low, found.attack.high)]
    return {"arm": arm, "seed": seed, "inversion": interval}


def hidden_update(update: SparseUpdate, arm: str, options: argparse.Namespace) -> SparseUpdate:
    """Update as the host sees it."""
    vector, epsilon = update.dense(), ARMS[arm].get("epsilon")
    if ARMS[arm]["masked"]:
        members = [MaskingSite(f"site-{n}") for n in range(3)]
        keys = {member.name: member.public_key for member in members}
        terms = MaskedRound(0, update.model, update.size, keys, FixedPoint())
        masked = np.frombuffer(members[0].mask(vector, terms)[-2 * update.size :], dtype=terms.numbers.dtype)
        vector = terms.numbers.decode(masked, len(members))
    elif epsilon is not None:
        privacy = PatientPrivacy(epsilon)
        noise = privacy.open_ledger(_N_PATIENTS, options.epochs).noise_multiplier
        expected = privacy.sampling_rate * _N_PATIENTS
        generator = np.random.default_rng(np.random.SeedSequence())
        vector = noisy_mean([vector], update.size, privacy.clip, noise, expected, generator)
    return SparseUpdate(np.arange(update.size), vector.astype(np.float32), update.size, update.model)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sites", type=int, nargs="+", default=[20, 20, 20], help="notes of each site")
    parser.add_argument("--corpus", choices=("generated", "meddocan", "asq-phi"), default="generated")
    parser.add_argument("--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder of the corpora")
    parser.add_argument("--test-notes", type=int, default=30)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS))
    parser.add_argument("--epochs", type=int, default=12, help="rounds")
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--lr", type=float, help="learning rate (default: that of a plan)")
    parser.add_argument("--warm-start", action="store_true", help="begin with the starter model")
    parser.add_argument("--mask-keys", type=int, default=20, help="sets of keys with which updates are masked anew")
    parser.add_argument("--inversion", action="store_true", help="invert gradients of single sentences instead")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.set_defaults(validation_fraction=None, screened=True)
    options = parser.parse_args(argv)
    if options.mask_keys < 2:
        parser.error("An interval needs at least two sets of keys (--mask-keys).")
    torch.set_num_threads(1)
    for seed in options.seeds:
        for arm in options.arms:
            run = inverted(arm, options, seed) if options.inversion else attacked(options, arm, seed)
            print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
