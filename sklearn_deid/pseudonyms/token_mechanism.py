"""Randomised maps from tokens to tokens: a map between words draws a word, which is then written in a casing."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from ..text import apply_casing, casing_pattern
from .policy import DIGITS, MOVE, RANDOM, SHAPE, WordPolicy, digit_words
from .release_space import ReleaseSpace
from .word_moves import WordMoves


class Replacements(NamedTuple):
    """Drawn words, before they are written in the casing of a token.

    Attributes
    ----------
    words : ndarray of object, shape (n_draws,)
        Drawn word of each draw.
    ranks : ndarray of int64, shape (n_draws,)
        Similarity rank of the drawn word: 1 for the word itself, 0 without a rank, -1 for an unknown rank.
    actions : ndarray of int8, shape (n_draws,)
        Action that the policy assigned to the word.
    """

    words: np.ndarray
    ranks: np.ndarray
    actions: np.ndarray


class TokenMechanism:
    """Release of one token: independent of all other tokens, and of the sentence.

    Parameters
    ----------
    moves : WordMoves
        Map from words with a vector to their possible surrogates.
    policy : WordPolicy
        Policy that decides which words are replaced and which words are kept.
    candidates : ndarray of bool, shape (n_words,)
        Whether each word of the table can be a surrogate.
    keep_casing : bool
        Whether a surrogate is written in the casing of its token.
    """

    def __init__(self, moves: WordMoves, policy: WordPolicy, candidates: np.ndarray, keep_casing: bool) -> None:
        self.moves, self.policy, self.keep_casing = moves, policy, keep_casing
        words = policy.vectors.words
        self.vocabulary = np.array(words, dtype=object)
        self._candidates = np.flatnonzero(candidates)
        self._digits = np.flatnonzero(candidates & digit_words(policy.vectors))
        self._space: ReleaseSpace | None = None

    def replace(self, words: Sequence[str], drawn: np.ndarray, rng: np.random.Generator) -> Replacements:
        """Draw once for each item of ``drawn``: the items are indices into the distinct ``words``.

        Raises
        ------
        ValueError
            If a random all-digit word is needed and the vectors have no all-digit word.
        """
        actions, rows = self.policy.actions(words)
        if (actions == DIGITS).any() and not len(self._digits):
            raise ValueError("digits='random' needs an all-digit word among the word vectors, and there is none.")
        own = np.array(words, dtype=object)
        new, action = own[drawn], actions[drawn]
        ranks = np.zeros(len(drawn), dtype=np.int64)
        moving = np.flatnonzero(action == MOVE)
        targets, ranks[moving] = self.moves.draw(rows[drawn[moving]], rng)
        # A word that draws itself also takes the spelling of the table: its own spelling would mark it as the original.
        new[moving] = self.vocabulary[targets]
        for kind, choices in ((DIGITS, self._digits), (RANDOM, self._candidates)):
            which = np.flatnonzero(action == kind)
            if len(which):
                new[which] = self.vocabulary[rng.choice(choices, size=len(which))]
        shaped = np.flatnonzero(action == SHAPE)
        new[shaped] = random_of_shape(new[shaped].tolist(), rng)
        return Replacements(new, ranks, action)

    def write(self, new: str, token: str) -> str:
        """Write the surrogate of a token. The spelling does not depend on whether the word was replaced by itself."""
        return apply_casing(new, casing_pattern(token)) if self.keep_casing else new

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Draw a release of each token, as the number of a string (see `ReleaseSpace`); shape (n,)."""
        number: dict[str, int] = {}
        drawn = np.fromiter((number.setdefault(token, len(number)) for token in tokens), np.int64, count=len(tokens))
        words = list(number)
        made = self.replace(words, drawn, rng)
        # Actions below SHAPE draw a word of the table. The others keep the token or its shape.
        moved = made.actions < SHAPE
        released = [
            self.write(new, token) if moves else token
            for new, token, moves in zip(made.words, tokens, moved.tolist(), strict=True)
        ]
        ids = self.releases().of_tokens(released)
        for i in np.flatnonzero(made.actions == SHAPE).tolist():
            ids[i] = self.shape_release(tokens[i])
        return ids

    def shape_release(self, token: str) -> int:
        """Return the number of the release of an unknown token whose shape is kept."""
        # All strings of a shape are equally likely and reveal only the shape, so they count as the same release.
        return self.releases().other(f"shape {_shape(token)}")

    def releases(self) -> ReleaseSpace:
        """Return the space that numbers all strings that can be released."""
        if self._space is None:
            self._space = ReleaseSpace(self.policy.vectors)
        return self._space

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_space": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.moves).__name__}, {self.policy.vectors!r})"


