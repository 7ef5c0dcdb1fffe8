"""How well anyone can tell from which of two sentences a noisy representation was made: a bound, not an attack.

Given its input noise, a representation before unit length is Gaussian: mean mu, and in each dimension the standard
deviation of the output noise. For two Gaussians of equal spread the best test is known (Neyman & Pearson), so the
accuracy of the best possible attacker follows from one number, the distance d' of the two means in units of the noise.
Nothing is trained, nothing can be overlooked, and d' has a gradient, so it can be a loss.

What the bound covers
---------------------
Noise that is exactly Gaussian and cannot be predicted, and an attacker with any amount of computation who owns the
network and its weights, knows both candidate sentences, is told the input noise that was drawn, sees one release, and
holds both candidates for equally likely: accuracy at most
``attack_accuracy(pair_distance(...))`` for this pair. Whoever is not told the input noise does no better than the
average of this accuracy over its draws. Whatever is done to the released vectors afterwards, unit length above all,
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
* Whoever can tell the keystream of ChaCha20 from chance. That numbers of a computer are no real numbers is covered:
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

import torch
from torch import Tensor

from .._randomness import grid_step

__all__ = ["attack_accuracy", "distance_of_accuracy", "pair_distance", "released_r_times", "sampling_slack"]

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
    difference = torch.where(mask.unsqueeze(2), mu - mu_other, 0.0)
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
