"""Neighbour search against a full float64 sort, and what must not change its result."""

from __future__ import annotations

import multiprocessing
import pickle
import stat
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
    NeighborTable,
    WordVectors,
    forget_neighbors,
    neighbor_search,
    neighbors,
)
from sklearn_deid.embeddings.neighbor_store import NeighborFolder, RecentTables, take_known


@pytest.fixture(autouse=True)
def _nothing_kept():
    forget_neighbors()
    yield
    forget_neighbors()


def table_of(array, **options) -> WordVectors:
    return WordVectors([f"word{i}" for i in range(len(array))], array, **options)


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    """600 words in clumps, some of them exact duplicates, some without a vector."""
    rng = np.random.default_rng(0)
    array = rng.normal(size=(30, 12))[rng.integers(30, size=600)] + 0.3 * rng.normal(size=(600, 12))
    array[100:140] = array[100]
    array[[7, 300]] = 0
    return table_of(array)


def cosines_of(vectors: WordVectors, rows) -> np.ndarray:
    unit = vectors.matrix().astype(np.float64)
    return unit[rows] @ unit.T


def sorted_in_full(vectors, rows, n_neighbors, candidates=None) -> np.ndarray:
    """The oracle: all cosines in float64, the word itself first, equal ones by row."""
    allowed = vectors.matrix().any(axis=1)
    allowed = allowed if candidates is None else allowed & candidates
    found = []
    for row in rows:
        cosine = np.round(cosines_of(vectors, [row])[0], 12)  # the product's rounding depends on the place of a row
        cosine[~allowed] = -np.inf
        cosine[row] = np.inf
        found.append(np.argsort(-cosine, kind="stable")[:n_neighbors])
    return np.array(found)


def usable_rows(vectors: WordVectors) -> np.ndarray:
    return np.flatnonzero(vectors.matrix().any(axis=1))


def without_search():
    """Fails if anything is searched rather than remembered."""
    return mock.patch.object(neighbors, "search_neighbors", side_effect=AssertionError("searched"))


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


# What is kept for the run


def test_other_index_and_smaller_n_need_no_search(vectors):
    whole = NeighborIndex(vectors).query(np.arange(10, 60), 40)
    with without_search():
        part = NeighborIndex(vectors).query([20, 12], 15)
    assert np.array_equal(part.neighbors, whole.neighbors[[2, 10], :15])
    with without_search(), pytest.raises(AssertionError, match="searched"):
        NeighborIndex(vectors).query([20], 41)


def test_only_missing_rows_are_searched(vectors):
    index = NeighborIndex(vectors)
    index.query(np.arange(10, 60), 10)
    search = neighbors.search_neighbors
    with mock.patch.object(neighbors, "search_neighbors", side_effect=search) as spy:
        mixed = NeighborIndex(vectors).query(np.arange(50, 70), 10)
    assert spy.call_args.args[3].tolist() == list(range(60, 70))
    assert np.array_equal(mixed.neighbors, sorted_in_full(vectors, np.arange(50, 70), 10))


def test_other_vectors_or_candidates_are_not_mixed_up(vectors):
    rows = np.arange(10, 30)
    everything = NeighborIndex(vectors).query(rows, 10)
    candidates = np.arange(len(vectors)) % 2 == 0
    even = NeighborIndex(vectors, candidates=candidates).query(rows, 10)
    assert (even.neighbors[:, 1:] % 2 == 0).all()
    turned = table_of(vectors.matrix()[::-1])
    other = NeighborIndex(turned).query(rows, 10)
    assert np.array_equal(other.neighbors, sorted_in_full(turned, rows, 10))
    assert not np.array_equal(other.neighbors, everything.neighbors)


def test_results_cannot_be_changed_by_a_caller(vectors):
    table = NeighborIndex(vectors).query([10, 11], 5)
    with pytest.raises(ValueError, match="read-only"):
        table.neighbors[0, 0] = 1
    mask = np.ones(len(vectors), dtype=bool)
    index = NeighborIndex(vectors, candidates=mask)
    mask[:] = False
    assert index.n_candidates == 598


def test_memory_is_bounded_and_drops_the_oldest():
    def table(first, n_neighbors):
        return NeighborTable(np.arange(first, first + 10), np.zeros((10, n_neighbors), dtype=np.int32))

    size = 10 * 8 + 10 * 5 * 4
    store = RecentTables(max_bytes=2 * size)
    store.add("a", table(0, 5))
    store.add("b", table(0, 5))
    assert len(store.find("a", 5)) == 1  # and is now the newest
    store.add("c", table(0, 5))
    assert [len(store.find(key, 5)) for key in "abc"] == [1, 0, 1]
    assert store.n_bytes == 2 * size
    store.add("c", table(0, 6))
    assert store.find("c", 6)[0].neighbors.shape == (10, 6)
    assert len(store.find("c", 1)) == 1  # the smaller one is covered
    store.add("d", table(0, 1000))
    assert store.n_bytes == 0  # too large on its own, and the others were older


def test_an_index_keeps_its_latest_result_even_where_memory_does_not(vectors, monkeypatch):
    monkeypatch.setattr(neighbors, "_RECENT", RecentTables(max_bytes=0))
    index = NeighborIndex(vectors)
    first = index.query([10, 20], 5)
    with without_search():
        assert np.array_equal(index.query([10, 20], 5).neighbors, first.neighbors)


