"""The figure shows the numbers that it was given: its artists are read back."""

import io
import sys
from itertools import combinations, pairwise

import numpy as np
import pytest

from sklearn_deid.exceptions import MissingDependencyError
from sklearn_deid.federated import EpochRecord, History
from sklearn_deid.plotting import TradeOffDisplay, TradeOffPoint


def result(mechanism, parameter, f1, named, low=None, high=None):
    row = {"mechanism": mechanism, "parameter": parameter, "f1": f1, "f1_low": f1 - 0.01, "f1_high": f1 + 0.01}
    return {**row, "named": named, "named_low": low, "named_high": high}


RESULTS = [
    result("raw", None, 0.97, None),
    result("neighbours", 10, 0.965, 0.2),
    result("neighbours", 100.0, 0.96, 0.03),
    result("noise", "ε=4", 0.5, 0.01, 0.005, 0.02),
    result("neighbours", 1000, 0.94, 0.008),
    result("zeros", None, 0.3, 0.001),
]
KEYS = {"name": "mechanism", "x": "named", "y": "f1", "label": "parameter", "log_x": True}
CURVES = [
    {"strategy": "C", "epoch": 2, "f1": 0.8, "f1_low": 0.75, "f1_high": 0.9, "bytes": 3},
    {"strategy": "C", "epoch": 1, "f1": 0.5, "f1_low": 0.4, "f1_high": 0.6},
    {"strategy": "A", "epoch": 1, "f1": 0.7},
    {"strategy": "A", "epoch": 2, "f1": 0.9},
]
SHARES = [
    {"method": "A", "f1": 0.95},
    {"method": "C", "f1": 0.9, "f1_low": 0.88, "f1_high": 0.91, "share": 0.5, "KiB": 200},
    {"method": "C", "f1": 0.8, "share": 0.1, "KiB": 50},
    {"method": "B", "f1": 0.94, "KiB": 800},
    {"method": "D", "f1": 0.7, "KiB": float("nan")},
]


def display_of(results=RESULTS, **options):
    return TradeOffDisplay.from_results(results, **KEYS, **options)


