"""Exponential moving average of a network's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

__all__ = ["MovingAverage"]


class MovingAverage:
    """The mean of a network's weights over its last steps, which is usually better than the weights of any one step.

    Parameters
    ----------
    module : nn.Module
    decay : float in [0, 1), default=0.998
        Share of the old average kept at each step; smaller during the first steps. 0 keeps the weights as they are.

    Attributes
    ----------
    weights : list of Tensor
        The averages, in the order of the network's parameters.
    n_steps : int
        Steps taken in.

    References
    ----------
    Polyak & Juditsky (1992), Acceleration of stochastic approximation by averaging.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.tagging import MovingAverage
    >>> layer = torch.nn.Linear(1, 1, bias=False)
    >>> average = MovingAverage(layer, decay=0.5)
    >>> start = layer.weight.item()
    >>> with torch.no_grad():
    ...     _ = layer.weight.add_(1.0)
    >>> average.update(layer)
    >>> with average.in_place(layer):
    ...     start < layer.weight.item() < start + 1.0
    True
    >>> round(layer.weight.item() - start, 4)
    1.0
    """

    def __init__(self, module: nn.Module, decay: float = 0.998) -> None:
        # The network is handed in each time: a copy in another process has another one.
        self.decay, self.n_steps = decay, 0
        self.weights = [p.detach().clone() for p in module.parameters()]

    @torch.no_grad()
    def update(self, module: nn.Module) -> None:
        """Take in the weights after a step."""
        self.n_steps += 1
        # A long memory would hold on to the random weights of the start.
        decay = min(self.decay, (1 + self.n_steps) / (10 + self.n_steps))
        for mean, p in zip(self.weights, module.parameters(), strict=True):
            mean.lerp_(p, 1.0 - decay)

    @contextmanager
    def in_place(self, module: nn.Module) -> Iterator[None]:
        """Put the average into the network for a while."""
        current = [p.detach().clone() for p in module.parameters()]
        self.keep(module)
        try:
            yield
        finally:
            _put(module, current)

    def keep(self, module: nn.Module) -> None:
        """Put the average into the network for good."""
        _put(module, self.weights)


@torch.no_grad()
def _put(module: nn.Module, values: list[torch.Tensor]) -> None:
    for p, value in zip(module.parameters(), values, strict=True):
        p.copy_(value)
