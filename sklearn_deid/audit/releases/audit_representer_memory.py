"""Membership inference on a representer: whether a sentence was among those that its weights were trained on."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from ...exceptions import UnsafeToShareWarning
from ...representations.bound import pair_distance
from ...representations.pair_batches import PairBatches
from ...sequences import TokenSequences
from ..attacks.membership import MembershipAttack, MembershipKnowledge, ReleasedTagger
from ..attacks.model_training import LossFunction, TrainingProcedure
from ..audit_data import AuditData
from ..protocol import AttackResult

__all__ = ["attack_memory", "distances_of", "training_of_representer"]

_N_DRAWS = 4
# Below it a sentence and its moved twins are the same to the network.
_SMALLEST = 1e-6


def attack_memory(representer: Any, data: AuditData, attack: MembershipAttack) -> list[AttackResult]:
    """Result of an attack on a representer that is trained in the same way on half of the patients.

    Whom the given one was trained on is not known here. Judged are sentences with a token that can move: a published
    representer holds no tagger, and what an attacker can measure of a sentence is how far its moved twins are away.
    """
    pairs = representer.pair_data(data.X, data.y)
    rows = np.unique(np.searchsorted(pairs.offsets, pairs.eligible, side="right") - 1)
    groups = np.arange(len(rows)) if data.groups is None else np.unique(data.groups[rows], return_inverse=True)[1]
    rng = np.random.default_rng(data.seed)
    members = (rng.permutation(groups.max() + 1) < (groups.max() + 1) / 2)[groups]
    train, X, y = training_of_representer(representer), data.X[rows], data.y[rows]
    released = ReleasedTagger(train(X[members], y[members], data.seed), members)
    found = attack.fit(MembershipKnowledge(train, X, y, groups)).attack(released)
    attacker = (
        "A recipient of the published representer who knows how it is trained, and holds sentences of which some may "
        "have been among those it was trained on."
    )
    return [replace(found, name=f"{found.name}, of the representer", attacker=attacker)]


def training_of_representer(representer: Any) -> TrainingProcedure:
    """How it is trained, for `MembershipAttack`; the loss of a sentence is the logarithm of `distances_of`."""

    def train(X: Any, y: Any, seed: int) -> LossFunction:
        model = clone(representer).set_params(random_state=seed, embeddings=representer._vectors, verbose=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsafeToShareWarning)  # nobody gets this one
            model.fit(X, y)
        return lambda X, y: np.log(np.maximum(distances_of(model, X, y), _SMALLEST))

    return train


@torch.no_grad()
def distances_of(representer: Any, X: TokenSequences, y: TokenSequences) -> np.ndarray:
    """Mean distance d' of each sentence and its moved twins, shape (n,); the same moves at each call.

    Training makes it small, and smaller for the sentences that it sees. 0 for sentences without a token that can move.
    """
    data, network = representer.pair_data(X, y), representer.network_
    # Tags play no part here, and so can carry the number of the sentence through the batches.
    numbered = replace(data, tags=np.repeat(np.arange(len(data)), np.diff(data.offsets)))
    device = next(network.parameters()).device
    batches, generator = PairBatches(numbered, 128, device), torch.Generator(device).manual_seed(0)
    std = network.output_std().clamp(min=_SMALLEST)
    total = np.zeros(len(data))
    for _ in range(_N_DRAWS):
        for batch in batches.epoch(None, generator, sentences="pairs"):
            mu, moved = (network.mean(x, batch.mask, noise=False) for x in (batch.embeddings, batch.moved))
            rows = batch.tags[: batch.n_pairs, 0].cpu().numpy()
            total[rows] += pair_distance(mu, moved, std, batch.mask).cpu().numpy()
    return total / _N_DRAWS
