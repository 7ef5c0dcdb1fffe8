"""The attack on pseudonymised text: sums by hand, agreement of the two attackers, overlap, controls, calibration."""

from itertools import product

import numpy as np
import pytest

from sklearn_deid import NeighborPseudonymizer, WordVectors
from sklearn_deid.audit import Attack
from sklearn_deid.audit.attacks import PseudonymisedText, PseudonymKnowledge, ReidentificationAttack
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import phi_word_prior

WORDS = ["alder", "birch", "cedar", "elm", "oak"]
PRIOR = {"alder": 4, "birch": 3, "cedar": 2, "elm": 2, "oak": 1}


class Table:
    """A mechanism given by its probabilities; releases are numbers."""

    def __init__(self, table):
        self.table = np.asarray(table, dtype=float)

    def probabilities(self, tokens):
        return self.table[[WORDS.index(token) for token in tokens]]

    def sample(self, tokens, rng):
        rows = np.cumsum(self.probabilities(tokens), axis=1)
        return (rng.random(len(tokens))[:, None] > rows).sum(axis=1).clip(0, self.table.shape[1] - 1)

    def numbers(self, original, released):
        return np.array([int(token) for token in released])


def random_mechanism(seed, n_releases=6):
    table = np.random.default_rng(seed).dirichlet(np.full(n_releases, 0.4), size=len(WORDS))
    return Table(table)


def by_enumeration(mechanism, prior, k):
    """Sum over all sequences of releases of the largest joint probability."""
    weights = np.array([prior[word] for word in WORDS]) / sum(prior.values())
    return sum(
        (weights * np.prod(mechanism.table[:, list(seen)], axis=1)).max()
        for seen in product(range(mechanism.table.shape[1]), repeat=k)
    )


def run(mechanism, kind="exact", released=None, prior=None, **options):
    knowledge = PseudonymKnowledge(mechanism, PRIOR if prior is None else prior)
    return ReidentificationAttack(kind, **options).fit(knowledge).attack(released)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_exact_attacker_is_the_sum_over_all_releases(k):
    mechanism = random_mechanism(k)
    result = run(mechanism, n_releases=k)
    assert result.attack.value == pytest.approx(by_enumeration(mechanism, PRIOR, k))
    assert result.baseline.value == pytest.approx(4 / 12)
    assert result.status == "ok", result.failures
    assert isinstance(ReidentificationAttack(), Attack)


@pytest.mark.parametrize("k", [1, 3])
def test_trained_attacker_agrees_with_the_exact_one(k):
    for seed in range(4):
        mechanism = random_mechanism(seed)
        exact = run(mechanism, n_releases=k).attack.value
        trained = run(mechanism, "trained", n_releases=k, confidence=0.999, random_state=seed)
        assert trained.attack.covers(exact)
        assert trained.status == "ok", trained.failures


def text_of(mechanism, words, groups, rng, coherence="token"):
    """One word a sentence; within a unit of coherence it has one release."""
    sampled = mechanism.sample(words, rng)
    if coherence == "patient":
        first = {}
        for word, group, number in zip(words, groups, sampled, strict=True):
            first.setdefault((word, group), number)
        sampled = [first[word, group] for word, group in zip(words, groups, strict=True)]
    return PseudonymisedText(
        [[str(number)] for number in sampled], [[word] for word in words], [["B-NAME"]] * len(words), groups, coherence
    )


def test_overlap_of_several_releases_of_a_patient():
    """Every patient's word stands in three sentences: three draws by token, one by patient."""
    mechanism, rng = random_mechanism(5), np.random.default_rng(0)
    weights = np.array(list(PRIOR.values())) / 12
    words = [WORDS[i] for i in rng.choice(5, size=1500, p=weights) for _ in range(3)]
    groups = np.repeat(np.arange(1500), 3)
    for coherence, k in (("token", 3), ("patient", 1)):
        released = text_of(mechanism, words, groups, rng, coherence)
        exact = by_enumeration(mechanism, PRIOR, k)
        for kind in ("exact", "trained"):
            result = run(mechanism, kind, released, {"NAME": PRIOR}, confidence=0.999, random_state=0)
            assert result.attack.covers(exact), (coherence, kind)
            assert result.details["releases of a word"] == k
            assert result.status == "ok", result.failures
    one = run(mechanism, "exact", text_of(mechanism, words, groups, rng), {"NAME": PRIOR}, random_state=0)
    assert one.details["from one release"] < one.attack.low


