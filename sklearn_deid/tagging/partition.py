"""Log partition function of a linear chain, with its gradient from one scaled forward-backward pass.

Working with probabilities that are rescaled at every step costs one matrix product per step, where the log-sum-exp
form costs a (batch, K, K) broadcast and an autograd node. Both are exact; the scaled form can underflow when a model
forbids everything but a path that the emissions hate, and then the log form is taken instead (see `log_partition`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .scan import log_partition_by_scan

__all__ = ["log_partition", "log_partition_by_steps"]


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
