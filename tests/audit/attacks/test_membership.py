"""Membership inference and canaries: models that remember are found out, models that do not are not."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from sklearn_deid import AdversarialPrivacyAuditor, make_clinical_notes
from sklearn_deid.audit import Attack
from sklearn_deid.audit.attacks import (
    CanaryAttack,
    CanaryKnowledge,
    MembershipAttack,
    MembershipKnowledge,
    ReleasedTagger,
    TrainingSet,
    exposure,
    losses_of_probabilities,
    membership_scores,
    memorise,
    training_of,
)
from sklearn_deid.audit.audit_data import audit_data
from sklearn_deid.audit.releases.model import ReleasedModel
from sklearn_deid.exceptions import AttackError, SequenceError


def pool(n, each=1):
    X = [[f"w{i}", "x"] for i in range(n)]
    return X, [["O", "O"]] * n, np.arange(n) // each


def numbers(X):
    return np.array([int(row[0][1:]) for row in X])


def forgetful(X, y, seed):
    """Losses depend on the sentence and on chance, never on the training set."""
    rng = np.random.default_rng(seed)
    return lambda X, y: np.exp(np.sin(numbers(X)) + 0.5 * rng.standard_normal(len(X))) / 3


def leaking(strength):
    """Losses are smaller for training sentences, by a factor that drowns in how different sentences are."""

    def train(X, y, seed):
        seen, rng = set(numbers(X).tolist()), np.random.default_rng(seed)

        def loss(X, y):
            level = 2.0 * np.sin(numbers(X)) + 0.3 * rng.standard_normal(len(X))
            return np.exp(level - strength * np.array([i in seen for i in numbers(X)])) / 3

        return loss

    return train


def run(train, method="shadow", n=120, seed=0, each=1, **options):
    X, y, groups = pool(n, each)
    members = np.random.default_rng(seed).permutation(n // each)[groups] < n // each // 2
    rows = np.flatnonzero(members)
    model = train([X[i] for i in rows], [y[i] for i in rows], seed + 1000)
    attack = MembershipAttack(method, random_state=seed + 7777, **{"n_shadows": 6, **options})
    return attack.fit(MembershipKnowledge(train, X, y, groups)).attack(ReleasedTagger(model, members))


@pytest.mark.parametrize("method", ["shadow", "threshold"])
def test_a_model_that_remembers_is_found_out(method):
    result = run(memorise, method)
    assert result.attack.value > 0.95
    assert result.details["true positives at 1 % false positives"] == 1.0
    assert result.details["advantage"] > 0.9
    assert result.advantage == pytest.approx(2 * result.attack.value - 1)
    assert result.status == "ok", result.failures
    assert isinstance(MembershipAttack(), Attack)


@pytest.mark.parametrize("method", ["shadow", "threshold"])
def test_intervals_cover_chance_for_a_model_that_does_not(method):
    found = [run(forgetful, method, n=80, seed=seed, n_shadows=4) for seed in range(100)]
    assert sum(result.attack.covers(0.5) for result in found) >= 93
    assert sum(result.status == "ok" for result in found) >= 98


def test_shadows_see_what_a_threshold_misses():
    """Where sentences differ more among each other than members from others, each needs its own scale."""
    shadow = run(leaking(1.0), n=400, n_shadows=16)
    threshold = run(leaking(1.0), "threshold", n=400, n_shadows=16)
    assert shadow.attack.low > threshold.attack.high
    assert shadow.attack.value > 0.8


def test_patients_are_trained_on_or_not_with_all_sentences():
    sizes = []

    def train(X, y, seed):
        patients, counts = np.unique(numbers(X) // 4, return_counts=True)
        assert (counts == 4).all()
        sizes.append(len(patients))
        return forgetful(X, y, seed)

    result = run(train, n=80, each=4)
    assert sizes == [10] * 7
    assert result.attack.n == 80


def test_scores_are_a_ratio_of_normal_densities():
    rng = np.random.default_rng(0)
    shadows = rng.uniform(0.1, 2.0, size=(6, 9))
    inside = np.tile([[True], [False]], (3, 9))
    target = rng.uniform(0.1, 2.0, size=9)

    def odds(loss):
        return np.log(np.exp(-loss) / (1 - np.exp(-loss)))

    parts = []
    for rows in (odds(shadows[::2]), odds(shadows[1::2])):
        variance = rows.var(axis=0, ddof=1).mean() * (1 + 1 / 3)
        parts.append(norm.logpdf(odds(target), rows.mean(axis=0), np.sqrt(variance)))
    assert membership_scores(target, shadows, inside) == pytest.approx(parts[0] - parts[1])


def test_sentences_that_occur_twice_are_not_judged():
    X, y, _ = pool(30)
    X, y, members = X + X[:10], y + y[:10], np.arange(40) % 2 == 0
    model = memorise([X[i] for i in np.flatnonzero(members)], [y[0]] * 20, 0)
    attack = MembershipAttack(n_shadows=4, random_state=0).fit(MembershipKnowledge(memorise, X, y))
    result = attack.attack(ReleasedTagger(model, members))
    assert result.attack.n == 20
    assert result.status == "ok", result.failures


def test_losses_of_what_a_tagger_says():
    chances = [np.array([[0.2, 0.8], [0.9, 0.1]]), np.zeros((0, 2)), np.array([[0.5, 0.5]])]
    found = losses_of_probabilities(chances, [["B-X", "O"], [], ["I-NEW"]], ["O", "B-X"])
    assert found[:2] == pytest.approx([-(np.log(0.8) + np.log(0.9)) / 2, 0.0])
    assert found[2] > 20


class WordTagger(BaseEstimator):
    """The frequency of each tag at each word, with some noise; tags in another scheme if asked for."""

    def __init__(self, classes=("O", "B-A", "I-A"), random_state=None):
        self.classes, self.random_state = classes, random_state

    def fit(self, X, y):
        self.classes_, self.seen_ = list(self.classes), {}
        for row, tags in zip(X, y, strict=True):
            for word, tag in zip(row, tags, strict=True):
                self.seen_[word] = tag
        self.noise_ = np.random.default_rng(self.random_state).random()
        return self

    def transform(self, X):
        return X

    def predict_proba(self, X):
        return [np.array([self._of(word) for word in row]) for row in X]

    def _of(self, word):
        chances = np.full(len(self.classes_), 0.1)
        if self.seen_.get(word) in self.classes_:
            chances[self.classes_.index(self.seen_[word])] = 5.0 + self.noise_
        return chances / chances.sum()


def test_an_estimator_is_trained_anew_with_each_seed():
    X, y = [["Al", "fell"]], [["B-A", "O"]]
    for estimator in (WordTagger(), Pipeline([("tag", WordTagger())])):
        train = training_of(estimator)
        one, same, other = (train(X, y, seed)(X, y) for seed in (0, 0, 1))
        assert one == same
        assert one != other
        assert not hasattr(estimator, "seen_")
    assert train(X, y, 0)([["Bo", "fell"]], y) > one


def test_tags_are_compared_in_the_scheme_of_the_classes():
    tagger = WordTagger(("O", "B-A", "I-A", "E-A", "S-A"))
    tagger_loss = partial(training_of(tagger)([["x"]], [["O"]], 0), [["Al", "fell"]])
    # S-A and O are classes here; B-A alone is the start of a longer span, and every class is as likely.
    assert tagger_loss([["B-A", "O"]]) == pytest.approx(np.log(5))


def test_what_does_not_fit_is_refused():
    X, y, _ = pool(20)
    with pytest.raises(ValueError, match="'method' parameter"):
        MembershipAttack("guess")
    with pytest.raises(ValueError, match="'n_shadows' parameter"):
        MembershipAttack(n_shadows=1)
    with pytest.raises(ValueError, match="one finite number for each of 20"):
        MembershipAttack(n_shadows=2).fit(
            MembershipKnowledge(lambda X, y, seed: lambda X, y: np.full(20, np.nan), X, y)
        )
    attack = MembershipAttack(n_shadows=2, random_state=0).fit(MembershipKnowledge(memorise, X, y))
    with pytest.raises(ValueError, match="'members' must say"):
        attack.attack(ReleasedTagger(memorise(X, y, 0), [True]))
    with pytest.raises(ValueError, match="Too few sentences: 20 members"):
        attack.attack(ReleasedTagger(memorise(X, y, 0), np.ones(20, dtype=bool)))
    assert "w1" not in repr(MembershipKnowledge(memorise, X, y))


# ---- canaries

NAMES = [f"n{i}" for i in range(80)]


def write(name):
    return ["Mr", name, "left"], ["O", "B-PATIENT", "O"]


def counting(strength):
    """A model whose loss falls with how often a name was in the training set."""

    def train(X, y, seed):
        rng = np.random.default_rng(seed)
        counts = {name: 0 for name in NAMES}
        for row in X:
            for token in row:
                counts[token] = counts.get(token, 0) + 1
        return lambda X, y: np.exp(rng.standard_normal(len(X)) - strength * np.array([counts[r[1]] for r in X]))

    return train


def plant(train, seed=0, n=10, repeats=(1, 8)):
    attack = CanaryAttack(n, repeats=repeats, random_state=seed).fit(CanaryKnowledge(NAMES, write))
    return attack.attack(TrainingSet(train, [["no", "pain"]] * 3, [["O", "O"]] * 3))


def test_names_repeated_often_are_found_first():
    result = plant(counting(0.7))
    once, often = result.details["planted 1 times"], result.details["planted 8 times"]
    assert once["exposure in bits"] < often["exposure in bits"]
    assert often["exposure in bits"] > 5.5
    assert often["ranked first"] > 0.5
    assert result.details["not planted"]["exposure in bits"] < 3
    assert result.attack.value == pytest.approx(often["others with a larger loss"])
    assert result.status == "ok", result.failures
    assert isinstance(CanaryAttack(), Attack)


def test_intervals_cover_chance_for_a_model_that_does_not_remember_names():
    found = [plant(counting(0.0), seed, repeats=(2,)) for seed in range(100)]
    assert sum(result.attack.covers(0.5) for result in found) >= 93
    assert all(result.status == "ok" for result in found)


def test_trainings_know_the_patients():
    """Without patients, a new tagger counts each sentence as a patient, and keeps words of a single patient."""
    data = make_clinical_notes(6, n_patients=6, random_state=1).to_sentences()
    seen = []

    class Tagger(WordTagger):
        def fit(self, X, y, *, groups=None):
            seen.append((len(X), groups))
            return super().fit(X, y)

    for groups in (data.groups, None):
        sentences = audit_data(data.X, data.y, groups, None, np.random.default_rng(0))
        release = ReleasedModel(Tagger(("O", "B-PATIENT")), sentences)
        for attack in (MembershipAttack("threshold", n_shadows=2, random_state=0), CanaryAttack(random_state=0)):
            attack.run(release)
        found, seen[:] = seen[:], []
        assert len(found) == 6  # the attacked tagger, two shadows, and taggers with 0, 1 and 8 copies of each name
        if groups is None:
            assert all(known is None for _, known in found)
            continue
        assert all(len(known) == n for n, known in found)
        # Three patients are members, and names are planted among the sentences of two patients. Each of the 20 names is
        # a further patient, in all its copies.
        assert sorted(len(set(known.tolist())) for _, known in found) == [2, 3, 3, 3, 22, 22]


def of_six(tag):
    """Sentences of six patients, with a name in each second sentence."""
    X = [["Seen", f"w{i}"] for i in range(36)]
    return X, [["O", tag if i % 2 else "O"] for i in range(36)], np.arange(36) // 6


class QuotingTagger(BaseEstimator):
    """Quotes a word in the error of a method, as estimators of scikit-learn do."""

    classes_ = ("O", "B-PATIENT")

    def __init__(self, method="fit", error=ValueError):
        self.method, self.error = method, error

    def fit(self, X, y):
        return self._quote("fit", X)

    def predict_proba(self, X):
        return self._quote("predict_proba", X)

    def _quote(self, method, X):
        if method == self.method:
            raise self.error(f"could not convert string to float: {X[0][1]!r}")
        return self


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyError, MemoryError])
@pytest.mark.parametrize("method", ["fit", "predict_proba"])
def test_the_report_holds_no_message_of_a_foreign_estimator(method, error):
    """The reason of a skipped attack enters the report. A RuntimeError ended the audit, and all results were lost."""
    tagger, sentences = QuotingTagger(method, error), of_six("B-PATIENT")
    report = AdversarialPrivacyAuditor(["membership", "canaries"], random_state=0).audit(tagger, *sentences)
    assert [result.status for result in report.results] == ["skipped", "skipped"] and report.score == 0.0
    assert all(f"'{method}' of the attacked estimator raised a {error.__name__}" in r.reason for r in report.results)
    for text in (report.to_markdown(), str(report.to_dict())):
        assert "could not convert" not in text and not any(f"'{row[1]}'" in text for row in sentences[0])


@pytest.mark.parametrize(("tag", "expected"), [("B-PATIENT", "B-PATIENT"), ("S-PATIENT", "S-PATIENT")])
def test_planted_names_have_the_tag_scheme_of_the_sentences(tag, expected):
    release = ReleasedModel(WordTagger(("O", tag)), audit_data(*of_six(tag), None, np.random.default_rng(0)))
    assert release.canary_knowledge(60).write("Roe")[1] == ["O", "O", "O", expected, "O"]


def test_sentences_without_phi_are_stated_as_the_reason():
    release = ReleasedModel(WordTagger(("O",)), audit_data(*of_six("O"), None, np.random.default_rng(0)))
    with pytest.raises(AttackError, match="No sentence has a PHI tag"):
        CanaryAttack(random_state=0).run(release)


def test_exposure_is_that_of_the_paper():
    ranks = np.arange(1, 65)
    found = [exposure(rank, 64) for rank in ranks]
    # The probability that a random candidate does as well, in bits.
    assert found == pytest.approx(-np.log2([(ranks <= rank).mean() for rank in ranks]))


def test_canaries_are_planted_as_often_as_asked_and_nothing_else_changes():
    seen = []

    def train(X, y, seed):
        seen.append([row[1] for row in X if row[0] == "Mr"])
        assert list(y[0]) == ["O", "O"]
        return memorise(X, y, seed)

    plant(train, n=4, repeats=(3, 1))
    once, thrice, never = seen
    assert (len(once), len(thrice), never) == (4, 12, [])
    assert set(once) == set(thrice)


def test_canaries_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="At least two canaries"):
        CanaryAttack(1)
    with pytest.raises(ValueError, match="need at least 90 distinct candidates"):
        CanaryAttack(30).fit(CanaryKnowledge(NAMES, write))
    with pytest.raises(SequenceError, match="vectors"):
        TrainingSet(memorise, [[[1.0]]], [["O"]])
    assert "n1" not in repr(plant(memorise))
