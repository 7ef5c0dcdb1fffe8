"""What training together reaches, against what each worker shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional
from .drawing import GRAY, grid_behind, line_style, panels_or_new
from .result_rows import check_measured, error_lengths, read_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["SharedFractionDisplay", "SharedFractionPoint"]

_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (6, 1.5, 1, 1.5)))


@dataclass(frozen=True)
class SharedFractionPoint:
    """What one method reached with one shared fraction.

    Attributes
    ----------
    method : str
    f1 : float
        From 0 to 1.
    f1_low, f1_high : float or None
        Its interval, or the worst and the best worker.
    shared_fraction : float or None
        Share of all parameters that a worker sends after a local epoch, above 0 and up to 1; None for methods that do
        not exchange updates, which become lines of reference.
    bytes_per_epoch : float or None
        What a worker sends and fetches in a local epoch.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    method: str
    f1: float
    f1_low: float | None = None
    f1_high: float | None = None
    shared_fraction: float | None = None
    bytes_per_epoch: float | None = None

    def __post_init__(self) -> None:
        check_measured("f1", self.f1, self.f1_low, self.f1_high)
        if self.shared_fraction is not None and not 0 < self.shared_fraction <= 1:
            raise ValueError(f"'shared_fraction' must be above 0 and at most 1. Got {self.shared_fraction!r} instead.")
        if self.bytes_per_epoch is not None and not 0 <= self.bytes_per_epoch < np.inf:
            raise ValueError(f"'bytes_per_epoch' must not be negative. Got {self.bytes_per_epoch!r} instead.")


class SharedFractionDisplay:
    """Left the F1 over the share of parameters that workers send, right over the bytes of a local epoch.

    Parameters
    ----------
    points : iterable of SharedFractionPoint
        Points of one method are connected. Methods without a fraction and without bytes, such as training on all notes
        or alone, are horizontal lines.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    fraction_lines_, bytes_lines_ : dict of str to matplotlib ErrorbarContainer
        By method; bytes of 0 are not drawn.

    Raises
    ------
    ValueError
        If there is no point.

    See Also
    --------
    WorkersOverEpochsDisplay : F1 epoch by epoch.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> display = SharedFractionDisplay.from_results([
    ...     {"method": "DSSGD", "f1": 0.7, "shared_fraction": 0.1, "bytes_per_epoch": 50_000},
    ...     {"method": "DSSGD", "f1": 0.8, "shared_fraction": 0.5, "bytes_per_epoch": 200_000},
    ...     {"method": "all notes in one place", "f1": 0.9},
    ... ]).plot()
    >>> list(display.fraction_lines_), list(display.bytes_lines_)
    (['DSSGD'], ['DSSGD'])
    >>> pyplot.close(display.figure_)
    """

    axes_: np.ndarray
    figure_: Figure | SubFigure

    def __init__(self, points: Iterable[SharedFractionPoint]) -> None:
        self.points = tuple(points)
        if not self.points:
            raise ValueError("The 'points' parameter must hold at least one point. Got none instead.")

    @classmethod
    def from_results(cls, results: Iterable[Mapping[str, Any]]) -> SharedFractionDisplay:
        """Display of results as mappings, as a benchmark writes them to JSON.

        Parameters
        ----------
        results : iterable of mapping
            With the keys of `SharedFractionPoint`. All but "method" and "f1" may be missing, None or NaN.

        Raises
        ------
        ValueError
            If a result lacks a key or its numbers are out of range.
        """
        return cls(read_points(SharedFractionPoint, results))

    def plot(self, axes: Sequence[Axes] | None = None) -> SharedFractionDisplay:
        """Draw.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Made if ``None``.

        Returns
        -------
        SharedFractionDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        ValueError
            If there are not two axes.
        """
        drawn = panels_or_new(axes, 2, ncols=2, sharey=True, figsize=(11.0, 4.2))
        left, right = drawn
        figure = left.get_figure()
        assert figure is not None  # pyplot's axes belong to one
        self.axes_, self.figure_ = np.array(drawn, dtype=object), figure
        # The same look in both panels, whatever they leave out.
        looks = {method: line_style(number) for number, method in enumerate(self._methods())}
        self.fraction_lines_ = _draw_lines(left, self.points, "shared_fraction", 1.0, looks)
        self.bytes_lines_ = _draw_lines(right, self.points, "bytes_per_epoch", 1 / 1024, looks)
        self._draw_references()
        left.set_xlabel("Share of the parameters sent after an epoch (log scale)")
        right.set_xlabel("KiB sent and fetched in a local epoch (log scale)")
        left.set_ylabel("F1 (0 to 1)")
        for ax in drawn:
            _scale(ax)
        self._draw_legend()
        return self

    def _methods(self) -> list[str]:
        return list(dict.fromkeys(point.method for point in self.points if _exchanges(point)))

    def _draw_references(self) -> None:
        for number, point in enumerate(point for point in self.points if not _exchanges(point)):
            for ax in self.axes_:
                dash = _DASHES[number % len(_DASHES)]
                ax.axhline(point.f1, color=GRAY, linestyle=dash, linewidth=1.3, label=point.method, zorder=1)

    def _draw_legend(self) -> None:
        """Each method once, also those in one of the panels only."""
        found: dict[str, Any] = {}
        for ax in self.axes_:
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        self.axes_[1].legend(
            found.values(),
            found.keys(),
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            fontsize="small",
            handlelength=3.0,
        )


def _exchanges(point: SharedFractionPoint) -> bool:
    return point.shared_fraction is not None or bool(point.bytes_per_epoch)


def _draw_lines(
    ax: Axes, points: Sequence[SharedFractionPoint], name: str, unit: float, looks: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A line for each method with something on this axis, from left to right."""
    drawn = {}
    for method, look in looks.items():
        line = [point for point in points if point.method == method and getattr(point, name)]
        if not line:
            continue
        line.sort(key=lambda point: getattr(point, name))
        drawn[method] = ax.errorbar(
            [unit * getattr(point, name) for point in line],
            [point.f1 for point in line],
            yerr=error_lengths(line, "f1"),
            label=method,
            linewidth=1.3,
            elinewidth=0.9,
            markersize=5.5,
            capsize=2.5,
            zorder=3,
            **look,
        )
    return drawn


def _scale(ax: Axes) -> None:
    """Logarithmic, with plain numbers at 1, 2 and 5."""
    ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
    ax.set_xscale("log")
    ax.margins(x=0.1, y=0.1)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    grid_behind(ax)
