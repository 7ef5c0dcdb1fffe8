"""Figure of a grid search: F1 against privacy for each candidate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import axes_or_new, grid_behind, legend_beside, line_style
from .label_placement import place_labels, strokes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(frozen=True)
class PrivacyUtilityGridPoint:
    """One candidate of a grid.

    Attributes
    ----------
    label : str
        Value of the parameter. The display writes the label beside the point.
    line : str
        Values of all other parameters. The display joins the candidates of one line in the given order.
    privacy, f1 : float
        Mean scores over the folds, from 0 to 1.
    privacy_std, f1_std : float, default=0.0
        Standard deviations over the folds.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    label: str
    line: str
    privacy: float
    f1: float
    privacy_std: float = 0.0
    f1_std: float = 0.0

    def __post_init__(self) -> None:
        for name in ("privacy", "f1"):
            value, deviation = getattr(self, name), getattr(self, f"{name}_std")
            if not 0.0 <= value <= 1.0 or not 0.0 <= deviation < math.inf:
                raise ValueError(
                    f"{name!r} must be from 0 to 1, and its deviation at least 0. Got {value} and {deviation} instead."
                )


class PrivacyUtilityGridDisplay:
    """F1 against the privacy score, for each candidate of a grid search.

    The best candidates lie in the upper right corner. Each bar is one standard deviation over the folds; a bar is no
    confidence interval. A privacy score of 0 can also mean that an audit failed.

    Parameters
    ----------
    points : iterable of PrivacyUtilityGridPoint
        Candidates to draw.
    parameter : str, default=""
        Name of the parameter whose values are written beside the points.
    n_left_out : int, default=0
        Number of candidates without a score, because a fit or an audit failed with an error. The title shows the
        number.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the figure.
    figure_ : matplotlib Figure
        Figure that holds the axes.
    lines_ : dict of str to matplotlib ErrorbarContainer
        Points and bars by the name of their line.
    labels_ : list of matplotlib Annotation
        Labels beside the points.

    Raises
    ------
    ValueError
        If there is no point.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> results = {"params": [{"n_neighbors": 10}, {"n_neighbors": 100}], "mean_test_privacy": [0.8, 0.9],
    ...            "std_test_privacy": [0.02, 0.01], "mean_test_f1": [0.97, 0.96], "std_test_f1": [0.01, 0.01]}
    >>> display = PrivacyUtilityGridDisplay.from_cv_results(results, parameter="n_neighbors").plot()
    >>> [label.get_text() for label in display.labels_]
    ['10', '100']
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, points: Iterable[PrivacyUtilityGridPoint], *, parameter: str = "", n_left_out: int = 0) -> None:
        self.points, self.parameter, self.n_left_out = tuple(points), parameter, n_left_out
        if not self.points:
            raise ValueError(
                "The 'points' parameter of PrivacyUtilityGridDisplay must hold at least one point. Got none instead."
            )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        *,
        privacy: str = "privacy",
        f1: str = "f1",
        parameter: str | None = None,
    ) -> PrivacyUtilityGridDisplay:
        """Create the display from the ``cv_results_`` of a search with two scorers.

        Parameters
        ----------
        cv_results : mapping
            Results with "params", and with the means and standard deviations of both scorers.
        privacy, f1 : str, default="privacy", "f1"
            Names of the scorers.
        parameter : str, optional
            Parameter whose values are written beside the points. You may give its full name or leave out the steps
            before the last "__". A line joins the candidates that differ in this parameter alone. By default, the
            values of all parameters that differ are written, and no candidates are joined.

        Returns
        -------
        PrivacyUtilityGridDisplay
            Display that is not yet drawn; call :meth:`plot` to draw.

        Raises
        ------
        ValueError
            If a column or the parameter is missing, or if no candidate has both scores.
        """
        columns = [f"{part}_test_{name}" for name in (privacy, f1) for part in ("mean", "std")]
        lacking = [name for name in ("params", *columns) if name not in cv_results]
        if lacking:
            raise ValueError(f"The 'cv_results' parameter lacks {', '.join(lacking)}.")
        # Only parameters that differ between candidates are written beside the points.
        candidates = list(cv_results["params"])
        varying = _varying(candidates)
        name = None if parameter is None else _full_name(parameter, candidates)
        points = []
        # scikit-learn writes NaN as the score of a candidate whose fit or scorer failed.
        for candidate, *scores in zip(candidates, *(cv_results[c] for c in columns), strict=True):
            if np.isfinite(scores).all():
                mean_privacy, std_privacy, mean_f1, std_f1 = map(float, scores)
                label, line = _names(candidate, varying, name)
                points.append(PrivacyUtilityGridPoint(label, line, mean_privacy, mean_f1, std_privacy, std_f1))
        if not points:
            raise ValueError("No candidate of 'cv_results' has both scores.")
        return cls(points, parameter=parameter or "", n_left_out=len(candidates) - len(points))

    def plot(self, ax: Axes | None = None) -> PrivacyUtilityGridDisplay:
        """Draw the candidates, their bars and their labels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure.

        Returns
        -------
        PrivacyUtilityGridDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn, self.figure_ = axes_or_new(ax)
        self.ax_ = drawn
        names = list(dict.fromkeys(point.line for point in self.points))
        looks = {name: line_style(number) for number, name in enumerate(names)}
        self.lines_ = {name: self._draw_line(name, look) for name, look in looks.items()}
        drawn.set_xlabel("Privacy score of the audit (0 to 1; right: more private)")
        drawn.set_ylabel("F1 (0 to 1; up: more useful)")
        # Labels need space beside the outer points.
        drawn.margins(0.1)
        title = [f"Beside the points: {self.parameter}"] if self.parameter else []
        title += [f"candidates without a score: {self.n_left_out}"] if self.n_left_out else []
        drawn.set_title("; ".join(title), fontsize="medium", loc="left")
        grid_behind(drawn)
        if len(names) > 1:
            legend_beside(drawn, fontsize="small")
        # shape: (n_points, 2)
        at = np.array([[point.privacy, point.f1] for point in self.points])
        colors = [looks[point.line]["color"] for point in self.points]
        labels = [point.label for point in self.points]
        self.labels_ = place_labels(drawn, at, labels, colors, strokes_of(self.lines_.values()))
        return self

    def _draw_line(self, name: str, look: dict[str, Any]) -> Any:
        points = [point for point in self.points if point.line == name]
        # A line connects the values of one parameter. Without such a parameter the points have no order.
        joined = "-" if self.parameter else "none"
        return self.ax_.errorbar(
            [point.privacy for point in points],
            [point.f1 for point in points],
            xerr=[point.privacy_std for point in points],
            yerr=[point.f1_std for point in points],
            label=name or None,
            linestyle=joined,
            linewidth=1.2,
            elinewidth=0.8,
            markersize=6,
            capsize=2,
            zorder=3,
            **look,
        )


