"""The PHI tokens of annotated sentences, as arrays."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np

from ..sequences import TokenSequences
from ..text import split_tag


@dataclass(frozen=True, repr=False)
class PhiTokens:
    """PHI tokens in order of position.

    Attributes
    ----------
    positions : ndarray of int64, shape (n,)
        Position of each PHI token among all tokens.
    sentences : ndarray of int64, shape (n,)
        Sentence of each PHI token.
    label_ids : ndarray of int64, shape (n,)
        Index of each PHI token's label in ``labels``.
    labels : tuple of str
        Requested labels that occur, sorted.
    word_ids : ndarray of int64, shape (n,)
        Index of each PHI token's word in ``words``.
    words : list of str
        Distinct words, in order of appearance.
    """

    positions: np.ndarray
    sentences: np.ndarray
    label_ids: np.ndarray
    labels: tuple[str, ...]
    word_ids: np.ndarray
    words: list[str]

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:  # counts only: the words are note text
        return f"PhiTokens(n={len(self)}, labels={len(self.labels)})"


def check_some_labels(transformer: Any) -> None:
    """Refuse a transformer with an empty collection of labels, which would return the notes unchanged.

    Raises
    ------
    ValueError
        If ``labels`` is empty.
    """
    if transformer.labels is not None and not len(transformer.labels):
        raise ValueError(
            f"The 'labels' parameter of {type(transformer).__name__} must be None or name a label. Got no label, so "
            "that all PHI would be unchanged."
        )


def warn_of_absent_labels(labels: Collection[str] | None, tags: TokenSequences, stacklevel: int) -> None:
    """Warn if no token has a label of the collection; ``stacklevel`` counts from the caller of this function."""
    occurring = {split_tag(tag)[1] for tag in set(tags.data)} - {None}
    absent = sorted(set(() if labels is None else labels) - occurring)
    if absent:
        told = f"No token has one of these labels: {absent}. y has {sorted(map(str, occurring))}."
        warn(told, stacklevel=stacklevel + 1)


def find_phi_tokens(X: TokenSequences, tags: TokenSequences, labels: Collection[str] | None = None) -> PhiTokens:
    """Find the PHI tokens with the given labels; by default, the PHI tokens with any label.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Dr", "Alder", "left"]])
    >>> find_phi_tokens(X, TokenSequences.from_rows([["O", "B-DOCTOR", "O"]]))
    PhiTokens(n=1, labels=1)
    """
    # There are few distinct tags, so that each tag is split once and not at each token.
    label_of = {tag: split_tag(tag)[1] for tag in set(tags.data)}
    wanted = None if labels is None else set(labels)
    occurring = sorted({label for label in label_of.values() if label and (wanted is None or label in wanted)})
    number = {tag: occurring.index(label) if label in occurring else -1 for tag, label in label_of.items()}
    ids = np.fromiter(map(number.__getitem__, tags.data), dtype=np.int64, count=len(tags.data))
    positions = np.flatnonzero(ids >= 0)
    seen: dict[str, int] = {}
    word_ids = np.fromiter(
        (seen.setdefault(token, len(seen)) for token in X.data[positions]), dtype=np.int64, count=len(positions)
    )
    # A token belongs to the last sentence that starts at or before its position. Shape: (n_phi_tokens,)
    sentences = np.searchsorted(X.offsets, positions, side="right") - 1
    return PhiTokens(positions, sentences, ids[positions], tuple(occurring), word_ids, list(seen))


def limit_per_sentence(sentences: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Choose at most ``most`` tokens of each sentence at random; shape (n,), bool.

    Parameters
    ----------
    sentences : ndarray of int, shape (n,)
        Sentence of each token.
    most : int
        Largest number of tokens that are chosen in a sentence.
    rng : numpy.random.Generator
        Source of the random choice.
    """
    # Sort by sentence, in random order within a sentence; then the first ``most`` of each sentence are chosen.
    order = np.lexsort((rng.random(len(sentences)), sentences))
    sentence = sentences[order]
    first = np.searchsorted(sentence, sentence, side="left")
    chosen = np.zeros(len(sentences), dtype=bool)
    chosen[order] = np.arange(len(order)) - first < most
    return chosen
