"""Draws of surrogates in pseudonymised text: each draw with its tokens, and whether a token stayed unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...pseudonyms.coherence import shared_draws
from ...pseudonyms.phi_tokens import PhiTokens, find_phi_tokens
from ...pseudonyms.policy import EXCLUDED, SHAPE
from ...sequences import TokenSequences


@dataclass(frozen=True, repr=False)
class WordDraws:
    """Draws of surrogates, one for each group of tokens that share a surrogate. The object contains words of notes.

    Attributes
    ----------
    words : list of str, length n_draws
        Word whose surrogate was drawn.
    spellings : list of tuple of str, length n_draws
        Distinct original tokens of each draw.
    kept : ndarray of bool, shape (n_draws,)
        Whether the release shows at least one token of the draw unchanged, apart from its casing.
    not_chosen : ndarray of float, shape (n_draws,)
        Upper bound of the probability that ``max_replacements`` left out a token of the draw.
    label_ids : ndarray of int, shape (n_draws,)
        Index in ``labels`` of the first token's label.
    labels : tuple of str
        Labels of the tokens.
    groups : ndarray of shape (n_draws,) or None
        Patient of the first token.
    sentences : ndarray of int, shape (n_draws,)
        Sentence of the first token.
    positions : ndarray of int, shape (n_draws,)
        Position of the first token among the tokens of all sentences.
    """

    words: list[str]
    spellings: list[tuple[str, ...]]
    kept: np.ndarray
    not_chosen: np.ndarray
    label_ids: np.ndarray
    labels: tuple[str, ...]
    groups: np.ndarray | None
    sentences: np.ndarray
    positions: np.ndarray

    def __len__(self) -> int:
        return len(self.words)


def draws_of_text(
    pseudonymizer: Any, original: TokenSequences, released: TokenSequences, tags: TokenSequences, groups: Any
) -> WordDraws:
    """Collect the draws of a release. Tokens that the parameters of the pseudonymizer keep have no draw.

    Parameters
    ----------
    pseudonymizer : fitted TokenPerturber
        Pseudonymizer with the stated mechanism.
    original, released, tags : TokenSequences of n sentences
        Original words, released words and tags, token by token.
    groups : ndarray of shape (n,) or None
        Group of each sentence that was passed to the pseudonymizer.

    Raises
    ------
    ValueError
        If no token is replaced.
    """
    labels = None if pseudonymizer.labels is None else set(pseudonymizer.labels)
    phi = find_phi_tokens(original, tags, labels)
    actions, _ = pseudonymizer.mechanism_.policy.actions(phi.words)
    able = actions[phi.word_ids] < EXCLUDED
    if pseudonymizer.max_replacements is None:
        able = pseudonymizer._with_other_spellings(phi, able, groups)
    if not able.any():
        raise ValueError("No token of the released text has to be replaced by the stated mechanism.")
    positions, sentences, word_ids = phi.positions[able], phi.sentences[able], phi.word_ids[able]
    shared = pseudonymizer._group_ids(sentences, groups)
    draws, drawn = shared_draws(shared, word_ids, phi.words, actions < SHAPE)
    n = len(drawn)
    shown = zip(original.data[positions].tolist(), released.data[positions].tolist(), strict=True)
    unchanged = np.array([token.casefold() == new.casefold() for token, new in shown])
    first = np.unique(draws, return_index=True)[1]
    return WordDraws(
        [phi.words[i] for i in drawn.tolist()],
        _spellings(phi, draws, word_ids, n),
        np.bincount(draws, unchanged, n) > 0,
        np.minimum(1.0, np.bincount(draws, _left_out(sentences, pseudonymizer.max_replacements), n)),
        phi.label_ids[able][first],
        phi.labels,
        None if groups is None else np.asarray(groups)[sentences[first]],
        sentences[first],
        positions[first],
    )


def _spellings(phi: PhiTokens, draws: np.ndarray, word_ids: np.ndarray, n_draws: int) -> list[tuple[str, ...]]:
    found: list[dict[str, None]] = [{} for _ in range(n_draws)]
    for draw, word in zip(draws.tolist(), word_ids.tolist(), strict=True):
        found[draw][phi.words[word]] = None
    return [tuple(spellings) for spellings in found]


def _left_out(sentences: np.ndarray, most: int | None) -> np.ndarray:
    """Probability of each token to be left out, because the number of replaced tokens in a sentence is limited."""
    if most is None:
        return np.zeros(len(sentences))
    n_able = np.bincount(sentences)[sentences]
    return 1.0 - np.minimum(1.0, most / n_able)
