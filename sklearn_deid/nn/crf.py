"""Linear-chain CRF head: pytorch-crf's model with faster, exact algorithms.

`LinearChainCRF` keeps the parameters, the argument order and the meaning of `torchcrf.CRF`, which stays callable
through ``super()`` and is the oracle of the tests. What differs is how the same numbers are computed: the partition
function and its gradient come from one scaled forward-backward pass instead of an autograd graph per time step, and
Viterbi runs on the whole batch, back-tracing included.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torchcrf import CRF

from .partition import log_partition
from .scan import viterbi_by_scan

__all__ = ["LinearChainCRF"]


class LinearChainCRF(CRF):
    """Conditional random field over tag sequences.

    Parameters
    ----------
    n_tags : int
        Number of tags K.

    Notes
    -----
    Everything is batch first, and masks are padded on the right: a sentence of n tokens has n ones, then zeros.
    Each sentence has at least one token; callers leave empty ones out.

    References
    ----------
    Lafferty, McCallum & Pereira (2001), Conditional Random Fields, ICML.

    Examples
    --------
    >>> import torch
    >>> crf = LinearChainCRF(3)
    >>> emissions, mask = torch.zeros(1, 2, 3), torch.ones(1, 2, dtype=torch.bool)
    >>> crf.marginals(emissions, mask).sum(-1).round().tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, n_tags: int) -> None:
        super().__init__(n_tags, batch_first=True)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None, reduction: str = "sum") -> Tensor:
        """Log likelihood of tag sequences.

        Parameters
        ----------
        emissions : Tensor of shape (batch, time, n_tags)
        tags : LongTensor of shape (batch, time)
            Values at padded positions are ignored but must be valid indices.
        mask : BoolTensor of shape (batch, time), optional
            Default: everything is a token.
        reduction : {"none", "sum", "mean", "token_mean"}, default="sum"

        Returns
        -------
        Tensor of shape (batch,) for ``"none"``, else a scalar.
        """
        if reduction not in ("none", "sum", "mean", "token_mean"):
            raise ValueError(f"The 'reduction' parameter must be none, sum, mean or token_mean. Got {reduction!r}.")
        mask = self._checked_mask(emissions, mask)
        log_z = log_partition(emissions, self.transitions, self.start_transitions, self.end_transitions, mask)
        # shape: (batch,)
        likelihood = self._path_score(emissions, tags, mask) - log_z
        if reduction == "none":
            return likelihood
        if reduction == "sum":
            return likelihood.sum()
        return likelihood.mean() if reduction == "mean" else likelihood.sum() / mask.sum()

    def best_paths(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Viterbi paths as a tensor of shape (batch, time), on the device; padded positions hold no meaning."""
        mask = self._checked_mask(emissions, mask)
        with torch.no_grad():
            return self._viterbi(emissions, mask)

    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """Most likely tag sequences (Viterbi), one list of tag indices for each sentence."""
        mask = self._checked_mask(emissions, mask)
        paths = self.best_paths(emissions, mask).tolist()  # the one transfer to the host
        return [path[:n] for path, n in zip(paths, mask.sum(1).tolist(), strict=True)]

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Probability of each tag at each token, shape (batch, time, n_tags); zero at padded positions.

        Computed as the gradient of the log partition function by the emissions.
        """
        mask = self._checked_mask(emissions, mask)
        with torch.enable_grad():
            leaf = emissions.detach().requires_grad_()
            log_z = log_partition(
                leaf,
                self.transitions.detach(),
                self.start_transitions.detach(),
                self.end_transitions.detach(),
                mask,
            )
            (gradient,) = torch.autograd.grad(log_z.sum(), leaf)
        return gradient

    def _checked_mask(self, emissions: Tensor, mask: Tensor | None) -> Tensor:
        if emissions.dim() != 3 or emissions.shape[2] != self.num_tags:
            raise ValueError(f"emissions must have shape (batch, time, {self.num_tags}). Got {tuple(emissions.shape)}.")
        if mask is None:
            return torch.ones(emissions.shape[:2], dtype=torch.bool, device=emissions.device)
        if mask.shape != emissions.shape[:2]:
            raise ValueError(f"mask must have shape {tuple(emissions.shape[:2])}. Got {tuple(mask.shape)}.")
        mask = mask.bool()
        if mask.is_cuda:
            return mask  # looking at the values would make the GPU wait; what is checked on CPU holds here too
        if not mask[:, 0].all() or (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ValueError("mask must be padded on the right, and every sentence needs at least one token.")
        return mask

    def _path_score(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        # shape: (batch, time)
        on_token = mask.to(emissions.dtype)
        emitted = emissions.gather(2, tags.unsqueeze(2)).squeeze(2) * on_token
        # shape: (batch, time - 1)
        moved = self.transitions[tags[:, :-1], tags[:, 1:]] * on_token[:, 1:]
        last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
        ends = self.start_transitions[tags[:, 0]] + self.end_transitions[last]
        return ends + emitted.sum(1) + moved.sum(1)

    def _viterbi(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Best tag at each position, shape (batch, time); padded positions repeat the last tag."""
        if emissions.is_cuda:
            return viterbi_by_scan(emissions, self.transitions, self.start_transitions, self.end_transitions, mask)
        batch, time, n_tags = emissions.shape
        # shape: (1, to, from): the maximum then runs over the last, contiguous dimension
        into = self.transitions.t().contiguous().unsqueeze(0)
        best = self.start_transitions + emissions[:, 0]
        stay = torch.arange(n_tags, device=emissions.device).expand(batch, n_tags)
        came_from = torch.empty(time, batch, n_tags, dtype=torch.long, device=emissions.device)
        whole = mask.all(0).tolist()
        for t in range(1, time):
            # shape: (batch, to)
            score, source = (best.unsqueeze(1) + into).max(2)
            score = score + emissions[:, t]
            if not whole[t]:
                on = mask[:, t].unsqueeze(1)
                score, source = torch.where(on, score, best), torch.where(on, source, stay)
            best, came_from[t] = score, source
        tag = (best + self.end_transitions).argmax(1)
        path = torch.empty(time, batch, dtype=torch.long, device=emissions.device)
        path[time - 1] = tag
        for t in range(time - 1, 0, -1):
            tag = came_from[t].gather(1, tag.unsqueeze(1)).squeeze(1)
            path[t - 1] = tag
        return path.t()
