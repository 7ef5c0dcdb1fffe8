"""Neighbours kept for the run or on disk: never searched twice, never mixed up, never trusted blindly."""

from __future__ import annotations

import multiprocessing
import stat
from unittest import mock

import numpy as np
import pytest

from sklearn_deid.embeddings import (
    NeighborIndex,
    NeighborTable,
    forget_neighbors,
    neighbors,
)
from sklearn_deid.embeddings.neighbor_store import NeighborFolder, RecentTables, take_known

from .neighbor_oracle import sorted_in_full, table_of, without_search

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
