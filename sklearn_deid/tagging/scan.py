"""Linear-chain recursions as a tree of matrix products: log2(time) rounds instead of one Python step per token.

A step of the chain is a matrix (from, to); the product of all steps does not depend on the order in which neighbours
are multiplied, so all pairs of neighbours are multiplied at once, then all pairs of the results, and so on. That is
K times the arithmetic of the step-by-step form and far fewer kernel launches, which is what counts on a GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["log_partition_by_scan", "viterbi_by_scan"]

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
