"""The n-gram hash against gensim's, byte for byte, and the table against gensim's vectors of unseen words."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gensim.models.fasttext_inner import compute_ngrams_bytes, ft_hash_bytes
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.embeddings import SubwordTable, ngram_hashes, normalise_words

LENGTHS = [(3, 6), (1, 1), (1, 2), (2, 5), (6, 6), (1, 9)]
WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=8)


@pytest.fixture()
def table() -> SubwordTable:
    return SubwordTable(np.random.RandomState(0).normal(size=(97, 5)))


@given(words=WORDS, lengths=st.sampled_from(LENGTHS))
def test_hashes_are_those_of_gensim(words, lengths):
    hashes, offsets = ngram_hashes(words, *lengths)
    assert hashes.dtype == np.uint32
    assert len(offsets) == len(words) + 1
    for i, word in enumerate(words):
        expected = [ft_hash_bytes(ngram) for ngram in compute_ngrams_bytes(word, *lengths)]
        assert hashes[offsets[i] : offsets[i + 1]].tolist() == expected


def test_hash_takes_bytes_as_signed():
    # FNV-1a by hand over "<ñ>" = 3c c3 b1 3e; a byte above 127 is extended to 32 bits with ones.
    state = 2166136261
    for byte in (0x3C, 0xFFFFFFC3, 0xFFFFFFB1, 0x3E):
        state = ((state ^ byte) * 16777619) % 2**32
    assert ngram_hashes(["ñ"])[0].tolist() == [state]


def test_words_without_ngrams_own_nothing():
    hashes, offsets = ngram_hashes(["", "cat", ""])
    assert offsets.tolist() == [0, 0, 6, 6]
    assert len(hashes) == 6
    assert [part.tolist() for part in ngram_hashes([])] == [[], [0]]


def test_lone_surrogate_has_a_hash():
    assert len(ngram_hashes(["\ud800ab"])[0]) == 6


@pytest.mark.parametrize(("min_n", "max_n"), [(0, 3), (4, 3)])
def test_lengths_are_checked(min_n, max_n):
    with pytest.raises(ValueError, match=r"'min_n' parameter must be in \[1, max_n\]"):
        ngram_hashes(["cat"], min_n, max_n)
    with pytest.raises(ValueError, match=r"'min_n' parameter must be in \[1, max_n\]"):
        SubwordTable(np.ones((2, 2)), min_n, max_n)


def test_normalise_composes_and_lowers():
    assert normalise_words(["JOSE\u0301", "ABC"]) == ["josé", "abc"]
    assert normalise_words(["JOSE\u0301", "ABC"], lower=False) == ["JOSÉ", "ABC"]


def test_vectors_are_means_of_rows(table):
    words = ["hospital", "Ñandú", "", "hospital"]
    ids, offsets = table.ngram_ids(words)
    assert ids.dtype == np.int64
    assert ids.max() < table.bucket
    vectors = table.vectors_for(words)
    for i, vector in enumerate(vectors):
        rows = table.table[ids[offsets[i] : offsets[i + 1]]]
        expected = rows.astype(np.float64).mean(0) if len(rows) else np.zeros(5)
        np.testing.assert_allclose(vector, expected, atol=1e-6)


def test_a_word_has_one_vector_wherever_it_stands(table, monkeypatch):
    words = [f"word{i}" for i in range(50)]
    together = table.vectors_for(words)
    monkeypatch.setattr("sklearn_deid.embeddings.subwords._WORDS_AT_ONCE", 7)
    np.testing.assert_array_equal(table.vectors_for(words[::-1])[::-1], together)
    assert table.vectors_for([]).shape == (0, 5)


def test_unit_vectors(table):
    lengths = np.linalg.norm(table.vectors_for(["fever", ""], unit=True), axis=1)
    np.testing.assert_allclose(lengths, [1, 0], atol=1e-6)


def test_lower_decides_about_case(table):
    cased = SubwordTable(table.table, lower=False)
    np.testing.assert_array_equal(table.vectors_for(["PAIN"]), table.vectors_for(["pain"]))
    assert not np.array_equal(cased.vectors_for(["PAIN"]), cased.vectors_for(["pain"]))
    assert cased.checksum != table.checksum


def test_one_string_is_no_sequence_of_words(table):
    with pytest.raises(TypeError, match="wrap it"):
        table.vectors_for("pain")


def test_shape_is_checked():
    with pytest.raises(ValueError, match=r"must have shape \(bucket, dim\)"):
        SubwordTable(np.ones(3))


def test_immutable_so_copies_are_free(table):
    assert copy.deepcopy(table) is copy.copy(table) is table
    with pytest.raises(ValueError, match="read-only"):
        table.table[0] = 0
    loaded = pickle.loads(pickle.dumps(table))
    assert loaded.checksum == table.checksum
    assert repr(loaded) == "SubwordTable(bucket=97, dim=5, n-grams 3-6)"


def test_the_given_array_stays_writable_and_uncopied():
    array = np.ones((3, 2), dtype=np.float32)
    table = SubwordTable(array)
    array[0, 0] = 1.0
    assert np.shares_memory(table.table, array)
