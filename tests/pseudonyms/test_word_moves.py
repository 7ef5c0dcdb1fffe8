import pickle

import numpy as np
import pytest

from sklearn_deid import WordVectors
from sklearn_deid.embeddings import NeighborIndex
from sklearn_deid.pseudonyms import (
    DigitsApart,
    ExponentialNeighbors,
    ExponentialVocabulary,
    NoisyNearest,
    UniformNeighbors,
)

N_DRAWS = 20_000


def all_of(vectors):
    return np.ones(len(vectors), dtype=bool)


def make(name, vectors, epsilon=3.0, n=4):
    index = NeighborIndex(vectors)
    return {
        "uniform": lambda: UniformNeighbors(index, n),
        "guarded": lambda: UniformNeighbors(index, n, guard_substring=True),
        "exponential": lambda: ExponentialNeighbors(index, n, epsilon),
        "vocabulary": lambda: ExponentialVocabulary(vectors, all_of(vectors), epsilon),
        "digits apart": lambda: DigitsApart(UniformNeighbors(index, n), digit_moves(vectors), is_digits(vectors)),
        "noisy": lambda: NoisyNearest(vectors, all_of(vectors), epsilon),
    }[name]()


def is_digits(vectors):
    return np.array([word.isdigit() for word in vectors.words])


def digit_moves(vectors):
    return UniformNeighbors(NeighborIndex(vectors, candidates=is_digits(vectors)), 2)


def dense(probabilities):
    return probabilities if isinstance(probabilities, np.ndarray) else probabilities.toarray()


@pytest.mark.parametrize("name", ["uniform", "guarded", "exponential", "vocabulary", "digits apart"])
def test_draws_have_the_stated_probabilities(vectors, name):
    moves, n_words = make(name, vectors), len(vectors)
    rows = np.repeat(np.arange(n_words), N_DRAWS // n_words)
    targets, _ = moves.draw(rows, np.random.default_rng(0))
    stated = dense(moves.probabilities(np.arange(n_words)))
    seen = np.zeros((n_words, n_words))
    np.add.at(seen, (rows, targets), n_words / N_DRAWS)
    np.testing.assert_allclose(stated.sum(axis=1), 1.0, atol=1e-12)
    assert (np.abs(seen - stated) < 5 * np.sqrt(stated * (1 - stated) * n_words / N_DRAWS) + 1e-12).all()


def test_one_neighbour_is_the_word_itself_and_all_are_a_uniform_choice(vectors):
    rows = np.arange(len(vectors))
    targets, ranks = make("uniform", vectors, n=1).draw(rows, np.random.default_rng(0))
    assert targets.tolist() == rows.tolist()
    assert set(ranks.tolist()) == {1}
    table = dense(make("uniform", vectors, n=len(vectors)).probabilities(rows))
    np.testing.assert_allclose(table, 1 / len(vectors))


@pytest.mark.parametrize("name", ["uniform", "guarded", "exponential", "vocabulary"])
def test_ranks_are_those_of_the_cosine(vectors, name):
    rows = np.tile(np.arange(len(vectors)), 20)
    targets, ranks = make(name, vectors).draw(rows, np.random.default_rng(1))
    table = vectors.matrix().astype(np.float64)
    order = np.argsort(np.argsort(-table @ table.T, axis=1), axis=1) + 1
    assert ranks.tolist() == order[rows, targets].tolist()


def test_digits_go_to_the_nearest_digits(vectors):
    moves = make("digits apart", vectors)
    rows, table = np.flatnonzero(is_digits(vectors)), vectors.matrix().astype(np.float64)
    targets, _ = moves.support(rows)
    for row, near in zip(rows, targets[:, :2], strict=True):
        assert near.tolist() == rows[np.argsort(-table[rows] @ table[row])][:2].tolist()
    others = np.flatnonzero(~is_digits(vectors))
    np.testing.assert_array_equal(moves.support(others)[0], make("uniform", vectors).support(others)[0])
    assert not moves.n_without_enough(np.arange(len(vectors))).any()


def test_guard_leaves_no_word_that_holds_the_source(vectors):
    moves = make("guarded", vectors, n=6)
    words = [word.casefold() for word in vectors.words]
    targets, _ = moves.support(np.arange(len(words)))
    for source, row in zip(words, targets.tolist(), strict=True):
        assert len(set(row)) == 6
        assert not any(source in words[t] or words[t] in source for t in row)


def test_guard_takes_the_nearest_that_are_left(vectors):
    table = vectors.matrix().astype(np.float64)
    words = [word.casefold() for word in vectors.words]
    targets, _ = make("guarded", vectors, n=3).support(np.arange(len(words)))
    for row, source in enumerate(words):
        free = [t for t in np.argsort(-table @ table[row]) if source not in words[t] and words[t] not in source]
        assert targets[row].tolist() == free[:3]


def test_guard_says_which_words_have_too_few():
    vectors = WordVectors(["oak", "oaks", "oaken", "birch"], np.eye(4))
    moves = UniformNeighbors(NeighborIndex(vectors), 2, guard_substring=True)
    assert moves.n_without_enough(np.arange(4)).tolist() == [True, False, False, False]


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-39, 1e-10])
def test_noise_of_a_tiny_epsilon_is_finite(vectors, epsilon):
    """Infinite noise has no nearest word, so that every word became the first word of the table."""
    moves, rows = make("noisy", vectors, epsilon), np.zeros(400, dtype=np.int64)
    assert np.isfinite(np.square(moves.noisy(rows, np.random.default_rng(0)))).all()
    targets, _ = moves.draw(rows, np.random.default_rng(0))
    others, _ = make("noisy", vectors, 1e-10).draw(rows, np.random.default_rng(0))
    assert targets.tolist() == others.tolist() and len(set(targets.tolist())) > len(vectors) // 2


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_metric_privacy_of_the_exponential_mechanism(vectors, epsilon):
    """P(r | w) <= exp(epsilon d(w, w')) P(r | w') for all words and releases."""
    table = dense(make("vocabulary", vectors, epsilon).probabilities(np.arange(len(vectors))))
    unit = vectors.matrix().astype(np.float64)
    distance = np.linalg.norm(unit[:, None] - unit[None], axis=2)
    ratio = np.log(table[:, None]) - np.log(table[None])
    assert (ratio <= epsilon * distance[:, :, None] + 1e-6).all()


