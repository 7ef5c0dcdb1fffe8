"""Batches hold every sentence once, whole, and nothing else."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.tagging import LengthBucketSampler, SentenceDataset

LENGTHS = st.lists(st.integers(0, 40), max_size=60).map(lambda x: np.array(x, dtype=np.int64))


@given(LENGTHS, st.integers(1, 100), st.integers(1, 10), st.booleans())
def test_every_sentence_with_tokens_is_in_one_batch(lengths, cells, rows, shuffled):
    rng = np.random.default_rng(0) if shuffled else None
    batches = list(LengthBucketSampler(lengths, cells, rows, rng))
    assert sorted(row for batch in batches for row in batch) == np.flatnonzero(lengths).tolist()
    for batch in batches:
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= cells


def test_shuffling_is_seeded_and_changes_between_epochs():
    lengths = np.random.default_rng(1).integers(1, 30, 200)
    first = LengthBucketSampler(lengths, 100, 50, np.random.default_rng(3))
    second = LengthBucketSampler(lengths, 100, 50, np.random.default_rng(3))
    epochs = [list(first), list(first)]
    assert epochs == [list(second), list(second)]
    assert epochs[0] != epochs[1]


def ragged(lengths, n_words=9):
    rng = np.random.default_rng(0)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    words = rng.integers(0, n_words, offsets[-1])
    tags = rng.integers(0, 4, offsets[-1])
    return SentenceDataset(offsets, words=words, features={"casing": torch.arange(n_words)}, tags=tags)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_collate_pads_on_the_right_and_keeps_every_item(lengths):
    data = ragged(lengths)
    batch, tags = data.collate(range(len(lengths)))
    assert batch.lengths.tolist() == lengths
    assert batch.mask.sum(1).tolist() == lengths
    for row, n in enumerate(lengths):
        items = slice(data.offsets[row], data.offsets[row] + n)
        assert batch.features["casing"][batch.words[row, :n]].tolist() == data.words[items].tolist()
        assert tags[row, :n].tolist() == data.tags[items].tolist()
        assert not tags[row, n:].any()


def test_vectors_are_zero_at_padding():
    data = SentenceDataset(np.array([0, 1, 3]), vectors=np.ones((3, 2), dtype=np.float32))
    batch, _ = data.collate([0, 1])
    assert batch.vectors.tolist() == [[[1, 1], [0, 0]], [[1, 1], [1, 1]]]
