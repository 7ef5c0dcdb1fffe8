"""Dual variables that steer a bounded training towards the requested bounds on random pairs."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from .bound import distance_of_accuracy, pair_distances
from .bounded_settings import BoundedSettings
from .confidence_limits import mean_limit, share_limit
from .network import Representer
from .pair_batches import PairBatches
from .twin_distances import twin_distances

_LARGEST_STEP = 1.0  # largest step of a log dual variable in an epoch, in units of the rate, against single bad epochs
_LOG_PRICES = (math.log(1e-4), math.log(1e2))  # range of the log dual variables
# Number of counterfactuals of each sentence for scaling the noise. The distances of a sentence's counterfactuals differ
# more than the means of sentences, so that more counterfactuals make the limits tighter.
DRAWS = 16
# Levels of the quantile that are tried, as shares of the pairs beyond the requested quantile. With few sentences, a
# smaller share would fit the noise to the most extreme sentence.
_LEVELS = np.linspace(0.4, 1.0, 61)


class DualVariables:
    """Dual variables (lambda) of the two bounds on random pairs.

    A dual variable weights a distance that is given in units of the allowed distance.

    Parameters
    ----------
    settings : BoundedSettings
        Bounds, initial values and adaptation rate.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import DualVariables, BoundedSettings
    >>> duals = DualVariables(BoundedSettings(prices=(1.0, 1.0)))
    >>> duals.follow(torch.full((100,), 9.0))
    >>> duals.mean > 1.0 and duals.tail > 1.0
    True
    """

    twins = "one"  # kind of counterfactuals in training

    def __init__(self, settings: BoundedSettings) -> None:
        self.settings = settings
        self.mean_allowed = distance_of_accuracy(settings.max_attack_accuracy)
        asked = settings.quantile_attack_accuracy
        self.tail_allowed = math.inf if asked is None else distance_of_accuracy(asked)
        self.mean, self.tail = settings.prices[0], 0.0 if asked is None else settings.prices[1]

    def measured(
        self, representer: Representer, valid: PairBatches | None, generator: torch.Generator, seen: Tensor
    ) -> Tensor:
        """Return the distances to which the dual variables adapt: of held-out pairs, or of the pairs of the epoch.

        Parameters
        ----------
        representer : Representer
            Representer after an epoch.
        valid : PairBatches or None
            Held-out sentences.
        generator : torch.Generator
            Random stream of counterfactuals and input noise.
        seen : Tensor of shape (n_pairs,)
            Distances of the training pairs at the time of their batch.
        """
        if valid is None or not len(valid.pair_rows):
            return seen
        return pair_distances(representer, valid, generator)

    def noise_factor(self, representer: Representer, batches: PairBatches, generator: torch.Generator) -> float:
        """Return the factor by which the noise must grow so that sentences of similar patients keep the bounds.

        If the bounds hold already, the factor is 1 or less.
        """
        return self.factor_for_others(*drawn_pairs(representer, batches, generator))

    def factor_for_others(self, distances: np.ndarray, groups: np.ndarray) -> float:
        """Compute the factor by which the noise must grow so that the upper 95 % confidence limits keep both bounds.

        The limits are for sentences of other patients of the same kind (`mean_limit`, `share_limit`). With few
        patients, the confidence for the quantile is below 95 %. The noise is then scaled so that two fifths of the
        allowed share of pairs lie beyond the requested distance.

        Parameters
        ----------
        distances : ndarray of shape (n_draws, n)
            Distances of the drawn counterfactuals of each sentence.
        groups : ndarray of shape (n,)
            Patient of each sentence.
        """
        # d' is proportional to 1 / std, so that noise that grows by a factor divides every distance by this factor.
        factor = mean_limit(distances.mean(axis=0), groups) / self.mean_allowed
        return max(factor, self._tail_for_others(distances, groups)) if self.tail else factor

    def cost(self, distance: Tensor) -> Tensor:
        """Compute the penalty of a batch: its mean distance, and its excess over the distance allowed at the quantile.

        The penalty of the quantile is a hinge, since a quantile itself has no useful gradient.
        """
        # Divided by the allowed distance, so that a dual variable means the same for every requested accuracy.
        cost = self.mean * distance.mean() / self.mean_allowed
        if self.tail:
            # A quantile has no useful gradient. The mean excess beyond the quantile (as in conditional value at risk)
            # has a gradient in every batch.
            cost = cost + self.tail * torch.relu(distance - self.tail_allowed).mean() / self.tail_allowed
        return cost

    def follow(self, distances: Tensor) -> None:
        """Raise or lower the dual variables after an epoch with these distances."""
        self.mean = self._moved(self.mean, float(distances.mean()) / self.mean_allowed)
        if self.tail:
            # The share beyond, not the excess, is what the bound on a quantile states: the excess only gives the
            # direction.
            beyond = float((distances > self.tail_allowed).float().mean())
            self.tail = self._moved(self.tail, beyond / (1.0 - self.settings.quantile))

    def excess(self, distances: Tensor) -> float:
        """Compute the factor by which the noise must grow for both bounds to hold; 1 or less if they hold already."""
        factor = float(distances.mean()) / self.mean_allowed
        if not self.tail:
            return factor
        # One factor scales all distances alike: the larger of the two satisfies both bounds.
        return max(factor, float(torch.quantile(distances, self.settings.quantile)) / self.tail_allowed)

    def _tail_for_others(self, distances: np.ndarray, groups: np.ndarray) -> float:
        """Compute the factor of `factor_for_others` for the bound on the quantile alone."""
        beyond = 1.0 - self.settings.quantile
        tried = np.quantile(distances, 1.0 - beyond * _LEVELS)  # from large to small
        allowed = tried[0]
        for distance in tried[1:]:
            # From large to small: the first level whose upper limit is too high ends the search, since all smaller ones
            # have more beyond.
            if share_limit(distances > distance, groups) > beyond:
                break
            allowed = distance
        return float(allowed) / self.tail_allowed

    def _moved(self, price: float, ratio: float) -> float:
        # A step of the logarithm keeps the dual variable positive, and rises and falls are symmetric.
        step = min(max(math.log(max(ratio, 1e-6)), -_LARGEST_STEP), _LARGEST_STEP)
        low, high = _LOG_PRICES
        return math.exp(min(max(math.log(price) + self.settings.price_rate * step, low), high))


def drawn_pairs(
    representer: Representer, batches: PairBatches, generator: torch.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of 16 counterfactuals of each sentence, (16, n), and the patient of each sentence, (n,).

    Parameters
    ----------
    representer : Representer
        Representer whose means and noise give the distances.
    batches : PairBatches
        Sentences. Sentences without a token that can be replaced are skipped.
    generator : torch.Generator
        Random stream of the counterfactuals and of the input noise, on the device of the batches.
    """
    draws = [twin_distances(representer, batches, generator) for _ in range(DRAWS)]
    return np.stack([draw.distances for draw in draws]), batches.patients[draws[0].rows]
