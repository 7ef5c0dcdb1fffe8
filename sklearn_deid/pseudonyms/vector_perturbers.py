"""Perturbations of word vectors; these transformers release vectors, not words."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions
from ..sequences import TokenSequences, TokenVectors
from ..text import CASING_CLASSES, casing_ids
from .perturber import Moves, PhiPerturber
from .policy import WordPolicy
from .vector_moves import AddedNoise, RandomVectors, VectorMechanism, ZeroVectors


class VectorPerturber(PhiPerturber):
    """Base of the transformers that turn words into a `TokenVectors` and perturb the vectors of PHI tokens.

    The casing is released together with the vectors. A subclass returns a `VectorMechanism` from ``_make_mechanism``.

    Parameters
    ----------
    embeddings, labels, max_replacements, exclude, random_state
        As for `NeighborPseudonymizer`.
    unknown : {"random", "keep", "raise"}, default="random"
        Treatment of PHI tokens without a vector. "random" perturbs unknown tokens like other tokens. "keep" releases a
        zero vector for these tokens. "raise" raises an error. A vector of character n-grams (fastText) does not count
        as a vector of a PHI token, since the vector is computed from the letters of the token.
    casing : bool, default=True
        Whether the casing class of each token is appended, one-hot (7 columns). The casing is not perturbed.
    """

    _releases = "vectors"  # for audits: the result of `fit_transform` is shared
    _parameter_constraints: dict[str, list] = {
        **PhiPerturber._parameter_constraints,
        "unknown": [StrOptions({"random", "keep", "raise"})],
        "casing": ["boolean"],
    }

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        labels: Any = None,
        max_replacements: int | None = None,
        exclude: Any = "en",
        unknown: str = "random",
        casing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.labels, self.max_replacements = embeddings, labels, max_replacements
        self.exclude, self.unknown, self.casing = exclude, unknown, casing
        self.random_state = random_state

    def _column_names(self) -> list[str]:
        check_is_fitted(self)
        return self._vector_names(self.mechanism_.policy.vectors.dim, CASING_CLASSES if self.casing else ())

    def _perturbed(
        self, X: TokenSequences, moves: Moves, groups: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[TokenVectors, np.ndarray]:
        released, phi = self._untouched(X), moves.phi
        positions = phi.positions[moves.chosen]
        dim = self.mechanism_.policy.vectors.dim
        released.data[phi.positions, :dim] = self.mechanism_.vectors_of(phi.words)[phi.word_ids]
        # Only the first dim columns hold the word vector; the casing behind them stays. shape: (n_moved, dim)
        released.data[positions, :dim] = self.mechanism_.moved(released.data[positions, :dim], rng)
        return released, np.zeros(len(positions), dtype=np.int64)

    def _untouched(self, X: TokenSequences) -> TokenVectors:
        """Return the vectors of all tokens, shape (n_tokens, dim), or (n_tokens, dim + 7) with the casing."""
        vectors = self.mechanism_.policy.vectors
        data = np.zeros((len(X.data), vectors.dim + len(CASING_CLASSES) * self.casing), dtype=np.float32)
        # shape: (n_tokens, dim), then one column for each casing class
        data[:, : vectors.dim] = vectors.vectors_for(X.data)
        if self.casing:
            data[np.arange(len(data)), vectors.dim + casing_ids(X.data.tolist())] = 1.0
        return TokenVectors(data, X.offsets).with_documents(X.documents)


class RandomVectorPerturber(VectorPerturber):
    """Replace the vector of each PHI token by a random unit vector that is independent of the word.

    Parameters
    ----------
    embeddings, labels, max_replacements, exclude, random_state
        As for `NeighborPseudonymizer`.
    unknown : {"random", "keep", "raise"}, default="random"
        Treatment of PHI tokens without a vector. "random" also draws a random vector for unknown tokens. "keep"
        releases a zero vector for these tokens ("GloVe/UNK" in the thesis). "raise" raises an error. Vectors of
        character n-grams (fastText) do not count, since they are computed from the letters of a token.
    casing : bool, default=True
        Whether the casing class of each token is appended, one-hot (7 columns). The casing is not perturbed.

    Attributes
    ----------
    mechanism_ : VectorMechanism
        Randomised map from words to vectors.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`.

    Notes
    -----
    **Guarantee.** The vector of a replaced token is independent of its word. The vector reveals that the token is PHI,
    and nothing else about the word. Casing and the surrounding tokens are not perturbed.

    References
    ----------
    Friedrich (2018), thesis, section 5.2.1. In the thesis, a tagger was trained on random vectors, drawn anew in each
    epoch (``DeidTagger(augmenter=RandomVectorPerturber())``). The tagger was useless on real notes: F1 10.6 to 41.4.

    Examples
    --------
    >>> from sklearn_deid import RandomVectorPerturber, WordVectors
    >>> vectors = WordVectors(["alder", "pain"], [[1, 0], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"], ["pain"]], [["O", "B-DOCTOR"], ["O"]]
    >>> released = RandomVectorPerturber(embeddings=vectors, casing=False, random_state=0).fit_transform(X, y)
    >>> released[1].tolist(), released.d
    ([[0.0, 1.0]], 2)
    """

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> VectorMechanism:
        return RandomVectors(policy)


class ZeroVectorPerturber(VectorPerturber):
    """Replace the vector of each PHI token by zeros.

    Parameters
    ----------
    embeddings, labels, max_replacements, exclude, unknown, casing, random_state
        As for `RandomVectorPerturber`.

    Attributes
    ----------
    mechanism_ : VectorMechanism
        Randomised map from words to vectors.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`.

    Notes
    -----
    **Guarantee.** The vector of a replaced token is independent of its word, as for `RandomVectorPerturber`. The thesis
    used noise of 1e-6 instead of zeros, for a masking layer.

    Examples
    --------
    >>> from sklearn_deid import WordVectors, ZeroVectorPerturber
    >>> vectors = WordVectors(["alder", "pain"], [[1, 0], [0, 1]], is_public=True)
    >>> perturber = ZeroVectorPerturber(embeddings=vectors, casing=False)
    >>> perturber.fit_transform([["Alder", "pain"]], [["B-DOCTOR", "O"]])[0].tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> VectorMechanism:
        return ZeroVectors(policy)


