"""Loss with a higher weight on sentences with missed PHI."""

from __future__ import annotations

from numbers import Real

import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from .._compat import Interval, StrOptions

RECALL_FORMS = ("repaired", "batch", "printed")


class RecallWeight(BaseEstimator):
    """Factor of the loss that grows with the proportion of PHI tokens that the tagger currently misses.

    The false negative rate is ``FNR = FN / (1 + FN + TP)``. FN is the number of PHI tokens that are not tagged. TP is
    the number of PHI tokens that are tagged with any label. No gradient passes through the numbers FN and TP.

    Parameters
    ----------
    weight : float, default=1.0
        Weight delta_p of the paper, at least 1. The authors used values from 1 to 10.
    form : {"repaired", "batch", "printed"}, default="repaired"
        Formula of the factor.

        - "repaired": ``1 + (weight - 1) * FNR`` with the FNR of each sentence. Weight 1 is the plain loss.
        - "batch": ``1 + (weight - 1) * FNR`` with the FNR of the whole batch. "batch" hardly changes the training,
          because gradient clipping and optimizers with scaled steps cancel most of a factor that is the same for all
          sentences of a batch.
        - "printed": ``weight * FNR``, the formula in the paper, with the FNR of the whole batch. With "printed", a
          batch without missed PHI has a loss of 0 and changes no weight of the network. Weight 1 is not the plain loss.

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

    _parameter_constraints: dict[str, list] = {
        "weight": [Interval(Real, 1, None, closed="left")],
        "form": [StrOptions(set(RECALL_FORMS))],
    }

    def __init__(self, weight: float = 1.0, form: str = "repaired") -> None:
        self.weight, self.form = weight, form

    def factor(self, predicted: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Factor of the loss of each sentence.

        Parameters
        ----------
        predicted, tags : LongTensor of shape (batch, time)
            Predicted tags and gold tags. Tag 0 must be "O".
        mask : BoolTensor of shape (batch, time)
            True at tokens.

        Returns
        -------
        Tensor of shape (batch,), or a scalar with the forms "batch" and "printed".
        """
        # shape: (batch, time)
        phi = (tags > 0) & mask
        missed = phi & (predicted == 0)
        # shape: (batch,)
        n_phi, n_missed = phi.sum(1), missed.sum(1)
        # Counts of the whole batch, as in the paper. A common factor only scales the gradient of the batch, and
        # gradient clipping and NAdam cancel such a factor.
        if self.form != "repaired":
            n_phi, n_missed = n_phi.sum(), n_missed.sum()
        # The 1 in the denominator avoids a division by zero in sentences without PHI.
        rate = n_missed.to(torch.float32) / (1 + n_phi)
        # With the printed form, a sentence without missed PHI has no loss. With the repaired form, it keeps its full
        # loss.
        return self.weight * rate if self.form == "printed" else 1 + (self.weight - 1) * rate
