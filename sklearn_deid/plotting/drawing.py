"""Axes for drawing, and colours and markers that colour-blind readers, and readers of black-and-white prints, can
distinguish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

GRAY = "#555555"

# Palette of Okabe & Ito (2008) without yellow, because yellow is hard to see on white. The numbers of colours (7) and
# markers (9) have no common factor, so 63 lines differ.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")


def axes_or_new(ax: Axes | None) -> tuple[Axes, Figure | SubFigure]:
    """Return the given axes or new axes, and their figure.

    A new figure has space for a legend to the right of the axes.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    import_optional("matplotlib", extra="plot", purpose="plots")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(8.0, 4.5), layout="constrained")[1]
    return ax, figure_of(ax)


def figure_of(ax: Axes) -> Figure | SubFigure:
    """Figure that contains the axes."""
    figure = ax.get_figure()
    assert figure is not None  # axes that are drawn belong to one
    return figure


def panels_or_new(axes: Sequence[Axes] | None, n: int, **subplots: Any) -> list[Axes]:
    """Return the ``n`` given axes, or the axes of a new figure.

    Parameters
    ----------
    axes : sequence of matplotlib Axes or None
        Axes to draw on. None creates a new figure.
    n : int
        Number of axes that the display needs.
    **subplots
        Options of ``pyplot.subplots`` for a new figure. Without "ncols" the axes form one column and share their x
        axis.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    ValueError
        If the number of axes is not ``n``.
    """
    import_optional("matplotlib", extra="plot", purpose="plots")
    if axes is not None:
        given = list(axes)
        if len(given) != n:
            raise ValueError(f"The 'axes' parameter must hold {n} axes. Got {len(given)} instead.")
        return given
    from matplotlib import pyplot

    stacked: dict[str, Any] = {} if "ncols" in subplots else {"nrows": n, "sharex": True}
    return list(pyplot.subplots(layout="constrained", squeeze=False, **stacked, **subplots)[1].flat)


def grid_behind(ax: Axes) -> None:
    """Draw light lines at the major ticks, behind the data."""
    ax.grid(True, which="major", color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)


def legend_beside(ax: Axes, **options: Any) -> None:
    """Place the legend to the right of the axes, outside the data."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **options)


def line_style(number: int) -> dict[str, Any]:
    """Colour and marker of the line with this number, counted from 0.

    Examples
    --------
    >>> line_style(0)
    {'color': '#0072B2', 'marker': 'o'}
    """
    return {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number % len(_MARKERS)]}


def error_lengths(points: Sequence[Any], name: str) -> np.ndarray | None:
    """Lengths of the error bars from ``name_low`` to ``name_high``, shape (2, n); None if no point has an interval."""
    rows = [[getattr(point, name + end) for end in ("", "_low", "_high")] for point in points]
    if all(low is None and high is None for _, low, high in rows):
        return None
    # A missing end gives a bar of length 0. Shape: (2, n), lengths below and above each value.
    return np.array(
        [
            [0.0 if low is None else v - low for v, low, _ in rows],
            [0.0 if high is None else high - v for v, _, high in rows],
        ]
    )
