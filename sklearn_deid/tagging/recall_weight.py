"""Loss that counts more where PHI is missed."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["RECALL_FORMS", "RecallWeight"]

RECALL_FORMS = ("repaired", "batch", "printed")


class RecallWeight(NamedTuple):
    """Factor of the loss from the share of PHI tokens that are missed just now.

    With FN tokens of PHI tagged as none and TP tagged as PHI of whatever label, ``FNR = FN / (1 + FN + TP)``. The
    counts carry no gradient.

    Parameters
    ----------
    weight : float
        delta_p of the paper, at least 1; its authors tried 1 to 10.
    form : {"repaired", "batch", "printed"}, default="repaired"
        - "repaired": ``1 + (weight - 1) * FNR`` with the FNR of each sentence for itself; the plain loss at weight 1.
        - "batch": the same with the FNR of the whole batch. One factor for all of a batch's gradient is what clipping
          and optimizers that scale their steps take away again; it hardly changes what is learned.
        - "printed": ``weight * FNR``, as the paper's formula stands. A batch without a miss teaches nothing, and
          weight 1 is not the plain loss. The FNR is that of the batch.

    References
    ----------
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10,
    section "Recall-heavy loss".

    Examples
    --------
    >>> import torch
    >>> gold, mask = torch.tensor([[0, 1, 1, 2]]), torch.ones(1, 4, dtype=torch.bool)
    >>> RecallWeight(5.0).factor(torch.tensor([[0, 1, 2, 0]]), gold, mask)  # one of three is missed: 1 + 4 * 1 / 4
    tensor([2.])
    """

    weight: float
    form: str = "repaired"

    def factor(self, predicted: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Shape (batch,), or a scalar where the FNR is that of the batch.

        Parameters
        ----------
        predicted, tags : LongTensor of shape (batch, time)
            Tag 0 is "O".
        mask : BoolTensor of shape (batch, time)
        """
        phi = (tags > 0) & mask
        missed = phi & (predicted == 0)
        # shape: (batch,)
        n_phi, n_missed = phi.sum(1), missed.sum(1)
        if self.form != "repaired":
            n_phi, n_missed = n_phi.sum(), n_missed.sum()
        rate = n_missed.to(torch.float32) / (1 + n_phi)
        return self.weight * rate if self.form == "printed" else 1 + (self.weight - 1) * rate
