"""Figure of precision and hidden text against recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..metrics import PriceCurve
from .drawing import GRAY, axes_or_new, grid_behind, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class RecallPriceDisplay:
    """Precision and proportion of hidden text against the recall, one point for each decision bias.

    Parameters
    ----------
    curve : PriceCurve
        Result of :func:`sklearn_deid.tagging.recall_price`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the figure.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    lines_ : list of matplotlib Line2D
        Precision against the recall, precision against the recall that the held-out patients can prove, and hidden
        text.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> from sklearn_deid.metrics import PriceCurve
    >>> curve = PriceCurve([0.0, 2.0], [0.9, 0.98], [0.87, 0.96], [0.95, 0.7], [0.1, 0.14])
    >>> display = RecallPriceDisplay.from_curve(curve).plot()
    >>> [line.get_label() for line in display.lines_]
    ['precision', 'precision, at the proved recall', 'hidden text']
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, curve: PriceCurve) -> None:
        self.curve = curve

    @classmethod
    def from_curve(cls, curve: PriceCurve) -> RecallPriceDisplay:
        """Create the display of a curve without drawing; call :meth:`plot` to draw."""
        return cls(curve)

    @classmethod
    def from_estimator(cls, tuned: Any) -> RecallPriceDisplay:
        """Create the display from the held-out patients of a fitted :class:`sklearn_deid.RecallTunedTagger`.

        Raises
        ------
        ValueError
            If the tagger has no held-out patients.
        """
        if tuned.price_curve_ is None:
            raise ValueError("The tagger held no patient out and has no price curve.")
        return cls(tuned.price_curve_)

    def plot(self, ax: Axes | None = None) -> RecallPriceDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure.

        Returns
        -------
        RecallPriceDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn, self.figure_ = axes_or_new(ax)
        self.ax_, curve = drawn, self.curve
        # Only markers are visible if all points are equal. A hollow marker does not cover the point of another line.
        proved = line_style(2) | {"color": GRAY, "markerfacecolor": "none", "linestyle": ":"}
        self.lines_ = [
            *drawn.plot(curve.recall, curve.precision, label="precision", linewidth=1.2, **line_style(0)),
            *drawn.plot(curve.reachable, curve.precision, label="precision, at the proved recall", **proved),
            *drawn.plot(curve.recall, curve.hidden, label="hidden text", linewidth=1.2, **line_style(1)),
        ]
        drawn.set_xlabel("Recall on held-out patients")
        drawn.set_ylabel("Share of tokens")
        drawn.set_ylim(-0.03, 1.03)
        grid_behind(drawn)
        drawn.legend()
        return self
