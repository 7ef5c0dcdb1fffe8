"""A bound on all attackers who tell from which of two sentences a noisy representation was made.

Given its input noise, a representation before unit length is Gaussian: mean mu, and in each dimension the standard
deviation of the output noise. For two Gaussians of equal spread the best test is known (Neyman & Pearson), so the
accuracy of the best possible attacker follows from one number, the distance d' of the two means in units of the noise.
Nothing is trained, nothing can be overlooked, and d' has a gradient, so it can be a loss.

What the bound covers
---------------------
Noise that is exactly Gaussian and cannot be predicted, and an attacker with any amount of computation who owns the
network and its weights, knows both candidate sentences, is told the input noise that was drawn, sees one release, and
holds both candidates for equally likely: accuracy at most
``attack_accuracy(pair_distance(...))`` for this pair. An attacker who is not told the input noise does no better than
the average of this accuracy over its draws. Whatever is done to the released vectors afterwards, unit length above all,
cannot raise it.

What it does not cover
----------------------
* Noise that can be computed anew: noise from a random seed that somebody knows or finds, and all releases of format
  version 1 (``docs/security.md``).
* Other pairs than those it was computed for, such as those of an attacker who picks the token and the neighbour. The
  candidates are sentences of equal length that differ in the tokens that were moved, to the neighbours they were moved
  to. Moves of more tokens, such as all PHI of a patient, or further away, have a larger d'.
* The worst case: a mean or a quantile over pairs says nothing about the pairs beyond it. A maximum is a guarantee
  (Gaussian differential privacy with mu = the largest d') only if it runs over all pairs that can occur and, as d'
  depends on it, over all draws of the input noise.
* What is released beside the vectors without noise: casing, labels, the number of tokens, the order of sentences.
* Several releases of a sentence (`released_r_times`), and sentences that share a name: both add up.
* What is known beforehand: if one candidate is more likely before anything is released, guessing it is right more often
  than half of the time, and the release adds to that.
* The weights of the network, if it was trained on private text.
* An attacker who can tell the keystream of ChaCha20 from chance. The finite precision of computers is covered:
  `sampling_slack` is what it adds to the accuracy of an attacker.

References
----------
Dong, Roth & Su (2022), Gaussian differential privacy, section 2.2, for the trade-off of two Gaussians; the bound is not
part of Friedrich et al. (2019).
Mironov (2012), On significance of the least significant bits for differential privacy; Canonne, Kamath & Steinke
(2020), The discrete Gaussian for differential privacy: why noise of floating point needs more care than its formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from .._randomness import grid_step
from ..embeddings import WordVectors
from ..metrics import Estimate
from .network import Representer
from .pair_batches import PairBatches

_WORDS_AT_ONCE = 8192
_SLACK = 2.0**-49  # of a coordinate and a boundary between cells of the grid, in docs/private_representation.md
_FEWEST = 64.0  # boundaries in one standard deviation that count where there are fewer


def pair_distance(mu: Tensor, mu_other: Tensor, std: Tensor, mask: Tensor) -> Tensor:
    """Distance d' between two representations in units of their noise, shape (batch,).

    ``d'^2 = sum over tokens and dimensions of ((mu - mu_other) / std)^2``. Both means must come from the same draw of
    the input noise (`Representer.mean` with the same ``input_eps``): with different draws the distance also holds the
    difference of the draws, which says nothing of the sentences.

    Parameters
    ----------
    mu, mu_other : Tensor of shape (batch, time, d)
        Representations before output noise and unit length.
    std : Tensor of shape (d,)
        Standard deviation of the output noise. Where it is 0 and the means differ, d' is infinite.
    mask : BoolTensor of shape (batch, time)
        True at tokens.

    Returns
    -------
    Tensor of shape (batch,)
        Not negative. Its gradient is finite for positive ``std``, and 0 where both means are equal.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import pair_distance
    >>> mu, mask = torch.zeros(1, 2, 2), torch.tensor([[True, True]])
    >>> moved = torch.tensor([[[3.0, 0.0], [0.0, 8.0]]])
    >>> pair_distance(mu, moved, torch.tensor([1.0, 2.0]), mask).tolist()
    [5.0]
    """
    difference = torch.where(mask.unsqueeze(2), mu - mu_other, 0.0)  # shape: (batch, time, d)
    # Where nothing differs, no noise is needed: 0 / 0 must not make the distance undefined.
    scaled = difference / torch.where(difference == 0.0, 1.0, std)
    # A norm and not the root of a sum: PyTorch gives the norm a gradient at 0, the root none.
    return torch.linalg.vector_norm(scaled.flatten(1), dim=1)


def attack_accuracy(distance: Tensor) -> Tensor:
    """Accuracy of the best attacker on pairs at this distance, ``Phi(d' / 2)``: from 0.5 (chance) to 1.

    Phi is concave here, so the accuracy of the mean distance is at least the mean of the accuracies: a bound on the
    mean d' also bounds the mean accuracy.

    Parameters
    ----------
    distance : Tensor of any shape
        d', not negative.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import attack_accuracy
    >>> attack_accuracy(torch.tensor([0.0, 0.2, 2.0])).tolist()  # doctest: +ELLIPSIS
    [0.5, 0.539..., 0.841...]
    """
    return torch.special.ndtr(distance / 2.0)


def distance_of_accuracy(accuracy: float) -> float:
    """Distance d' at which the best attacker has this accuracy: the inverse of `attack_accuracy`.

    Parameters
    ----------
    accuracy : float
        From 0.5, which only endless noise reaches (d' = 0), to 1 (d' infinite).

    Raises
    ------
    ValueError
        If the accuracy is not between 0.5 and 1.

    Examples
    --------
    >>> from sklearn_deid.representations import distance_of_accuracy
    >>> round(distance_of_accuracy(0.54), 4)
    0.2009
    """
    if not 0.5 <= accuracy <= 1.0:
        raise ValueError(f"The 'accuracy' parameter must be between 0.5 and 1. Got {accuracy!r}.")
    return 2.0 * float(torch.special.ndtri(torch.tensor(accuracy, dtype=torch.float64)))


def released_r_times(distance: Tensor, n_releases: int) -> Tensor:
    """Distance when a sentence is released several times, each time with new noise: ``sqrt(r) d'``.

    Squared distances of independent releases add up; this takes them as equal. They differ a little with the draws of
    the input noise: then the exact value is the root of the sum of ``d'^2`` over the releases.

    Parameters
    ----------
    distance : Tensor of any shape
        d' of one release.
    n_releases : int
        r, at least 1.

    Raises
    ------
    ValueError
        If there is no release.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import released_r_times
    >>> released_r_times(torch.tensor([0.5]), 4).tolist()
    [1.0]
    """
    if n_releases < 1:
        raise ValueError(f"The 'n_releases' parameter must be at least 1. Got {n_releases!r}.")
    return math.sqrt(n_releases) * distance


def sampling_slack(std: Tensor, n_tokens: int) -> float:
    """What finite precision adds to the accuracy of an attacker on one release of a sentence of so many tokens.

    The noise that is sampled is not exactly Gaussian. Rounded to the public grid, a coordinate of it is at most
    ``2^-49 max(64, std / step)`` away from rounded Gaussian noise (total variation); the coordinates of a release are
    independent, so their distances add up, and no attacker's accuracy differs by more.

    Parameters
    ----------
    std : Tensor of shape (d,)
        Standard deviation of the output noise.
    n_tokens : int
        Of the longest sentence.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import sampling_slack
    >>> sampling_slack(torch.ones(50), 20) < 1e-9
    True
    """
    values = std.detach().double().cpu()
    return n_tokens * _SLACK * float((values / grid_step(values.numpy())).clamp(min=_FEWEST).sum())


@dataclass(frozen=True)
class PrivacyBound:
    """Accuracy of the best possible attacker on the releases of a representer, over the pairs it was computed for.

    An attacker sees the releases of one of two sentences that differ in one moved token, knows both and the network,
    and says which it was; 0.5 is chance. Pairs are drawn at random from PHI tokens that can move (about two thirds of
    them); the figures are about tokens and not about patients, and hold for noise that is exactly Gaussian and cannot
    be predicted. What this covers and what not is written in `representations.bound`.

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
    # The central limit theorem for the mean: pairs are of different sentences, so nearly independent.
    half = 1.96 * float(accuracies.std()) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(mean, max(0.5, mean - half), min(1.0, mean + half), n)


def _rank(position: float, n: int) -> int:
    """Index of an order statistic that is counted from 1."""
    return min(max(math.ceil(position) - 1, 0), n - 1)


@dataclass(frozen=True)
class WorstCase:
    """The pair of words that a release tells apart best.

    Attributes
    ----------
    gdp_mu : float
        Largest d' over all words looked at and their N nearest words. One release is mu-Gaussian differentially
        private with this mu, for neighbouring sentences that differ in one token moved within these neighbours.
    accuracy : float
        Of the best attacker on that pair, ``Phi(mu / 2)`` and the slack of the one vector that differs.
    n_words, n_pairs : int
        Words looked at, and pairs.
    """

    gdp_mu: float
    accuracy: float
    n_words: int
    n_pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self)


