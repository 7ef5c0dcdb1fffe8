"""Placement of short labels beside points, so that no label covers a point or another label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

# Distances between a label and its point, in typographic points (1/72 inch). From the third distance on, a thin line
# connects the label with the point.
_DISTANCES = (7.0, 11.0, 18.0, 28.0, 40.0)
_NEAR = 11.5
_FONT_SIZE = "small"
_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_MARKER_RADIUS = 4.5
# Costs of a position, in units of one typographic point of distance: for each square pixel of another label that is
# covered, and for each two pixels of a line that is crossed.
_COVERED, _CROSSED = 1000.0, 3.0


def place_labels(
    ax: Axes, points: np.ndarray, labels: Sequence[str], colors: Sequence[str], strokes: Sequence[np.ndarray] = ()
) -> list[Annotation]:
    """Write a label beside each point.

    The labels are placed in their order. Each label takes the cheapest of 40 positions. A position is very costly if
    the label leaves the axes or covers a point, an earlier label or the legend. Among the other positions, near ones
    that cross few lines are cheap. Limits and size of the axes must be final.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes that hold the points.
    points : ndarray of float, shape (n, 2)
        Points in data coordinates.
    labels : sequence of str, length n
        Texts of the labels. An empty text is not written.
    colors : sequence of str, length n
        Colours of the labels.
    strokes : sequence of ndarray of float, shape (n_vertices, 2)
        Lines in the plot, in data coordinates.

    Returns
    -------
    list of matplotlib Annotation
        The written labels.
    """
    from matplotlib.patheffects import withStroke

    figure = ax.get_figure()
    assert figure is not None  # axes that are drawn belong to one
    # The layout must be computed first: only then do pixel positions and the size of the legend exist.
    figure.draw_without_rendering()  # type: ignore[union-attr]
    # pixels in one typographic point
    pixel = figure.dpi / 72.0
    # shape: (n, 2), in pixels
    at = ax.transData.transform(points).reshape(-1, 2)
    taken = _occupied(ax, at, _MARKER_RADIUS * pixel)
    # shape: (n_samples, 2), points along all lines, in pixels
    drawn = np.concatenate([_along(ax.transData.transform(line)) for line in strokes] or [np.empty((0, 2))])
    written = []
    for xy, center, label, color in zip(points, at, labels, colors, strict=True):
        if not label:
            continue
        size = _size_of(ax, label, xy)
        box, offset = _best_place(center, size, pixel, (np.array(ax.bbox.extents), taken, drawn))
        leads = np.hypot(*offset) > _NEAR * pixel
        text = ax.annotate(
            label,
            tuple(xy),
            xytext=tuple((box[:2] - center) / pixel),
            textcoords="offset points",
            fontsize=_FONT_SIZE,
            color=color,
            path_effects=[withStroke(linewidth=2, foreground="white")],  # legible where it crosses a line
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.5, "shrinkA": 0, "shrinkB": 3} if leads else None,
        )
        # Greedy, in the order of the points. An optimum over all labels would move labels whenever one point is added.
        taken.append(box)
        written.append(text)
    return written


def _occupied(ax: Axes, at: np.ndarray, radius: float) -> list[np.ndarray]:
    """Boxes (x0, y0, x1, y1) of the points and of the legend, in pixels."""
    boxes = [np.array([x - radius, y - radius, x + radius, y + radius]) for x, y in at]
    legend = ax.get_legend()
    return boxes if legend is None else [*boxes, np.array(legend.get_window_extent().extents)]


def _size_of(ax: Axes, label: str, xy: np.ndarray) -> tuple[float, float]:
    """Width and height of the label of a point, in pixels."""
    # Only a label that is drawn has a size, so a trial label is written at its point, measured and removed.
    text = ax.annotate(label, tuple(xy), xytext=(0, 0), textcoords="offset points", fontsize=_FONT_SIZE)
    size = text.get_window_extent()
    text.remove()
    return size.width, size.height


def strokes_of(containers: Iterable[Any]) -> list[np.ndarray]:
    """Vertices of the lines and bars of errorbar containers, in the form of the ``strokes`` of `place_labels`."""
    strokes = []
    for container in containers:
        line, _, bars = container.lines
        strokes.append(np.asarray(line.get_xydata()))
        strokes += [np.asarray(segment) for bar in bars for segment in bar.get_segments()]
    return strokes


def _best_place(
    center: np.ndarray, size: tuple[float, float], pixel: float, scene: tuple[np.ndarray, list[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Box of the label (x0, y0, x1, y1) and offset of the edge that is near the point, in pixels."""
    inside, taken, drawn = scene
    best: tuple[float, np.ndarray, np.ndarray] | None = None
    for distance, direction in product(_DISTANCES, _DIRECTIONS):
        offset = distance * pixel * np.array(direction) / np.hypot(*direction)
        # The edge or corner that faces the point lies at the offset. A direction of 1 puts the low edge there, -1 the
        # high edge, and 0 the middle. Shape: (2,)
        low = center + offset - np.array(size) * (1 - np.array(direction)) / 2
        box = np.concatenate([low, low + size])
        outside = np.maximum(inside[:2] - box[:2], 0).sum() + np.maximum(box[2:] - inside[2:], 0).sum()
        # square pixels
        covered = sum(_overlap(box, other) for other in taken)
        # number of sampled points of lines inside the box
        crossed = ((drawn >= box[:2]) & (drawn <= box[2:])).all(axis=1).sum()
        cost = _COVERED * (outside + covered) + _CROSSED * crossed + distance
        if best is None or cost < best[0]:
            best = cost, box, offset
    assert best is not None
    return best[1], best[2]


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    return float(width * height) if width > 0 and height > 0 else 0.0


def _along(line: np.ndarray) -> np.ndarray:
    """Points along a line, about one for every two pixels."""
    pieces = []
    for start, end in zip(line[:-1], line[1:], strict=True):
        n = int(np.clip(np.hypot(*(end - start)) / 2, 2, 2000))
        # shape: (n, 2)
        pieces.append(start + (end - start) * np.linspace(0, 1, n)[:, None])
    return np.concatenate(pieces) if pieces else np.empty((0, 2))
