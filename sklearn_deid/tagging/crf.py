"""Linear-chain CRF head: pytorch-crf's model with faster, exact algorithms.

`LinearChainCRF` keeps the parameters, the argument order and the meaning of `torchcrf.CRF`, which stays callable
through ``super()`` and is the oracle of the tests. What differs is how the same numbers are computed: the partition
function and its gradient come from one scaled forward-backward pass instead of an autograd graph per time step, and
Viterbi runs on the whole batch, back-tracing included.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torchcrf import CRF

from .partition import log_partition
from .scan import viterbi_by_scan

__all__ = ["LegalTags", "LinearChainCRF"]

# Score of what is not legal in sums over sequences: its exponential is exactly 0, and unlike with -inf the gradients
# stay numbers.
_NEVER = -1e4


class LegalTags(NamedTuple):
    """Which tags may begin a sentence, follow one another (row: before, column: after) and end a sentence.

    Some sequence of every length must be legal, as of a tag that may stand anywhere.
    """

    start: Tensor
    follow: Tensor
    end: Tensor


class LinearChainCRF(CRF):
    """Conditional random field over tag sequences.

    Parameters
    ----------
    n_tags : int
        Number of tags K.
    legal : LegalTags of bool tensors, shapes (K,), (K, K) and (K,), optional
        All other sequences get no probability and are never decoded; by default every sequence is legal. A gold
        sequence must be legal, else its loss is of the order of 10,000.

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

    def __init__(self, n_tags: int, legal: LegalTags | None = None) -> None:
        super().__init__(n_tags, batch_first=True)
        # Not saved with the weights: they follow from the tags.
        for name, value in zip(LegalTags._fields, legal or (None, None, None), strict=True):
            self.register_buffer(f"legal_{name}", value, persistent=False)

    def scores(self, never: float = _NEVER) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of transitions (K, K), starts (K,) and ends (K,), ``never`` where something is not legal."""
        weights = (self.transitions, self.start_transitions, self.end_transitions)
        if self.legal_follow is None:
            return weights
        legal = (self.legal_follow, self.legal_start, self.legal_end)
        transitions, start, end = (w.masked_fill(~on, never) for w, on in zip(weights, legal, strict=True))
        return transitions, start, end

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
        transitions, start, end = self.scores()
        log_z = log_partition(emissions, transitions, start, end, mask)
        # shape: (batch,)
        likelihood = self._path_score(emissions, tags, mask, (transitions, start, end)) - log_z
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
            transitions, start, end = (score.detach() for score in self.scores())
            log_z = log_partition(leaf, transitions, start, end, mask)
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

    def _path_score(
        self, emissions: Tensor, tags: Tensor, mask: Tensor, scores: tuple[Tensor, Tensor, Tensor]
    ) -> Tensor:
        transitions, start, end = scores
        # shape: (batch, time)
        on_token = mask.to(emissions.dtype)
        emitted = emissions.gather(2, tags.unsqueeze(2)).squeeze(2) * on_token
        # shape: (batch, time - 1)
        moved = transitions[tags[:, :-1], tags[:, 1:]] * on_token[:, 1:]
        last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
        ends = start[tags[:, 0]] + end[last]
        return ends + emitted.sum(1) + moved.sum(1)

    def _viterbi(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Best tag at each position, shape (batch, time); padded positions repeat the last tag."""
        transitions, start, end = self.scores(never=-torch.inf)
        if emissions.is_cuda:
            return viterbi_by_scan(emissions, transitions, start, end, mask)
        batch, time, n_tags = emissions.shape
        # shape: (1, to, from): the maximum then runs over the last, contiguous dimension
        into = transitions.t().contiguous().unsqueeze(0)
        best = start + emissions[:, 0]
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
        tag = (best + end).argmax(1)
        path = torch.empty(time, batch, dtype=torch.long, device=emissions.device)
        path[time - 1] = tag
        for t in range(time - 1, 0, -1):
            tag = came_from[t].gather(1, tag.unsqueeze(1)).squeeze(1)
            path[t - 1] = tag
        return path.t()
