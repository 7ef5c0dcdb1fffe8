"""Distances for an attacker who picks the token and the neighbour of a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .._skorch import plain_torch
from .bound import pair_distance
from .network import Representer
from .pair_batches import PairBatch, PairBatches

_CELLS = 2**15  # tokens of a batch of counterfactuals


@dataclass(frozen=True, repr=False)
class WorstNeighbors:
    """For each sentence, the largest d' over all of its replaceable tokens and all of their neighbours.

    Attributes
    ----------
    distances : ndarray of shape (n, 2)
        Largest distance over counterfactuals with the casing classes of the sentence (column 0), and over
        counterfactuals in which the class of the new word differs (column 1); -inf without such a counterfactual.
    n_twins : int
        Number of counterfactuals that were compared.
    """

    distances: np.ndarray
    n_twins: int

    def __len__(self) -> int:
        return len(self.distances)


@plain_torch()
@torch.no_grad()
def worst_neighbors(
    representer: Representer,
    batches: PairBatches,
    rng: np.random.Generator,
    generator: torch.Generator,
    *,
    max_sentences: int | None = None,
) -> WorstNeighbors:
    """Compare each sentence with all counterfactuals that differ in one token.

    A sentence of 5 replaceable tokens with 100 neighbours each has 500 counterfactuals.

    Parameters
    ----------
    representer : Representer
        Representer whose means and noise give the distances.
    batches : PairBatches
        Sentences. Sentences without a token that can be replaced are skipped.
    rng : numpy.random.Generator
        Random stream that samples sentences.
    generator : torch.Generator
        Random stream of the input noise, which sentence and counterfactuals share; on the device of the batches.
    max_sentences : int, optional
        Number of sentences to sample. None compares all sentences.
    """
    largest, n_twins = [np.zeros((0, 2))], 0
    for batch in batches.epoch(rng, generator, sentences="pairs", max_pairs=max_sentences):
        eps = representer.input_noise.draw(batch.embeddings, generator)
        mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)  # shape: (batch, time, d)
        sentence, token, word, changed = batches.all_moves(batch)
        # shape: (batch, 2), flat: the place of a counterfactual is twice its sentence plus whether its casing changed
        best = torch.full((2 * len(mu),), -torch.inf, dtype=torch.float64, device=mu.device)
        step = max(1, _CELLS // mu.shape[1])
        for start in range(0, len(sentence), step):
            some = slice(start, start + step)
            moved = (sentence[some], token[some], batches.embed(word[some]))
            distance = _distances(representer, batch, eps, mu, *moved)
            best.scatter_reduce_(0, 2 * sentence[some] + changed[some], distance.double(), "amax")
        largest.append(best.reshape(-1, 2).cpu().numpy())
        n_twins += len(sentence)
    return WorstNeighbors(np.concatenate(largest), n_twins)


def _distances(
    representer: Representer, batch: PairBatch, eps: Tensor, mu: Tensor, sentence: Tensor, token: Tensor, to: Tensor
) -> Tensor:
    """Compute d' of counterfactuals, (n_twins,), in which a token has the embedding ``to``, (n_twins, e)."""
    x, mask = batch.embeddings[sentence], batch.mask[sentence]  # shape: (n_twins, time, e), (n_twins, time)
    x[torch.arange(len(x), device=x.device), token] = to
    moved = representer.mean(x, mask, input_eps=eps[sentence])
    return pair_distance(mu[sentence], moved, representer.output_std(), mask)