def _varying(candidates: list[Mapping[str, Any]]) -> list[str]:
    """Parameters that differ between candidates, in the order of their first occurrence."""
    names = dict.fromkeys(name for candidate in candidates for name in candidate)
    return [name for name in names if len({_shown(c[name]) if name in c else "" for c in candidates}) > 1]


def _full_name(parameter: str, candidates: list[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for candidate in candidates for name in candidate)
    # The full name has priority over a name that ends with the parameter.
    found = [name for name in names if name == parameter] or [n for n in names if n.endswith(f"__{parameter}")]
    if len(found) != 1:
        raise ValueError(
            f"The 'parameter' must be a parameter of the grid: {', '.join(names)}. Got {parameter!r} instead."
        )
    return found[0]


def _names(candidate: Mapping[str, Any], varying: list[str], parameter: str | None) -> tuple[str, str]:
    """Label beside the point, and name of the point's line."""
    texts = {name: _shown(candidate[name]) for name in varying if name in candidate}
    if parameter is None:
        # A single varying parameter needs no name beside its values.
        alone = len(texts) == 1
        return ", ".join(text if alone else f"{n.split('__')[-1]}={text}" for n, text in texts.items()), ""
    line = ", ".join(f"{n.split('__')[-1]}={text}" for n, text in texts.items() if n != parameter)
    return _shown(candidate[parameter]) if parameter in candidate else "", line


def _shown(value: Any) -> str:
    if value is None or isinstance(value, (str, bool)):
        return str(value)
    return f"{value:g}" if isinstance(value, Real) else type(value).__name__
