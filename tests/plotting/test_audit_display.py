"""Audits and grids: the artists hold the figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sklearn_deid.audit import AttackResult, AuditReport
from sklearn_deid.metrics import Estimate
from sklearn_deid.plotting import AuditDisplay, TradeOffDisplay, TradeOffPoint


def result(name, threat="representation", value=0.62, control=0.5, **more):
    return AttackResult(
        name,
        threat,
        "A recipient.",
        "share",
        Estimate(value, value - 0.05, value + 0.05, 100),
        0.5,
        positive_control=Estimate(0.95, 0.9, 0.98, 100),
        min_positive_control=0.9,
        negative_control=Estimate(control, control - 0.1, control + 0.1, 100),
        **more,
    )


def report():
    bound = AttackResult(
        "bound", "representation", "Anyone.", "mean", Estimate(0.7, 0.68, 0.72, 50), 0.5, settings={"bound": True}
    )
    skipped = AttackResult.skipped("linkage", "representation", "A recipient.", "share", "no time was left")
    return AuditReport([result("pairs"), bound, skipped, result("members", "model", control=0.8)])


def at(ax, color_or_marker):
    return [line.get_xdata()[0] for line in ax.lines if line.get_marker() == color_or_marker]


def test_a_panel_for_each_threat_with_all_arms():
    display = AuditDisplay.from_report(report()).plot()
    assert display.threats == ("representation", "model")
    first, second = display.axes_
    labels = [[text.get_text() for text in ax.get_yticklabels()] for ax in display.axes_]
    assert labels == [["pairs", "bound"], ["members (INVALID)"]]
    assert (at(first, "o"), at(first, "D"), at(first, "^"), at(first, "s")) == ([0.62], [0.7], [0.95], [0.5])
    assert (at(second, "o"), at(second, "s")) == ([0.62], [0.8])
    bars = np.array([segment[:, 0] for c in first.collections for segment in c.get_segments()])
    assert any(bar == pytest.approx([0.57, 0.67]) for bar in bars)
    legend = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert set(legend) == {
        "guessing",
        "attack",
        "certified bound",
        "control: nothing hidden",
        "control: nothing to learn",
    }
    display.figure_.canvas.draw()


def test_axes_that_are_given_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2)
    display = AuditDisplay.from_report(report()).plot(axes)
    assert list(display.axes_) == list(axes) and display.figure_ is figure
    assert axes[0].get_legend() is not None and not figure.legends
    with pytest.raises(ValueError, match="must hold 2 axes. Got 1"):
        AuditDisplay.from_report(report()).plot([axes[0]])


def test_the_paper_that_fails_its_control_is_called_weak():
    weak = result("pairs", settings={"adversary": "paper"})
    weak = AttackResult(**{**vars(weak), "positive_control": Estimate(0.62, 0.6, 0.64, 100)})
    display = AuditDisplay.from_report(AuditReport([weak])).plot()
    assert display.axes_[0].get_yticklabels()[0].get_text() == "pairs (too weak to prove anything)"


def test_a_fault_of_the_release_has_the_word_of_the_report():
    display = AuditDisplay.from_report(AuditReport([result("noise", faults=("The noise repeats.",))])).plot()
    assert display.axes_[0].get_yticklabels()[0].get_text() == "noise (FAULT)"


def test_rows_are_checked():
    with pytest.raises(ValueError, match="Row 0 lacks threat"):
        AuditDisplay([{k: v for k, v in report().to_rows()[0].items() if k != "threat"}])
    with pytest.raises(ValueError, match="no attack was carried out"):
        AuditDisplay(report().to_rows()[2:3])


PARAMS = [{"rep__n_neighbors": n, "tag__lr": lr} for lr in (0.001, 0.01) for n in (10, 100)]
GRID = {
    "params": PARAMS,
    "mean_test_privacy": np.array([0.7, 0.8, 0.6, math.nan]),
    "std_test_privacy": np.array([0.02, 0.01, 0.02, math.nan]),
    "mean_test_f1": np.array([0.97, 0.96, 0.98, 0.95]),
    "std_test_f1": np.array([0.01, 0.02, 0.01, 0.01]),
}


def test_candidates_that_differ_in_the_parameter_alone_are_joined():
    display = TradeOffDisplay.from_cv_results(GRID, parameter="n_neighbors").plot()
    lines = {name: line.get_xydata().tolist() for name, line in display.lines_.items()}
    assert lines == {"lr=0.001": [[0.7, 0.97], [0.8, 0.96]], "lr=0.01": [[0.6, 0.98]]}
    assert [label.get_text() for label in display.labels_] == ["10", "100", "10"]
    horizontal, vertical = (np.array(bar.get_segments()) for bar in display.bars_["lr=0.001"].lines[2])
    assert horizontal[1, :, 0] == pytest.approx([0.79, 0.81]) and vertical[1, :, 1] == pytest.approx([0.94, 0.98])
    assert display.ax_.get_title(loc="left").endswith("candidates without a score: 1")


def test_without_a_parameter_nothing_is_joined_and_all_that_differ_are_written():
    display = TradeOffDisplay.from_cv_results(GRID).plot()
    labels = [label.get_text() for label in display.labels_]
    assert labels[1:] == ["n_neighbors=100, lr=0.001", "n_neighbors=10, lr=0.01"]
    assert display.lines_[""].get_linestyle() == "None"


def test_other_scorers_and_values_that_are_objects():
    grid = {k.replace("f1", "strict"): v for k, v in GRID.items()} | {
        "params": [{"step": value} for value in (None, True, object(), "glove")]
    }
    display = TradeOffDisplay.from_cv_results(grid, f1="strict", parameter="step")
    assert [point.label for point in display.points] == ["None", "True", "object"]


def test_results_of_a_search_are_read():
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(
        DummyClassifier(),
        {"strategy": ["most_frequent", "prior"]},
        scoring={"f1": "accuracy", "privacy": "accuracy"},
        refit=False,
        cv=2,
    )
    search.fit(np.zeros((8, 1)), np.array([0, 1] * 4))
    display = TradeOffDisplay.from_cv_results(search.cv_results_, parameter="strategy")
    assert [(point.label, point.y) for point in display.points] == [("most_frequent", 0.5), ("prior", 0.5)]


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({}, {}, "lacks params, mean_test_privacy"),
        (GRID, {"f1": "f2"}, "lacks mean_test_f2, std_test_f2"),
        (GRID, {"parameter": "depth"}, "must be a parameter of the grid: rep__n_neighbors, tag__lr. Got 'depth'"),
        (GRID | {"mean_test_f1": np.full(4, math.nan)}, {}, "No candidate"),
        (GRID | {"mean_test_f1": np.full(4, 2.0)}, {}, "'f1' must be from 0 to 1. Got 0.7 and 2.0"),
    ],
)
def test_what_does_not_fit_is_refused(grid, options, message):
    with pytest.raises(ValueError, match=message):
        TradeOffDisplay.from_cv_results(grid, **options)


def test_no_point_is_refused():
    with pytest.raises(ValueError, match="at least one point"):
        TradeOffDisplay([])
    with pytest.raises(ValueError, match="must be a number in its interval"):  # a negative standard deviation
        TradeOffPoint("", 0.5, 0.5, 0.5 + 1.0, 0.5 - 1.0)
