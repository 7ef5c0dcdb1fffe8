"""Bounds for a mechanism whose probabilities have no closed form, from a release that reveals more and from an actual
attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..text import casing_pattern
from .policy import MOVE, SHAPE
from .token_mechanism import TokenMechanism


class NoisyTokenMechanism(TokenMechanism):
    """A token mechanism over `NoisyNearest`."""

    def bracket(self) -> tuple[NoisyVectors, WordsTakenForVectors]:
        """Return a mechanism that reveals more than this mechanism, and an attack on this mechanism.

        The accuracy of the best attack on this mechanism is between the accuracy of the returned attack and the
        accuracy of the best attack on the returned mechanism.
        """
        return NoisyVectors(self), WordsTakenForVectors(self)

    def patterns(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the casing pattern of each token's surrogate; shape (n_tokens,)."""
        return np.array([casing_pattern(t) if self.keep_casing else 0 for t in tokens], dtype=np.int64)

    def log_density(self, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Compute the log density of noisy vectors given words, up to a constant; shape (n_rows, n_points)."""
        words = self.policy.vectors.vectors_at(rows).astype(np.float64)
        # |w - p|^2 = |w|^2 - 2 w.p + |p|^2, shape: (n_rows, n_points)
        squared = (words**2).sum(axis=1)[:, None] - 2 * words @ points.T + (points**2).sum(axis=1)
        moves: Any = self.moves
        return -moves.epsilon * np.sqrt(np.maximum(squared, 0.0))


class NoisyVectors:
    """Release of the noisy vector instead of its nearest word, together with a code for all other information.

    For a replaced token, the code contains the casing. For a kept token, the code contains the string. The release of
    the original mechanism can be computed from the noisy vector and the code, so the original mechanism reveals at most
    as much.
    """

    def __init__(self, mechanism: NoisyTokenMechanism) -> None:
        self.mechanism = mechanism
        self._numbers: dict[Any, int] = {}

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Draw a release of each token, shape (n_tokens, 1 + dim); the code is in the first column."""
        actions, rows = self.mechanism.policy.actions(tokens)
        out = np.zeros((len(tokens), 1 + self.mechanism.policy.vectors.dim))
        # Column 0 holds the code, the other columns the vector. Tokens that do not move keep zeros.
        out[:, 0] = self._codes(tokens, actions, rows)
        moving = np.flatnonzero(actions == MOVE)
        moves: Any = self.mechanism.moves
        out[moving, 1:] = moves.noisy(rows[moving], rng)
        return out

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Compute the log density of each release for each token, shape (n_tokens, n_releases)."""
        actions, rows = self.mechanism.policy.actions(tokens)
        # A release is possible for a token only if the code is equal. Shape: (n_tokens, n_releases)
        out = np.where(self._codes(tokens, actions, rows)[:, None] == releases[:, 0], 0.0, -np.inf)
        moving = np.flatnonzero(actions == MOVE)
        out[moving] += self.mechanism.log_density(rows[moving], releases[:, 1:])
        return out

    def _codes(self, tokens: Sequence[str], actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        patterns = self.mechanism.patterns(tokens).tolist()
        # Information that the noise does not hide is released unchanged: the action, the casing, and kept tokens.
        keys: list[Any] = [
            (action, pattern) if action < SHAPE else (action, pattern, token)
            for token, action, pattern in zip(tokens, actions.tolist(), patterns, strict=True)
        ]
        return np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys], dtype=np.float64)


class WordsTakenForVectors:
    """Releases of the mechanism itself; the likelihood treats the vector of the released word as the noisy vector.

    The likelihood is only approximate. An attacker with an approximate likelihood is at most as accurate as the best
    attacker.
    """

    def __init__(self, mechanism: NoisyTokenMechanism) -> None:
        self.mechanism = mechanism

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Draw a release of each token, as a number."""
        return self.mechanism.sample(tokens, rng)

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Compute the attacker's approximate log likelihood, shape (n_tokens, n_releases)."""
        mechanism, space = self.mechanism, self.mechanism.releases()
        actions, rows = mechanism.policy.actions(tokens)
        seen = space.rows_of(releases)
        known = np.flatnonzero(seen >= 0)
        # shape: (n_tokens,), number of each token's own spelling
        own = space.of_tokens(tokens)
        for i in np.flatnonzero(actions == SHAPE).tolist():
            own[i] = mechanism.shape_release(tokens[i])
        # Vector of each released word, as if it were the noisy vector; shape: (n_releases, dim)
        points = np.zeros((len(releases), mechanism.policy.vectors.dim))
        points[known] = mechanism.policy.vectors.vectors_at(seen[known])
        out = np.full((len(tokens), len(releases)), -np.inf)
        patterns = mechanism.patterns(tokens)
        for pattern in np.unique(patterns).tolist():
            written = np.full(len(releases), -1)
            # A token in any other casing (pattern 0) is replaced by a word as stored. A stored word may have any
            # casing, so every release is possible.
            written[known] = space.of_rows(seen[known], pattern) if pattern else releases[known]
            which = np.flatnonzero((patterns == pattern) & (actions < SHAPE))
            moved = np.flatnonzero(actions[which] == MOVE)
            # Unknown words and random digits draw uniformly, so their log likelihood is constant; shape: (n,
            # n_releases)
            score = np.full((len(which), len(releases)), -np.log(len(mechanism.vocabulary)))
            score[moved] = mechanism.log_density(rows[which[moved]], points)
            out[which] = np.where(written == releases, score, -np.inf)
        stays = actions >= SHAPE
        out[stays] = np.where(own[stays][:, None] == releases, 0.0, -np.inf)
        return out
