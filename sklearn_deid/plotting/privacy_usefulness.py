"""What each way to perturb notes keeps and what it gives away, on one pair of axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional
from .drawing import axes_or_new, line_style
from .label_placement import place_labels
from .result_rows import error_lengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["PrivacyUsefulnessDisplay", "PrivacyUsefulnessPoint"]

_GRAY = "#555555"


@dataclass(frozen=True)
class PrivacyUsefulnessPoint:
    """One mechanism at one parameter.

    Attributes
    ----------
    mechanism : str
        Points of one mechanism are joined in the order given.
    parameter : str, number or None
        Written beside the point; ``None`` writes nothing.
    f1 : float
        Mean strict F1 on raw notes after training on perturbed ones, from 0 to 1.
    f1_low, f1_high : float or None
        Its interval.
    reidentification : float
        Probability that the best attacker names the original token, above 0 and up to 1.
    reidentification_low, reidentification_high : float or None
        Its interval; ``None`` where the probability is exact.

    Raises
    ------
    ValueError
        If a number is out of range or an interval does not hold its number.
    """

    mechanism: str
    parameter: str | float | None
    f1: float
    f1_low: float | None
    f1_high: float | None
    reidentification: float
    reidentification_low: float | None = None
    reidentification_high: float | None = None

    def __post_init__(self) -> None:
        for name in ("f1", "reidentification"):
            value, low, high = (getattr(self, name + end) for end in ("", "_low", "_high"))
            low, high = (value if bound is None else bound for bound in (low, high))
            if not 0 <= low <= value <= high <= 1:  # also if one of them is not a number
                raise ValueError(
                    f"'{name}' and its interval must be numbers with 0 <= low <= {name} <= high <= 1. "
                    f"Got {value}, from {low} to {high}, instead."
                )
        if self.reidentification == 0:
            raise ValueError("'reidentification' must be above 0: a guess is right at times. Got 0 instead.")

    @property
    def label(self) -> str:
        """The parameter as it is written beside the point."""
        if self.parameter is None or isinstance(self.parameter, str):
            return self.parameter or ""
        return f"{self.parameter:g}"


_KEYS = tuple(field.name for field in fields(PrivacyUsefulnessPoint))


class PrivacyUsefulnessDisplay:
    """Usefulness (F1) against privacy (Bayes re-identification) of mechanisms and their parameters.

    The best corner is at the upper left. Mechanisms differ in colour and in marker; colours are those of Okabe and Ito,
    which colour-blind readers tell apart.

    Parameters
    ----------
    points : iterable of PrivacyUsefulnessPoint
    baseline : str, default="raw"
        The mechanism that changes nothing; drawn as lines of reference.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib ErrorbarContainer
        One for each mechanism but the baseline.
    labels_ : list of matplotlib Annotation

    Raises
    ------
    ValueError
        If there are no points.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> result = {"mechanism": "neighbours", "f1": 0.96, "f1_low": 0.95, "f1_high": 0.97}
    >>> display = PrivacyUsefulnessDisplay.from_results([
    ...     {**result, "parameter": 10, "reidentification": 0.12},
    ...     {**result, "parameter": 100, "reidentification": 0.02},
    ... ]).plot()
    >>> [label.get_text() for label in display.labels_]
    ['10', '100']
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, points: Iterable[PrivacyUsefulnessPoint], baseline: str = "raw") -> None:
        self.points, self.baseline = tuple(points), baseline
        if not self.points:
            raise ValueError("The 'points' parameter must hold at least one point. Got none instead.")

    @classmethod
    def from_results(cls, results: Iterable[Mapping[str, Any]], *, baseline: str = "raw") -> PrivacyUsefulnessDisplay:
        """Display of results as mappings, as a benchmark writes them to JSON.

        Parameters
        ----------
        results : iterable of mapping
            With the keys of `PrivacyUsefulnessPoint`; intervals may be missing or ``None``, other keys are ignored.
        baseline : str, default="raw"

        Returns
        -------
        PrivacyUsefulnessDisplay
            Not yet drawn; see :meth:`plot`.

        Raises
        ------
        ValueError
            If a result lacks a key, or its numbers are out of range.
        """
        points = []
        for number, result in enumerate(results):
            lacking = {"mechanism", "parameter", "f1", "reidentification"} - set(result)
            if lacking:
                raise ValueError(f"Result {number} lacks {', '.join(sorted(lacking))}.")
            known: dict[str, Any] = {name: result.get(name) for name in _KEYS}
            points.append(PrivacyUsefulnessPoint(**known))
        return cls(points, baseline)

    def plot(self, ax: Axes | None = None) -> PrivacyUsefulnessDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Made if ``None``.

        Returns
        -------
        PrivacyUsefulnessDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn = axes_or_new(ax)
        figure = drawn.get_figure()
        assert figure is not None  # pyplot's axes belong to one
        self.ax_, self.figure_ = drawn, figure
        drawn.set_xscale("log")
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        drawn.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))
        drawn.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        drawn.xaxis.set_minor_formatter(ticker.NullFormatter())
        drawn.set_xlim(self._probabilities_shown())
        self._draw_baseline()
        mechanisms = list(dict.fromkeys(p.mechanism for p in self.points if p.mechanism != self.baseline))
        styles = {mechanism: line_style(number) for number, mechanism in enumerate(mechanisms)}
        self.lines_ = {mechanism: self._draw_mechanism(mechanism, style) for mechanism, style in styles.items()}
        drawn.set_xlabel("Bayes re-identification probability of a token (left: more private)")
        drawn.set_ylabel("F1 on raw notes (up: more useful)")
        drawn.grid(True, which="major", color="0.9", linewidth=0.6)
        drawn.set_axisbelow(True)
        drawn.margins(y=0.08)
        drawn.legend(**({"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if ax is None else {"loc": "best"}))
        self._draw_labels(styles)
        return self

    def _probabilities_shown(self) -> tuple[float, float]:
        """Limits of the logarithmic axis; an interval that reaches 0 is cut."""
        ends = [(p.reidentification, p.reidentification_low, p.reidentification_high) for p in self.points]
        shown = np.log10([value for point in ends for value in point if value])
        margin = max(0.08 * np.ptp(shown), 0.1)
        return float(10 ** (shown.min() - margin)), float(10 ** (shown.max() + margin))

    def _draw_baseline(self) -> None:
        ax = self.ax_
        name: str | None = f"{self.baseline} training"
        for point in self.points:
            if point.mechanism != self.baseline:
                continue
            ax.axhline(point.f1, color=_GRAY, linestyle="--", linewidth=1, label=name, zorder=1)
            if point.f1_low is not None and point.f1_high is not None:
                ax.axhspan(point.f1_low, point.f1_high, color=_GRAY, alpha=0.12, linewidth=0, zorder=0)
            ax.axvline(point.reidentification, color=_GRAY, linestyle=":", linewidth=1, zorder=1)
            name = None

    def _draw_mechanism(self, mechanism: str, style: dict[str, Any]) -> Any:
        points = [point for point in self.points if point.mechanism == mechanism]
        return self.ax_.errorbar(
            [point.reidentification for point in points],
            [point.f1 for point in points],
            xerr=error_lengths(points, "reidentification"),
            yerr=error_lengths(points, "f1"),
            label=mechanism,
            linewidth=1,
            elinewidth=0.8,
            markersize=6,
            capsize=2,
            zorder=3,
            **style,
        )

    def _draw_labels(self, styles: dict[str, dict[str, Any]]) -> None:
        points = [point for point in self.points if point.mechanism in styles]
        strokes = []
        for mechanism in styles:
            line, _, bars = self.lines_[mechanism].lines
            strokes.append(np.asarray(line.get_xydata()))
            strokes += [np.asarray(segment) for bar in bars for segment in bar.get_segments()]
        (left, right), (low, high) = self.ax_.get_xlim(), self.ax_.get_ylim()
        for point in self.points:
            if point.mechanism == self.baseline:
                strokes.append(np.array([[left, point.f1], [right, point.f1]]))
                strokes.append(np.array([[point.reidentification, low], [point.reidentification, high]]))
        at = np.array([[point.reidentification, point.f1] for point in points]).reshape(-1, 2)
        colors = [styles[point.mechanism]["color"] for point in points]
        self.labels_ = place_labels(self.ax_, at, [point.label for point in points], colors, strokes)
