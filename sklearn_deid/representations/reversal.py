"""Gradient reversal: what helps the part above it harms the part below it, in one backward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["reverse_gradient"]


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)  # a new tensor: the very same one would keep its own place in the graph

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.factor * gradients[0], None


def reverse_gradient(x: Tensor, factor: float = 1.0) -> Tensor:
    """Return x unchanged, and send the gradient back multiplied by ``-factor``.

    Placed between a representation and its adversary, one step on the sum of the losses trains the adversary to win and
    the representation to make it lose.

    Parameters
    ----------
    x : Tensor
    factor : float, default=1.0
        Weight of the adversary in the parts below, not negative; 0 cuts the gradient.

    Raises
    ------
    ValueError
        If the factor is negative: then nothing would be reversed.

    References
    ----------
    Ganin et al. (2016), Domain-adversarial training of neural networks, section 4.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import reverse_gradient
    >>> x = torch.ones(2, requires_grad=True)
    >>> reverse_gradient(3 * x, 0.5).sum().backward()
    >>> x.grad.tolist()
    [-1.5, -1.5]
    """
    if not factor >= 0.0:
        raise ValueError(f"The 'factor' parameter must be a number that is not negative. Got {factor!r}.")
    return _Reversal.apply(x, factor)
