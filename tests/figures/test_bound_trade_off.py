"""F1 against the bound: the artists hold the rows."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.bound_trade_off import BoundTradeOffDisplay, BoundTradeOffPoint


def result(n, bound, f1):
    return {
        "n_neighbors": n,
        "bound": bound,
        "bound_low": bound - 0.01,
        "bound_high": bound + 0.01,
        "f1": f1,
        "f1_low": f1 - 0.02,
        "f1_high": f1 + 0.02,
    }


RESULTS = [result(100, 0.7, 0.99), result(100, 0.52, 0.97), result(1000, 0.54, 0.96), result(10, 0.505, 0.975)]


def test_a_line_for_each_n_in_the_order_of_the_bound():
    display = BoundTradeOffDisplay.from_results(RESULTS).plot()
    lines = {n: container.lines[0].get_xydata().tolist() for n, container in display.lines_.items()}
    assert lines == {10: [[0.505, 0.975]], 100: [[0.52, 0.97], [0.7, 0.99]], 1000: [[0.54, 0.96]]}
    assert list(lines) == [10, 100, 1000]
    display.figure_.canvas.draw()


def test_bars_are_the_intervals_also_beyond_one_and_below_chance():
    display = BoundTradeOffDisplay.from_results(RESULTS).plot()
    horizontal, vertical = (np.array(bar.get_segments()) for bar in display.lines_[100].lines[2])
    assert horizontal[:, :, 0] == pytest.approx(np.array([[0.51, 0.53], [0.69, 0.71]]))
    assert vertical[:, :, 1] == pytest.approx(np.array([[0.95, 0.99], [0.97, 1.01]]))
    left = np.array(display.lines_[10].lines[2][0].get_segments())
    assert left[0, 0, 0] == pytest.approx(0.495)


@pytest.mark.parametrize(("raw", "n_bands"), [(0.99, 0), ((0.99, 0.985, 0.995), 1)])
def test_raw_f1_and_chance_are_lines(raw, n_bands):
    ax = BoundTradeOffDisplay.from_results(RESULTS, raw_f1=raw).plot().ax_
    lines = {line.get_label(): line for line in ax.lines}
    assert set(lines["raw training"].get_ydata()) == {0.99}
    assert set(lines["chance"].get_xdata()) == {0.5}
    assert len(ax.patches) == n_bands


def test_given_axes_are_used_and_the_legend_is_outside():
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(layout="constrained")
    display = BoundTradeOffDisplay([BoundTradeOffPoint(10, 0.52, 0.9)])
    assert display.plot(ax) is display
    assert (display.ax_, display.figure_) == (ax, figure)
    figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.bbox.x1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"f1": None}, "Result 1 lacks f1"),
        ({"bound": float("nan")}, "Result 1 lacks bound"),
        ({"bound": 0.4, "bound_low": 0.4}, "Result 1: 'bound' must be at least 0.5, which is chance. Got 0.4"),
        ({"bound_high": 0.51}, "'bound' must be from 0 to 1 and in its interval"),
        ({"n_neighbors": "100"}, "'n_neighbors' must be a number of at least 1"),
    ],
)
def test_wrong_rows(changes, message):
    with pytest.raises(ValueError, match=message):
        BoundTradeOffDisplay.from_results([RESULTS[0], {**RESULTS[1], **changes}])


def test_no_points():
    with pytest.raises(ValueError, match="at least one point"):
        BoundTradeOffDisplay([])
