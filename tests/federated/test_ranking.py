"""The k largest, against sorting; random ties, against counting."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_deid.federated import kth_largest, largest_mask, random_subset, ranking


@pytest.fixture(autouse=True)
def fast_way_for_small_arrays(monkeypatch):
    """The way of millions, taken from 33 numbers on."""
    monkeypatch.setattr(ranking, "_SAMPLE", 8)
    monkeypatch.setattr(ranking, "_FEW", 4)


KEYS = st.one_of(
    hnp.arrays(np.int32, st.integers(1, 200), elements=st.integers(0, 5)),
    hnp.arrays(np.int32, st.integers(1, 200), elements=st.integers(-(2**31), 2**31 - 1)),
    hnp.arrays(np.float32, st.integers(1, 200), elements=st.floats(0, 4, width=32)),
    hnp.arrays(np.uint16, st.integers(1, 200)),
)


@given(KEYS, st.data())
def test_kth_largest_is_that_of_sorting(keys, data):
    k = data.draw(st.integers(1, len(keys)))
    assert kth_largest(keys, k, np.random.default_rng(k)) == np.sort(keys)[::-1][k - 1]


@given(KEYS, st.data())
def test_marked_are_the_k_largest(keys, data):
    k = data.draw(st.integers(0, len(keys)))
    mask = largest_mask(keys, k, np.random.default_rng(k))
    assert mask.sum() == k
    assert sorted(keys[mask]) == sorted(keys)[len(keys) - k :]


@given(hnp.arrays(bool, st.integers(0, 200)), st.integers(0, 220), st.integers(0, 5))
def test_a_subset_has_its_size_and_adds_nothing(mask, k, seed):
    subset = random_subset(mask, k, np.random.default_rng(seed))
    assert subset.sum() == min(k, mask.sum())
    assert not (subset & ~mask).any()
    assert not np.shares_memory(subset, mask)


@pytest.mark.parametrize("few", [0, 100], ids=["keys", "choice"])
def test_every_subset_is_equally_likely(monkeypatch, few):
    """Pearson's statistic over the 20 subsets of 3 of 6; its 99.9 % point with 19 degrees of freedom is 43.8."""
    monkeypatch.setattr(ranking, "_FEW", few)
    mask, rng = np.array([1, 0, 1, 1, 0, 1, 1, 1], dtype=bool), np.random.default_rng(1)
    counts = dict.fromkeys(combinations(np.flatnonzero(mask).tolist(), 3), 0)
    for _ in range(4000):
        if few:
            chosen = random_subset(mask, 3, rng)
        else:
            keys = (rng.integers(0, 2**16, size=8, dtype=np.uint16) | 1) * mask
            monkeypatch.setattr(ranking, "_FEW", 100)
            chosen = largest_mask(keys, 3, rng)
        counts[tuple(np.flatnonzero(chosen).tolist())] += 1
    assert sum((n - 200) ** 2 / 200 for n in counts.values()) < 43.8


def test_each_place_is_drawn_equally_often_by_keys():
    rng, hits = np.random.default_rng(0), np.zeros(60)
    for _ in range(3000):
        hits += random_subset(np.ones(60, dtype=bool), 20, rng)
    assert abs(hits - 1000).max() < 5 * np.sqrt(3000 * (1 / 3) * (2 / 3))


def test_ties_are_broken_by_chance():
    rng = np.random.default_rng(0)
    counts = np.array([9] + [1] * 50)
    masks = [largest_mask(counts, 11, rng) for _ in range(300)]
    assert all(mask[0] for mask in masks)
    assert np.sum(masks, axis=0)[1:].min() > 25  # 60 are expected


def test_million_with_few_values_and_many(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    for keys in (rng.integers(0, 3, 300_000).astype(np.int32), rng.random(300_000, dtype=np.float32)):
        for k in (1, 3, 30_000, 150_000, 299_999):
            assert kth_largest(keys, k, rng) == np.sort(keys)[::-1][k - 1]
            assert largest_mask(keys, k, rng).sum() == k
    assert random_subset(np.ones(300_000, dtype=bool), 100_001, rng).sum() == 100_001
