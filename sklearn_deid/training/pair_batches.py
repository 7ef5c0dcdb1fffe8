"""Batches for the training of private representations: sentences, and for sentences with PHI a moved twin.

The twin (the "fake") of a sentence differs in exactly one token, drawn anew whenever a batch is made. What
depends on the batch happens on the device of the tensors: per epoch one list of rows goes there, nothing comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..nn import LengthBucketSampler

__all__ = ["PairBatch", "PairBatches", "PairData"]

_CELLS_PER_SENTENCE = 64  # longer sentences go into smaller batches, so that one of them does not pad all others
_CHOICES = ("all", "pairs", "balanced")


@dataclass(frozen=True, repr=False)
class PairData:
    """Sentences as flat arrays of numbers, and where each token of PHI may move.

    Attributes
    ----------
    table : FloatTensor of shape (n_words, e)
        Embedding of each distinct word; of the alternatives as well.
    words : ndarray of shape (n_tokens,)
        Row of ``table`` for each token.
    offsets : ndarray of shape (n + 1,)
        Sentence i holds the tokens ``offsets[i]:offsets[i + 1]``.
    tags : ndarray of shape (n_tokens,)
        Tag index of each token.
    eligible : ndarray of shape (n_eligible,)
        Positions of the tokens that may move, in ascending order.
    alternatives : ndarray of shape (n_choices, N)
        Rows of ``table`` to which tokens may move. Entries that are -1 or the token's own word are never drawn; a token
        without any other entry is not eligible.
    choices : ndarray of shape (n_eligible,) or None
        Row of ``alternatives`` for each eligible token, so that tokens of one word share it; None stands for one row
        each, in order.
    casing : ndarray of shape (n_tokens,) or None
        Casing class of each token, from 0 to ``n_casing - 1``.
    n_casing : int, default=7

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

    def __post_init__(self) -> None:
        n_tokens, n_words = len(self.words), len(self.table)
        if self.choices is None:
            object.__setattr__(self, "choices", np.arange(len(self.eligible)))
        if len(self.tags) != n_tokens or (self.casing is not None and len(self.casing) != n_tokens):
            raise ValueError(f"Tags and casing must be given for each of the {n_tokens} tokens.")
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != n_tokens:
            raise ValueError(f"The 'offsets' must run from 0 to the number of tokens, {n_tokens}.")
        if (np.diff(self.offsets) < 0).any() or (np.diff(self.eligible) <= 0).any():
            raise ValueError("The 'offsets' and 'eligible' must ascend.")
        if self.alternatives.ndim != 2 or len(self.choices_) != len(self.eligible):
            raise ValueError(f"There must be 'choices' of 'alternatives' for each of {len(self.eligible)} tokens.")
        _check_range("choices", self.choices_, 0, len(self.alternatives))
        _check_range("eligible", self.eligible, 0, n_tokens)
        _check_range("words", self.words, 0, n_words)
        _check_range("alternatives", self.alternatives, -1, n_words)
        _check_range("casing", np.empty(0) if self.casing is None else self.casing, 0, self.n_casing)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def choices_(self) -> np.ndarray:
        """``choices``, which are never None once the object is made."""
        assert self.choices is not None
        return self.choices

    def take(self, rows: np.ndarray) -> PairData:
        """The sentences of these rows, in this order, over the same table: for example one side of a split by patient.

        Examples
        --------
        >>> import numpy as np, torch
        >>> from sklearn_deid.training import PairData
        >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
        ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
        >>> data.take(np.array([1])).words.tolist(), data.take(np.array([1])).eligible.tolist()
        ([1, 2], [1])
        """
        rows = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        item = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        place = np.full(len(self.words), -1)
        place[self.eligible] = np.arange(len(self.eligible))
        kept = place[item]
        return replace(
            self,
            words=self.words[item],
            offsets=offsets,
            tags=self.tags[item],
            eligible=np.flatnonzero(kept >= 0),
            choices=self.choices_[kept[kept >= 0]],
            casing=None if self.casing is None else self.casing[item],
        )


@dataclass(frozen=True, repr=False)
class PairBatch:
    """Padded sentences on a device; the first ``n_pairs`` of them have a twin that differs in one token.

    Attributes
    ----------
    words : LongTensor of shape (batch, time)
        Rows of the table; 0 at padded positions.
    embeddings : FloatTensor of shape (batch, time, e)
    mask : BoolTensor of shape (batch, time)
        True at tokens; padding is on the right.
    tags : LongTensor of shape (batch, time)
    casing : FloatTensor of shape (batch, time, n_casing) or None
        One-hot; zero at padded positions.
    moved_words, moved : Tensor of shape (n_pairs, time) and (n_pairs, time, e)
        Words and embeddings of the twins.
    """

    words: Tensor
    embeddings: Tensor
    mask: Tensor
    tags: Tensor
    casing: Tensor | None
    moved_words: Tensor
    moved: Tensor

    @property
    def n_pairs(self) -> int:
        """Number of sentences with a twin; they come first."""
        return len(self.moved_words)

    @property
    def pair_mask(self) -> Tensor:
        """Mask of the sentences with a twin, and of the twins, (n_pairs, time)."""
        return self.mask[: self.n_pairs]


