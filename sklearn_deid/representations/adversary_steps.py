"""Steps of adversaries and against them: what is frozen, how losses are summed, how far from chance they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from .pair_adversaries import Judgement, PairAdversaries, ReleasedPairs
from .pair_batches import PairBatches

__all__ = ["CLIP_NORM", "AdversaryOptimizer", "RunningMeans", "chance_deviation", "check_pairs", "frozen", "step"]

CLIP_NORM = 1.0  # largest length of a gradient, Friedrich et al. (2019), table 1


@contextmanager
def frozen(*modules: nn.Module) -> Iterator[None]:
    """Weights of these modules take no gradient for a while; gradients still pass through to what is below.

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
    held = [p for module in modules for p in module.parameters() if p.requires_grad]
    try:
        for p in held:
            p.requires_grad_(False)
        yield
    finally:
        for p in held:
            p.requires_grad_(True)


def check_pairs(**batches: PairBatches | None) -> None:
    """Refuse data from which nothing can be learned about moved tokens.

    Raises
    ------
    ValueError
        If one of the arguments holds no sentence with a token that can move.
    """
    for name, some in batches.items():
        if some is not None and not len(some.pair_rows):
            raise ValueError(
                f"The {name} data hold no sentence with a token of PHI that can move, so there are no pairs for an "
                "adversary. Check the tags and the embeddings, or give more patients."
            )


def step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """One step down the loss, with the gradient of the optimizer's weights scaled to a length of at most 1."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], CLIP_NORM)
    optimizer.step()


def chance_deviation(cross_entropy: Tensor, per: str = "sample") -> Tensor:
    """How far an adversary is from guessing: ``mean |l_adv - ln 2|`` over pairs, or ``|mean l_adv - ln 2|``.

    Parameters
    ----------
    cross_entropy : Tensor of shape (n,)
        l_adv of each pair.
    per : {"sample", "batch"}, default="sample"
        "sample", as the paper's code, is 0 only where the adversary says one half of every pair. "batch" is another
        reading of the paper; it is also 0 where sure right and wrong answers balance.

    References
    ----------
    Friedrich et al. (2019), section 5.4, equation 2.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import chance_deviation
    >>> losses = torch.tensor([0.2, 1.2]) + 0.6931
    >>> [round(chance_deviation(losses - 0.7, per).item(), 3) for per in ("sample", "batch")]
    [0.5, 0.0]
    """
    excess = cross_entropy - math.log(2.0)
    return excess.abs().mean() if per == "sample" else excess.mean().abs()


class RunningMeans:
    """Means over an epoch. Sums stay on the device; `compute` is the one transfer to the host."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._counts: dict[str, int] = {}

    def add(self, n: int, **means: Tensor) -> None:
        """Add scalars that are means over n items each."""
        for name, value in means.items():
            self._sums[name] = self._sums.get(name, 0.0) + n * value.detach().double()
            self._counts[name] = self._counts.get(name, 0) + n

    def add_judgement(self, judgement: Judgement) -> None:
        """Add "<name>_accuracy" of every adversary and "<judge>_loss" of it."""
        n = len(judgement.real)
        for name in judgement.logits:
            self.add(n, **{f"{name}_accuracy": judgement.accuracy(name)})
            self.add(n, **{f"{name}_loss": judgement.cross_entropy(name).mean()})

    def compute(self, prefix: str = "") -> dict[str, float]:
        """The means as numbers, in the order in which they came first."""
        if not self._sums:
            return {}
        sums = torch.stack(list(self._sums.values())).tolist()
        return {prefix + k: v / self._counts[k] for k, v in zip(self._sums, sums, strict=True)}


class AdversaryOptimizer:
    """NAdam with state of its own for each judge, so that no adversary slows another down.

    Parameters
    ----------
    adversaries : PairAdversaries
    lr : float
    """

    def __init__(self, adversaries: PairAdversaries, lr: float) -> None:
        self.adversaries = adversaries
        self._weights = {
            judge: [p for module in adversaries.modules_of(judge) for p in module.parameters()]
            for judge in adversaries.judges
        }
        self._optimizers = [torch.optim.NAdam(weights, lr=lr) for weights in self._weights.values()]

    def learning_loss(self, judgement: Judgement) -> Tensor:
        """Sum of the judges' losses; their weights are disjoint, so each learns from its own alone."""
        losses = [judgement.cross_entropy(judge).mean() for judge in self.adversaries.judges]
        return torch.stack([*losses, *judgement.auxiliary.values()]).sum()

    def zero_grad(self) -> None:
        """Forget gradients."""
        for optimizer in self._optimizers:
            optimizer.zero_grad()

    def apply(self) -> None:
        """One step from the gradients that are there."""
        for weights, optimizer in zip(self._weights.values(), self._optimizers, strict=True):
            nn.utils.clip_grad_norm_(weights, CLIP_NORM)
            optimizer.step()

    def learn(self, pairs: ReleasedPairs) -> Judgement:
        """One step on pairs whose representation takes no gradient; what was said before it."""
        self.zero_grad()
        judgement = self.adversaries(pairs)
        self.learning_loss(judgement).backward()
        self.apply()
        return judgement
