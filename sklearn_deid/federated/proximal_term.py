"""`ProximalTerm`: keeps the network of a site near the common network while the site trains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skorch.callbacks import Callback
from torch import Tensor


class ProximalTerm(Callback):
    """Add the proximal term of FedProx to the loss of each batch: weight / 2 times the squared distance of the weights.

    The distance is measured from the weights at the start of the epoch, which a worker of federated averaging has just
    downloaded. The term is added to the gradients after clipping, so that clipping does not shrink the term.

    Parameters
    ----------
    weight : float
        mu of the paper.

    References
    ----------
    Li et al. (2020), Federated optimization in heterogeneous networks, MLSys, equation 2.
    """

    def __init__(self, weight: float) -> None:
        self.weight = float(weight)
        self._start: list[Tensor] = []

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """Store the weights at the start of the epoch."""
        self._start = [p.detach().clone() for p in net.module_.parameters()]

    def on_grad_computed(
        self, net: Any, named_parameters: Iterable[tuple[str, Tensor]], training: bool = False, **kwargs: Any
    ) -> None:
        """Add the gradient of the term."""
        if not training:
            return
        for (_, p), start in zip(named_parameters, self._start, strict=True):
            if p.grad is not None:
                p.grad.add_(p.detach() - start, alpha=self.weight)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        """Forget the weights, which would take memory between the epochs."""
        self._start = []
