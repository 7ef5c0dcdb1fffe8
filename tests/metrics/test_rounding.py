"""Shown figures never flatter: a value is 0 or 1 only if it is measured as 0 or 1."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.metrics import PriceCurve, RobustnessRow, RobustnessTable, UtilityFigure, UtilityReport
from sklearn_deid.metrics.estimate import Estimate
from sklearn_deid.metrics.rounding import rounded


@given(value=st.floats(-1, 1), digits=st.integers(1, 6), scale=st.sampled_from([1, 100]))
def test_only_exact_ends_are_shown_as_such(value, digits, scale):
    shown = float(rounded(value, digits, scale))
    assert abs(shown - scale * value) <= 1.001 * 10.0**-digits
    assert (shown == 0) == (value == 0)
    assert (shown == scale) == (value == 1)


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_undefined_is_shown_as_such(value):
    assert rounded(value) == "-"


def test_tables_of_recall():
    """A recall of 99.96 % was shown as 100.0, and an undefined precision as nan."""
    row = RobustnessRow("unchanged", False, 0.9996, 1.0, 0.5, 0.0001, 0.0)
    assert str(RobustnessTable((row,), 3)).splitlines()[-1] == "| unchanged | 99.9 | 100.0 | 50.0 | 0.1 | 0.0 |"
    line = str(PriceCurve([0.0], [0.9996], [0.9], [math.nan], [0.00001])).splitlines()[-1]
    assert line == " 0.0   99.9 %  90.0 %        - %        0.1 %"


def test_table_of_usefulness():
    figures = [("left of PHI", Estimate.from_counts(1, 1_000_000)), ("removed outside PHI", Estimate(math.nan))]
    report = UtilityReport(tuple(UtilityFigure("tokens", "redacted", *f) for f in figures), 1, 1, confidence=0.999)
    lines = str(report).splitlines()
    assert lines[0] == "1 notes of 1 patients; 99.9% intervals."
    assert lines[-2:] == ["| left of PHI | 0.0001 [0.0001, 0.0001] |", "| removed outside PHI | - |"]


def test_a_target_that_is_shown_is_proved():
    """A lower bound of 0.8796 was shown as 88.0 %, and the patients do not prove a target of 0.88."""
    line = str(PriceCurve([0.0, 1.0], [0.9, 0.99], [0.8796, 0.57], [0.9, 0.8], [0.1, 0.2])).splitlines()
    assert line[1].split()[3] == "87.9" and line[2].split()[3] == "57.0"
