"""Casing classes against a table made by hand and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.text import CASING_CLASSES, casing_class, casing_ids

TABLE = [
    ("", "other"),
    ("-", "other"),
    ("xY", "other"),
    ("田", "other"),
    ("1", "numeric"),
    ("2019", "numeric"),
    ("٣٤", "numeric"),
    ("12a", "mainly_numeric"),  # more than half
    ("1234AB", "mainly_numeric"),
    ("A1", "upper"),  # exactly half is not mainly; upper case is tested before "contains a digit"
    ("a1", "lower"),
    ("pain", "lower"),
    ("ß", "lower"),
    ("º", "lower"),
    ("MRI", "upper"),
    ("A", "upper"),
    ("Éa", "initial_upper"),
    ("McCoy", "initial_upper"),
    ("Ab1", "initial_upper"),
    ("aB1", "contains_digit"),
    ("-1--", "contains_digit"),
]


@pytest.mark.parametrize(("token", "expected"), TABLE)
def test_table(token, expected):
    assert CASING_CLASSES[casing_class(token)] == expected


def test_indices_of_the_classes():
    assert CASING_CLASSES == (
        "other",
        "numeric",
        "mainly_numeric",
        "lower",
        "upper",
        "initial_upper",
        "contains_digit",
    )


@given(st.lists(st.text(max_size=4)))
def test_many_tokens_as_one_by_one(tokens):
    ids = casing_ids(tokens)
    assert ids.dtype == np.int64
    assert ids.shape == (len(tokens),)
    assert ids.tolist() == [casing_class(token) for token in tokens]


def test_arrays_of_tokens():
    tokens = np.array(["Mr", "12", "mr"], dtype=object)
    assert casing_ids(tokens).tolist() == [5, 1, 3]
