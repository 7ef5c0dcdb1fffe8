"""F1 of a tagger against the bound on the best attacker, for one moved token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn_deid.plotting.drawing import (
    GRAY,
    axes_or_new,
    error_lengths,
    grid_behind,
    legend_beside,
    line_style,
)

from .result_rows import check_measured, check_neighbors, draw_reference, read_points, read_reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["BoundTradeOffDisplay", "BoundTradeOffPoint"]


@dataclass(frozen=True)
class BoundTradeOffPoint:
    """Bounded training with one N and one bound that was asked for.

    Attributes
    ----------
    n_neighbors : int
        N, at least 1.
    bound, bound_low, bound_high : float, float or None
        Mean accuracy of the best attacker over random pairs of held-out patients, for ideal noise, and its interval
        over seeds; 0.5 is chance.
    f1, f1_low, f1_high : float, float or None
        F1 on raw notes and its interval over seeds, from 0 to 1.

    Raises
    ------
    ValueError
        If a number is out of range or not in its interval.
    """

    n_neighbors: int
    bound: float
    f1: float
    bound_low: float | None = None
    bound_high: float | None = None
    f1_low: float | None = None
    f1_high: float | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.n_neighbors)
        check_measured("bound", self.bound, self.bound_low, self.bound_high)
        check_measured("f1", self.f1, self.f1_low, self.f1_high)
        if self.bound < 0.5:
            raise ValueError(f"'bound' must be at least 0.5, which is chance. Got {self.bound} instead.")


class BoundTradeOffDisplay:
    """What privacy costs: F1 against the mean accuracy of the best attacker on one token, a line for each N.

    The best corner is at the upper left. N that share a bound do not promise the same: the bound of a larger N holds
    for more and farther words.

    Parameters
    ----------
    points : iterable of BoundTradeOffPoint
        Points of one N are joined in the order of their bound.
    raw_f1 : float or (value, low, high), optional
        F1 after training on raw notes, a line of reference.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of int to matplotlib ErrorbarContainer
        By N, from small to large.

    Raises
    ------
    ValueError
        If there is no point.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> rows = [{"n_neighbors": 100, "bound": 0.6, "f1": 0.99}, {"n_neighbors": 100, "bound": 0.52, "f1": 0.98},
    ...         {"n_neighbors": 10, "bound": 0.52, "f1": 0.985, "f1_low": 0.98, "f1_high": 0.99}]
    >>> display = BoundTradeOffDisplay.from_results(rows, raw_f1=0.991).plot()
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['raw training', 'chance', 'N = 10', 'N = 100']
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, points: Iterable[BoundTradeOffPoint], *, raw_f1: float | Sequence[float] | None = None) -> None:
        self.points, self.raw_f1 = tuple(points), read_reference("raw_f1", raw_f1)
        if not self.points:
            raise ValueError("The 'points' parameter must hold at least one point. Got none instead.")

    @classmethod
    def from_results(
        cls, results: Iterable[Mapping[str, Any]], *, raw_f1: float | Sequence[float] | None = None
    ) -> BoundTradeOffDisplay:
        """Display of results as mappings, as a benchmark writes them to JSON.

        Parameters
        ----------
        results : iterable of mapping
            With the keys of `BoundTradeOffPoint`. Ends of intervals may be missing, None or NaN; other keys are
            ignored.
        raw_f1 : float or (value, low, high), optional

        Returns
        -------
        BoundTradeOffDisplay
            Not yet drawn; see :meth:`plot`.

        Raises
        ------
        ValueError
            If a result lacks a key, or its numbers are out of range.
        """
        return cls(read_points(BoundTradeOffPoint, results), raw_f1=raw_f1)

    def plot(self, ax: Axes | None = None) -> BoundTradeOffDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Made if ``None``.

        Returns
        -------
        BoundTradeOffDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn, self.figure_ = axes_or_new(ax)
        self.ax_ = drawn
        draw_reference(drawn, self.raw_f1, "raw training")
        drawn.axvline(0.5, color=GRAY, linestyle=":", linewidth=1.4, label="chance", zorder=1)
        numbers = sorted({point.n_neighbors for point in self.points})
        self.lines_ = {n: self._draw_line(n, line_style(i)) for i, n in enumerate(numbers)}
        drawn.set_xlabel("Bound: mean accuracy of the best attacker (0 to 1; left: more private)")
        drawn.set_ylabel("F1 on raw notes (0 to 1; up: more useful)")
        drawn.margins(0.06)
        grid_behind(drawn)
        legend_beside(drawn)
        return self

    def _draw_line(self, n_neighbors: int, look: dict[str, Any]) -> Any:
        points = sorted((p for p in self.points if p.n_neighbors == n_neighbors), key=lambda p: p.bound)
        return self.ax_.errorbar(
            [point.bound for point in points],
            [point.f1 for point in points],
            xerr=error_lengths(points, "bound"),
            yerr=error_lengths(points, "f1"),
            label=f"N = {n_neighbors:g}",
            linewidth=1.3,
            elinewidth=0.9,
            markersize=5.5,
            capsize=2.5,
            zorder=3,
            **look,
        )
