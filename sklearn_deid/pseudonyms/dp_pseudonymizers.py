"""Pseudonymizers by word-level mechanisms of differential privacy, with the interface of `NeighborPseudonymizer`."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._compat import Interval
from .noisy_mechanism import NoisyTokenMechanism
from .perturber import NEIGHBOR_CONSTRAINTS, TOKEN_CONSTRAINTS, TokenPerturber
from .policy import WordPolicy
from .token_mechanism import ExactTokenMechanism
from .word_moves import ExponentialNeighbors, ExponentialVocabulary, NoisyNearest

_EPSILON: dict[str, list] = {"epsilon": [Interval(Real, 0, None, closed="neither")]}


class _EpsilonPseudonymizer(TokenPerturber):
    """Parameters of the mechanisms that may draw any word of the vocabulary."""

    _parameter_constraints: dict[str, list] = {**TOKEN_CONSTRAINTS, **_EPSILON}

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        epsilon: float = 10.0,
        labels: Any = None,
        max_replacements: int | None = None,
        exclude: Any = "en",
        digits: str = "same",
        unknown: str = "shape",
        coherence: str = "token",
        keep_casing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.epsilon = embeddings, epsilon
        self.labels, self.max_replacements, self.exclude = labels, max_replacements, exclude
        self.digits, self.unknown, self.coherence = digits, unknown, coherence
        self.keep_casing, self.random_state = keep_casing, random_state


class MadlibPseudonymizer(_EpsilonPseudonymizer):
    """Add noise to the vector of each PHI token and take the nearest word (MADLIB).

    The noise has a uniform random direction and a length with the distribution Gamma(dim, 1 / epsilon). The density of
    the noise therefore falls as ``exp(-epsilon |z|)``.

    Parameters
    ----------
    epsilon : float, default=10.0
        Privacy parameter. Vectors have length 1, so the distance between two words is at most 2. The typical length of
        the noise is ``dim / epsilon``. With 50 dimensions, an epsilon of 10 replaces nearly every word, and an epsilon
        of 100 replaces few words.
    digits : {"same", "random"}, default="same"
        "same" treats all-digit tokens like other tokens. "random" replaces all-digit tokens by any all-digit word.
    embeddings, labels, max_replacements, exclude, unknown, coherence, keep_casing, random_state
        As for `NeighborPseudonymizer`.

    Attributes
    ----------
    mechanism_ : NoisyTokenMechanism
        Randomised map whose probabilities have no closed form; `bayes_reidentification` computes a lower and an upper
        bound.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`; ranks are not computed.

    Notes
    -----
    **Guarantee.** Each replaced token has epsilon-metric differential privacy (d_x-privacy), for the Euclidean distance
    between unit vectors. For words w, w' and any released word r, ``P(r | w) <= exp(epsilon d(w, w')) P(r | w')``. The
    guarantee covers one release of one token that has a vector. The guarantee does not cover the choice of the replaced
    tokens, the casing (``keep_casing``), kept tokens, tokens replaced by digits="random", and unknown words. If a word
    is released several times, the epsilons add up.

    References
    ----------
    Feyisetan et al. (2020), Privacy- and utility-preserving textual analysis via calibrated multivariate perturbations,
    WSDM.

    Examples
    --------
    >>> from sklearn_deid import MadlibPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "pain"], [[1, 0], [0.8, 0.6], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"]], [["O", "B-DOCTOR"]]
    >>> MadlibPseudonymizer(embeddings=vectors, epsilon=100, random_state=0).fit_transform(X, y)[0]
    ['Dr', 'Alder']
    """

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> NoisyTokenMechanism:
        moves = NoisyNearest(policy.vectors, candidates, float(self.epsilon))
        return NoisyTokenMechanism(moves, policy, candidates, self.keep_casing)


class SanTextPseudonymizer(_EpsilonPseudonymizer):
    """Draw each surrogate from the whole vocabulary, with a higher probability for nearer words (SanText).

    The probability of a word is proportional to ``exp(-epsilon d / 2)``, where d is the Euclidean distance between unit
    vectors (0 to 2).

    Parameters
    ----------
    epsilon : float, default=10.0
        Privacy parameter. With 400,000 words, the summed probability of distant words is large. The word itself has a
        noticeable probability only if epsilon is at least about 15.
    digits : {"same", "random"}, default="same"
        "same" treats all-digit tokens like other tokens. "random" replaces all-digit tokens by any all-digit word.
    embeddings, labels, max_replacements, exclude, unknown, coherence, keep_casing, random_state
        As for `NeighborPseudonymizer`.

    Attributes
    ----------
    mechanism_ : ExactTokenMechanism
        Randomised map with exact probabilities.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`.

    Notes
    -----
    **Guarantee.** epsilon-metric differential privacy (d_x-privacy) of each replaced token, as for
    `MadlibPseudonymizer`, with the same exceptions. Since no distance exceeds 2, the mechanism also has local
    differential privacy with 2 epsilon.

    References
    ----------
    Yue et al. (2021), Differential privacy for text analytics via natural text sanitization, Findings of ACL.

    Examples
    --------
    >>> from sklearn_deid import SanTextPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "pain"], [[1, 0], [0.8, 0.6], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"]], [["O", "B-DOCTOR"]]
    >>> SanTextPseudonymizer(embeddings=vectors, epsilon=100, random_state=0).fit_transform(X, y)[0]
    ['Dr', 'Alder']
    """

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> ExactTokenMechanism:
        moves = ExponentialVocabulary(policy.vectors, candidates, float(self.epsilon))
        return ExactTokenMechanism(moves, policy, candidates, self.keep_casing)


class CusTextPseudonymizer(TokenPerturber):
    """Draw each surrogate from the N nearest words, with a higher probability for nearer words (after CusText).

    The probability of a word is proportional to ``exp(epsilon u / 2)``. The score u is the cosine, scaled to 0 for the
    farthest of the N words and to 1 for the word itself. With an epsilon near 0, all N words are about equally likely,
    as in `NeighborPseudonymizer`.

    Parameters
    ----------
    n_neighbors : int, default=100
        N, size of the output set of each word.
    epsilon : float, default=2.0
        Privacy parameter. The word itself is ``exp(epsilon / 2)`` times as likely as the farthest of the N words.
    embeddings, labels, max_replacements, exclude, digits, unknown, coherence, keep_casing, random_state
        As for `NeighborPseudonymizer`.
    cache_dir, n_jobs, verbose
        As for `NeighborPseudonymizer`.

    Attributes
    ----------
    mechanism_ : ExactTokenMechanism
        Randomised map with exact probabilities.
    statistics_ : dict
        Counts as for `NeighborPseudonymizer`.

    Notes
    -----
    **Guarantee.** Local differential privacy with epsilon, between words with the same output set. In the original
    CusText, the output sets are disjoint, so that the guarantee covers many pairs of words. In this library, each word
    has its own N nearest neighbours. Two words with different output sets have no guarantee at all: a surrogate that is
    in only one of the two sets distinguishes the words.

    References
    ----------
    Chen et al. (2023), A customized text sanitization mechanism with differential privacy, Findings of ACL.

    Examples
    --------
    >>> from sklearn_deid import CusTextPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "pain"], [[1, 0], [0.8, 0.6], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"]], [["O", "B-DOCTOR"]]
    >>> surrogate = CusTextPseudonymizer(embeddings=vectors, n_neighbors=2, random_state=0).fit_transform(X, y)[0][1]
    >>> surrogate in ("Alder", "Birch")
    True
    """

    _parameter_constraints: dict[str, list] = {**NEIGHBOR_CONSTRAINTS, **_EPSILON}

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        n_neighbors: int = 100,
        epsilon: float = 2.0,
        labels: Any = None,
        max_replacements: int | None = None,
        exclude: Any = "en",
        digits: str = "near",
        unknown: str = "shape",
        coherence: str = "token",
        keep_casing: bool = True,
        cache_dir: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.n_neighbors, self.epsilon = embeddings, n_neighbors, epsilon
        self.labels, self.max_replacements, self.exclude = labels, max_replacements, exclude
        self.digits, self.unknown, self.coherence = digits, unknown, coherence
        self.keep_casing = keep_casing
        self.cache_dir, self.n_jobs, self.verbose = cache_dir, n_jobs, verbose
        self.random_state = random_state

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> ExactTokenMechanism:
        moves = self._neighbor_moves(ExponentialNeighbors, policy, candidates, float(self.epsilon))
        return ExactTokenMechanism(moves, policy, candidates, self.keep_casing)
