"""Linear-chain CRF: the model of pytorch-crf with faster, exact algorithms.

`LinearChainCRF` keeps the parameters, the order of arguments and the semantics of `torchcrf.CRF`. The methods of
`torchcrf.CRF` stay callable through ``super()``, and tests compare the results of both classes. Only the algorithms
differ. One scaled forward-backward pass computes the partition function and its gradient, instead of an autograd graph
with a node per time step. Viterbi decoding, including back-tracing, runs on the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor
from torchcrf import CRF

from .._parameters import check_parameter
from .crf_steps import LogPartitionBySteps, TimeOrder, stays_at_first, viterbi_by_steps, viterbi_in_order

# Largest number of elements of one (pairs, K, K, K) block in the max-plus product.
_BLOCK = 2**27


def log_partition_by_scan(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Compute `log_partition` on a GPU, with the same arguments and the same result.

    The function multiplies the step matrices pairwise, in about log2(time) rounds. Each matrix is stored as
    exponentials with a logarithmic scale for each row. Rows with low scores therefore keep their precision next to rows
    with high scores. The products are in double precision: exp(-100) is zero in single precision, and a legal sequence
    may contain a tag with such a low score.
    """
    kind = emissions.dtype
    emissions, transitions, start, end = (x.double() for x in (emissions, transitions, start, end))
    # shape: (batch, time - 1, from, to)
    steps = transitions + emissions[:, 1:, None, :]
    scale = steps.detach().amax(3)
    # Padded steps are the identity matrix, which does not change the product.
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
        # left @ diag(exp(right_scale)) @ right
        weighted, peak = _weighted(left, right_scale.unsqueeze(2))
        joined = weighted @ right
        largest = joined.detach().amax(3, keepdim=True)
        product = torch.cat([joined / largest, odd_product], 1)
        scale = torch.cat([left_scale + peak + largest.squeeze(3).log(), odd_scale], 1)
    alpha = start + emissions[:, 0]
    if product.shape[1] == 0:
        return torch.logsumexp(alpha + end, 1).to(kind)
    weighted, peak = _weighted(product[:, 0], end)
    return torch.logsumexp(alpha + scale[:, 0] + peak + weighted.sum(2).log(), 1).to(kind)


