"""Randomised maps from tokens to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from .._randomness import FINEST_STEP, grid_step, to_grid
from .policy import RANDOM, UNKNOWN, WordPolicy

# Points of the cosine, and of the radius over which the density of a direction is summed.
_GRID = 2_001
_RADII = 4_001


class VectorMechanism:
    """Release of one token as a vector; words that the policy keeps are released with their own vectors.

    Parameters
    ----------
    policy : WordPolicy
        Policy that decides which words are perturbed. With the action "random", an unknown word is a zero vector that
        is perturbed.
    """

    def __init__(self, policy: WordPolicy) -> None:
        self.policy = policy

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the releases of perturbed vectors, shape (n, dim), float32."""
        raise NotImplementedError

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Compute the log density of releases given vectors, shape (n, n_releases), up to a constant per release."""
        raise NotImplementedError

    def moves(self, words: Sequence[str]) -> np.ndarray:
        """Return which words are perturbed; shape (n_words,), bool."""
        return self.policy.actions(words)[0] <= RANDOM

    def vectors_of(self, words: Sequence[str]) -> np.ndarray:
        """Return the vectors of PHI words before the perturbation, shape (n_words, dim); zeros for unknown words.

        Vectors of character n-grams are left out: such a vector consists of the letters of an unknown word, and would
        identify this word.
        """
        vectors = self.policy.vectors.vectors_for(words)
        vectors[np.isin(self.policy.actions(words)[0], (RANDOM, UNKNOWN))] = 0.0
        return vectors

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Draw a release of each token, shape (n_tokens, dim), float32."""
        released = self.vectors_of(tokens)
        moves = self.moves(tokens)
        released[moves] = self.moved(released[moves], rng)
        return released

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Compute the log likelihood of each release for each token, shape (n_tokens, n_releases).

        A kept word is released as its own vector with certainty. If a release equals the vector of a kept word exactly,
        no perturbed word can be the original.
        """
        vectors = self.vectors_of(tokens)
        moves = self.moves(tokens)
        out = np.full((len(tokens), len(releases)), -np.inf)
        out[~moves] = np.where(_equal_rows(vectors[~moves], releases), 0.0, -np.inf)
        # shape: (n_releases,), releases that equal the vector of a word that stays
        exact = np.isfinite(out).any(axis=0)
        if moves.any():
            out[moves] = np.where(exact, -np.inf, self.moved_log_likelihood(vectors[moves], releases))
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.policy.vectors!r})"


class RandomVectors(VectorMechanism):
    """Release of a vector with random direction, independent of the word."""

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw uniformly on the unit sphere."""
        return _unit_on_grid(rng.standard_normal(vectors.shape), 1.0)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Return zeros: the release is independent of the word."""
        return np.zeros((len(vectors), len(releases)))


class ZeroVectors(VectorMechanism):
    """Release of the zero vector, independent of the word."""

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return zero vectors."""
        return np.zeros_like(vectors)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Return 0 for the zero vector and minus infinity for every other release."""
        return np.where(releases.any(axis=1), -np.inf, 0.0)[None].repeat(len(vectors), axis=0)

    def log_likelihood(self, tokens: Sequence[str], releases: np.ndarray) -> np.ndarray:
        """Compute the log likelihood of each release for each token, shape (n_tokens, n_releases).

        A kept word without a vector looks like a perturbed word: both are released as zeros.
        """
        vectors = self.vectors_of(tokens)
        vectors[self.moves(tokens)] = 0.0
        return np.where(_equal_rows(vectors, releases), 0.0, -np.inf)


class AddedNoise(VectorMechanism):
    """Release with Gaussian noise of equal standard deviation in each dimension, scaled to unit length again.

    Parameters
    ----------
    policy : WordPolicy
        Policy that decides which words are perturbed.
    scale : float
        Standard deviation of the noise; the vectors have length 1.
    """

    def __init__(self, policy: WordPolicy, scale: float) -> None:
        super().__init__(policy)
        self.scale = scale

    def moved(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw noisy unit vectors."""
        noise = self.scale * rng.standard_normal(vectors.shape)
        return _unit_on_grid(vectors.astype(np.float64) + noise, self.scale)

    def moved_log_likelihood(self, vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
        """Compute the log density of a direction, which depends only on its cosine with the vector."""
        # shape: (n, n_releases)
        cosine = np.clip(vectors.astype(np.float64) @ releases.astype(np.float64).T, -1.0, 1.0)
        # Without noise the density is a point mass: only the vector itself is possible.
        if self.scale == 0:
            return np.where(_equal_rows(vectors, releases), 0.0, -np.inf)
        grid, density = direction_log_density(vectors.shape[1], float(self.scale))
        out = np.interp(cosine, grid, density)
        # Unknown words are zero vectors, without a direction: their density is that at cosine 0, for every release.
        centre = np.zeros((1, vectors.shape[1]))
        out[~vectors.any(axis=1)] = np.interp(centre @ releases.T.astype(np.float64), grid, density)
        return out


@lru_cache(maxsize=64)
def direction_log_density(dim: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the log density of the direction of a unit vector plus Gaussian noise, on a grid of cosines.

    Let c be the cosine of a direction u with the vector. The density at u is the integral over r > 0 of ``r**(dim - 1)
    exp(-(r**2 - 2 r c) / (2 scale**2))``, times a constant. The result is the density of the projected, or angular,
    Gaussian distribution.

    Returns
    -------
    cosines, log_density : ndarray of shape (2001,)
    """
    cosines = np.linspace(-1.0, 1.0, _GRID)
    widest = 1.0 + scale * (np.sqrt(dim) + 12.0)
    # Sum over equal steps of r, in logarithms, since r**(dim - 1) may overflow; shape of the exponent: (2001, 4000)
    radii = np.linspace(0.0, widest, _RADII)[1:]
    # log of r^(d-1) exp(-|r u - v|^2 / (2 scale^2)) with |v| = 1, without terms that do not depend on r or the cosine.
    exponent = (dim - 1) * np.log(radii) - (radii**2 - 2 * radii * cosines[:, None]) / (2 * scale**2)
    return cosines, logsumexp(exponent, axis=1)


def _unit_on_grid(noisy: np.ndarray, scale: float) -> np.ndarray:
    """Round noisy vectors to the grid of the noise, scale them to length 1, and round them to the release grid."""
    if scale > 0.0:  # without noise, the low bits reveal nothing
        noisy = to_grid(noisy, grid_step(scale))
    # A vector of zeros stays zero and has no direction.
    length = np.linalg.norm(noisy, axis=1, keepdims=True)
    unit = noisy / np.where(length > 0, length, 1.0)
    return (to_grid(unit, FINEST_STEP) if scale > 0.0 else unit).astype(np.float32)


def _equal_rows(vectors: np.ndarray, releases: np.ndarray) -> np.ndarray:
    """Return whether each vector and each release are exactly equal, shape (n, n_releases)."""
    # Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bytes. Numbered rows avoid comparing every pair
    # of vectors.
    number: dict[bytes, int] = {}
    left = np.array([number.setdefault(row.tobytes(), len(number)) for row in np.ascontiguousarray(vectors + 0.0)])
    right = np.array([number.get(row.tobytes(), -1) for row in np.ascontiguousarray(releases + 0.0)])
    return left.reshape(-1, 1) == right.reshape(1, -1)
