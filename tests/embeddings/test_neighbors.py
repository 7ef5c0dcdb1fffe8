"""Neighbour search against a full float64 sort, and what must not change its result."""

from __future__ import annotations

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import parallel_config
from threadpoolctl import threadpool_info

from sklearn_deid.embeddings import (
    NeighborIndex,
    WordVectors,
    forget_neighbors,
    neighbor_search,
)

from .neighbor_oracle import cosines_of, sorted_in_full, table_of, usable_rows, without_search

# The result


@pytest.mark.parametrize("n_neighbors", [1, 2, 10, 45, 598])
def test_same_as_a_full_sort(vectors, n_neighbors):
    rows = usable_rows(vectors)[::5]
    table = NeighborIndex(vectors).query(rows, n_neighbors)
    assert np.array_equal(table.rows, rows)
    assert table.neighbors.dtype == np.int32
    assert table.rows.dtype == np.int64
    assert np.array_equal(table.neighbors, sorted_in_full(vectors, rows, n_neighbors))


def test_large_table_goes_through_the_threshold_and_its_fallback():
    """20,000 words, so that most words are dropped by the sample; and clumps that the sample misses."""
    rng = np.random.default_rng(1)
    array = rng.normal(size=(20_000, 8)).astype(np.float32)
    array[1:2000:32] = array[1] + 1e-3 * rng.normal(size=(63, 8))  # rows the sample does not see
    array[5000:5064:2] = array[5000] + 1e-9  # and duplicates it sees too many of
    vectors = table_of(array)
    rows = np.array([0, 1, 33, 5000, 5002, 9999, 19_999])
    for n_neighbors in (5, 40, 300):
        table = NeighborIndex(vectors).query(rows, n_neighbors)
        assert np.array_equal(table.neighbors, sorted_in_full(vectors, rows, n_neighbors))


def test_fallback_is_used_where_too_few_pass():
    """The sampled rows are all near the query, the others are not: the threshold is far too high."""
    rng = np.random.default_rng(2)
    array = rng.normal(size=(6400, 6))
    array[::32] = [1, 0, 0, 0, 0, 0] + 1e-2 * rng.normal(size=(200, 6))
    vectors = table_of(array)
    near = neighbor_search._Search._near
    with mock.patch.object(neighbor_search._Search, "_near", autospec=True, side_effect=near) as spy:
        table = NeighborIndex(vectors).query([0, 32], 600)
    assert spy.call_count == 4  # each query a second time
    assert np.array_equal(table.neighbors, sorted_in_full(vectors, [0, 32], 600))


def test_order_among_cosines_that_float32_cannot_tell_apart():
    angles = np.linspace(0, 2e-3, 3000)
    vectors = table_of(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    table = NeighborIndex(vectors).query([0, 1500], 100)
    cosines = cosines_of(vectors, [0, 1500])
    for i, row in enumerate(table.rows):
        best = np.sort(np.delete(cosines[i], row))[::-1][:99]
        assert np.abs(cosines[i][table.neighbors[i, 1:]] - best).max() < 1e-14


small_tables = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        arrays(np.float32, (n, 3), elements=st.integers(-2, 2).map(float)),
        arrays(np.bool_, n),
    )
)


@given(small_tables, st.data())
def test_laws_on_tables_full_of_ties(drawn, data):
    array, candidates = drawn
    vectors = table_of(array)
    index = NeighborIndex(vectors, candidates=candidates)
    rows = usable_rows(vectors)
    if not len(rows) or not index.n_candidates:
        return
    n_neighbors = data.draw(st.integers(1, index.n_candidates))
    found = index.query(rows, n_neighbors).neighbors
    assert np.array_equal(found[:, 0], rows)
    allowed = candidates & array.any(axis=1)
    assert allowed[found[:, 1:]].all()
    cosines = cosines_of(vectors, rows)
    for i, row in enumerate(rows):
        assert len(set(found[i])) == n_neighbors
        mine = cosines[i][found[i, 1:]]
        assert (np.diff(mine) <= 1e-6).all()
        others = np.setdiff1d(np.flatnonzero(allowed), [row])
        best = np.sort(cosines[i][others])[::-1][: n_neighbors - 1]
        assert np.abs(mine - best).max(initial=0) <= 1e-6
        same = [np.array_equal(array[a], array[b]) for a, b in zip(found[i, 1:], found[i, 2:], strict=False)]
        assert (np.diff(found[i, 1:])[same] > 0).all()  # duplicates by row


def test_word_itself_is_first_whatever_it_is(vectors):
    duplicates = np.arange(100, 140)
    assert np.array_equal(NeighborIndex(vectors).query(duplicates, 3).neighbors[:, 0], duplicates)
    candidates = np.ones(len(vectors), dtype=bool)
    candidates[100:120] = False
    table = NeighborIndex(vectors, candidates=candidates).query(duplicates, 25)
    assert np.array_equal(table.neighbors[:, 0], duplicates)
    assert candidates[table.neighbors[:, 1:]].all()
    assert np.array_equal(table.neighbors, sorted_in_full(vectors, duplicates, 25, candidates))
    assert np.array_equal(table.neighbors[0, 1:21], np.arange(120, 140))  # duplicates by row


def test_vectors_without_a_copy_give_the_same(vectors, tmp_path):
    vectors.save(tmp_path / "saved")
    mapped = WordVectors.open(tmp_path / "saved")
    first, second = (NeighborIndex(v).query(np.arange(10, 60), 20) for v in (vectors, mapped))
    assert np.array_equal(first.neighbors, second.neighbors)


