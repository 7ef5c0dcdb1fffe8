"""Batches of sentences: length buckets, padding, masks.

Sentences of similar length go into one batch, and a batch is limited by its padded cells instead of its sentences:
one 400-token sentence then does not pad hundreds of short ones, and short ones fill the matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler


class ContextUnits:
    """Units of sentences of one document that the encoder reads as one sequence.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Sentences of all units, one unit after the other.
    offsets : ndarray of shape (n_units + 1,)
        Unit u reads the sentences ``rows[offsets[u]:offsets[u + 1]]``.
    tagged : bool ndarray of shape (n_rows,)
        Whether a sentence is tagged in this unit; the others are context, without loss and without output.

    Examples
    --------
    >>> units = ContextUnits.windows(np.array([7, 7, 7, 8]), size=1)  # three sentences of one document, one of another
    >>> [units.rows[a:b].tolist() for a, b in zip(units.offsets[:-1], units.offsets[1:])]
    [[0, 1], [0, 1, 2], [1, 2], [3]]
    >>> units.tagged_rows([1], np.array([4, 4, 4, 4]))
    [1]
    """

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, tagged: np.ndarray) -> None:
        self.rows, self.offsets, self.tagged = rows, offsets, tagged

    @classmethod
    def documents(cls, documents: np.ndarray) -> ContextUnits:
        """One unit a document; all its sentences are tagged.

        Parameters
        ----------
        documents : ndarray of shape (n_sentences,)
            Number of each sentence's document; its sentences are read in the order in which they stand.
        """
        order, first, stop = _by_document(documents)
        offsets = np.append(np.unique(first), len(order))
        return cls(order, offsets, np.ones(len(order), dtype=bool))

    @classmethod
    def windows(cls, documents: np.ndarray, size: int) -> ContextUnits:
        """One unit a sentence: itself, which is tagged, and up to ``size`` sentences on either side."""
        order, first, stop = _by_document(documents)
        here = np.arange(len(order))
        begin, end = np.maximum(first, here - size), np.minimum(stop, here + size + 1)
        counts = end - begin
        offsets = np.concatenate(([0], np.cumsum(counts)))
        place = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], counts)
        return cls(order[place], offsets, place == np.repeat(here, counts))

    def sizes(self, lengths: np.ndarray) -> np.ndarray:
        """Tokens of each unit, 0 where it has nothing to tag; shape (n_units,)."""
        items, to_tag = np.append(0, np.cumsum(lengths[self.rows])), np.append(0, np.cumsum(self._on(lengths)))
        start, stop = self.offsets[:-1], self.offsets[1:]
        return np.where(to_tag[stop] > to_tag[start], items[stop] - items[start], 0)

    def places(self, units: Sequence[int]) -> np.ndarray:
        """Indices into ``rows`` of these units, one unit after the other."""
        return np.concatenate([np.arange(self.offsets[u], self.offsets[u + 1]) for u in units])

    def tagged_rows(self, units: Sequence[int], lengths: np.ndarray) -> list[int]:
        """Sentences that are tagged in these units, in the order of the batch; empty ones are left out."""
        places = self.places(units)
        return self.rows[places[self._on(lengths)[places]]].tolist()

    def _on(self, lengths: np.ndarray) -> np.ndarray:
        return self.tagged & (lengths[self.rows] > 0)


def _by_document(documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sentences in the order of their documents; for each place, where its document begins and ends."""
    order = np.argsort(documents, kind="stable")
    ordered = documents[order]
    return order, np.searchsorted(ordered, ordered, side="left"), np.searchsorted(ordered, ordered, side="right")


# Shuffled sentences are sorted by length within pools of this many batches: enough for little padding, few enough that
# the composition of the batches keeps changing.
_POOL_BATCHES = 100


# Where a sentence begins, and whether it is tagged.
CONTEXT_MARKS = 2


class ContextView(NamedTuple):
    """Units of several sentences that the encoder reads, and where in them the sentences stand.

    Attributes
    ----------
    lengths : LongTensor of shape (units,)
        Number of tokens of each unit.
    places : LongTensor of shape (batch, time)
        Cell of each token among the units * longest cells; 0 at padded positions.
    marks : FloatTensor of shape (units, longest, 2)
        1 at the first token of a sentence; 1 at tokens of sentences that are tagged.
    """

    lengths: Tensor
    places: Tensor
    marks: Tensor