def bars_of(container):
    """End points of the error bars: (horizontal or None, vertical), each (n, 2, 2)."""
    return [np.array(bar.get_segments()) for bar in container.lines[2]]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestBars:
    def test_draws_what_it_is_given(self):
        display = display_of().plot()
        assert list(display.lines_) == ["neighbours", "noise", "zeros"]
        assert display.lines_["neighbours"].get_xydata().tolist() == [[0.2, 0.965], [0.03, 0.96], [0.008, 0.94]]
        (vertical,) = bars_of(display.bars_["neighbours"])  # exact probabilities have no error bars
        assert vertical[:, :, 0] == pytest.approx(np.repeat([[0.2], [0.03], [0.008]], 2, axis=1))
        assert vertical[:, :, 1] == pytest.approx(np.array([[0.955, 0.975], [0.95, 0.97], [0.93, 0.95]]))
        horizontal, _ = bars_of(display.bars_["noise"])
        assert horizontal[0] == pytest.approx(np.array([[0.005, 0.5], [0.02, 0.5]]))
        assert display.ax_.get_xscale() == "log"
        assert display.ax_.figure is display.figure_
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("named", "f1")

    @pytest.mark.parametrize("name", ["a", "method with a rather long name"])
    @pytest.mark.parametrize("least", [0.5, 0.03, 0.01, 1e-3, 1e-6, 1e-12])
    def test_labels_of_a_logarithmic_axis_do_not_overlap(self, least, name):
        """From 1e-6 to 1, labels were written over one another; from 1e-3 on, beside a wide legend, without a gap."""
        display = TradeOffDisplay([TradeOffPoint(name, 0.5, least), TradeOffPoint(name, 0.6, 1.0)], log_x=True).plot()
        display.figure_.draw_without_rendering()
        left, right = display.ax_.get_xlim()
        places = zip(display.ax_.get_xticks(), display.ax_.get_xticklabels(), strict=True)
        boxes = [label.get_window_extent() for place, label in places if left <= place <= right]
        assert len(boxes) > 1
        assert all(one.x1 + 3 < other.x0 for one, other in pairwise(boxes))

    def test_labels_are_beside_their_points(self):
        assert {label.get_text(): label.xy for label in display_of().plot().labels_} == {
            "10": (0.2, 0.965),
            "100": (0.03, 0.96),
            "ε=4": (0.01, 0.5),
            "1000": (0.008, 0.94),
        }

    def test_points_without_x_are_references(self):
        ax = display_of().plot().ax_
        level = next(line for line in ax.lines if line.get_label() == "raw")
        assert set(level.get_ydata()) == {0.97}
        band = next(patch for patch in ax.patches if patch.get_y() == 0.96)
        assert band.get_height() == pytest.approx(0.02)
        assert legend_of(ax) == ["raw", "neighbours", "noise", "zeros"]
        only = display_of(RESULTS[:1]).plot()
        assert (only.lines_, only.labels_) == ({}, [])

    def test_names_differ_in_colour_and_in_marker(self):
        lines = display_of([result(f"mechanism {i}", i, 0.5 + i / 100, 0.1) for i in range(7)]).plot().lines_.values()
        assert len({line.get_color() for line in lines}) == 7
        assert len({line.get_marker() for line in lines}) == 7

    def test_a_name_looks_alike_in_two_displays_of_the_same_rows(self):
        share, sent = (
            TradeOffDisplay.from_results(SHARES, name="method", x=x, y="f1").plot() for x in ("share", "KiB")
        )
        assert list(share.lines_) == ["C"]
        assert list(sent.lines_) == ["C", "B"]
        assert share.lines_["C"].get_color() == sent.lines_["C"].get_color() != sent.lines_["B"].get_color()
        assert legend_of(share.ax_) == ["A", "B", "D", "C"]
        flat = {line.get_label(): line.get_ydata()[0] for line in sent.ax_.lines if len(set(line.get_ydata())) == 1}
        assert {name: flat[name] for name in ("A", "D")} == {"A": 0.95, "D": 0.7}

    def test_interval_that_reaches_zero_is_cut_at_the_edge(self):
        display = display_of([result("noise", 1, 0.5, 0.01, 0.0, 0.02)]).plot()
        display.figure_.canvas.draw()
        low, high = display.ax_.get_xlim()
        assert 0 < low < 0.01 < 0.02 < high

    def test_rows_without_intervals_and_with_other_keys(self):
        (point,) = display_of([{"mechanism": "a", "parameter": 0.1, "f1": 0.5, "named": 0.5, "seconds": 3}]).points
        assert point == TradeOffPoint("a", 0.5, 0.5, label="0.1")
        assert bars_of(TradeOffDisplay([point]).plot().bars_["a"]) == []


def crowded():
    rng = np.random.default_rng(0)
    f1, chance = rng.uniform(0.9, 0.97, 24).tolist(), (10 ** rng.uniform(-3, 0, 24)).tolist()
    return [result(f"mechanism {i % 3}", f"N={i}", f1[i], chance[i]) for i in range(24)]


@pytest.mark.parametrize("results", [RESULTS, crowded()], ids=["few", "crowded"])
@pytest.mark.parametrize("own_axes", [False, True])
def test_labels_cover_neither_each_other_nor_a_point_nor_the_legend(results, own_axes):
    from matplotlib import pyplot
    from matplotlib.text import Text

    ax = pyplot.subplots(figsize=(9, 6))[1] if own_axes else None
    display = display_of(results).plot(ax)
    display.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(label) for label in display.labels_]  # of the text alone, not of its line
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    points = np.concatenate([line.get_xydata() for line in display.lines_.values()])
    pixels = display.ax_.transData.transform(points)
    assert not any(box.contains(*pixel) for box in boxes for pixel in pixels)
    area = display.ax_.bbox
    assert all(area.x0 <= box.x0 and box.x1 <= area.x1 and area.y0 <= box.y0 and box.y1 <= area.y1 for box in boxes)
    legend = display.ax_.get_legend().get_window_extent()
    assert not any(box.overlaps(legend) for box in boxes)