class ExactTokenMechanism(TokenMechanism):
    """Mechanism with a known probability of each release."""

    def probabilities(self, tokens: Sequence[str]) -> csr_array:
        """Compute the probability of each release of each token, shape (n_tokens, n_releases)."""
        space = self.releases()
        actions, rows = self.policy.actions(tokens)
        patterns = np.array([casing_pattern(t) if self.keep_casing else 0 for t in tokens], dtype=np.int64)
        own = space.of_tokens(tokens)
        kept, shaped = np.flatnonzero(actions > SHAPE), np.flatnonzero(actions == SHAPE)
        shapes = np.array([self.shape_release(tokens[i]) for i in shaped.tolist()], dtype=np.int64)
        # Entries of a sparse matrix as (token, release, probability). Tokens that stay, and shapes, have a single
        # release.
        parts = [(kept, own[kept], np.ones(len(kept))), (shaped, shapes, np.ones(len(shaped)))]
        for pattern in np.unique(patterns).tolist():
            here = patterns == pattern
            parts.append(self._moved(np.flatnonzero(here & (actions == MOVE)), rows, pattern))
            for action, choices in ((DIGITS, self._digits), (RANDOM, self._candidates)):
                which = np.flatnonzero(here & (actions == action))
                columns = space.of_rows(choices, pattern)
                index = np.repeat(which, len(columns))
                parts.append((index, np.tile(columns, len(which)), np.full(len(index), 1.0 / max(1, len(columns)))))
        index, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return coo_array((values, (index, columns)), shape=(len(tokens), space.n_columns)).tocsr()

    def _moved(self, which: np.ndarray, rows: np.ndarray, pattern: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        empty = np.zeros(0, dtype=np.int64)
        if not len(which):
            return empty, empty, np.zeros(0)
        table: Any = self.moves.probabilities(rows[which])  # type: ignore[attr-defined]
        table = table.tocoo() if issparse(table) else coo_array(table)
        # One entry for each possible move: number of the token, and row of the target in the table. Shape: (n_entries,)
        line, targets = table.coords
        return which[line], self.releases().of_rows(targets, pattern), table.data


def random_of_shape(words: Sequence[str], rng: np.random.Generator) -> np.ndarray:
    """Replace every letter and digit of words by a random character of the same kind, and keep all other characters.

    Letters become random letters from a to z, in the same case. Accents and vowel signs with a code point of their own
    become lower-case letters, since they belong to the original letters. Other signs for numbers become digits.

    Examples
    --------
    >>> import numpy as np
    >>> word = random_of_shape(["MR-17b"], np.random.default_rng(0))[0]
    >>> word[:2].isupper(), word[2], word[3:5].isdigit(), word[5].islower()
    (True, '-', True, True)
    """
    out = np.empty(len(words), dtype=object)
    for i, word in enumerate(words):
        chance = rng.random(len(word)).tolist()
        kinds = zip(word, _shape(word), chance, strict=True)
        out[i] = "".join(_random_character(c, kind, p) for c, kind, p in kinds)
    return out


def _random_character(character: str, kind: str, chance: float) -> str:
    choices = _DRAWN_FROM.get(kind)
    return choices[int(chance * len(choices))] if choices else character


_DRAWN_FROM = {"X": ascii_uppercase, "x": ascii_lowercase, "d": "0123456789"}


def _shape(word: str) -> str:
    """Return the kind of each character."""
    return "".join(map(character_kind, word))


def character_kind(character: str) -> str:
    """Kind of a character in a shape: "d" for digits, "X" and "x" for letters, and the character itself for all others.

    Examples
    --------
    >>> [character_kind(one) for one in "É-7\u0301½"]
    ['X', '-', 'd', 'x', 'd']
    """
    if character.isdigit():
        return "d"
    if character.isupper():
        return "X"
    if character.isalpha() or category(character).startswith("M"):
        return "x"
    return "d" if character.isnumeric() else character