@torch.no_grad()
def worst_case(representer: Representer, vectors: WordVectors, moves: Any, rows: np.ndarray) -> WorstCase:
    """Largest distance d' between a word and the words it may become, over all given words.

    Parameters
    ----------
    representer : Representer
        Of kind "dense", without noise at its input.
    vectors : WordVectors
    moves : UniformNeighbors or DigitsApart
        Where each word may go.
    rows : ndarray of shape (n,)
        Words to look at, as rows of the vectors.
    """
    means = _means(representer, vectors)
    largest, n_pairs = 0.0, 0
    for start in range(0, len(rows), _WORDS_AT_ONCE):
        block = rows[start : start + _WORDS_AT_ONCE]
        targets, _ = moves.support(block)
        for row, near in zip(block.tolist(), targets, strict=True):
            near = near[near >= 0]
            if len(near):
                squared = ((means[near] - means[row]) ** 2).sum(axis=1)  # shape: (N,), d'^2 of one token moved
                largest, n_pairs = max(largest, float(squared.max())), n_pairs + int((near != row).sum())
    mu = float(np.sqrt(largest))
    accuracy = float(attack_accuracy(torch.tensor(mu, dtype=torch.float64)))
    accuracy = min(1.0, accuracy + sampling_slack(representer.output_std(), 1))
    return WorstCase(mu, accuracy, len(rows), n_pairs)


def _means(representer: Representer, vectors: WordVectors) -> np.ndarray:
    """Mean of every word's representation in units of the noise, shape (n_words, d)."""
    device = representer.project.weight.device
    std = representer.output_std()
    parts = []
    for block in vectors.blocks():
        x = torch.from_numpy(np.ascontiguousarray(block)).to(device) * float(np.sqrt(vectors.dim))
        # One word a sentence, so that nothing depends on where it stands.
        mu = representer.mean(x.unsqueeze(1), torch.ones(len(x), 1, dtype=torch.bool, device=device))
        parts.append((mu.squeeze(1) / std).cpu().numpy())
    return np.concatenate(parts)
