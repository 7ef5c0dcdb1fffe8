"""Sums and best paths of a linear-chain CRF on a CPU, token by token over the whole batch.

The tokens of a batch are stored in the order of time: the first tokens of all sentences, longest sentence first, then
all second tokens, and so on. The sentences with a token t are then the first of the sentences with a token t - 1, so
that no step computes padding.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

# Smallest overlap of forward and backward sums, each scaled to 1, at which rounding cannot have lost the likely tags.
_LEAST_OVERLAP = 1e-20
# Number of sentences from which a step of Viterbi has the sentences instead of the tags in the last dimension.
_MANY = 32
# Largest number of legal previous tags of a tag for which a step of Viterbi compares only these, and largest number of
# tags for which a step compares all tags.
_THIN, _FEW_TAGS = 2, 24
# Number of sentences above which a step reads the sentences in parts, and number of sentences of a part: the sums of
# all pairs of tags then fit into the cache of the processor. 2,000 sentences with 49 tags take a fifth of the time.
_MANY_SUMS, _PART = 512, 128


class TimeOrder:
    """Tokens of sentences in the order of time: the first tokens of all sentences, then all second tokens, and so on.

    Parameters
    ----------
    lengths : LongTensor of shape (batch,)
        Number of tokens of each sentence, at least 1.
    first : LongTensor of shape (batch,)
        Cell of the first token of each sentence, in flattened batches.

    Attributes
    ----------
    steps : list of slice
        Tokens of each step.
    rows : LongTensor of shape (n_tokens,)
        Sentence of each token.
    cells : LongTensor of shape (n_tokens,)
        Cell of each token in the flattened batches.
    mirror : LongTensor of shape (n_tokens,)
        Number of the token that is as far from the end of the sentence as this token is from the start.

    Examples
    --------
    >>> order = TimeOrder.of(torch.tensor([[True, False], [True, True]]))
    >>> order.cells.tolist(), order.steps, order.mirror.tolist()
    ([2, 0, 3], [slice(0, 2, None), slice(2, 3, None)], [2, 1, 0])
    """

    def __init__(self, lengths: Tensor, first: Tensor) -> None:
        batch, time = len(lengths), int(lengths.max())
        lengths, by_length = torch.sort(lengths, descending=True, stable=True)
        position = torch.arange(time, device=lengths.device)
        # shape: (time, batch)
        on = position.unsqueeze(1) < lengths
        counts = [n for n in on.sum(1).tolist() if n]
        borders = [0, *accumulate(counts)]
        self.steps = [slice(a, b) for a, b in zip(borders[:-1], borders[1:], strict=True)]
        # shape: (n_tokens,): place of the sentence of each token among the sorted sentences, and its step
        place = torch.arange(batch, device=lengths.device).expand(time, batch)[on]
        step = position.unsqueeze(1).expand(time, batch)[on]
        self.rows = by_length[place]
        self.cells = first[self.rows] + step
        first = torch.tensor(borders, device=lengths.device)
        self.mirror = first[lengths[place] - 1 - step] + place
        # shape: (n_tokens - batch,): number of the token before each token that is not the first of its sentence
        self.before = first[step[batch:] - 1] + place[batch:]
        self.batch = batch

    @classmethod
    def of(cls, mask: Tensor) -> TimeOrder:
        """Order of the tokens of one batch; ``mask`` of shape (batch, time) is True at tokens, padded on the right."""
        return cls(mask.sum(1), torch.arange(0, mask.numel(), mask.shape[1], device=mask.device))


class LogPartitionBySteps(torch.autograd.Function):
    """Log partition function of each sentence, shape (batch,), with the gradient of the forward-backward algorithm.

    One recursion computes both directions: the backward direction reads reversed sentences with transposed transitions.
    The sums are scaled at each step; the result is NaN if a sum still underflows.
    """

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
        order = TimeOrder.of(mask)
        # shape: (n_tokens, K)
        scores = emissions.flatten(0, 1).index_select(0, order.cells)
        peak = scores.amax(1, keepdim=True)
        local = (scores - peak).exp()
        start_peak, step_peak, end_peak = start.max(), transitions.max(), end.max()
        step, stop = (transitions - step_peak).exp(), (end - end_peak).exp()
        first = torch.stack([(start - start_peak).exp(), stop]).unsqueeze(1).expand(-1, order.batch, -1)
        # shape: (2, n_tokens, K): sums over the tags before (or behind) a token, and the same sums with the score of
        # the token
        arrived, states, scales = _recursion(
            torch.stack([local, local.index_select(0, order.mirror)]), torch.stack([step, step.t()]), first, order
        )
        # shape: (n_tokens, K)
        behind = arrived[1].index_select(0, order.mirror)
        overlap = (states[0] * behind).sum(1, keepdim=True)
        ctx.save_for_backward(arrived[0], states, step, behind, overlap)
        ctx.order, ctx.shape = order, emissions.shape
        last = states[0].index_select(0, order.mirror[: order.batch])
        # Every maximum that was taken out before an exponential is added again.
        by_token = scales[0].log() + peak + step_peak
        log_z = emissions.new_zeros(order.batch).index_add_(0, order.rows, by_token.squeeze(1))
        ends = (last * stop).sum(1).log() + start_peak + end_peak - step_peak
        log_z.index_add_(0, order.rows[: order.batch], ends)
        return log_z if bool((overlap > _LEAST_OVERLAP).all()) else torch.full_like(log_z, torch.nan)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        arrived, states, step, behind, overlap = ctx.saved_tensors
        order: TimeOrder = ctx.order
        weight = grad.index_select(0, order.rows).unsqueeze(1)
        # shape: (n_tokens, K): probability of each tag times the incoming gradient
        expected = states[0] * behind * (weight / overlap)
        by_emission = expected.new_zeros(ctx.shape)
        by_emission.view(-1, ctx.shape[2]).index_copy_(0, order.cells, expected)
        if not any(ctx.needs_input_grad[1:]):
            return by_emission, None, None, None, None
        # Expected counts of transitions: sum over tokens of before(from) * step(from, to) * message(to).
        message = states[1].index_select(0, order.mirror[order.batch :])
        message = message * (weight[order.batch :] / (arrived[order.batch :] * message).sum(1, keepdim=True))
        by_transition = (states[0].index_select(0, order.before).t() @ message) * step
        to_end = expected.index_select(0, order.mirror[: order.batch]).sum(0)
        return by_emission, by_transition, expected[: order.batch].sum(0), to_end, None


def _recursion(local: Tensor, step: Tensor, first: Tensor, order: TimeOrder) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled sums over all tag sequences up to each token, for both reading directions at once.

    Parameters
    ----------
    local : Tensor of shape (2, n_tokens, K)
        Exponential score of each tag.
    step : Tensor of shape (2, K, K)
        Exponential score of each transition.
    first : Tensor of shape (2, batch, K)
        Exponential score of each first tag.

    Returns
    -------
    tuple of Tensors of shapes (2, n_tokens, K), (2, n_tokens, K) and (2, n_tokens, 1)
        Sums without the score of the token itself; sums with this score, scaled to 1; and the scales.
    """
    arrived, states, scales = torch.empty_like(local), torch.empty_like(local), local.new_empty(*local.shape[:2], 1)
    state = first
    for t, part in enumerate(order.steps):
        come = arrived[:, part]
        if t:
            torch.bmm(state[:, : part.stop - part.start], step, out=come)
        else:
            come.copy_(first)
        moved = come * local[:, part]
        # Without scales, long sentences would underflow.
        scale = torch.sum(moved, 2, keepdim=True, out=scales[:, part])
        state = torch.div(moved, scale, out=states[:, part])
    return arrived, states, scales


