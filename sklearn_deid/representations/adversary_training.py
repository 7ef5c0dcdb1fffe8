"""Training of adversaries on a representer that does not change, and their accuracy on pairs of other patients.

The trainings of the representer against adversaries use the helpers of this file: frozen modules, clipped gradients,
means over an epoch, and the deviation of an adversary from chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from .network import Representer
from .pair_adversaries import Judgement, PairAdversaries, ReleasedPairs, typical_norms
from .pair_batches import PairBatch, PairBatches
from .private_model import BestState

CLIP_NORM = 1.0  # largest length of a gradient, Friedrich et al. (2019), table 1


@contextmanager
def frozen(*modules: nn.Module) -> Iterator[None]:
    """Freeze the weights of these modules inside a ``with`` statement; gradients still pass through to layers below.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import frozen
    >>> layer = torch.nn.Linear(1, 1)
    >>> with frozen(layer):
    ...     layer.weight.requires_grad
    False
    >>> layer.weight.requires_grad
    True
    """
    # Weights that were frozen before stay frozen afterwards.
    held = [p for module in modules for p in module.parameters() if p.requires_grad]
    try:
        for p in held:
            p.requires_grad_(False)
        yield
    finally:
        for p in held:
            p.requires_grad_(True)


def check_pairs(**batches: PairBatches | None) -> None:
    """Refuse data from which adversaries cannot learn anything about replaced tokens.

    Raises
    ------
    ValueError
        If an argument holds no sentence with a token that can be replaced.
    """
    for name, some in batches.items():
        if some is not None and not len(some.pair_rows):
            raise ValueError(
                f"The {name} data hold no sentence with a token of PHI that can move, so there are no pairs for an "
                "adversary. Check the tags and the embeddings, or give more patients."
            )


def step(optimizer: torch.optim.Optimizer, loss: Tensor, longest: float = CLIP_NORM) -> None:
    """Take an optimizer step on the loss, with the gradient of the optimizer's weights clipped to a length."""
    optimizer.zero_grad()
    loss.backward()
    # The norm is taken over all weights together, which keeps the direction of the step.
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], longest)
    optimizer.step()


def chance_deviation(cross_entropy: Tensor) -> Tensor:
    """Compute an adversary's deviation from guessing, ``mean |l_adv - ln 2|`` over pairs, as in the paper's code.

    The deviation is 0 only if the adversary's probability is one half for every pair.

    Parameters
    ----------
    cross_entropy : Tensor of shape (n,)
        l_adv of each pair.

    References
    ----------
    Friedrich et al. (2019), section 5.4, equation 2.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import chance_deviation
    >>> losses = torch.tensor([0.2, 1.2]) + 0.6931
    >>> round(chance_deviation(losses - 0.7).item(), 3)
    0.5
    """
    # Both signs count: answers that are worse than guesses are right once they are inverted.
    return (cross_entropy - math.log(2.0)).abs().mean()


