"""The best attacker on a randomised release: exact sums, Monte Carlo, and a plug-in where nothing else is possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb, factorial, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from scipy.stats import norm

__all__ = ["Attack", "bracket_attack", "exact_attack", "monte_carlo_attack", "n_multisets", "plug_in_attack"]

_DELTA = 0.05
_TIE = 1e-12
# Entries of a probability table that are kept, so that a second pass over it costs nothing: 0.8 GB at most.
_KEPT = 50_000_000
_TOKENS_AT_ONCE = 32
_SAMPLES_AT_ONCE = 20_000


class Attack(NamedTuple):
    """What the best attacker attains on one set of tokens.

    Attributes
    ----------
    probability, lower, upper : float
        Of naming the token, and the 95 % interval of it.
    worst_case : float or None
        Of naming the most exposed token.
    n_samples : int
        Releases that were drawn; 0 where the sum is exact.
    """

    probability: float
    lower: float
    upper: float
    worst_case: float | None
    n_samples: int


def n_multisets(mechanism: Any, tokens: Sequence[str], n_releases: int) -> int:
    """How many different sets of releases there are."""
    columns: set[int] = set()
    for _, block in _blocks(mechanism, tokens):
        columns.update(np.unique(block.indices).tolist())
        if len(columns) > 10_000:
            break
    return comb(len(columns) + n_releases - 1, n_releases)


def exact_attack(mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int) -> Attack:
    """Sum over all releases of the largest joint probability, ``sum_r max_w prior(w) P(r | w)``."""
    if n_releases > 1:
        return _exact_several(mechanism, tokens, prior, n_releases)
    blocks = _Passes(mechanism, tokens)
    best = np.zeros(0)
    for part, block in blocks:
        joint = block.multiply(prior[part][:, None]).tocsr()
        largest = joint.max(axis=0).toarray().ravel()
        best = largest if not len(best) else np.maximum(best, largest)
    ties = np.zeros(len(best))
    for part, block in blocks:
        ties += np.bincount(block.indices[_is_best(block, prior[part], best)], minlength=len(best))
    success = np.zeros(len(tokens))
    for part, block in blocks:
        hit = _is_best(block, prior[part], best)
        share = np.where(hit, block.data / np.maximum(ties[block.indices], 1), 0.0)
        success[part] = np.bincount(_row_of(block), weights=share, minlength=block.shape[0])
    value = min(1.0, float(best.sum()))
    return Attack(value, value, value, min(1.0, float(success.max())), 0)


def monte_carlo_attack(
    mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int, n_samples: int, rng: np.random.Generator
) -> Attack:
    """Mean over drawn releases of the largest posterior probability, with an interval that holds for any values.

    The mean of the largest posterior is the success of the best attacker, and varies less than hits and misses do. The
    interval is the empirical Bernstein bound of Maurer and Pontil (2009, theorem 4) on both sides.
    """
    truth = rng.choice(len(tokens), size=n_samples, p=prior)
    certainty, _ = _posterior(mechanism, tokens, prior, truth, n_releases, rng)
    if not certainty.all():
        raise ValueError("The mechanism draws releases that its own probabilities exclude; nothing can be said of it.")
    # A guess without the release attains at least the largest prior; the mean of draws may fall short of it.
    mean, half = max(float(certainty.mean()), float(prior.max())), _bernstein(certainty)
    worst = _most_exposed(mechanism, tokens, prior, n_releases, n_samples, rng)
    return Attack(mean, max(float(prior.max()), mean - half), min(1.0, mean + half), worst, n_samples)


def plug_in_attack(
    mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int, n_samples: int, rng: np.random.Generator
) -> Attack:
    """An attacker who knows the mechanism by drawing from it: hits on fresh draws, and what no attacker can exceed.

    The hits of this attacker are a lower bound for the best one. The same sum on the draws he learned from is too large
    on average, so that with McDiarmid's inequality it is an upper bound (for one release; else the bound is 1).
    """
    learned = max(20, n_samples // 10)
    table = _estimated(mechanism, tokens, learned, rng)
    truth = rng.choice(len(tokens), size=n_samples, p=prior)
    hits = np.empty(n_samples)
    for start in range(0, n_samples, _SAMPLES_AT_ONCE):
        part = truth[start : start + _SAMPLES_AT_ONCE]
        guess = _guesses(mechanism, tokens, prior, table, part, n_releases, rng)
        hits[start : start + len(part)] = guess == part
    low, _ = _wilson(float(hits.mean()), n_samples)
    upper = 1.0
    if n_releases == 1:
        resubstituted = float(table.multiply(prior[:, None]).tocsr().max(axis=0).sum())
        upper = min(1.0, resubstituted + sqrt(log(2 / _DELTA) / 2 * float((prior**2).sum()) / learned))
    return Attack(float(hits.mean()), low, max(upper, float(hits.mean())), None, n_samples)


def bracket_attack(
    mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int, n_samples: int, rng: np.random.Generator
) -> Attack:
    """Between the hits of one attacker and the success of the best one on a release that tells more.

    The interval reaches from the lower bound of the first to the upper bound of the second.
    """
    telling_more, telling_less = mechanism.bracket()
    above = monte_carlo_attack(telling_more, tokens, prior, n_releases, n_samples, rng)
    truth = rng.choice(len(tokens), size=n_samples, p=prior)
    _, named = _posterior(telling_less, tokens, prior, truth, n_releases, rng)
    hits, guess = float(named.mean()), float(prior.max())
    return Attack(max(hits, guess), max(hits - _bernstein(named), guess), max(above.upper, hits), None, n_samples)


# ---- exact


class _Passes:
    """Blocks of the probability table, made anew in each pass unless they are small enough to keep."""

    def __init__(self, mechanism: Any, tokens: Sequence[str]) -> None:
        self.mechanism, self.tokens = mechanism, tokens
        self._kept: list[tuple[slice, csr_array]] | None = None

    def __iter__(self) -> Iterator[tuple[slice, csr_array]]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[tuple[slice, csr_array]] | None = []
        stored = 0
        for part, block in _blocks(self.mechanism, self.tokens):
            stored += block.nnz
            if kept is not None:
                kept = [*kept, (part, block)] if stored <= _KEPT else None
            yield part, block
        self._kept = kept


def _blocks(mechanism: Any, tokens: Sequence[str]) -> Iterator[tuple[slice, csr_array]]:
    for start in range(0, len(tokens), _TOKENS_AT_ONCE):
        part = slice(start, min(start + _TOKENS_AT_ONCE, len(tokens)))
        table = mechanism.probabilities(tokens[part])
        table = csr_array(table) if not issparse(table) else table.tocsr()
        table.sum_duplicates()
        yield part, table


def _row_of(block: csr_array) -> np.ndarray:
    return np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))


def _is_best(block: csr_array, prior: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Which stored entries are the largest of their column, ties included."""
    joint = block.data * prior[_row_of(block)]
    return (joint > 0) & (joint >= best[block.indices] * (1 - _TIE))