def _weighted(left: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Columns of ``left`` times the exponentials of scores, and the largest logarithm of each row as a separate factor.

    The largest element of each row is 1 afterwards. With one common maximum for all rows, a row with only low scores
    would be zero, and the gradient of the row would be NaN. In BIOES, only "I-NAME" and "E-NAME" may follow "B-NAME",
    so that the row of "B-NAME" can have only low scores.
    """
    # Smaller numbers are zero: the exponential of the difference below would be infinite.
    reached = left.detach() >= torch.finfo(left.dtype).tiny
    exponent = torch.where(reached, left.detach().log() + scores.detach(), -torch.inf)
    peak = exponent.amax(-1)
    factor = torch.where(reached, scores - peak.unsqueeze(-1), -torch.inf).exp()
    return left * factor, peak


def viterbi_by_scan(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Tags of the best path, shape (batch, time), for GPUs. Padded positions repeat the last tag.

    The function joins neighbouring pieces of the sequence pairwise in the max-plus algebra, and keeps the scores of
    every level. The function then goes through the levels in reverse order, and chooses the best tag between the two
    pieces of each pair.
    """
    batch, time, n_tags = emissions.shape
    # Padded steps are the identity of the max-plus algebra: they keep the tag at no cost.
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
    # shape: (batch,): number of the best pair of first and last tag among K * K pairs
    whole = (first.unsqueeze(2) + levels[-1][:, 0] + end).flatten(1).argmax(1)
    # shape: (batch, 2): first and last tag of the single piece of the highest level
    border = torch.stack([whole // n_tags, whole % n_tags], 1)
    for below in reversed(levels[:-1]):
        border = _with_midpoints(border, below)
    return border


def _odd_one_out(x: Tensor) -> Tensor:
    """Last element along the second dimension if the number of elements is odd, else no element."""
    return x[:, x.shape[1] // 2 * 2 :]


def _max_plus(left: Tensor, right: Tensor) -> Tensor:
    """Max-plus product: (pairs, from, via) and (pairs, via, to) to (pairs, from, to)."""
    n_tags = left.shape[1]
    pairs = max(1, _BLOCK // n_tags**3)
    blocks = zip(left.split(pairs), right.split(pairs), strict=True)
    return torch.cat([(a.unsqueeze(3) + b.unsqueeze(1)).amax(2) for a, b in blocks])


def _with_midpoints(border: Tensor, below: Tensor) -> Tensor:
    """Add the best tags between the two pieces of each pair to the known tags at the borders of the pairs."""
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
    """Log partition function: log of the sum of exp(score) over all tag sequences.

    Parameters
    ----------
    emissions : Tensor of shape (batch, time, K)
        Score of each tag at each token.
    transitions : Tensor of shape (K, K)
        Score of each transition from the tag of the row to the tag of the column.
    start, end : Tensor of shape (K,)
        Score of each tag as the first and as the last tag.
    mask : BoolTensor of shape (batch, time)
        True at tokens. Padding must be on the right.

    Returns
    -------
    Tensor of shape (batch,)
        Differentiable once.
    """
    # On a GPU, the step-by-step algorithm would launch several kernels for each token, one after the other.
    algorithm = log_partition_by_scan if emissions.is_cuda else LogPartitionBySteps.apply
    log_z = algorithm(emissions, transitions, start, end, mask)
    if torch.isfinite(log_z).all():
        return log_z
    # The scaled algorithms can underflow with extreme scores. The algorithm in log space cannot.
    return log_partition_by_steps(emissions, transitions, start, end, mask)


def log_partition_by_steps(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Compute `log_partition` in log space with autograd: slower, without underflow, differentiable twice."""
    # shape: (batch, K)
    alpha = start + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        # shape: (batch, from, to) -> (batch, to)
        moved = torch.logsumexp(alpha.unsqueeze(2) + transitions, dim=1) + emissions[:, t]
        alpha = torch.where(mask[:, t].unsqueeze(1), moved, alpha)
    return torch.logsumexp(alpha + end, dim=1)


# Score of illegal tags in sums over sequences. Its exponential is exactly 0, and the gradients are finite. With -inf
# the gradients would be NaN.
_NEVER = -1e4


class LegalTags(NamedTuple):
    """Legal tags at the start of a sentence, after each other tag, and at the end of a sentence.

    ``follow[i, j]`` is True if tag j may follow tag i. At least one sequence of every length must be legal, for example
    because one tag such as "O" is legal everywhere.
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
        Legal tag sequences. All other sequences have probability 0 and are never decoded. By default every sequence is
        legal. Gold sequences must be legal: the loss of an illegal gold sequence is about 10,000.

    Notes
    -----
    The batch is the first dimension of all tensors. Masks are padded on the right: the mask of a sentence with n tokens
    is n ones, then zeros. Each sentence must have at least one token; the caller removes empty sentences.

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
        # The buffers are not saved with the weights, because they follow from the names of the tags.
        for name, value in zip(LegalTags._fields, legal or (None, None, None), strict=True):
            self.register_buffer(f"legal_{name}", value, persistent=False)

    def scores(self, never: float = _NEVER) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of transitions (K, K), starts (K,) and ends (K,), with ``never`` for illegal tags."""
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
            Score of each tag at each token.
        tags : LongTensor of shape (batch, time)
            Numbers of the tags. Values at padded positions are ignored but must be valid tag numbers.
        mask : BoolTensor of shape (batch, time), optional
            True at tokens. By default all positions are tokens.
        reduction : {"none", "sum", "mean", "token_mean"}, default="sum"
            Log likelihood of each sentence, sum over sentences, mean over sentences, or sum divided by the number of
            tokens.

        Returns
        -------
        Tensor of shape (batch,) for ``"none"``, else a scalar.
        """
        is_known = reduction in ("none", "sum", "mean", "token_mean")
        check_parameter("", "reduction", reduction, is_known, "none, sum, mean or token_mean")
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
        """Viterbi paths, a tensor of shape (batch, time) on the device. Ignore the values at padded positions."""
        mask = self._checked_mask(emissions, mask)
        search = viterbi_by_scan if emissions.is_cuda else viterbi_by_steps
        with torch.no_grad():
            return search(emissions, *self.scores(never=-torch.inf), mask)

    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """Most likely tag sequences (Viterbi), one list of tag numbers for each sentence."""
        return self.decode_all([(emissions, self._checked_mask(emissions, mask))])[0]

    def decode_all(self, batches: Sequence[tuple[Tensor, Tensor]]) -> list[list[list[int]]]:
        """Results of `decode` for each pair of emissions and mask.

        On a CPU, the steps of all batches are computed together. Sentences that surely have tag 0 at each token
        (`stays_at_first`) are skipped, because most sentences contain no PHI.
        """
        if batches and batches[0][0].is_cuda:
            # One transfer from the device for each whole batch.
            found = [(self.best_paths(*batch).tolist(), batch[1].sum(1).tolist()) for batch in batches]
            return [[path[:n] for path, n in zip(*one, strict=True)] for one in found]
        with torch.no_grad():
            return self._decode_on_cpu(batches)

    def _decode_on_cpu(self, batches: Sequence[tuple[Tensor, Tensor]]) -> list[list[list[int]]]:
        scores = self.scores(never=-torch.inf)
        lengths = [mask.sum(1) for _, mask in batches]
        begins = [0, *accumulate(mask.numel() for _, mask in batches)]
        first = [
            torch.arange(begin, begin + mask.numel(), mask.shape[1])
            for begin, (_, mask) in zip(begins, batches, strict=False)
        ]
        # shape of each: (batch, time): tokens of the sentences whose path is searched
        searched = [mask & ~stays_at_first(emissions, *scores, mask).unsqueeze(1) for emissions, mask in batches]
        # shape: (n_cells,): the tags of all batches, one after the other
        paths = torch.zeros(begins[-1], dtype=torch.long)
        cells = torch.cat([emissions[on] for (emissions, _), on in zip(batches, searched, strict=True)])
        if len(cells):
            sizes = torch.cat([on.sum(1) for on in searched])
            sizes = sizes[sizes > 0]
            order = TimeOrder(sizes, sizes.cumsum(0) - sizes)
            found = torch.empty(len(cells), dtype=torch.long)
            found[order.cells] = viterbi_in_order(cells, *scores, order)
            paths[torch.cat([on.flatten() for on in searched])] = found
        flat = paths.tolist()
        return [
            [flat[begin : begin + n] for begin, n in zip(places.tolist(), counts.tolist(), strict=True)]
            for places, counts in zip(first, lengths, strict=True)
        ]

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Probability of each tag at each token, shape (batch, time, n_tags). Padded positions hold zeros.

        The marginals are the gradient of the log partition function with respect to the emissions.
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
            raise ValueError(
                f"emissions must have shape (batch, time, {self.num_tags}). Got {tuple(emissions.shape)} instead."
            )
        if mask is None:
            return torch.ones(emissions.shape[:2], dtype=torch.bool, device=emissions.device)
        if mask.shape != emissions.shape[:2]:
            raise ValueError(f"mask must have shape {tuple(emissions.shape[:2])}. Got {tuple(mask.shape)} instead.")
        mask = mask.bool()
        # Reading the values of the mask would make the GPU wait, so that the check below runs on CPU only.
        if mask.is_cuda:
            return mask
        if not mask[:, 0].all() or (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ValueError("mask must be padded on the right, and every sentence needs at least one token.")
        return mask

    def _path_score(
        self, emissions: Tensor, tags: Tensor, mask: Tensor, scores: tuple[Tensor, Tensor, Tensor]
    ) -> Tensor:
        transitions, start, end = scores
        # shape: (batch, time): scores of the gold tags, 0 at padding
        on_token = mask.to(emissions.dtype)
        emitted = emissions.gather(2, tags.unsqueeze(2)).squeeze(2) * on_token
        # shape: (batch, time - 1)
        moved = transitions[tags[:, :-1], tags[:, 1:]] * on_token[:, 1:]
        last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
        ends = start[tags[:, 0]] + end[last]
        return ends + emitted.sum(1) + moved.sum(1)