class RunningMeans:
    """Means over an epoch. The sums stay on the device, and only `compute` transfers them to the host."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._counts: dict[str, int] = {}

    def add(self, n: int, **means: Tensor) -> None:
        """Add scalars that are means over n items each."""
        for name, value in means.items():
            # The last batch is smaller, so that means are weighted by their n. In double precision, since an epoch sums
            # thousands.
            self._sums[name] = self._sums.get(name, 0.0) + n * value.detach().double()
            self._counts[name] = self._counts.get(name, 0) + n

    def add_judgement(self, judgement: Judgement) -> None:
        """Add "<name>_accuracy" and "<name>_loss" of each adversary and of the average."""
        n = len(judgement.real)
        for name in judgement.logits:
            self.add(n, **{f"{name}_accuracy": judgement.accuracy(name)})
            self.add(n, **{f"{name}_loss": judgement.cross_entropy(name).mean()})

    def compute(self, prefix: str = "") -> dict[str, float]:
        """Return the means as numbers, in the order of their first addition."""
        if not self._sums:
            return {}
        # One transfer for all sums: on a GPU each transfer waits until all queued work is done.
        sums = torch.stack(list(self._sums.values())).tolist()
        return {prefix + k: v / self._counts[k] for k, v in zip(self._sums, sums, strict=True)}


class AdversaryOptimizer:
    """NAdam with separate state for each judge, so that no adversary slows down another adversary.

    A judge is an adversary with its own loss, or the average of the paper's two adversaries.

    Parameters
    ----------
    adversaries : PairAdversaries
        Adversaries to train.
    lr : float
        Learning rate.
    """

    def __init__(self, adversaries: PairAdversaries, lr: float) -> None:
        self.adversaries = adversaries
        self._weights = {
            judge: [p for module in adversaries.modules_of(judge) for p in module.parameters()]
            for judge in adversaries.judges
        }
        # One optimizer for each judge, since gradients are clipped by their common length: with a single optimizer, the
        # judge with the largest gradient would shorten the steps of the others.
        self._optimizers = [torch.optim.NAdam(weights, lr=lr) for weights in self._weights.values()]

    def learning_loss(self, judgement: Judgement) -> Tensor:
        """Sum the judges' losses; the judges share no weights, so each judge learns from its own loss alone."""
        losses = [judgement.cross_entropy(judge).mean() for judge in self.adversaries.judges]
        return torch.stack([*losses, *judgement.auxiliary.values()]).sum()

    def zero_grad(self) -> None:
        """Reset all gradients."""
        for optimizer in self._optimizers:
            optimizer.zero_grad()

    def apply(self) -> None:
        """Take a step with the current gradients."""
        for weights, optimizer in zip(self._weights.values(), self._optimizers, strict=True):
            nn.utils.clip_grad_norm_(weights, CLIP_NORM)
            optimizer.step()

    def learn(self, pairs: ReleasedPairs) -> Judgement:
        """Take a step on pairs whose representations need no gradient; return the judgement before the step."""
        self.zero_grad()
        judgement = self.adversaries(pairs)
        self.learning_loss(judgement).backward()
        self.apply()
        return judgement


@dataclass(frozen=True)
class AdversarySettings:
    """Kind and schedule of adversaries that are trained on a representer that does not change.

    Parameters
    ----------
    kind, tasks, template, hidden_size
        Networks of the adversaries; see `PairAdversaries`.
    n_epochs : int, default=50
        Largest number of epochs.
    patience : int, optional
        Number of epochs after which the training stops if no judge improves on the held-out pairs. None never stops
        early.
    lr : float, default=2e-3
        Learning rate of NAdam.
    max_pairs : int, optional
        Number of sentences in an epoch, drawn anew each time. By default all sentences with a counterfactual are used.
    select : {"accuracy", "loss"}, default="accuracy"
        Criterion on the held-out pairs that selects the best epoch of each judge.

    Raises
    ------
    ValueError
        If ``select`` is unknown.
    """

    kind: str = "strong"
    tasks: tuple[str, ...] = ("t1", "t2")
    template: str = "noisy"
    hidden_size: int | None = None
    n_epochs: int = 50
    patience: int | None = None
    lr: float = 2e-3
    max_pairs: int | None = None
    select: str = "accuracy"

    def __post_init__(self) -> None:
        if self.select not in ("accuracy", "loss"):
            raise ValueError(f"The 'select' parameter must be accuracy or loss. Got {self.select!r}.")


def new_adversaries(
    settings: AdversarySettings, representer: Representer, train: PairBatches, generator: torch.Generator
) -> PairAdversaries:
    """Make adversaries for a representer, on the device of the batches.

    Strong adversaries scale their input by the typical length of vectors, which this function measures.
    """
    adversaries = PairAdversaries(
        representer.input_noise.size,
        representer.output_noise.size,
        kind=settings.kind,
        tasks=settings.tasks,
        template=settings.template,
        hidden_size=settings.hidden_size,
        norms=typical_norms(representer, train, generator),
    )
    return adversaries.to(train.device)


