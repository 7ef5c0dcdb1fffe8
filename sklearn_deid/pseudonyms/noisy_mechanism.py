"""What can be said of a mechanism whose probabilities have no closed form: two that enclose it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..text import apply_casing, casing_pattern
from .policy import MOVE, SHAPE
from .token_mechanism import TokenMechanism


class NoisyTokenMechanism(TokenMechanism):
    """A token mechanism over `NoisyNearest`."""

    def bracket(self) -> tuple[NoisyVectors, WordsTakenForVectors]:
        """A mechanism that tells more than this one, and an attack on this one."""
        return NoisyVectors(self), WordsTakenForVectors(self)

    def patterns(self, tokens: Sequence[str]) -> np.ndarray:
        """Casing that the surrogate of each token gets; shape (n_tokens,)."""
        return np.array([casing_pattern(t) if self.keep_casing else 0 for t in tokens], dtype=np.int64)

    def log_density(self, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Log density of noisy vectors given words, up to a constant; shape (n_rows, n_points)."""
        words = self.policy.vectors.vectors_at(rows).astype(np.float64)
        squared = (words**2).sum(axis=1)[:, None] - 2 * words @ points.T + (points**2).sum(axis=1)
        moves: Any = self.moves
        return -moves.epsilon * np.sqrt(np.maximum(squared, 0.0))


class NoisyVectors:
    """The noisy vector before the nearest word is taken, and beside it a code that tells all else.

    The code tells the casing of a token that moves, its spelling where that is not the one of the table, and the string
    of a token that stays. What the mechanism releases can be computed from it, so it tells at most as much.
    """

    def __init__(self, mechanism: NoisyTokenMechanism) -> None:
        self.mechanism = mechanism
        self._numbers: dict[Any, int] = {}

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """A release of each token, shape (n_tokens, 1 + dim)."""
        actions, rows = self.mechanism.policy.actions(tokens)
        out = np.zeros((len(tokens), 1 + self.mechanism.policy.vectors.dim))
        out[:, 0] = self._codes(tokens, actions, rows)
        moving = np.flatnonzero(actions == MOVE)
        moves: Any = self.mechanism.moves
        out[moving, 1:] = moves.noisy(rows[moving], rng)
        return out

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Log density of each release for each token, shape (n_tokens, n_releases)."""
        actions, rows = self.mechanism.policy.actions(tokens)
        out = np.where(self._codes(tokens, actions, rows)[:, None] == releases[:, 0], 0.0, -np.inf)
        moving = np.flatnonzero(actions == MOVE)
        out[moving] += self.mechanism.log_density(rows[moving], releases[:, 1:])
        return out

    def _codes(self, tokens: Sequence[str], actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        words = self.mechanism.vocabulary
        keys: list[Any] = []
        patterns = self.mechanism.patterns(tokens).tolist()
        for token, action, row, pattern in zip(tokens, actions.tolist(), rows.tolist(), patterns, strict=True):
            regular = action < SHAPE and (action != MOVE or token == apply_casing(words[row], pattern))
            keys.append((action, pattern) if regular else (action, pattern, token))
        return np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys], dtype=np.float64)


class WordsTakenForVectors:
    """The mechanism's own releases, and a likelihood that takes a released word for the noisy vector.

    Which is not quite so; an attacker who believes it does no better than the best one.
    """

    def __init__(self, mechanism: NoisyTokenMechanism) -> None:
        self.mechanism = mechanism

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """A release of each token, as a number."""
        return self.mechanism.sample(tokens, rng)

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """What the attacker takes for the log likelihood, shape (n_tokens, n_releases)."""
        mechanism, space = self.mechanism, self.mechanism.releases()
        actions, rows = mechanism.policy.actions(tokens)
        seen = space.rows_of(releases)
        known = np.flatnonzero(seen >= 0)
        own = space.of_tokens(tokens)
        for i in np.flatnonzero(actions == SHAPE).tolist():
            own[i] = mechanism.shape_release(tokens[i])
        points = np.zeros((len(releases), mechanism.policy.vectors.dim))
        points[known] = mechanism.policy.vectors.vectors_at(seen[known])
        out = np.full((len(tokens), len(releases)), -np.inf)
        patterns = mechanism.patterns(tokens)
        for pattern in np.unique(patterns).tolist():
            written = np.full(len(releases), -1)
            # A token in another casing than the three gets a word as it is stored, which may be any of them.
            written[known] = space.of_rows(seen[known], pattern) if pattern else releases[known]
            which = np.flatnonzero((patterns == pattern) & (actions < SHAPE))
            moved = np.flatnonzero(actions[which] == MOVE)
            score = np.full((len(which), len(releases)), -np.log(len(mechanism.vocabulary)))
            score[moved] = mechanism.log_density(rows[which[moved]], points)
            out[which] = np.where((written == releases) | (own[which][:, None] == releases), score, -np.inf)
        stays = actions >= SHAPE
        out[stays] = np.where(own[stays][:, None] == releases, 0.0, -np.inf)
        return out
