"""The certified bound as a row in the table of attacks, and the check that no attack exceeds the bound.

The bound is not an attack. The bound is the accuracy of the best possible attacker on random pairs, provided that
nobody can predict the noise; see `sklearn_deid.representations.pair_distance`. If an attack exceeds the bound, either
the attack or the bound is wrong, and the audit is invalid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from ...representations.bound import (
    PrivacyBound,
    attack_accuracy,
    pair_distances,
    pair_slack,
    privacy_bound,
    released_r_times,
)
from ...representations.pair_batches import PairBatches
from ...representations.part_bound import mean_accuracy, published_numbers
from ..audit_data import random_streams
from ..protocol import AttackResult
from ..released_step import REPRESENTATION
from .declaration import AttackPreset, AuditAttack, timed
from .pairs import PairKnowledge, PairRelease

_OTHER_NOTES = 0.05  # by which the mean bound of other notes may exceed the stated bound
_SMALLER = "The best attacker is right in {:.0%} of random pairs on the mean; the representer states {:.0%}."


class CertifiedBound(AuditAttack):
    """Mean accuracy of the best possible attacker who distinguishes a sentence from a sentence with a replaced token.

    Parameters
    ----------
    n_releases : int, default=1
        Number r of releases of each sentence.
    quantile : float in (0, 1), default=0.95
        Level of the quantile of the accuracy over the pairs; `details` contains this quantile.
    n_draws : int, default=4
        Number of replacements drawn from each sentence. The input noise is drawn separately for each replacement.
    batch_size : int, default=32
        Number of sentences in a batch.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the replacements and of the noise.

    Attributes
    ----------
    bound_ : PrivacyBound
        The bound; available after `attack`.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.audit.attacks import CertifiedBound, PairKnowledge, PairRelease
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.representations import PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> knowledge = PairKnowledge(Representer(4, 3), data, data)
    >>> row = CertifiedBound(random_state=0).fit(knowledge).attack(PairRelease(data))
    >>> 0.5 <= row.attack.value <= 1.0, row.details["largest_accuracy"] >= row.attack.value
    (True, True)
    """

    key = "bound"
    family = "bound"
    title = "Certified bound"
    order = 10
    releases = (REPRESENTATION,)
    presets = (
        AttackPreset("bound", "Certified bound for one release", 100.0, 0.3, quick=True),
        AttackPreset("bound_releases", "Certified bound for several releases", 100.0, 0.3, repeated=True, quick=True),
    )
    phrase = "The best possible attacker distinguishes a sentence from a copy with a moved token in {} of pairs at most"
    measure = "mean accuracy of the best possible attacker who distinguishes a sentence from a copy with a moved token"
    attacker = (
        "An attacker who holds the published representer, knows both candidate sentences and the noise at the input, "
        "and sees the released vectors. They cannot predict the noise at the output. Casing, tags and prior "
        "knowledge are not covered."
    )

    def __init__(
        self,
        *,
        n_releases: int = 1,
        quantile: float = 0.95,
        n_draws: int = 4,
        batch_size: int = 32,
        random_state: Any = None,
    ) -> None:
        self.n_releases, self.quantile, self.n_draws = n_releases, quantile, n_draws
        self.batch_size, self.random_state = batch_size, random_state

    @property
    def name(self) -> str:
        """Name of the bound, with the number of releases."""
        times = "one release" if self.n_releases == 1 else f"{self.n_releases} releases"
        return f"certified bound, {times}"

    def requires(self, release: Any) -> str | None:
        """Return the reason why no bound exists: the representer has no noise at the output."""
        return None if release.is_bounded else "Without noise at the output, no attacker has a bound."

    def run(self, release: Any) -> list[AttackResult]:
        """Compute the bound for the measured sentences, and compare this bound with the bound that the release
        states."""
        result = self.fit(release.pair_knowledge).attack(release.pair_release)
        stated = getattr(release.representer, "bound_", None)
        if stated is None or stated.n_releases != self.n_releases or result.attack is None:
            return [result]
        # Other notes have other bounds: only a gross difference is a fault.
        is_wrong = result.attack.low > stated.mean_accuracy.high + _OTHER_NOTES
        return [replace(result, faults=(_SMALLER.format(result.attack.value, stated.mean_accuracy.value),) * is_wrong)]

    def fit(self, knowledge: PairKnowledge) -> CertifiedBound:
        """Store the network.

        Raises
        ------
        ValueError
            If the network has no noise at the output, because no bound on an attacker exists then.
        """
        if knowledge.representer.output_noise.kind == "none":
            raise ValueError("Without noise at the output, no attacker has a bound.")
        self._knowledge = knowledge
        return self

    @timed
    def attack(self, released: PairRelease) -> AttackResult:
        """Compute the bound for the sentences of a release, as a row in the table of attacks on the release."""
        device = self._knowledge.device
        _, generator = random_streams(self.random_state, device)
        batches = PairBatches(released.data, self.batch_size, device)
        distances = pair_distances(self._knowledge.representer, batches, generator, n_draws=self.n_draws)
        slack = pair_slack(self._knowledge.representer, batches)
        self.bound_ = _of_sentences(distances, self.n_draws, self.n_releases, self.quantile, slack)
        found = self.bound_
        published = published_numbers(found.to_dict())
        return self.result(
            found.mean_accuracy,
            0.5,
            settings={"n_releases": self.n_releases, "n_draws": self.n_draws, "pairwise": True, "bound": True},
            # With all its digits, the largest accuracy would identify a sentence to each reader of the report who has
            # the network.
            details={k: v for k, v in published.items() if k not in ("mean_accuracy", "n_releases")},
        )


def exceeds(result: AttackResult, bound: AttackResult | PrivacyBound) -> bool:
    """Whether the lower limit of the attack's interval is above the upper limit of the bound's interval.

    Parameters
    ----------
    result : AttackResult
        Result of an attack on pairs of sentences: `PairAttack`, or `LookupAttack` with
        ``measure="pairwise"``.
    bound : AttackResult of `CertifiedBound`, or PrivacyBound
        Bound for at least as many releases as the attack saw.

    Raises
    ------
    ValueError
        If the bound does not cover this attack.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit import AttackResult
    >>> from sklearn_deid.metrics import Estimate
    >>> from sklearn_deid.audit.attacks import exceeds
    >>> from sklearn_deid.representations import privacy_bound
    >>> found = AttackResult("pairs", "representation", "A recipient.", "share", Estimate.from_counts(70, 100), 0.5,
    ...                      settings={"pairwise": True, "n_releases": 1})
    >>> exceeds(found, privacy_bound(torch.full((100,), 0.2))), exceeds(found, privacy_bound(torch.full((100,), 2.0)))
    (True, False)
    """
    if not result.settings.get("pairwise") or result.settings.get("bound") or result.attack is None:
        raise ValueError(
            "The bound covers attackers who distinguish two sentences, but this attack is of another kind."
        )
    if result.settings.get("casing"):
        raise ValueError("The bound does not cover the casing, which is released without noise.")
    covered, highest = _reach(bound)
    if result.settings.get("n_releases", 1) > covered:
        raise ValueError(f"The bound holds for {covered} releases, the attack saw more.")
    return result.attack.low > highest


def _reach(bound: AttackResult | PrivacyBound) -> tuple[int, float]:
    """Return the number of releases that the bound covers, and the upper end of its interval."""
    if isinstance(bound, PrivacyBound):
        return bound.n_releases, bound.mean_accuracy.high
    if bound.attack is None or not bound.settings.get("bound"):
        raise ValueError("The 'bound' parameter must be the result of CertifiedBound. Got another one.")
    return bound.settings["n_releases"], bound.attack.high


def _of_sentences(
    distances: torch.Tensor, n_draws: int, n_releases: int, quantile: float, slack: float
) -> PrivacyBound:
    """Bound over all draws. The interval is computed from the mean of each sentence, because draws of a sentence are
    dependent."""
    # The draws of a sentence are dependent, so that each sentence counts once, with its mean.
    # shape: (n_draws * n_sentences,) to (n_sentences,)
    accuracies = attack_accuracy(released_r_times(distances.double(), n_releases)).reshape(n_draws, -1).mean(0)
    bound = privacy_bound(distances, n_releases=n_releases, quantile=quantile, slack=slack)
    mean = mean_accuracy(bound.mean_accuracy.value, accuracies)
    return replace(bound, n_pairs=len(accuracies), mean_accuracy=mean)
