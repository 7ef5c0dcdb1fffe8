"""Pairs that adversaries judge, and the adversaries T1 and T2 for the same pairs.

A real pair is the same sentence twice. A fake pair is a sentence and its counterfactual, in which one token was
replaced. Each member of each pair has its own noise draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .adversaries import (
    EmbeddingPairAdversary,
    RepresentationPairAdversary,
    StrongEmbeddingAdversary,
    StrongRepresentationAdversary,
    average_adversaries,
    cosine_distance,
)
from .network import Representer
from .pair_batches import PairBatch, PairBatches

_TASKS, _KINDS, _TEMPLATES = ("t1", "t2"), ("paper", "strong"), ("noisy", "noise_free")
_NORM_SENTENCES = 1024  # enough for the mean length of vectors


@dataclass(frozen=True, repr=False)
class ReleasedPairs:
    """n real pairs, followed by n fake pairs of the same n sentences.

    Attributes
    ----------
    embeddings : Tensor of shape (2 n, time, e)
        Embeddings of the first members, which are always the sentences themselves.
    source : Tensor of shape (2 n, time, e)
        Embeddings of the second members: the sentences in real pairs, their counterfactuals in fake pairs.
    first, second : Tensor of shape (2 n, time, d)
        Representations of both members.
    mask : BoolTensor of shape (2 n, time)
    """

    embeddings: Tensor
    source: Tensor
    first: Tensor
    second: Tensor
    mask: Tensor

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def real(self) -> Tensor:
        """Correct answers of the adversaries, (2 n,): True for real pairs."""
        return torch.arange(len(self), device=self.mask.device) < len(self) // 2


def release_pairs(
    representer: Representer, batch: PairBatch, generator: torch.Generator | None, template: str = "noisy"
) -> ReleasedPairs:
    """Make one real and one fake pair for each sentence with a counterfactual.

    Parameters
    ----------
    representer : Representer
        Network that makes the vectors.
    batch : PairBatch
        Sentences and counterfactuals.
    generator : torch.Generator or None
        Random stream of the noise, on the device of the batch.
    template : {"noisy", "noise_free"}, default="noisy"
        Representation of the first members. "noise_free" is the template of an attacker who has the network (T3): the
        first members have no noise, and only the second, released members have noise.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.representations import PairBatches, PairData, release_pairs
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> generator = torch.Generator().manual_seed(0)
    >>> batch = next(PairBatches(data).epoch(None, generator))
    >>> pairs = release_pairs(Representer(4, 3), batch, generator)
    >>> pairs.first.shape, pairs.real.tolist()
    (torch.Size([2, 2, 3]), [True, False])
    """
    # Sentences with a counterfactual come first in a batch; shape: (n_pairs, time, e)
    x, mask = batch.embeddings[: batch.n_pairs], batch.pair_mask
    embeddings, source, twice = torch.cat([x, x]), torch.cat([x, batch.moved]), torch.cat([mask, mask])
    if template == "noisy":
        # A single pass represents all members, (4 n, time, e); each row has its own noise.
        both = representer(torch.cat([embeddings, source]), torch.cat([twice, twice]), generator=generator)
        first, second = both.chunk(2)
    else:
        # Without noise, real and fake pairs have the same first members; shape: (2 n, time, d)
        first = representer(x, mask, noise=False).repeat(2, 1, 1)
        second = representer(source, twice, generator=generator)
    return ReleasedPairs(embeddings, source, first, second, twice)


@dataclass(frozen=True, repr=False)
class Judgement:
    """Answers of adversaries on pairs.

    Attributes
    ----------
    logits : dict of str to Tensor of shape (2 n,)
        Logits of "t1" and "t2", and of "average" if the paper's two adversaries are averaged. A logit above 0 means
        "same sentence".
    real : Tensor of shape (2 n,)
        Correct answers.
    auxiliary : dict of str to Tensor
        Further losses of an adversary, for its own training only.
    """

    logits: dict[str, Tensor]
    real: Tensor
    auxiliary: dict[str, Tensor] = field(default_factory=dict)

    def cross_entropy(self, name: str) -> Tensor:
        """Compute the adversary's loss l_adv on each pair, shape (2 n,); the loss of a guess is ln 2."""
        return F.binary_cross_entropy_with_logits(self.logits[name], self.real.to(self.logits[name]), reduction="none")

    def accuracy(self, name: str) -> Tensor:
        """Compute the share of correct answers."""
        return ((self.logits[name] > 0.0) == self.real).float().mean()


