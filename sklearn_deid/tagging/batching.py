"""Batches of sentences: length buckets, padding and masks.

A batch holds sentences of similar length. The size of a batch is limited by the number of padded cells (tokens and
padding), not by the number of sentences. One sentence of 400 tokens therefore does not pad hundreds of short sentences,
and batches of short sentences are large enough for fast matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler


class ContextUnits:
    """Units: groups of sentences of one document that the encoder reads as one sequence.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Sentence numbers of all units, one unit after the other.
    offsets : ndarray of shape (n_units + 1,)
        Border of each unit. Unit u holds the sentences ``rows[offsets[u]:offsets[u + 1]]``.
    tagged : bool ndarray of shape (n_rows,)
        Whether a sentence is tagged in this unit. Other sentences are context, without loss and without output.

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
        """One unit for each document. All sentences of a unit are tagged.

        Parameters
        ----------
        documents : ndarray of shape (n_sentences,)
            Number of the document of each sentence. A unit keeps the order of the sentences of its document.
        """
        order, first, stop = _by_document(documents)
        # shape: (n_documents + 1,)
        offsets = np.append(np.unique(first), len(order))
        return cls(order, offsets, np.ones(len(order), dtype=bool))

    @classmethod
    def blocks(
        cls, documents: np.ndarray, lengths: np.ndarray, size: int, rng: np.random.Generator | None = None
    ) -> ContextUnits:
        """Return units of consecutive sentences of one document, up to ``size`` tokens each; all sentences are tagged.

        A unit has more than ``size`` tokens only if the unit is a single longer sentence. No sentence is in two units.

        Parameters
        ----------
        documents, lengths : ndarray of shape (n_sentences,)
            Number of the document and number of tokens of each sentence.
        size : int
            Largest number of tokens of a unit.
        rng : Generator, optional
            Generator of a random length of the first unit of each document, which changes the borders of all units of
            the document. By default, the first unit is as long as the other units.
        """
        order, first, _ = _by_document(documents)
        offsets: list[int] = []
        tokens = 0
        # shape: (n_sentences,): tokens that the first unit of a document cannot have, at its first sentence
        taken = np.zeros(len(order), dtype=np.int64) if rng is None else rng.integers(size, size=len(order))
        places = zip(first.tolist(), lengths[order].tolist(), taken.tolist(), strict=True)
        for place, (begin, length, missing) in enumerate(places):
            if begin == place or tokens + length > size:
                offsets.append(place)
                tokens = missing if begin == place else 0
            tokens += length
        return cls(order, np.array([*offsets, len(order)]), np.ones(len(order), dtype=bool))

    @classmethod
    def windows(cls, documents: np.ndarray, size: int) -> ContextUnits:
        """One unit for each sentence: the sentence to tag, and up to ``size`` sentences of context on either side."""
        order, first, stop = _by_document(documents)
        here = np.arange(len(order))
        # shape: (n_sentences,): first row of each window, and the row after the last row of the window
        begin, end = np.maximum(first, here - size), np.minimum(stop, here + size + 1)
        counts = end - begin
        offsets = np.concatenate(([0], np.cumsum(counts)))
        # shape: (n_rows,): place of each row of the units in `order`
        place = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], counts)
        return cls(order[place], offsets, place == np.repeat(here, counts))

    def followed_by(self, other: ContextUnits, n_sentences: int) -> ContextUnits:
        """Return these units, followed by the units of further sentences, with numbers from ``n_sentences`` on."""
        return ContextUnits(
            np.append(self.rows, other.rows + n_sentences),
            np.append(self.offsets, self.offsets[-1] + other.offsets[1:]),
            np.append(self.tagged, other.tagged),
        )

    def sizes(self, lengths: np.ndarray) -> np.ndarray:
        """Number of tokens of each unit, 0 if no sentence of the unit is to be tagged; shape (n_units,)."""
        # shape: (n_rows + 1,): running totals, whose differences count the tokens of any range of rows
        items, to_tag = np.append(0, np.cumsum(lengths[self.rows])), np.append(0, np.cumsum(self._on(lengths)))
        start, stop = self.offsets[:-1], self.offsets[1:]
        return np.where(to_tag[stop] > to_tag[start], items[stop] - items[start], 0)

    def places(self, units: Sequence[int]) -> np.ndarray:
        """Indices into ``rows`` of the given units, one unit after the other."""
        return np.concatenate([np.arange(self.offsets[u], self.offsets[u + 1]) for u in units])

    def tagged_rows(self, units: Sequence[int], lengths: np.ndarray) -> list[int]:
        """Sentences that are tagged in the given units, in the order of the batch, without empty sentences."""
        places = self.places(units)
        return self.rows[places[self._on(lengths)[places]]].tolist()

    def _on(self, lengths: np.ndarray) -> np.ndarray:
        """Whether each row is tagged and has tokens, shape (n_rows,)."""
        return self.tagged & (lengths[self.rows] > 0)


