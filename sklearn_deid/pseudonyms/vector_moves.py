"""Randomised maps from tokens to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from .._randomness import FINEST_STEP, grid_step, to_grid
from .policy import RANDOM, WordPolicy

_GRID = 2_001
_RADII = 4_001


class VectorMechanism:
    """Release of one token as a vector; words that the policy keeps are released as they are.

    Parameters
    ----------
    policy : WordPolicy
        Its actions "random" and "shape" both mean that an unknown word is treated as a zero vector that moves.
    """

    def __init__(self, policy: WordPolicy) -> None:
        self.policy = policy

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What is released for vectors that move, shape (n, dim), float32."""
        raise NotImplementedError

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Log density of each release given each vector, shape (n, n_releases), up to a constant per release."""
        raise NotImplementedError

    def moves(self, words: Sequence[str]) -> np.ndarray:
        """Which words move; shape (n_words,), bool."""
        return self.policy.actions(words)[0] <= RANDOM

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """A release of each token, shape (n_tokens, dim), float32."""
        released = self.policy.vectors.vectors_for(tokens)
        moves = self.moves(tokens)
        released[moves] = self.moved(released[moves], rng)
        return released

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Log likelihood of each release for each token, shape (n_tokens, n_releases).

        A word that stays has all its probability at its own vector; where a release is exactly that, no word that moves
        can be meant.
        """
        vectors = self.policy.vectors.vectors_for(tokens)
        moves = self.moves(tokens)
        out = np.full((len(tokens), len(releases)), -np.inf)
        out[~moves] = np.where(_equal_rows(vectors[~moves], releases), 0.0, -np.inf)
        exact = np.isfinite(out).any(axis=0)
        if moves.any():
            out[moves] = np.where(exact, -np.inf, self.moved_log_likelihood(vectors[moves], releases))
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.policy.vectors!r})"


class RandomVectors(VectorMechanism):
    """A random direction, whatever the word."""

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Uniform on the unit sphere."""
        return _unit_on_grid(rng.standard_normal(vectors.shape), 1.0)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Constant."""
        return np.zeros((len(vectors), len(releases)))


class ZeroVectors(VectorMechanism):
    """The zero vector, whatever the word."""

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Zeros."""
        return np.zeros_like(vectors)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Constant at the zero vector, impossible elsewhere."""
        return np.where(releases.any(axis=1), -np.inf, 0.0)[None].repeat(len(vectors), axis=0)

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """As above; a word without a vector that stays looks like one that moved."""
        vectors = self.policy.vectors.vectors_for(tokens)
        vectors[self.moves(tokens)] = 0.0
        return np.where(_equal_rows(vectors, releases), 0.0, -np.inf)


class AddedNoise(VectorMechanism):
    """Gaussian noise of one standard deviation in each dimension, and unit length again.

    Parameters
    ----------
    policy : WordPolicy
    scale : float
        Standard deviation; the vectors have length 1.
    """

    def __init__(self, policy: WordPolicy, scale: float) -> None:
        super().__init__(policy)
        self.scale = scale

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Noisy unit vectors."""
        noise = self.scale * rng.standard_normal(vectors.shape)
        return _unit_on_grid(vectors.astype(np.float64) + noise, self.scale)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Log density of a direction, which depends on its cosine with the vector alone."""
        cosine = np.clip(vectors.astype(np.float64) @ releases.astype(np.float64).T, -1.0, 1.0)
        if self.scale == 0:
            return np.where(_equal_rows(vectors, releases), 0.0, -np.inf)
        grid, density = direction_log_density(vectors.shape[1], float(self.scale))
        out = np.interp(cosine, grid, density)
        centre = np.zeros((1, vectors.shape[1]))
        out[~vectors.any(axis=1)] = np.interp(centre @ releases.T.astype(np.float64), grid, density)
        return out


@lru_cache(maxsize=64)
def direction_log_density(dim: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Log density of the direction of a unit vector plus Gaussian noise, by its cosine with the vector.

    The density at a direction u is the integral over r > 0 of ``r**(dim - 1) exp(-(r**2 - 2 r c) / (2 scale**2))``,
    c being the cosine, times a constant (the projected, or angular, Gaussian distribution).

    Returns
    -------
    cosines, log_density : ndarray of shape (2001,)
    """
    cosines = np.linspace(-1.0, 1.0, _GRID)
    widest = 1.0 + scale * (np.sqrt(dim) + 12.0)
    radii = np.linspace(0.0, widest, _RADII)[1:]
    exponent = (dim - 1) * np.log(radii) - (radii**2 - 2 * radii * cosines[:, None]) / (2 * scale**2)
    return cosines, logsumexp(exponent, axis=1)


def _unit_on_grid(noisy: np.ndarray, scale: float) -> np.ndarray:
    """Unit vectors, float32, of noisy ones: rounded to the grid of the noise first, and to that of releases then."""
    if scale > 0.0:  # without noise there is nothing that low bits could give away
        noisy = to_grid(noisy, grid_step(scale))
    length = np.linalg.norm(noisy, axis=1, keepdims=True)
    unit = noisy / np.where(length > 0, length, 1.0)
    return (to_grid(unit, FINEST_STEP) if scale > 0.0 else unit).astype(np.float32)


def _equal_rows(vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
    """Whether each release is exactly each vector, shape (n, n_releases)."""
    number: dict[bytes, int] = {}
    left = np.array([number.setdefault(row.tobytes(), len(number)) for row in np.ascontiguousarray(vectors + 0.0)])
    right = np.array([number.get(row.tobytes(), -1) for row in np.ascontiguousarray(releases + 0.0)])
    return left.reshape(-1, 1) == right.reshape(1, -1)
