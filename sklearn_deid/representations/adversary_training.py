"""Training of adversaries on a representer that does not change, and what they say on other patients' pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from .adversary_steps import AdversaryOptimizer, RunningMeans, frozen
from .network import Representer
from .pair_adversaries import PairAdversaries, typical_norms
from .pair_batches import PairBatch, PairBatches
from .private_model import BestState

__all__ = ["AdversarySettings", "fit_adversaries", "measure_pairs", "new_adversaries"]


@dataclass(frozen=True)
class AdversarySettings:
    """Which adversaries, and how long they are trained on a representer that does not change.

    Parameters
    ----------
    kind, tasks, template, hidden_size
        See `PairAdversaries`.
    n_epochs : int, default=50
    patience : int, optional
        Epochs in which no judge does better on the held-out pairs, after which training stops; None never stops.
    lr : float, default=2e-3
        Of NAdam.
    max_pairs : int, optional
        Sentences of an epoch, drawn anew each time; by default all that have a twin.
    select : {"accuracy", "loss"}, default="accuracy"
        What is best on the held-out pairs; the best epoch is kept for each judge.

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
    """Adversaries that fit a representer, on the device of the batches; vectors are measured for the strong ones."""
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
    per: str = "sample",
) -> dict[str, float]:
    """What adversaries say of pairs drawn anew, without learning from them.

    Returns
    -------
    dict
        "<name>_accuracy" and "<name>_loss" of every adversary, "<judge>_deviation" of every judge: `chance_deviation`,
        with "batch" over all pairs at once.
    """
    means = RunningMeans()
    for batch in batches.epoch(None, generator, sentences="pairs"):
        judgement = adversaries(adversaries.draw(representer, batch, generator))
        means.add_judgement(judgement)
        for judge in adversaries.judges:
            excess = judgement.cross_entropy(judge) - math.log(2.0)
            means.add(len(excess), **{f"{judge}_deviation": (excess.abs() if per == "sample" else excess).mean()})
    return {k: abs(v) if k.endswith("_deviation") else v for k, v in means.compute().items()}


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
    """Train adversaries in place on a frozen representer; each judge is left at its best epoch, interrupted or not.

    Parameters
    ----------
    adversaries : PairAdversaries
        Fresh, or trained before: where it starts counts as epoch 0.
    representer : Representer
    train, valid : PairBatches
        Without held-out pairs there is no best epoch: the last is kept.
    settings : AdversarySettings
        Of which only the schedule is read.
    rng, generator
        Order of sentences; twins and noise.
    record : callable, optional
        Called with the numbers of each epoch.

    Returns
    -------
    dict of str to int
        Best epoch of each judge; 0 for the start.
    """
    best = _BestOfJudges(adversaries, settings.select)
    optimizer = AdversaryOptimizer(adversaries, settings.lr)

    def measure(epoch: int) -> dict[str, float]:
        numbers = {} if valid is None else measure_pairs(adversaries, representer, valid, generator)
        best.offer(epoch, numbers)
        return {f"valid_{k}": v for k, v in numbers.items()}

    with frozen(representer):
        try:
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
            pairs = optimizer.adversaries.draw(representer, batch, generator)
        means.add_judgement(optimizer.learn(pairs))
    return means.compute()


class _BestOfJudges:
    """The best weights of each judge by themselves: one may peak early, the other late."""

    def __init__(self, adversaries: PairAdversaries, select: str) -> None:
        self.select = select
        self._states = {judge: BestState(*adversaries.modules_of(judge)) for judge in adversaries.judges}
        self.epochs = dict.fromkeys(self._states, 0)

    def offer(self, epoch: int, numbers: dict[str, float]) -> None:
        for judge, state in self._states.items():
            if not numbers:  # nothing held out to choose by
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
