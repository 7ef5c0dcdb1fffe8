"""Kept tokens: exact tails by enumeration, probabilities by simulation, restored words named, intact text passed."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_deid import CusTextPseudonymizer, MadlibPseudonymizer, NeighborPseudonymizer, SanTextPseudonymizer
from sklearn_deid.audit.attacks import KeptTokensAttack, draws_of_text
from sklearn_deid.audit.attacks.kept_tokens import FALSE_ALARM, shape_chance, tail_of_sum
from sklearn_deid.pseudonyms.token_mechanism import random_of_shape
from sklearn_deid.sequences import TokenSequences

from ...representations.test_private_representer import VECTORS
from ..audited_toys import audited_sentences, auditor

KINDS = {
    "near": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12),
    "of a patient": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, coherence="patient"),
    "guarded": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=3, guard_substring=True),
    "at random": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=9, unknown="random", keep_casing=False),
    "one of a sentence": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, max_replacements=1),
    "custext": CusTextPseudonymizer(embeddings=VECTORS, n_neighbors=12, epsilon=3.0),
    "santext": SanTextPseudonymizer(embeddings=VECTORS, epsilon=4.0),
    "madlib": MadlibPseudonymizer(embeddings=VECTORS, epsilon=4.0),
}


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


def found(pseudonymizer, data, released):
    X, y, groups = data
    return (
        KeptTokensAttack(random_state=0).fit(pseudonymizer).attack(draws_of_text(pseudonymizer, X, released, y, groups))
    )


def restored(data, released, share, seed=0):
    """The release with a share of its moved words put back."""
    X, words = data[0], released.data.copy()
    moved = np.flatnonzero([new != old for new, old in zip(released.data, X.data, strict=True)])
    back = np.random.default_rng(seed).permutation(moved)[: round(share * len(moved))]
    words[back] = X.data[back]
    return TokenSequences(words, released.offsets)


@pytest.mark.parametrize("probabilities", [[0.3], [0.5, 0.5, 0.5], [0.0, 1.0, 0.25, 0.9], [0.01] * 6])
def test_tail_is_that_of_all_outcomes(probabilities):
    outcomes = list(itertools.product([0, 1], repeat=len(probabilities)))
    weights = [np.prod([p if one else 1 - p for p, one in zip(probabilities, o, strict=True)]) for o in outcomes]
    for k in range(len(probabilities) + 2):
        exact = sum(w for w, o in zip(weights, outcomes, strict=True) if sum(o) >= k)
        assert tail_of_sum(k, np.array(probabilities)) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("at_least", [1, 3, 40, 70, 150, 320, 400])
@pytest.mark.parametrize("n", [1, 40, 170, 250])
def test_tail_of_a_sum_of_many_variables(at_least, n):
    """The sum of two kinds of variables is that of two binomial variables."""
    probabilities = np.repeat([0.02, 0.3], [150, n])
    np.random.default_rng(0).shuffle(probabilities)
    first = np.arange(151)
    exact = np.sum(binom.pmf(first, 150, 0.02) * binom.sf(at_least - 1 - first, n, 0.3))
    assert tail_of_sum(at_least, probabilities) == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_small_tails_are_not_rounded_away():
    assert tail_of_sum(40, np.full(50, 1e-3)) == pytest.approx(1.01e-110, rel=0.05)


@pytest.mark.parametrize(("word", "form"), [("a", "A"), ("b-7", "b-7"), ("x9", "y3"), ("e\u0301", "ab"), ("½", "7")])
def test_chance_of_a_random_string(word, form):
    drawn = random_of_shape([word] * 60_000, np.random.default_rng(0))
    share = np.mean([one.casefold() == form.casefold() for one in drawn])
    expected = shape_chance(word, [form])
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / len(drawn)))


@pytest.mark.parametrize("kind", KINDS)
def test_expected_share_is_that_of_many_releases(kind, data):
    """The probabilities are of the mechanism: the mean count of twenty releases agrees with them."""
    X, y, groups = data
    pseudonymizer = KINDS[kind].set_params(random_state=None).fit(X, y, groups)
    pseudonymizer.random_state = np.random.RandomState(0)
    results = [found(pseudonymizer, data, pseudonymizer.sample(X, y, groups)) for _ in range(20)]
    shares = np.array([one.attack.value for one in results])
    expected = np.array([one.baseline.value for one in results])
    error = 4 * np.sqrt(shares.mean() / results[0].attack.n / len(shares)) + 1e-12
    # A word that is left out and another word of its sentence are not independent: there the share is an upper bound.
    assert shares.mean() == pytest.approx(expected.mean(), abs=2 * error if kind == "madlib" else error)
    assert all(one.status == "ok" for one in results)
    assert min(of["tail"] for one in results for of in one.details["by label"].values()) > FALSE_ALARM / 10


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"one of a sentence"}))
def test_restored_words_are_named(kind, data):
    X, y, groups = data
    pseudonymizer = KINDS[kind].set_params(random_state=0).fit(X, y, groups)
    released = pseudonymizer.sample(X, y, groups)
    result = found(pseudonymizer, data, restored(data, released, 0.2))
    assert result.status == "invalid" and "more unchanged words than the stated mechanism" in result.failures[0]
    assert result.positive_control.value == 1.0 and "all labels" in result.failures[0]
    assert found(pseudonymizer, data, released).status == "ok"


def test_words_that_never_draw_themselves_are_named(data):
    """Each surrogate then rules its own word out: N is smaller than stated."""
    X, y, groups = data
    pseudonymizer = KINDS["near"].set_params(random_state=0).fit(X, y, groups)
    again, words = pseudonymizer.sample(X, y, groups), None
    for seed in range(1, 9):
        more = pseudonymizer.set_params(random_state=seed).sample(X, y, groups).data
        words = again.data if words is None else words
        same = np.array([new.casefold() == own.casefold() for new, own in zip(words, X.data, strict=True)])
        words = np.where(same, more, words)
    result = found(pseudonymizer, data, TokenSequences(words, X.offsets))
    assert "Fewer words than stated have themselves" in result.failures[0]


@pytest.mark.parametrize("unit", ["one patient", "one sentence"])
def test_words_of_one_note_are_named(unit, data):
    X, y, _ = data
    rng = np.random.default_rng(0)
    rows = np.array_split(rng.permutation(len(X)), 60)  # longer sentences, so that one of them has several words
    X, y = (
        TokenSequences.from_rows([[item for i in row.tolist() for item in part[i]] for row in rows]) for part in (X, y)
    )
    groups = np.arange(len(X)) // 4
    pseudonymizer = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, random_state=0).fit(X, y, groups)
    released = pseudonymizer.sample(X, y, groups)
    words, start, stop = released.data.copy(), X.offsets[0], X.offsets[1 if unit == "one sentence" else 4]
    words[start:stop] = X.data[start:stop]
    result = found(pseudonymizer, (X, y, groups), TokenSequences(words, X.offsets))
    assert result.status == "invalid" and unit in result.failures[0]
    assert found(pseudonymizer, (X, y, groups), released).status == "ok"


def test_share_that_is_noticed(data):
    X, y, groups = data
    pseudonymizer = KINDS["near"].set_params(random_state=0).fit(X, y, groups)
    released = pseudonymizer.sample(X, y, groups)
    noticed = found(pseudonymizer, data, released).details["share of restored words that is noticed"]
    assert 0.01 < noticed < 0.15
    assert found(pseudonymizer, data, restored(data, released, 2 * noticed)).status == "invalid"
    nothing = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=1, unknown="keep").fit(X, y)
    result = found(nothing, data, nothing.sample(X, y))
    assert (result.attack.value, result.baseline.value, result.status, result.advantage) == (1.0, 1.0, "ok", 0.0)
    assert result.details["share of restored words that is noticed"] is None


def test_labels_that_stay_are_not_counted(data):
    X, y, groups = data
    label = sorted({tag[2:] for tag in y.data if tag != "O"})[0]
    some = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, labels=[label], random_state=0).fit(X, y)
    counts = found(some, data, some.sample(X, y)).details["by label"]
    assert set(counts) == {label, "all labels"} and counts[label] == counts["all labels"]
    with pytest.raises(ValueError, match="No token of the released text has to be replaced"):
        draws_of_text(some, X, X, TokenSequences(np.full(len(y.data), "O", dtype=object), y.offsets), None)


@pytest.mark.parametrize("left", [{"labels": ["AGE"]}, {"max_replacements": 1}])
@pytest.mark.parametrize("attacks", ["quick", ["reidentification"]])
def test_phi_that_stays_by_a_parameter_blocks_a_pass(data, left, attacks):
    X, y, groups = data
    parameters = {"embeddings": VECTORS, "n_neighbors": len(VECTORS), "random_state": 0}
    report = auditor(attacks).audit(NeighborPseudonymizer(**parameters, **left).fit(X, y), X, y, groups)
    assert report.score == 0.0 and not report.passed(0.01)
    assert all("PHI tokens are unchanged" in issue for issue in report.blocking_issues) and report.blocking_issues
    assert auditor(attacks).audit(NeighborPseudonymizer(**parameters).fit(X, y), X, y, groups).blocking_issues == ()


def test_phi_that_stays_is_no_matter_where_the_tags_leave_it_out(data):
    X, y, groups = data
    own = TokenSequences(np.where([tag.endswith("AGE") for tag in y.data], y.data, "O"), y.offsets)
    some = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=12, labels=["AGE"], random_state=0).fit(X, y)
    report = auditor(["reidentification"]).audit(some, X, own, groups)
    assert report.blocking_issues == () and report.score > 0


class Forgetful(NeighborPseudonymizer):
    """Puts every fifth word back."""

    def sample(self, X, y=None, groups=None):
        return restored((X,), super().sample(X, y, groups), 0.2)


def test_quick_audit_names_the_fault(data):
    X, y, groups = data
    parameters = {"embeddings": VECTORS, "n_neighbors": 12, "random_state": 0}
    whole, broken = (kind(**parameters).fit(X, y) for kind in (NeighborPseudonymizer, Forgetful))
    assert auditor("quick").audit(whole, X, y, groups).blocking_issues == ()
    (issue,) = auditor("quick").audit(broken, X, y, groups).blocking_issues
    assert issue.startswith("kept tokens: The text has more unchanged words")
