"""Characters and shapes of words as classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.text import N_CHARACTER_CLASSES, N_SHAPE_CLASSES, character_ids, shape_ids, word_shape

WORDS = st.lists(st.text(max_size=40), max_size=10)


@given(WORDS, st.integers(2, 30))
def test_each_character_has_a_class_of_its_code_point(words, length):
    ids = character_ids(words, length)
    assert ids.shape == (len(words), length)
    for word, row in zip(words, ids.tolist(), strict=True):
        half = length // 2
        kept = word if len(word) <= length else word[: length - half] + word[len(word) - half :]
        assert row == [ord(c) % (N_CHARACTER_CLASSES - 1) + 1 for c in kept] + [0] * (length - len(kept))


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("Anderson", "Xxx"),
        ("MRI", "XX"),
        ("A", "X"),
        ("2019", "dd"),
        ("", ""),
        ("Ñuñez", "Xxx"),
        ("\u0664\u0664", "dd"),
        ("--", "--"),
    ],
)
def test_shapes(word, shape):
    assert word_shape(word) == shape


@given(st.text(max_size=30))
def test_shape_is_that_of_its_characters(word):
    def sign(c):
        if c.isdecimal():
            return "d"
        return ("X" if c.isupper() else "x") if c.isalnum() else c

    signs = [sign(c) for c in word]
    kept = [s for i, s in enumerate(signs) if not (i >= 2 and s == signs[i - 1] == signs[i - 2] and s != "\n")]
    assert word_shape(word).replace("\n", "") == "".join(kept).replace("\n", "")


def test_shape_classes_keep_zero_free():
    ids = shape_ids([chr(c) * n for c in range(33, 500) for n in (1, 2)])
    assert ids.min() >= 1
    assert ids.max() < N_SHAPE_CLASSES
    assert ids.dtype == np.int64


@pytest.mark.parametrize(("length", "expected"), [(1, [[98]]), (2, [[98, 100]])])
def test_words_of_one_character(length, expected):
    """With a length of 1, the last ``length // 2`` characters were all characters, and numpy raised an error."""
    assert character_ids(["abc"], max_length=length).tolist() == expected
