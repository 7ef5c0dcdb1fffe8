"""How private a representer is in closed form, measured on pairs: `PrivacyBound`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from scipy.stats import binom
from torch import Tensor

from ..metrics import Estimate
from .gaussian_bound import attack_accuracy, pair_distance, released_r_times, sampling_slack
from .network import Representer
from .pair_batches import PairBatches

__all__ = ["PrivacyBound", "mean_accuracy", "pair_distances", "pair_slack", "privacy_bound"]


@dataclass(frozen=True)
class PrivacyBound:
    """Accuracy of the best possible attacker on the releases of a representer, over the pairs it was computed for.

    An attacker sees the releases of one of two sentences that differ in one moved token, knows both and the network,
    and says which it was; 0.5 is chance. Pairs are drawn at random from PHI tokens that can move (about two thirds of
    them); the figures are about tokens and not about patients, and hold for noise that is exactly Gaussian and cannot
    be predicted. What this covers and what not is written in `representations.gaussian_bound`.

    Attributes
    ----------
    n_pairs, n_releases : int
        Pairs, each of another sentence, and how often (r) each sentence is released.
    mean_accuracy : Estimate
        Mean over the pairs of ``Phi(d' / 2)``, with a 95 % interval for other pairs of the same kind.
    quantile : float
        Which quantile the next one is.
    quantile_accuracy : Estimate
        This share of the pairs has at most this accuracy; interval from order statistics.
    largest_accuracy : float
        Of the pair that is told apart best among those that were drawn.
    mean_distance : float
        Mean d'.
    slack : float
        How much of each accuracy is for the finite precision of the noise (`representations.sampling_slack`), for the
        longest sentence and all releases; 0 in what was saved before noise was rounded to a grid.
    """

    n_pairs: int
    n_releases: int
    mean_accuracy: Estimate
    quantile: float
    quantile_accuracy: Estimate
    largest_accuracy: float
    mean_distance: float
    slack: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; an estimate is three of them: ``NAME``, ``NAME_low`` and ``NAME_high``."""
        plain: dict[str, Any] = {}
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if isinstance(value, Estimate):
                plain |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            else:
                plain[name] = value
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyBound:
        """The bound of which `to_dict` gave these numbers."""
        numbers, n = dict(plain), plain["n_pairs"]
        for name in ("mean_accuracy", "quantile_accuracy"):
            value, low, high = (numbers.pop(name + end) for end in ("", "_low", "_high"))
            numbers[name] = Estimate(value, low, high, n)
        return cls(**numbers)


@torch.no_grad()
def pair_distances(
    representer: Representer, batches: PairBatches, generator: torch.Generator, *, n_draws: int = 1
) -> Tensor:
    """Distance d' of each sentence and its moved twin, shape (n_draws * n_pairs,), on the device of the batches.

    Parameters
    ----------
    representer : Representer
    batches : PairBatches
        Sentences without a token that can move are passed over.
    generator : torch.Generator
        Draws the twins and the input noise, which both members share.
    n_draws : int, default=1
        How often all of them are drawn.
    """
    found = [torch.zeros(0, device=batches.device)]
    for _ in range(n_draws):
        for batch in batches.epoch(None, generator, sentences="pairs"):
            eps = representer.input_noise.draw(batch.embeddings, generator)
            mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)
            moved = representer.mean(batch.moved, batch.mask, input_eps=eps)
            found.append(pair_distance(mu, moved, representer.output_std(), batch.mask))
    return torch.cat(found)


def pair_slack(representer: Representer, batches: PairBatches) -> float:
    """Slack of one release of the longest sentence that has a pair, for `privacy_bound`.

    Parameters
    ----------
    representer : Representer
    batches : PairBatches
    """
    return sampling_slack(representer.output_std(), batches.longest_pair)


def privacy_bound(
    distances: Tensor, *, n_releases: int = 1, quantile: float = 0.95, slack: float = 0.0
) -> PrivacyBound:
    """Summary of distances.

    Parameters
    ----------
    distances : Tensor of shape (n,)
        d' of each pair (`pair_distances`), at least one.
    n_releases : int, default=1
        r; d' grows by its root.
    quantile : float in (0, 1), default=0.95
    slack : float, default=0.0
        Added to each accuracy for each release: what the sampled noise may differ from Gaussian noise
        (`representations.sampling_slack`).

    Raises
    ------
    ValueError
        If there is no pair.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import privacy_bound
    >>> bound = privacy_bound(torch.zeros(100))
    >>> bound.mean_accuracy.value, bound.quantile_accuracy.value, bound.n_pairs
    (0.5, 0.5, 100)
    """
    if not len(distances):
        raise ValueError("There is no pair of sentences to compute the bound for.")
    n = len(distances)
    added = n_releases * slack
    accuracies = attack_accuracy(released_r_times(distances.double(), n_releases)).sort().values.cpu()
    accuracies = (accuracies + added).clamp(max=1.0)
    # Ranks between which the quantile lies with 95 % probability, whatever the distribution.
    low, high = (int(binom.ppf(p, n, quantile)) for p in (0.025, 0.975))
    accuracy, least, most = (float(accuracies[_rank(at, n)]) for at in (quantile * n, low, high + 1))
    return PrivacyBound(
        n_pairs=n,
        n_releases=n_releases,
        mean_accuracy=mean_accuracy(float(accuracies.mean()), accuracies),
        quantile=quantile,
        quantile_accuracy=Estimate(accuracy, least, most, n),
        largest_accuracy=float(accuracies[-1]),
        mean_distance=float(distances.mean()),
        slack=added,
    )


def mean_accuracy(mean: float, accuracies: Tensor) -> Estimate:
    """Mean accuracy with a 95 % interval of the normal distribution over sentences, from one half to 1.

    Parameters
    ----------
    mean : float
    accuracies : Tensor of shape (n,)
        Of each sentence, whose spread gives the interval.
    """
    n = len(accuracies)
    half = 1.96 * float(accuracies.std()) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(mean, max(0.5, mean - half), min(1.0, mean + half), n)


def _rank(position: float, n: int) -> int:
    """Index of an order statistic that is counted from 1."""
    return min(max(math.ceil(position) - 1, 0), n - 1)