@torch.no_grad()
def measure_pairs(
    adversaries: PairAdversaries,
    representer: Representer,
    batches: PairBatches,
    generator: torch.Generator,
) -> dict[str, float]:
    """Measure adversaries on newly drawn pairs, without training them.

    Returns
    -------
    dict
        "<name>_accuracy" and "<name>_loss" of every adversary, and "<judge>_deviation" of every judge
        (`chance_deviation`).
    """
    means = RunningMeans()
    for batch in batches.epoch(None, generator, sentences="pairs"):
        judgement = adversaries(adversaries.draw(representer, batch, generator))
        means.add_judgement(judgement)
        for judge in adversaries.judges:
            deviation = chance_deviation(judgement.cross_entropy(judge))
            means.add(len(judgement.real), **{f"{judge}_deviation": deviation})
    return means.compute()


def fit_adversaries(
    adversaries: PairAdversaries,
    representer: Representer,
    train: PairBatches,
    valid: PairBatches | None,
    *,
    settings: AdversarySettings,
    rng: np.random.Generator,
    generator: torch.Generator,
    record: Callable[..., None] | None = None,
) -> dict[str, int]:
    """Train adversaries in place on a frozen representer; each judge ends with its best weights.

    The best weights are also restored after an interrupt.

    Parameters
    ----------
    adversaries : PairAdversaries
        Fresh or trained adversaries. The initial state of the adversaries counts as epoch 0.
    representer : Representer
        Representer to attack.
    train, valid : PairBatches
        Sentences of different patients. Without held-out pairs, the last epoch is kept.
    settings : AdversarySettings
        Settings; only the schedule is used.
    rng, generator
        Random streams: ``rng`` for the order of sentences, ``generator`` for counterfactuals and noise.
    record : callable, optional
        Function that is called with the metrics of each epoch.

    Returns
    -------
    dict of str to int
        Best epoch of each judge; 0 is the initial state.
    """
    best = _BestOfJudges(adversaries, settings.select)
    optimizer = AdversaryOptimizer(adversaries, settings.lr)

    def measure(epoch: int) -> dict[str, float]:
        numbers = {} if valid is None else measure_pairs(adversaries, representer, valid, generator)
        best.offer(epoch, numbers)
        return {f"valid_{k}": v for k, v in numbers.items()}

    with frozen(representer):
        try:
            # The initial state may be the best state: a trained adversary can get worse on a new representer.
            measure(0)
            for epoch in range(1, settings.n_epochs + 1):
                batches = train.epoch(rng, generator, sentences="pairs", max_pairs=settings.max_pairs)
                numbers = _epoch(optimizer, representer, batches, generator) | measure(epoch)
                if record is not None:
                    record(**numbers)
                if settings.patience is not None and epoch - max(best.epochs.values()) >= settings.patience:
                    break
        finally:
            best.restore()
    return best.epochs


def _epoch(
    optimizer: AdversaryOptimizer,
    representer: Representer,
    batches: Iterator[PairBatch],
    generator: torch.Generator,
) -> dict[str, float]:
    means = RunningMeans()
    for batch in batches:
        with torch.no_grad():
            # Without a graph: the representer does not learn here.
            pairs = optimizer.adversaries.draw(representer, batch, generator)
        means.add_judgement(optimizer.learn(pairs))
    return means.compute()


class _BestOfJudges:
    """Best weights of each judge, selected separately, since the judges may peak in different epochs."""

    def __init__(self, adversaries: PairAdversaries, select: str) -> None:
        self.select = select
        self._states = {judge: BestState(*adversaries.modules_of(judge)) for judge in adversaries.judges}
        self.epochs = dict.fromkeys(self._states, 0)

    def offer(self, epoch: int, numbers: dict[str, float]) -> None:
        for judge, state in self._states.items():
            if not numbers:  # no held-out pairs: the score falls with each epoch, so the last epoch is kept
                score = -float(epoch)
            elif self.select == "accuracy":
                score = -numbers[f"{judge}_accuracy"]
            else:
                score = numbers[f"{judge}_loss"]
            if state.offer(score):
                self.epochs[judge] = epoch

    def restore(self) -> None:
        for state in self._states.values():
            state.restore()
