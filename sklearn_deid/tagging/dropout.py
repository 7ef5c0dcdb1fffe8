"""Dropout that drops the same features at every token of a sentence."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["LockedDropout"]


class LockedDropout(nn.Dropout1d):
    """Variational dropout: one mask a sentence, shared by its tokens (Gal & Ghahramani 2016).

    Input and output have shape (batch, time, d).
    """

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        # shape: (batch, 1, d), broadcast over time
        mask = F.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.p, training=True)
        return x * mask
