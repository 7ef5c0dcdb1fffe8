"""Small sentences and representers to audit."""

import copy

import numpy as np
import torch

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    PrivateRepresenter,
)
from sklearn_deid.audit.attacks import InversionAttack, PairAttack
from sklearn_deid.representations import Bounded
from sklearn_deid.representations.saving import fingerprint_of
from sklearn_deid.sequences import TokenSequences

from ..representations.test_private_representer import TINY
from ..tagging.conftest import SMALL, make_sentences

PAIRS = {"hidden_size": 16, "lr": 5e-3, "n_epochs": 30, "random_state": 0}
READ = [
    PairAttack(template="noise_free", **PAIRS),
    "lookup",
    "bound",
    InversionAttack(decoder="token", n_epochs=3, random_state=0),
]
TAGGER = {**SMALL, "max_epochs": 1}


def auditor(attacks="lookup", **parameters):
    return AdversarialPrivacyAuditor(attacks, **{"random_state": 0, **parameters})


def audited_sentences():
    X, y, groups = make_sentences(600)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


def leaky_representer(data):
    """Noise of a hundredth hides nothing."""
    unbounded = {"training": Bounded(max_attack_accuracy=1.0 - 1e-9, quantile_attack_accuracy=None)}
    learning = {"n_components": 8, "max_epochs": 5, "lr": 1e-2}
    return PrivateRepresenter(**{**TINY, **unbounded, **learning, "noise": 0.01}).fit(*data)


def blind_representer(leaky):
    """The same, with a network that looks at nothing and unit noise."""
    representer = copy.deepcopy(leaky)
    with torch.no_grad():
        for part in (representer.network_.project.weight, representer.network_.project.bias):
            part.zero_()
        representer.network_.output_noise.weight.fill_(1.0)
    representer.fingerprint_ = fingerprint_of(representer)
    return representer
