"""Texts of other rows are found in what is copied, in any order and in any parts."""

import numpy as np
import pytest

from sklearn_deid.text.row_copies import RowCopies


def text(row):
    return " ".join(f"{row}w{n}" for n in range(12))


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("is_lead", [False, True])
def test_each_copy_is_found_in_the_part_that_has_the_second_of_both(size, is_lead):
    """The hashes are kept in sorted arrays, which are merged now and then."""
    n, rng = 50, np.random.default_rng(size)
    for first in range(n):
        copies, second = RowCopies(), int(rng.integers(first, n))
        rows = [(text(row), None) for row in range(n)]
        rows[first] = (None, text("x")) if is_lead else (text("x"), None)
        rows[second] = (text("x"), rows[second][1]) if is_lead else (rows[second][0], [text("x").upper()])
        for start in range(0, n, size):
            copies.add("note", [row[0] for row in rows[start : start + size]])
            copies.add_copied(row[1] for row in rows[start : start + size])
            is_there = second < start + size
            assert (copies.repeated() == "note") == is_there
            if is_there:
                break


def test_the_column_of_the_text_is_named_and_other_values_are_ignored():
    copies = RowCopies()
    copies.add("note", [text(0), None, 3, float("nan"), text(1).encode()])
    copies.add("plan", [text(2), text(0)])
    copies.add_copied([None, 3, {"a": [text(3)]}, "a b"])
    assert copies.repeated() is None
    copies.add_copied([text(2).encode()])
    assert copies.repeated() == "plan"
    copies.add_copied([text(1)])
    assert copies.repeated() == "note"
