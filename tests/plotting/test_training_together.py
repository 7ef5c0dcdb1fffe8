"""Figures of training together: the artists hold the rows."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_deid.federated import EpochRecord, History
from sklearn_deid.plotting import SharedFractionDisplay, WorkersOverEpochsDisplay, WorkersOverEpochsPoint

CURVES = [
    {"strategy": "C", "epoch": 2, "f1": 0.8, "f1_low": 0.75, "f1_high": 0.9, "bytes": 3},
    {"strategy": "C", "epoch": 1, "f1": 0.5, "f1_low": 0.4, "f1_high": 0.6},
    {"strategy": "A", "epoch": 1, "f1": 0.7},
    {"strategy": "A", "epoch": 2, "f1": 0.9},
]
SHARES = [
    {"method": "A", "f1": 0.95},
    {"method": "C", "f1": 0.9, "f1_low": 0.88, "f1_high": 0.91, "shared_fraction": 0.5, "bytes_per_epoch": 204_800},
    {"method": "C", "f1": 0.8, "shared_fraction": 0.1, "bytes_per_epoch": 51_200},
    {"method": "B", "f1": 0.94, "bytes_per_epoch": 819_200},
    {"method": "D", "f1": 0.7, "bytes_per_epoch": 0},
]


class TestWorkersOverEpochs:
    def test_lines_are_means_and_bands_are_ranges(self):
        display = WorkersOverEpochsDisplay.from_results(CURVES).plot()
        lines = {name: line.get_xydata().tolist() for name, line in display.lines_.items()}
        assert lines == {"C": [[1, 0.5], [2, 0.8]], "A": [[1, 0.7], [2, 0.9]]}
        assert list(display.bands_) == ["C"]
        (outline,) = display.bands_["C"].get_paths()
        assert {tuple(point) for point in outline.vertices.tolist()} == {(1, 0.4), (1, 0.6), (2, 0.75), (2, 0.9)}
        assert display.ax_.get_legend().get_title().get_text() == "Mean and range over workers"
        display.figure_.canvas.draw()

    def test_from_histories(self):
        history = History()
        for epoch, values in enumerate([(0.2, 0.4), (0.6, 0.7), (0.7, 0.7)], 1):
            for worker, f1 in enumerate(values):
                history.add(EpochRecord(f"worker-{worker}", epoch, metrics={"f1": f1}))
        display = WorkersOverEpochsDisplay.from_histories({"DSSGD": history})
        expected = [("DSSGD", 1, 0.3, 0.2, 0.4), ("DSSGD", 2, 0.65, 0.6, 0.7), ("DSSGD", 3, 0.7, 0.7, 0.7)]
        found = [(p.strategy, p.epoch, p.f1, p.f1_low, p.f1_high) for p in display.points]
        assert [row[:2] for row in found] == [row[:2] for row in expected]
        np.testing.assert_allclose([row[2:] for row in found], [row[2:] for row in expected])

    def test_history_without_the_metric(self):
        history = History()
        history.add(EpochRecord("worker-0", 1))
        with pytest.raises(ValueError, match="validation_fraction"):
            WorkersOverEpochsDisplay.from_histories({"DSSGD": history})

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([], "at least one row"),
            ([{"strategy": "A", "epoch": 1}], "Result 0 lacks f1"),
            ([{"strategy": "A", "epoch": 0, "f1": 0.5}], "at least 1"),
            ([{"strategy": "A", "epoch": 1, "f1": 0.5, "f1_low": 0.6}], "in its interval"),
            ([CURVES[0], CURVES[0]], "same epoch"),
        ],
    )
    def test_rows_that_do_not_fit(self, rows, message):
        with pytest.raises(ValueError, match=message):
            WorkersOverEpochsDisplay.from_results(rows)

    def test_no_points_and_given_axes(self):
        from matplotlib import pyplot

        with pytest.raises(ValueError, match="at least one point"):
            WorkersOverEpochsDisplay([])
        _, ax = pyplot.subplots()
        assert WorkersOverEpochsDisplay([WorkersOverEpochsPoint("A", 1, 0.5)]).plot(ax).ax_ is ax


class TestSharedFraction:
    def test_lines_go_from_left_to_right_and_references_lie_flat(self):
        display = SharedFractionDisplay.from_results(SHARES).plot()
        left = {name: line.lines[0].get_xydata().tolist() for name, line in display.fraction_lines_.items()}
        assert left == {"C": [[0.1, 0.8], [0.5, 0.9]]}
        right = {name: line.lines[0].get_xydata().tolist() for name, line in display.bytes_lines_.items()}
        assert right == {"C": [[50, 0.8], [200, 0.9]], "B": [[800, 0.94]]}
        for ax in display.axes_:
            flat = {line.get_label(): line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1}
            assert {name: flat[name] for name in ("A", "D")} == {"A": 0.95, "D": 0.7}
            assert ax.get_xscale() == "log"
        names = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
        assert sorted(names) == ["A", "B", "C", "D"]
        display.figure_.canvas.draw()

    def test_a_method_looks_alike_in_both_panels(self):
        display = SharedFractionDisplay.from_results(SHARES[::-1]).plot()
        assert display.fraction_lines_["C"].lines[0].get_color() == display.bytes_lines_["C"].lines[0].get_color()
        assert display.bytes_lines_["B"].lines[0].get_color() != display.bytes_lines_["C"].lines[0].get_color()

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"shared_fraction": 0.0}, "shared_fraction"),
            ({"shared_fraction": 1.5}, "shared_fraction"),
            ({"bytes_per_epoch": -1}, "bytes_per_epoch"),
            ({"f1_high": 0.1}, "in its interval"),
        ],
    )
    def test_rows_that_do_not_fit(self, row, message):
        with pytest.raises(ValueError, match=message):
            SharedFractionDisplay.from_results([{"method": "C", "f1": 0.5, **row}])

    def test_wrong_number_of_axes_and_no_points(self):
        with pytest.raises(ValueError, match="2 axes"):
            SharedFractionDisplay.from_results(SHARES).plot(axes=[])
        with pytest.raises(ValueError, match="at least one point"):
            SharedFractionDisplay([])
