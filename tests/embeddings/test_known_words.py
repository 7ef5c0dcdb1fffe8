"""Vectors of n-grams with the public vectors of known words: against the vectors themselves."""

import copy

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sklearn_deid import DeidTagger, load, save
from sklearn_deid.embeddings import KnownWordTable, SubwordTable
from sklearn_deid.exceptions import BundleError
from tests.tagging.conftest import SMALL, make_sentences

NGRAMS = SubwordTable(np.random.default_rng(0).normal(size=(50, 4)))
WORDS = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), 6)).astype(np.float32)


@pytest.fixture(scope="module")
def table():
    return KnownWordTable.of(NGRAMS, WORDS, VECTORS, n_parts=3)


def test_few_vectors_are_stored_exactly(table):
    """With no more vectors than centroids, each part of each vector is its own centroid."""
    found = table.vectors_for(WORDS)
    assert np.array_equal(found[:, :4], NGRAMS.vectors_for(WORDS))
    np.testing.assert_allclose(found[:, 4:10], VECTORS, atol=1e-5)
    assert found.shape == (len(WORDS), table.dim) and (found[:, 10] == 1).all()


def test_many_vectors_are_rounded_to_the_nearest_centroid():
    vectors = np.random.default_rng(2).normal(size=(3000, 4)).astype(np.float32)
    table = KnownWordTable.of(NGRAMS, [f"w{i}" for i in range(3000)], vectors, n_parts=2)
    found = table.vectors_for([f"w{i}" for i in range(3000)])[:, 4:8].reshape(3000, 2, 2)
    distances = ((vectors.reshape(3000, 2, 1, 2) - table.centroids) ** 2).sum(-1)
    np.testing.assert_allclose(((vectors.reshape(3000, 2, 2) - found) ** 2).sum(-1), distances.min(-1), atol=1e-4)
    assert table.codes.dtype == np.uint8 and 1 - ((vectors.reshape(found.shape) - found) ** 2).mean() > 0.95


def test_other_words_have_no_vector_and_no_mark(table):
    others = ["Okafor", "", "\ud800", "x" * 300, "a", "AKK"]
    assert np.array_equal(table.vectors_for(others)[:, 4:], np.zeros((6, 7)))
    assert table.vectors_for([]).shape == (0, table.dim)


def test_casing_and_composition_of_accents_do_not_matter():
    table = KnownWordTable.of(NGRAMS, ["josé", "b"], np.eye(2), n_parts=1)
    rows = table.vectors_for(["josé", "JOSÉ", "Jose\u0301"])
    assert np.array_equal(rows[0], rows[1]) and np.array_equal(rows[0], rows[2]) and rows[0, -1] == 1


def test_unit_vectors_have_length_one(table):
    np.testing.assert_allclose(np.linalg.norm(table.vectors_for([*WORDS, "Okafor"], unit=True), axis=1), 1, atol=1e-5)


def test_copies_are_the_object_and_checksums_tell_content(table):
    assert copy.deepcopy(table) is table
    again, other = (KnownWordTable.of(NGRAMS, WORDS, V, n_parts=3) for V in (VECTORS, VECTORS + 1))
    assert table.checksum == again.checksum != other.checksum and table.checksum != NGRAMS.checksum


@pytest.mark.parametrize(
    ("words", "vectors"), [(WORDS, VECTORS[1:]), (WORDS, VECTORS[:, :5]), (WORDS[:6], VECTORS[0]), ([], VECTORS)]
)
def test_vectors_that_do_not_fit_are_refused(words, vectors):
    with pytest.raises(ValueError, match="must have a row for each of"):
        KnownWordTable.of(NGRAMS, words, vectors, n_parts=3)


@pytest.mark.parametrize("compact", [False, True])
def test_a_saved_tagger_brings_its_known_words(table, tmp_path, compact):
    X, y, _ = make_sentences(40)
    tagger = DeidTagger(**{**SMALL, "embeddings": table, "max_epochs": 1, "random_state": 0}).fit(X, y)
    save(tagger, tmp_path / "model", compact=compact)
    loaded = load(tmp_path / "model")
    rows = [*make_sentences(20, seed=1)[0], [*WORDS[:10], "Okafor"]]
    for left, right in zip(loaded.predict_proba(rows), tagger.predict_proba(rows), strict=True):
        np.testing.assert_allclose(left, right, atol=0.02 if compact else 0)
    assert loaded._vectors.vectors_for(WORDS)[:, -1].all()
    further = DeidTagger(**{**SMALL, "warm_start_from": tmp_path / "model", "embeddings": "auto", "max_epochs": 1})
    assert further.fit(X, y)._vectors.vectors_for(WORDS)[:, 10].all()


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("known.codes"),
        lambda arrays: arrays.update({"known.codes": arrays["known.codes"][1:]}),
        lambda arrays: arrays.update({"known.codes": arrays["known.codes"] + np.uint8(200)}),
        lambda arrays: arrays.update({"known.hashes": arrays["known.hashes"].astype(np.int64)}),
        lambda arrays: arrays.update({"known.centroids": arrays["known.centroids"][:, :, 1:].copy()}),
    ],
)
def test_damaged_known_words_are_refused(table, tmp_path, damage):
    X, y, _ = make_sentences(10)
    tagger = DeidTagger(**{**SMALL, "embeddings": table, "max_epochs": 1, "random_state": 0}).fit(X, y)
    save(tagger, tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "arrays.safetensors")
    damage(arrays)
    save_file(arrays, tmp_path / "model" / "arrays.safetensors")
    with pytest.raises(BundleError):
        load(tmp_path / "model")
