"""A perturbation of one's own: what a subclass has to say, and what it gets for it.

The two classes here are all that a new perturbation needs, beside a line in the table of names of the room. They are
held to what the package promises of its own.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_deid import NeighborPseudonymizer
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import phi_word_prior
from sklearn_deid.pseudonyms import ExactTokenMechanism, TokenPerturber, VectorMechanism, VectorPerturber
from sklearn_deid.sequences import TokenSequences, TokenVectors

from ..tagging.conftest import make_sentences
from .test_pseudonymizers import make


class AnyWord:
    """All words of the table, equally likely."""

    def __init__(self, n_words):
        self.n_words = n_words

    def draw(self, rows, rng):
        targets = rng.integers(self.n_words, size=len(rows))
        return targets, np.where(targets == rows, 1, -1)

    def probabilities(self, rows):
        return csr_array(np.full((len(rows), self.n_words), 1.0 / self.n_words))


class UniformPseudonymizer(TokenPerturber):
    """A new perturbation of words."""

    def __init__(
        self,
        *,
        embeddings="auto",
        labels=None,
        max_replacements=None,
        exclude="en",
        digits="same",
        unknown="shape",
        coherence="token",
        keep_casing=True,
        random_state=None,
    ):
        self.embeddings, self.labels, self.max_replacements = embeddings, labels, max_replacements
        self.exclude, self.digits, self.unknown, self.coherence = exclude, digits, unknown, coherence
        self.keep_casing, self.random_state = keep_casing, random_state

    def _make_mechanism(self, policy, candidates):
        return ExactTokenMechanism(AnyWord(len(policy.vectors)), policy, candidates, self.keep_casing)


class Opposite(VectorMechanism):
    """The vector that points the other way: no protection at all."""

    def moved(self, vectors, rng):
        return -vectors


class OppositePerturber(VectorPerturber):
    """A new perturbation of vectors."""

    def _make_mechanism(self, policy, candidates):
        return Opposite(policy)


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(60)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


NEW = [UniformPseudonymizer, OppositePerturber]


@pytest.mark.parametrize("cls", NEW)
def test_only_phi_moves_and_is_counted(data, cls):
    X, y, _ = data
    perturber = make(cls)
    made = perturber.fit_transform(X, y)
    assert made.offsets.tolist() == X.offsets.tolist()
    untouched = perturber.transform(X)
    same = np.array([np.array_equal(a, b) for a, b in zip(made.data, untouched.data, strict=True)])
    phi = np.array([tag != "O" for tag in y.data])
    assert same[~phi].all() and not same[phi].all()
    counts = perturber.statistics_
    assert sum(row["tokens"] for row in counts.values()) == phi.sum()
    assert perturber.sample(X, y) == made and clone(perturber).fit_transform(X, y) == made


@pytest.mark.parametrize("cls", NEW)
def test_parameters_of_the_base_are_checked_in_its_name(data, cls):
    X, y, _ = data
    with pytest.raises(ValueError, match=f"'unknown' parameter of {cls.__name__} must be .*Got 'drop' instead"):
        make(cls, unknown="drop").fit(X, y)
    with pytest.raises(SequenceError, match=f"{cls.__name__} reads words. X holds vectors"):
        make(cls).fit([[[1.0, 2.0]]], [["O"]])


def test_words_share_a_draw_within_a_patient(data):
    X, y, groups = data
    made = make(UniformPseudonymizer, coherence="patient").fit_transform(X, y, groups)
    seen = {}
    for token, new, tag, patient in zip(X.data, made.data, y.data, np.repeat(groups, X.lengths), strict=True):
        if tag != "O":
            seen.setdefault((patient, token.casefold()), set()).add(new.casefold())
    assert {len(surrogates) for surrogates in seen.values()} == {1}


def test_vectors_are_turned_and_casing_is_not(data):
    X, y, _ = data
    perturber = make(OppositePerturber)
    made, before = perturber.fit_transform(X, y), perturber.transform(X)
    assert isinstance(made, TokenVectors)
    phi = np.array([tag != "O" for tag in y.data])
    np.testing.assert_array_equal(made.data[phi, :6], -before.data[phi, :6])
    np.testing.assert_array_equal(made.data[:, 6:], before.data[:, 6:])


def test_what_it_gives_away_is_computed(data):
    """A uniform choice says nothing of the word: the attacker is right as often as with the most frequent one."""
    X, y, _ = data
    # Ages are unknown words, which move in a way of their own.
    prior = {label: words for label, words in phi_word_prior(X, y).items() if label != "AGE"}
    uniform, near = (
        bayes_reidentification(make(cls, **more).fit(X, y).mechanism_, prior, random_state=0)
        for cls, more in ((UniformPseudonymizer, {"unknown": "random"}), (NeighborPseudonymizer, {"n_neighbors": 2}))
    )
    assert uniform.probability.value == pytest.approx(uniform.prior_guess)
    assert near.probability.value > uniform.probability.value


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # the checks for tables do not apply
@pytest.mark.parametrize("cls", NEW)
def test_habits_of_scikit_learn(data, cls):
    results = check_estimator(make(cls), on_fail=None)
    assert results and all(result["status"] == "passed" for result in results)
    with pytest.raises(ValueError, match=f"parameter of {cls.__name__}.set_output must be 'default' or None"):
        make(cls).set_output(transform="pandas")
    fitted = make(cls).fit(*data[:2])
    made = fitted.transform(data[0])
    assert len(fitted.get_feature_names_out()) == (made.d if isinstance(made, TokenVectors) else 1)
