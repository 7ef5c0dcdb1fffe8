"""Tokens and tags as flat arrays of numbers, for the training of private representations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..embeddings import WordVectors
from ..exceptions import SequenceError
from ..pseudonyms.phi_tokens import find_phi_tokens
from ..pseudonyms.policy import DIGITS, MOVE
from ..sequences import TokenSequences
from ..tagging.span_swap import SpanSwapper
from ..tagging.tagger_data import distinct_words, span_ranges
from ..text import CASING_CLASSES, CASING_PATTERNS, apply_casing, casing_ids, casing_pattern


@dataclass(frozen=True, repr=False)
class PairData:
    """Sentences as flat arrays of numbers, and the words by which each PHI token may be replaced.

    Attributes
    ----------
    table : FloatTensor of shape (n_words, e)
        Embedding of each distinct word, including the alternatives.
    words : ndarray of shape (n_tokens,)
        Row of ``table`` for each token.
    offsets : ndarray of shape (n + 1,)
        Sentence i holds the tokens ``offsets[i]:offsets[i + 1]``.
    tags : ndarray of shape (n_tokens,)
        Tag index of each token.
    eligible : ndarray of shape (n_eligible,)
        Positions of the tokens that may be replaced, in ascending order.
    alternatives : ndarray of shape (n_choices, N)
        Rows of ``table`` by which tokens may be replaced. Entries that are -1 or the token's own word are never drawn.
        A token without any other entry is not eligible.
    choices : ndarray of shape (n_eligible,) or None
        Row of ``alternatives`` for each eligible token. Tokens of the same word share a row. None means a separate row
        for each token, in order.
    casing : ndarray of shape (n_tokens,) or None
        Casing class of each token, from 0 to ``n_casing - 1``.
    n_casing : int, default=7
        Number of casing classes.
    spans : ndarray of shape (n_tokens,) or None
        Label number + 1 at the first token of a span of PHI, -1 at its other tokens, 0 elsewhere. Only `swapped` needs
        the spans.
    patients : ndarray of int, shape (n,), or None
        Number of the patient of each sentence. With None, each sentence counts as a patient of its own.
    written : ndarray of shape (n_choices, N) or None
        Casing class of each alternative, written in the casing of the replaced token. None means that alternatives have
        the class of their token.
    casing_epsilon : float or None
        Privacy loss with which the casing class of each token is drawn anew in each batch; None for the true class.
    vector_rows : ndarray of shape (n_words,) or None
        Row of each word of ``table`` in the word vectors; -1 for a word without a vector.

    Raises
    ------
    ValueError
        If the arrays do not fit together.
    """

    table: Tensor
    words: np.ndarray
    offsets: np.ndarray
    tags: np.ndarray
    eligible: np.ndarray
    alternatives: np.ndarray
    casing: np.ndarray | None = None
    n_casing: int = 7
    choices: np.ndarray | None = None
    spans: np.ndarray | None = None
    patients: np.ndarray | None = None
    written: np.ndarray | None = None
    casing_epsilon: float | None = None
    vector_rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        n_tokens, n_words = len(self.words), len(self.table)
        if self.choices is None:
            object.__setattr__(self, "choices", np.arange(len(self.eligible)))
        if any(x is not None and len(x) != n_tokens for x in (self.tags, self.casing, self.spans)):
            raise ValueError(f"Tags, casing and spans must be given for each of the {n_tokens} tokens.")
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != n_tokens:
            raise ValueError(f"The 'offsets' must run from 0 to the number of tokens, {n_tokens}.")
        if (np.diff(self.offsets) < 0).any() or (np.diff(self.eligible) <= 0).any():
            raise ValueError("The 'offsets' and 'eligible' must ascend.")
        if self.alternatives.ndim != 2 or len(self.choices_) != len(self.eligible):
            raise ValueError(f"There must be 'choices' of 'alternatives' for each of {len(self.eligible)} tokens.")
        if self.patients is not None and len(self.patients) != len(self):
            raise ValueError(f"The 'patients' must be given for each of the {len(self)} sentences.")
        if self.written is not None and self.written.shape != self.alternatives.shape:
            raise ValueError("The 'written' classes must have the shape of the 'alternatives'.")
        _check_range("choices", self.choices_, 0, len(self.alternatives))
        _check_range("eligible", self.eligible, 0, n_tokens)
        _check_range("words", self.words, 0, n_words)
        _check_range("alternatives", self.alternatives, -1, n_words)
        _check_range("casing", np.empty(0) if self.casing is None else self.casing, 0, self.n_casing)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def choices_(self) -> np.ndarray:
        """Value of ``choices``, which is never None after construction."""
        assert self.choices is not None
        return self.choices

    @property
    def n_movable_sentences(self) -> int:
        """Number of sentences with a token that may be replaced."""
        return len(np.unique(np.searchsorted(self.offsets, self.eligible, side="right")))

    def take(self, rows: np.ndarray) -> PairData:
        """Return the sentences of these rows, in this order, with the same table; for example a split by patient.

        Examples
        --------
        >>> import numpy as np, torch
        >>> from sklearn_deid.representations import PairData
        >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
        ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
        >>> data.take(np.array([1])).words.tolist(), data.take(np.array([1])).eligible.tolist()
        ([1, 2], [1])
        """
        rows = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # Old position of each new token: shift each sentence from its new start to its old start.
        items = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self._gathered(items, offsets, None if self.patients is None else self.patients[rows])

    def swapped(self, share: float, rng: np.random.Generator) -> PairData:
        """Return sentences in which spans of PHI are replaced by other spans of the same label (see `SpanSwapper`).

        Parameters
        ----------
        share : float in [0, 1]
            Probability that a span is replaced by a span that is drawn from all spans of its label.
        rng : numpy.random.Generator
            Random stream of the swaps.

        Returns
        -------
        PairData
            New sentences, or the object itself if no span can be replaced.

        Examples
        --------
        >>> import numpy as np, torch
        >>> from sklearn_deid.representations import PairData
        >>> data = PairData(torch.eye(4), np.array([0, 1, 2, 3]), np.array([0, 2, 4]), np.array([0, 1, 0, 1]),
        ...                 np.array([1, 3]), np.array([[2, 3], [1, 2]]), spans=np.array([0, 1, 0, 1]))
        >>> swapped = data.swapped(1.0, np.random.default_rng(0))
        >>> swapped.words.tolist(), swapped.alternatives[swapped.choices].tolist()
        ([0, 3, 2, 1], [[1, 2], [2, 3]])
        """
        if not share or self.spans is None or not self.spans.any():
            return self
        starts = np.flatnonzero(self.spans > 0)
        # A span ends before the next token that does not continue it. The end of all tokens counts as such a token.
        stops = np.flatnonzero(np.append(self.spans >= 0, True))
        ends = stops[np.searchsorted(stops, starts, side="right")]
        items, offsets = SpanSwapper(self.offsets, starts, ends, self.spans[starts], share).draw(rng)
        return self._gathered(items, offsets, self.patients)

    def _gathered(self, items: np.ndarray, offsets: np.ndarray, patients: np.ndarray | None) -> PairData:
        """Return the sentences made of these tokens, given as positions, sentence offsets and patients."""
        place = np.full(len(self.words), -1)
        place[self.eligible] = np.arange(len(self.eligible))
        # shape: (n_items,): number of the eligible token at each new position; -1 where a token cannot be replaced
        kept = place[items]
        return replace(
            self,
            words=self.words[items],
            offsets=offsets,
            tags=self.tags[items],
            eligible=np.flatnonzero(kept >= 0),
            choices=self.choices_[kept[kept >= 0]],
            casing=None if self.casing is None else self.casing[items],
            spans=None if self.spans is None else self.spans[items],
            patients=patients,
        )


def _check_range(name: str, values: np.ndarray, low: int, high: int) -> None:
    if len(values) and values.size and not (values.min() >= low and values.max() < high):
        raise ValueError(f"The '{name}' must be between {low} and {high - 1}.")


def embedding_table(vectors: WordVectors, words: list[str]) -> np.ndarray:
    """Return the embeddings of words, shape (n, dim), with numbers of about size 1; zeros for unknown words."""
    return vectors.vectors_for(words) * np.float32(np.sqrt(vectors.dim))


def make_pair_data(
    X: TokenSequences,
    tags: TokenSequences,
    classes: np.ndarray,
    mechanism: Any,
    *,
    labels: Collection[str] | None = None,
    casing: bool = True,
    casing_epsilon: float | None = None,
    patients: np.ndarray | None = None,
) -> PairData:
    """Make the arrays of sentences, and find the neighbours by which each PHI token may be replaced.

    Parameters
    ----------
    X, tags : TokenSequences
        Sentences and their tags, which must be valid.
    classes : ndarray of shape (n_classes,)
        Distinct tags; the first is "O". Tags that are not listed count as "O".
    mechanism : ExactTokenMechanism
        Mechanism of a fitted `NeighborPseudonymizer`, which determines the words to replace and their neighbours.
    labels : collection of str or None, default=None
        Labels of the PHI that moves; None means all.
    casing : bool, default=True
        Whether the casing of tokens is released.
    casing_epsilon, patients
        As in `PairData`.

    Raises
    ------
    SequenceError
        If no token of PHI can be replaced.
    """
    vectors = mechanism.policy.vectors
    words, distinct = distinct_words(X)
    phi = find_phi_tokens(X, tags, labels)
    actions, rows = mechanism.policy.actions(phi.words)
    # Unknown words all look the same to the network, so an attacker cannot tell them apart.
    able = ((actions == MOVE) | (actions == DIGITS)) & (rows >= 0)
    if not able[phi.word_ids].any():
        raise SequenceError(
            "No PHI token of X can move to a neighbour, so there is nothing to protect or to train on: y has "
            f"{len(phi)} PHI tokens, none of them with a word vector."
        )
    movable, own_rows = [phi.words[i] for i in np.flatnonzero(able).tolist()], rows[able]
    support, _ = mechanism.moves.support(own_rows)
    extra, alternatives = _alternatives(distinct, movable, own_rows, support)
    # shape: (n_phi_tokens,): row of the alternatives; -1 for words that cannot be replaced
    choices = np.where(able, np.cumsum(able) - 1, -1)[phi.word_ids]
    number = {tag: i for i, tag in enumerate(classes.tolist())}
    neighbors = vectors.vectors_at(extra) * np.float32(np.sqrt(vectors.dim))
    return PairData(
        table=torch.from_numpy(np.concatenate([embedding_table(vectors, distinct), neighbors])),
        words=words,
        offsets=X.offsets,
        tags=np.array([number.get(tag, 0) for tag in tags.data], dtype=np.int64),
        eligible=phi.positions[choices >= 0],
        alternatives=alternatives,
        casing=casing_ids(X.data.tolist()) if casing else None,
        n_casing=len(CASING_CLASSES),
        choices=choices[choices >= 0],
        spans=_spans(tags),
        patients=patients,
        written=_written(movable, support, own_rows, vectors) if casing else None,
        casing_epsilon=casing_epsilon,
        vector_rows=np.concatenate([vectors.indices(distinct), extra]),
    )


def _alternatives(
    distinct: list[str], movable: list[str], rows: np.ndarray, support: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Number the words of X and their neighbours: rows of the neighbours in the vectors, and the alternatives.

    The table holds the distinct words of X first, then the neighbours. ``rows`` are the rows of the replaceable words
    in the vectors, and ``support`` the rows of their neighbours, shape (n_movable, N).
    """
    extra, number = np.unique(support[support >= 0], return_inverse=True)
    alternatives = np.full(support.shape, -1, dtype=np.int64)
    alternatives[support >= 0] = len(distinct) + number
    # A word that is its own neighbour occurs twice in the table. Its neighbour entry is replaced by the row of the word
    # in X, so that `PairBatches` recognises the word itself.
    same = alternatives == (len(distinct) + np.searchsorted(extra, rows))[:, None]
    row_of = {word: i for i, word in enumerate(distinct)}
    local = np.array([row_of[word] for word in movable])
    return extra, np.where(same, local[:, None], alternatives)


