"""From tokens and tags to the arrays that private representations are trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..embeddings import WordVectors
from ..exceptions import SequenceError
from ..pseudonyms.phi_tokens import find_phi_tokens
from ..pseudonyms.policy import DIGITS, MOVE
from ..sequences import TokenSequences
from ..tagging.tagger_data import distinct_words, span_ranges
from ..text import CASING_CLASSES, casing_ids
from .pair_data import PairData

__all__ = ["embedding_table", "make_pair_data"]


def embedding_table(vectors: WordVectors, words: list[str]) -> np.ndarray:
    """Embeddings of words, shape (n, dim), with numbers of about size 1; zeros for unknown words."""
    return vectors.vectors_for(words) * np.float32(np.sqrt(vectors.dim))


def make_pair_data(
    X: TokenSequences, tags: TokenSequences, classes: np.ndarray, mechanism: Any, **options: Any
) -> PairData:
    """Sentences as rows of a table of embeddings, and the neighbours to which each PHI token may move.

    Parameters
    ----------
    X, tags : TokenSequences
        Tags are legal.
    classes : ndarray of shape (n_classes,)
        Tags; the first is "O", which stands for tags that are none of them.
    mechanism : ExactTokenMechanism
        Of a fitted `NeighborPseudonymizer`: which words move, and where to.
    **options
        ``labels``: PHI categories that move (default all); ``casing``: whether sentences have a casing one-hot.

    Raises
    ------
    SequenceError
        If no token of PHI can move.
    """
    labels, casing = options.get("labels"), options.get("casing", True)
    policy = mechanism.policy
    words, distinct = distinct_words(X)
    phi = find_phi_tokens(X, tags, labels)
    actions, rows = policy.actions(phi.words)
    # Unknown words all look the same to the network: there is nothing to tell apart.
    able = ((actions == MOVE) | (actions == DIGITS)) & (rows >= 0)
    if not able[phi.word_ids].any():
        raise SequenceError(
            "No PHI token of X can move to a neighbour, so there is nothing to protect or to train on: y has "
            f"{len(phi)} PHI tokens, none of them with a word vector."
        )
    support, _ = mechanism.moves.support(rows[able])
    # The table: words of X first, then those that only occur as neighbours.
    extra, number = np.unique(support[support >= 0], return_inverse=True)
    alternatives = np.full(support.shape, -1, dtype=np.int64)
    alternatives[support >= 0] = len(distinct) + number
    # A neighbour that is the word itself must be seen to be it.
    own = np.full(len(phi.words), -1)
    own[able] = np.arange(able.sum())
    eligible = own[phi.word_ids] >= 0
    scaled = policy.vectors.vectors_at(extra) * np.float32(np.sqrt(policy.vectors.dim))
    table = np.concatenate([embedding_table(policy.vectors, distinct), scaled])
    word_row = {word: i for i, word in enumerate(distinct)}
    local = np.array([word_row[phi.words[i]] for i in np.flatnonzero(able)])
    same = alternatives == (len(distinct) + np.searchsorted(extra, rows[able]))[:, None]
    alternatives = np.where(same, local[:, None], alternatives)
    tag_number = {tag: i for i, tag in enumerate(classes.tolist())}
    return PairData(
        torch.from_numpy(table),
        words,
        X.offsets,
        np.array([tag_number.get(tag, 0) for tag in tags.data], dtype=np.int64),
        phi.positions[eligible],
        alternatives,
        casing_ids(X.data.tolist()) if casing else None,
        len(CASING_CLASSES),
        own[phi.word_ids[eligible]],
        _spans(tags),
    )


def _spans(tags: TokenSequences) -> np.ndarray:
    """Label number + 1 where a span begins, -1 where it goes on, 0 elsewhere."""
    starts, ends, labels = span_ranges(tags)
    steps = np.zeros(len(tags.data) + 1, dtype=np.int64)
    steps[ends] += 1
    steps[starts] -= 1
    spans = np.cumsum(steps)[:-1]
    spans[starts] = labels + 1
    return spans
