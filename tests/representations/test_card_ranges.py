"""Possible and impossible metrics of a privacy card."""

import math

import numpy as np
import pytest

from sklearn_deid.representations.card_ranges import check_ranges


@pytest.mark.parametrize(
    "metrics",
    [
        None,
        {"score": 1, "accuracy": np.float32(0.0), "gdp_mu": 40.0, "seconds": -1.0, "gain": 3.0, "in_order": True},
        {"accuracy_low": 0.5, "accuracy": 0.5, "accuracy_high": 0.5, "low": 0.1, "epsilon": 0},
        {"accuracy": math.nan, "epsilon": -math.inf, "n_notes": "text"},  # the table refuses them
    ],
)
def test_possible_metrics_pass(metrics):
    check_ranges(metrics, "audit")


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"a": {"b": {"share_of_phi": 1.0001}}}, "'share_of_phi' in 'audit' must be between 0 and 1"),
        ({"delta": 2}, "'delta' in 'audit' must be between 0 and 1"),
        ({"mean_std": np.float32(-1.0)}, "'mean_std' in 'audit' must not be negative"),
        ({"x_low": 0.5, "x": 0.4}, "'x' in 'audit' is outside of its interval"),
        ({"x": 0.4, "x_high": 0.3}, "'x' in 'audit' is outside of its interval"),
        ({"x_low": 0.5, "x_high": 0.3}, "'x' in 'audit' is outside of its interval"),
    ],
)
def test_impossible_metrics_are_refused(metrics, words):
    with pytest.raises(ValueError, match=words):
        check_ranges(metrics, "audit")
