"""Axes to draw on, and colours and markers that stay distinct for colour-blind readers and in print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

GRAY = "#555555"

# Okabe & Ito (2008) without yellow, which is hard to see on white. Markers and colours have no common factor in their
# numbers, so that 63 lines differ.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")


def axes_or_new(ax: Axes | None) -> tuple[Axes, Figure | SubFigure]:
    """The axes given, or those of a new figure with room for a legend beside them; and their figure.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    import_optional("matplotlib", extra="plot", purpose="plots")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(8.0, 4.5), layout="constrained")[1]
    figure = ax.get_figure()
    assert figure is not None  # pyplot's axes belong to one
    return ax, figure


def panels_or_new(axes: Sequence[Axes] | None, n: int, **subplots: Any) -> list[Axes]:
    """The ``n`` axes given, or those of a new figure.

    Parameters
    ----------
    axes : sequence of matplotlib Axes or None
    n : int
    **subplots
        For ``pyplot.subplots``.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    ValueError
        If there are more or fewer axes.
    """
    import_optional("matplotlib", extra="plot", purpose="plots")
    if axes is not None:
        given = list(axes)
        if len(given) != n:
            raise ValueError(f"The 'axes' parameter must hold {n} axes. Got {len(given)} instead.")
        return given
    from matplotlib import pyplot

    return list(pyplot.subplots(layout="constrained", squeeze=False, **subplots)[1].flat)


def grid_behind(ax: Axes) -> None:
    """Light lines at the major ticks, behind the data."""
    ax.grid(True, which="major", color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)


def legend_beside(ax: Axes, **options: Any) -> None:
    """Legend at the right of the axes, outside the data."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **options)


def line_style(number: int) -> dict[str, Any]:
    """Colour and marker of the ``number``-th line.

    Examples
    --------
    >>> line_style(0)
    {'color': '#0072B2', 'marker': 'o'}
    """
    return {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number % len(_MARKERS)]}


def error_lengths(points: Sequence[Any], name: str) -> np.ndarray | None:
    """Lengths of error bars of ``name``, from ``name_low`` to ``name_high``, shape (2, n); None without an interval."""
    rows = [[getattr(point, name + end) for end in ("", "_low", "_high")] for point in points]
    if all(low is None and high is None for _, low, high in rows):
        return None
    return np.array(
        [
            [0.0 if low is None else v - low for v, low, _ in rows],
            [0.0 if high is None else high - v for v, _, high in rows],
        ]
    )
