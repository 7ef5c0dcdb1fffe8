"""Shared by the tests of figures: no window, no figure left open."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib (extra 'plot') is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
