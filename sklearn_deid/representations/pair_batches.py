"""Batches for the training of private representations: sentences, and for sentences with PHI a moved twin.

The twin (the "fake") of a sentence differs in exactly one token, drawn anew whenever a batch is made. What
depends on the batch happens on the device of the tensors: per epoch one list of rows goes there, nothing comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..tagging.batching import LengthBucketSampler
from .pair_data import PairData

_CELLS_PER_SENTENCE = 64  # longer sentences go into smaller batches, so that one of them does not pad all others
_CHOICES = ("all", "pairs", "balanced")


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
    >>> from sklearn_deid.representations import PairBatches, PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> batch = next(PairBatches(data).epoch(None, torch.Generator().manual_seed(0)))
    >>> batch.words.tolist(), batch.moved_words.tolist()
    ([[1, 2], [0, 0]], [[1, 3]])
    """

    def __init__(self, data: PairData, batch_size: int = 32, device: torch.device | str = "cpu") -> None:
        data = _movable(data)
        self.batch_size, self.device, self.n_casing = batch_size, torch.device(device), data.n_casing
        self._table = data.table.to(self.device)
        # The largest array by far.
        self._alternatives = torch.as_tensor(data.alternatives, device=self.device)
        self._n_alternatives = self._put((data.alternatives >= 0).sum(axis=1))
        self._read(data)

    @property
    def longest_pair(self) -> int:
        """Tokens of the longest sentence that has a pair; 0 if none has."""
        return int(self._lengths[self.pair_rows].max(initial=0))

    def _read(self, data: PairData) -> None:
        """Sentences, and which of their tokens move, over the same table and alternatives."""
        bounds = np.searchsorted(data.eligible, data.offsets)
        self._data, self._lengths = data, np.diff(data.offsets)
        self._has_pair = np.diff(bounds) > 0
        self.pair_rows = np.flatnonzero(self._has_pair)
        self.other_rows = np.flatnonzero(~self._has_pair & (self._lengths > 0))
        self._words, self._tags, self._offsets = (self._put(x) for x in (data.words, data.tags, data.offsets))
        self._casing = None if data.casing is None else self._put(data.casing)
        self._eligible, self._bounds, self._choices = (self._put(x) for x in (data.eligible, bounds, data.choices_))
        place = np.full(len(data.words), -1)
        place[data.eligible] = np.arange(len(data.eligible))
        self._place = self._put(place)

    def swapped(self, share: float, rng: np.random.Generator) -> PairBatches:
        """The same sentences with spans of PHI in each other's places; see `PairData.swapped`.

        Parameters
        ----------
        share : float in [0, 1]
            Share of the spans that change.
        rng : numpy.random.Generator
        """
        other = copy(self)
        other._read(self._data.swapped(share, rng))
        return other

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
        item = torch.where(mask, start + position, 0)  # shape: (batch, time), positions among all tokens
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
        # Uniform numbers and not randint, whose bounds cannot differ between sentences.
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
        # Running number of the alternatives that may be drawn: no loop over draws that hit the word itself.
        possible = ((alternatives != but_not) & (alternatives >= 0)).cumsum(1)
        rank = (where_to * possible[:, -1]).long().clamp_max(possible[:, -1] - 1)
        return alternatives.gather(1, (possible <= rank.unsqueeze(1)).sum(1, keepdim=True)).squeeze(1)

    def _put(self, x: np.ndarray) -> Tensor:
        return torch.as_tensor(np.asarray(x, dtype=np.int64), device=self.device)


def _some(rows: np.ndarray, n: int | None, rng: np.random.Generator | None) -> np.ndarray:
    if n is None or n >= len(rows):
        return rows
    return rows[:n] if rng is None else rng.choice(rows, n, replace=False)


def _movable(data: PairData) -> PairData:
    """Only tokens with an alternative other than themselves, only rows that are used, and what can be drawn first."""
    # Tokens that share a row of alternatives may still be of different words.
    highest = data.alternatives.max(1, initial=-1)[data.choices_]
    there = np.where(data.alternatives >= 0, data.alternatives, len(data.table))
    lowest, own = there.min(1, initial=len(data.table))[data.choices_], data.words[data.eligible]
    able = (highest >= 0) & ~((highest == own) & (lowest == own))
    used = np.unique(data.choices_[able])
    alternatives = data.alternatives[used].astype(np.int32)  # half the width is enough for any vocabulary
    first = np.argsort(alternatives < 0, axis=1, kind="stable")
    return replace(
        data,
        eligible=data.eligible[able],
        choices=np.searchsorted(used, data.choices_[able]),
        alternatives=np.take_along_axis(alternatives, first, axis=1),
    )
