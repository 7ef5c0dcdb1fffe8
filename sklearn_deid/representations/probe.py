"""Attack a finished representer: train adversaries on it, and see how often they are right on others' pairs.

A probe is one attack by one kind of network. High accuracy proves that something leaks; accuracy at chance proves
something only if the same adversary is right where nothing is hidden (`positive_control`), and even then nothing of
stronger attackers. The bound of `sklearn_deid.representations.pair_distance` holds for all of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

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

# An adversary that compares two representations must be right this often where they hide nothing; one that is not
# cannot show that they hide something.
CONTROL_BAR = 0.90


@dataclass(frozen=True, repr=False)
class ProbeResult:
    """What a probe found.

    Attributes
    ----------
    accuracies : dict of str to Estimate
        Share of pairs, real and fake, that an adversary judged rightly; half of them are real. Keys are "t1", "t2", and
        for the paper's kind "average". Measured on pairs drawn anew from the held-out sentences by which the epoch was
        chosen; for sentences that chose nothing see `pair_accuracy`. The interval is Wilson's at 95 %. It takes pairs
        as independent: names that return in many sentences make it too narrow, and it holds nothing of how the accuracy
        varies between trainings.
    adversaries : PairAdversaries
        Each judge at its best epoch.
    continued : bool
        Whether they had been trained before.
    epochs : dict of str to int
        Epoch of the weights of each adversary; 0 for one that was not trained further.
    control : ProbeResult or None
        The same probe where nothing is hidden.
    """

    accuracies: dict[str, Estimate]
    adversaries: PairAdversaries
    continued: bool
    epochs: dict[str, int] = field(default_factory=dict)
    control: ProbeResult | None = None

    @property
    def strongest(self) -> Estimate:
        """The attack that was right most often."""
        return max(self.accuracies.values(), key=lambda found: found.value)

    @property
    def control_accuracy(self) -> float | None:
        """T2's accuracy in the control; None without a control or without T2."""
        found = None if self.control is None else self.control.accuracies.get("t2")
        return None if found is None else found.value

    @property
    def control_passed(self) -> bool | None:
        """Whether that is at least 0.90, without which an accuracy at chance proves nothing."""
        return None if self.control_accuracy is None else self.control_accuracy >= CONTROL_BAR

    def with_control(self, control: ProbeResult) -> ProbeResult:
        """This result beside that of `positive_control`."""
        return replace(self, control=control)

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {v.value:.3f} [{v.low:.3f}, {v.high:.3f}]" for k, v in self.accuracies.items())
        return (
            f"ProbeResult({found}, n={self.strongest.n}, continued={self.continued}, control={self.control_accuracy})"
        )


@torch.no_grad()
def pair_accuracy(
    adversaries: PairAdversaries,
    representer: Representer,
    batches: PairBatches,
    generator: torch.Generator,
) -> dict[str, Estimate]:
    """How often trained adversaries are right on one real and one fake pair of each sentence with PHI.

    Parameters
    ----------
    adversaries : PairAdversaries
    representer : Representer
        Any: the one they were trained on, or another.
    batches : PairBatches
        Best of patients that neither chose nor trained anything.
    generator : torch.Generator
        Draws twins and noise.

    Returns
    -------
    dict of str to Estimate

    Raises
    ------
    ValueError
        If no sentence has a token that can move.
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
    """Train adversaries on a representer, which stays as it is.

    Parameters
    ----------
    representer : Representer
    train, valid : PairBatches
        What the attacker learns from, and other patients, by whom the best epoch is chosen and measured with new draws.
    settings : AdversarySettings, optional
        By default the strong T1 and T2, 50 epochs.
    continue_from : PairAdversaries, optional
        Go on with a copy of these, with a new optimizer and whatever kind they are, as the paper does. By default
        adversaries are fresh, which finds more: one that was trained together with the representer may be stuck.
    rng, generator
        Order of sentences; twins and noise, on the device of the batches.
    log : TrainingLog, optional
        Gets a row "probe" for each epoch.

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
    record = None if log is None else _recorder(log)
    with own_torch_stream(rng, train.device), frozen(representer):
        if continue_from is None:
            adversaries = new_adversaries(settings, representer, train, generator)
        else:
            adversaries = copy.deepcopy(continue_from).to(train.device)
        epochs = fit_adversaries(
            adversaries, representer, train, valid, settings=settings, rng=rng, generator=generator, record=record
        )
        # Measured anew: the best of many epochs on the same draws would look better than it is.
        accuracies = pair_accuracy(adversaries, representer, valid, generator)
    # the paper's adversaries are trained and chosen together
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
    keep_noise: bool = False,
) -> ProbeResult:
    """The same probe where it must succeed: on a representer without noise, or on one that is not private.

    Parameters
    ----------
    representer : Representer
        The private one, whose noise is left out, or with ``keep_noise=True`` one that was trained without adversary.
        The latter is the better control: without noise two representations of a sentence are equal, which every
        comparison sees.
    train, valid, settings, rng, generator, log
        As in `train_probe`.
    keep_noise : bool, default=False

    Returns
    -------
    ProbeResult
        For `ProbeResult.with_control`.
    """
    subject = copy.deepcopy(representer)
    if not keep_noise:
        subject.input_noise = GaussianNoise(subject.input_noise.size, kind="none").to(train.device)
        subject.output_noise = GaussianNoise(subject.output_noise.size, kind="none").to(train.device)
    return train_probe(subject, train, valid, settings=settings, rng=rng, generator=generator, log=log)


def _recorder(log: TrainingLog) -> Callable[..., None]:
    return lambda **numbers: log.record("probe", **numbers)
