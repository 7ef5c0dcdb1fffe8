"""Attacker who learns a mechanism from draws, for mechanisms without known probabilities."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy.sparse import coo_array, csr_array

from ...metrics import Estimate
from ...metrics.intervals import exact_interval
from .bayes_attack import Attack, Target

_SAMPLES_AT_ONCE = 20_000


def plug_in_attack(target: Target, n_samples: int, rng: np.random.Generator) -> Attack:
    """Success of an attacker who learns the mechanism from draws, and an upper bound for every attacker.

    The success of this attacker on new draws is a lower bound for the best attacker (interval of Clopper and Pearson).
    The same sum on the draws of the learning phase is too large on average, because the largest of means is at least
    the mean of the largest. With McDiarmid's inequality this sum becomes an upper bound for one release. For several
    releases the upper bound is 1.
    """
    prior, guess = target.prior, float(target.prior.max())
    learned = max(20, n_samples // 10)
    table = _estimated(target, learned, rng)
    truth = rng.choice(len(target.tokens), size=n_samples, p=prior)
    hits = 0
    at_once = min(_SAMPLES_AT_ONCE, target.rows_of(4 * len(target.tokens)))
    for start in range(0, n_samples, at_once):
        part = truth[start : start + at_once]
        hits += int((_guesses(target, table, part, rng) == part).sum())
    low, _ = exact_interval(hits, n_samples, 1 - target.delta)
    upper = 1.0
    if target.n_releases == 1:
        # Replacing one draw of a token with prior p changes the sum by at most p / learned (McDiarmid's condition).
        resubstituted = float(table.multiply(prior[:, None]).tocsr().max(axis=0).sum())
        upper = resubstituted + sqrt(log(2 / target.delta) / 2 * float((prior**2).sum()) / learned)
    # A guess without the release is right with the largest prior, and the best attacker is no worse.
    value = max(guess, hits / n_samples)
    return Attack(Estimate(value, max(guess, low), min(1.0, max(upper, value)), n_samples), None)


def _draw(target: Target, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw releases, and check that the mechanism numbers its releases."""
    drawn = np.asarray(target.draw(truth, rng))
    if drawn.ndim != 1 or drawn.dtype.kind not in "iu" or (drawn < 0).any():
        raise ValueError(
            "method='plug-in' needs a mechanism whose releases are numbers of at least 0. For vectors, give the "
            "mechanism a 'log_likelihood' and use method='monte carlo'."
        )
    return drawn


def _estimated(target: Target, each: int, rng: np.random.Generator) -> csr_array:
    """Proportion of each release among ``each`` draws of each token."""
    rows, columns = [], []
    n_tokens, at_once = len(target.tokens), max(1, _SAMPLES_AT_ONCE // each)
    for start in range(0, n_tokens, at_once):
        truth = np.repeat(np.arange(start, min(start + at_once, n_tokens)), each)
        rows.append(truth)
        columns.append(_draw(target, truth, rng))
    row, column = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.full(len(row), 1 / each), (row, column)), shape=(n_tokens, int(column.max()) + 1)).tocsr()


def _guesses(target: Target, table: csr_array, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the most likely token under the learned table. A release that was never drawn is ignored."""
    # shape: (n_tokens, n_samples)
    score = np.tile(np.log(np.maximum(target.prior, 1e-300))[:, None], len(truth))
    by_column = table.tocsc()
    floor = 0.01 * table.data.min()
    for _ in range(target.n_releases):
        drawn = _draw(target, truth, rng)
        known = np.flatnonzero(drawn < table.shape[1])
        score[:, known] += np.log(by_column[:, drawn[known]].toarray() + floor)
    return score.argmax(axis=0)