@dataclass(frozen=True)
class SentenceBatch:
    """Padded sentences, on any device.

    Attributes
    ----------
    lengths : LongTensor of shape (batch,)
        Number of tokens of each sentence, at least 1.
    mask : BoolTensor of shape (batch, time)
        True at tokens; padding is on the right.
    words : LongTensor of shape (batch, time) or None
        Row of ``features`` (or of a table of encoded words) for each token; 0 at padded positions.
    features : mapping of str to Tensor, or None
        What is known of each distinct word of the batch, one row a word.
    vectors : FloatTensor of shape (batch, time, d) or None
        Token vectors, where X is a representation.
    view : ContextView or None
        Where sentences are read within their context: ``words`` and ``vectors`` then have the shape of the units.
    """

    lengths: Tensor
    mask: Tensor
    words: Tensor | None = None
    features: dict[str, Tensor] | None = None
    vectors: Tensor | None = None
    view: ContextView | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device | str) -> SentenceBatch:
        """The same batch on another device."""

        def move(x: Tensor | None) -> Tensor | None:
            return None if x is None else x.to(device, non_blocking=True)

        features = self.features and {k: v.to(device, non_blocking=True) for k, v in self.features.items()}
        return replace(
            self,
            lengths=self.lengths.to(device, non_blocking=True),
            mask=self.mask.to(device, non_blocking=True),
            words=move(self.words),
            vectors=move(self.vectors),
            features=features,
            view=None if self.view is None else ContextView(*(x.to(device, non_blocking=True) for x in self.view)),
        )


