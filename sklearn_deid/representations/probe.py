"""Attack a finished representer: train adversaries on it, and see how often they are right on others' pairs.

A probe is one attack by one kind of network. High accuracy proves that something leaks; accuracy at chance proves
something only if the same adversary is right where nothing is hidden (`positive_control`), and even then nothing of
stronger attackers. The bound of `sklearn_deid.representations.pair_distance` holds for all of them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from .._torch_streams import own_torch_stream
from .adversary_training import AdversarySettings, RunningMeans, check_pairs, fit_adversaries, frozen, new_adversaries
from .network import Representer
from .noise import GaussianNoise
from .pair_adversaries import PairAdversaries
from .pair_batches import PairBatches
from .private_model import TrainingLog

__all__ = ["CONTROL_BAR", "AttackAccuracy", "ProbeResult", "pair_accuracy", "positive_control", "train_probe"]

# An adversary that compares two representations must be right this often where they hide nothing; one that is not
# cannot show that they hide something.
CONTROL_BAR = 0.90
_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution


@dataclass(frozen=True)
class AttackAccuracy:
    """Share of pairs of which an adversary said rightly whether they are real; half of them are.

    Attributes
    ----------
    accuracy, low, high : float
        With its 95 % interval (Wilson). It takes pairs as independent: names that return in many sentences make it too
        narrow, and it holds nothing of how the accuracy varies between trainings.
    n : int
        Number of pairs, real and fake.
    epoch : int or None
        Epoch of the adversary's weights; 0 if it was not trained further.

    Examples
    --------
    >>> from sklearn_deid.representations import AttackAccuracy
    >>> found = AttackAccuracy.from_counts(50, 100)
    >>> round(found.low, 3), round(found.high, 3), found.at_chance
    (0.404, 0.596, True)
    """

    accuracy: float
    low: float
    high: float
    n: int
    epoch: int | None = None

    @classmethod
    def from_counts(cls, n_right: int, n: int, epoch: int | None = None) -> AttackAccuracy:
        """Accuracy of n answers, at least one."""
        share, spread = n_right / n, _Z**2 / n
        middle = (share + spread / 2) / (1 + spread)
        half = _Z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
        return cls(share, middle - half, middle + half, n, epoch)

    @property
    def at_chance(self) -> bool:
        """Whether one half lies in the interval."""
        return self.low <= 0.5 <= self.high


@dataclass(frozen=True, repr=False)
class ProbeResult:
    """What a probe found.

    Attributes
    ----------
    accuracies : dict of str to AttackAccuracy
        "t1", "t2", and for the paper's kind "average", on pairs drawn anew from the held-out sentences by which the
        epoch was chosen. For sentences that chose nothing: `pair_accuracy`.
    adversaries : PairAdversaries
        Each judge at its best epoch.
    continued : bool
        Whether they had been trained before.
    control : ProbeResult or None
        The same probe where nothing is hidden.
    """

    accuracies: dict[str, AttackAccuracy]
    adversaries: PairAdversaries
    continued: bool
    control: ProbeResult | None = None

    @property
    def strongest(self) -> AttackAccuracy:
        """The attack that was right most often."""
        return max(self.accuracies.values(), key=lambda found: found.accuracy)

    @property
    def control_accuracy(self) -> float | None:
        """T2's accuracy in the control; None without a control or without T2."""
        found = None if self.control is None else self.control.accuracies.get("t2")
        return None if found is None else found.accuracy

    @property
    def control_passed(self) -> bool | None:
        """Whether that is at least 0.90, without which an accuracy at chance proves nothing."""
        return None if self.control_accuracy is None else self.control_accuracy >= CONTROL_BAR

    def with_control(self, control: ProbeResult) -> ProbeResult:
        """This result beside that of `positive_control`."""
        return replace(self, control=control)

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {v.accuracy:.3f} [{v.low:.3f}, {v.high:.3f}]" for k, v in self.accuracies.items())
        return (
            f"ProbeResult({found}, n={self.strongest.n}, continued={self.continued}, control={self.control_accuracy})"
        )


@torch.no_grad()
def pair_accuracy(
    adversaries: PairAdversaries,
    representer: Representer,
    batches: PairBatches,
    generator: torch.Generator,
    epochs: dict[str, int] | None = None,
) -> dict[str, AttackAccuracy]:
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
    epochs : dict of str to int, optional
        What to note as the epoch of each judge.

    Returns
    -------
    dict of str to AttackAccuracy

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
    shares, epochs = means.compute(), epochs or {}
    names = dict.fromkeys((*adversaries.tasks, *adversaries.judges))
    return {
        name: AttackAccuracy.from_counts(
            round(shares[f"{name}_accuracy"] * n), n, epochs.get(name, epochs.get("average"))
        )
        for name in names
    }


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
        accuracies = pair_accuracy(adversaries, representer, valid, generator, epochs)
    return ProbeResult(accuracies, adversaries, continue_from is not None)


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