def test_intervals_cover_chance_where_nothing_is_told():
    mechanism = Table(np.full((5, 3), 1 / 3))
    covered = {"exact": 0, "trained": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        words = [WORDS[i] for i in rng.integers(5, size=60)]
        released = text_of(mechanism, words, np.arange(60), rng)
        for kind in covered:
            flat = dict.fromkeys(WORDS, 1)
            result = run(mechanism, kind, released, {"NAME": flat}, n_simulated=200, random_state=seed)
            covered[kind] += result.attack.covers(0.2)
    assert min(covered.values()) >= 93, covered


def test_real_pseudonymizer_on_its_own_release():
    rng = np.random.default_rng(0)
    names = [f"{letter}name" for letter in "abcdefghijklmnopqrstuvwxyz"]
    vectors = WordVectors(names, rng.standard_normal((26, 4)), is_public=True)
    weights = np.arange(1, 27) / np.arange(1, 27).sum()
    X = [["mr", names[i].capitalize(), "left", "."] for i in rng.choice(26, size=600, p=weights)]
    y = [["O", "B-PATIENT", "O", "O"]] * 600
    mover = NeighborPseudonymizer(embeddings=vectors, n_neighbors=5, exclude=None, random_state=1)
    released = mover.fit_transform(X, y)
    prior = phi_word_prior(X, y)
    exact = bayes_reidentification(mover, prior).probability.value
    text = PseudonymisedText(released, X, y)
    for kind in ("exact", "trained"):
        result = run(mover, kind, text, prior, confidence=0.999, random_state=0)
        assert result.attack.covers(exact)
        assert result.status == "ok", result.failures
        assert result.details["words"] == 600
    # A name that is not among the vectors becomes a random string of its shape, which tells only the shape.
    strange = [["mr", "Qqqq-7"]] * 5
    text = PseudonymisedText(mover.sample(strange, [["O", "B-PATIENT"]] * 5), strange, [["O", "B-PATIENT"]] * 5)
    assert run(mover, "exact", text, {"PATIENT": {"Qqqq-7": 1, "Aname": 3}}).attack.value == 1.0
    assert run(mover, "exact", text, {"PATIENT": {"Qqqq-7": 1, "Zzzz-1": 3}}).attack.value == 0.0


def test_a_mechanism_that_hides_nothing_is_read():
    result = run(Table(np.eye(5)), "trained", n_trials=500, random_state=0)
    assert result.attack.value == 1.0
    assert result.advantage == 1.0


def test_without_labels_the_frequencies_of_all_count():
    mechanism, rng = random_mechanism(1), np.random.default_rng(2)
    text = text_of(mechanism, WORDS * 40, np.arange(200), rng)
    assert list(run(mechanism, "exact", text, dict.fromkeys(WORDS, 1)).details["by label"]) == ["all"]


def test_same_seed_same_figures():
    a, b = (run(random_mechanism(0), "trained", n_trials=200, random_state=3) for _ in range(2))
    assert (a.attack, a.positive_control, a.negative_control) == (b.attack, b.positive_control, b.negative_control)


def test_no_words_anywhere():
    text = PseudonymisedText([["Zyxwvut"]], [["Zyxwvut"]], [["B-NAME"]])
    knowledge = PseudonymKnowledge(random_mechanism(0), {"Zyxwvut": 1})
    attack = ReidentificationAttack().fit(knowledge)
    assert "Zyxwvut" not in repr((text, knowledge, attack, attack.skip("no time was left")))
    result = run(random_mechanism(0))
    assert not any(word in repr(result.to_dict()) for word in WORDS)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="'attacker' parameter"):
        ReidentificationAttack("clever")
    with pytest.raises(ValueError, match="'n_trials' parameter"):
        ReidentificationAttack(n_trials=0)
    with pytest.raises(SequenceError, match="lengths"):
        PseudonymisedText([["a"]], [["a", "b"]], [["O", "O"]])
    with pytest.raises(ValueError, match="'coherence' parameter"):
        PseudonymisedText([["a"]], [["a"]], [["O"]], coherence="ward")
    with pytest.raises(ValueError, match="needs 'documents'"):
        PseudonymisedText([["a"]], [["a"]], [["O"]], coherence="document")
    with pytest.raises(ValueError, match="no token of a label"):
        run(random_mechanism(0), "exact", PseudonymisedText([["1"]], [["oak"]], [["B-CITY"]]), {"NAME": PRIOR})
