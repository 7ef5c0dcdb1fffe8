"""Dual variable that steers a bounded training towards a bound on patients."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor

from .bound import attack_accuracy, distance_of_accuracy
from .bounded_settings import BoundedSettings
from .confidence_limits import mean_limit
from .dual_variables import DRAWS, DualVariables, drawn_pairs
from .network import Representer
from .pair_batches import PairBatches
from .twin_distances import twin_distances

_FACTORS = (1e-6, 1e9)  # range in which the factor of the noise is searched


class PatientDualVariables(DualVariables):
    """Dual variable (lambda) of the bound on the mean accuracy over patients.

    All replaceable PHI tokens of a patient are replaced at once. Squared distances add up over the sentences of a
    patient. A batch of sentences therefore estimates the mean squared distance of patients, without whole patients in
    the batch. The penalty is the root of the mean squared distance, in units of the allowed distance. The accuracy is
    concave in the squared distance; the accuracy at the mean squared distance is therefore at least the mean accuracy.

    Parameters
    ----------
    settings : BoundedSettings
        Bounds, initial values and adaptation rate. If a quantile is bounded, the bound is on pairs that differ in one
        token; at the end, the noise is also scaled to this bound.
    train : PairBatches
        Training sentences with their patients.

    Raises
    ------
    ValueError
        If the patients of the sentences are unknown.
    """

    twins = "all"

    def __init__(self, settings: BoundedSettings, train: PairBatches) -> None:
        if not train.has_patients:
            raise ValueError(
                "The 'unit' parameter of Bounded must be 'token' if patients are unknown. Got 'patient' instead. Pass "
                "the patient of each sentence to fit, as groups."
            )
        super().__init__(settings)
        self.tail, self._train = 0.0, train
        rows = train.pair_rows
        pairs = np.unique(np.stack([train.patients[rows], train.sentence_keys()[rows]]), axis=1)
        self._sentences = pairs.shape[1] / max(1, len(np.unique(pairs[0])))  # mean number of a patient

    def measured(
        self, representer: Representer, valid: PairBatches | None, generator: torch.Generator, seen: Tensor
    ) -> Tensor:
        """Distances of held-out patients or, without held-out patients, of training patients; shape (n_patients,)."""
        batches = self._train if valid is None or not len(valid.pair_rows) else valid
        return self._of_patients(representer, batches, generator)

    def noise_factor(self, representer: Representer, batches: PairBatches, generator: torch.Generator) -> float:
        """Return the factor by which the noise must grow so that other, similar patients keep the bounds."""
        draws = torch.stack([self._of_patients(representer, batches, generator) for _ in range(DRAWS)])
        factor = self._factor(draws, confident=True)
        if math.isfinite(self.tail_allowed):
            factor = max(factor, self._tail_for_others(*drawn_pairs(representer, batches, generator)))
        return factor

    def cost(self, distance: Tensor) -> Tensor:
        """Compute the penalty of a batch from the distances of sentences whose PHI tokens were all replaced."""
        # The norm has the gradient 0 at 0, where the root of a mean has an infinite slope.
        root = torch.linalg.vector_norm(distance) * math.sqrt(self._sentences / len(distance))
        return self.mean * root / self.mean_allowed

    def follow(self, distances: Tensor) -> None:
        """Raise or lower the dual variable after an epoch with these distances of patients."""
        accuracy = float(attack_accuracy(distances.double()).mean())
        self.mean = self._moved(self.mean, distance_of_accuracy(min(accuracy, 1.0)) / self.mean_allowed)

    def excess(self, distances: Tensor) -> float:
        """Compute the factor by which the noise must grow for the bound to hold on these patients."""
        return self._factor(distances.reshape(1, -1), confident=False)

    def _factor(self, draws: Tensor, confident: bool) -> float:
        """Compute the factor at which the mean accuracy equals the requested accuracy; draws: (n_draws, n_patients).

        With ``confident``, the upper 95 % limit of the mean for other patients must equal the requested accuracy.
        """
        draws = draws.double()
        if not bool((draws > 0.0).any()):
            return 0.0

        def above(log_factor: float) -> float:
            # shape: (n_patients,)
            accuracy = attack_accuracy(draws / math.exp(log_factor)).mean(0).numpy()
            mean = mean_limit(accuracy, np.arange(len(accuracy))) if confident else float(accuracy.mean())
            return mean - self.settings.max_attack_accuracy

        low, high = (math.log(factor) for factor in _FACTORS)
        return _FACTORS[0] if above(low) <= 0.0 else math.exp(float(brentq(above, low, high, xtol=1e-6)))

    @staticmethod
    def _of_patients(representer: Representer, batches: PairBatches, generator: torch.Generator) -> Tensor:
        found = twin_distances(representer, batches, generator, twins="all").over_patients(batches)
        return torch.from_numpy(found.distances)
