"""Linear-chain CRF head: pytorch-crf's model with faster, exact algorithms.

`LinearChainCRF` keeps the parameters, the argument order and the meaning of `torchcrf.CRF`, which stays callable
through ``super()`` and is the oracle of the tests. What differs is how the same numbers are computed: the partition
function and its gradient come from one scaled forward-backward pass instead of an autograd graph per time step, and
Viterbi runs on the whole batch, back-tracing included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torchcrf import CRF

# Largest number of elements of one (pairs, K, K, K) block in the max-plus product.
_BLOCK = 2**27


def log_partition_by_scan(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """As `log_partition`, for GPUs; arguments and result are the same.

    Each matrix is kept as exponentials with a logarithmic scale per row, so that a row whose paths are all bad keeps
    its precision beside a row whose paths are good.
    """
    # shape: (batch, time - 1, from, to)
    steps = transitions + emissions[:, 1:, None, :]
    scale = steps.detach().amax(3)
    identity = torch.eye(transitions.shape[0], dtype=steps.dtype, device=steps.device)
    on = mask[:, 1:, None]
    product = torch.where(on.unsqueeze(3), (steps - scale.unsqueeze(3)).exp(), identity)
    # shape: (batch, time - 1, from)
    scale = torch.where(on, scale, torch.zeros_like(scale))
    while product.shape[1] > 1:
        odd_product, odd_scale = _odd_one_out(product), _odd_one_out(scale)
        n = product.shape[1] // 2 * 2
        left, right = product[:, 0:n:2], product[:, 1:n:2]
        left_scale, right_scale = scale[:, 0:n:2], scale[:, 1:n:2]
        peak = right_scale.detach().amax(2, keepdim=True)
        joined = (left * (right_scale - peak).exp().unsqueeze(2)) @ right
        largest = joined.detach().amax(3, keepdim=True)
        product = torch.cat([joined / largest, odd_product], 1)
        scale = torch.cat([left_scale + peak + largest.squeeze(3).log(), odd_scale], 1)
    alpha = start + emissions[:, 0]
    if product.shape[1] == 0:
        return torch.logsumexp(alpha + end, 1)
    end_peak = end.detach().max()
    # shape: (batch, from)
    to_end = (product[:, 0] @ (end - end_peak).exp()).log()
    return torch.logsumexp(alpha + scale[:, 0] + to_end, 1) + end_peak


def viterbi_by_scan(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Best tag at each position, shape (batch, time); padded positions repeat the last tag."""
    batch, time, n_tags = emissions.shape
    stay = torch.full_like(transitions, -torch.inf).fill_diagonal_(0.0)
    levels = [torch.where(mask[:, 1:, None, None], transitions + emissions[:, 1:, None, :], stay)]
    while levels[-1].shape[1] > 1:
        below = levels[-1]
        n = below.shape[1] // 2 * 2
        joined = _max_plus(below[:, 0:n:2].reshape(-1, n_tags, n_tags), below[:, 1:n:2].reshape(-1, n_tags, n_tags))
        levels.append(torch.cat([joined.view(batch, n // 2, n_tags, n_tags), _odd_one_out(below)], 1))
    first = start + emissions[:, 0]
    if time == 1:
        return (first + end).argmax(1, keepdim=True)
    # shape: (batch, K * K): score of the best path for each first and last tag
    whole = (first.unsqueeze(2) + levels[-1][:, 0] + end).flatten(1).argmax(1)
    # shape: (batch, 2): tags at the borders of the one piece of the highest level
    border = torch.stack([whole // n_tags, whole % n_tags], 1)
    for below in reversed(levels[:-1]):
        border = _with_midpoints(border, below)
    return border


def _odd_one_out(x: Tensor) -> Tensor:
    return x[:, x.shape[1] // 2 * 2 :]


def _max_plus(left: Tensor, right: Tensor) -> Tensor:
    """(pairs, from, via) and (pairs, via, to) to (pairs, from, to)."""
    n_tags = left.shape[1]
    pairs = max(1, _BLOCK // n_tags**3)
    blocks = zip(left.split(pairs), right.split(pairs), strict=True)
    return torch.cat([(a.unsqueeze(3) + b.unsqueeze(1)).amax(2) for a, b in blocks])


def _with_midpoints(border: Tensor, below: Tensor) -> Tensor:
    """Tags between the pieces of the level below, where those at the borders of pairs are known."""
    batch, pieces, n_tags, _ = below.shape
    n = pieces // 2 * 2
    # shape: (batch, pairs, via)
    ahead = below[:, 0:n:2].gather(2, border[:, : n // 2, None, None].expand(-1, -1, 1, n_tags)).squeeze(2)
    after = below[:, 1:n:2].gather(3, border[:, 1 : n // 2 + 1, None, None].expand(-1, -1, n_tags, 1)).squeeze(3)
    out = border.new_empty(batch, pieces + 1)
    out[:, 0 : n + 1 : 2] = border[:, : n // 2 + 1]
    out[:, 1:n:2] = (ahead + after).argmax(2)
    out[:, n + 1 :] = border[:, n // 2 + 1 :]
    return out


def log_partition(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Log of the summed exponentiated scores of all tag sequences.

    Parameters
    ----------
    emissions : Tensor of shape (batch, time, K)
    transitions : Tensor of shape (K, K)
        Score of moving from the row's tag to the column's.
    start, end : Tensor of shape (K,)
    mask : BoolTensor of shape (batch, time), padded on the right

    Returns
    -------
    Tensor of shape (batch,), differentiable once.
    """
    # On a GPU every step would be a handful of kernel launches, each waiting for the one before.
    algorithm = log_partition_by_scan if emissions.is_cuda else _ScaledForwardBackward.apply
    log_z = algorithm(emissions, transitions, start, end, mask)
    if torch.isfinite(log_z).all():
        return log_z
    return log_partition_by_steps(emissions, transitions, start, end, mask)


def log_partition_by_steps(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """The same in log space, step by step, by autograd: slower, never underflows, differentiable twice."""
    # shape: (batch, K)
    alpha = start + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        # shape: (batch, from, to) -> (batch, to)
        moved = torch.logsumexp(alpha.unsqueeze(2) + transitions, dim=1) + emissions[:, t]
        alpha = torch.where(mask[:, t].unsqueeze(1), moved, alpha)
    return torch.logsumexp(alpha + end, dim=1)


class _ScaledForwardBackward(torch.autograd.Function):
    """Forward pass at forward, backward pass at backward; no graph in between."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
        batch, time, n_tags = emissions.shape
        peak = emissions.amax(2, keepdim=True)
        # shape: (time, batch, K): each step is then one contiguous block
        local = (emissions - peak).exp().transpose(0, 1).contiguous()
        step_peak, start_peak, end_peak = transitions.max(), start.max(), end.max()
        step, stop = (transitions - step_peak).exp(), (end - end_peak).exp()
        on = mask.t().unsqueeze(2)
        whole = mask.all(0).tolist()
        # Every step is divided by its sum, and the logarithms of the sums are added up: nothing underflows on the way.
        alphas, scales = torch.empty_like(local), local.new_ones(time, batch, 1)
        alpha = local[0] * (start - start_peak).exp()
        for t in range(time):
            moved = alpha if t == 0 else (alpha @ step) * local[t]
            scale = moved.sum(1, keepdim=True)
            moved = moved / scale
            if t and not whole[t]:
                moved, scale = (
                    torch.where(on[t], moved, alpha),
                    torch.where(on[t], scale, torch.ones_like(scale)),
                )
            alphas[t], scales[t] = moved, scale
            alpha = moved
        # shape: (batch,)
        total = (alpha * stop).sum(1)
        ctx.save_for_backward(local, step, alphas, scales, stop, total, on)
        ctx.whole = whole
        lengths = mask.sum(1)
        shift = (peak.squeeze(2) * mask).sum(1) + start_peak + end_peak + step_peak * (lengths - 1)
        return total.log() + scales.log().sum((0, 2)) + shift

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        local, step, alphas, scales, stop, total, on = ctx.saved_tensors
        time, _, n_tags = local.shape
        # shape: (batch, K); carries the incoming gradient of each sentence
        beta = (stop / total.unsqueeze(1)) * grad.unsqueeze(1)
        # shape: (time, batch, K): probability of each tag times the incoming gradient
        expected = torch.empty_like(local)
        messages = torch.empty_like(local)
        back = step.t().contiguous()
        expected[time - 1] = alphas[time - 1] * beta
        to_end = expected[time - 1].sum(0)
        for t in range(time - 1, 0, -1):
            message = local[t] * beta / scales[t]
            if ctx.whole[t]:
                beta = message @ back
            else:
                message = message * on[t]
                beta = torch.where(on[t], message @ back, beta)
            messages[t] = message
            expected[t - 1] = alphas[t - 1] * beta
        by_emission = (expected * on).transpose(0, 1)
        by_transition = torch.zeros_like(step)
        if time > 1:
            by_transition = (alphas[:-1].reshape(-1, n_tags).t() @ messages[1:].reshape(-1, n_tags)) * step
        return by_emission, by_transition, expected[0].sum(0), to_end, None


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
