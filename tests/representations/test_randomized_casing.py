"""Casing by randomised response: its law, what the best attacker gains, and what leaves with a release."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_deid import PrivateRepresenter
from sklearn_deid.representations import (
    PrivacyBound,
    RandomizedCasing,
    accuracy_with_casing,
    attack_accuracy,
    respond,
    response_probabilities,
)
from sklearn_deid.representations.part_bound import published_numbers
from sklearn_deid.representations.randomized_casing import respond_in_training
from sklearn_deid.text import casing_ids

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY, VECTORS

K, N = 7, 70_000


def in_release(classes, epsilon):
    return respond(classes, epsilon, K, np.random.default_rng(0))


def in_training(classes, epsilon):
    generator = torch.Generator().manual_seed(0)
    return respond_in_training(torch.from_numpy(classes), epsilon, K, generator).numpy()


@given(st.floats(0.01, 30.0), st.integers(2, 50))
def test_odds_of_the_true_class_are_exp_epsilon(epsilon, k):
    keep, other = response_probabilities(epsilon, k)
    assert keep + (k - 1) * other == pytest.approx(1.0)
    assert math.log(keep / other) == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize("draw", [in_release, in_training])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_classes_follow_the_stated_law(draw, epsilon):
    """Chi-square over all classes, for each true class; and the log odds, which are epsilon."""
    keep, other = response_probabilities(epsilon, K)
    for true in range(K):
        counts = np.bincount(draw(np.full(N // K, true), epsilon), minlength=K)
        expected = np.full(K, other)
        expected[true] = keep
        assert chisquare(counts, expected * counts.sum()).pvalue > 1e-4
    counts = np.bincount(draw(np.zeros(N, dtype=np.int64), epsilon), minlength=K)
    # Delta method: the variance of a log odds is the sum of the inverse counts.
    error = math.sqrt(1 / counts[0] + 1 / counts[1])
    assert math.log(counts[0] / counts[1]) == pytest.approx(epsilon, abs=4 * error)


def test_tokens_are_drawn_independently():
    pairs = in_release(np.zeros(N, dtype=np.int64), 1.0).reshape(-1, 2)
    keep, other = response_probabilities(1.0, K)
    law = np.where(np.arange(K) == 0, keep, other)
    counts = np.bincount(pairs[:, 0] * K + pairs[:, 1], minlength=K * K)
    assert chisquare(counts, np.outer(law, law).ravel() * len(pairs)).pvalue > 1e-4


@pytest.mark.parametrize(("distance", "n_changed"), [(0.0, 1), (0.0, 4), (0.7, 0), (0.7, 1), (1.5, 3)])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_accuracy_is_that_of_the_likelihood_ratio_test(distance, n_changed, epsilon):
    """Simulated releases of both candidates: a Gaussian number at a distance, and classes that differ."""
    n, rng = 40_000, np.random.default_rng(1)
    truth = rng.integers(2, size=n)
    noisy = distance * truth + rng.standard_normal(n)
    classes = respond(np.repeat(truth, n_changed), epsilon, K, rng).reshape(n, n_changed)
    keep, other = (math.log(p) for p in response_probabilities(epsilon, K))
    score = distance * noisy - distance**2 / 2
    score = score + np.where(classes == 1, keep - other, np.where(classes == 0, other - keep, 0.0)).sum(axis=1)
    guess = np.where(score == 0.0, rng.integers(2, size=n), score > 0.0)
    expected = accuracy_with_casing([distance], [n_changed], epsilon).item()
    assert (guess == truth).mean() == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / n))


@given(st.floats(0.0, 8.0), st.integers(0, 6), st.floats(0.05, 8.0))
def test_casing_only_adds_and_certainty_is_the_limit(distance, n_changed, epsilon):
    alone = attack_accuracy(torch.tensor(distance, dtype=torch.float64)).item()
    found, more, stronger, certain = (
        accuracy_with_casing([distance], [n], e).item()
        for n, e in ((n_changed, epsilon), (n_changed + 1, epsilon), (n_changed, 2 * epsilon), (n_changed, math.inf))
    )
    assert alone - 1e-9 <= found <= stronger + 1e-9 and found <= more + 1e-9 and stronger <= certain + 1e-9
    assert certain == pytest.approx(1.0 if n_changed else alone)
    # Each class alone is epsilon-private, so that the accuracy is at most e^(n epsilon) / (1 + e^(n epsilon)).
    if distance == 0.0:
        assert found <= 1.0 / (1.0 + math.exp(-n_changed * epsilon)) + 1e-9


# ---- releases


@pytest.fixture(scope="module")
def data():
    return make_sentences(80)


@pytest.fixture(scope="module")
def fitted(data):
    # A copy has no seed.
    return copy.deepcopy(PrivateRepresenter(**TINY, casing=RandomizedCasing(epsilon=1.0)).fit(*data))


def released_classes(R):
    columns = R.data[:, 4:]
    assert columns.shape[1] == K and (columns.sum(1) == 1.0).all()
    return columns.argmax(1)


def test_released_classes_follow_the_law_and_equal_sentences_share_a_draw(fitted, known_keys):
    rows = [["Alder", f"x{i}"] for i in range(4000)]  # sentences that differ, so that each has its own draw
    classes = released_classes(fitted.transform(rows))[::2]
    keep, other = response_probabilities(1.0, K)
    expected = np.full(K, other)
    expected[casing_ids(["Alder"])] = keep
    assert chisquare(np.bincount(classes, minlength=K), expected * len(rows)).pvalue > 1e-4
    twice = released_classes(fitted.transform([["Alder", "was", "seen"] * 20] * 2)).reshape(2, -1)
    assert (twice[0] == twice[1]).all()


def test_each_release_draws_anew_and_the_template_has_the_true_casing(data, fitted):
    X, _, _ = data
    first, second = (released_classes(fitted.transform(X)) for _ in range(2))
    true = casing_ids([token for row in X for token in row])
    assert (first != second).any() and (first != true).any()
    assert (released_classes(fitted.noise_free(X)) == true).all()


def test_training_draws_the_casing_as_a_release_does(data, fitted):
    """Twice the same batches: other classes, of the stated share; and the open representer has the true ones."""
    X, y, _ = data
    on = [b.casing[b.mask].argmax(1) for b in fitted.pair_batches(X * 20, y * 20).epoch(None, torch.Generator())]
    generator = torch.Generator().manual_seed(3)
    batches = list(fitted.pair_batches(X * 20, y * 20).epoch(None, generator))
    again = torch.cat([b.casing[b.mask].argmax(1) for b in batches])
    assert (torch.cat(on) != again).any()
    true = torch.from_numpy(casing_ids([token for b in batches for r in b.rows.tolist() for token in (X * 20)[r]]))
    kept = (again == true).double().mean().item()
    keep, _ = response_probabilities(1.0, K)
    assert kept == pytest.approx(keep, abs=4 * math.sqrt(keep * (1 - keep) / len(true)))


def test_bound_states_the_epsilon_and_what_the_casing_adds(data, fitted):
    X, y, groups = data
    openly = PrivateRepresenter(**{**TINY, "max_epochs": 1}).fit(X, y, groups)
    without = PrivateRepresenter(**{**TINY, "max_epochs": 1, "casing": False}).fit(X, y, groups)
    kinds = [r.certify(X, y, groups, random_state=0).casing for r in (fitted, openly, without)]
    assert [(c.kind, c.epsilon) for c in kinds] == [("randomized", 1.0), ("open", None), ("left out", None)]
    assert kinds[0].sentence_accuracy.value < kinds[1].sentence_accuracy.value and kinds[2].sentence_accuracy is None
    assert without.bound_.pairs_with_casing is None and without.bound_.patients.mean_with_casing is None


def test_it_is_saved_with_its_epsilon(data, fitted, tmp_path):
    fitted.save(tmp_path / "rep")
    loaded = PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS, device="cpu")
    assert repr(loaded.casing) == "RandomizedCasing(epsilon=1.0)" and loaded.fingerprint_ == fitted.fingerprint_
    assert loaded.bound_ == PrivacyBound.from_dict(published_numbers(fitted.bound_.to_dict()))
    origin = loaded.transform(data[0]).origin
    assert origin.casing is True and origin.settings["casing__epsilon"] == 1.0
    assert "with epsilon 1 a token" in " ".join((tmp_path / "rep" / "README.md").read_text().split())


def test_a_seed_repeats_the_casing(data):
    X, y, groups = data
    first, again = (
        PrivateRepresenter(**{**TINY, "max_epochs": 1, "casing": "randomized"}).fit(X, y, groups) for _ in range(2)
    )
    assert first.transform(X) == again.transform(X)
    assert first.set_params(casing__epsilon=4.0).casing.epsilon == 4.0


@pytest.mark.parametrize("casing", [RandomizedCasing(epsilon=0.0), "open", RandomizedCasing, 2.0])
def test_parameters_are_checked(data, casing):
    with pytest.raises(InvalidParameterError, match="'(casing|epsilon)' parameter of"):
        PrivateRepresenter(**{**TINY, "casing": casing}).fit(*data)


@pytest.mark.parametrize("epsilon", [30.0, 40.0, 1e3])
def test_no_epsilon_keeps_a_class_with_certainty(epsilon):
    """With an epsilon of 40, the probability of a kept class was rounded to 1: the true epsilon was infinite."""
    largest = SimpleNamespace(random=lambda n: np.full(n, 1.0 - 2.0**-53), integers=lambda n, size: np.zeros(size, int))
    assert respond(np.zeros(3, dtype=np.int64), epsilon, K, largest).tolist() == [1, 1, 1]
