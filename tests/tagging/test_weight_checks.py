"""Broken weights and classes are named; a training that diverges stops and says which setting to change."""

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger
from sklearn_deid.exceptions import SequenceError, TrainingDivergedError
from sklearn_deid.tagging.weight_checks import class_problem, weight_problem

from .conftest import SMALL


@pytest.mark.parametrize(
    "parameters", [{"lr": 1e30}, {"lr": 1e30, "gradient_clip": None}, {"lr": 1e12, "head": "softmax"}]
)
def test_training_that_diverges_names_the_setting(sentences, parameters):
    X, y, _ = sentences
    tagger = DeidTagger(**{**SMALL, "max_epochs": 5, **parameters})
    with pytest.raises(
        TrainingDivergedError, match="diverged. .* Lower the 'lr' parameter of DeidTagger, .* 3e-3"
    ) as e:
        tagger.fit(X, y)
    assert f"{parameters['lr']:g}" in str(e.value)
    assert ("'gradient_clip'" in str(e.value)) == ("gradient_clip" in parameters)
    with pytest.raises(ValueError, match="not (initialized|fitted)"):
        tagger.predict(X)


def test_partial_fit_that_diverges(sentences):
    X, y, _ = sentences
    with pytest.raises(TrainingDivergedError, match="'lr' parameter"):
        DeidTagger(**{**SMALL, "lr": 1e30}).partial_fit(X, y)


def test_a_tagger_can_be_trained_after_a_divergence(sentences):
    X, y, _ = sentences
    tagger = DeidTagger(**{**SMALL, "max_epochs": 2, "lr": 1e30, "warm_start": True})
    with pytest.raises(TrainingDivergedError):
        tagger.fit(X, y)
    once = DeidTagger(**{**SMALL, "max_epochs": 2}).fit(X, y)
    again = tagger.set_params(lr=SMALL["lr"]).fit(X, y)
    for a, b in zip(once.predict_proba(X), again.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_training_without_phi_is_refused():
    with pytest.raises(SequenceError, match="No class is a tag of PHI, so that the tagger finds nothing. Pass y"):
        DeidTagger(**SMALL).fit([["no", "pain"]], [["O", "O"]])
    with pytest.raises(SequenceError, match="No class is a tag of PHI"):
        DeidTagger(**SMALL).partial_fit([["no", "pain"]], [["O", "O"]])
    DeidTagger(**SMALL).partial_fit([["no", "pain"]], [["O", "O"]], classes=["O", "B-CITY", "I-CITY"])


def test_scores_that_are_no_numbers_are_an_error(sentences):
    X, y, _ = sentences
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(X, y)
    with torch.no_grad():
        tagger.module_.emit.bias[0] = float("nan")
    for method in (tagger.predict, tagger.predict_proba):
        with pytest.raises(SequenceError, match="scores that are not finite"):
            method(X)


@pytest.mark.parametrize("name", ["start_transitions", "transitions", "end_transitions"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_crf_scores_that_are_no_numbers_are_an_error(sentences, name, value):
    """The emissions were finite, and the best path of NaN scores was "O" everywhere."""
    X, y, _ = sentences
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(X, y)
    with torch.no_grad():
        getattr(tagger.module_.crf, name).flatten()[0] = value
    for method in (tagger.predict, tagger.predict_proba):
        with pytest.raises(SequenceError, match="CRF holds scores that are not finite"):
            method(X)


def test_what_is_no_problem():
    fine = {"a": np.ones((2, 2)), "bias": np.zeros(3), "n": np.arange(4), "e": np.zeros((0, 3)), "h": np.ones(2, "f2")}
    assert weight_problem(fine) is None
    assert class_problem(["O", "B-CITY OF BIRTH", "E-\u00d1", "S-X", "I-X"]) is None
