"""Sequence numbers that a server has applied, against a set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import Delivered

NUMBERS = st.integers(0, 12)


@given(st.lists(st.tuples(NUMBERS, st.booleans())))
def test_delivered_is_a_set(actions):
    seen, oracle = Delivered(), set()
    for number, add in actions:
        if add:
            assert seen.add(number) == (number not in oracle)
            oracle.add(number)
        else:
            seen.discard(number)
            oracle.discard(number)
    assert [n in seen for n in range(14)] == [n in oracle for n in range(14)]
    assert len(seen) == len(oracle)
    ranges = seen.ranges()
    assert all(first <= last for first, last in ranges)
    assert all(a[1] + 1 < b[0] for a, b in zip(ranges, ranges[1:], strict=False))
    assert Delivered(ranges).ranges() == ranges


@pytest.mark.parametrize("ranges", [[(3, 1)], [(0, 1), (2, 3)], [(4, 5), (0, 1)], [(-1, 2)], [(0, 2**60)], [(0, 1.5)]])
def test_ranges_that_are_none(ranges):
    with pytest.raises(ExchangeError, match="sequence number"):
        Delivered(ranges)