def _exact_several(mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int) -> Attack:
    whole = [block for _, block in _blocks(mechanism, tokens)]
    columns = np.unique(np.concatenate([block.indices for block in whole]))
    table = np.concatenate([block[:, columns].toarray() for block in whole])  # shape: (n_tokens, n_releases)
    total, success = 0.0, np.zeros(len(tokens))
    for chosen in combinations_with_replacement(range(len(columns)), n_releases):
        repeated = np.unique(chosen, return_counts=True)[1]
        orders = factorial(n_releases) / np.prod([factorial(int(n)) for n in repeated])
        likelihood = orders * table[:, list(chosen)].prod(axis=1)
        joint = prior * likelihood
        largest = joint.max()
        if largest > 0:
            named = joint >= largest * (1 - _TIE)
            total += largest
            success += np.where(named, likelihood / named.sum(), 0.0)
    value = min(1.0, float(total))
    return Attack(value, value, value, min(1.0, float(success.max())), 0)


# ---- Monte Carlo


def _posterior(
    mechanism: Any,
    tokens: Sequence[str],
    prior: np.ndarray,
    truth: np.ndarray,
    n_releases: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """For releases of the tokens ``truth``: the largest posterior, and the probability that the truth is named."""
    certainty, named = np.empty(len(truth)), np.empty(len(truth))
    log_prior = np.log(np.where(prior > 0, prior, 1.0)) + np.where(prior > 0, 0.0, -np.inf)
    for start in range(0, len(truth), _SAMPLES_AT_ONCE):
        part = slice(start, min(start + _SAMPLES_AT_ONCE, len(truth)))
        drawn = [mechanism.sample([tokens[i] for i in truth[part].tolist()], rng) for _ in range(n_releases)]
        largest = np.full(len(drawn[0]), -np.inf)
        total, ties, own = largest.copy(), np.zeros(len(largest)), largest.copy()
        for block, likelihood in _log_likelihoods(mechanism, tokens, drawn):
            joint = likelihood + log_prior[block][:, None]  # shape: (n_block, n_samples)
            total = np.logaddexp(total, np.logaddexp.reduce(joint, axis=0))
            top = joint.max(axis=0)
            near = np.isclose(joint, np.maximum(top, largest), rtol=0, atol=1e-9).sum(axis=0)
            ties = np.where(top > largest + 1e-9, 0, ties) + near
            largest = np.maximum(largest, top)
            mine = np.flatnonzero((truth[part] >= block.start) & (truth[part] < block.stop))
            own[mine] = joint[truth[part][mine] - block.start, mine]
        # No token fits a release: it is not named. An attacker who takes one release for another may get there.
        fits = np.isfinite(total)
        certainty[part] = np.where(fits, np.exp(largest - np.where(fits, total, 0.0)), 0.0)
        named[part] = np.where(np.isfinite(own) & (own >= largest - 1e-9), 1.0 / np.maximum(ties, 1), 0.0)
    return np.minimum(certainty, 1.0), named


def _log_likelihoods(
    mechanism: Any, tokens: Sequence[str], drawn: list[np.ndarray]
) -> Iterator[tuple[slice, np.ndarray]]:
    """Log likelihood of all releases of each sample, for blocks of tokens; shape (n_block, n_samples)."""
    if hasattr(mechanism, "probabilities"):
        columns, inverse = np.unique(np.stack(drawn), return_inverse=True)
        inverse = inverse.reshape(len(drawn), -1)
        for part, block in _blocks(mechanism, tokens):
            with np.errstate(divide="ignore"):
                logs = np.log(block[:, columns].toarray())
            yield part, sum((logs[:, line] for line in inverse), start=np.zeros((len(logs), inverse.shape[1])))
        return
    for start in range(0, len(tokens), 8 * _TOKENS_AT_ONCE):
        part = slice(start, min(start + 8 * _TOKENS_AT_ONCE, len(tokens)))
        yield part, sum(mechanism.log_likelihood(tokens[part], releases) for releases in drawn)


def _most_exposed(
    mechanism: Any, tokens: Sequence[str], prior: np.ndarray, n_releases: int, n_samples: int, rng: np.random.Generator
) -> float:
    """Probability of naming the token that seems most exposed, on draws that it was not chosen by.

    The largest of thousands of noisy estimates would be too large.
    """
    each = max(3, n_samples // len(tokens))
    truth = np.repeat(np.arange(len(tokens)), each)
    _, named = _posterior(mechanism, tokens, prior, truth, n_releases, rng)
    chosen = int(named.reshape(-1, each).mean(axis=1).argmax())
    _, again = _posterior(mechanism, tokens, prior, np.full(max(100, n_samples // 10), chosen), n_releases, rng)
    return float(again.mean())


def _bernstein(values: np.ndarray) -> float:
    """Half width of the 95 % interval of a mean of values in [0, 1]."""
    n, logs = len(values), log(4 / _DELTA)
    return sqrt(2 * float(values.var(ddof=1)) * logs / n) + 7 * logs / (3 * (n - 1))


# ---- plug-in


def _estimated(mechanism: Any, tokens: Sequence[str], each: int, rng: np.random.Generator) -> csr_array:
    """Share of each release among ``each`` draws of each token."""
    rows, columns = [], []
    for start in range(0, len(tokens), max(1, _SAMPLES_AT_ONCE // each)):
        numbers = np.arange(start, min(start + max(1, _SAMPLES_AT_ONCE // each), len(tokens)))
        truth = np.repeat(numbers, each)
        rows.append(truth)
        columns.append(mechanism.sample([tokens[i] for i in truth.tolist()], rng))
    row, column = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.full(len(row), 1 / each), (row, column)), shape=(len(tokens), int(column.max()) + 1)).tocsr()


def _guesses(
    mechanism: Any,
    tokens: Sequence[str],
    prior: np.ndarray,
    table: csr_array,
    truth: np.ndarray,
    n_releases: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """The token that the learned table makes most likely; a release never seen tells nothing."""
    score = np.tile(np.log(np.maximum(prior, 1e-300))[:, None], len(truth))  # shape: (n_tokens, n_samples)
    by_column = table.tocsc()
    floor = 0.01 * table.data.min()
    for _ in range(n_releases):
        drawn = mechanism.sample([tokens[i] for i in truth.tolist()], rng)
        known = np.flatnonzero(drawn < table.shape[1])
        score[:, known] += np.log(by_column[:, drawn[known]].toarray() + floor)
    return score.argmax(axis=0)


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = float(norm.ppf(1 - _DELTA / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return centre - half, centre + half
