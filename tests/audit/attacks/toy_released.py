"""The toy language of numbers as an attacker meets it: representers of known openness, releases, tokens."""

import numpy as np
import torch

from sklearn_deid.audit.attacks import BlindRepresenter, PairKnowledge, PairRelease, RawVectors, ReleasedTokens
from tests.representations.toy_pairs import N_PHI, SIZE, toy_pairs


class Constant(RawVectors):
    """The same vector for every token of every sentence, without noise."""

    def mean(self, x, mask, **options):
        return torch.ones_like(x).masked_fill(~mask.unsqueeze(2), 0.0)


def blind():
    return BlindRepresenter(SIZE, 4)


def raw(std=0.0):
    return RawVectors(SIZE, std)


def knowledge(representer, n=200, **more):
    return PairKnowledge(representer, toy_pairs(n, seed=0), toy_pairs(n // 2, seed=1), **more)


def release(n=100, seed=2, n_patients=None):
    groups = None if n_patients is None else np.arange(n) % n_patients
    return PairRelease(toy_pairs(n, seed=seed), groups)


def toy_table():
    return toy_pairs(1).table.numpy()


@torch.no_grad()
def tokens(representer=None, n=150, seed=0, hidden=()):
    """What a representer releases of sentences whose PHI words are drawn each by itself; None draws vectors at random.

    Words in ``hidden`` do not occur.
    """
    rng = np.random.default_rng(seed)
    data = toy_pairs(n, seed=seed)
    words = data.words.copy()
    words[data.eligible] = rng.choice(np.setdiff1d(np.arange(N_PHI), hidden), len(data.eligible))
    x, mask = data.table[torch.from_numpy(words)].unsqueeze(0), torch.ones(1, len(words), dtype=torch.bool)
    if representer is None:
        vectors = rng.normal(size=(len(words), 4))
    else:
        vectors = representer(x, mask, generator=torch.Generator().manual_seed(seed))[0].numpy()
    return ReleasedTokens(vectors, data.offsets, words, words < N_PHI, words % 7, data.tags, np.arange(n) // 2)
