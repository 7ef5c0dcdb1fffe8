"""Looking words up: spellings, unknown words, unit length, immutability."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from sklearn_deid.embeddings import SubwordTable, WordVectors, word_forms

ANY_TOKENS = st.lists(
    st.one_of(st.sampled_from(["pain", "PAIN", "paris", "JOSE\u0301", "123", "??"]), st.text(max_size=4))
)


@pytest.mark.parametrize(
    ("token", "stored"),
    [
        ("pain", "pain"),
        ("PAIN", "pain"),
        ("PARIS", "Paris"),
        ("JOSE\u0301", "josé"),
        ("\uff50\uff41\uff49\uff4e", "pain"),  # full-width letters
        ("731", "000"),
        ("\u0661\u0662\u0663", "000"),  # Arabic-Indic digits
    ],
)
def test_spellings(small_vectors, token, stored):
    assert token in small_vectors
    assert small_vectors.index(token) == small_vectors.words.index(stored)
    np.testing.assert_array_equal(small_vectors.vectors_for([token]), small_vectors.vectors_for([stored]))


def test_the_spelling_as_it_is_comes_first():
    vectors = WordVectors(["us", "US", "12", "00"], np.eye(4))
    assert vectors.indices(["US", "us", "Us", "12", "99"]).tolist() == [1, 0, 0, 2, 3]


def test_hash_sign_for_digits():
    assert WordVectors(["##"], [[1.0]]).indices(["42", "4"]).tolist() == [0, -1]


def test_unknown_tokens(small_vectors):
    found = small_vectors.lookup(["pain", "Zzyx", "", "fever"])
    assert found.unknown.tolist() == [False, True, True, False]
    assert not found.vectors[1:3].any()
    assert "Zzyx" not in small_vectors
    assert 3 not in small_vectors
    assert small_vectors.indices(["Zzyx"]).tolist() == [-1]


def test_the_error_does_not_repeat_the_word(small_vectors):
    with pytest.raises(KeyError, match="not stored") as caught:
        small_vectors.index("Quillfeather")
    assert "Quillfeather" not in str(caught.value)


def test_unknown_words_by_their_ngrams():
    table = SubwordTable(np.random.RandomState(0).normal(size=(50, 3)))
    vectors = WordVectors(["pain"], [[0, 0, 2.0]], subwords=table)
    found = vectors.lookup(["pain", "painless", ""])
    assert found.unknown.tolist() == [False, False, True]
    np.testing.assert_array_equal(found.vectors[1:2], table.vectors_for(["painless"], unit=True))
    assert repr(vectors) == "WordVectors(n_words=1, dim=3, subwords, private)"


@given(tokens=ANY_TOKENS)
def test_each_token_alone_as_among_others(tokens):
    vectors = WordVectors(["pain", "fever", "Paris", "josé", "000"], np.eye(5, 4) + 0.25)
    together = vectors.lookup(tokens)
    assert together.vectors.dtype == np.float32
    assert together.vectors.shape == (len(tokens), 4)
    rows = vectors.indices(tokens)
    assert (together.unknown == (rows < 0)).all()
    for i, token in enumerate(tokens):
        first = next((form for form in word_forms(token) if form in vectors.words), None)
        expected = np.zeros(4) if first is None else vectors.matrix()[vectors.words.index(first)]
        np.testing.assert_array_equal(together.vectors[i], expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_have_length_one(order):
    raw = np.asarray(np.random.RandomState(0).normal(size=(6, 4)), dtype=np.float32, order=order)
    raw[2] = 0
    vectors = WordVectors("abcdef", raw)
    expected = raw / np.maximum(np.linalg.norm(raw.astype(float), axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(vectors.matrix(), expected, atol=1e-6)
    np.testing.assert_array_equal(np.concatenate(list(vectors.blocks(4))), vectors.matrix())
    np.testing.assert_array_equal(vectors.vectors_at([3, 0]), vectors.matrix()[[3, 0]])
    assert len(vectors) == 6
    assert vectors.dim == 4


def test_unit_vectors_are_not_copied():
    unit = np.eye(3, dtype=np.float32)
    assert np.shares_memory(WordVectors("abc", unit).matrix(), unit)


def test_checksum_is_of_the_content():
    raw = np.random.RandomState(0).normal(size=(3, 4)).astype(np.float32)
    same = {WordVectors("abc", array).checksum for array in (raw, raw * 2, np.asfortranarray(raw))}
    assert len(same) == 1
    others = {WordVectors("abd", raw).checksum, WordVectors("abc", raw[::-1]).checksum}
    others.add(WordVectors("abc", raw, subwords=SubwordTable(raw)).checksum)
    assert len(same | others) == 4


def test_immutable_so_copies_are_free(small_vectors):
    class Holder(BaseEstimator):
        def __init__(self, embeddings=None):
            self.embeddings = embeddings

    assert clone(Holder(small_vectors)).embeddings is small_vectors
    assert copy.deepcopy(small_vectors) is copy.copy(small_vectors) is small_vectors
    loaded = pickle.loads(pickle.dumps(small_vectors))
    assert loaded.checksum == small_vectors.checksum
    small_vectors.words.clear()
    assert len(small_vectors.words) == 5


def test_repr_holds_no_word(small_vectors):
    assert repr(small_vectors) == "WordVectors(n_words=5, dim=4, private)"


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (["a"], [[1.0], [2.0]], r"must have shape \(1, dim\)"),
        (["a"], [1.0], r"must have shape \(1, dim\)"),
        (["a", "b", "a"], [[1.0]] * 3, "must be distinct. 1 are repeated"),
        (["a", 3], [[1.0]] * 2, "must hold strings"),
        (["a", "b"], [[1.0], [np.nan]], "1 rows of 'vectors' hold NaN.*first: 1"),
        (["a"], [[np.inf]], "1 rows of 'vectors' hold NaN"),
    ],
)
def test_what_does_not_fit(words, vectors, message):
    with pytest.raises(ValueError, match=message):
        WordVectors(words, vectors)


def test_only_true_declares_vectors_public():
    with pytest.raises(TypeError, match="'is_public' parameter of WordVectors must be True or False. Got 'no'"):
        WordVectors(["a"], [[1.0]], is_public="no")


def test_subwords_of_another_width():
    with pytest.raises(ValueError, match="'subwords' parameter of WordVectors must have dim 1"):
        WordVectors(["a"], [[1.0]], subwords=SubwordTable(np.ones((4, 2))))


def test_one_string_is_no_sequence_of_tokens(small_vectors):
    with pytest.raises(TypeError, match="wrap it"):
        small_vectors.vectors_for("pain")