class PairBatches:
    """Length-bucketed batches of sentences and their twins.

    Parameters
    ----------
    data : PairData
    batch_size : int, default=32
        Largest number of sentences of a batch.
    device : torch.device or str, default="cpu"

    Attributes
    ----------
    pair_rows, other_rows : ndarray
        Sentences with a token that can move, and the others; those without tokens are in neither.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.training import PairBatches, PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> batch = next(PairBatches(data).epoch(None, torch.Generator().manual_seed(0)))
    >>> batch.words.tolist(), batch.moved_words.tolist()
    ([[1, 2], [0, 0]], [[1, 3]])
    """

    def __init__(self, data: PairData, batch_size: int = 32, device: torch.device | str = "cpu") -> None:
        # Tokens that share a row of alternatives may still be of different words.
        highest = data.alternatives.max(1, initial=-1)[data.choices_]
        there = np.where(data.alternatives >= 0, data.alternatives, len(data.table))
        lowest, own = there.min(1, initial=len(data.table))[data.choices_], data.words[data.eligible]
        able = (highest >= 0) & ~((highest == own) & (lowest == own))
        eligible, used = data.eligible[able], np.unique(data.choices_[able])
        bounds = np.searchsorted(eligible, data.offsets)
        self.batch_size, self.device, self.n_casing = batch_size, torch.device(device), data.n_casing
        self._lengths = np.diff(data.offsets)
        self.pair_rows = np.flatnonzero(np.diff(bounds))
        self.other_rows = np.flatnonzero((np.diff(bounds) == 0) & (self._lengths > 0))
        self._has_pair = np.diff(bounds) > 0
        self._table = data.table.to(self.device)
        self._words, self._tags, self._offsets = (self._put(x) for x in (data.words, data.tags, data.offsets))
        self._casing = None if data.casing is None else self._put(data.casing)
        self._eligible, self._bounds = self._put(eligible), self._put(bounds)
        place = np.full(len(data.words), -1)
        place[eligible] = np.arange(len(eligible))
        self._place = self._put(place)
        # The largest array by far; half the width is enough for any vocabulary.
        self._choices = self._put(np.searchsorted(used, data.choices_[able]))
        alternatives = data.alternatives[used].astype(np.int32)
        there = np.argsort(alternatives < 0, axis=1, kind="stable")  # those that can be drawn come first
        self._alternatives = torch.as_tensor(np.take_along_axis(alternatives, there, axis=1), device=self.device)
        self._n_alternatives = self._put((alternatives >= 0).sum(axis=1))

    def epoch(
        self,
        rng: np.random.Generator | None,
        generator: torch.Generator,
        *,
        sentences: str = "all",
        max_pairs: int | None = None,
        moved: bool = True,
        varied: float = 0.0,
    ) -> Iterator[PairBatch]:
        """One pass over sentences, with twins drawn anew.

        Parameters
        ----------
        rng : numpy.random.Generator or None
            Shuffles; with None the order is by length.
        generator : torch.Generator
            Draws the twins; on the device of the batches.
        sentences : {"all", "pairs", "balanced"}, default="all"
            "pairs" are those with a token that can move; "balanced" adds at most as many of the others to them.
        max_pairs : int, optional
            Largest number of sentences with a twin (not for "all"); which ones is drawn by ``rng``.
        moved : bool, default=True
            False makes no twins.
        varied : float in [0, 1], default=0.0
            Share of the sentences with a twin in which every token that can move is first replaced by one of its
            alternatives (or stays, if it is among them). Their twins differ from the varied sentence in one token, so
            that many more words are met than the sentences hold.

        Raises
        ------
        ValueError
            If ``sentences`` is unknown.
        """
        plan = self._plan(self._chosen(rng, sentences, max_pairs), rng)
        if not plan:
            return
        rows = self._put(np.concatenate(plan))
        start = 0
        for batch in plan:
            n_pairs = int(self._has_pair[batch].sum()) if moved else 0
            part = rows[start : start + len(batch)]
            yield self._batch(part, int(self._lengths[batch].max()), n_pairs, generator, varied)
            start += len(batch)

    def _chosen(self, rng: np.random.Generator | None, sentences: str, max_pairs: int | None) -> np.ndarray:
        if sentences not in _CHOICES:
            raise ValueError(f"The 'sentences' parameter must be all, pairs or balanced. Got {sentences!r}.")
        if sentences == "all":
            return np.sort(np.concatenate([self.pair_rows, self.other_rows]))
        pairs = _some(self.pair_rows, max_pairs, rng)
        if sentences == "pairs":
            return pairs
        return np.concatenate([pairs, _some(self.other_rows, len(pairs), rng)])

    def _plan(self, rows: np.ndarray, rng: np.random.Generator | None) -> list[np.ndarray]:
        """Rows of each batch, those with a twin first."""
        sampler = LengthBucketSampler(
            self._lengths[rows], self.batch_size * _CELLS_PER_SENTENCE, max_rows=self.batch_size, rng=rng
        )
        batches = (rows[batch] for batch in sampler)
        return [batch[np.argsort(~self._has_pair[batch], kind="stable")] for batch in batches]

    def _batch(self, rows: Tensor, time: int, n_pairs: int, generator: torch.Generator, varied: float) -> PairBatch:
        start = self._offsets[rows].unsqueeze(1)
        position = torch.arange(time, device=self.device)
        # shape: (batch, time)
        mask = position < self._offsets[rows + 1].unsqueeze(1) - start
        item = torch.where(mask, start + position, 0)
        words = self._words[item].masked_fill(~mask, 0)
        if varied and n_pairs:
            words = self._vary(words, self._place[item].masked_fill(~mask, -1), n_pairs, varied, generator)
        moved_words = self._move(rows[:n_pairs], words[:n_pairs], generator)
        casing = None
        if self._casing is not None:
            casing = F.one_hot(self._casing[item], self.n_casing).float().masked_fill(~mask.unsqueeze(2), 0.0)
        return PairBatch(
            words,
            F.embedding(words, self._table).masked_fill(~mask.unsqueeze(2), 0.0),
            mask,
            self._tags[item].masked_fill(~mask, 0),
            casing,
            moved_words,
            F.embedding(moved_words, self._table).masked_fill(~mask[:n_pairs].unsqueeze(2), 0.0),
        )

    def _move(self, rows: Tensor, words: Tensor, generator: torch.Generator) -> Tensor:
        """Words with one eligible token of each sentence replaced; both choices are uniform."""
        first, last = self._bounds[rows], self._bounds[rows + 1]
        which, where_to = torch.rand(2, len(rows), generator=generator, device=self.device)
        chosen = first + (which * (last - first)).long().clamp_max(last - first - 1)
        token = self._eligible[chosen]
        at = (token - self._offsets[rows]).unsqueeze(1)
        other = self._alternative(chosen, words.gather(1, at), where_to)
        return words.scatter(1, at, other.unsqueeze(1))

    def _vary(self, words: Tensor, place: Tensor, n_pairs: int, share: float, generator: torch.Generator) -> Tensor:
        """Words with all eligible tokens of some of the first sentences replaced by any of their alternatives."""
        some = torch.rand(len(words), 1, generator=generator, device=self.device) < share
        some[n_pairs:] = False
        # For all positions, since choosing some would make a GPU wait for their number.
        chosen = self._choices[place.clamp_min(0)]
        which = torch.rand(words.shape, generator=generator, device=self.device) * self._n_alternatives[chosen]
        other = self._alternatives[chosen, which.long().clamp_max(self._n_alternatives[chosen] - 1)]
        return torch.where(some & (place >= 0), other.long(), words)

    def _alternative(self, chosen: Tensor, but_not: Tensor, where_to: Tensor) -> Tensor:
        """An alternative of each chosen token other than a word (n, 1), uniform for uniform numbers in [0, 1)."""
        # shape: (n, N)
        alternatives = self._alternatives[self._choices[chosen]].long()
        possible = ((alternatives != but_not) & (alternatives >= 0)).cumsum(1)
        rank = (where_to * possible[:, -1]).long().clamp_max(possible[:, -1] - 1)
        return alternatives.gather(1, (possible <= rank.unsqueeze(1)).sum(1, keepdim=True)).squeeze(1)

    def _put(self, x: np.ndarray) -> Tensor:
        return torch.as_tensor(np.asarray(x, dtype=np.int64), device=self.device)


def _some(rows: np.ndarray, n: int | None, rng: np.random.Generator | None) -> np.ndarray:
    if n is None or n >= len(rows):
        return rows
    return rows[:n] if rng is None else rng.choice(rows, n, replace=False)


def _check_range(name: str, values: np.ndarray, low: int, high: int) -> None:
    if len(values) and values.size and not (values.min() >= low and values.max() < high):
        raise ValueError(f"The '{name}' must be between {low} and {high - 1}.")
