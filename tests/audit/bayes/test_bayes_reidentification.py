"""The best attacker against enumeration, closed forms and laws."""

import json
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.metrics import phi_word_prior

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
    assert found.probability.value == found.probability.low == found.probability.high == pytest.approx(total, abs=1e-12)
    assert found.worst_case == pytest.approx(worst, abs=1e-12)
    assert found.n_samples == 0


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", [lambda m: m, OnlyDensity])
def test_monte_carlo_holds_the_exact_value(name, k, kind):
    mechanism = MECHANISMS[name]
    total, worst = enumerate_all(mechanism, PRIOR, k)
    found = bayes_reidentification(kind(mechanism), PRIOR, n_releases=k, method="monte carlo", random_state=0)
    assert found.probability.low <= total + 1e-9
    assert total - 1e-9 <= found.probability.high
    assert found.probability.high - found.probability.low < 0.06
    assert found.worst_case <= worst + 0.1


@pytest.mark.parametrize("name", MECHANISMS)
def test_plug_in_brackets_the_exact_value(name):
    exact = bayes_reidentification(MECHANISMS[name], PRIOR).probability.value
    found = bayes_reidentification(OnlySamples(MECHANISMS[name]), PRIOR, random_state=0)
    assert found.method == "plug-in"
    assert found.probability.low <= exact <= found.probability.high
    assert found.probability.high - found.probability.low < 0.08
    assert found.worst_case is None


def test_plug_in_with_several_releases_is_a_lower_bound():
    exact = bayes_reidentification(MECHANISMS["3 neighbours"], PRIOR, n_releases=3).probability.value
    found = bayes_reidentification(OnlySamples(MECHANISMS["3 neighbours"]), PRIOR, n_releases=3, random_state=0)
    assert found.probability.low <= exact
    assert found.probability.value > exact - 0.03
    assert found.probability.high == 1.0


@pytest.mark.parametrize("k", [1, 24, 25, 26, 40, 500])
def test_many_releases_against_the_closed_form(k):
    """Two tokens and a coin that shows which with probability 0.6: the majority decides."""
    coin = Table([[0.6, 0.4], [0.4, 0.6]], ["alder", "birch"])
    truth = sum(comb(k, n) * max(0.6**n * 0.4 ** (k - n), 0.4**n * 0.6 ** (k - n)) for n in range(k + 1)) / 2
    found = bayes_reidentification(coin, {"alder": 1, "birch": 1}, n_releases=k)
    assert found.method == "exact"
    assert found.probability.value == pytest.approx(truth, abs=1e-9)
    assert found.worst_case == pytest.approx(truth, abs=1e-9)


def test_a_mechanism_with_one_release_tells_nothing():
    found = bayes_reidentification(Table(np.ones((6, 1))), PRIOR, n_releases=7)
    assert found.probability.value == pytest.approx(found.prior_guess)
    assert found.worst_case == pytest.approx(1.0)


def test_intervals_hold_for_all_categories_at_once():
    """Hence wider than for one category alone, and the mean of the ends holds the mean."""
    one = bayes_reidentification(MECHANISMS["3 neighbours"], PRIOR, method="monte carlo", random_state=0)
    same = {name: PRIOR for name in "ABCDEFGH"}
    many = bayes_reidentification(MECHANISMS["3 neighbours"], same, method="monte carlo", random_state=0)
    first = many.by_category["A"]
    assert first.probability.value == pytest.approx(one.probability.value)
    assert first.probability.high - first.probability.low > one.probability.high - one.probability.low
    for end in ("low", "high"):
        ends = [getattr(c.probability, end) for c in many.by_category.values()]
        assert getattr(many.probability, end) == pytest.approx(np.mean(ends))


def test_intervals_miss_seldom():
    """95 % is what is promised; these bounds are wide, so that none of 40 misses."""
    for name, kind in (("3 neighbours", lambda m: m), ("exponential 1", lambda m: m), ("3 neighbours", OnlySamples)):
        total, _ = enumerate_all(MECHANISMS[name], PRIOR, 1)
        for seed in range(40):
            method = "plug-in" if kind is OnlySamples else "monte carlo"
            found = bayes_reidentification(
                kind(MECHANISMS[name]), PRIOR, method=method, n_samples=100, random_state=seed
            )
            assert found.probability.low <= total <= found.probability.high


