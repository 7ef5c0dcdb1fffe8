"""The figure shows the numbers it was given; its artists are read back."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from sklearn_deid.exceptions import MissingDependencyError
from sklearn_deid.plotting import PrivacyUsefulnessDisplay, PrivacyUsefulnessPoint


def result(mechanism, parameter, f1, reidentification, low=None, high=None):
    return {
        "mechanism": mechanism,
        "parameter": parameter,
        "f1": f1,
        "f1_low": f1 - 0.01,
        "f1_high": f1 + 0.01,
        "reidentification": reidentification,
        "reidentification_low": low,
        "reidentification_high": high,
    }


RESULTS = [
    result("raw", None, 0.97, 1.0),
    result("neighbours", 10, 0.965, 0.2),
    result("neighbours", 100.0, 0.96, 0.03),
    result("noise", "ε=4", 0.5, 0.01, 0.005, 0.02),
    result("neighbours", 1000, 0.94, 0.008),
    result("zeros", None, 0.3, 0.001),
]


def bars_of(container):
    """End points of the error bars: (horizontal or None, vertical), each (n, 2, 2)."""
    return [np.array(bar.get_segments()) for bar in container.lines[2]]


def test_draws_what_it_is_given():
    display = PrivacyUsefulnessDisplay.from_results(RESULTS).plot()
    assert list(display.lines_) == ["neighbours", "noise", "zeros"]
    line = display.lines_["neighbours"].lines[0]
    assert line.get_xydata().tolist() == [[0.2, 0.965], [0.03, 0.96], [0.008, 0.94]]
    (vertical,) = bars_of(display.lines_["neighbours"])  # exact probabilities have no error bars
    assert vertical[:, :, 0] == pytest.approx(np.repeat([[0.2], [0.03], [0.008]], 2, axis=1))
    assert vertical[:, :, 1] == pytest.approx(np.array([[0.955, 0.975], [0.95, 0.97], [0.93, 0.95]]))
    horizontal, _ = bars_of(display.lines_["noise"])
    assert horizontal[0] == pytest.approx(np.array([[0.005, 0.5], [0.02, 0.5]]))
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.figure is display.figure_


def test_parameters_stand_beside_their_points():
    display = PrivacyUsefulnessDisplay.from_results(RESULTS).plot()
    assert {label.get_text(): label.xy for label in display.labels_} == {
        "10": (0.2, 0.965),
        "100": (0.03, 0.96),
        "ε=4": (0.01, 0.5),
        "1000": (0.008, 0.94),
    }


def test_raw_training_is_a_reference_and_no_point():
    ax = PrivacyUsefulnessDisplay.from_results(RESULTS).plot().ax_
    level = next(line for line in ax.lines if line.get_label() == "raw training")
    assert set(level.get_ydata()) == {0.97}
    assert any(set(line.get_xdata()) == {1.0} for line in ax.lines)
    band = next(patch for patch in ax.patches if patch.get_y() == 0.96)
    assert band.get_height() == pytest.approx(0.02)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["raw training", "neighbours", "noise", "zeros"]


def test_another_baseline_or_none():
    display = PrivacyUsefulnessDisplay.from_results(RESULTS, baseline="zeros").plot()
    assert list(display.lines_) == ["raw", "neighbours", "noise"]
    only = PrivacyUsefulnessDisplay.from_results(RESULTS[:1]).plot()
    assert (only.lines_, only.labels_) == ({}, [])
    none = PrivacyUsefulnessDisplay.from_results(RESULTS[1:]).plot()
    assert [text.get_text() for text in none.ax_.get_legend().get_texts()] == ["neighbours", "noise", "zeros"]


def test_mechanisms_differ_in_colour_and_in_marker():
    results = [result(f"mechanism {i}", i, 0.5 + i / 100, 0.1) for i in range(7)]
    lines = [c.lines[0] for c in PrivacyUsefulnessDisplay.from_results(results).plot().lines_.values()]
    assert len({line.get_color() for line in lines}) == 7
    assert len({line.get_marker() for line in lines}) == 7


def crowded():
    rng = np.random.default_rng(0)
    f1 = rng.uniform(0.9, 0.97, 24)
    chance = 10 ** rng.uniform(-3, 0, 24)
    return [
        result(f"mechanism {i % 3}", f"N={i}", f, p)
        for i, (f, p) in enumerate(zip(f1.tolist(), chance.tolist(), strict=True))
    ]


@pytest.mark.parametrize("results", [RESULTS, crowded()], ids=["few", "crowded"])
@pytest.mark.parametrize("own_axes", [False, True])
def test_labels_cover_neither_each_other_nor_a_point_nor_the_legend(results, own_axes):
    from matplotlib import pyplot
    from matplotlib.text import Text

    ax = pyplot.subplots(figsize=(9, 6))[1] if own_axes else None
    display = PrivacyUsefulnessDisplay.from_results(results).plot(ax)
    display.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(label) for label in display.labels_]  # of the text alone, not of its line
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    points = np.concatenate([container.lines[0].get_xydata() for container in display.lines_.values()])
    pixels = display.ax_.transData.transform(points)
    assert not any(box.contains(*pixel) for box in boxes for pixel in pixels)
    area = display.ax_.bbox
    assert all(area.x0 <= box.x0 and box.x1 <= area.x1 and area.y0 <= box.y0 and box.y1 <= area.y1 for box in boxes)
    legend = display.ax_.get_legend().get_window_extent()
    assert not any(box.overlaps(legend) for box in boxes)


def test_given_axes_are_used_and_the_figure_can_be_saved():
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2)
    display = PrivacyUsefulnessDisplay.from_results(RESULTS)
    assert display.plot(right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.lines
    stream = io.BytesIO()
    display.figure_.savefig(stream, format="png")
    assert stream.getvalue().startswith(b"\x89PNG")


def test_interval_that_reaches_zero_is_cut_at_the_edge():
    display = PrivacyUsefulnessDisplay.from_results([result("noise", 1, 0.5, 0.01, 0.0, 0.02)]).plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert 0 < low < 0.01 < 0.02 < high


def test_json_without_intervals_and_with_other_keys():
    (point,) = PrivacyUsefulnessDisplay.from_results(
        [{"mechanism": "a", "parameter": 0.1, "f1": 0.5, "reidentification": 0.5, "seconds": 3}]
    ).points
    assert point == PrivacyUsefulnessPoint("a", 0.1, 0.5, None, None, 0.5)
    assert point.label == "0.1"
    display = PrivacyUsefulnessDisplay([point]).plot()
    assert bars_of(display.lines_["a"]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f1": 97.0, "f1_high": 98.0}, "'f1' and its interval"),
        ({"f1_low": 0.99}, "'f1' and its interval"),
        ({"f1": float("nan")}, "'f1' and its interval"),
        ({"reidentification_high": 0.001}, "'reidentification' and its interval"),
        ({"reidentification": 0.0}, "must be above 0"),
    ],
)
def test_numbers_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        PrivacyUsefulnessDisplay.from_results([RESULTS[0], {**RESULTS[1], **change}])


def test_missing_keys_and_no_points():
    with pytest.raises(ValueError, match="Result 1 lacks f1, parameter"):
        PrivacyUsefulnessDisplay.from_results([RESULTS[0], {"mechanism": "a", "reidentification": 1}])
    with pytest.raises(ValueError, match="at least one point"):
        PrivacyUsefulnessDisplay([])


def test_matplotlib_is_loaded_by_drawing_only():
    code = "import sys, sklearn_deid.plotting; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False"]


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sklearn-deid\[plot\]'"):
        PrivacyUsefulnessDisplay.from_results(RESULTS).plot()
