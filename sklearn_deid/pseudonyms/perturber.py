"""Base classes of the transformers that perturb PHI tokens: `PhiPerturber`, and `TokenPerturber` for words to words.

To add a perturbation, write a subclass in a new file, and add a line to the table of ``__init__``. The subclass stores
its parameters, states their constraints, and returns a mechanism from ``_make_mechanism``. The base classes do all
other work.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints, unfitted_if_failed
from .._randomness import own_generator, release_generator
from ..embeddings import NeighborIndex
from ..embeddings.resolving import required_embeddings
from ..sequences import RaggedArray, TokenSequences, check_groups, check_tags, object_rows
from ..sequences.sentence_transformer import SentenceTransformer
from .coherence import shared_draws
from .phi_tokens import PhiTokens, check_some_labels, find_phi_tokens, limit_per_sentence, warn_of_absent_labels
from .policy import EXCLUDED, SHAPE, UNKNOWN, WordPolicy, digit_words, usable_words, words_to_exclude
from .word_moves import DigitsApart

# Parameters that each draw reads anew. All other parameters are part of ``mechanism_``, and a change needs a new fit.
_OF_A_DRAW = frozenset(
    ("labels", "max_replacements", "coherence", "casing", "random_state", "n_jobs", "cache_dir", "verbose")
)


class Moves(NamedTuple):
    """Actions for the PHI tokens of X in one random draw.

    Attributes
    ----------
    phi : PhiTokens
        PHI tokens of X.
    actions : ndarray of int8, shape (n_phi,)
        Action for each PHI token, a constant of `policy`.
    chosen : ndarray of bool, shape (n_phi,)
        Whether each PHI token is replaced.
    """

    phi: PhiTokens
    actions: np.ndarray
    chosen: np.ndarray


class PhiPerturber(SentenceTransformer):
    """Base of the transformers that perturb PHI tokens during fitting and leave X unchanged afterwards.

    A subclass has at least the parameters ``embeddings``, ``labels``, ``max_replacements``, ``exclude``, ``unknown``
    and ``random_state``. The subclass makes ``mechanism_`` in ``_make_mechanism`` and perturbs X in ``_perturbed``.
    `TokenPerturber` and `VectorPerturber` implement ``_perturbed``.

    Parameters
    ----------
    **parameters
        Parameters of the subclass.
    """

    _parameter_constraints: dict[str, list] = {
        "labels": ["array-like", set, frozenset, None],
        "max_replacements": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }
    # Values of two parameters for subclasses without these parameters.
    digits, coherence = "same", "token"

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Build the mechanism, and count the replaced tokens.

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
            If y is missing or does not match X, or if X contains vectors.
        ValueError
            If a parameter does not fit the word vectors, or if a token has no possible surrogate. The message never
            contains a word.
        """
        self._fit_and_draw(X, y, groups)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Fit, and return X with perturbed PHI tokens; ``transform`` perturbs no tokens.

        As with scikit-learn's `TargetEncoder`, the results of ``fit(X, y).transform(X)`` and ``fit_transform(X, y)``
        differ. A Pipeline therefore trains its later steps on perturbed sentences, and these steps predict on unchanged
        sentences.

        Parameters
        ----------
        X, y, groups
            As for `fit`.
        """
        return self._fit_and_draw(X, y, groups)

    def transform(self, X: Any) -> Any:
        """Check X and return X unperturbed, since a tagger must read the original sentences.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens

        Returns
        -------
        TokenSequences, or TokenVectors where vectors are released
        """
        check_is_fitted(self)
        return self._untouched(self._words(X))

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Draw again, and return X with perturbed PHI tokens.

        With an integer ``random_state``, every call returns the same draw.

        Parameters
        ----------
        X, y, groups
            As for `fit`. The sentences may differ from the sentences of `fit`.

        Raises
        ------
        ValueError
            If a parameter of the mechanism was changed after the fit: the draw would not match the parameter.
        """
        check_is_fitted(self)
        check_constraints(self)
        self._check_unchanged()
        X, tags, groups = self._checked(X, y, groups)
        return self._draw(X, tags, groups)[0]

    def fit_resample(self, X: Any, y: Any = None, groups: Any = None) -> tuple:
        """Fit, and return the sentences of X together with their perturbed versions, in random order.

        Use this method to train on twice the data inside a hospital, or in a Pipeline of imbalanced-learn. The result
        contains the sentences of X and is as sensitive as X.

        Returns
        -------
        X, y
            2 n sentences and their tags. With ``groups``, the groups of the returned sentences are a third array.
        """
        perturbed = self._fit_and_draw(X, y, groups)
        # The second call returns the checked containers, which `_fit_and_draw` does not return.
        X, tags, groups = self._checked(X, y, groups)
        both = type(perturbed)(
            np.concatenate([self._untouched(X).data, perturbed.data]),
            np.concatenate([X.offsets, perturbed.offsets[1:] + X.offsets[-1]]),
        )
        # Rows 0 to n - 1 are the sentences of X, rows n to 2 n - 1 their perturbed versions, so ``% n`` finds the tags.
        order = release_generator(self.random_state).permutation(len(both))
        rows = order % len(X)
        result = (both[order], object_rows(tags[rows]))
        return result if groups is None else (*result, groups[rows])

    # ---- methods of a subclass

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> Any:
        raise NotImplementedError

    def _perturbed(
        self, X: TokenSequences, moves: Moves, groups: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[RaggedArray, np.ndarray]:
        """Return X with the chosen tokens replaced, and the similarity rank of each replacement (0: no rank)."""
        raise NotImplementedError

    def _with_other_spellings(self, phi: PhiTokens, chosen: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
        """Add to the chosen tokens the tokens that must be replaced together with them."""
        return chosen

    def _untouched(self, X: TokenSequences) -> Any:
        return X

    # ---- data in

    def _fit_and_draw(self, X: Any, y: Any, groups: Any) -> Any:
        check_constraints(self)
        X, tags, groups = self._checked(X, y, groups)
        with unfitted_if_failed(self):
            vectors = required_embeddings(self, X, own_generator(self.random_state).integers(2**31))
            policy = WordPolicy(vectors, words_to_exclude(self.exclude), self.digits, self.unknown)
            self.mechanism_ = self._make_mechanism(policy, usable_words(vectors))
            self._fitted_as = self._mechanism_parameters()
            warn_of_absent_labels(self.labels, tags, stacklevel=3)
            perturbed, self.statistics_ = self._draw(X, tags, groups)
        return perturbed

    def _mechanism_parameters(self) -> dict[str, Any]:
        """Parameters that `fit` has passed to the mechanism."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OF_A_DRAW}

    def _check_unchanged(self) -> None:
        now = self._mechanism_parameters()
        changed = [name for name, value in self._fitted_as.items() if not _is_same(value, now[name])]
        if changed:
            raise ValueError(
                f"{', '.join(map(repr, changed))} of {type(self).__name__} changed after the fit, and the draw would "
                "follow the old values. Fit again."
            )

    def _checked(self, X: Any, y: Any, groups: Any) -> tuple[TokenSequences, TokenSequences, np.ndarray | None]:
        check_some_labels(self)
        X = self._words(X)
        tags = check_tags(y, X)
        if groups is None and self.coherence in ("document", "patient"):
            raise ValueError(
                f"coherence={self.coherence!r} needs groups: the {self.coherence} of each sentence. In a Pipeline: "
                f"fit(X, y, step__groups=groups)."
            )
        return X, tags, check_groups(groups, len(X))

    # ---- the draw

    def _draw(self, X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None) -> tuple[Any, dict]:
        rng = release_generator(self.random_state)
        # shape of all arrays of ``phi`` below: (n_phi_tokens,)
        phi = find_phi_tokens(X, tags, self.labels)
        actions = self._actions(phi)[phi.word_ids]
        chosen = actions < EXCLUDED
        # With a limit, the tokens to replace are drawn at random. Other spellings could exceed the limit and are not
        # added.
        if self.max_replacements is None:
            chosen = self._with_other_spellings(phi, chosen, groups)
        else:
            chosen[chosen] = limit_per_sentence(phi.sentences[chosen], self.max_replacements, rng)
        moves = Moves(phi, actions, chosen)
        perturbed, ranks = self._perturbed(X, moves, groups, rng)
        return perturbed, _statistics(moves, ranks)

    def _actions(self, phi: PhiTokens) -> np.ndarray:
        """Return the action for each distinct word; raise ValueError if an unknown word is not allowed."""
        actions, _ = self.mechanism_.policy.actions(phi.words)
        if self.unknown == "raise" and (actions == UNKNOWN).any():
            self._refuse(phi, (actions == UNKNOWN)[phi.word_ids], "are not among the word vectors")
        return actions

    def _refuse(self, phi: PhiTokens, wrong: np.ndarray, why: str) -> None:
        counts = np.bincount(phi.label_ids[wrong], minlength=len(phi.labels))
        listed = ", ".join(f"{label}: {n}" for label, n in zip(phi.labels, counts.tolist(), strict=True) if n)
        raise ValueError(f"{int(wrong.sum())} PHI tokens {why} ({listed}).")


def _is_same(old: Any, new: Any) -> bool:
    """Whether a parameter is unchanged. Word vectors and collections are compared by identity."""
    is_plain = isinstance(old, (str, Real)) and isinstance(new, (str, Real))
    return old is new or (is_plain and old == new)


def _statistics(moves: Moves, ranks: np.ndarray) -> dict[str, dict[str, float]]:
    """Count the tokens of each label by their action; the counts contain no word."""
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


TOKEN_CONSTRAINTS: dict[str, list] = {
    **PhiPerturber._parameter_constraints,
    "digits": [StrOptions({"same", "random"})],
    "unknown": [StrOptions({"shape", "random", "keep", "raise"})],
    "coherence": [StrOptions({"token", "sentence", "document", "patient"})],
    "keep_casing": ["boolean"],
}


NEIGHBOR_CONSTRAINTS: dict[str, list] = {
    **TOKEN_CONSTRAINTS,
    "digits": [StrOptions({"near", "same", "random"})],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class TokenPerturber(PhiPerturber):
    """Base of the transformers that replace words by words.

    Surrogates are drawn for words, are shared within a group, and are written in the casing of each token. A subclass
    has the parameters of `PhiPerturber`, and also ``digits``, ``coherence`` and ``keep_casing``. The method
    ``_make_mechanism`` of a subclass returns a `TokenMechanism` over a map between words (`WordMoves`). If the map has
    known ``probabilities``, the mechanism is an `ExactTokenMechanism`, and an audit can compute the information that a
    release reveals.
    """

    _releases = "words"  # for audits: the result of `fit_transform` is shared
    _parameter_constraints: dict[str, list] = TOKEN_CONSTRAINTS

    def _perturbed(
        self, X: TokenSequences, moves: Moves, groups: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray]:
        phi, chosen = moves.phi, moves.chosen
        word_ids = phi.word_ids[chosen]
        shared = self._group_ids(phi.sentences[chosen], groups)
        draws, drawn = shared_draws(shared, word_ids, phi.words, self._actions(phi) < SHAPE)
        # One draw for each shared word, not for each token: ``draws`` maps tokens to their draw.
        made = self.mechanism_.replace(phi.words, drawn, rng)
        data = X.data.copy()
        positions = phi.positions[chosen]
        data[positions] = [
            self.mechanism_.write(new, token)
            for new, token in zip(made.words[draws].tolist(), data[positions].tolist(), strict=True)
        ]
        return TokenSequences(data, X.offsets).with_documents(X.documents), made.ranks[draws]

    def _with_other_spellings(self, phi: PhiTokens, chosen: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
        shared = self._group_ids(phi.sentences, groups)
        if shared is None:
            return chosen
        # Without this step, "Forty" would be replaced, but the stop word "forty" would stay and reveal the original.
        folded = [phi.words[i].casefold() for i in phi.word_ids.tolist()]
        keys = list(zip(shared.tolist(), folded, strict=True))
        moving = {key for key, moves in zip(keys, chosen.tolist(), strict=True) if moves}
        return np.fromiter((key in moving for key in keys), dtype=bool, count=len(keys))

    def _group_ids(self, sentences: np.ndarray, groups: np.ndarray | None) -> np.ndarray | None:
        if self.coherence == "token":
            return None
        if self.coherence == "sentence":
            return sentences
        assert groups is not None  # `_checked` has checked the type
        number: dict[Any, int] = {}
        ids = np.array([number.setdefault(group, len(number)) for group in groups.tolist()], dtype=np.int64)
        return ids[sentences]

    def _neighbor_moves(self, kind: type, policy: WordPolicy, candidates: np.ndarray, *parameters: Any) -> Any:
        """Make the map ``kind(index, N, *parameters)``; with ``digits="near"``, all-digit words have a separate map."""
        n_candidates = int(candidates.sum())
        if self.n_neighbors > n_candidates:
            raise ValueError(
                f"The 'n_neighbors' parameter of {type(self).__name__} must be at most the number of possible "
                f"surrogates, {n_candidates}. Got {self.n_neighbors} instead."
            )
        vectors = policy.vectors
        options = {"n_jobs": self.n_jobs, "cache_dir": self.cache_dir, "verbose": self.verbose}
        index = NeighborIndex(vectors, candidates=candidates, **options)
        others = kind(index, self.n_neighbors, *parameters)
        # All-digit words search their neighbours among all-digit words only, so that a year does not become a month.
        is_digits = digit_words(vectors)
        n_digits = int((candidates & is_digits).sum())
        if self.digits != "near" or not n_digits:
            return others
        index = NeighborIndex(vectors, candidates=candidates & is_digits, **options)
        return DigitsApart(others, kind(index, min(self.n_neighbors, n_digits), *parameters), is_digits)
