"""F1 of workers that train together, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional
from .drawing import axes_or_new, grid_behind, legend_beside, line_style
from .result_rows import check_measured, read_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["WorkersOverEpochsDisplay", "WorkersOverEpochsPoint"]

_SYMBOLS_SHOWN = 10  # of a line, however many epochs it has


@dataclass(frozen=True)
class WorkersOverEpochsPoint:
    """F1 of one strategy after one epoch.

    Attributes
    ----------
    strategy : str
        Name of the line.
    epoch : int
        Local epochs that each worker has done, from 1.
    f1 : float
        Mean over the workers, from 0 to 1.
    f1_low, f1_high : float or None
        Of the worst and of the best worker.

    Raises
    ------
    ValueError
        If a number is out of range, or the mean is not between the worst and the best worker.
    """

    strategy: str
    epoch: int
    f1: float
    f1_low: float | None = None
    f1_high: float | None = None

    def __post_init__(self) -> None:
        if not self.epoch >= 1:
            raise ValueError(f"'epoch' must be at least 1. Got {self.epoch!r} instead.")
        check_measured("f1", self.f1, self.f1_low, self.f1_high)


class WorkersOverEpochsDisplay:
    """F1 over local epochs: a line for the mean over the workers, a band from the worst to the best of them.

    Parameters
    ----------
    points : iterable of WorkersOverEpochsPoint
    f1_name : str, default="F1 on held-out patients"
        What was measured, for the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        By strategy.
    bands_ : dict of str to matplotlib Collection
        By strategy, of those whose points have a worst and a best worker.

    Raises
    ------
    ValueError
        If there is no point, or there are two of one strategy and epoch.

    See Also
    --------
    SharedFractionDisplay : What was reached, against what was sent.

    References
    ----------
    Festag & Spreckelsen (2020), figure 6.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> display = WorkersOverEpochsDisplay.from_results([
    ...     {"strategy": "DSSGD", "epoch": 1, "f1": 0.5, "f1_low": 0.4, "f1_high": 0.6},
    ...     {"strategy": "DSSGD", "epoch": 2, "f1": 0.8, "f1_low": 0.7, "f1_high": 0.9},
    ... ]).plot()
    >>> display.lines_["DSSGD"].get_ydata().tolist()
    [0.5, 0.8]
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Line2D]
    bands_: dict[str, Any]

    def __init__(self, points: Iterable[WorkersOverEpochsPoint], *, f1_name: str = "F1 on held-out patients") -> None:
        self.points, self.f1_name = tuple(points), f1_name
        if not self.points:
            raise ValueError("The 'points' parameter must hold at least one point. Got none instead.")
        self._lines: dict[str, list[WorkersOverEpochsPoint]] = {}
        for point in sorted(self.points, key=lambda point: point.epoch):
            self._lines.setdefault(point.strategy, []).append(point)
        for strategy, line in self._lines.items():
            if len({point.epoch for point in line}) < len(line):
                raise ValueError(f"Two points are of {strategy!r} in the same epoch. Average over seeds first.")

    @classmethod
    def from_results(
        cls, results: Iterable[Mapping[str, Any]], *, f1_name: str = "F1 on held-out patients"
    ) -> WorkersOverEpochsDisplay:
        """Display of results as mappings, as a benchmark writes them to JSON.

        Parameters
        ----------
        results : iterable of mapping
            With the keys of `WorkersOverEpochsPoint`; other keys are ignored.
        f1_name : str, optional

        Raises
        ------
        ValueError
            If a result lacks a key or its numbers are out of range.
        """
        return cls(read_points(WorkersOverEpochsPoint, results), f1_name=f1_name)

    @classmethod
    def from_histories(
        cls, histories: Mapping[str, Any], *, metric: str = "f1", f1_name: str = "F1 on held-out patients"
    ) -> WorkersOverEpochsDisplay:
        """Display of ``history_`` of ensembles that held patients out.

        Parameters
        ----------
        histories : mapping of str to federated.History
            By the name of the line.
        metric : str, default="f1"
            Which of the metrics; "f1" is there with ``validation_fraction``.
        f1_name : str, optional

        Raises
        ------
        ValueError
            If a history does not have the metric.
        """
        points = []
        for name, history in histories.items():
            table = list(history.table(metric).values())
            for place in range(max(map(len, table), default=0)):
                values = [float(column[place]) for column in table if place < len(column)]
                if np.isnan(values).any():
                    raise ValueError(f"The history of {name!r} has no {metric!r}: set 'validation_fraction'.")
                low, high = min(values), max(values)
                mean = min(max(float(np.mean(values)), low), high)  # equal values may round beyond themselves
                points.append(WorkersOverEpochsPoint(name, place + 1, mean, low, high))
        return cls(points, f1_name=f1_name)

    def plot(self, ax: Axes | None = None) -> WorkersOverEpochsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Made if ``None``.

        Returns
        -------
        WorkersOverEpochsDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn = axes_or_new(ax)
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        figure = drawn.get_figure()
        assert figure is not None  # pyplot's axes belong to one
        self.ax_, self.figure_, self.lines_, self.bands_ = drawn, figure, {}, {}
        for number, (strategy, points) in enumerate(self._lines.items()):
            # Colours come again from the eighth line on.
            self._draw_line(strategy, points, line_style(number) | ({"linestyle": "--"} if number >= 7 else {}))
        drawn.set_xlabel("Local epochs of each worker")
        drawn.set_ylabel(f"{self.f1_name} (0 to 1)")
        drawn.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
        grid_behind(drawn)
        ranges = " and range" if self.bands_ else ""
        legend_beside(drawn, fontsize="small", title=f"Mean{ranges} over workers", title_fontsize="small")
        return self

    def _draw_line(self, strategy: str, points: list[WorkersOverEpochsPoint], look: dict[str, Any]) -> None:
        epochs = [point.epoch for point in points]
        low, high = ([getattr(point, name) for point in points] for name in ("f1_low", "f1_high"))
        (self.lines_[strategy],) = self.ax_.plot(
            epochs,
            [point.f1 for point in points],
            label=strategy,
            linewidth=1.5,
            markersize=5,
            markevery=max(1, len(epochs) // _SYMBOLS_SHOWN),
            zorder=3,
            **look,
        )
        if None not in (*low, *high):
            self.bands_[strategy] = self.ax_.fill_between(
                epochs, low, high, color=look["color"], alpha=0.18, linewidth=0, zorder=2
            )
