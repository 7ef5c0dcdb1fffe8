"""Words with a property that were left unchanged are named, and bounds of tails are no smaller than the tails."""

import numpy as np
import pytest

from sklearn_deid.audit.attacks import KeptTokensAttack
from sklearn_deid.audit.attacks.kept_by_property import tails_of_parts
from sklearn_deid.audit.attacks.kept_tokens import FALSE_ALARM, tail_of_sum
from sklearn_deid.audit.attacks.word_draws import WordDraws

N, CHANCE = 3000, 0.02
RNG = np.random.default_rng(0)
LENGTHS = np.where(RNG.random(N) < 0.06, 9, 4)
WORDS = [str(number) for number in RNG.integers(10 ** (LENGTHS - 1), 10**LENGTHS)]


class Known(KeptTokensAttack):
    """Probabilities are given, or three simulated releases."""

    n_simulated = 0

    def _chances(self, released):
        if self.n_simulated:
            return (np.random.default_rng(1).random((self.n_simulated, N)) < CHANCE).astype(float)
        return np.full((1, N), CHANCE)


def result(left, n_simulated=0, seed=2):
    rng = np.random.default_rng(seed)
    kept = (rng.random(N) < CHANCE) | (rng.random(N) < left)
    labels, patients, sentences = rng.integers(12, size=N), np.arange(N) // 75, np.arange(N) // 3
    spellings, numbers = [(word,) for word in WORDS], tuple(f"L{i}" for i in range(12))
    draws = WordDraws(WORDS, spellings, kept, np.zeros(N), labels, numbers, patients, sentences, np.arange(N))
    attack = Known()
    attack._mechanism, attack.n_simulated = None, n_simulated
    return attack.attack(draws)


@pytest.mark.parametrize("n_simulated", [0, 3])
@pytest.mark.parametrize(
    ("left", "name"),
    [
        (np.where(LENGTHS == 9, 0.25, 0.0), "length of the word"),
        (np.where(np.arange(N) >= 0.95 * N, 0.25, 0.0), "place in the release"),
        (np.where([word[0] == "7" and len(word) == 4 for word in WORDS], 0.2, 0.0), "first letter"),
    ],
)
def test_words_with_a_property_that_were_left_are_named(left, name, n_simulated):
    assert name in result(left, n_simulated).failures[0]


@pytest.mark.parametrize("n_simulated", [0, 3])
def test_words_that_were_drawn_are_not_named(n_simulated):
    assert result(0.0, n_simulated).status == "ok"


def test_intact_releases_are_not_named():
    """Ten releases, each at a level of a sixth of .0005 for all properties."""
    found = [result(0.0, seed=100 + seed) for seed in range(10)]
    assert all(one.status == "ok" for one in found) and FALSE_ALARM < 1e-3


def test_bounds_are_no_smaller_than_the_tails():
    rng = np.random.default_rng(3)
    for _ in range(60):
        chances = rng.random(12) ** 3
        for kept in range(13):
            bound = tails_of_parts(np.array([kept]), np.array([12]), np.array([[chances.sum()]]))[0]
            assert bound >= tail_of_sum(kept, chances) - 1e-12
