"""What all transformers that move PHI tokens share: data in, checks, groups, statistics, the scikit-learn side."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, check_constraints
from .._randomness import own_generator, release_generator
from ..embeddings import WordVectors, resolve_embeddings
from ..exceptions import SequenceError
from ..sequences import RaggedArray, TokenSequences, check_groups, check_sequences, check_tags, object_rows
from ..text import split_tag
from .phi_tokens import PhiTokens, find_phi_tokens, limit_per_sentence
from .policy import EXCLUDED, UNKNOWN, WordPolicy, usable_words, words_to_exclude

__all__ = ["Moves", "PhiPerturber"]


class Moves(NamedTuple):
    """What happens to the PHI tokens of X in one draw.

    Attributes
    ----------
    phi : PhiTokens
    actions : ndarray of int8, shape (n_phi,)
    chosen : ndarray of bool, shape (n_phi,)
        Tokens that are replaced.
    """

    phi: PhiTokens
    actions: np.ndarray
    chosen: np.ndarray


class PhiPerturber(TransformerMixin, BaseEstimator):
    """Base of the transformers that perturb PHI tokens while fitting and leave X alone afterwards.

    A subclass stores its parameters, makes ``mechanism_`` in `_make_mechanism`, and perturbs in `_perturbed`.
    """

    _parameter_constraints: dict[str, list] = {
        "labels": ["array-like", set, frozenset, None],
        "max_replacements": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }
    # Parameters that only some siblings have, and what holds for the others.
    digits, coherence = "same", "token"

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Learn where tokens may go, and count what moves.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens
        y : sequence of n tag sequences
            IOB2 or BIOES.
        groups : array-like of shape (n,), optional
            Document or patient of each sentence, for ``coherence="document"`` and ``"patient"``.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If y is missing or does not match X, or X holds vectors.
        ValueError
            If a parameter does not fit the word vectors, or a token has nowhere to go. Words are never named.
        """
        self._fit_and_draw(X, y, groups)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Fit, and return X with its PHI tokens moved; ``transform`` does not move them.

        As with scikit-learn's `TargetEncoder`, ``fit(X, y).transform(X)`` is something else: a Pipeline trains what
        follows on perturbed sentences and lets it predict on untouched ones.

        Parameters
        ----------
        X, y, groups
            As for `fit`.
        """
        return self._fit_and_draw(X, y, groups)

    def transform(self, X: Any) -> Any:
        """X as it is, checked: what is to be tagged is not perturbed."""
        check_is_fitted(self)
        return self._untouched(self._tokens(X))

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Draw again: X with its PHI tokens moved.

        With an integer ``random_state`` every call gives the same.

        Parameters
        ----------
        X, y, groups
            As for `fit`; other sentences are allowed.
        """
        check_is_fitted(self)
        check_constraints(self)
        X, tags, groups = self._checked(X, y, groups)
        return self._draw(X, tags, groups)[0]

    def fit_resample(self, X: Any, y: Any = None, groups: Any = None) -> tuple:
        """Fit, and return the sentences of X together with their perturbed versions, in random order.

        For training on twice the data inside a hospital, or in a Pipeline of imbalanced-learn. The result holds the
        sentences of X: it is as sensitive as they are.

        Returns
        -------
        X, y
            Of 2 n sentences, and with ``groups`` a third array of their groups.
        """
        perturbed = self._fit_and_draw(X, y, groups)
        X, tags, groups = self._checked(X, y, groups)
        both = type(perturbed)(
            np.concatenate([self._untouched(X).data, perturbed.data]),
            np.concatenate([X.offsets, perturbed.offsets[1:] + X.offsets[-1]]),
        )
        order = release_generator(self.random_state).permutation(len(both))
        rows = order % len(X)
        result = (both[order], object_rows(tags[rows]))
        return result if groups is None else (*result, groups[rows])

    def set_output(self, *, transform: Any = None) -> Any:
        """Does nothing: sentences do not fit into a data frame."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = True
        tags.non_deterministic = self.random_state is None
        return tags

    # ---- what a subclass adds

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> Any:
        raise NotImplementedError

    def _perturbed(
        self, X: TokenSequences, moves: Moves, groups: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[RaggedArray, np.ndarray]:
        """X with the chosen tokens replaced, and the similarity rank of each of them (0: none)."""
        raise NotImplementedError

    def _with_other_spellings(self, phi: PhiTokens, chosen: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
        """The chosen tokens, and those that must move with them."""
        return chosen

    def _untouched(self, X: TokenSequences) -> Any:
        return X

    # ---- data in

    def _fit_and_draw(self, X: Any, y: Any, groups: Any) -> Any:
        check_constraints(self)
        X, tags, groups = self._checked(X, y, groups)
        vectors = resolve_embeddings(self.embeddings, X, random_state=own_generator(self.random_state).integers(2**31))
        if not isinstance(vectors, WordVectors):
            raise ValueError(f"The 'embeddings' parameter of {type(self).__name__} must not be None.")
        policy = WordPolicy(vectors, words_to_exclude(self.exclude), self.digits, self.unknown)
        self.mechanism_ = self._make_mechanism(policy, usable_words(vectors) & _nonzero_rows(vectors))
        self._check_labels(tags)
        perturbed, self.statistics_ = self._draw(X, tags, groups)
        return perturbed

    def _checked(self, X: Any, y: Any, groups: Any) -> tuple[TokenSequences, TokenSequences, np.ndarray | None]:
        X = self._tokens(X)
        tags = check_tags(y, X)
        if groups is None and self.coherence in ("document", "patient"):
            raise ValueError(
                f"coherence={self.coherence!r} needs groups: the {self.coherence} of each sentence. In a Pipeline: "
                f"fit(X, y, step__groups=groups)."
            )
        return X, tags, check_groups(groups, len(X))

    def _tokens(self, X: Any) -> TokenSequences:
        X = check_sequences(X)
        if not isinstance(X, TokenSequences):
            if len(X.data):
                raise SequenceError(f"{type(self).__name__} moves words; X holds vectors.")
            X = TokenSequences(np.empty(0, dtype=object), X.offsets)
        return X

    def _check_labels(self, tags: TokenSequences) -> None:
        if self.labels is None:
            return
        if isinstance(self.labels, str):
            raise TypeError("The 'labels' parameter must be a collection of labels, not one string.")
        occurring = {split_tag(tag)[1] for tag in set(tags.data)} - {None}
        absent = sorted(set(self.labels) - occurring)
        if absent:
            warn(f"No token has one of these labels: {absent}. y has {sorted(map(str, occurring))}.", stacklevel=4)

    # ---- the draw

    def _draw(self, X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None) -> tuple[Any, dict]:
        rng = release_generator(self.random_state)
        phi = find_phi_tokens(X, tags, None if self.labels is None else set(self.labels))
        actions = self._actions(phi)[phi.word_ids]
        chosen = actions < EXCLUDED
        if self.max_replacements is None:
            chosen = self._with_other_spellings(phi, chosen, groups)
        else:
            chosen[chosen] = limit_per_sentence(phi.sentences[chosen], self.max_replacements, rng)
        moves = Moves(phi, actions, chosen)
        perturbed, ranks = self._perturbed(X, moves, groups, rng)
        return perturbed, _statistics(moves, ranks)

    def _actions(self, phi: PhiTokens) -> np.ndarray:
        """Fate of each distinct word; raises where an unknown word may not be."""
        actions, _ = self.mechanism_.policy.actions(phi.words)
        if self.unknown == "raise" and (actions == UNKNOWN).any():
            self._refuse(phi, (actions == UNKNOWN)[phi.word_ids], "are not among the word vectors")
        return actions

    def _refuse(self, phi: PhiTokens, wrong: np.ndarray, why: str) -> None:
        counts = np.bincount(phi.label_ids[wrong], minlength=len(phi.labels))
        listed = ", ".join(f"{label}: {n}" for label, n in zip(phi.labels, counts.tolist(), strict=True) if n)
        raise ValueError(f"{int(wrong.sum())} PHI tokens {why} ({listed}).")


def _nonzero_rows(vectors: WordVectors) -> np.ndarray:
    return np.concatenate([block.any(axis=1) for block in vectors.blocks()] or [np.zeros(0, dtype=bool)])


def _statistics(moves: Moves, ranks: np.ndarray) -> dict[str, dict[str, float]]:
    """Counts of each label: they name no word."""
    out: dict[str, dict[str, float]] = {}
    all_ranks = np.zeros(len(moves.phi), dtype=np.int64)
    all_ranks[moves.chosen] = ranks
    for i, label in enumerate(moves.phi.labels):
        mine = moves.phi.label_ids == i
        ranked = all_ranks[mine]
        known = ranked[ranked > 0]
        out[label] = {
            "tokens": int(mine.sum()),
            "moved": int((mine & moves.chosen).sum()),
            "kept_excluded": int((mine & ~moves.chosen & (moves.actions == EXCLUDED)).sum()),
            "kept_unknown": int((mine & ~moves.chosen & (moves.actions == UNKNOWN)).sum()),
            "kept_limit": int((mine & (moves.actions < EXCLUDED) & ~moves.chosen).sum()),
            "drew_itself": int((known == 1).sum()),
            "mean_rank": float(known.mean()) if len(known) and (ranked >= 0).all() else float("nan"),
        }
    return out
