"""Success of the best attacker on a randomised release: target, probability table in blocks, and Monte Carlo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ...metrics import Estimate

# Joint probabilities count as equal if their logarithms differ by less than this: sums of logarithms are rounded.
LOG_TIE = 1e-9
_SAMPLES_AT_ONCE = 20_000
# Later rows of a sparse table may be wider than the rows seen so far, so that sparse blocks stay short.
_SPARSE_TOKENS_AT_ONCE = 64
# Bytes that a computation needs for one entry of a probability table.
_WORKED = 40
_FINALISTS = 32


class Attack(NamedTuple):
    """Success of the best attacker on one set of tokens.

    Attributes
    ----------
    probability : Estimate
        Probability that the attacker guesses the token correctly.
    worst_case : float or None
        Probability that the attacker guesses the most exposed token correctly.
    """

    probability: Estimate
    worst_case: float | None


@dataclass(frozen=True, repr=False)
class Target:
    """Attacked mechanism, and the tokens.

    Parameters
    ----------
    mechanism : Any
        Mechanism that releases tokens.
    tokens : sequence of str
        Tokens among which the attacker searches.
    prior : ndarray of shape (n_tokens,)
        Prior probabilities of the tokens, which add up to 1.
    n_releases : int
        Number of releases of each token.
    delta : float
        Largest probability that the interval does not contain the true value.
    max_bytes : int
        Largest size in bytes of the arrays in one step. The memory of the mechanism itself is additional.
    """

    mechanism: Any
    tokens: Sequence[str]
    prior: np.ndarray
    n_releases: int
    delta: float
    max_bytes: int

    @cached_property
    def blocks(self) -> ProbabilityBlocks:
        """Blocks of the probability table."""
        return ProbabilityBlocks(self.mechanism, self.tokens, self.max_bytes)

    def draw(self, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one release of each token in ``truth``, which contains positions in ``tokens``."""
        return self.mechanism.sample([self.tokens[i] for i in truth.tolist()], rng)

    def rows_of(self, n_numbers: int) -> int:
        """Number of rows that fit into memory in one step, if each row has ``n_numbers`` numbers."""
        return max(1, self.max_bytes // (8 * n_numbers))


class ProbabilityBlocks:
    """Blocks of rows of the probability table. Each pass computes the blocks again, unless all blocks fit in memory.

    Parameters
    ----------
    mechanism : Any
        Mechanism with ``probabilities``.
    tokens : sequence of str
        Rows of the table.
    max_bytes : int
        Memory limit. Half of this memory is for a single block. The other half is for all blocks, if all blocks are
        kept.
    """

    def __init__(self, mechanism: Any, tokens: Sequence[str], max_bytes: int) -> None:
        self.mechanism, self.tokens, self.max_bytes = mechanism, tokens, max_bytes // 2
        self._kept: list[tuple[slice, csr_array]] | None = None

    def __iter__(self) -> Iterator[tuple[slice, csr_array]]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[tuple[slice, csr_array]] = []
        stored = 0
        for part, block in self._made():
            stored += block.data.nbytes + block.indices.nbytes + block.indptr.nbytes
            kept = [*kept, (part, block)] if stored <= self.max_bytes else []
            yield part, block
        self._kept = kept if stored <= self.max_bytes else None

    def _made(self) -> Iterator[tuple[slice, csr_array]]:
        """Compute the blocks of rows from the mechanism."""
        # The width of later rows is estimated from the earlier rows; the first block has a single row.
        start, widest, at_once = 0, 1, 1
        while start < len(self.tokens):
            part = slice(start, min(start + at_once, len(self.tokens)))
            table = self.mechanism.probabilities(self.tokens[part])
            block = table.tocsr() if issparse(table) else csr_array(np.atleast_2d(table))
            block.sum_duplicates()
            _check_rows(block, part.stop - part.start)
            yield part, block
            widest = max(widest, int(np.diff(block.indptr).max()) if issparse(table) else block.shape[1])
            at_once = max(1, self.max_bytes // (_WORKED * widest))
            at_once = min(at_once, _SPARSE_TOKENS_AT_ONCE) if issparse(table) else at_once
            start = part.stop


def _check_rows(block: csr_array, n_tokens: int) -> None:
    """Reject an invalid table: if a row had a sum below 1, the release would appear more private than it is."""
    good = block.shape[0] == n_tokens and np.isfinite(block.data).all() and (block.data >= 0).all()
    if not good or (np.abs(block.sum(axis=1, dtype=np.float64) - 1) > 1e-3).any():
        raise ValueError("The 'probabilities' of the mechanism must be one row a token, at least 0, and add up to 1.")


def monte_carlo_attack(target: Target, n_samples: int, rng: np.random.Generator) -> Attack:
    """Average the largest posterior probability over drawn releases, with an interval for bounded values.

    The mean of the largest posterior is the success of the best attacker. The variance of this mean is smaller than the
    variance of the proportion of right guesses. The interval is the empirical Bernstein bound of Maurer and Pontil
    (2009, theorem 4) on both sides.
    """
    guess = float(target.prior.max())
    truth = rng.choice(len(target.tokens), size=n_samples, p=target.prior)
    certainty, _ = _posterior(target, truth, rng)
    if not certainty.all():
        raise ValueError("The mechanism draws releases that its own probabilities exclude: no result is possible.")
    # The best attacker reaches at least the largest prior, by a guess without the release. A mean of draws may be less.
    mean, half = min(1.0, max(float(certainty.mean()), guess)), _bernstein(certainty, target.delta)
    return Attack(
        Estimate(mean, max(guess, mean - half), min(1.0, mean + half), n_samples), _most_exposed(target, n_samples, rng)
    )


def bracket_attack(target: Target, n_samples: int, rng: np.random.Generator) -> Attack:
    """Enclose the success of the best attacker between the success of a weaker attacker and the success on a more
    informative release.

    The interval reaches from the lower bound for the weaker attacker to the upper bound for the best attacker on the
    more informative release.
    """
    telling_more, telling_less = target.mechanism.bracket()
    guess = float(target.prior.max())
    truth = rng.choice(len(target.tokens), size=n_samples, p=target.prior)
    certainty, _ = _posterior(replace(target, mechanism=telling_more), truth, rng)
    upper = max(float(certainty.mean()), guess) + _bernstein(certainty, target.delta)
    _, named = _posterior(replace(target, mechanism=telling_less), truth, rng)
    hits = float(named.mean())
    lower = max(hits - _bernstein(named, target.delta), guess)
    return Attack(Estimate(max(hits, guess), lower, min(1.0, max(upper, hits)), n_samples), None)


def _posterior(target: Target, truth: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest posterior and the probability of a correct guess, for releases of the tokens ``truth``."""
    certainty, named = np.empty(len(truth)), np.empty(len(truth))
    with np.errstate(divide="ignore"):
        log_prior = np.log(target.prior)
    for start in range(0, len(truth), _SAMPLES_AT_ONCE):
        part = slice(start, min(start + _SAMPLES_AT_ONCE, len(truth)))
        drawn = [np.asarray(target.draw(truth[part], rng)) for _ in range(target.n_releases)]
        largest = np.full(len(drawn[0]), -np.inf)
        total, ties, own = largest.copy(), np.zeros(len(largest)), largest.copy()
        # The table comes in blocks of tokens: each array below keeps a running value for every sample.
        for block, likelihood in _log_likelihoods(target, drawn):
            # shape: (n_block, n_samples)
            joint = likelihood + log_prior[block][:, None]
            total = np.logaddexp(total, np.logaddexp.reduce(joint, axis=0))
            top = joint.max(axis=0)
            near = np.isclose(joint, np.maximum(top, largest), rtol=0, atol=LOG_TIE).sum(axis=0)
            ties = np.where(top > largest + LOG_TIE, 0, ties) + near
            largest = np.maximum(largest, top)
            mine = np.flatnonzero((truth[part] >= block.start) & (truth[part] < block.stop))
            own[mine] = joint[truth[part][mine] - block.start, mine]
        # If no token can produce a release, no token is named. This happens to an attacker who assumes another release.
        fits = np.isfinite(total)
        certainty[part] = np.where(fits, np.exp(largest - np.where(fits, total, 0.0)), 0.0)
        named[part] = np.where(np.isfinite(own) & (own >= largest - LOG_TIE), 1.0 / np.maximum(ties, 1), 0.0)
    return np.minimum(certainty, 1.0), named


def _log_likelihoods(target: Target, drawn: list[np.ndarray]) -> Iterator[tuple[slice, np.ndarray]]:
    """Log-likelihood of all releases of each sample, for blocks of tokens; shape (n_block, n_samples)."""
    at_once = target.rows_of(6 * len(drawn[0]))
    if hasattr(target.mechanism, "probabilities"):
        columns, inverse = np.unique(np.stack(drawn), return_inverse=True)
        inverse = inverse.reshape(len(drawn), -1)
        for whole, table in target.blocks:
            seen = table[:, columns]
            for start in range(0, seen.shape[0], at_once):
                with np.errstate(divide="ignore"):
                    logs = np.log(seen[start : start + at_once].toarray())
                part = slice(whole.start + start, whole.start + start + len(logs))
                # The releases of a sample are independent, so that their logarithms add up.
                yield part, sum((logs[:, line] for line in inverse), start=np.zeros((len(logs), inverse.shape[1])))
        return
    for start in range(0, len(target.tokens), at_once):
        part = slice(start, min(start + at_once, len(target.tokens)))
        yield part, sum(target.mechanism.log_likelihood(target.tokens[part], releases) for releases in drawn)


def _most_exposed(target: Target, n_samples: int, rng: np.random.Generator) -> float:
    """Estimate the probability of guessing the most exposed token correctly, on draws that were not used to choose this
    token.

    The largest of thousands of noisy estimates would be too large. The function therefore selects a shortlist of
    tokens, chooses one of these tokens on new draws, and estimates the probability of this token on further new draws.
    The estimate is unbiased for the chosen token, which is at most as exposed as the most exposed token.
    """
    chosen = np.arange(len(target.tokens))
    for n_kept in (_FINALISTS, 1):
        if len(chosen) > n_kept:
            each = max(3, n_samples // len(chosen))
            _, named = _posterior(target, np.repeat(chosen, each), rng)
            order = np.argsort(-named.reshape(-1, each).mean(axis=1), kind="stable")
            chosen = np.sort(chosen[order[:n_kept]])
    _, again = _posterior(target, np.full(max(400, n_samples // 10), chosen[0]), rng)
    return float(again.mean())


def _bernstein(values: np.ndarray, delta: float) -> float:
    """Half-width of the interval of a mean of values in [0, 1]. The probability that the interval does not contain the
    true mean is at most ``delta``."""
    n, logs = len(values), log(4 / delta)
    return sqrt(2 * float(values.var(ddof=1)) * logs / n) + 7 * logs / (3 * (n - 1))