class SentenceDataset(Dataset):
    """Ragged sentences as one flat array, batched by row number.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
        Sentence i holds the items ``offsets[i]:offsets[i + 1]``.
    words : ndarray of shape (n_tokens,), optional
        Index of each token's word in ``features``.
    features : mapping of str to Tensor, optional
        One row for each distinct word of the data.
    vectors : ndarray of shape (n_tokens, d), optional
        Token vectors instead of words.
    tags : ndarray of shape (n_tokens,), optional
        Tag index of each token; zeros where there are none.
    units : ContextUnits, optional
        Sentences that are read together; by default each alone.
    """

    def __init__(
        self,
        offsets: np.ndarray,
        *,
        words: np.ndarray | None = None,
        features: dict[str, Tensor] | None = None,
        vectors: np.ndarray | None = None,
        tags: np.ndarray | None = None,
        units: ContextUnits | None = None,
    ) -> None:
        self.offsets, self.words, self.features = offsets, words, features
        self.vectors, self.tags, self.units = vectors, tags, units
        self.lengths = np.diff(offsets)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> int:
        return int(row)  # the batch is built at once, in `collate`

    @property
    def unit_lengths(self) -> np.ndarray:
        """Tokens of what is drawn into batches: sentences, or units of them."""
        return self.lengths if self.units is None else self.units.sizes(self.lengths)

    def tagged_rows(self, units: Sequence[int]) -> list[int]:
        """Sentences of the batch that `collate` makes of these units."""
        return list(units) if self.units is None else self.units.tagged_rows(units, self.lengths)

    def collate(self, units: Sequence[int]) -> tuple[SentenceBatch, Tensor]:
        """Pad these sentences, or units of sentences, to one batch and their tags, both on CPU."""
        rows = self.tagged_rows(units)
        lengths = self.lengths[rows]
        position = np.arange(lengths.max())
        # shape: (batch, time)
        mask = position < lengths[:, None]
        item = np.where(mask, self.offsets[rows][:, None] + position, 0)
        tags = np.zeros(mask.shape, dtype=np.int64)
        if self.tags is not None:
            tags[mask] = self.tags[item[mask]]
        if self.units is None:
            parts = self._token_part(item, mask)
        else:
            parts = self._context_part(units, mask)
        batch = SentenceBatch(torch.from_numpy(lengths), torch.from_numpy(mask), **parts)
        return batch, torch.from_numpy(tags)

    def _token_part(self, item: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
        return self._vector_part(item, mask) if self.words is None else self._word_part(item, mask)

    def _context_part(self, units: Sequence[int], mask: np.ndarray) -> dict[str, Any]:
        """Tokens of the units, and where the sentences of ``mask`` stand in them."""
        assert self.units is not None
        places = self.units.places(units)
        rows, tagged = self.units.rows[places], self.units.tagged[places]
        unit = np.repeat(np.arange(len(units)), np.diff(self.units.offsets)[units])
        length = self.lengths[rows]
        before = np.cumsum(length) - length  # tokens of the batch before each sentence
        sizes = np.bincount(unit, weights=length).astype(np.int64)
        longest = int(sizes.max())
        # shape: (n_sentences,): cell at which a sentence begins
        begin = unit * longest + before - (np.cumsum(sizes) - sizes)[unit]
        count = np.arange(length.sum())
        cell = count + np.repeat(begin - before, length)
        item, on = np.zeros(len(sizes) * longest, dtype=np.int64), np.zeros(len(sizes) * longest, dtype=bool)
        item[cell], on[cell] = count + np.repeat(self.offsets[rows] - before, length), True
        marks = np.zeros((len(item), CONTEXT_MARKS), dtype=np.float32)
        marks[begin[length > 0], 0] = 1.0
        marks[cell, 1] = np.repeat(tagged, length)
        at = np.where(mask, begin[tagged & (length > 0)][:, None] + np.arange(mask.shape[1]), 0)
        shape = (len(sizes), longest)
        view = (sizes, at, marks.reshape(*shape, CONTEXT_MARKS))
        parts = self._token_part(item.reshape(shape), on.reshape(shape))
        return {**parts, "view": ContextView(*map(torch.from_numpy, view))}

    def _vector_part(self, item: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
        assert self.vectors is not None
        return {"vectors": torch.from_numpy(self.vectors[item] * mask[:, :, None].astype(np.float32))}

    def _word_part(self, item: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
        assert self.words is not None
        local = np.zeros(mask.shape, dtype=np.int64)
        if self.features is None:  # words were encoded beforehand
            local[mask] = self.words[item[mask]]
            return {"words": torch.from_numpy(local)}
        distinct, local[mask] = np.unique(self.words[item[mask]], return_inverse=True)
        chosen = torch.from_numpy(distinct)
        return {
            "words": torch.from_numpy(local),
            "features": {k: v[chosen] for k, v in self.features.items()},
        }


def length_buckets(lengths: np.ndarray, max_cells: int, max_rows: int) -> Iterator[np.ndarray]:
    """Cut rows, sorted by length, into batches of at most ``max_cells`` padded cells and ``max_rows`` rows.

    A row that is longer than ``max_cells`` forms a batch of its own: nothing is truncated.
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        full = stop < len(order) and ((stop + 1 - start) * lengths[order[stop]] > max_cells or stop - start >= max_rows)
        if full or stop == len(order):
            yield order[start:stop]
            start = stop


class LengthBucketSampler(Sampler):
    """Batches of rows of similar length; every iteration draws a new order.

    Parameters
    ----------
    lengths : ndarray of shape (n,)
        Rows of length 0 are left out.
    max_cells : int
        Padded cells (rows times longest row) of a batch.
    max_rows : int
        Rows of a batch.
    rng : numpy.random.Generator, optional
        Shuffles rows and batches; without it the order is by length.
    """

    def __init__(
        self, lengths: np.ndarray, max_cells: int, max_rows: int, rng: np.random.Generator | None = None
    ) -> None:
        self.lengths, self.max_cells, self.max_rows, self.rng = lengths, max_cells, max_rows, rng
        self._n_batches = len(self._draw(None))

    def __len__(self) -> int:
        return self._n_batches  # of the order by length; a shuffled one has a few more

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._draw(self.rng))

    def _draw(self, rng: np.random.Generator | None) -> list[list[int]]:
        rows = np.flatnonzero(self.lengths)
        pools = [rows]
        if rng is not None and len(rows):
            rows = rng.permutation(rows)
            pool = np.cumsum(self.lengths[rows]) // (self.max_cells * _POOL_BATCHES)
            pools = np.split(rows, np.flatnonzero(np.diff(pool)) + 1)
        batches = [
            rows[batch].tolist()
            for rows in pools
            for batch in length_buckets(self.lengths[rows], self.max_cells, self.max_rows)
        ]
        if rng is not None:
            rng.shuffle(batches)
        return batches