class _Step:
    """Best scores of the next tags of many sentences, given the scores of the previous tags.

    Most legal transitions lead to a tag that may follow nearly every tag. An I may follow two tags only: the step
    compares these two tags, not all tags.

    Parameters
    ----------
    into : Tensor of shape (to, from)
        Scores of transitions, minus infinity for illegal transitions.
    """

    def __init__(self, into: Tensor) -> None:
        is_thin = torch.isfinite(into).sum(1) <= _THIN
        # Comparing few tags is faster than selecting some of them.
        is_thin &= len(into) > _FEW_TAGS
        wide, thin = torch.where(~is_thin)[0], torch.where(is_thin)[0]
        self._into, self._wide = into, into[wide].unsqueeze(2)
        scores, tags = into[thin].topk(min(_THIN, len(into)), dim=1)
        self._thin = [(tag, score.unsqueeze(1)) for tag, score in zip(tags.t(), scores.t(), strict=True)]
        # shape: (to,): row of each tag among the wide ones and, behind them, the thin ones
        self._order = torch.argsort(torch.cat([wide, thin]))

    def __call__(self, best: Tensor) -> Tensor:
        """Convert scores of previous tags (from, n_sentences) to best scores of next tags (to, n_sentences)."""
        # Side by side, many sentences fill the registers of the processor better than few tags.
        if best.shape[1] < _MANY:
            return (best.t().unsqueeze(1) + self._into).amax(2).t()
        parts = best.split(_PART, 1) if best.shape[1] > _MANY_SUMS else (best,)
        reached = torch.cat([(part + self._wide).amax(1) for part in parts], 1)
        if len(reached) == len(best):
            return reached
        thin = [best.index_select(0, tags).add_(scores) for tags, scores in self._thin]
        return torch.cat([reached, reduce(torch.maximum, thin)]).index_select(0, self._order)


