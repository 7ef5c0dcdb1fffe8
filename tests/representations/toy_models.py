"""Small networks for the toy language, and representers of which it is known what they hide."""

import numpy as np
import torch

from sklearn_deid.representations import GaussianNoise, PairBatches, PrivateModel, Representer
from sklearn_deid.tagging import BidirectionalRecurrent, TaggerModule

from .toy_pairs import SIZE, toy_pairs

D = 4


class Copying(Representer):
    """Hides nothing: the representation is the embedding."""

    def __init__(self):
        super().__init__(SIZE, SIZE, hidden_size=2)

    def mean(self, x, mask, **options):
        return x.masked_fill(~mask.unsqueeze(2), 0.0)

    def release(self, mu, mask, **options):
        return mu


class NoisyCopy(Copying):
    """The embedding, with noise of a known size."""

    def __init__(self, std):
        super().__init__()
        self.output_noise = GaussianNoise(SIZE, init=std, kind="fixed")

    def release(self, mu, mask, *, noise=True, generator=None):
        r = self.output_noise(mu, apply=noise, generator=generator)
        return r.masked_fill(~mask.unsqueeze(2), 0.0)


class PureNoise(Representer):
    """Hides everything: the representation does not depend on the sentence."""

    def __init__(self):
        super().__init__(SIZE, D, hidden_size=2)

    def forward(self, x, mask, *, noise=True, generator=None, input_eps=None):
        r = torch.randn(*x.shape[:2], D, generator=generator)
        return r.masked_fill(~mask.unsqueeze(2), 0.0)


def small_model(seed=0, noise=0.1, hidden=8, kind="trainable"):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        representer = Representer(
            SIZE,
            D,
            hidden_size=hidden,
            input_noise=GaussianNoise(SIZE, init=noise, kind=kind),
            output_noise=GaussianNoise(D, init=noise, kind=kind),
        )
        tagger = TaggerModule(2, None, BidirectionalRecurrent(D + 7, hidden), output_dropout=0.1)
        return PrivateModel(representer, tagger)


def toy_batches(n_train=120, n_valid=80, batch_size=32):
    return (
        PairBatches(toy_pairs(n_train, seed=0), batch_size),
        PairBatches(toy_pairs(n_valid, seed=1), batch_size),
    )


def chance(seed=0):
    """Keyword arguments of a training: both sources of random numbers."""
    return {"rng": np.random.default_rng(seed), "generator": torch.Generator().manual_seed(seed)}


def weights(module):
    return {k: v.clone() for k, v in module.state_dict().items()}


def same_weights(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)
