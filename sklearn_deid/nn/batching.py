"""Batches of sentences: length buckets, padding, masks.

Sentences of similar length go into one batch, and a batch is limited by its padded cells instead of its sentences:
one 400-token sentence then does not pad hundreds of short ones, and short ones fill the matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

__all__ = ["LengthBucketSampler", "SentenceBatch", "SentenceDataset", "length_buckets"]

# Shuffled sentences are sorted by length within pools of this many batches: enough for little padding, few enough that
# the composition of the batches keeps changing.
_POOL_BATCHES = 100


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
    """

    lengths: Tensor
    mask: Tensor
    words: Tensor | None = None
    features: dict[str, Tensor] | None = None
    vectors: Tensor | None = None

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
    """

    def __init__(
        self,
        offsets: np.ndarray,
        *,
        words: np.ndarray | None = None,
        features: dict[str, Tensor] | None = None,
        vectors: np.ndarray | None = None,
        tags: np.ndarray | None = None,
    ) -> None:
        self.offsets, self.words, self.features = offsets, words, features
        self.vectors, self.tags = vectors, tags
        self.lengths = np.diff(offsets)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> int:
        return int(row)  # the batch is built at once, in `collate`

    def collate(self, rows: Sequence[int]) -> tuple[SentenceBatch, Tensor]:
        """Pad the sentences of these rows to one batch and their tags, both on CPU."""
        lengths = self.lengths[rows]
        position = np.arange(lengths.max())
        # shape: (batch, time)
        mask = position < lengths[:, None]
        item = np.where(mask, self.offsets[rows][:, None] + position, 0)
        tags = np.zeros(mask.shape, dtype=np.int64)
        if self.tags is not None:
            tags[mask] = self.tags[item[mask]]
        parts = self._vector_part(item, mask) if self.words is None else self._word_part(item, mask)
        batch = SentenceBatch(torch.from_numpy(lengths), torch.from_numpy(mask), **parts)
        return batch, torch.from_numpy(tags)

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
