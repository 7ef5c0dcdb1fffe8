"""The figure of the price of recall shows the numbers of the curve."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_deid import RecallTunedTagger
from sklearn_deid.metrics import PriceCurve
from sklearn_deid.plotting import RecallPriceDisplay

CURVE = PriceCurve([0.0, 1.0, 2.0], [0.9, 0.95, 0.98], [0.87, 0.93, 0.96], [0.95, 0.9, 0.7], [0.1, 0.11, 0.14])


def test_draws_what_it_is_given():
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    display = RecallPriceDisplay.from_curve(CURVE).plot(ax)
    pairs = [(CURVE.recall, CURVE.precision), (CURVE.reachable, CURVE.precision), (CURVE.recall, CURVE.hidden)]
    for line, (x, y) in zip(display.lines_, pairs, strict=True):
        assert np.array_equal(line.get_xydata(), np.column_stack([x, y]))
    assert (display.ax_, display.figure_) == (ax, figure)
    figure.canvas.draw()


def test_each_line_is_visible_if_all_points_are_equal():
    """A perfect tagger has the same recall at each bias, and a dotted line of equal points draws nothing."""
    from matplotlib import pyplot

    equal = PriceCurve([0.0, 1.0], [0.99, 0.99], [0.95, 0.95], [0.9, 0.9], [0.1, 0.1])
    figure, ax = pyplot.subplots()
    display = RecallPriceDisplay.from_curve(equal).plot(ax)
    ax.get_legend().remove()  # its samples are visible in any case
    for line in display.lines_:
        figure.canvas.draw()
        shown = np.asarray(figure.canvas.buffer_rgba()).copy()
        line.set_visible(False)
        figure.canvas.draw()
        assert not np.array_equal(shown, np.asarray(figure.canvas.buffer_rgba())), line.get_label()


def test_tagger_without_held_out_patients_is_refused():
    tuned = RecallTunedTagger()
    tuned.price_curve_ = None
    with pytest.raises(ValueError, match="held no patient out"):
        RecallPriceDisplay.from_estimator(tuned)
    tuned.price_curve_ = CURVE
    assert RecallPriceDisplay.from_estimator(tuned).curve is CURVE
