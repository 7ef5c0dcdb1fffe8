"""Batches for the training of private representations: sentences, and a counterfactual for each sentence with PHI.

The counterfactual (the "fake") of a sentence differs in one token, or in all tokens that can be replaced.
Counterfactuals are drawn anew for every pass. Batches are made on the device of the tensors. In each epoch, only a list
of rows is copied to the device, and nothing is copied back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..tagging.batching import LengthBucketSampler
from .pair_data import PairData
from .randomized_casing import respond_in_training

_CELLS_PER_SENTENCE = 64  # batches of longer sentences are smaller, so that a long sentence does not pad many others
_CHOICES = ("all", "pairs", "balanced")
_TWINS = ("one", "all", "unknown")


# Makes the words of counterfactuals from rows, words and places of the tokens that can be replaced.
_Mover = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True, repr=False)
class PairBatch:
    """Padded sentences on a device; the first ``n_pairs`` sentences have a counterfactual.

    Attributes
    ----------
    words : LongTensor of shape (batch, time)
        Rows of the table; 0 at padded positions.
    embeddings : FloatTensor of shape (batch, time, e)
        Embeddings of the words; zero at padded positions.
    mask : BoolTensor of shape (batch, time)
        True at tokens; padding is on the right.
    tags : LongTensor of shape (batch, time)
        Tag indices; 0 at padded positions.
    casing : FloatTensor of shape (batch, time, n_casing) or None
        Casing class as one-hot; zero at padded positions.
    moved_words, moved : Tensor of shape (n_pairs, time) and (n_pairs, time, e)
        Words and embeddings of the counterfactuals. In ``words``, -1 means a word without a vector, whose embedding is
        zero.
    rows : LongTensor of shape (batch,)
        Number of each sentence.
    """

    words: Tensor
    embeddings: Tensor
    mask: Tensor
    tags: Tensor
    casing: Tensor | None
    moved_words: Tensor
    moved: Tensor
    rows: Tensor

    @property
    def n_pairs(self) -> int:
        """Number of sentences with a counterfactual; these sentences come first in the batch."""
        return len(self.moved_words)

    @property
    def pair_mask(self) -> Tensor:
        """Mask of the sentences with a counterfactual, and of the counterfactuals, (n_pairs, time)."""
        return self.mask[: self.n_pairs]


class PairBatches:
    """Length-bucketed batches of sentences and their counterfactuals.

    Parameters
    ----------
    data : PairData
        Sentences, and the words by which their PHI tokens may be replaced.
    batch_size : int, default=32
        Largest number of sentences of a batch.
    device : torch.device or str, default="cpu"
        Device on which batches are made.

    Attributes
    ----------
    pair_rows, other_rows : ndarray
        Row numbers of the sentences with a token that can be replaced, and of the other sentences. Empty sentences are
        in neither of the two arrays.

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
        # The alternatives are by far the largest array, so they are copied to the device once and shared by `swapped`.
        self._alternatives = torch.as_tensor(data.alternatives, device=self.device)
        self._n_alternatives = self._put((data.alternatives >= 0).sum(axis=1))
        self._written = None if data.written is None else torch.as_tensor(data.written, device=self.device)
        self._read(data)

    @property
    def longest_pair(self) -> int:
        """Number of tokens of the longest sentence that has a pair; 0 without such a sentence."""
        return int(self._lengths[self.pair_rows].max(initial=0))

    def _read(self, data: PairData) -> None:
        """Copy sentences and places of replaceable tokens to the device; table and alternatives are already there."""
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

    @property
    def patients(self) -> np.ndarray:
        """Patient of each sentence; without patients, each sentence is a patient of its own."""
        return np.arange(len(self._data)) if self._data.patients is None else self._data.patients

    @property
    def has_patients(self) -> bool:
        """Whether the patients of the sentences are known."""
        return self._data.patients is not None

    def sentence_keys(self) -> np.ndarray:
        """Number the distinct sentences; equal sentences have equal numbers, shape (n,)."""
        words, offsets = self._data.words, self._data.offsets.tolist()
        number: dict[bytes, int] = {}
        parts = (words[start:stop].tobytes() for start, stop in zip(offsets[:-1], offsets[1:], strict=True))
        return np.fromiter((number.setdefault(part, len(number)) for part in parts), np.int64, count=len(offsets) - 1)

    def casing_parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return casing classes, words and offsets of all tokens; None if the sentences have no casing."""
        data = self._data
        return None if data.casing is None else (data.casing, data.words, data.offsets)

    def embed(self, words: Tensor) -> Tensor:
        """Return the embeddings of words, given as rows of the table."""
        return F.embedding(words, self._table)

    def all_moves(self, batch: PairBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """List all counterfactuals of a batch that differ in one token, as four arrays of shape (n_twins,).

        The arrays hold the sentence in the batch, the position of the token, the new word as a row of the table, and
        whether the new word has another casing class (0 or 1).

        Parameters
        ----------
        batch : PairBatch
            Batch of these sentences.
        """
        item, place = self._items(batch)
        sentence, token = torch.nonzero(place >= 0, as_tuple=True)
        chosen = self._choices[place[sentence, token]]
        words = self._alternatives[chosen].long()  # shape: (n_tokens, N)
        # shape of both: (n_twins,): which token, and which of its alternatives
        twin, column = torch.nonzero((words >= 0) & (words != batch.words[sentence, token].unsqueeze(1)), as_tuple=True)
        changed = torch.zeros_like(twin)
        if self._casing is not None and self._written is not None:
            changed = (self._written[chosen[twin], column].long() != self._casing[item[sentence, token]][twin]).long()
        return sentence[twin], token[twin], words[twin, column], changed

    def _items(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Return the positions of the tokens of the pairs of a batch, and which are replaceable; (n_pairs, time)."""
        at = torch.arange(batch.mask.shape[1], device=self.device)
        start = self._offsets[batch.rows[: batch.n_pairs]].unsqueeze(1)
        item = torch.where(batch.pair_mask, start + at, 0)
        return item, self._place[item].masked_fill(~batch.pair_mask, -1)

    def swapped(self, share: float, rng: np.random.Generator) -> PairBatches:
        """Return the same sentences with swapped spans of PHI; see `PairData.swapped`.

        Parameters
        ----------
        share : float in [0, 1]
            Share of the spans that are replaced.
        rng : numpy.random.Generator
            Random stream of the swaps.
        """
        # A shallow copy: table and alternatives, which are large and do not change, are shared.
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
        twins: str = "one",
    ) -> Iterator[PairBatch]:
        """Yield the batches of one pass over the sentences, with newly drawn counterfactuals.

        Parameters
        ----------
        rng : numpy.random.Generator or None
            Random stream that shuffles the sentences. With None, the sentences are in order of length.
        generator : torch.Generator
            Random stream of the counterfactuals, on the device of the batches.
        sentences : {"all", "pairs", "balanced"}, default="all"
            Sentences of the pass. "pairs" takes the sentences with a token that can be replaced. "balanced" takes the
            sentences of "pairs" and at most as many other sentences.
        max_pairs : int, optional
            Largest number of sentences with a counterfactual (not for "all"); ``rng`` selects the sentences.
        moved : bool, default=True
            Whether counterfactuals are made.
        varied : float in [0, 1], default=0.0
            Share of the sentences with a counterfactual that are varied. In a varied sentence, every token that can be
            replaced is first replaced by a random word among its alternatives, which may include the own word of the
            token. The counterfactual then differs from the varied sentence in one token. The training therefore sees
            many more words than the sentences hold.
        twins : {"one", "all", "unknown"}, default="one"
            "one" replaces one random token of a sentence by one of its alternatives. "all" replaces all tokens that can
            be replaced; within a patient, a word is always replaced by the same alternative. "unknown" replaces one
            random token by a word without a vector.

        Raises
        ------
        ValueError
            If ``sentences`` or ``twins`` is unknown.
        """
        if twins not in _TWINS:
            raise ValueError(f"The 'twins' parameter must be one, all or unknown. Got {twins!r}.")
        move = self._mover(twins, generator)
        plan = self._plan(self._chosen(rng, sentences, max_pairs), rng)
        if not plan:
            return
        # One transfer to the device for all batches of the epoch.
        rows = self._put(np.concatenate(plan))
        start = 0
        for batch in plan:
            n_pairs = int(self._has_pair[batch].sum()) if moved else 0
            part = rows[start : start + len(batch)]
            yield self._batch(part, int(self._lengths[batch].max()), n_pairs, generator, varied, move)
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
        """Return the rows of each batch, rows with a counterfactual first."""
        sampler = LengthBucketSampler(
            self._lengths[rows], self.batch_size * _CELLS_PER_SENTENCE, max_rows=self.batch_size, rng=rng
        )
        batches = (rows[batch] for batch in sampler)
        return [batch[np.argsort(~self._has_pair[batch], kind="stable")] for batch in batches]

    def _batch(
        self, rows: Tensor, time: int, n_pairs: int, generator: torch.Generator, varied: float, move: _Mover
    ) -> PairBatch:
        # shape: (batch, 1)
        start = self._offsets[rows].unsqueeze(1)
        position = torch.arange(time, device=self.device)
        # shape: (batch, time)
        mask = position < self._offsets[rows + 1].unsqueeze(1) - start
        item = torch.where(mask, start + position, 0)  # shape: (batch, time), positions among all tokens
        words = self._words[item].masked_fill(~mask, 0)
        # shape: (batch, time), number among the tokens that can be replaced; -1 elsewhere
        place = self._place[item].masked_fill(~mask, -1)
        if varied and n_pairs:
            words = self._vary(words, place, n_pairs, varied, generator)
        moved_words = move(rows[:n_pairs], words[:n_pairs], place[:n_pairs])
        # A word without a vector has the embedding zero, as at padded positions.
        known = (mask[:n_pairs] & (moved_words >= 0)).unsqueeze(2)
        return PairBatch(
            words,
            F.embedding(words, self._table).masked_fill(~mask.unsqueeze(2), 0.0),
            mask,
            self._tags[item].masked_fill(~mask, 0),
            self._one_hot(item, mask, generator),
            moved_words,
            F.embedding(moved_words.clamp_min(0), self._table).masked_fill(~known, 0.0),
            rows,
        )

    def _one_hot(self, item: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor | None:
        """Return the casing as one-hot, (batch, time, n_casing); randomised casing is drawn anew."""
        if self._casing is None:
            return None
        classes = self._casing[item]
        if self._data.casing_epsilon is not None:
            classes = respond_in_training(classes, self._data.casing_epsilon, self.n_casing, generator)
        return F.one_hot(classes, self.n_casing).float().masked_fill(~mask.unsqueeze(2), 0.0)

    def _mover(self, twins: str, generator: torch.Generator) -> _Mover:
        """Return the function that makes the words of the counterfactuals of a batch."""
        if twins == "one":
            return lambda rows, words, place: self._move(rows, words, generator)
        if twins == "unknown":
            return lambda rows, words, place: self._forget(rows, words, generator)
        keys, n_keys = self._patient_words()
        # One number for each word of a patient, so that the word is replaced by the same alternative everywhere.
        where_to = torch.rand(n_keys, generator=generator, device=self.device)[keys]
        return lambda rows, words, place: self._move_all(words, place, where_to)

    def _patient_words(self) -> tuple[Tensor, int]:
        """Number the words of each patient; return the number of each replaceable token, and their count."""
        sentence = np.repeat(np.arange(len(self._lengths)), self._lengths)[self._data.eligible]
        keys = self.patients[sentence].astype(np.int64) * len(self._table) + self._data.words[self._data.eligible]
        distinct, inverse = np.unique(keys, return_inverse=True)
        return self._put(inverse), len(distinct)

    def _forget(self, rows: Tensor, words: Tensor, generator: torch.Generator) -> Tensor:
        """Replace one eligible token of each sentence, drawn uniformly, by a word without a vector."""
        at = self._token(rows, torch.rand(len(rows), generator=generator, device=self.device))[1]
        return words.scatter(1, at, -1)

    def _move_all(self, words: Tensor, place: Tensor, where_to: Tensor) -> Tensor:
        """Replace all eligible tokens; ``where_to`` holds a uniform number for each token."""
        able = place >= 0  # shape: (n_pairs, time)
        chosen = place[able]
        return words.masked_scatter(able, self._alternative(chosen, words[able].unsqueeze(1), where_to[chosen]))

    def casing_changes(self, batch: PairBatch) -> Tensor:
        """Count the replaced tokens whose new word has another casing class, shape (n_pairs,).

        The new word is written in the casing of its token. Words without a vector keep the class of their token.

        Parameters
        ----------
        batch : PairBatch
            Batch of these sentences.
        """
        n = batch.n_pairs
        if self._casing is None or self._written is None or not n:
            return torch.zeros(n, dtype=torch.long, device=self.device)
        item, place = self._items(batch)
        moved = (batch.moved_words != batch.words[:n]) & (place >= 0) & (batch.moved_words >= 0)
        chosen = self._choices[place[moved]]
        # The new word is looked up among the alternatives, since the batch holds words and not the choices that led to
        # them.
        same = self._alternatives[chosen] == batch.moved_words[moved].unsqueeze(1)  # shape: (n_moved, N)
        new = self._written[chosen].gather(1, same.long().argmax(1, keepdim=True)).squeeze(1)
        changed = torch.zeros_like(item)
        changed[moved] = (new.long() != self._casing[item[moved]]).long()
        return changed.sum(1)

    def _move(self, rows: Tensor, words: Tensor, generator: torch.Generator) -> Tensor:
        """Replace one eligible token of each sentence; token and new word are drawn uniformly."""
        which, where_to = torch.rand(2, len(rows), generator=generator, device=self.device)
        chosen, at = self._token(rows, which)
        # shape: (n_pairs,), never the token's own word
        other = self._alternative(chosen, words.gather(1, at), where_to)
        return words.scatter(1, at, other.unsqueeze(1))

    def _token(self, rows: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return an eligible token of each sentence, (n_pairs,), and its position in the sentence, (n_pairs, 1).

        ``which`` holds uniform numbers in [0, 1), which make the choice uniform.
        """
        first, last = self._bounds[rows], self._bounds[rows + 1]
        # Uniform numbers instead of randint, since the bounds of randint cannot differ between sentences.
        chosen = first + (which * (last - first)).long().clamp_max(last - first - 1)
        return chosen, (self._eligible[chosen] - self._offsets[rows]).unsqueeze(1)

    def _vary(self, words: Tensor, place: Tensor, n_pairs: int, share: float, generator: torch.Generator) -> Tensor:
        """Replace all eligible tokens in a random share of the first sentences by random alternatives."""
        some = torch.rand(len(words), 1, generator=generator, device=self.device) < share
        # Sentences without PHI have nothing to vary.
        some[n_pairs:] = False
        # Words are drawn for all positions: to select positions first, the GPU would have to wait for their number.
        chosen = self._choices[place.clamp_min(0)]
        which = torch.rand(words.shape, generator=generator, device=self.device) * self._n_alternatives[chosen]
        other = self._alternatives[chosen, which.long().clamp_max(self._n_alternatives[chosen] - 1)]
        return torch.where(some & (place >= 0), other.long(), words)

    def _alternative(self, chosen: Tensor, but_not: Tensor, where_to: Tensor) -> Tensor:
        """Draw an alternative of each chosen token, other than the word ``but_not``, (n, 1).

        ``where_to`` holds uniform numbers in [0, 1), which make the draw uniform.
        """
        # shape: (n, N)
        alternatives = self._alternatives[self._choices[chosen]].long()
        # Running number of the allowed alternatives. Rejecting draws of the word itself would need a loop.
        possible = ((alternatives != but_not) & (alternatives >= 0)).cumsum(1)
        rank = (where_to * possible[:, -1]).long().clamp_max(possible[:, -1] - 1)
        # The number of running numbers up to the rank is the column of the drawn alternative.
        return alternatives.gather(1, (possible <= rank.unsqueeze(1)).sum(1, keepdim=True)).squeeze(1)

    def _put(self, x: np.ndarray) -> Tensor:
        return torch.as_tensor(np.asarray(x, dtype=np.int64), device=self.device)


def _some(rows: np.ndarray, n: int | None, rng: np.random.Generator | None) -> np.ndarray:
    if n is None or n >= len(rows):
        return rows
    return rows[:n] if rng is None else rng.choice(rows, n, replace=False)


def _movable(data: PairData) -> PairData:
    """Keep only tokens with an alternative other than their own word, and only used rows, valid entries first."""
    # Tokens that share a row of alternatives may still be different words, so each token is checked against its own
    # word.
    highest = data.alternatives.max(1, initial=-1)[data.choices_]
    there = np.where(data.alternatives >= 0, data.alternatives, len(data.table))
    lowest, own = there.min(1, initial=len(data.table))[data.choices_], data.words[data.eligible]
    # Both extremes equal the own word only where it is the only alternative: two reductions instead of a table of
    # comparisons.
    able = (highest >= 0) & ~((highest == own) & (lowest == own))
    used = np.unique(data.choices_[able])
    alternatives = data.alternatives[used].astype(np.int32)  # half the width is enough for any vocabulary
    first = np.argsort(alternatives < 0, axis=1, kind="stable")
    return replace(
        data,
        eligible=data.eligible[able],
        choices=np.searchsorted(used, data.choices_[able]),
        alternatives=np.take_along_axis(alternatives, first, axis=1),
        written=None if data.written is None else np.take_along_axis(data.written[used], first, axis=1),
    )
