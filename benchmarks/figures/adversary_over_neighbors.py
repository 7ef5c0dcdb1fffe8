"""F1 of a tagger and accuracy of adversaries over the number of neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_deid._optional import import_optional
from sklearn_deid.plotting.drawing import GRAY, error_lengths, figure_of, grid_behind, line_style, panels_or_new

from .result_rows import check_measured, check_neighbors, draw_reference, read_points, read_reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["AdversaryOverNeighborsDisplay", "AdversaryOverNeighborsPoint"]

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_CLOSEST_TICKS = 0.07  # of the width of the axis


@dataclass(frozen=True)
class AdversaryOverNeighborsPoint:
    """One method at one N, and what one adversary reads of it.

    Attributes
    ----------
    method : str
    n_neighbors : int
        N, at least 1.
    adversary : str
        Empty where there is but one.
    f1, f1_low, f1_high : float or None
        F1 on raw notes and its interval, from 0 to 1. Rows of other adversaries may repeat it.
    accuracy, accuracy_low, accuracy_high : float or None
        How often the adversary is right, and its 95 % interval; 0.5 is chance.

    Raises
    ------
    ValueError
        If a number is out of range or not in its interval.
    """

    method: str
    n_neighbors: int
    adversary: str = ""
    f1: float | None = None
    f1_low: float | None = None
    f1_high: float | None = None
    accuracy: float | None = None
    accuracy_low: float | None = None
    accuracy_high: float | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.n_neighbors)
        check_measured("f1", self.f1, self.f1_low, self.f1_high)
        check_measured("accuracy", self.accuracy, self.accuracy_low, self.accuracy_high)


class AdversaryOverNeighborsDisplay:
    """Left the F1 of each method over N, right how often each adversary is right.

    Methods differ in colour and marker, adversaries in how lines are dashed, so that both can be read in print.

    Parameters
    ----------
    points : iterable of AdversaryOverNeighborsPoint
    raw_f1 : float or (value, low, high), optional
        F1 after training on raw notes, a line of reference.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    f1_lines_ : dict of str to matplotlib ErrorbarContainer
        By method; without methods that have no F1.
    accuracy_lines_ : dict of (str, str) to matplotlib ErrorbarContainer
        By method and adversary.

    Raises
    ------
    ValueError
        If there is no point, or there are two for the same method, adversary and N.

    References
    ----------
    Friedrich et al. (2019), figure 5.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> row = {"method": "three-part", "f1": 0.97}
    >>> display = AdversaryOverNeighborsDisplay.from_results([
    ...     {**row, "n_neighbors": 10, "adversary": "paper's", "accuracy": 0.5},
    ...     {**row, "n_neighbors": 10, "adversary": "strong", "accuracy": 0.7, "accuracy_low": 0.6},
    ...     {**row, "n_neighbors": 100, "adversary": "strong"},
    ... ]).plot()
    >>> list(display.f1_lines_), list(display.accuracy_lines_)
    (['three-part'], [('three-part', "paper's"), ('three-part', 'strong')])
    >>> pyplot.close(display.figure_)
    """

    axes_: np.ndarray
    figure_: Figure | SubFigure

    def __init__(
        self,
        points: Iterable[AdversaryOverNeighborsPoint],
        *,
        raw_f1: float | Sequence[float] | None = None,
    ) -> None:
        self.points, self.raw_f1 = tuple(points), read_reference("raw_f1", raw_f1)
        if not self.points:
            raise ValueError("The 'points' parameter must hold at least one point. Got none instead.")
        self._f1 = self._f1_of_methods()
        self._accuracy = self._accuracy_of_adversaries()

    @classmethod
    def from_results(
        cls, results: Iterable[Mapping[str, Any]], *, raw_f1: float | Sequence[float] | None = None
    ) -> AdversaryOverNeighborsDisplay:
        """Display of results as mappings, as a benchmark writes them to JSON.

        Parameters
        ----------
        results : iterable of mapping
            With the keys of `AdversaryOverNeighborsPoint`. All but "method" and "n_neighbors" may be missing, None or
            NaN; other keys are ignored.
        raw_f1 : float or (value, low, high), optional

        Returns
        -------
        AdversaryOverNeighborsDisplay
            Not yet drawn; see :meth:`plot`.

        Raises
        ------
        ValueError
            If a result lacks a key, its numbers are out of range, or two results contradict each other.
        """
        return cls(read_points(AdversaryOverNeighborsPoint, results), raw_f1=raw_f1)

    def plot(self, axes: Sequence[Axes] | None = None) -> AdversaryOverNeighborsDisplay:
        """Draw.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Made if ``None``.

        Returns
        -------
        AdversaryOverNeighborsDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        ValueError
            If there are not two axes.
        """
        left, right = drawn = panels_or_new(axes, 2, ncols=2, figsize=(11.0, 4.2))
        self.axes_, self.figure_ = np.array(drawn, dtype=object), figure_of(left)
        for ax in drawn:
            self._scale_neighbors(ax)
            grid_behind(ax)
        draw_reference(left, self.raw_f1, "raw training")
        right.axhline(0.5, color=GRAY, linestyle=":", linewidth=1.4, label="chance", zorder=1)
        methods = list(dict.fromkeys(point.method for point in self.points))
        looks = {method: line_style(number) for number, method in enumerate(methods)}
        dashes = {name: self._dash(number) for number, name in enumerate(self._adversaries())}
        self.f1_lines_ = {method: _draw_line(left, points, "f1", looks[method]) for method, points in self._f1.items()}
        self.accuracy_lines_ = {
            key: _draw_line(right, points, "accuracy", looks[key[0]] | dashes[key[1]])
            for key, points in self._accuracy.items()
        }
        left.set_ylabel("F1 on raw notes (0 to 1)")
        right.set_ylabel("Accuracy of the adversary (0 to 1)")
        left.margins(y=0.1)
        right.margins(y=0.1)
        self._draw_legend(looks, dashes)
        return self

    def _f1_of_methods(self) -> dict[str, list[AdversaryOverNeighborsPoint]]:
        found: dict[tuple[str, float], AdversaryOverNeighborsPoint] = {}
        for point in self.points:
            known = found.get((point.method, point.n_neighbors), point)
            if point.f1 is None:
                continue
            if (known.f1, known.f1_low, known.f1_high) != (point.f1, point.f1_low, point.f1_high):
                raise ValueError(
                    f"Two points give different F1 for {point.method!r} at N = {point.n_neighbors:g}. Average over "
                    "seeds first, and name methods differently."
                )
            found[point.method, point.n_neighbors] = point
        return _by_key(found.values(), lambda point: point.method)

    def _accuracy_of_adversaries(self) -> dict[tuple[str, str], list[AdversaryOverNeighborsPoint]]:
        measured = [point for point in self.points if point.accuracy is not None]
        keys = [(point.method, point.adversary, point.n_neighbors) for point in measured]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise ValueError(
                f"Two points give an accuracy for {twice[0]!r}, adversary {twice[1]!r}, at N = {twice[2]:g}. Average "
                "over seeds first."
            )
        return _by_key(measured, lambda point: (point.method, point.adversary))

    def _adversaries(self) -> list[str]:
        return list(dict.fromkeys(adversary for _, adversary in self._accuracy))

    @staticmethod
    def _dash(number: int) -> dict[str, Any]:
        """How lines of the ``number``-th adversary are dashed; from the fifth on markers are hollow."""
        hollow = {"markerfacecolor": "white"} if number // len(_DASHES) % 2 else {}
        return {"linestyle": _DASHES[number % len(_DASHES)], **hollow}

    def _scale_neighbors(self, ax: Axes) -> None:
        """Logarithmic axis over all N, with a tick at each where there is room."""
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        ax.set_xscale("log")
        shown = np.unique([float(point.n_neighbors) for point in self.points])
        margin = max(0.06 * np.log10(shown[-1] / shown[0]), 0.1)
        low, high = np.log10(shown[[0, -1]]) + np.array([-margin, margin])
        ax.set_xlim(10**low, 10**high)
        roomy = len(shown) == 1 or np.diff(np.log10(shown)).min() >= _CLOSEST_TICKS * (high - low)
        ax.xaxis.set_major_locator(ticker.FixedLocator(shown) if roomy else ticker.LogLocator(subs=(1.0, 3.0)))
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        ax.set_xlabel("Number of neighbours N (log scale)")

    def _draw_legend(self, looks: dict[str, dict[str, Any]], dashes: dict[str, dict[str, Any]]) -> None:
        """Colours and markers of the methods, dashes of the adversaries, and the lines of reference."""
        lines = import_optional("matplotlib.lines", extra="plot", purpose="the legend")
        handles = [lines.Line2D([], [], label=method, **look) for method, look in looks.items()]
        if any(dashes):
            handles += [
                lines.Line2D([], [], color="black", label=name or "adversary", **_marker_if_hollow(dash), **dash)
                for name, dash in dashes.items()
            ]
        for ax in self.axes_:
            references = [line for line in ax.get_lines() if line.get_label() in ("chance", "raw training")]
            handles += references
        self.axes_[1].legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            fontsize="small",
            handlelength=3.2,
        )


def _marker_if_hollow(dash: dict[str, Any]) -> dict[str, Any]:
    """A full marker would look like that of a method."""
    return {"marker": "o", "markersize": 5} if "markerfacecolor" in dash else {}


def _by_key(points: Iterable[AdversaryOverNeighborsPoint], key: Any) -> dict[Any, list[AdversaryOverNeighborsPoint]]:
    """Points of each line from small to large N; lines in the order of their first point."""
    lines: dict[Any, list[AdversaryOverNeighborsPoint]] = {}
    for point in points:
        lines.setdefault(key(point), []).append(point)
    return {name: sorted(line, key=lambda point: point.n_neighbors) for name, line in lines.items()}


def _draw_line(ax: Axes, points: list[AdversaryOverNeighborsPoint], name: str, look: dict[str, Any]) -> Any:
    return ax.errorbar(
        [point.n_neighbors for point in points],
        [getattr(point, name) for point in points],
        yerr=error_lengths(points, name),
        linewidth=1.3,
        elinewidth=0.9,
        markersize=5.5,
        capsize=2.5,
        zorder=3,
        **look,
    )