class PairAdversaries(nn.Module):
    """T1 (embeddings and representation) and T2 (two representations) on the same pairs.

    Parameters
    ----------
    embedding_size, n_components : int
        Widths of embeddings and representation.
    kind : {"paper", "strong"}, default="strong"
        Kind of the adversaries. The paper's two adversaries share a loss, on the mean of their probabilities. Each
        strong adversary has a separate loss, since the mean of two adversaries that disagree looks like chance.
    tasks : tuple of {"t1", "t2"}, default=("t1", "t2")
        Adversaries to make.
    template : {"noisy", "noise_free"}, default="noisy"
        Representation of the first members; see `release_pairs`.
    hidden_size : int, optional
        Hidden size of the networks; by default 300 (paper) or 128 (strong).
    norms : (float, float), default=(1.0, 1.0)
        Typical lengths of an embedding and of a representation's vector (`typical_norms`), for the strong adversaries.

    Attributes
    ----------
    judges : tuple of str
        Names of the losses: ("average",), or the tasks.

    Raises
    ------
    ValueError
        If kind, tasks or template are unknown.

    References
    ----------
    Friedrich et al. (2019), section 5.3.

    Examples
    --------
    >>> from sklearn_deid.representations import PairAdversaries
    >>> PairAdversaries(4, 3, kind="paper").judges, PairAdversaries(4, 3).judges
    (('average',), ('t1', 't2'))
    """

    def __init__(
        self,
        embedding_size: int,
        n_components: int,
        *,
        kind: str = "strong",
        tasks: tuple[str, ...] = _TASKS,
        template: str = "noisy",
        hidden_size: int | None = None,
        norms: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        super().__init__()
        if kind not in _KINDS:
            raise ValueError(f"The 'kind' parameter must be paper or strong. Got {kind!r}.")
        if template not in _TEMPLATES:
            raise ValueError(f"The 'template' parameter must be noisy or noise_free. Got {template!r}.")
        if not tasks or not set(tasks) <= set(_TASKS):
            raise ValueError(f"The 'tasks' parameter must name t1, t2 or both. Got {tasks!r}.")
        self.kind, self.template = kind, template
        self.tasks = tuple(task for task in _TASKS if task in tasks)
        # The paper averages the probabilities of T1 and T2 before the loss, so that both have one loss in common.
        self.judges = ("average",) if kind == "paper" and len(self.tasks) == 2 else self.tasks
        size = hidden_size or (300 if kind == "paper" else 128)
        e, d = embedding_size, n_components
        members: dict[str, nn.Module] = {}
        if kind == "paper":
            members = {"t1": EmbeddingPairAdversary(e, d, size), "t2": RepresentationPairAdversary(d, size)}
        else:
            members["t1"] = StrongEmbeddingAdversary(e, d, size, embedding_norm=norms[0], norm=norms[1])
            members["t2"] = StrongRepresentationAdversary(d, size, norm=norms[1])
        self.members = nn.ModuleDict({task: members[task] for task in self.tasks})
        self.float()  # whatever the default type of torch

    def draw(self, representer: Representer, batch: PairBatch, generator: torch.Generator | None) -> ReleasedPairs:
        """Make the pairs of a batch, with the template of these adversaries."""
        return release_pairs(representer, batch, generator, self.template)

    def forward(self, pairs: ReleasedPairs) -> Judgement:
        """Compute the logits of every adversary and of their average, and the auxiliary losses."""
        logits, auxiliary = {}, {}
        for task, member in self.members.items():
            if task == "t2":
                logits[task] = member(pairs.first, pairs.second, pairs.mask)
            elif isinstance(member, StrongEmbeddingAdversary):
                guess = member.invert(pairs.second, pairs.mask)
                logits[task] = member.judge(pairs.embeddings, guess, pairs.mask)
                # The guess belongs to the represented sentence, which is the counterfactual in a fake pair.
                auxiliary[task] = cosine_distance(guess, pairs.source, pairs.mask).mean()
            else:
                logits[task] = member(pairs.embeddings, pairs.second, pairs.mask)
        if self.judges == ("average",):
            logits["average"] = average_adversaries(*logits.values())
        return Judgement(logits, pairs.real, auxiliary)

    def modules_of(self, judge: str) -> list[nn.Module]:
        """Return the networks that learn from the loss of a judge."""
        return list(self.members.values()) if judge == "average" else [self.members[judge]]


@torch.no_grad()
def typical_norms(
    representer: Representer, batches: PairBatches, generator: torch.Generator | None = None
) -> tuple[float, float]:
    """Measure the mean length of an embedding and of a representation's vector, over tokens; 1 if all are zero.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.representations import PairBatches, PairData, typical_norms
    >>> data = PairData(3 * torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> [round(norm, 4) for norm in typical_norms(Representer(4, 3), PairBatches(data))]
    [3.0, 1.0]
    """
    sums = torch.zeros(3, dtype=torch.float64, device=batches.device)
    own = generator or torch.Generator(batches.device).manual_seed(0)
    for batch in batches.epoch(None, own, sentences="pairs", max_pairs=_NORM_SENTENCES, moved=False):
        # Padded positions are zero in embeddings and representations, so they add nothing to the sums.
        r = representer(batch.embeddings, batch.mask, generator=own)
        sums += torch.stack([batch.embeddings.norm(dim=2).sum(), r.norm(dim=2).sum(), batch.mask.sum()]).double()
    embedding, representation, n = sums.tolist()
    # "or 1.0": vectors that are all zero have no scale, and a division by their length would give infinity.
    return embedding / max(n, 1) or 1.0, representation / max(n, 1) or 1.0
