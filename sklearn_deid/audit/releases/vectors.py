"""Releases of word vectors, perturbed or not."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..._randomness import FINEST_STEP, grid_step
from ...pseudonyms.phi_tokens import PhiTokens, find_phi_tokens
from ...pseudonyms.vector_moves import RandomVectors, ZeroVectors
from ...representations.pair_data import embedding_table
from ...tagging.tagger_data import distinct_words
from ...text import casing_ids
from ..attacks.noise import NoisyVectors
from ..attacks.noise_steps import grid_faults
from ..attacks.noise_template import NoiseTemplate
from ..attacks.replay import RepeatedReleases
from ..audit_data import AuditData
from ..released_step import PRIVATE_VECTORS, VECTORS, is_of_private_notes
from .global_state import repeated_draws
from .vector_release import VectorRelease, items_of

# Rounding to the public grid of 2^-20 is a part of smaller noise.
_SMALLEST_SCALE = 2.0**-13
# Half of the noise of a representer passed, because the attacks that remain read hardly any vector.
_UNKNOWN = (
    "The mechanism that made the vectors is not known, so that their noise was not tested, and no attacker had the "
    "published representer. Audit the estimator or the saved folder."
)


class ReleasedVectors(VectorRelease):
    """Released word vectors, perturbed or not. The checks of the noise need the perturber.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Vectors of the sentences in ``data``, without casing columns.
    public : WordVectors
        Public vectors in which the attacker searches for the words.
    data : AuditData
        Sentences of the audit.
    perturber : fitted VectorPerturber, optional
        Mechanism of the release.
    """

    kind = VECTORS
    can_repeat = True

    def __init__(self, vectors: np.ndarray, public: Any, data: AuditData, perturber: Any = None) -> None:
        super().__init__(data)
        self._released, self._public, self._perturber = vectors, public, perturber

    def digest(self) -> None:
        """Return None: reports on vectors are not cached."""

    @property
    def is_bounded(self) -> bool:
        """Whether the perturber states noise whose distribution can be tested."""
        if self._perturber is None or self._limit is not None:
            return False
        return self._noise_scale >= _SMALLEST_SCALE and len(self._moved) > 0

    @cached_property
    def in_clear(self) -> str | None:
        """Statement about vectors of an unknown mechanism, about word vectors that are not public, or about vectors
        without noise that differ from the declaration of the perturber; None if all vectors agree.

        A token that the perturber leaves unchanged must have exactly the vector of its word. A token whose vector is
        removed must have zeros without a minus sign. Any other bits could carry information. With ``max_replacements``,
        a PHI token must have the vector of its word, or a vector that the perturber can draw.
        """
        if self._perturber is None:
            return _UNKNOWN if self.kind == VECTORS else None  # `ReleasedClasses` has another mechanism
        if is_of_private_notes(self._perturber, self._public):
            return PRIVATE_VECTORS
        phi, expected = self._phi, self._public.vectors_for(self.data.X.data)
        expected[phi.positions] = self._perturber.mechanism_.vectors_of(phi.words)[phi.word_ids]
        other = (np.ascontiguousarray(self._released).view(np.uint32) != expected.view(np.uint32)).any(axis=1)
        found = self._wrong_replacements(expected, other[self._moved])
        other[self._moved] = False
        if other.any():
            found.append(
                f"{int(other.sum()):,} tokens that the perturber does not move have another vector than their word."
            )
        return " ".join(found) or None

    def _wrong_replacements(self, words: np.ndarray, is_other: np.ndarray) -> list[str]:
        """Faults of the PHI tokens that the perturber may move; ``is_other`` marks those without the vector of their
        word."""
        is_zero, limit = isinstance(self._perturber.mechanism_, ZeroVectors), self._limit
        found, at = [], self._moved if limit is None else self._moved[is_other]
        moved = np.ascontiguousarray(self._released[at])
        n_other = int(moved.view(np.uint32).any(axis=1).sum())
        if is_zero and n_other:
            found.append(f"{n_other:,} of {len(at):,} PHI tokens have a vector other than the stated zero vector.")
        if limit is None or not (is_zero or self._noise_scale >= _SMALLEST_SCALE):
            return found
        if not is_zero:  # without a limit, the noise test finds these faults
            found += grid_faults(moved, FINEST_STEP)
        # A word without a vector can have been moved to zeros, which nobody sees.
        of = np.searchsorted(self.data.X.offsets, self._moved, side="right") - 1
        may, moves = np.bincount(of), np.bincount(of, weights=is_other | ~words[self._moved].any(axis=1))
        n_kept = int(np.maximum(np.minimum(may, limit) - moves, 0).sum())
        if n_kept:
            found.append(f"{n_kept:,} PHI tokens that the perturber replaces have the vector of their word.")
        return found

    @property
    def noise_template(self) -> NoiseTemplate:
        """Vectors without noise of the tokens in ``noisy_vectors``, and the stated distribution of the noise."""
        words, mechanism = self.data.X.data[self._moved].tolist(), self._perturber.mechanism_
        mean = mechanism.vectors_of(words).astype(np.float64)
        if isinstance(mechanism, RandomVectors):
            mean[:] = 0.0
        scale = self._noise_scale
        return NoiseTemplate(mean, np.full(mean.shape[1], scale), True, grid_step(scale), False)

    @property
    def noisy_vectors(self) -> NoisyVectors:
        """Released vectors of the tokens with noise."""
        sentences = np.searchsorted(self.data.X.offsets, self._moved, side="right") - 1
        borders = np.flatnonzero(np.diff(sentences)) + 1
        offsets = np.concatenate([[0], borders, [len(sentences)]])
        moved = self._released[self._moved]
        faults = tuple(grid_faults(moved, FINEST_STEP))
        return NoisyVectors(moved, offsets, self._properties(self._moved), statements=faults)

    def template_of_repeated(self, part: str) -> NoiseTemplate:
        """Template of the tokens in ``repeated_releases``, which contains all sentences regardless of the part."""
        return self.noise_template

    def repeated_releases(self, part: str) -> RepeatedReleases:
        """Releases of all sentences that must not share noise."""
        found = {"call": self._released[self._moved]}
        names = ("process", "second process", "new process", "second new process")
        for name, one in zip(names, repeated_draws(self._perturber, self.data), strict=True):
            found[name] = np.asarray(one.data)[self._moved, : self._public.dim]
        pairs = (
            ("call", "process", "Two calls of sample share noise."),
            ("process", "second process", "Noise depends on global random generators: forked processes share it."),
            ("new process", "second new process", "Two new processes share noise."),
        )
        return RepeatedReleases(found, pairs, has_size=True)

    def short_calls(self, n: int) -> np.ndarray | None:
        """Release a sentence with a perturbed token in n calls; None for a seeded step, which always repeats its
        noise."""
        if self._perturber.random_state is not None:
            return None
        row = int(np.searchsorted(self.data.X.offsets, self._moved[0], side="right")) - 1
        rows, start = np.array([row]), self.data.X.offsets[row]
        X, y, groups = self.data.X[rows], self.data.y[rows], self.data.groups_of(rows)
        released = [
            self._perturber.sample(X, y, groups).data[self._moved[0] - start, : self._public.dim] for _ in range(n)
        ]
        return np.stack(released)

    @cached_property
    def _moved(self) -> np.ndarray:
        """Positions of the PHI tokens whose vectors the perturber changes."""
        phi = self._phi
        return phi.positions[self._perturber.mechanism_.moves(phi.words)[phi.word_ids]]

    @cached_property
    def _phi(self) -> PhiTokens:
        return find_phi_tokens(self.data.X, self.data.y, self._perturber.labels)

    @property
    def _limit(self) -> int | None:
        """Largest number of replaced tokens of a sentence; None without a limit."""
        limit: int | None = self._perturber.max_replacements
        return limit

    @property
    def _noise_scale(self) -> float:
        """Standard deviation of the noise before the scaling to length 1; 0 without noise."""
        mechanism = self._perturber.mechanism_
        return 1.0 if isinstance(mechanism, RandomVectors) else float(getattr(mechanism, "scale", 0.0))

    def vectors(self, part: str) -> np.ndarray:
        """Released vectors of a part."""
        return self._released[items_of(self.data.X, self.data.parts[part])]

    def casing(self, part: str) -> np.ndarray:
        """Casing classes of the words, which may be shared in addition to the vectors."""
        return self._casing[items_of(self.data.X, self.data.parts[part])]

    @cached_property
    def table(self) -> np.ndarray:
        return embedding_table(self._public, self._distinct[1])

    @cached_property
    def words(self) -> np.ndarray:
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, list[str]]:
        """Number of the word of each token, and the distinct words."""
        return distinct_words(self.data.X)

    @cached_property
    def _casing(self) -> np.ndarray:
        return casing_ids(self.data.X.data.tolist())