def stays_at_first(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Sentences whose best path surely has tag 0 at each token, shape (batch,); parameters as in `viterbi_by_steps`.

    A path that leaves tag 0 has runs of other tags. Each token of a run lowers the score at least by the margin of tag
    0 over the other tags. Only transitions can raise the score: the transitions into and out of the run together, and
    the transition within the run at each token after the first. If the smallest margin of a sentence is larger than
    each of these two gains, no run can have a higher score than tag 0. Rounding is taken into account.
    """
    if emissions.shape[2] == 1:
        return torch.ones_like(mask[:, 0])
    stay, others = transitions[0, 0], emissions[:, :, 1:].amax(2)
    enter = torch.maximum(transitions[0, 1:].amax() - stay, start[1:].amax() - start[0])
    leave = torch.maximum(transitions[1:, 0].amax() - stay, end[1:].amax() - end[0])
    gain = torch.maximum(enter + leave, transitions[1:, 1:].amax() - stay).clamp(min=0)
    # shape: (batch,)
    margin = (emissions[:, :, 0] - others).masked_fill(~mask, torch.inf).amin(1)
    scores = torch.cat([transitions.flatten(), start, end])
    largest = torch.stack(torch.aminmax(emissions)).abs().amax() + scores[torch.isfinite(scores)].abs().amax()
    # Scores of paths are sums of 2 * time terms; each of the sums and of the two sides may be rounded.
    rounding = 4 * torch.finfo(emissions.dtype).eps * mask.shape[1] ** 2 * largest
    return margin > gain + rounding


def viterbi_by_steps(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Tags of the best path, shape (batch, time), 0 at padding. The scores of illegal tags are minus infinity."""
    order = TimeOrder.of(mask)
    out = torch.zeros_like(mask, dtype=torch.long)
    out.view(-1).index_copy_(0, order.cells, viterbi_in_order(emissions.flatten(0, 1), transitions, start, end, order))
    return out


def viterbi_in_order(cells: Tensor, transitions: Tensor, start: Tensor, end: Tensor, order: TimeOrder) -> Tensor:
    """Tag of each token on the best path, in the order of time, shape (n_tokens,).

    ``cells`` of shape (n_cells, K) are the emissions of flattened batches. The scores of illegal tags are minus
    infinity.
    """
    # shape: (K, n_tokens)
    scores = cells.index_select(0, order.cells).t().contiguous()
    into = transitions.t().contiguous()
    step = _Step(into)
    best = [scores[:, order.steps[0]] + start.unsqueeze(1)]
    for part in order.steps[1:]:
        # shape: (to, n_sentences). The maximum alone is twice as fast as the maximum with its place.
        best.append(step(best[-1][:, : part.stop - part.start]).add_(scores[:, part]))
    path = torch.empty_like(order.cells)
    # Back-tracing of the whole batch at once, from the last tag to the first: places are needed on the path only.
    tag = path[:0]
    for part, score in zip(reversed(order.steps), (by_tag.t() for by_tag in reversed(best)), strict=True):
        # The first sentences go on; the others end at this step.
        on = score[: len(tag)] + into.index_select(0, tag)
        tag = torch.cat([on, score[len(tag) :] + end]).argmax(1)
        path[part] = tag
    return path
