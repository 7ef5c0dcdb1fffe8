"""The figure of a noise study shows its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_deid.embeddings import NoiseStudy, WordVectors, noise_study
from sklearn_deid.plotting import TradeOffDisplay


@pytest.fixture(scope="module")
def study() -> NoiseStudy:
    array = np.random.default_rng(0).normal(size=(200, 8))
    vectors = WordVectors([f"word{i}" for i in range(200)], array)
    return noise_study(vectors, np.arange(100), [0.0, 0.2, 0.5, 2.0], random_state=0)


def test_draws_what_it_is_given(study):
    display = TradeOffDisplay.from_noise_study(study).plot()
    *found, cosine = display.lines_.values()
    assert [line.get_label() for line in found] == ["nearest", "among 5 nearest", "among 10 nearest"]
    for i, line in enumerate(found):
        assert np.array_equal(line.get_xydata(), np.column_stack([study.scales, study.found[:, i]]))
    assert np.array_equal(cosine.get_ydata(), study.mean_cosine)
    assert "n = 100" in display.ax_.get_ylabel()
    display.figure_.canvas.draw()


def test_bands_are_the_intervals(study):
    display = TradeOffDisplay.from_noise_study(study).plot()
    for i, band in enumerate(display.ax_.collections):
        vertices = band.get_paths()[0].vertices
        for scale, low, high in zip(study.scales, study.low[:, i], study.high[:, i], strict=True):
            at = vertices[vertices[:, 0] == scale, 1]
            assert (at.min(), at.max()) == pytest.approx((low, high))


def test_given_axes_are_used_and_hold_all_lines(study):
    from matplotlib import pyplot

    ax = pyplot.subplots()[1]
    display = TradeOffDisplay.from_noise_study(study)
    assert display.plot(ax) is display
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    low, high = ax.get_ylim()
    assert all(low <= line.get_ydata().min() <= line.get_ydata().max() <= high for line in display.lines_.values())
