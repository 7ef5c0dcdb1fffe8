"""Axes to draw on, and colours and markers that stay distinct for colour-blind readers and in print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_or_new", "line_style"]

# Okabe & Ito (2008) without yellow, which is hard to see on white. Markers and colours have no common factor in their
# numbers, so that 63 lines differ.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure whose legend may stand beside them.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    import_optional("matplotlib", extra="plot", purpose="plots")
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(8.0, 4.5), layout="constrained")[1]


def line_style(number: int) -> dict[str, Any]:
    """Colour and marker of the ``number``-th line.

    Examples
    --------
    >>> line_style(0)
    {'color': '#0072B2', 'marker': 'o'}
    """
    return {"color": _COLORS[number % len(_COLORS)], "marker": _MARKERS[number % len(_MARKERS)]}
