"""Exact and plug-in attackers by themselves, against sums over all releases that are written out."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sklearn_deid.audit.bayes.bayes_attack import Target
from sklearn_deid.audit.bayes.bayes_reidentification import exact_attack, n_multisets, plug_in_attack

WORDS = ("alder", "birch", "maple")


class Tabulated:
    """Releases numbers with the probabilities of a table of shape (3, n_releases)."""

    def __init__(self, table):
        self.table = np.asarray(table)

    def probabilities(self, words):
        return csr_array(self.table[[WORDS.index(word) for word in words]])

    def sample(self, words, rng):
        cumulated = self.table.cumsum(axis=1)
        rows = [WORDS.index(word) for word in words]
        return (rng.random(len(rows))[:, None] > cumulated[rows]).sum(axis=1)


def target(table, n_releases, prior=(0.5, 0.3, 0.2)):
    return Target(Tabulated(table), WORDS, np.array(prior), n_releases, 0.05, 2**24)


def random_table(seed, n_columns=4):
    return np.random.default_rng(seed).dirichlet(np.ones(n_columns), size=len(WORDS))


def brute_force(table, prior, n_releases):
    columns = range(np.shape(table)[1])
    return sum(
        max(p * np.prod([table[w][c] for c in seen]) for w, p in enumerate(prior))
        for seen in product(columns, repeat=n_releases)
    )


@pytest.mark.parametrize("n_releases", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_exact_attack_is_the_sum_over_all_releases(seed, n_releases):
    table, prior = random_table(seed), (0.5, 0.3, 0.2)
    found = exact_attack(target(table, n_releases, prior)).probability
    assert found.value == pytest.approx(brute_force(table, prior, n_releases), abs=1e-12)


@pytest.mark.parametrize(("n_releases", "expected"), [(1, 4), (2, 10), (3, 20)])
def test_multisets_of_releases_are_counted(n_releases, expected):
    assert n_multisets(target(random_table(0), n_releases), enough=10**6) == expected


@pytest.mark.parametrize("seed", range(3))
def test_interval_of_the_plug_in_attacker_holds_the_best_one(seed):
    table, prior = random_table(seed), (0.5, 0.3, 0.2)
    found = plug_in_attack(target(table, 1, prior), 4000, np.random.default_rng(seed)).probability
    best = brute_force(table, prior, 1)
    assert found.low <= best <= found.high
    assert max(prior) <= found.low


def test_plug_in_attacker_refuses_releases_that_are_no_numbers():
    one = target(random_table(0), 1)
    one.mechanism.sample = lambda words, rng: np.zeros((len(words), 2))
    with pytest.raises(ValueError, match="releases are numbers of at least 0"):
        plug_in_attack(one, 100, np.random.default_rng(0))
