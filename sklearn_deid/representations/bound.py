"""Bound on the accuracy of all attackers who decide from which of two sentences a noisy representation was made.

For fixed input noise, the representation before the scaling to unit length is Gaussian. The mean of the Gaussian is mu,
and the standard deviation of each dimension is the standard deviation of the output noise. For two Gaussians with equal
standard deviations, the best test is known (Neyman & Pearson). The accuracy of the best possible attacker therefore
follows from a single number, the distance d' of the two means in units of the noise. The bound needs no trained
attacker, and holds for every attacker, however strong. The distance d' has a gradient, so a training can use d' as a
loss.

What the bound covers
---------------------
The bound covers noise that is exactly Gaussian and cannot be predicted. The bound holds for any computing power of the
attacker. Attackers have the network and its weights, know both candidate sentences and the drawn input noise, see one
release, and consider both candidates equally likely. For the pair of candidate sentences, the accuracy of such an
attacker is at most ``attack_accuracy(pair_distance(...))``. An attacker who does not know the input noise is at most as
accurate as the average of this accuracy over the draws of the input noise. No later processing of the released vectors,
such as scaling to unit length, can raise the accuracy.

What the bound does not cover
-----------------------------
* Noise that an attacker can reproduce is not covered: noise from a random seed that the attacker knows or finds, and
  all releases of format version 1 (``docs/security.md``).
* Pairs other than the computed pairs are not covered. `PrivacyBound.patients` replaces all PHI tokens of a patient, and
  `PrivacyBound.worst_neighbor` covers an attacker who picks the token and the neighbour. For replacements by more
  distant words, d' is larger. For words that cannot be replaced, d' is larger or unknown.
* The worst case is not covered. A mean or a quantile over cases gives no information about the other cases. A maximum
  is a guarantee (Gaussian differential privacy with mu = the largest d') only if it runs over all cases that can occur.
  As d' depends on the input noise, the maximum must also run over all draws of the input noise.
* Data that are released together with the vectors, but without noise, are not covered: labels, the number of tokens,
  which sentences are equal, and casing that is not randomised. Metrics "with casing" include the released casing.
* Several releases of a sentence are covered only if their number is stated (`released_r_times`).
* Prior knowledge is not covered. If one candidate is more likely before the release, guessing this candidate is right
  more than half of the time even without the release, and more often with the release.
* The weights of the network are not covered if the network was trained on private text.
* An attacker who can distinguish the keystream of ChaCha20 from random numbers is not covered. The finite precision of
  numbers is covered: `sampling_slack` is the accuracy that an attacker gains from finite precision.

References
----------
Dong, Roth & Su (2022), Gaussian differential privacy, section 2.2, for the trade-off of two Gaussians. The bound is not
part of Friedrich et al. (2019).

Mironov (2012), On significance of the least significant bits for differential privacy; Canonne, Kamath & Steinke
(2020), The discrete Gaussian for differential privacy. These papers explain why floating-point noise needs more care
than the formula of the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._randomness import grid_step
from .._skorch import plain_torch
from ..embeddings import WordVectors
from ..metrics import Estimate
from .casing_disclosure import CasingDisclosure
from .network import Representer
from .pair_batches import PairBatch, PairBatches
from .part_bound import PartBound, plain_numbers, with_estimates
from .phi_coverage import PhiCoverage

# Distances to all neighbours of these words are in memory at a time.
_WORDS_AT_ONCE = 8192
_SLACK = 2.0**-49  # slack per coordinate and cell boundary of the grid, derived in docs/private_representation.md
_FEWEST = 64.0  # smallest number of cell boundaries per standard deviation that the slack is computed for


def pair_distance(mu: Tensor, mu_other: Tensor, std: Tensor, mask: Tensor) -> Tensor:
    """Compute the distance d' between two representations in units of their noise, shape (batch,).

    ``d'^2 = sum over tokens and dimensions of ((mu - mu_other) / std)^2``. Both means must come from the same draw of
    the input noise (`Representer.mean` with the same ``input_eps``). With different draws, the distance also contains
    the difference of the draws, which does not depend on the sentences.

    Parameters
    ----------
    mu, mu_other : Tensor of shape (batch, time, d)
        Representations before output noise and unit length.
    std : Tensor of shape (d,)
        Standard deviation of the output noise. If the standard deviation is 0 and the means differ, d' is infinite.
    mask : BoolTensor of shape (batch, time)
        True at tokens.

    Returns
    -------
    Tensor of shape (batch,)
        Distance d' of each pair, not negative. The gradient is finite for positive ``std``, and 0 if both means are
        equal.

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
    # Equal means have distance 0 even without noise, so 0 / 0 must not make the distance undefined.
    # shape: (batch, time, d): whitened, so that the noise is a standard Gaussian and the two sentences differ by a
    # shift
    scaled = difference / torch.where(difference == 0.0, 1.0, std)
    # A norm, not the root of a sum of squares: at 0, PyTorch's norm has the gradient 0, and the root has an infinite
    # slope.
    return torch.linalg.vector_norm(scaled.flatten(1), dim=1)


