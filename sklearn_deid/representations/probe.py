"""Attack a trained representer: train adversaries on it, and measure their accuracy on pairs of other patients.

A probe is one attack by one kind of network. High accuracy proves that the representation leaks information. Accuracy
at chance is evidence of privacy only if the same adversary succeeds when nothing is hidden (`positive_control`). Even
if the control succeeds, stronger attackers may be more accurate. The bound of
`sklearn_deid.representations.pair_distance` holds for all attackers.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from .._randomness import own_torch_stream
from ..metrics import Estimate
from .adversary_training import AdversarySettings, RunningMeans, check_pairs, fit_adversaries, frozen, new_adversaries
from .network import Representer
from .noise import GaussianNoise
from .pair_adversaries import PairAdversaries
from .pair_batches import PairBatches
from .private_model import TrainingLog

# Smallest accuracy that an adversary must reach where nothing is hidden. A less accurate adversary is too weak: its
# failure does not show that a representation hides anything.
CONTROL_BAR = 0.90


@dataclass(frozen=True, repr=False)
class ProbeResult:
    """Result of `train_probe`: accuracies of newly trained adversaries.

    Attributes
    ----------
    accuracies : dict of str to Estimate
        Share of the pairs that each adversary judged correctly; half of the pairs are real, half are fake. Keys are
        "t1", "t2", and for the paper's kind "average". The pairs are new draws from the held-out sentences on which the
        epoch was selected. To measure on sentences on which nothing was selected, use `pair_accuracy`. The interval is
        Wilson's at 95 %. The interval assumes independent pairs, so names that occur in many sentences make the
        interval too narrow. The interval does not include the variation between trainings.
    adversaries : PairAdversaries
        Trained adversaries, each judge with the weights of its best epoch.
    continued : bool
        Whether the adversaries had been trained before the probe.
    epochs : dict of str to int
        Epoch of the weights of each adversary; 0 for an adversary that was not trained further.
    """

    accuracies: dict[str, Estimate]
    adversaries: PairAdversaries
    continued: bool
    epochs: dict[str, int] = field(default_factory=dict)

    @property
    def strongest(self) -> Estimate:
        """Accuracy of the most accurate attack."""
        return max(self.accuracies.values(), key=lambda found: found.value)

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {v.value:.3f} [{v.low:.3f}, {v.high:.3f}]" for k, v in self.accuracies.items())
        return f"ProbeResult({found}, n={self.strongest.n}, continued={self.continued})"


@torch.no_grad()
def pair_accuracy(
    adversaries: PairAdversaries,
    representer: Representer,
    batches: PairBatches,
    generator: torch.Generator,
) -> dict[str, Estimate]:
    """Measure the accuracy of trained adversaries on one real and one fake pair of each sentence with PHI.

    Parameters
    ----------
    adversaries : PairAdversaries
        Trained adversaries.
    representer : Representer
        Representer to attack. The adversaries may have been trained on another representer.
    batches : PairBatches
        Sentences of the pairs. Use patients who were used neither to train the adversaries nor to select an epoch.
    generator : torch.Generator
        Source of the counterfactuals and of the noise.

    Returns
    -------
    dict of str to Estimate
        Accuracy of each adversary and each judge.

    Raises
    ------
    ValueError
        If no sentence has a token that can be replaced.
    """
    check_pairs(given=batches)
    means, n = RunningMeans(), 0
    for batch in batches.epoch(None, generator, sentences="pairs"):
        judgement = adversaries(adversaries.draw(representer, batch, generator))
        means.add_judgement(judgement)
        n += len(judgement.real)
    shares = means.compute()
    names = dict.fromkeys((*adversaries.tasks, *adversaries.judges))
    return {name: Estimate.from_counts(round(shares[f"{name}_accuracy"] * n), n) for name in names}


def train_probe(
    representer: Representer,
    train: PairBatches,
    valid: PairBatches,
    *,
    settings: AdversarySettings | None = None,
    continue_from: PairAdversaries | None = None,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog | None = None,
) -> ProbeResult:
    """Train adversaries on a representer; the representer does not change.

    Parameters
    ----------
    representer : Representer
        Representer to attack.
    train, valid : PairBatches
        Sentences on which the adversaries are trained, and sentences of other patients. The best epoch is selected on
        the sentences of ``valid``, and the accuracy is measured on new draws of their pairs.
    settings : AdversarySettings, optional
        Kind and schedule of the adversaries; by default the strong T1 and T2, 50 epochs.
    continue_from : PairAdversaries, optional
        Adversaries of any kind. A copy of these adversaries is trained further with a new optimizer, as in the paper.
        By default, new adversaries are trained. Adversaries that are trained from scratch are often stronger: an
        adversary that was trained together with the representer may remain in a poor solution.
    rng, generator
        Random streams: ``rng`` for the order of sentences, ``generator`` for counterfactuals and noise, on the device
        of the batches.
    log : TrainingLog, optional
        Log that receives a row "probe" for each epoch.

    Raises
    ------
    ValueError
        If there are no pairs.

    References
    ----------
    Friedrich et al. (2019), section 9: 50 more epochs.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.representations import AdversarySettings, PairBatches, PairData, train_probe
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> batches, generator = PairBatches(data), torch.Generator().manual_seed(0)
    >>> result = train_probe(Representer(4, 3), batches, batches, settings=AdversarySettings(n_epochs=1),
    ...                      rng=np.random.default_rng(0), generator=generator)
    >>> sorted(result.accuracies), result.strongest.n, result.continued
    (['t1', 't2'], 2, False)
    """
    check_pairs(train=train, valid=valid)
    settings = settings or AdversarySettings()
    record = None if log is None else partial(log.record, "probe")
    with own_torch_stream(rng, train.device), frozen(representer):
        if continue_from is None:
            adversaries = new_adversaries(settings, representer, train, generator)
        else:
            adversaries = copy.deepcopy(continue_from).to(train.device)
        epochs = fit_adversaries(
            adversaries, representer, train, valid, settings=settings, rng=rng, generator=generator, record=record
        )
        # New draws: on the draws that selected the best of many epochs, the accuracy would be too high.
        accuracies = pair_accuracy(adversaries, representer, valid, generator)
    # The paper's adversaries share a loss, so they are trained and selected together, under the name "average".
    chosen = {name: epochs.get(name, epochs.get("average", 0)) for name in accuracies}
    return ProbeResult(accuracies, adversaries, continue_from is not None, chosen)


def positive_control(
    representer: Representer,
    train: PairBatches,
    valid: PairBatches,
    *,
    settings: AdversarySettings | None = None,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog | None = None,
) -> ProbeResult:
    """Run the probe on a representer without noise, on which the probe must succeed.

    Parameters
    ----------
    representer : Representer
        Private representer, whose noise is left out. The two representations of a sentence are then equal, and every
        comparison detects equal vectors. A stricter control is `train_probe` on a representer that was trained without
        an adversary.
    train, valid, settings, rng, generator, log
        As for `train_probe`.
    """
    subject = copy.deepcopy(representer)
    subject.input_noise = GaussianNoise(subject.input_noise.size, kind="none").to(train.device)
    subject.output_noise = GaussianNoise(subject.output_noise.size, kind="none").to(train.device)
    return train_probe(subject, train, valid, settings=settings, rng=rng, generator=generator, log=log)
