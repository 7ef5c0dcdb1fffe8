"""Which word is likeliest behind its releases: tables of likelihoods, known or learned from draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, issparse, vstack

__all__ = ["known_table", "learned_table", "most_likely"]

_CELLS = 4_000_000  # of a block of scores: 32 MB
_TOKENS_AT_ONCE = 64
_DRAWS_AT_ONCE = 100_000


def known_table(mechanism: Any, tokens: Sequence[str], seen: np.ndarray) -> csc_array:
    """Probability of each seen release of each token, shape (n_tokens, n_seen)."""
    if not hasattr(mechanism, "probabilities"):
        raise ValueError("The exact attacker on released text needs a mechanism with known probabilities.")
    parts = []
    for start in range(0, len(tokens), _TOKENS_AT_ONCE):
        block = mechanism.probabilities(tokens[start : start + _TOKENS_AT_ONCE])
        block = block.tocsr() if issparse(block) else csr_array(np.atleast_2d(block))
        inside = np.flatnonzero(seen < block.shape[1])
        part = block[:, seen[inside]].tocoo()
        shape = (block.shape[0], len(seen))
        parts.append(coo_array((part.data, (part.coords[0], inside[part.coords[1]])), shape=shape))
    return vstack(parts, format="csc")


def learned_table(
    mechanism: Any, tokens: Sequence[str], seen: np.ndarray, each: int, rng: np.random.Generator
) -> csc_array:
    """How many of ``each`` simulated releases of a token were each of the seen ones, shape (n_tokens, n_seen)."""
    parts, at_once = [], max(1, _DRAWS_AT_ONCE // each)
    for start in range(0, len(tokens), at_once):
        some = list(tokens[start : start + at_once])
        drawn = np.asarray(mechanism.sample([token for token in some for _ in range(each)], rng))
        place = np.minimum(np.searchsorted(seen, drawn), len(seen) - 1)
        hit = np.flatnonzero(seen[place] == drawn)
        parts.append(coo_array((np.ones(len(hit)), (hit // each, place[hit])), shape=(len(some), len(seen))).tocsr())
    return vstack(parts, format="csc")


def most_likely(
    table: csc_array, floor: float, log_prior: np.ndarray, columns: np.ndarray, owner: np.ndarray
) -> np.ndarray:
    """Token with the largest prior times the product over a trial's releases; shape (n_trials,)."""
    n_trials = int(owner[-1]) + 1
    # What no token can have been released as tells nothing.
    useful = np.asarray(table.sum(axis=0)).reshape(-1)[columns] > 0
    counts = coo_array((np.ones(int(useful.sum())), (owner[useful], columns[useful])), (n_trials, table.shape[1]))
    counts = counts.tocsr()
    best, at_once = np.empty(n_trials, dtype=np.int64), max(1, _CELLS // len(log_prior))
    for start in range(0, n_trials, at_once):
        part = counts[start : start + at_once]
        used = np.unique(part.indices)
        with np.errstate(divide="ignore"):
            logs = np.log(table[:, used].toarray().T + floor)  # shape: (n_used, n_tokens)
        score = part[:, used] @ logs + log_prior
        # Nothing fits all releases: the words' frequency is left.
        score[~np.isfinite(score).any(axis=1)] = log_prior
        best[start : start + at_once] = score.argmax(axis=1)
    return best