class GaussianNoisePerturber(VectorPerturber):
    """Add Gaussian noise of a fixed scale to the vector of each PHI token, and scale the result to length 1.

    Parameters
    ----------
    scale : float, default=0.1
        Standard deviation of the noise in each dimension. The vectors have length 1, and the noise has a length of
        about ``scale * sqrt(dim)``.
    embeddings, labels, max_replacements, exclude, unknown, casing, random_state
        As for `RandomVectorPerturber`. An unknown word that is perturbed is released as a random unit vector.

    Attributes
    ----------
    mechanism_ : VectorMechanism
        Randomised map from words to vectors.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`.

    Notes
    -----
    **Guarantee.** The release of one perturbed token is Gaussian before scaling, and scaling can only lower the
    accuracy of an attacker. Take two equally likely words at Euclidean distance d. An attacker distinguishes these
    words with probability Phi(d / (2 scale)) at most. The mechanism has Gaussian differential privacy with mu = d /
    scale, and mu is at most 2 / scale. Scales that are small enough for a useful tagger give no protection: up to a
    scale of 0.1, the original is nearly always the nearest word (thesis, Fig. 6.2;
    `sklearn_deid.embeddings.noise_study`).

    References
    ----------
    Friedrich (2018), thesis, sections 5.2.2 and 6.2. Dong, Roth & Su (2022), Gaussian differential privacy, JRSS B.

    Examples
    --------
    >>> from sklearn_deid import GaussianNoisePerturber, WordVectors
    >>> vectors = WordVectors(["alder", "pain"], [[1, 0], [0, 1]], is_public=True)
    >>> perturber = GaussianNoisePerturber(embeddings=vectors, scale=0.05, casing=False, random_state=0)
    >>> released = perturber.fit_transform([["Alder", "pain"]], [["B-DOCTOR", "O"]])[0]
    >>> bool(released[0, 0] > 0.9), released[1].tolist()
    (True, [0.0, 1.0])
    """

    _parameter_constraints: dict[str, list] = {
        **VectorPerturber._parameter_constraints,
        "scale": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        scale: float = 0.1,
        labels: Any = None,
        max_replacements: int | None = None,
        exclude: Any = "en",
        unknown: str = "random",
        casing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.scale, self.labels = embeddings, scale, labels
        self.max_replacements, self.exclude, self.unknown = max_replacements, exclude, unknown
        self.casing, self.random_state = casing, random_state

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> VectorMechanism:
        return AddedNoise(policy, float(self.scale))
