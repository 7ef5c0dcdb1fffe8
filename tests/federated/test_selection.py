"""What is sent and downloaded, against the papers' words taken literally."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ServerLimits, n_shared, select_download, select_upload

from .literal import literal_candidates, literal_largest

DELTAS = hnp.arrays(np.float32, st.integers(0, 60), elements=st.floats(-4, 4, width=32))
FRACTIONS = st.floats(0, 1)
THRESHOLDS = st.sampled_from([0.0, 1e-4, 0.5, 2.0, 5.0])
CLIPS = st.sampled_from([0.25, 1.0, 3.0, float("inf")])


def pairs(chosen):
    return list(zip(chosen.indices.tolist(), chosen.values.tolist(), strict=True))


@given(DELTAS, FRACTIONS, THRESHOLDS, CLIPS, st.integers(0, 9))
def test_random_selection_is_a_part_of_the_candidates(delta, fraction, threshold, clip, seed):
    chosen = select_upload(delta, fraction, threshold, clip, "random", np.random.default_rng(seed))
    candidates = literal_candidates(np.zeros_like(delta), delta, threshold, clip)
    assert set(pairs(chosen)) <= {(j, float(value)) for j, value in candidates}
    assert len(pairs(chosen)) == min(len(candidates), n_shared(fraction, len(delta)))
    assert chosen.n_candidates == len(candidates)
    assert chosen.n_clipped == (np.abs(delta[chosen.indices]) > clip).sum()
    assert (np.diff(chosen.indices) > 0).all()
    assert chosen.values.dtype == np.float32


@given(st.permutations(range(1, 25)), FRACTIONS, THRESHOLDS, CLIPS)
def test_largest_selection_is_the_literal_one(order, fraction, threshold, clip):
    delta = np.array(order, dtype=np.float32) / 5 * np.resize([1, -1], len(order))
    chosen = select_upload(delta, fraction, threshold, clip, "largest", np.random.default_rng(0))
    expected = literal_largest(np.zeros_like(delta), delta, threshold, clip, n_shared(fraction, len(delta)))
    assert pairs(chosen) == [(j, float(value)) for j, value in expected]


@given(DELTAS)
def test_everything_goes_with_full_fractions(delta):
    chosen = select_upload(delta, 1.0, 0.0, float("inf"))
    rebuilt = np.zeros_like(delta)
    rebuilt[chosen.indices] = chosen.values
    np.testing.assert_array_equal(rebuilt, delta)
    assert (chosen.values != 0).all()


def test_the_threshold_is_exclusive_and_comes_before_the_clip():
    delta = np.array([0.5, -0.5, 0.50001, 20, -20], dtype=np.float32)
    chosen = select_upload(delta, 1.0, threshold=0.5, clip=0.25)
    assert pairs(chosen) == [(2, 0.25), (3, 0.25), (4, -0.25)]


def test_each_candidate_is_equally_likely():
    delta, rng, hits = np.array([0, 1, 9, 2, 3, 0, 7], dtype=np.float32), np.random.default_rng(0), np.zeros(7)
    for _ in range(5000):
        hits[select_upload(delta, 2 / 7, rng=rng).indices] += 1
    assert hits[[0, 5]].tolist() == [0, 0]
    np.testing.assert_allclose(hits[[1, 2, 3, 4, 6]], 2000, atol=5 * np.sqrt(5000 * 0.4 * 0.6))


def test_same_seed_same_selection():
    delta = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    one, two, three = (select_upload(delta, 0.1, rng=np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.indices, two.indices)
    assert not np.array_equal(one.indices, three.indices)


@given(hnp.arrays(np.int32, st.integers(0, 60), elements=st.integers(0, 4)), FRACTIONS, st.integers(0, 9))
def test_downloaded_are_the_most_updated(counts, fraction, seed):
    indices = select_download(counts, fraction, np.random.default_rng(seed))
    assert len(indices) == n_shared(fraction, len(counts))
    assert (np.diff(indices) > 0).all()
    assert sorted(counts[indices]) == sorted(counts)[len(counts) - len(indices) :]


@given(hnp.arrays(np.int32, st.integers(0, 60), elements=st.integers(0, 4)), FRACTIONS, st.integers(0, 9))
def test_random_downloads_are_of_what_was_updated(counts, fraction, seed):
    indices = select_download(counts, fraction, np.random.default_rng(seed), "random")
    assert len(indices) == n_shared(fraction, len(counts))
    assert (np.diff(indices) > 0).all()
    assert (counts[indices] > 0).sum() == min(len(indices), (counts > 0).sum())


def test_random_downloads_do_not_look_at_how_often():
    counts, rng, hits = np.array([0, 9, 1, 5, 0, 2]), np.random.default_rng(0), np.zeros(6)
    for _ in range(4000):
        hits[select_download(counts, 1 / 3, rng, "random")] += 1
    assert hits[[0, 4]].tolist() == [0, 0]
    np.testing.assert_allclose(hits[[1, 2, 3, 5]], 2000, atol=5 * np.sqrt(4000 * 0.5 * 0.5))


def test_unknown_download_selection_is_refused():
    with pytest.raises(ValueError, match="'download_selection' parameter must be one of most-updated, random, most"):
        select_download(np.zeros(3, int), 0.5, selection="newest")
    with pytest.raises(ValueError, match="of ServerLimits must be one of most-updated, random, most"):
        ServerLimits(download_selection="newest")


@given(st.floats(0, 1), st.integers(0, 10**9))
def test_never_more_than_the_fraction(fraction, size):
    assert 0 <= n_shared(fraction, size) <= min(size, fraction * size + 1e-6)


@pytest.mark.parametrize(
    ("fraction", "size", "n"), [(0.29, 100, 29), (0.1, 30, 3), (0.7, 10, 7), (1 / 3, 3, 1), (1.0, 7, 7)]
)
def test_fractions_that_mean_whole_numbers(fraction, size, n):
    assert n_shared(fraction, size) == n


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"upload_fraction": 1.5}, "from 0 to 1. Got 1.5"),
        ({"upload_fraction": float("nan")}, "from 0 to 1"),
        ({"threshold": -1.0}, "'threshold' parameter"),
        ({"clip": 0.0}, "'clip' parameter"),
        ({"clip": float("nan")}, "'clip' parameter"),
        ({"selection": "best"}, "must be one of random, largest. Got 'best'"),
    ],
)
def test_wrong_settings_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        select_upload(np.ones(3, dtype=np.float32), **arguments)


@pytest.mark.parametrize("delta", [[1, np.nan], [np.inf, 1], [[1, 2]]])
def test_what_is_no_finite_vector_is_refused(delta):
    with pytest.raises(ExchangeError, match="diverged|flat vector"):
        select_upload(np.array(delta, dtype=np.float32))
