"""The parts of a privacy bound: attackers who are stronger than on one random pair, and data that the bound does not
cover.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import torch

from .._parameters import check_parameter
from ..metrics import Estimate
from .bound import PrivacyBound, attack_accuracy, sampling_slack
from .casing_disclosure import CasingDisclosure, casing_alone
from .network import Representer
from .pair_batches import PairBatches
from .part_bound import PartBound
from .phi_coverage import PhiCoverage
from .randomized_casing import accuracy_with_casing
from .twin_distances import TwinDistances, twin_distances
from .worst_neighbor import WorstNeighbors, worst_neighbors

_REPEATED = 10  # number of releases of the part on repeated releases, if a single release is requested


@dataclass(frozen=True, repr=False)
class Certificate:
    """Computation of all parts of a `PrivacyBound` for the sentences of some batches.

    Attributes
    ----------
    representer : Representer
        Representer with output noise, in evaluation mode.
    batches : PairBatches
        Sentences; at least one of them has a token that can be replaced.
    rng : numpy.random.Generator
        Random stream that samples sentences.
    generator : torch.Generator
        Random stream of counterfactuals and input noise, on the device of the batches.
    casing : CasingDisclosure
        Kind of the casing, and its epsilon.
    n_releases : int, default=1
        r, number of releases of each sentence.
    quantile : float, default=0.95
        Quantile of the accuracies that is reported in addition to the means.
    max_sentences : int or None, default=100
        Number of sentences that are sampled for the attacker who picks token and neighbour. With None, all sentences
        are taken. With 0, the part on the attacker who picks token and neighbour is left out.
    """

    representer: Representer
    batches: PairBatches
    rng: np.random.Generator
    generator: torch.Generator
    casing: CasingDisclosure
    n_releases: int = 1
    quantile: float = 0.95
    max_sentences: int | None = 100

    def __post_init__(self) -> None:
        n = self.max_sentences
        is_allowed = n is None or (isinstance(n, Integral) and not isinstance(n, bool) and n >= 0)
        check_parameter("", "max_sentences", n, is_allowed, "None or a whole number of at least 0")

    def complete(self, bound: PrivacyBound, coverage: PhiCoverage | None) -> PrivacyBound:
        """Return the bound on random pairs, completed by all other parts of the certificate.

        Parameters
        ----------
        bound : PrivacyBound
            Bound on random pairs of the same sentences.
        coverage : PhiCoverage or None
            PHI tokens of the sentences that can be replaced and cannot be replaced.
        """
        # "unknown": the token is replaced by a word without a vector, as if a rare name were compared with a common
        # name.
        pairs, unknown = (self._twins(twins) for twins in ("one", "unknown"))
        # A patient is the sequence of all their sentences with all PHI replaced: independent Gaussians, so that d'
        # squared adds up.
        patients = self._twins("all").over_patients(self.batches)
        repeated = self.n_releases if self.n_releases > 1 else _REPEATED
        with_casing = self.of_twins(pairs, self.n_releases).mean_with_casing
        return replace(
            bound,
            patients=self.of_twins(patients, 1),
            patients_repeated=self.of_twins(patients, repeated),
            worst_neighbor=None if self.max_sentences == 0 else self._of_worst(),
            # A token that becomes a word without a vector keeps its casing here, so the casing adds nothing.
            unknown_word=replace(self.of_twins(unknown, self.n_releases), mean_with_casing=None),
            pairs_with_casing=with_casing,
            coverage=coverage,
            casing=replace(
                self.casing,
                share_changed=None if with_casing is None else float((pairs.n_changed > 0).mean()),
                sentence_accuracy=self._casing_alone(),
            ),
            has_patients=self.batches.has_patients,
        )

    def of_twins(self, twins: TwinDistances, n_releases: int) -> PartBound:
        """Bound the attacker on sentences and their counterfactuals, or on patients.

        Parameters
        ----------
        twins : TwinDistances
            Distances of one release.
        n_releases : int
            Number of releases.
        """
        # r releases with independent noise equal one release with r times the squared distance, and r draws of each
        # casing.
        distances, changed = twins.distances * np.sqrt(n_releases), twins.n_changed * n_releases
        return PartBound.of(
            attack_accuracy(torch.from_numpy(distances)),
            n_releases=n_releases,
            quantile=self.quantile,
            slack=n_releases * sampling_slack(self.representer.output_std(), int(twins.n_tokens.max(initial=0))),
            with_casing=self._with_casing(distances, changed),
        )

    def _twins(self, twins: str) -> TwinDistances:
        return twin_distances(self.representer, self.batches, self.generator, twins=twins)

    def _with_casing(self, distances: np.ndarray, changed: np.ndarray) -> torch.Tensor | None:
        if self.casing.kind == "left out":
            return None
        return torch.from_numpy(accuracy_with_casing(distances, changed, self.casing.pair_epsilon))

    def _of_worst(self) -> PartBound:
        limit = self.max_sentences
        worst = worst_neighbors(self.representer, self.batches, self.rng, self.generator, max_sentences=limit)
        # shape: (n, 2), column 1 for counterfactuals whose casing differs; without such a counterfactual, d' is 0
        distances = np.maximum(worst.distances, 0.0) * np.sqrt(self.n_releases)
        return PartBound.of(
            # shape: (n,): the worst counterfactual of each sentence, whatever its casing
            attack_accuracy(torch.from_numpy(distances.max(axis=1))),
            n_releases=self.n_releases,
            quantile=self.quantile,
            slack=self.n_releases * sampling_slack(self.representer.output_std(), self.batches.longest_pair),
            with_casing=self._worst_with_casing(worst, distances),
        )

    def _worst_with_casing(self, worst: WorstNeighbors, distances: np.ndarray) -> torch.Tensor | None:
        changed = np.where(np.isfinite(worst.distances[:, 1]), self.n_releases, 0)
        # A near counterfactual with another casing may be easier to tell than the farthest counterfactual with the same
        # casing: take the larger.
        same, other = (self._with_casing(distances[:, i], n) for i, n in ((0, 0 * changed), (1, changed)))
        return None if same is None or other is None else torch.maximum(same, other)

    def _casing_alone(self) -> Estimate | None:
        parts = self.batches.casing_parts()
        if parts is None or self.casing.kind == "left out":
            return None
        return casing_alone(*parts, self.casing.pair_epsilon, self.rng)


def disclosure_of(casing: Any) -> CasingDisclosure:
    """Return the kind of casing that a ``casing`` parameter sets: a bool, or a `RandomizedCasing`.

    Examples
    --------
    >>> disclosure_of(False).kind, disclosure_of(True).kind
    ('left out', 'open')
    """
    if isinstance(casing, bool):
        return CasingDisclosure("open" if casing else "left out")
    return CasingDisclosure("randomized", float(casing.epsilon))
