"""Reliability and calibration error, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import expected_calibration_error, phi_confidences, reliability_curve, span_confidences


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_curve_is_scikit_learns(strategy):
    rng = np.random.default_rng(0)
    confidence = rng.random(500)
    right = rng.random(500) < confidence
    curve = reliability_curve(right, confidence, 7, strategy)
    share, mean = calibration_curve(right, confidence, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(curve.right, share)
    np.testing.assert_allclose(curve.confidence, mean)
    assert curve.cases.sum() == 500


def test_error_by_hand():
    right, confidence = np.array([1, 0, 1, 1]), np.array([0.1, 0.1, 0.9, 0.9])
    # bins: 2 cases at 0.1 with 0.5 right, 2 cases at 0.9 with 1.0 right
    assert expected_calibration_error(right, confidence, n_bins=2) == pytest.approx(0.5 * 0.4 + 0.5 * 0.1)


def test_calibrated_cases_have_a_small_error_and_sure_wrong_ones_a_large_one():
    rng = np.random.default_rng(1)
    confidence = rng.random(20_000)
    assert expected_calibration_error(rng.random(20_000) < confidence, confidence) < 0.02
    assert expected_calibration_error(np.zeros(10), np.ones(10)) == 1.0


@pytest.mark.parametrize(
    ("right", "confidence", "options", "message"),
    [
        ([1], [0.5, 0.5], {}, "one value for each"),
        ([], [], {}, "at least one case"),
        ([1], [1.5], {}, "must hold probabilities"),
        ([1], [np.nan], {}, "must hold probabilities"),
        ([2], [0.5], {}, "must hold booleans"),
        ([np.nan], [0.5], {}, "must hold booleans"),
        ([1], [0.5], {"n_bins": 0}, "'n_bins' parameter must be at least 1"),
        ([1], [0.5], {"strategy": "even"}, "'strategy' parameter must be"),
    ],
)
def test_mistakes(right, confidence, options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(np.array(right), np.array(confidence), **options)


def test_spans_are_right_with_borders_and_label_and_as_sure_as_their_weakest_token():
    gold = [["B-A", "I-A", "O", "B-C"], ["O"]]
    predicted = [["B-A", "I-A", "B-C", "B-A"], ["B-A"]]
    right, sure = span_confidences(gold, predicted, [[0.9, 0.8, 0.7, 0.6], [0.5]])
    assert right.tolist() == [True, False, False, False]
    assert sure.tolist() == [0.8, 0.7, 0.6, 0.5]
    assert len(span_confidences([["O"]], [["O"]], [[1.0]])[0]) == 0


def test_tokens():
    right, sure = phi_confidences([["O", "B-A"], []], [[[0.5, 0.25, 0.25], [0, 0, 1]], []], ["O", "B-A", "I-A"])
    assert (right.tolist(), sure.tolist()) == ([False, True], [0.5, 1.0])
    with pytest.raises(SequenceError, match="rows of y have another length"):
        phi_confidences([["O"]], [[[0.5, 0.5]] * 2], ["O", "B-A"])
