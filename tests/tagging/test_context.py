"""Sentences within their context against what is put together by hand, sentence by sentence."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.tagging import BidirectionalRecurrent, ContextUnits, SentenceDataset, TaggerModule

CASES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=12)


def neighbours(documents, row, size):
    mine = [r for r in range(len(documents)) if documents[r] == documents[row]]
    at = mine.index(row)
    return mine if size is None else mine[max(0, at - size) : at + size + 1]


def dataset_of(case, size):
    documents, lengths = map(np.array, zip(*case, strict=True))
    offsets = np.append(0, np.cumsum(lengths))
    vectors = np.arange(offsets[-1], dtype=np.float32)[:, None]
    units = ContextUnits.documents(documents) if size is None else ContextUnits.windows(documents, size)
    tags = np.arange(offsets[-1]) % 3
    return documents, SentenceDataset(offsets, vectors=vectors, tags=tags, units=units)


@given(CASES, st.integers(1, 9), st.sampled_from([None, 0, 1]))
def test_blocks_are_runs_of_one_document_and_as_long_as_they_may_be(case, size, seed):
    documents, lengths = map(np.array, zip(*case, strict=True))
    units = ContextUnits.blocks(documents, lengths, size, None if seed is None else np.random.default_rng(seed))
    blocks = [units.rows[a:b].tolist() for a, b in zip(units.offsets[:-1], units.offsets[1:], strict=True)]
    assert [row for block in blocks for row in block] == np.argsort(documents, kind="stable").tolist()
    assert units.tagged.all() and all(blocks)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        assert len(set(documents[block])) == 1
        total = int(lengths[block].sum())
        assert total <= size or len([row for row in block if lengths[row]]) == 1
        # With random borders, the first block of a document may be shorter.
        is_first = seed is not None and block[0] == np.flatnonzero(documents == documents[block[0]])[0]
        if following is not None and documents[following[0]] == documents[block[0]] and not is_first:
            assert total + lengths[following[0]] > size


def test_random_borders_stand_equally_often_before_each_sentence():
    # With sentences of one token and blocks of four, a fourth of the draws cuts before a sentence, wherever it stands.
    rng, n_draws = np.random.default_rng(0), 2000
    drawn = [ContextUnits.blocks(np.zeros(12), np.ones(12, dtype=int), 4, rng).offsets[1:-1] for _ in range(n_draws)]
    counts = np.bincount(np.concatenate(drawn), minlength=12)[1:]
    assert np.abs(counts / n_draws - 1 / 4).max() < 5 * np.sqrt(3 / 16 / n_draws)


@settings(max_examples=150, deadline=None)
@given(CASES, st.sampled_from([None, 1, 2]), st.randoms(use_true_random=False))
def test_batches_are_what_is_put_together_by_hand(case, size, random):
    documents, data = dataset_of(case, size)
    units = [int(u) for u in np.flatnonzero(data.unit_lengths)]
    random.shuffle(units)
    seen = []
    for batch_units in (units[: len(units) // 2], units[len(units) // 2 :]):
        if not batch_units:
            continue
        batch, tags = data.collate(batch_units)
        rows = data.tagged_rows(batch_units)
        seen += rows
        cells, marks = batch.vectors.flatten(0, 1)[:, 0], batch.view.marks.flatten(0, 1)
        longest = batch.vectors.shape[1]
        for i, row in enumerate(rows):
            items = list(range(data.offsets[row], data.offsets[row + 1]))
            places = batch.view.places[i, : len(items)]
            assert cells[places].tolist() == items
            assert tags[i, : len(items)].tolist() == data.tags[items].tolist()
            assert batch.mask[i].tolist() == [True] * len(items) + [False] * (batch.mask.shape[1] - len(items))
            unit = int(places[0]) // longest
            around = neighbours(documents.tolist(), row, size)
            expected = [j for r in around for j in range(data.offsets[r], data.offsets[r + 1])]
            begin = unit * longest
            assert cells[begin : begin + len(expected)].tolist() == expected
            assert batch.view.lengths[unit] == len(expected)
            starts = {data.offsets[r] for r in around if data.lengths[r]}
            on = [[float(j in starts), float(size is None or j in items)] for j in expected]
            assert marks[begin : begin + len(expected)].tolist() == on
    assert sorted(seen) == np.flatnonzero(data.lengths).tolist()


def test_sizes_are_tokens_of_units_that_have_something_to_tag():
    _, data = dataset_of([(0, 2), (0, 0), (0, 3), (1, 0), (1, 0)], 1)
    assert data.unit_lengths.tolist() == [2, 0, 3, 0, 0]
    _, data = dataset_of([(0, 2), (0, 0), (0, 3), (1, 0), (1, 0)], None)
    assert data.unit_lengths.tolist() == [5, 0]


def test_neighbours_have_no_loss():
    torch.manual_seed(0)
    _, data = dataset_of([(0, 2), (0, 3), (0, 4)], 1)
    module = TaggerModule(3, None, BidirectionalRecurrent(3, 4)).eval()
    batch, tags = data.collate([1])
    alone = module.loss(module(batch), tags, batch.mask)
    data.tags = np.where(np.isin(np.arange(9), [2, 3, 4]), data.tags, 0)  # the tags of the neighbours are others
    torch.testing.assert_close(module.loss(module(batch), data.collate([1])[1], batch.mask), alone)
    assert tags.shape == (1, 3)