def test_words_with_equal_vectors_cannot_be_told_apart():
    """Products of float32 put equal vectors 0.0003 apart."""
    rows = np.random.default_rng(0).normal(size=(40, 50))
    vectors = WordVectors([f"w{i}" for i in range(80)], np.concatenate([rows, rows]))
    table = ExponentialVocabulary(vectors, all_of(vectors), 100.0).probabilities(np.arange(80))
    np.testing.assert_allclose(table[:40], table[40:], rtol=1e-5)


@pytest.mark.parametrize("kind", [ExponentialVocabulary, NoisyNearest])
def test_a_word_that_no_other_word_can_become_does_not_become_itself(kind):
    """As a surrogate it would show the original with certainty."""
    vectors = WordVectors(["alder", "birch", "two words"], np.eye(3))
    moves = kind(vectors, np.array([True, True, False]), 50.0)
    assert set(moves.draw(np.full(500, 2), np.random.default_rng(0))[0].tolist()) == {0, 1}
    with pytest.raises(ValueError, match="can be a surrogate"):
        kind(vectors, np.zeros(3, dtype=bool), 1.0)


def test_noise_and_nearest_word_have_the_stated_probabilities():
    """MADLIB in the plane, integrated over the directions: given a direction, the length at which a word is nearest."""
    epsilon, angles = 3.0, np.array([0.0, 0.5, 1.6, 3.0, 4.4])
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vectors = WordVectors([f"w{i}" for i in range(5)], table)
    radius, turn = np.meshgrid(np.linspace(0.0, 12.0, 2401)[1:] - 0.0025, np.linspace(0.0, 2 * np.pi, 1440, False))
    weight = radius * np.exp(-epsilon * radius)
    exact = np.zeros((5, 5))
    for w in range(5):
        noisy = table[w] + radius[..., None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        exact[w] = np.bincount((noisy @ table.T).argmax(axis=-1).ravel(), weight.ravel(), 5) / weight.sum()
    rows = np.repeat(np.arange(5), 20_000)
    seen = np.zeros((5, 5))
    np.add.at(seen, (rows, NoisyNearest(vectors, all_of(vectors), epsilon).draw(rows, np.random.default_rng(0))[0]), 1)
    assert np.abs(seen / 20_000 - exact).max() < 0.015
    distance = np.linalg.norm(table[:, None] - table[None], axis=2)
    assert (np.log(exact[:, None]) - np.log(exact[None]) <= epsilon * distance[:, :, None] + 1e-3).all()


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_privacy_of_the_exponential_mechanism_over_one_set_of_neighbours(vectors, epsilon):
    """P(r | w) <= exp(epsilon) P(r | w') if all words have the same output set."""
    n = len(vectors)
    table = dense(make("exponential", vectors, epsilon, n).probabilities(np.arange(n)))
    assert (np.log(table[:, None]) - np.log(table[None]) <= epsilon + 1e-6).all()


@pytest.mark.parametrize("seed", range(3))
def test_privacy_of_the_exponential_mechanism_among_words_of_one_direction(seed):
    """In float32, such vectors differ in length, so that another word than the word itself can have the best score."""
    lengths = np.random.default_rng(seed).uniform(0.1, 9.0, size=(6, 1))
    nearly = lengths * np.array([[0.3, 0.9, -0.2]]) + 1e-7 * np.random.default_rng(seed).standard_normal((6, 3))
    vectors = WordVectors(list("abcdef"), nearly, is_public=True)
    table = dense(make("exponential", vectors, 1.0, 6).probabilities(np.arange(6)))
    assert (np.log(table[:, None]) - np.log(table[None]) <= 1.0 + 1e-6).all()
    dense(make("exponential", vectors, 1e6, 6).probabilities(np.arange(6)))  # no overflow


def test_metric_privacy_of_noise(vectors):
    """Seen frequencies stay below the bound by no more than their sampling error."""
    epsilon, n = 2.0, 40_000
    moves = make("noisy", vectors, epsilon)
    pair = np.array([0, 1])
    targets, _ = moves.draw(np.repeat(pair, n), np.random.default_rng(0))
    seen = np.stack([np.bincount(part, minlength=len(vectors)) for part in np.split(targets, 2)]) / n
    unit = vectors.matrix()
    bound = np.exp(epsilon * np.linalg.norm(unit[0] - unit[1]))
    error = 4 * np.sqrt(seen.max() / n) * (1 + bound)
    assert (seen[0] <= bound * seen[1] + error).all()
    assert (seen[1] <= bound * seen[0] + error).all()


def test_noise_has_the_stated_length(vectors):
    """With a huge epsilon nothing moves; with a tiny one the direction is uniform, whatever the word."""
    rows = np.repeat(np.arange(len(vectors)), 2_000)
    rng = np.random.default_rng(0)
    still, ranks = make("noisy", vectors, 1e4).draw(rows, rng)
    assert still.tolist() == rows.tolist()
    assert set(ranks.tolist()) == {1}
    far, _ = make("noisy", vectors, 1e-3).draw(rows, rng)
    seen = np.zeros((len(vectors), len(vectors)))
    np.add.at(seen, (rows, far), 1 / 2_000)
    assert np.abs(seen - seen.mean(axis=0)).max() < 0.06


def test_exponential_neighbours_with_tiny_epsilon_are_uniform(vectors):
    rows = np.arange(len(vectors))
    near = dense(make("exponential", vectors, 1e-9).probabilities(rows))
    np.testing.assert_allclose(near, dense(make("uniform", vectors).probabilities(rows)), atol=1e-9)


def test_words_that_are_no_candidates_are_never_reached(vectors):
    candidates = all_of(vectors)
    candidates[[2, 5]] = False
    rows = np.repeat(np.arange(len(vectors)), 200)
    for moves in (ExponentialVocabulary(vectors, candidates, 0.1), NoisyNearest(vectors, candidates, 0.1)):
        targets, _ = moves.draw(rows, np.random.default_rng(0))
        moved = targets != rows
        assert not np.isin(targets[moved], [2, 5]).any()


@pytest.mark.parametrize("name", ["uniform", "guarded", "exponential", "vocabulary", "digits apart", "noisy"])
def test_pickle_holds_no_trace_of_the_words_asked_for(vectors, name):
    moves = make(name, vectors)
    before = pickle.dumps(moves)
    moves.draw(np.array([3, 1]), np.random.default_rng(0))
    assert len(pickle.dumps(moves)) == len(before)


@pytest.mark.parametrize("name", ["uniform", "guarded", "exponential", "vocabulary", "digits apart", "noisy"])
def test_nothing_to_draw(vectors, name):
    targets, ranks = make(name, vectors).draw(np.zeros(0, dtype=np.int64), np.random.default_rng(0))
    assert targets.shape == ranks.shape == (0,)
