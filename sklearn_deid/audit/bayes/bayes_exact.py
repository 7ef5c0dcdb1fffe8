"""Exact success of the best attacker on a randomised release: sums over all releases, or over multisets of releases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from ...metrics import Estimate
from .bayes_attack import LOG_TIE, Attack, Target

_TIE = 1e-12
_MULTISETS_AT_ONCE = 4096


def n_multisets(target: Target, enough: int) -> int:
    """Number of multisets of releases. The count stops as soon as the number exceeds ``enough``."""
    columns: set[int] = set()
    found = 0
    for _, block in target.blocks:
        columns.update(np.unique(block.indices).tolist())
        found = comb(len(columns) + target.n_releases - 1, target.n_releases)
        if found > enough:
            break
    return found


def exact_attack(target: Target) -> Attack:
    """Sum the largest joint probability over all releases, ``sum_r max_w prior(w) P(r | w)``."""
    value, worst = _exact_several(target) if target.n_releases > 1 else _exact_one(target)
    return Attack(Estimate.exact(min(1.0, value)), min(1.0, worst))


def _exact_one(target: Target) -> tuple[float, float]:
    """Success over all tokens and on the most exposed token.

    Three passes over the table: the largest joint probability of each release, the number of ties, and the proportion
    of each tied token.
    """
    prior, blocks = target.prior, target.blocks
    best = np.zeros(0)
    for part, block in blocks:
        best = best if len(best) else np.zeros(block.shape[1])
        np.maximum.at(best, block.indices, block.data * prior[part][_row_of(block)])
    ties = np.zeros(len(best))
    for part, block in blocks:
        ties += np.bincount(block.indices[_is_best(block, prior[part], best)], minlength=len(best))
    worst = 0.0
    for part, block in blocks:
        hit = _is_best(block, prior[part], best)
        share = block.data[hit] / ties[block.indices[hit]]
        worst = max(worst, float(np.bincount(_row_of(block)[hit], weights=share, minlength=1).max()))
    return float(best.sum()), worst


def _row_of(block: csr_array) -> np.ndarray:
    """Row of each stored entry."""
    return np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))


def _is_best(block: csr_array, prior: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Whether each stored entry is the largest of its column, ties included."""
    joint = block.data * prior[_row_of(block)]
    return (joint > 0) & (joint >= best[block.indices] * (1 - _TIE))


def _exact_several(target: Target) -> tuple[float, float]:
    """Success over all tokens and on the most exposed token, for several releases.

    The order of the releases carries no information. The function therefore counts each multiset of releases once, and
    multiplies its probability by the number of its orders.
    """
    whole = [block for _, block in target.blocks]
    columns = np.unique(np.concatenate([block.indices for block in whole]))
    # shape: (n_tokens, n_columns)
    table = np.concatenate([block[:, columns].toarray() for block in whole])
    # A separate mask for zero probabilities, because 0 * log(0) would be NaN in the products below.
    impossible = (table == 0).astype(np.float64)
    logs = np.log(np.where(table > 0, table, 1.0))
    with np.errstate(divide="ignore"):
        log_prior = np.log(target.prior)[:, None]
    total, success = 0.0, np.zeros(len(table))
    for counts in _multisets(len(columns), target.n_releases, target.rows_of(5 * len(table) + 3 * len(columns))):
        # Multinomial coefficient: number of orders of a multiset. shape: (n_multisets,)
        orders = gammaln(target.n_releases + 1) - gammaln(counts + 1.0).sum(axis=1)
        # In logarithms, because products of many probabilities underflow and numbers of orders overflow.
        # shape: (n_tokens, n_multisets)
        likelihood = np.where(impossible @ counts.T > 0, -np.inf, logs @ counts.T + orders)
        joint = likelihood + log_prior
        largest = joint.max(axis=0)
        named = np.isfinite(joint) & (joint >= largest - LOG_TIE)
        total += float(np.exp(largest).sum())
        # Tied tokens are named equally often.
        success += (np.where(named, np.exp(likelihood), 0.0) / np.maximum(named.sum(axis=0), 1)).sum(axis=1)
    return total, float(success.max())


def _multisets(n_columns: int, n_releases: int, at_once: int) -> Iterator[np.ndarray]:
    """Counts of each column in all multisets, a batch at a time; shape (n_multisets, n_columns)."""
    # Stars and bars: n_columns - 1 bars among the releases cut them into the counts.
    n_places = n_releases + n_columns - 1
    bars = combinations(range(n_places), n_columns - 1)
    at_once = min(at_once, _MULTISETS_AT_ONCE)
    while chosen := list(islice(bars, at_once)):
        cuts = np.array(chosen, dtype=np.int64).reshape(len(chosen), n_columns - 1)
        ends = np.full((len(chosen), 1), n_places)
        yield (np.diff(np.hstack([np.full_like(ends, -1), cuts, ends]), axis=1) - 1).astype(np.float64)