# What must not matter


def test_order_repeats_and_company_do_not_matter(vectors):
    rows = usable_rows(vectors)
    whole = NeighborIndex(vectors).query(rows, 30)
    shuffled = np.random.default_rng(0).permutation(np.repeat(rows, 2))
    forget_neighbors()
    again = NeighborIndex(vectors).query(shuffled, 30)
    assert np.array_equal(whole.rows, again.rows)
    assert np.array_equal(whole.neighbors, again.neighbors)
    for row in rows[::50]:
        forget_neighbors()
        assert np.array_equal(NeighborIndex(vectors).query([row], 30).neighbors[0], whole.neighbors[rows == row][0])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_n_jobs_does_not_matter(vectors, n_jobs):
    rows = usable_rows(vectors)
    one = NeighborIndex(vectors, n_jobs=1).query(rows, 50)
    forget_neighbors()
    more = NeighborIndex(vectors, n_jobs=n_jobs).query(rows, 50)
    assert np.array_equal(one.neighbors, more.neighbors)


def test_takes_threads_from_the_context_and_leaves_their_number_alone(vectors):
    before = [library["num_threads"] for library in threadpool_info()]
    with parallel_config("threading", n_jobs=2):
        inside = NeighborIndex(vectors).query(np.arange(10, 300), 20)
    forget_neighbors()
    assert np.array_equal(inside.neighbors, NeighborIndex(vectors).query(np.arange(10, 300), 20).neighbors)
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize(("queries", "table_rows", "stride"), [(1, 7, 3), (5, 100, 1), (300, 4096, 64)])
def test_sizes_of_blocks_do_not_matter(vectors, monkeypatch, queries, table_rows, stride):
    rows = usable_rows(vectors)[::3]
    before = NeighborIndex(vectors).query(rows, 20)
    forget_neighbors()
    monkeypatch.setattr(neighbor_search, "_QUERIES", queries)
    monkeypatch.setattr(neighbor_search, "_TABLE_ROWS", table_rows)
    monkeypatch.setattr(neighbor_search, "_STRIDE", stride)
    assert np.array_equal(NeighborIndex(vectors).query(rows, 20).neighbors, before.neighbors)


# What is said


@pytest.mark.parametrize(
    ("rows", "n_neighbors", "message"),
    [
        ([10], 599, r"number of possible neighbours, 598\. Got 599 instead"),
        ([10], 0, "Got 0 instead"),
        ([7, 10, 300, 7], 2, "2 of 3 'rows' have a vector of zeros"),
        ([-1, 10, 600], 2, "from 0 to 599. 2 of them are not"),
        ([1.5], 2, "1-D array of int"),
        ([[1]], 2, "1-D array of int"),
    ],
)
def test_errors_say_numbers_and_no_word(vectors, rows, n_neighbors, message):
    with pytest.raises(ValueError, match=message) as error:
        NeighborIndex(vectors).query(rows, n_neighbors)
    assert "word1" not in str(error.value)


@pytest.mark.parametrize("candidates", [np.ones(5, dtype=bool), np.ones(600), [1, 2]])
def test_candidates_must_be_a_mask(vectors, candidates):
    with pytest.raises(ValueError, match=r"bool array of shape \(600,\)"):
        NeighborIndex(vectors, candidates=candidates)


def test_too_many_neighbours_for_the_candidates(vectors):
    candidates = np.zeros(len(vectors), dtype=bool)
    candidates[:20] = True  # one of them has no vector
    index = NeighborIndex(vectors, candidates=candidates)
    assert index.n_candidates == 19
    assert index.query([100], 19).neighbors.shape == (1, 19)
    with pytest.raises(ValueError, match=r"19\. Got 20"):
        index.query([100], 20)


def test_no_rows_no_neighbours(vectors):
    table = NeighborIndex(vectors).query([], 5)
    assert table.rows.shape == (0,)
    assert table.neighbors.shape == (0, 5)


def test_reprs_and_pickles_hold_nothing_that_was_asked_for(vectors, tmp_path):
    index = NeighborIndex(vectors, cache_dir=tmp_path)
    before = len(pickle.dumps(index))
    table = index.query([123, 456], 5)
    assert repr(index) == "NeighborIndex(n_words=600, n_candidates=598, on disk)"
    assert repr(table) == "NeighborTable(n=2, n_neighbors=5)"
    assert len(pickle.dumps(index)) == before
    with without_search():
        again = pickle.loads(pickle.dumps(index)).query([123, 456], 5)
    assert np.array_equal(again.neighbors, table.neighbors)


def test_progress_is_shown_on_request_and_says_no_word(vectors, capsys):
    NeighborIndex(vectors, verbose=1).query(np.arange(10, 300), 5)
    shown = capsys.readouterr()
    assert "290/290" in shown.err
    assert "word1" not in shown.err
    assert shown.out == ""
    forget_neighbors()
    NeighborIndex(vectors).query(np.arange(10, 300), 5)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_neighbors", [50])
def test_on_public_vectors(glove, n_neighbors):
    rows = np.array([0, 1000, 50_000, 399_999])
    table = NeighborIndex(glove, n_jobs=2).query(rows, n_neighbors)
    assert np.array_equal(table.neighbors, sorted_in_full(glove, rows, n_neighbors))