def _by_document(documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sentences in the order of their documents, and the start and end of the document of each sentence."""
    order = np.argsort(documents, kind="stable")
    ordered = documents[order]
    return order, np.searchsorted(ordered, ordered, side="left"), np.searchsorted(ordered, ordered, side="right")


# Shuffled sentences are sorted by length within pools of this many batches. Larger pools need less padding, smaller
# pools mix the sentences of a batch more.
_POOL_BATCHES = 100


# Number of marks of a token: first token of a sentence, and token of a tagged sentence.
CONTEXT_MARKS = 2


class ContextView(NamedTuple):
    """Units of several sentences that the encoder reads, and the positions of the tagged sentences in the units.

    Attributes
    ----------
    lengths : LongTensor of shape (units,)
        Number of tokens of each unit.
    places : LongTensor of shape (batch, time)
        Number of the cell of each token in the flattened (units, longest) array. 0 at padded positions.
    marks : FloatTensor of shape (units, longest, 2)
        First mark: 1 at the first token of a sentence. Second mark: 1 at all tokens of a tagged sentence.
    slots : LongTensor of shape (n_tokens,)
        Numbers of the cells with tokens in the flattened (batch, time) array. The other cells are padding.
    """

    lengths: Tensor
    places: Tensor
    marks: Tensor
    slots: Tensor


@dataclass(frozen=True)
class SentenceBatch:
    """Padded sentences, on any device.

    Attributes
    ----------
    lengths : LongTensor of shape (batch,)
        Number of tokens of each sentence, at least 1.
    mask : BoolTensor of shape (batch, time)
        True at tokens and False at padding, which is on the right.
    words : LongTensor of shape (batch, time) or None
        Row of each token in ``features`` or in a table of encoded words. 0 at padded positions.
    features : mapping of str to Tensor, or None
        Features of the distinct words of the batch, one row for each word.
    vectors : FloatTensor of shape (batch, time, d) or None
        Token vectors, if X is a `TokenVectors`.
    view : ContextView or None
        Positions of the sentences in their units, if the encoder reads context. If the encoder reads context, ``words``
        and ``vectors`` have the shape (units, longest) instead of (batch, time).
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
        """Copy the batch to another device."""

        def move(x: Any) -> Any:
            if isinstance(x, dict):
                return {key: move(value) for key, value in x.items()}
            if isinstance(x, ContextView):
                return ContextView(*map(move, x))
            return None if x is None else x.to(device, non_blocking=True)

        return SentenceBatch(*(move(getattr(self, field.name)) for field in fields(self)))


class SentenceDataset(Dataset):
    """Data set of sentences of different lengths, stored as flat arrays.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
        Border of each sentence. Sentence i holds the tokens ``offsets[i]:offsets[i + 1]``.
    words : ndarray of shape (n_tokens,), optional
        Row of each token in ``features``.
    features : mapping of str to Tensor, optional
        Features of the distinct words, one row for each word.
    vectors : ndarray of shape (n_tokens, d), optional
        Token vectors instead of words.
    tags : ndarray of shape (n_tokens,), optional
        Number of the tag of each token. Without tags, batches hold zeros.
    units : ContextUnits, optional
        Sentences that the encoder reads together. By default the encoder reads each sentence alone.
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
        # Only the number is returned: `collate` builds the whole batch with array operations.
        return int(row)

    @property
    def unit_lengths(self) -> np.ndarray:
        """Number of tokens of each item that the sampler draws: a sentence, or a unit of sentences."""
        return self.lengths if self.units is None else self.units.sizes(self.lengths)

    @property
    def first_rows(self) -> np.ndarray:
        """Sentence of each item that the sampler draws, or the first sentence of a unit."""
        return np.arange(len(self)) if self.units is None else self.units.rows[self.units.offsets[:-1]]

    def tagged_rows(self, units: Sequence[int]) -> list[int]:
        """Sentences in the batch that `collate` builds from the given units."""
        return list(units) if self.units is None else self.units.tagged_rows(units, self.lengths)

    def collate(self, units: Sequence[int]) -> tuple[SentenceBatch, Tensor]:
        """Build the padded batch and the padded tags of the given sentences, or units of sentences, on CPU."""
        rows = self.tagged_rows(units)
        lengths = self.lengths[rows]
        position = np.arange(lengths.max())
        # shape: (batch, time)
        mask = position < lengths[:, None]
        # shape: (batch, time): number of each token in the flat arrays
        item = np.where(mask, self.offsets[rows][:, None] + position, 0)
        # Padded positions have tag 0. The mask excludes these positions from every sum.
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
        """Tokens of the units, and the positions of the sentences of ``mask`` in the units."""
        assert self.units is not None
        places = self.units.places(units)
        rows, tagged = self.units.rows[places], self.units.tagged[places]
        unit = np.repeat(np.arange(len(units)), np.diff(self.units.offsets)[units])
        length = self.lengths[rows]
        # shape: (n_sentences,): number of tokens of the batch before each sentence
        before = np.cumsum(length) - length
        # shape: (n_units,)
        sizes = np.bincount(unit, weights=length).astype(np.int64)
        longest = int(sizes.max())
        # shape: (n_sentences,): first cell of each sentence in the flattened (units, longest) array
        begin = unit * longest + before - (np.cumsum(sizes) - sizes)[unit]
        # shape: (n_tokens,): number of each token in the batch, and its cell
        count = np.arange(length.sum())
        cell = count + np.repeat(begin - before, length)
        item, on = np.zeros(len(sizes) * longest, dtype=np.int64), np.zeros(len(sizes) * longest, dtype=bool)
        item[cell], on[cell] = count + np.repeat(self.offsets[rows] - before, length), True
        # shape: (n_units * longest, CONTEXT_MARKS)
        marks = np.zeros((len(item), CONTEXT_MARKS), dtype=np.float32)
        marks[begin[length > 0], 0] = 1.0
        marks[cell, 1] = np.repeat(tagged, length)
        # shape: (batch, time): cell of each token of the tagged sentences
        at = np.where(mask, begin[tagged & (length > 0)][:, None] + np.arange(mask.shape[1]), 0)
        shape = (len(sizes), longest)
        view = (sizes, at, marks.reshape(*shape, CONTEXT_MARKS), np.flatnonzero(mask))
        parts = self._token_part(item.reshape(shape), on.reshape(shape))
        return {**parts, "view": ContextView(*map(torch.from_numpy, view))}

    def _vector_part(self, item: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
        assert self.vectors is not None
        # shape: (batch, time, d), with zeros at padding
        return {"vectors": torch.from_numpy(self.vectors[item] * mask[:, :, None].astype(np.float32))}

    def _word_part(self, item: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
        assert self.words is not None
        # shape: (batch, time): row of each token in the features of this batch
        local = np.zeros(mask.shape, dtype=np.int64)
        # Without features the network reads a table of all encoded words, so that words keep their numbers.
        if self.features is None:
            local[mask] = self.words[item[mask]]
            return {"words": torch.from_numpy(local)}
        distinct, local[mask] = np.unique(self.words[item[mask]], return_inverse=True)
        chosen = torch.from_numpy(distinct)
        return {
            "words": torch.from_numpy(local),
            "features": {k: v[chosen] for k, v in self.features.items()},
        }


def length_buckets(lengths: np.ndarray, max_cells: int, max_rows: int) -> Iterator[np.ndarray]:
    """Sort rows by length and divide the sorted rows into batches of at most ``max_cells`` padded cells and
    ``max_rows`` rows.

    A row that is longer than ``max_cells`` forms a batch of its own. No row is truncated.
    """
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order].tolist()
    start = 0
    for stop in range(1, len(order) + 1):
        # The rows are sorted, so that the last row of a batch determines its padded length.
        full = stop < len(order) and ((stop + 1 - start) * ordered[stop] > max_cells or stop - start >= max_rows)
        if full or stop == len(order):
            yield order[start:stop]
            start = stop


class LengthBucketSampler(Sampler):
    """Draw batches of rows of similar length, in a new order at every iteration.

    Parameters
    ----------
    lengths : ndarray of shape (n,), or callable
        Length of each row. Rows of length 0 are in no batch. A callable is called at every iteration.
    max_cells : int
        Largest number of padded cells (rows times length of the longest row) of a batch.
    max_rows : int
        Largest number of rows of a batch.
    rng : numpy.random.Generator, optional
        Generator that shuffles rows and batches. Without a generator, the order is by length.
    """

    def __init__(
        self,
        lengths: np.ndarray | Callable[[], np.ndarray],
        max_cells: int,
        max_rows: int,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.lengths, self.max_cells, self.max_rows, self.rng = lengths, max_cells, max_rows, rng

    def __len__(self) -> int:
        # Number of batches in the order by length. A shuffled order has a few more batches.
        return len(self._draw(None))

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._draw(self.rng))

    def _draw(self, rng: np.random.Generator | None) -> list[list[int]]:
        # Rows without tokens are never drawn, because the network cannot read an empty sentence.
        lengths = self.lengths() if callable(self.lengths) else self.lengths
        rows = np.flatnonzero(lengths)
        pools = [rows]
        if rng is not None and len(rows):
            # Sorting all sentences would fix the composition of the batches: only the sentences of a pool are sorted.
            rows = rng.permutation(rows)
            pool = np.cumsum(lengths[rows]) // (self.max_cells * _POOL_BATCHES)
            pools = np.split(rows, np.flatnonzero(np.diff(pool)) + 1)
        batches = [
            rows[batch].tolist()
            for rows in pools
            for batch in length_buckets(lengths[rows], self.max_cells, self.max_rows)
        ]
        if rng is not None:
            rng.shuffle(batches)
        return batches