def test_a_plug_in_is_no_worse_than_a_guess():
    prior = {**dict.fromkeys(WORDS, 1), "alder": 1000}
    for seed in range(5):
        constant = OnlySamples(Table(np.full((6, 200), 1 / 200)))
        found = bayes_reidentification(constant, prior, n_samples=200, random_state=seed)
        assert found.prior_guess == pytest.approx(1000 / 1005)
        assert found.prior_guess <= found.probability.low <= found.probability.value <= found.probability.high <= 1


def test_worst_case_of_many_tokens_is_not_the_largest_of_noisy_estimates():
    """All tokens are equally exposed, with a probability of 0.5; three draws of each make some look like 1."""
    words = [f"w{i}" for i in range(600)]
    table = np.full((600, 601), 0.0)
    table[np.arange(600), np.arange(600)] = table[:, 600] = 0.5
    found = bayes_reidentification(
        Table(table, words), dict.fromkeys(words, 1), method="monte carlo", n_samples=2_000, random_state=0
    )
    assert found.worst_case == pytest.approx(0.5, abs=0.1)


def test_disjoint_groups():
    """Within a group of words that all become each other, only the frequency tells."""
    table = np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    assert bayes_reidentification(Table(table), PRIOR).probability.value == pytest.approx((5 + 4) / 15)


