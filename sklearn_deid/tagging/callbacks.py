"""skorch callbacks that steer the training of a tagger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from skorch import NeuralNet
from skorch.callbacks import Callback
from torch import Tensor, nn


class MovingAverage:
    """Mean of a network's weights over its last steps, which usually predicts better than the weights of one step.

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


class LearningRateDecay(Callback):
    """Linear warm-up, then linear decay to zero at the end of training.

    Parameters
    ----------
    n_epochs : int or None
        Epochs over which the rate decays; counted from the start of this training. None keeps the rate constant.
    warmup_steps : int, default=200
        Batches until the full rate is reached; at most a tenth of the whole training.
    """

    def __init__(self, n_epochs: int | None, warmup_steps: int = 200) -> None:
        self.n_epochs, self.warmup_steps = n_epochs, warmup_steps

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.base_, self.step_, self.total_ = [g["lr"] for g in net.optimizer_.param_groups], 0, 0

    def on_batch_begin(self, net: NeuralNet, batch: Any = None, training: bool = False, **kwargs: Any) -> None:
        if not training or self.n_epochs is None:
            return
        if not self.total_:
            # The number of batches differs a little between epochs, so the rate of the last steps may be zero.
            self.total_ = self.n_epochs * net.n_training_batches_
        warmup = min(self.warmup_steps, self.total_ // 10) or 1
        factor = min((self.step_ + 1) / warmup, max(0.0, 1.0 - self.step_ / self.total_))
        for group, base in zip(net.optimizer_.param_groups, self.base_, strict=True):
            group["lr"] = base * factor
        self.step_ += 1

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        for group, base in zip(net.optimizer_.param_groups, self.base_, strict=True):
            group["lr"] = base


class WeightAverage(Callback):
    """Exponential moving average of the weights. The trained tagger keeps the average.

    Parameters
    ----------
    decay : float, default=0.998
        Share of the old average kept at each step; smaller during the first steps.

    See Also
    --------
    MovingAverage : The average, in ``moving_`` during training.
    """

    def __init__(self, decay: float = 0.998) -> None:
        self.decay = decay

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.moving_ = MovingAverage(net.module_, self.decay)

    def on_batch_end(self, net: NeuralNet, batch: Any = None, training: bool = False, **kwargs: Any) -> None:
        if training:
            self.moving_.update(net.module_)

    def averaged(self, net: NeuralNet) -> AbstractContextManager[None]:
        """Put the average into the module for a while."""
        return self.moving_.in_place(net.module_)

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.moving_.keep(net.module_)
        del self.moving_


class EarlyStoppingOnF1(Callback):
    """Stop when the F1 on held-out patients has not risen for some epochs, and restore the best weights.

    Comes after `WeightAverage` in the list of callbacks, because it stores the averaged weights.

    Parameters
    ----------
    patience : int or None
        Epochs without a better ``valid_f1`` until training stops; None never stops, but still restores the best.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.best_f1_, self.waited_ = -1.0, 0
        self.best_weights_: list[Tensor] | None = None

    def on_epoch_end(self, net: NeuralNet, **kwargs: Any) -> None:
        f1 = net.history[-1].get("valid_f1")
        if f1 is None:
            return
        self.waited_ += 1
        if f1 > self.best_f1_:
            self.best_f1_, self.waited_ = f1, 0
            with net.averaged_weights():
                self.best_weights_ = [p.detach().clone() for p in net.module_.parameters()]
        if self.patience is not None and self.waited_ >= self.patience:
            raise KeyboardInterrupt  # how skorch's own early stopping leaves the loop

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        if self.best_weights_ is not None:
            _put(net.module_, self.best_weights_)
        del self.best_weights_
