"""The best attacker against enumeration, closed forms and laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sklearn_deid.metrics import bayes_reidentification, phi_word_prior

WORDS = ["alder", "birch", "cedar", "maple", "oak", "elm"]
PRIOR = {"alder": 5, "birch": 1, "cedar": 2, "maple": 2, "oak": 4, "elm": 1}
PLACE = np.random.default_rng(3).standard_normal((6, 2))
DISTANCE = np.linalg.norm(PLACE[:, None] - PLACE[None], axis=2)


class Table:
    """A mechanism given by its probabilities."""

    def __init__(self, table, words=WORDS, sparse=True):
        self.table, self.words, self.sparse = np.asarray(table, dtype=float), list(words), sparse

    def probabilities(self, tokens):
        rows = self.table[[self.words.index(token) for token in tokens]]
        return csr_array(rows) if self.sparse else rows

    def sample(self, tokens, rng):
        cumulative = self.table[[self.words.index(token) for token in tokens]].cumsum(axis=1)
        return (rng.random((len(tokens), 1)) * cumulative[:, -1:] >= cumulative).sum(axis=1)


class OnlySamples:
    """The same, as far as MADLIB is known."""

    def __init__(self, mechanism):
        self.sample = mechanism.sample


class OnlyDensity(OnlySamples):
    """The same, as far as noise on vectors is known."""

    def __init__(self, mechanism):
        super().__init__(mechanism)
        self.mechanism = mechanism

    def log_likelihood(self, tokens, releases):
        with np.errstate(divide="ignore"):
            return np.log(csr_array(self.mechanism.probabilities(tokens)).toarray()[:, releases])


def neighbours(n):
    near = np.argsort(DISTANCE, axis=1)[:, :n]
    table = np.zeros((6, 6))
    np.put_along_axis(table, near, 1 / n, axis=1)
    return Table(table)


def exponential(epsilon):
    weights = np.exp(-epsilon * DISTANCE / 2)
    return Table(weights / weights.sum(axis=1, keepdims=True), sparse=False)


def enumerate_all(mechanism, prior, k):
    """Success of the best attacker, and of each token, by going through all sequences of releases."""
    words = list(prior)
    p = np.array(list(prior.values())) / sum(prior.values())
    total, success = 0.0, dict.fromkeys(words, 0.0)
    rows = {word: mechanism.table[mechanism.words.index(word)] for word in words}
    for releases in product(range(mechanism.table.shape[1]), repeat=k):
        likelihood = [np.prod([rows[word][r] for r in releases]) for word in words]
        joint = [a * b for a, b in zip(p, likelihood, strict=True)]
        best = max(joint)
        if best == 0:
            continue
        total += best
        named = [i for i, j in enumerate(joint) if j >= best * (1 - 1e-12)]
        for i in named:
            success[words[i]] += likelihood[i] / len(named)
    return total, max(success.values())


MECHANISMS = {
    "2 neighbours": neighbours(2),
    "3 neighbours": neighbours(3),
    "all": neighbours(6),
    "identity": neighbours(1),
    "exponential 1": exponential(1.0),
    "exponential 6": exponential(6.0),
}


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", MECHANISMS)
def test_exact_is_enumeration(name, k):
    found = bayes_reidentification(MECHANISMS[name], PRIOR, n_releases=k)
    total, worst = enumerate_all(MECHANISMS[name], PRIOR, k)
    assert found.method == "exact"
    assert found.probability == found.lower == found.upper == pytest.approx(total, abs=1e-12)
    assert found.worst_case == pytest.approx(worst, abs=1e-12)
    assert found.n_samples == 0


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", [lambda m: m, OnlyDensity])
def test_monte_carlo_holds_the_exact_value(name, k, kind):
    mechanism = MECHANISMS[name]
    total, worst = enumerate_all(mechanism, PRIOR, k)
    found = bayes_reidentification(kind(mechanism), PRIOR, n_releases=k, method="monte carlo", random_state=0)
    assert found.lower <= total + 1e-9
    assert total - 1e-9 <= found.upper
    assert found.upper - found.lower < 0.06
    assert found.worst_case <= worst + 0.1


@pytest.mark.parametrize("name", MECHANISMS)
def test_plug_in_brackets_the_exact_value(name):
    exact = bayes_reidentification(MECHANISMS[name], PRIOR).probability
    found = bayes_reidentification(OnlySamples(MECHANISMS[name]), PRIOR, random_state=0)
    assert found.method == "plug-in"
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 0.08
    assert found.worst_case is None


def test_plug_in_with_several_releases_is_a_lower_bound():
    exact = bayes_reidentification(MECHANISMS["3 neighbours"], PRIOR, n_releases=3).probability
    found = bayes_reidentification(OnlySamples(MECHANISMS["3 neighbours"]), PRIOR, n_releases=3, random_state=0)
    assert found.lower <= exact
    assert found.probability > exact - 0.03
    assert found.upper == 1.0


def test_disjoint_groups():
    """Within a group of words that all become each other, only the frequency tells."""
    table = np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    assert bayes_reidentification(Table(table), PRIOR).probability == pytest.approx((5 + 4) / 15)


@given(st.lists(st.integers(1, 9), min_size=6, max_size=6), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_laws(weights, seed):
    """More releases tell more; less is told than with the token itself, more than with nothing."""
    table = np.random.default_rng(seed).dirichlet(np.full(5, 0.5), size=6)
    prior = dict(zip(WORDS, weights, strict=True))
    found = [bayes_reidentification(Table(table), prior, n_releases=k).probability for k in (1, 2, 3)]
    guess = max(weights) / sum(weights)
    assert guess - 1e-12 <= found[0] <= found[1] + 1e-12 <= found[2] + 2e-12 <= 1 + 3e-12


def test_more_tokens_than_a_block_and_categories():
    words = [f"w{i}" for i in range(150)]
    table = np.random.default_rng(0).dirichlet(np.full(40, 0.1), size=150)
    prior = {"A": dict.fromkeys(words[:100], 1), "B": dict.fromkeys(words[100:], 4)}
    mechanism = Table(table, words)
    found = bayes_reidentification(mechanism, prior)
    assert found.by_category["A"].probability == pytest.approx(table[:100].max(axis=0).sum() / 100)
    assert found.by_category["B"].probability == pytest.approx(table[100:].max(axis=0).sum() / 50)
    assert found.by_category["A"].weight == pytest.approx(1 / 3)
    mean = sum(c.weight * c.probability for c in found.by_category.values())
    assert found.probability == pytest.approx(mean)
    assert found.worst_case == max(c.worst_case for c in found.by_category.values())
    assert found.to_dict()["by_category"]["B"]["n_tokens"] == 50


def test_large_tables_are_not_kept(monkeypatch):
    monkeypatch.setattr("sklearn_deid.metrics.bayes_attack._KEPT", 3)
    found = bayes_reidentification(MECHANISMS["exponential 1"], PRIOR)
    total, worst = enumerate_all(MECHANISMS["exponential 1"], PRIOR, 1)
    assert (found.probability, found.worst_case) == (pytest.approx(total), pytest.approx(worst))


def test_a_fitted_transformer_is_taken_for_its_mechanism():
    class Fitted:
        mechanism_ = MECHANISMS["2 neighbours"]

    assert bayes_reidentification(Fitted(), PRIOR) == bayes_reidentification(Fitted.mechanism_, PRIOR)


def test_many_combinations_are_sampled():
    found = bayes_reidentification(Table(np.full((6, 200), 1 / 200)), PRIOR, n_releases=4, n_samples=200)
    assert found.method == "monte carlo"
    assert found.probability == pytest.approx(5 / 15)


@pytest.mark.parametrize(
    ("prior", "parameters", "message"),
    [
        ({}, {}, "must map tokens to weights"),
        ([("alder", 1)], {}, "must map tokens to weights"),
        ({"alder": -1.0}, {}, "at least 0"),
        ({"alder": 0.0}, {}, "not all 0"),
        ({"alder": float("nan")}, {}, "finite"),
        ({"A": {"alder": 1}, "birch": 1}, {}, "mixes weights and mappings"),
        ({"alder": 1}, {"n_releases": 0}, "'n_releases' parameter must be an int of at least 1"),
        ({"alder": 1}, {"n_samples": 5}, "'n_samples' parameter"),
        ({"alder": 1}, {"method": "best"}, "'method' parameter must be one of"),
    ],
)
def test_errors(prior, parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        bayes_reidentification(MECHANISMS["all"], prior, **parameters)
    assert "alder" not in str(error.value)


def test_methods_that_do_not_fit():
    with pytest.raises(ValueError, match="known probabilities"):
        bayes_reidentification(OnlyDensity(MECHANISMS["all"]), PRIOR, method="exact")
    with pytest.raises(ValueError, match="probabilities or densities"):
        bayes_reidentification(OnlySamples(MECHANISMS["all"]), PRIOR, method="monte carlo")
    with pytest.raises(ValueError, match="two which enclose it"):
        bayes_reidentification(MECHANISMS["all"], PRIOR, method="bracket")


def test_a_mechanism_that_contradicts_itself_is_refused():
    class Wrong(Table):
        def sample(self, tokens, rng):
            return np.full(len(tokens), 5)

    table = np.eye(6)[[0, 1, 2, 3, 4, 4]]
    with pytest.raises(ValueError, match="its own probabilities exclude"):
        bayes_reidentification(Wrong(table), PRIOR, method="monte carlo")


def test_prior_counts_phi_tokens_by_label():
    X = [["Dr", "Alder", "-", "Alder"], ["oak"]]
    y = [["O", "B-DOCTOR", "I-DOCTOR", "I-DOCTOR"], ["S-CITY"]]
    assert phi_word_prior(X, y) == {"CITY": {"oak": 1}, "DOCTOR": {"Alder": 2}}
    assert phi_word_prior(X, y, punctuation=True)["DOCTOR"] == {"Alder": 2, "-": 1}


def test_repr_names_no_token():
    assert "alder" not in repr(bayes_reidentification(MECHANISMS["all"], PRIOR))
