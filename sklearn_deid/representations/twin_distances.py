"""Distances d' between sentences and their counterfactuals, and their sums over patients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .._skorch import plain_torch
from .bound import twin_distance
from .network import Representer
from .pair_batches import PairBatches


@dataclass(frozen=True, repr=False)
class TwinDistances:
    """Distances of sentences and counterfactuals, or of patients and their counterfactuals.

    Attributes
    ----------
    distances : ndarray of shape (n,)
        Distance d' of the vectors.
    n_changed : ndarray of int, shape (n,)
        Number of tokens whose casing class differs between sentence and counterfactual.
    n_tokens : ndarray of int, shape (n,)
        Number of tokens of the sentences that have a counterfactual.
    rows : ndarray of int, shape (n,)
        Number of the sentence, or of the patient.
    """

    distances: np.ndarray
    n_changed: np.ndarray
    n_tokens: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.distances)

    def over_patients(self, batches: PairBatches) -> TwinDistances:
        """Add up the squared distances of each patient's sentences.

        Equal sentences of a patient count once, since one call of `transform` releases equal sentences with the same
        noise.

        Parameters
        ----------
        batches : PairBatches
            Sentences of the distances, with their patients.
        """
        keys = batches.sentence_keys()[self.rows]
        patients = batches.patients[self.rows]
        # Equal sentences of a patient count once.
        first = np.unique(np.stack([patients, keys]), axis=1, return_index=True)[1]
        numbers, patient = np.unique(patients[first], return_inverse=True)
        squared, changed, tokens = (
            np.bincount(patient, weights=values[first], minlength=len(numbers))
            for values in (self.distances**2, self.n_changed, self.n_tokens)
        )
        return TwinDistances(np.sqrt(squared), changed.astype(np.int64), tokens.astype(np.int64), numbers)


@plain_torch()
@torch.no_grad()
def twin_distances(
    representer: Representer, batches: PairBatches, generator: torch.Generator, *, twins: str = "one"
) -> TwinDistances:
    """Compute the distance d' between each sentence with a replaceable token and one counterfactual.

    Parameters
    ----------
    representer : Representer
        Representer whose means and noise give the distances.
    batches : PairBatches
        Sentences. Sentences without a token that can be replaced are skipped.
    generator : torch.Generator
        Random stream of the counterfactuals and of the input noise, on the device of the batches.
    twins : {"one", "all", "unknown"}, default="one"
        Kind of counterfactual, as in `PairBatches.epoch`.
    """
    found: list[tuple[Tensor, ...]] = []
    for batch in batches.epoch(None, generator, sentences="pairs", twins=twins):
        distance = twin_distance(representer, batch, generator).double()
        found.append((distance, batches.casing_changes(batch), batch.mask.sum(1), batch.rows))
    if not found:
        return TwinDistances(np.zeros(0), *(np.zeros(0, dtype=np.int64) for _ in range(3)))
    return TwinDistances(*(torch.cat(values).cpu().numpy() for values in zip(*found, strict=True)))
