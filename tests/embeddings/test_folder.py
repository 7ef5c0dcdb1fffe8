"""Saving and opening: mapped into memory, equal to what was saved, and no pickle."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from sklearn_deid.embeddings import SubwordTable, WordVectors, read_word_vectors
from sklearn_deid.exceptions import BundleError, DataNotFoundError


@pytest.fixture()
def vectors() -> WordVectors:
    raw = np.random.RandomState(0).normal(size=(4, 3)) * 5
    table = SubwordTable(np.random.RandomState(1).normal(size=(20, 3)), 2, 5, lower=False)
    return WordVectors(["pain", "line\nbreak", "日本", "\ud800"], raw, subwords=table, is_public=True)


@pytest.fixture()
def folder(vectors, tmp_path):
    vectors.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_opened_as_saved(vectors, folder):
    for opened in (WordVectors.open(folder), read_word_vectors(folder)):
        assert opened.words == vectors.words
        assert opened.checksum == vectors.checksum
        assert opened.is_public
        np.testing.assert_array_equal(opened.matrix(), vectors.matrix())
        np.testing.assert_array_equal(opened.vectors_for(["unseen"]), vectors.vectors_for(["unseen"]))
        assert repr(opened) == repr(vectors)


def test_arrays_are_mapped_not_read(folder):
    opened = WordVectors.open(folder)
    assert isinstance(opened.matrix().base, np.memmap)
    assert isinstance(opened.subwords.table, np.memmap)


def test_without_subwords_and_private(tmp_path, small_vectors):
    small_vectors.save(tmp_path)
    opened = WordVectors.open(tmp_path)
    assert opened.subwords is None
    assert not opened.is_public
    assert not (tmp_path / "subwords.npy").exists()


def test_saving_again_needs_an_empty_folder(vectors, folder):
    with pytest.raises(FileExistsError, match="not empty"):
        vectors.save(folder)


@pytest.mark.parametrize("name", ["word_vectors.json", "words.json", "vectors.npy", "subwords.npy"])
@pytest.mark.parametrize("damage", ["remove", "empty", "cut", "garbage"])
def test_damaged_files(folder, name, damage):
    file = folder / name
    content = file.read_bytes()
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes({"empty": b"", "cut": content[:-5], "garbage": b"\xff" + content[1:]}[damage])
    with pytest.raises(BundleError):
        WordVectors.open(folder)


@pytest.mark.parametrize("name", ["vectors.npy", "subwords.npy"])
def test_changed_numbers_are_noticed(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(BundleError, match="differ from the saved word vectors"):
        WordVectors.open(folder)
    assert len(WordVectors.open(folder, verify=False)) == 4


def test_swapped_words_are_noticed(folder, vectors):
    (folder / "words.json").write_text(json.dumps(vectors.words[::-1]))
    with pytest.raises(BundleError, match="differ from the saved word vectors"):
        WordVectors.open(folder)


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"n_words": 5}, {"subwords": None}, {"subwords": {"no": 1}}, {"subwords": 3}, {"is_public": "no"}],
)
def test_changed_manifest_is_noticed(folder, change):
    file = folder / "word_vectors.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(BundleError):
        WordVectors.open(folder)


def test_words_must_be_a_list(folder):
    (folder / "words.json").write_text('{"pain": 1, "b": 2, "c": 3, "d": 4}')
    with pytest.raises(BundleError):
        WordVectors.open(folder)


def test_pickled_arrays_are_refused(folder):
    np.save(folder / "vectors.npy", np.array([[object()] * 3] * 4), allow_pickle=True)
    with pytest.raises(BundleError, match="missing or damaged"):
        WordVectors.open(folder)


def array_with(shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(48)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vectors.npy", array_with("(" + "-" * 9000 + "1,)")),
        ("vectors.npy", array_with("(True, 3)")),
        ("vectors.npy", array_with("(4, 3000000000000)")),
        ("vectors.npy", b"PK\x03\x04" + bytes(64)),
        ("words.json", b"[" * 200_000),
        ("word_vectors.json", b'{"a":' * 100_000),
    ],
)
def test_hostile_files_are_refused(folder, name, content):
    """These ended in MemoryError, TypeError, BadZipFile and RecursionError."""
    (folder / name).write_bytes(content)
    with pytest.raises(BundleError, match="damaged"):
        WordVectors.open(folder)


def test_a_pipe_is_not_read(folder):
    for name in ("vectors.npy", "words.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(BundleError, match="missing or damaged|incomplete"):
            WordVectors.open(folder)


def test_no_such_folder(tmp_path):
    with pytest.raises(DataNotFoundError, match="no such folder"):
        WordVectors.open(tmp_path / "missing")
    with pytest.raises(BundleError, match="incomplete"):
        WordVectors.open(tmp_path)
