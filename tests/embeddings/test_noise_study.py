"""Noise study against ranks counted one by one, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from sklearn_deid.embeddings import WordVectors, noise_study

SCALES = [0.0, 0.1, 0.3, 1.0, 10.0]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    array = np.random.default_rng(0).normal(size=(500, 10))
    array[40:60] = array[40] * np.arange(1, 21)[:, None] / 3  # the same direction, up to rounding
    array[3] = 0
    return WordVectors([f"word{i}" for i in range(500)], array)


def counted_one_by_one(vectors, rows, scale, seed):
    unit = vectors.matrix().astype(np.float64)
    ranks = []
    for row, noise in zip(rows, np.random.RandomState(seed).standard_normal((len(rows), vectors.dim)), strict=True):
        noisy = unit[row] + scale * noise
        cosines = unit @ noisy / np.linalg.norm(noisy)
        cosines[~unit.any(axis=1)] = -np.inf
        ranks.append(1 + int((cosines > cosines[row] + 4e-6).sum()))  # equal vectors do not count
    return np.array(ranks)


@pytest.mark.parametrize("scale", SCALES)
def test_same_as_counting(vectors, scale):
    rows = np.arange(10, 200)
    study = noise_study(vectors, rows, [scale], random_state=5)
    ranks = counted_one_by_one(vectors, rows, scale, 5)
    assert study.found[0].tolist() == [np.mean(ranks <= limit) for limit in (1, 5, 10)]
    assert (study.ranks, study.n) == ((1, 5, 10), 190)


def test_no_noise_finds_every_word_duplicates_included(vectors):
    study = noise_study(vectors, np.arange(4, 500), [0.0], n_draws=2, random_state=0)
    assert (study.found == 1.0).all()
    assert (study.high == 1.0).all()
    assert study.mean_cosine == pytest.approx(1.0, abs=1e-6)
    assert study.n == 992


def test_more_noise_and_smaller_ranks_find_less(vectors):
    study = noise_study(vectors, np.arange(4, 500), SCALES, random_state=0)
    assert (np.diff(study.found[:, 0]) <= 0).all()
    assert (np.diff(study.found, axis=1) >= 0).all()
    assert (np.diff(study.mean_cosine) < 0).all()
    assert study.found[-1, 0] < 0.05


def test_much_noise_has_the_cosine_of_a_random_direction(vectors):
    study = noise_study(vectors, np.arange(4, 500), [1e6], n_draws=4, random_state=0)
    assert study.mean_cosine[0] == pytest.approx(0.0, abs=4 / np.sqrt(10 * study.n))


def test_intervals_are_wilson_intervals(vectors):
    study = noise_study(vectors, np.arange(4, 104), SCALES, random_state=0)
    for share, low, high in zip(study.found.ravel(), study.low.ravel(), study.high.ravel(), strict=True):
        interval = binomtest(round(share * study.n), study.n).proportion_ci(0.95, method="wilson")
        assert (low, high) == pytest.approx((interval.low, interval.high))


def test_a_scale_does_not_depend_on_the_others_and_a_seed_repeats(vectors):
    rows = np.arange(4, 100)
    together = noise_study(vectors, rows, SCALES, n_draws=2, random_state=1)
    alone = noise_study(vectors, rows[::-1], SCALES[2:3], n_draws=2, random_state=1)
    assert np.array_equal(together.found[2], alone.found[0])
    assert together.mean_cosine[2] == alone.mean_cosine[0]
    assert noise_study(vectors, rows, [0.3]).n == 96


def test_fewer_words_than_ranks():
    few = WordVectors(["a", "b"], np.eye(2))
    assert (noise_study(few, [0, 1], [100.0], random_state=0).found[:, 1:] == 1.0).all()
    assert (noise_study(WordVectors(["a"], [[1.0]]), [0], [0.5], random_state=0).found == 1.0).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([3, 4], [0.1]), {}, "1 of 2 'rows' have a vector of zeros"),
        (([500], [0.1]), {}, "from 0 to 499"),
        (([], [0.1]), {}, "at least one row"),
        (([4], [0.1]), {"n_draws": 0}, "Got 1 and 0"),
        (([4], []), {}, "'scales'"),
        (([4], [-0.1]), {}, "'scales'"),
        (([4], [np.nan]), {}, "'scales'"),
        (([4], 0.1), {}, "'scales'"),
    ],
)
def test_errors(vectors, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        noise_study(vectors, *arguments, **options)
