"""F1 and accuracies over N: the artists hold the rows."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.adversary_over_neighbors import AdversaryOverNeighborsDisplay, AdversaryOverNeighborsPoint


def result(method, n, adversary="T2", f1=0.97, accuracy=0.5, width=0.02):
    return {
        "method": method,
        "n_neighbors": n,
        "adversary": adversary,
        "f1": f1,
        "f1_low": None if f1 is None else f1 - width,
        "f1_high": None if f1 is None else f1 + width,
        "accuracy": accuracy,
        "accuracy_low": None if accuracy is None else accuracy - width,
        "accuracy_high": None if accuracy is None else accuracy + width,
        "seconds": 3,
    }


RESULTS = [
    result("bounded", 100, f1=0.98),
    result("bounded", 10, f1=0.985, accuracy=0.51),
    result("bounded", 10, "T1", f1=0.985, accuracy=0.49),
    result("three-part", 10, accuracy=0.6),
    result("three-part", 100, f1=None, accuracy=0.7),
    result("three-part", 1000, f1=0.96, accuracy=None),
]


NO_F1 = {"f1": None, "f1_low": None, "f1_high": None}


def ends_of(container):
    (bars,) = (np.array(bar.get_segments()) for bar in container.lines[2])
    return bars[:, :, 1]


def test_lines_are_the_rows_in_the_order_of_n():
    display = AdversaryOverNeighborsDisplay.from_results(RESULTS).plot()
    f1 = {name: line.lines[0].get_xydata().tolist() for name, line in display.f1_lines_.items()}
    assert f1 == {"bounded": [[10, 0.985], [100, 0.98]], "three-part": [[10, 0.97], [1000, 0.96]]}
    accuracy = {name: line.lines[0].get_xydata().tolist() for name, line in display.accuracy_lines_.items()}
    assert accuracy == {
        ("bounded", "T2"): [[10, 0.51], [100, 0.5]],
        ("bounded", "T1"): [[10, 0.49]],
        ("three-part", "T2"): [[10, 0.6], [100, 0.7]],
    }
    left, right = display.axes_
    assert {line.lines[0].axes for line in display.f1_lines_.values()} == {left}
    assert {line.lines[0].axes for line in display.accuracy_lines_.values()} == {right}
    display.figure_.canvas.draw()


def test_bars_are_the_intervals():
    display = AdversaryOverNeighborsDisplay.from_results(RESULTS).plot()
    assert ends_of(display.f1_lines_["bounded"]) == pytest.approx(np.array([[0.965, 1.005], [0.96, 1.0]]))
    assert ends_of(display.accuracy_lines_["three-part", "T2"]) == pytest.approx(np.array([[0.58, 0.62], [0.68, 0.72]]))


def test_axes_are_logarithmic_with_a_tick_at_each_n_and_chance_is_a_line():
    left, right = AdversaryOverNeighborsDisplay.from_results(RESULTS, raw_f1=(0.99, 0.985, 0.995)).plot().axes_
    for ax in (left, right):
        assert ax.get_xscale() == "log"
        assert ax.get_xticks().tolist() == [10, 100, 1000]
        assert [text.get_text() for text in ax.get_xticklabels()] == ["10", "100", "1000"]
    assert any(set(line.get_ydata()) == {0.5} for line in right.lines)
    assert any(set(line.get_ydata()) == {0.99} for line in left.lines)
    assert any(patch.get_height() == pytest.approx(0.01) for patch in left.patches)


def test_crowded_n_have_fewer_ticks():
    display = AdversaryOverNeighborsDisplay.from_results([result("a", n) for n in range(2, 40)]).plot()
    assert len(display.axes_[0].get_xticks()) < 12


def test_legend_names_methods_adversaries_and_references_outside_the_data():
    display = AdversaryOverNeighborsDisplay.from_results(RESULTS, raw_f1=0.99).plot()
    legend = display.axes_[1].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["bounded", "three-part", "T2", "T1", "raw training", "chance"]
    display.figure_.draw_without_rendering()
    assert legend.get_window_extent().x0 >= display.axes_[1].bbox.x1
    lone = AdversaryOverNeighborsDisplay.from_results([{"method": "a", "n_neighbors": 10, "accuracy": 0.5}]).plot()
    assert [text.get_text() for text in lone.axes_[1].get_legend().get_texts()] == ["a", "chance"]


def test_adversaries_differ_without_colour():
    rows = [result("a", 10, f"adversary {i}") for i in range(8)]
    lines = [line.lines[0] for line in AdversaryOverNeighborsDisplay.from_results(rows).plot().accuracy_lines_.values()]
    looks = {(str(line._unscaled_dash_pattern), str(line.get_markerfacecolor())) for line in lines}
    assert len(looks) == 8


def test_missing_values_may_be_nan_as_in_a_data_frame():
    nan = float("nan")
    rows = [{"method": "a", "n_neighbors": 10.0, "adversary": nan, "f1": 0.9, "f1_low": nan, "accuracy": nan}]
    display = AdversaryOverNeighborsDisplay.from_results(rows).plot()
    assert display.points == (AdversaryOverNeighborsPoint("a", 10.0, f1=0.9),)
    assert display.accuracy_lines_ == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": None}, "Result 1 lacks method"),
        ({"n_neighbors": None}, "Result 1 lacks n_neighbors"),
        ({"n_neighbors": 0}, "Result 1: 'n_neighbors' must be a number of at least 1. Got 0"),
        ({"f1": 97.0, "f1_high": 98.0}, "Result 1: 'f1' must be from 0 to 1"),
        ({"accuracy_low": 0.9}, "'accuracy' must be from 0 to 1 and in its interval"),
        ({"accuracy": "high"}, "'accuracy' and its interval must be numbers"),
        ({"accuracy": None}, "an interval for 'accuracy', but no value"),
        ({"n_neighbors": 100, **NO_F1}, "Two points give an accuracy for 'bounded', adversary 'T2', at N = 100"),
        ({"n_neighbors": 100, "adversary": "T1"}, "Two points give different F1 for 'bounded' at N = 100"),
    ],
)
def test_wrong_rows(changes, message):
    with pytest.raises(ValueError, match=message):
        AdversaryOverNeighborsDisplay.from_results([RESULTS[0], {**RESULTS[1], **changes}])


def test_no_rows_and_wrong_reference():
    with pytest.raises(ValueError, match="at least one row"):
        AdversaryOverNeighborsDisplay.from_results([])
    with pytest.raises(ValueError, match="at least one point"):
        AdversaryOverNeighborsDisplay([])
    with pytest.raises(ValueError, match="'raw_f1' parameter must be a number or"):
        AdversaryOverNeighborsDisplay.from_results(RESULTS, raw_f1=(0.9, 0.8))