def test_take_known_joins_tables():
    first = NeighborTable(np.array([1, 5]), np.array([[1, 0], [5, 0]], dtype=np.int32))
    second = NeighborTable(np.array([2, 5]), np.array([[2, 9], [5, 9]], dtype=np.int32))
    found, known = take_known([first, second], np.array([0, 1, 2, 5, 6]), 2)
    assert known.tolist() == [False, True, True, True, False]
    assert found[known].tolist() == [[1, 0], [2, 9], [5, 0]]
    assert not take_known([first], np.array([1]), 3)[1].any()


# On disk


def stored(vectors, folder, rows=tuple(range(10, 60)), n_neighbors=20) -> np.ndarray:
    found = NeighborIndex(vectors, cache_dir=folder).query(rows, n_neighbors).neighbors
    forget_neighbors()
    return found


def test_round_trip_on_disk_without_a_search(vectors, tmp_path):
    folder = tmp_path / "deep" / "cache"
    found = stored(vectors, folder)
    with without_search():
        read = NeighborIndex(vectors, cache_dir=folder).query(range(10, 60), 20).neighbors
        assert np.array_equal(read, found)
        assert isinstance(read.base, np.memmap) or isinstance(read, np.memmap)
        fewer = NeighborIndex(vectors, cache_dir=folder).query([11, 13], 7).neighbors
        assert np.array_equal(fewer, found[[1, 3], :7])
    assert not read.flags.writeable
    assert np.array_equal(NeighborIndex(vectors).query(range(10, 60), 20).neighbors, found)  # without the cache


def test_nothing_is_written_by_default(vectors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NeighborIndex(vectors).query([10], 5)
    assert list(tmp_path.iterdir()) == []


def test_folder_and_files_are_for_their_owner(vectors, tmp_path):
    folder = tmp_path / "cache"
    stored(vectors, folder)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "word" not in file.name


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-4],
        lambda data: data[:-4] + b"\x00\x00\x00\x01",
        lambda data: b"",
        lambda data: data[:20],
        lambda data: b"\x80\x04" + data,
        lambda data: b"anything else",
    ],
)
def test_damaged_file_is_noticed_searched_again_and_replaced(vectors, tmp_path, damage):
    found = stored(vectors, tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert np.array_equal(stored(vectors, tmp_path), found)
    assert [f.read_bytes() for f in tmp_path.iterdir()] == [whole]


def test_files_of_others_are_passed_over_and_left_alone(vectors, tmp_path):
    found = stored(vectors, tmp_path)
    (file,) = tmp_path.iterdir()
    other = table_of(vectors.matrix()[::-1])
    key = NeighborIndex(other)._key
    renamed = tmp_path / file.name.replace(file.name.split("-")[0], key)
    file.rename(renamed)  # as if it belonged to the other vectors
    (tmp_path / f"{key}-folder.npy").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    assert np.array_equal(stored(other, tmp_path), sorted_in_full(other, range(10, 60), 20))
    assert np.array_equal(stored(vectors, tmp_path), found)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert renamed.exists()


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2]]),
        np.array([1, 2], dtype="<i4"),
        np.zeros((0, 2), dtype="<i4"),
        np.array([[5, 2], [1, 2]], dtype="<i4"),
        np.array([[1, 20]], dtype="<i4"),
        np.array([[-1, 2]], dtype="<i4"),
    ],
)
def test_file_that_fits_its_name_but_is_no_table_is_passed_over(tmp_path, array):
    folder = NeighborFolder(tmp_path, "key", 10)
    np.save(tmp_path / "raw.npy", array)
    (tmp_path / "raw.npy").rename(tmp_path / folder._name(tmp_path / "raw.npy"))
    assert folder.tables() == []


def test_tables_on_disk_are_joined(vectors, tmp_path):
    stored(vectors, tmp_path, range(10, 20), 30)
    stored(vectors, tmp_path, range(20, 30), 25)
    with without_search():
        joined = NeighborIndex(vectors, cache_dir=tmp_path).query(range(15, 25), 25)
    assert np.array_equal(joined.neighbors, sorted_in_full(vectors, range(15, 25), 25))


def test_failed_write_leaves_nothing_and_keeps_the_result(vectors, tmp_path):
    index = NeighborIndex(vectors, cache_dir=tmp_path)
    with (
        mock.patch("sklearn_deid.embeddings.neighbor_store.np.save", side_effect=OSError("full")),
        pytest.raises(OSError, match="full"),
    ):
        index.query([10, 11], 5)
    assert list(tmp_path.iterdir()) == []
    with without_search():
        assert len(index.query([10, 11], 5).rows) == 2


def _write_from_another_process(array, folder, first) -> None:
    stored(table_of(array), folder, range(10, 60))
    stored(table_of(array), folder, range(first, first + 10))


def test_two_processes_write_at_once(vectors, tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_write_from_another_process, args=(vectors.matrix(), tmp_path, first))
        for first in (200, 400)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert {file.suffix for file in tmp_path.iterdir()} == {".npy"}
    unit = table_of(vectors.matrix())
    with without_search():
        found = NeighborIndex(unit, cache_dir=tmp_path).query([*range(10, 60), *range(200, 210), *range(400, 410)], 20)
    assert np.array_equal(found.neighbors, sorted_in_full(unit, found.rows, 20))


# What is said


@pytest.mark.parametrize(
    ("rows", "n_neighbors", "message"),
    [
        ([10], 599, r"number of words that may be neighbours, 598\. Got 599 instead"),
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