def _written(words: list[str], support: np.ndarray, rows: np.ndarray, vectors: WordVectors) -> np.ndarray:
    """Return the casing class of each neighbour, written in the casing of its word; shape of ``support``."""
    patterns = np.array([casing_pattern(word) for word in words], dtype=np.int64)
    n_patterns, names = len(CASING_PATTERNS), vectors.words
    # Many words share neighbours and patterns, and classes are computed word by word.
    # A pair (word, pattern) as one integer, so that np.unique finds the distinct pairs.
    keys, inverse = np.unique(np.maximum(support, 0) * n_patterns + patterns[:, None], return_inverse=True)
    spelled = [apply_casing(names[key // n_patterns], key % n_patterns) for key in keys.tolist()]
    classes = casing_ids(spelled)[inverse.reshape(support.shape)]
    # A word that stays keeps its own spelling.
    return np.where(support == rows[:, None], casing_ids(words)[:, None], classes).astype(np.int8)


def _spans(tags: TokenSequences) -> np.ndarray:
    """Return label number + 1 at the start of a span, -1 at its other tokens, 0 elsewhere."""
    starts, ends, labels = span_ranges(tags)
    # A running sum of -1 at each start and +1 at each end is -1 inside spans and 0 outside.
    steps = np.zeros(len(tags.data) + 1, dtype=np.int64)
    steps[ends] += 1
    steps[starts] -= 1
    spans = np.cumsum(steps)[:-1]
    spans[starts] = labels + 1
    return spans
