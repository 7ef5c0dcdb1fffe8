"""Combining updates, against NumPy and against a malicious minority."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    AGGREGATES,
    SparseUpdate,
    aggregate,
    clip_norm,
    combine_round,
    coordinate_median,
    robust,
    trimmed_mean,
)

from .learners import MODEL

FINITE = st.floats(-1e6, 1e6, width=32)
STACKS = hnp.arrays(np.float32, st.tuples(st.integers(1, 7), st.integers(0, 12)), elements=FINITE)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(robust, "_BLOCK", 5)


@given(STACKS, st.data())
def test_trimmed_mean_and_median_are_those_of_sorted_values(stack, data):
    n_trim = data.draw(st.integers(0, (len(stack) - 1) // 2))
    expected = [np.mean(sorted(column)[n_trim : len(column) - n_trim], dtype=np.float64) for column in stack.T]
    np.testing.assert_allclose(trimmed_mean(list(stack), n_trim), np.array(expected), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        coordinate_median(list(stack)), np.median(stack.astype(np.float64), axis=0), rtol=1e-6, atol=1e-37
    )


@given(hnp.arrays(np.float32, (5, 4), elements=FINITE), hnp.arrays(np.float32, (2, 4)), st.permutations(range(7)))
def test_a_minority_cannot_leave_the_range_of_the_others(honest, malicious, order):
    malicious = np.nan_to_num(malicious, nan=3e38)
    vectors = list(np.concatenate([honest, malicious])[list(order)])
    for combined in (trimmed_mean(vectors, 2), coordinate_median(vectors)):
        slack = 1e-6 * np.abs(honest).max() + 1e-6
        assert (combined >= honest.min(axis=0) - slack).all()
        assert (combined <= honest.max(axis=0) + slack).all()


@given(STACKS, st.data())
def test_the_mean_is_weighted(stack, data):
    weights = data.draw(st.lists(st.floats(0.125, 8), min_size=len(stack), max_size=len(stack)))
    expected = np.average(stack.astype(np.float64), axis=0, weights=weights)
    np.testing.assert_allclose(aggregate(list(stack), weights=weights), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("how", AGGREGATES)
def test_what_was_not_sent_is_zero(how):
    sent = [SparseUpdate(np.array([i]), np.array([6.0], np.float32), 3, MODEL) for i in (0, 0, 1)]
    expected = {"mean": [4, 2, 0], "median": [6, 0, 0], "trimmed_mean": [6, 0, 0]}
    assert aggregate(sent, how).tolist() == expected[how]


@given(hnp.arrays(np.float32, st.integers(0, 30), elements=FINITE), st.floats(1e-3, 1e3))
def test_norms_are_bounded_and_directions_stay(vector, bound):
    short = clip_norm(vector, bound)
    assert np.linalg.norm(short.astype(np.float64)) <= bound
    if np.linalg.norm(vector.astype(np.float64)) <= bound:
        np.testing.assert_array_equal(short, vector)
    else:
        cosine = (short.astype(np.float64) @ vector) / np.linalg.norm(vector.astype(np.float64))
        assert cosine == pytest.approx(bound, rel=1e-4)


def test_what_cannot_be_combined():
    one, two = np.zeros(2, np.float32), np.zeros(3, np.float32)
    with pytest.raises(ExchangeError, match="At least one vector"):
        aggregate([])
    with pytest.raises(ExchangeError, match="the same length"):
        aggregate([one, two])
    with pytest.raises(ValueError, match="must be one of mean, median"):
        aggregate([one], "mode")
    with pytest.raises(ValueError, match="from 0 to 0 for 2 workers"):
        aggregate([one, one], "trimmed_mean", 1)
    with pytest.raises(ValueError, match="unless how='mean'"):
        aggregate([one], "median", weights=[1])
    for weights in ([1], [-1, 2], [0, 0], [np.inf, 1], [np.nan, 1]):
        with pytest.raises(ValueError, match="one number of at least 0 for each worker"):
            aggregate([one, one], weights=weights)


@pytest.mark.parametrize("how", AGGREGATES)
@pytest.mark.parametrize("n_workers", [3, 5])
def test_a_round_without_a_long_update_needs_no_smaller_trim(how, n_workers):
    """Two of three are left, of which a trimmed mean can leave out none; the long one counts for nothing."""
    honest = [np.full(3, value, np.float32) for value in (1.0, 2.0, 4.0, 5.0)[: n_workers - 1]]
    combined, left_out = combine_round([*honest, np.full(3, -99, np.float32)], how, n_trim=1, max_ratio=5.0)
    assert left_out == [n_workers - 1]
    assert combined.tolist() == [{3: 1.5, 5: 3.0}[n_workers]] * 3


@given(hnp.arrays(np.float32, (4, 6), elements=FINITE), hnp.arrays(np.float64, 4, elements=st.floats(1e-3, 1e6)))
def test_updates_are_shrunk_to_bounds_of_their_own(stack, longest):
    norms = np.linalg.norm(stack.astype(np.float64), axis=1)
    expected = stack * np.minimum(1, longest / np.maximum(norms, 1e-300))[:, None]
    combined, left_out = combine_round(list(stack), longest=longest.tolist())
    assert left_out == []
    np.testing.assert_allclose(combined, expected.mean(axis=0), rtol=1e-5, atol=3e-6 * norms.max() + 1e-37)


def test_a_round_without_a_limit_leaves_nothing_out():
    vectors = [np.zeros(2, np.float32)] * 2 + [np.ones(2, np.float32)]
    for max_ratio in (np.inf, 5.0):  # the median norm is 0: whoever learned nothing sets no limit
        assert combine_round(vectors, "median", max_ratio=max_ratio)[1] == []
    assert combine_round(vectors[1:] * 1, max_ratio=1.0)[1] == []