def attack_accuracy(distance: Tensor) -> Tensor:
    """Compute the accuracy of the best attacker on pairs at this distance, ``Phi(d' / 2)``: from 0.5 (chance) to 1.

    Phi is concave for d' >= 0. The accuracy at the mean distance is therefore at least the mean of the accuracies, and
    a bound on the mean d' also bounds the mean accuracy.

    Parameters
    ----------
    distance : Tensor of any shape
        Distance d', not negative.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import attack_accuracy
    >>> attack_accuracy(torch.tensor([0.0, 0.2, 2.0])).tolist()  # doctest: +ELLIPSIS
    [0.5, 0.539..., 0.841...]
    """
    # Neyman-Pearson: with equal priors and two Gaussians at distance d', the best test cuts halfway, and is right with
    # Phi(d' / 2).
    return torch.special.ndtr(distance / 2.0)


def distance_of_accuracy(accuracy: float) -> float:
    """Compute the distance d' at which the best attacker has this accuracy: the inverse of `attack_accuracy`.

    Parameters
    ----------
    accuracy : float
        Accuracy from 0.5 (d' = 0, which needs infinite noise) to 1 (d' infinite).

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
    """Compute the distance d' for several releases of a sentence, each with new noise: ``sqrt(r) d'``.

    Squared distances of independent releases add up. The function assumes that all squared distances are equal. With
    input noise, the squared distances differ a little between draws; the exact value is then the root of the sum of
    ``d'^2`` over the releases.

    Parameters
    ----------
    distance : Tensor of any shape
        Distance d' of a single release.
    n_releases : int
        r, number of releases, at least 1.

    Raises
    ------
    ValueError
        If ``n_releases`` is not a whole number of at least 1.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import released_r_times
    >>> released_r_times(torch.tensor([0.5]), 4).tolist()
    [1.0]
    """
    if not isinstance(n_releases, Integral) or n_releases < 1:
        raise ValueError(f"The 'n_releases' parameter must be a whole number of at least 1. Got {n_releases!r}.")
    # r independent releases stack to one Gaussian in r times as many dimensions: the squared distances add up.
    return math.sqrt(n_releases) * distance


def sampling_slack(std: Tensor, n_tokens: int) -> float:
    """Compute the accuracy that an attacker gains from finite precision on one release of a sentence.

    Sampled noise is not exactly Gaussian. If Gaussian noise and sampled noise are rounded to the public grid, their
    total variation distance is at most ``2^-49 max(64, std / step)`` for each coordinate; ``step`` is the step of the
    grid. The coordinates of a release are independent, so their total variation distances add up. No attacker's
    accuracy changes by more than the sum of these distances.

    Parameters
    ----------
    std : Tensor of shape (d,)
        Standard deviation of the output noise.
    n_tokens : int
        Number of tokens of the longest sentence.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import sampling_slack
    >>> sampling_slack(torch.ones(50), 20) < 1e-9
    True
    """
    # Sum over the coordinates of a token, times the number of tokens; fewer than 64 boundaries count as 64.
    values = std.detach().double().cpu()
    return n_tokens * _SLACK * float((values / grid_step(values.numpy())).clamp(min=_FEWEST).sum())


@dataclass(frozen=True)
class PrivacyBound:
    """Accuracy of the best possible attacker on the releases of a representer.

    The attacker knows two candidates and the network, sees the releases of one candidate, and decides which candidate
    was released; 0.5 is chance. The first metrics are about random pairs: two sentences that differ in one replaced
    token, which is drawn from the PHI tokens that can be replaced. The metrics of random pairs are about tokens, not
    about patients, and are the smallest metrics. The parts are bounds on stronger attackers, and data that the bound
    does not cover. A part is None if it was not computed, for example in bounds that were saved by earlier versions.
    All metrics hold for noise that is exactly Gaussian and cannot be predicted. `representations.bound` lists the cases
    that the bound covers and does not cover.

    Attributes
    ----------
    n_pairs, n_releases : int
        Number of pairs, each of another sentence, and number of releases (r) of each sentence.
    mean_accuracy : Estimate
        Mean over the pairs of ``Phi(d' / 2)``, with a 95 % interval for other pairs of the same kind.
    quantile : float
        Share of the pairs whose accuracy is at most ``quantile_accuracy``.
    quantile_accuracy : Estimate
        Quantile of the accuracy over the pairs, with an interval from order statistics.
    largest_accuracy : float
        Largest accuracy among the drawn pairs.
    mean_distance : float
        Mean d' of a single release.
    slack : float
        Part of each accuracy that covers the finite precision of the noise (`representations.sampling_slack`), for the
        longest sentence and all releases. The slack is 0 in bounds that were saved before noise was rounded to a grid.
    patients : PartBound or None
        Patients, with all replaceable PHI tokens of a patient replaced at once, in one release. Squared distances add
        up over the sentences of a patient. Equal sentences count once.
    patients_repeated : PartBound or None
        Patients, with all replaceable PHI tokens replaced at once, in several releases.
    worst_neighbor : PartBound or None
        Sentences in which the attacker picks the token and the neighbour.
    unknown_word : PartBound or None
        Random pairs in which the token is replaced by a word without a vector.
    pairs_with_casing : Estimate or None
        Mean accuracy over the random pairs of an attacker who also sees the released casing.
    coverage : PhiCoverage or None
        PHI tokens that the bound covers and does not cover.
    casing : CasingDisclosure or None
        Casing that is released together with the vectors.
    has_patients : bool or None
        Whether the patients of the sentences were known. If the patients are unknown, each sentence counts as a patient
        of its own, and the metrics of patients are too small.
    utility : mapping of str to float or None
        F1 of a recipient's tagger and of the provider's tagger on the same sentences, under the names of
        `representations.recipient_scores`. None if no recipient's tagger was trained, as in ``bound_``: its sentences
        were used in the training of the provider's tagger.
    """

    n_pairs: int
    n_releases: int
    mean_accuracy: Estimate
    quantile: float
    quantile_accuracy: Estimate
    largest_accuracy: float
    mean_distance: float
    slack: float = 0.0
    patients: PartBound | None = None
    patients_repeated: PartBound | None = None
    worst_neighbor: PartBound | None = None
    unknown_word: PartBound | None = None
    pairs_with_casing: Estimate | None = None
    coverage: PhiCoverage | None = None
    casing: CasingDisclosure | None = None
    has_patients: bool | None = None
    utility: Mapping[str, float] | None = field(default=None, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, for JSON; an estimate becomes ``NAME``, ``NAME_low`` and ``NAME_high``.

        A part becomes a mapping. Parts that were not computed are left out.
        """
        return plain_numbers(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyBound:
        """Make a bound from the numbers that `to_dict` returned."""
        names = ("mean_accuracy", "quantile_accuracy", "pairs_with_casing")
        numbers = with_estimates(plain, names, plain["n_pairs"])
        parts = {name: _PARTS[name].from_dict(numbers[name]) for name in _PARTS if name in numbers}
        return cls(**{**numbers, **parts})

    def __repr__(self) -> str:
        lines = [f"{title}: {part}" for title, part in self._rows() if part is not None]
        return "\n  ".join([f"{type(self).__name__}: accuracy of the best possible attacker (guessing: 0.5)", *lines])

    def _rows(self) -> list[tuple[str, Any]]:
        """Return titles and parts, strongest attackers first."""
        mean, beside = self.mean_accuracy, self.pairs_with_casing
        pairs = PartBound(
            self.n_pairs, self.n_releases, mean, self.quantile, self.quantile_accuracy, self.largest_accuracy
        )
        sentences = "" if self.has_patients else " (patients unknown: each sentence is one)"
        return [
            (f"all PHI of a patient moved{sentences}", self.patients),
            (f"the same, released again{sentences}", self.patients_repeated),
            ("attacker picks token and neighbour", self.worst_neighbor),
            ("word with a vector against word without", self.unknown_word),
            ("one random token moved to a random neighbour", replace(pairs, mean_with_casing=beside)),
            ("not covered", self.coverage),
            ("casing", self.casing),
            ("strict F1 with types on the same sentences", self._f1()),
        ]

    def _f1(self) -> str:
        if self.utility is None:
            return "not measured; certify(X, y, recipients_of=...) trains a recipient's tagger"
        recipient, provider = (self.utility[f"{name}_strict_f1"] for name in ("recipient", "provider"))
        return f"recipient {recipient:.3f}, provider {provider:.3f}"


_PARTS: dict[str, Any] = {
    **dict.fromkeys(("patients", "patients_repeated", "worst_neighbor", "unknown_word"), PartBound),
    "coverage": PhiCoverage,
    "casing": CasingDisclosure,
}


def twin_distance(representer: Representer, batch: PairBatch, generator: torch.Generator) -> Tensor:
    """Compute the distance d' between each sentence of a batch of pairs and its counterfactual, shape (n_pairs,)."""
    # The same input noise for both members: otherwise d' would also measure the difference of two draws.
    eps = representer.input_noise.draw(batch.embeddings, generator)
    # shape: (n_pairs, time, d)
    mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)
    moved = representer.mean(batch.moved, batch.mask, input_eps=eps)
    return pair_distance(mu, moved, representer.output_std(), batch.mask)


@plain_torch()
@torch.no_grad()
def pair_distances(
    representer: Representer, batches: PairBatches, generator: torch.Generator, *, n_draws: int = 1
) -> Tensor:
    """Compute the distance d' between each sentence and its counterfactual.

    Parameters
    ----------
    representer : Representer
        Representer whose means and noise determine the distances.
    batches : PairBatches
        Sentences of the pairs. Sentences without a token that can be replaced are skipped.
    generator : torch.Generator
        Source of the counterfactuals, and of the input noise, which sentence and counterfactual share.
    n_draws : int, default=1
        Number of counterfactuals that are drawn for each sentence.

    Returns
    -------
    Tensor of shape (n_draws * n_pairs,)
        Distances, on the device of the batches.
    """
    found = [torch.zeros(0, device=batches.device)]
    for _ in range(n_draws):
        pairs = batches.epoch(None, generator, sentences="pairs")
        found += [twin_distance(representer, batch, generator) for batch in pairs]
    return torch.cat(found)


def pair_slack(representer: Representer, batches: PairBatches) -> float:
    """Compute the slack of one release of the longest sentence that has a pair, for `privacy_bound`.

    Parameters
    ----------
    representer : Representer
        Representer whose output noise is sampled.
    batches : PairBatches
        Sentences of the pairs.
    """
    return sampling_slack(representer.output_std(), batches.longest_pair)


def pairs_bound(
    representer: Representer, batches: PairBatches, generator: torch.Generator, **options: Any
) -> PrivacyBound:
    """Bound the accuracy of the best attacker on sentences and their counterfactuals.

    Parameters
    ----------
    representer, batches, generator
        As for `pair_distances`.
    **options
        Number of releases and quantile, as for `privacy_bound`.
    """
    distances = pair_distances(representer, batches, generator)
    return privacy_bound(distances, slack=pair_slack(representer, batches), **options)


def privacy_bound(
    distances: Tensor, *, n_releases: int = 1, quantile: float = 0.95, slack: float = 0.0
) -> PrivacyBound:
    """Summarise the distances of pairs as a bound on the best attacker.

    Parameters
    ----------
    distances : Tensor of shape (n,)
        Distance d' of each pair (`pair_distances`), at least one.
    n_releases : int, default=1
        r, number of releases of each sentence; d' grows by the square root of r.
    quantile : float in (0, 1), default=0.95
        Quantile of the accuracy that is reported in addition to the mean.
    slack : float, default=0.0
        Accuracy that is added for each release, because sampled noise differs from Gaussian noise
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
    accuracies = attack_accuracy(released_r_times(distances.double(), n_releases))  # shape: (n,)
    part = PartBound.of(accuracies, n_releases=n_releases, quantile=quantile, slack=n_releases * slack, few_cases=False)
    return PrivacyBound(
        n_pairs=part.n_cases,
        n_releases=n_releases,
        mean_accuracy=part.mean_accuracy,
        quantile=quantile,
        quantile_accuracy=part.quantile_accuracy,
        largest_accuracy=part.largest_accuracy,
        mean_distance=float(distances.mean()),
        slack=part.slack,
    )


@dataclass(frozen=True)
class WorstCase:
    """Pair of words for which the best attacker is most accurate.

    Attributes
    ----------
    gdp_mu : float
        Largest d' over all examined words and their N nearest words. One release is mu-Gaussian differentially private
        with this mu. Neighbouring sentences differ in one token, which is replaced by one of these N nearest words.
    accuracy : float
        Accuracy of the best attacker on the worst pair: ``Phi(mu / 2)`` plus the slack of the one vector that differs.
    n_words, n_pairs : int
        Number of examined words and of examined pairs.
    """

    gdp_mu: float
    accuracy: float
    n_words: int
    n_pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, for JSON."""
        return asdict(self)


@plain_torch()
@torch.no_grad()
def worst_case(representer: Representer, vectors: WordVectors, moves: Any, words: Any = None) -> WorstCase:
    """Find the largest distance d' between any given word and a word by which the word may be replaced.

    Parameters
    ----------
    representer : Representer
        Representer of kind "dense", without noise at its input.
    vectors : WordVectors
        Word vectors that the representer reads.
    moves : UniformNeighbors or DigitsApart
        Map from each word to the words by which the word may be replaced.
    words : sequence of str, optional
        Words to examine. By default all words that have a vector.

    Raises
    ------
    ValueError
        If none of the words has a neighbour: an accuracy of one half would seem to be a proof.
    """
    rows = np.arange(len(vectors)) if words is None else np.unique(vectors.indices(words))
    rows = rows[rows >= 0]
    # Words without a vector all have one mean, and have no neighbours.
    rows = rows[vectors.vectors_at(rows).any(axis=1)]
    means = _means(representer, vectors)
    largest, n_pairs = 0.0, 0
    for start in range(0, len(rows), _WORDS_AT_ONCE):
        block = rows[start : start + _WORDS_AT_ONCE]
        targets, _ = moves.support(block)
        for row, near in zip(block.tolist(), targets, strict=True):
            near = near[near >= 0]
            if len(near):
                squared = ((means[near] - means[row]) ** 2).sum(axis=1)  # shape: (N,), d'^2 of one token replaced
                # The word itself is among its neighbours, at distance 0: it does not count as a pair.
                largest, n_pairs = max(largest, float(squared.max())), n_pairs + int((near != row).sum())
    if not n_pairs:
        raise ValueError("None of the words has a vector with neighbours, so that there is no worst case over them.")
    mu = float(np.sqrt(largest))
    accuracy = float(attack_accuracy(torch.tensor(mu, dtype=torch.float64)))
    accuracy = min(1.0, accuracy + sampling_slack(representer.output_std(), 1))
    return WorstCase(mu, accuracy, len(rows), n_pairs)


def _means(representer: Representer, vectors: WordVectors) -> np.ndarray:
    """Compute the mean of every word's representation in units of the noise, shape (n_words, d)."""
    device = representer.project.weight.device
    std = representer.output_std()
    parts = []
    for block in vectors.blocks():
        x = torch.from_numpy(np.ascontiguousarray(block)).to(device) * float(np.sqrt(vectors.dim))
        # Sentences of a single word: a dense network reads each token alone, so other words change nothing.
        # shape: (n, 1, dim) to (n, 1, d)
        mu = representer.mean(x.unsqueeze(1), torch.ones(len(x), 1, dtype=torch.bool, device=device))
        parts.append((mu.squeeze(1) / std).cpu().numpy())
    return np.concatenate(parts)
