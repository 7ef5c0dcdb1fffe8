"""Dual variables that steer a bounded training towards the requested bounds on random pairs."""

from __future__ import annotations

import math

import torch
from scipy.stats import binom
from torch import Tensor

from .bound import distance_of_accuracy, pair_distances
from .bounded_settings import BoundedSettings
from .network import Representer
from .pair_batches import PairBatches

_LARGEST_STEP = 1.0  # largest step of a log dual variable in an epoch, in units of the rate, against single bad epochs
_LOG_PRICES = (math.log(1e-4), math.log(1e2))  # range of the log dual variables
DRAWS = 4  # number of twins of each sentence for scaling the noise
_CONFIDENCE, UPPER = 0.95, 1.645  # confidence of one-sided limits, and its quantile of the normal distribution
_LARGEST_QUANTILE = 0.98  # with few sentences, a larger quantile would fit the noise to the most extreme sentence


class DualVariables:
    """Dual variables (lambda) of the two bounds on random pairs, also called prices.

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

    twins = "one"  # kind of twins in training

    def __init__(self, settings: BoundedSettings) -> None:
        self.settings = settings
        self.mean_allowed = distance_of_accuracy(settings.max_attack_accuracy)
        asked = settings.quantile_attack_accuracy
        self.tail_allowed = math.inf if asked is None else distance_of_accuracy(asked)
        self.mean, self.tail = settings.prices[0], 0.0 if asked is None else settings.prices[1]

    def measured(
        self, representer: Representer, valid: PairBatches | None, generator: torch.Generator, seen: Tensor
    ) -> Tensor:
        """Return the distances that the dual variables follow: of held-out pairs, or those seen in the epoch.

        Parameters
        ----------
        representer : Representer
            Representer after an epoch.
        valid : PairBatches or None
            Held-out sentences.
        generator : torch.Generator
            Random stream of twins and input noise.
        seen : Tensor of shape (n_pairs,)
            Distances of the training pairs at the time of their batch.
        """
        if valid is None or not len(valid.pair_rows):
            return seen
        return pair_distances(representer, valid, generator)

    def noise_factor(self, representer: Representer, batches: PairBatches, generator: torch.Generator) -> float:
        """Return the factor by which the noise must grow for sentences like these to keep the bounds.

        Mean and quantile are upper 95 % limits for other sentences of the same kind. A factor of 1 or less means that
        the bounds hold already.
        """
        distances = pair_distances(representer, batches, generator, n_draws=DRAWS)
        return self.excess(distances, len(batches.pair_rows))

    def cost(self, distance: Tensor) -> Tensor:
        """Compute the penalty of a batch: its mean distance, and its excess over the distance allowed at the quantile.

        The tail term is a hinge, since a quantile itself has no useful gradient.
        """
        cost = self.mean * distance.mean() / self.mean_allowed
        if self.tail:
            cost = cost + self.tail * torch.relu(distance - self.tail_allowed).mean() / self.tail_allowed
        return cost

    def follow(self, distances: Tensor) -> None:
        """Raise or lower the dual variables after an epoch with these distances."""
        self.mean = self._moved(self.mean, float(distances.mean()) / self.mean_allowed)
        if self.tail:
            beyond = float((distances > self.tail_allowed).float().mean())
            self.tail = self._moved(self.tail, beyond / (1.0 - self.settings.quantile))

    def excess(self, distances: Tensor, n_sentences: int | None = None) -> float:
        """Compute the factor by which the noise must grow for both bounds to hold; 1 or less if they hold already.

        ``n_sentences`` is the number of sentences behind the distances. With ``n_sentences``, mean and quantile are
        upper 95 % limits for other sentences of the same kind. The limit of the quantile needs about 200 sentences to
        reach 95 %.
        """
        mean = distances.mean()
        if n_sentences:
            # The draws of a sentence are dependent, so the standard error counts sentences, not draws.
            mean = mean + UPPER * distances.std(correction=0) / math.sqrt(n_sentences)
        factor = float(mean) / self.mean_allowed
        return max(factor, self._tail_factor(distances, n_sentences)) if self.tail else factor

    def _tail_factor(self, distances: Tensor, n_sentences: int | None) -> float:
        """Compute the factor of `excess` for the bound on the quantile alone."""
        quantile = self.settings.quantile
        if n_sentences:
            # The rank is the order statistic that exceeds the true quantile with 95 % confidence (binomial
            # distribution).
            rank = (binom.ppf(_CONFIDENCE, n_sentences, quantile) + 1) / n_sentences
            quantile = max(quantile, min(rank, _LARGEST_QUANTILE))
        return float(torch.quantile(distances, quantile)) / self.tail_allowed

    def _moved(self, price: float, ratio: float) -> float:
        # A step of the logarithm keeps the dual variable positive, and rises and falls are symmetric.
        step = min(max(math.log(max(ratio, 1e-6)), -_LARGEST_STEP), _LARGEST_STEP)
        low, high = _LOG_PRICES
        return math.exp(min(max(math.log(price) + self.settings.price_rate * step, low), high))
