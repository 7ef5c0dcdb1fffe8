"""skorch callbacks for the training of a tagger: learning rate, averaged weights and early stopping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from skorch import NeuralNet
from skorch.callbacks import Callback
from torch import Tensor, nn


class MovingAverage:
    """Exponential moving average of the weights of a network over the training steps.

    The averaged weights usually predict better than the weights of a single step.

    Parameters
    ----------
    module : nn.Module
        Network with the weights to average.
    decay : float in [0, 1), default=0.998
        Weight of the old average at each step. The weight is smaller during the first steps. With a decay of 0, the
        average equals the current weights.

    Attributes
    ----------
    weights : list of Tensor
        Averaged weights, in the order of the parameters of the network.
    n_steps : int
        Number of steps in the average.

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
        # The average does not store the network: a copy of the average in another process belongs to another network.
        self.decay, self.n_steps = decay, 0
        self.weights = [p.detach().clone() for p in module.parameters()]

    @torch.no_grad()
    def update(self, module: nn.Module) -> None:
        """Add the weights after a training step to the average."""
        self.n_steps += 1
        # With the full decay from the first step on, the random initial weights would stay in the average for long.
        decay = min(self.decay, (1 + self.n_steps) / (10 + self.n_steps))
        for mean, p in zip(self.weights, module.parameters(), strict=True):
            mean.lerp_(p, 1.0 - decay)

    @contextmanager
    def in_place(self, module: nn.Module) -> Iterator[None]:
        """Use the averaged weights inside a with block. The current weights return at the end of the block."""
        # Clones, because `keep` overwrites the parameters in place.
        current = [p.detach().clone() for p in module.parameters()]
        self.keep(module)
        try:
            yield
        finally:
            _put(module, current)

    def keep(self, module: nn.Module) -> None:
        """Replace the weights of the network by the average."""
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
        Number of epochs of the decay, counted from the start of this training. None keeps the rate constant.
    warmup_steps : int, default=200
        Number of batches until the full rate, limited to a tenth of the whole training.
    share : float, default=1.0
        Factor of all rates, for a training that starts from trained weights.
    added_epochs : float, default=0.0
        Size of all altered copies of the training, relative to the size of an epoch without copies.
    even_epochs : bool, default=False
        Whether the rate falls by the same amount in each epoch, for epochs that read different parts of the data. By
        default, the rate falls by the same amount in each batch, and the first epoch determines the number of batches.
    """

    def __init__(
        self,
        n_epochs: int | None,
        warmup_steps: int = 200,
        share: float = 1.0,
        added_epochs: float = 0.0,
        even_epochs: bool = False,
    ) -> None:
        self.n_epochs, self.warmup_steps, self.share = n_epochs, warmup_steps, share
        self.added_epochs, self.even_epochs = added_epochs, even_epochs

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.base_, self.step_, self.total_ = [g["lr"] for g in net.optimizer_.param_groups], 0, 0

    def on_batch_begin(self, net: NeuralNet, batch: Any = None, training: bool = False, **kwargs: Any) -> None:
        if not training or self.n_epochs is None:
            return
        if not self.total_:
            # The number of batches differs a little between epochs, so that the rate of the last steps may be zero.
            self.total_ = round((self.n_epochs + self.added_epochs) * net.n_training_batches_)
        warmup = min(self.warmup_steps, self.total_ // 10) or 1
        # The factor rises to 1 during the warm-up and falls to 0 at the end. The factor is the smaller of the two
        # lines.
        factor = self.share * min((self.step_ + 1) / warmup, max(0.0, 1.0 - self.step_ / self.total_))
        for group, base in zip(net.optimizer_.param_groups, self.base_, strict=True):
            group["lr"] = base * factor
        self.step_ += self.total_ / self.n_epochs / net.n_training_batches_ if self.even_epochs else 1

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        # The given rate returns, because a later partial_fit would otherwise continue with a rate near zero.
        for group, base in zip(net.optimizer_.param_groups, self.base_, strict=True):
            group["lr"] = base


class WeightAverage(Callback):
    """Exponential moving average of the weights. The trained tagger keeps the average.

    Parameters
    ----------
    decay : float, default=0.998
        Weight of the old average at each step. The weight is smaller during the first steps.

    See Also
    --------
    MovingAverage : Average without skorch. During training, ``moving_`` is a `MovingAverage`.
    """

    def __init__(self, decay: float = 0.998) -> None:
        self.decay = decay

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.moving_ = MovingAverage(net.module_, self.decay)

    def on_batch_end(self, net: NeuralNet, batch: Any = None, training: bool = False, **kwargs: Any) -> None:
        if training:
            self.moving_.update(net.module_)

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.moving_.keep(net.module_)
        del self.moving_


class EarlyStoppingOnF1(Callback):
    """Stop training if F1 on held-out patients no longer improves, and restore the best weights.

    This callback stores the averaged weights and must follow `WeightAverage` in the list of callbacks.

    Parameters
    ----------
    patience : int or None
        Number of epochs without a better ``valid_f1`` after which training stops. With None, training never stops
        early, but the best weights are still restored.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.best_f1_, self.waited_ = -1.0, 0
        # A copy of the weights, not of the net: skorch would copy optimizer and history, too.
        self.best_weights_: list[Tensor] | None = None

    def on_epoch_end(self, net: NeuralNet, **kwargs: Any) -> None:
        f1 = net.history[-1].get("valid_f1")
        if f1 is None:
            return
        self.waited_ += 1
        if f1 > self.best_f1_:
            self.best_f1_, self.waited_ = f1, 0
        # An epoch with an F1 of 0 is not the best epoch: if no epoch finds a span, the last weights have learned most.
        if f1 and not self.waited_:
            # The F1 belongs to the averaged weights, so that these weights are the best weights.
            with net.averaged_weights():
                self.best_weights_ = [p.detach().clone() for p in net.module_.parameters()]
        if self.patience is not None and self.waited_ >= self.patience:
            # The early stopping of skorch ends its training loop with the same exception.
            raise KeyboardInterrupt

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        if self.best_weights_ is not None:
            _put(net.module_, self.best_weights_)
        del self.best_weights_