@given(st.lists(st.integers(1, 9), min_size=6, max_size=6), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_laws(weights, seed):
    """More releases tell more; less is told than with the token itself, more than with nothing."""
    table = np.random.default_rng(seed).dirichlet(np.full(5, 0.5), size=6)
    prior = dict(zip(WORDS, weights, strict=True))
    found = [bayes_reidentification(Table(table), prior, n_releases=k).probability.value for k in (1, 2, 3)]
    guess = max(weights) / sum(weights)
    assert guess - 1e-12 <= found[0] <= found[1] + 1e-12 <= found[2] + 2e-12 <= 1 + 3e-12


def test_more_tokens_than_a_block_and_categories():
    words = [f"w{i}" for i in range(150)]
    table = np.random.default_rng(0).dirichlet(np.full(40, 0.1), size=150)
    prior = {"A": dict.fromkeys(words[:100], 1), "B": dict.fromkeys(words[100:], 4)}
    mechanism = Table(table, words)
    found = bayes_reidentification(mechanism, prior)
    assert found.by_category["A"].probability.value == pytest.approx(table[:100].max(axis=0).sum() / 100)
    assert found.by_category["B"].probability.value == pytest.approx(table[100:].max(axis=0).sum() / 50)
    assert found.by_category["A"].weight == pytest.approx(1 / 3)
    mean = sum(c.weight * c.probability.value for c in found.by_category.values())
    assert found.probability.value == pytest.approx(mean)
    assert found.worst_case == max(c.worst_case for c in found.by_category.values())
    assert found.to_dict()["by_category"]["B"]["n_tokens"] == 50


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("parameters", [{}, {"n_releases": 2}, {"n_releases": 2, "method": "monte carlo"}])
def test_the_size_of_blocks_changes_nothing(name, parameters):
    """One token at a time, and nothing kept; all tokens at once."""
    for mechanism in (MECHANISMS[name], OnlyDensity(MECHANISMS[name])):
        if mechanism is MECHANISMS[name] or "method" in parameters:
            small, large = (
                bayes_reidentification(mechanism, PRIOR, random_state=0, n_samples=300, max_block_mib=m, **parameters)
                for m in (1e-5, 256)
            )
            ends = [
                (found.probability.value, found.probability.low, found.probability.high) for found in (small, large)
            ]
            assert ends[0] == pytest.approx(ends[1], abs=1e-12)
            assert small.worst_case == pytest.approx(large.worst_case, abs=1e-12)


def test_the_size_of_blocks_changes_nothing_for_a_plug_in():
    """Other draws, as they are made in another order, and the same answer within its interval."""
    mechanism = OnlySamples(MECHANISMS["3 neighbours"])
    total, _ = enumerate_all(MECHANISMS["3 neighbours"], PRIOR, 1)
    found = bayes_reidentification(mechanism, PRIOR, random_state=0, n_samples=500, max_block_mib=1e-3)
    assert found.probability.low <= total <= found.probability.high


def test_a_fitted_transformer_is_taken_for_its_mechanism():
    class Fitted:
        mechanism_ = MECHANISMS["2 neighbours"]

    assert bayes_reidentification(Fitted(), PRIOR) == bayes_reidentification(Fitted.mechanism_, PRIOR)


def test_many_combinations_are_sampled():
    found = bayes_reidentification(Table(np.full((6, 200), 1 / 200)), PRIOR, n_releases=4, n_samples=200)
    assert found.method == "monte carlo"
    assert found.probability.value == pytest.approx(5 / 15)


@pytest.mark.parametrize(
    ("prior", "parameters", "message"),
    [
        ({}, {}, "must map tokens to weights"),
        ([("alder", 1)], {}, "must map tokens to weights"),
        ({"alder": -1.0}, {}, "at least 0"),
        ({"alder": 0.0}, {}, "not all 0"),
        ({"alder": float("nan")}, {}, "finite"),
        ({"birch": "alder"}, {}, "finite numbers"),
        ({"birch": None}, {}, "finite numbers"),
        ({"alder": 1}, {"max_combinations": 0}, "'max_combinations' parameter must be an int"),
        ({"alder": 1}, {"max_block_mib": 0}, "'max_block_mib' parameter must be a number above 0"),
        ({"alder": 1}, {"n_releases": True}, "'n_releases' parameter"),
        ({"A": {"alder": 1}, "birch": 1}, {}, "only weights or only mappings"),
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


@pytest.mark.parametrize("row", [[0.6, 0.6], [0.5, 0.1], [np.nan, 0.5], [1.5, -0.5]])
def test_a_table_that_holds_no_probabilities_is_refused(row):
    with pytest.raises(ValueError, match="must be one row a token, at least 0, and add up to 1"):
        bayes_reidentification(Table([[0.5, 0.5], row], ["alder", "birch"]), {"alder": 1, "birch": 1})


def test_what_is_no_mechanism_is_refused():
    class OnlyProbabilities:
        probabilities = MECHANISMS["all"].probabilities

    class Vectors:
        def sample(self, tokens, rng):
            return rng.normal(size=(len(tokens), 2))

    with pytest.raises(TypeError, match="'mechanism' parameter must be a fitted transformer .* Got object instead"):
        bayes_reidentification(object(), PRIOR)
    with pytest.raises(TypeError, match="a mechanism with 'sample' unless its sum is exact"):
        bayes_reidentification(OnlyProbabilities(), PRIOR, method="monte carlo")
    with pytest.raises(ValueError, match="whose releases are numbers"):
        bayes_reidentification(Vectors(), PRIOR)


def test_too_many_combinations_are_refused_or_sampled():
    wanted = {"n_releases": 3, "max_combinations": 55}  # 6 releases: 56 multisets of 3
    with pytest.raises(ValueError, match="Use method='monte carlo', or a larger 'max_combinations'"):
        bayes_reidentification(MECHANISMS["all"], PRIOR, method="exact", **wanted)
    assert bayes_reidentification(MECHANISMS["all"], PRIOR, **wanted).method == "monte carlo"
    assert bayes_reidentification(MECHANISMS["all"], PRIOR, n_releases=3, max_combinations=56).method == "exact"


def test_huge_and_tiny_weights():
    huge = {word: weight * 1e307 for word, weight in PRIOR.items()}
    tiny = {word: weight * 1e-300 for word, weight in PRIOR.items()}
    expected = bayes_reidentification(MECHANISMS["3 neighbours"], PRIOR).probability.value
    for prior in (huge, tiny):
        assert bayes_reidentification(MECHANISMS["3 neighbours"], prior).probability.value == pytest.approx(expected)


def test_figures_can_be_written_as_json():
    for method in ("exact", "monte carlo", "plug-in"):
        found = bayes_reidentification(MECHANISMS["all"], {"A": PRIOR}, method=method, n_samples=100, random_state=0)
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


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


def test_prior_without_categories_adds_them_up():
    X, y = [["Alder", "Alder", "oak"]], [["B-DOCTOR", "B-PATIENT", "B-CITY"]]
    assert phi_word_prior(X, y, by_category=False) == {"Alder": 2, "oak": 1}


def test_repr_names_no_token():
    assert "alder" not in repr(bayes_reidentification(MECHANISMS["all"], PRIOR))