class TestBands:
    def test_lines_are_means_and_bands_are_ranges(self):
        display = TradeOffDisplay.from_results(CURVES, name="strategy", x="epoch", y="f1", ranges="band").plot()
        lines = {name: line.get_xydata().tolist() for name, line in display.lines_.items()}
        assert lines == {"C": [[1, 0.5], [2, 0.8]], "A": [[1, 0.7], [2, 0.9]]}
        assert list(display.bands_) == ["C"]
        (outline,) = display.bands_["C"].get_paths()
        assert {tuple(point) for point in outline.vertices.tolist()} == {(1, 0.4), (1, 0.6), (2, 0.75), (2, 0.9)}
        assert display.bars_ == {}
        display.figure_.canvas.draw()

    def test_labels_are_drawn_beside_lines_with_bands(self):
        keys = {"name": "strategy", "x": "epoch", "y": "f1", "label": "epoch"}
        display = TradeOffDisplay.from_results(CURVES, **keys, ranges="band").plot()
        assert sorted(label.get_text() for label in display.labels_) == ["1", "1", "2", "2"]

    def test_from_histories(self):
        history = History()
        for epoch, values in enumerate([(0.2, 0.4), (0.6, 0.7), (0.7, 0.7)], 1):
            for worker, f1 in enumerate(values):
                history.add(EpochRecord(f"worker-{worker}", epoch, metrics={"f1": f1}))
        display = TradeOffDisplay.from_histories({"DSSGD": history})
        expected = [(1, 0.3, 0.2, 0.4), (2, 0.65, 0.6, 0.7), (3, 0.7, 0.7, 0.7)]
        assert {point.name for point in display.points} == {"DSSGD"}
        np.testing.assert_allclose([(p.x, p.y, p.y_low, p.y_high) for p in display.points], expected)
        assert list(display.plot().bands_) == ["DSSGD"]

    def test_history_without_the_metric(self):
        history = History()
        history.add(EpochRecord("worker-0", 1))
        with pytest.raises(ValueError, match="validation_fraction"):
            TradeOffDisplay.from_histories({"DSSGD": history})

    def test_two_points_at_one_x(self):
        with pytest.raises(ValueError, match=r"Two points of 'C'.*Average over seeds"):
            TradeOffDisplay.from_results([CURVES[0]] * 2, name="strategy", x="epoch", y="f1", ranges="band")


def test_given_axes_are_used_and_the_figure_can_be_saved():
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2)
    display = display_of()
    assert display.plot(right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.lines
    stream = io.BytesIO()
    display.figure_.savefig(stream, format="png")
    assert stream.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f1_low": 0.99}, "Result 1: 'y' must be a number in its interval"),
        ({"f1": "0.9"}, "Result 1: 'y' must be a number"),
        ({"f1": float("nan")}, "Result 1 lacks f1"),
        ({"mechanism": None}, "Result 1 lacks mechanism"),
        ({"named_high": 0.001}, "Result 1: 'x' must be a number in its interval"),
        ({"named": float("inf")}, "Result 1: 'x' must be a number"),
        ({"named": None, "named_low": 0.1}, "an interval for 'x', but no value"),
        ({"named": 0.0}, "above 0 on a logarithmic axis"),
    ],
)
def test_numbers_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        display_of([RESULTS[0], {**RESULTS[1], **change}])


def test_no_points_and_unknown_ranges():
    with pytest.raises(ValueError, match="at least one point"):
        TradeOffDisplay([])
    with pytest.raises(ValueError, match=r"one of bars, band. Got 'bar' instead"):
        display_of(ranges="bar")


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sklearn-deid\[plot\]'"):
        display_of().plot()
