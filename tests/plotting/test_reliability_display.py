"""The reliability figure shows the numbers of the metrics."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_deid.metrics import expected_calibration_error, phi_confidences, reliability_curve, span_confidences
from sklearn_deid.plotting import ReliabilityDisplay
from sklearn_deid.sequences import object_rows


class Given(BaseEstimator):
    """Tags every token with a probability that stands in it."""

    classes_ = np.array(["O", "B-NAME", "I-NAME"], dtype=object)

    def predict(self, X, return_confidence=False):
        tags = object_rows([["B-NAME"] * len(row) for row in X])
        return (tags, object_rows([np.array(row, dtype=float) for row in X])) if return_confidence else tags

    def predict_proba(self, X):
        return object_rows([np.array([[1 - float(p), float(p), 0.0] for p in row]) for row in X])


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    p = rng.random((60, 5))
    X = [[f"{value:.6f}" for value in row] for row in p]
    return X, [["B-NAME" if right else "O" for right in row] for row in rng.random(p.shape) < p**2]


@pytest.mark.parametrize("level", ["span", "token"])
def test_shows_the_curve_and_its_error(cases, level):
    X, y = cases
    display = ReliabilityDisplay.from_estimator(Given(), X, y, level=level, n_bins=6)
    tagger = Given()
    if level == "token":
        right, sure = phi_confidences(y, tagger.predict_proba(X), tagger.classes_)
    else:
        right, sure = span_confidences(y, *tagger.predict(X, return_confidence=True))
    curve = reliability_curve(right, sure, 6)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([curve.confidence, curve.right]))
    error = expected_calibration_error(right, sure, 6)
    assert display.line_.get_label() == f"Given: calibration error {100 * error:.2f} %"
    assert [text.get_text() for text in display.ax_.texts] == [str(n) for n in curve.cases]
    display.figure_.canvas.draw()


def test_two_in_one_figure_share_the_diagonal(cases):
    first = ReliabilityDisplay.from_confidences([True, False], [0.9, 0.2], name="one")
    second = ReliabilityDisplay.from_confidences([True, False], [0.8, 0.1], name="two", ax=first.ax_)
    assert second.ax_ is first.ax_
    labels = [line.get_label() for line in first.ax_.lines]
    assert labels.count("as sure as right") == 1
    assert first.line_.get_color() != second.line_.get_color()


def test_mistakes(cases):
    X, y = cases
    with pytest.raises(ValueError, match="'level' parameter of ReliabilityDisplay.from_estimator must be"):
        ReliabilityDisplay.from_estimator(Given(), X, y, level="character")
    with pytest.raises(ValueError, match="at least one case"):
        ReliabilityDisplay.from_confidences([], [])


def test_only_an_exact_error_is_shown_as_zero():
    """An error of 0.00002 was shown as 0.00 %."""
    curve = reliability_curve(np.array([True]), np.array([0.99998]))
    labels = [ReliabilityDisplay(curve, error).plot().line_.get_label() for error in (2e-5, 0.0)]
    assert labels == ["calibration error 0.01 %", "calibration error 0.00 %"]
