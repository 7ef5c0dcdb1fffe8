"""Trade-off figure: result of each method against its cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_optional
from .._parameters import check_parameter
from .candidate_names import candidate_names
from .drawing import GRAY, axes_or_new, error_lengths, figure_of, grid_behind, legend_beside, line_style
from .trade_off_point import TradeOffPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Annotation

    from ..embeddings import NoiseStudy

_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (6, 1.5, 1, 1.5)))
# Largest number of markers (approximately) on a line with a band, however many points the line has.
_SYMBOLS_SHOWN = 10
_RANGES = ("bars", "band")


class TradeOffDisplay:
    """Result of each method (y) against the cost of the method or the information that the method reveals (x): one line
    for each method.

    The display has five uses: utility of pseudonymised notes against the success of attackers who guess the original;
    F1 against the fraction of an update that is sent; F1 after each epoch; F1 against privacy in a grid search; and
    recovered words against the noise.

    Parameters
    ----------
    points : iterable of TradeOffPoint
        Points to draw. A line joins the points of one name in the given order. A point without x becomes a horizontal
        reference line.
    x_name, y_name : str, default=""
        Names of the axes.
    log_x : bool, default=False
        Whether the x axis is logarithmic. With ``log_x``, every x must be above 0.
    ranges : {"bars", "band"}, default="bars"
        Form of the intervals. A band joins the points in the order of x and shows only intervals of y.
    title : str, default=""
        Title of the figure.
    joined : bool, default=True
        Whether bars of one name are joined by a line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the figure.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    lines_ : dict of str to matplotlib Line2D
        Lines by name, without the reference lines.
    bars_ : dict of str to matplotlib ErrorbarContainer
        Error bars by name. The dict is empty if ``ranges="band"``.
    bands_ : dict of str to matplotlib PolyCollection
        Bands by name. A line has a band only if all its points have both ends. The dict is empty if ``ranges="bars"``.
    labels_ : list of matplotlib Annotation
        Labels next to the points.

    Raises
    ------
    ValueError
        If there is no point, if x is not above 0 on a logarithmic axis, or if a line with a band has two points at the
        same x.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> rows = [{"method": "DSSGD", "share": 0.1, "f1": 0.7}, {"method": "DSSGD", "share": 0.5, "f1": 0.8},
    ...         {"method": "all notes in one place", "f1": 0.9}]
    >>> display = TradeOffDisplay.from_results(rows, name="method", x="share", y="f1", log_x=True).plot()
    >>> list(display.lines_), display.lines_["DSSGD"].get_ydata().tolist()
    (['DSSGD'], [0.7, 0.8])
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        points: Iterable[TradeOffPoint],
        *,
        x_name: str = "",
        y_name: str = "",
        log_x: bool = False,
        ranges: str = "bars",
        title: str = "",
        joined: bool = True,
    ) -> None:
        self.points, self.x_name, self.y_name, self.log_x, self.ranges = tuple(points), x_name, y_name, log_x, ranges
        self.title, self.joined = title, joined
        if not self.points:
            raise ValueError(
                "The 'points' parameter of TradeOffDisplay must hold at least one point. Got none instead."
            )
        check_parameter("TradeOffDisplay", "ranges", ranges, ranges in _RANGES, f"one of {', '.join(_RANGES)}")
        if log_x and any(point.x is not None and point.x <= 0 for point in self.points):
            raise ValueError("Every 'x' must be above 0 on a logarithmic axis. Pass log_x=False.")
        # A band needs a single value for each x.
        for name, line in self._lines().items():
            if ranges == "band" and len({point.x for point in line}) < len(line):
                raise ValueError(f"Two points of {name!r} have the same 'x'. Average over seeds first.")

    @classmethod
    def from_results(
        cls,
        results: Iterable[Mapping[str, Any]],
        *,
        name: str,
        x: str,
        y: str,
        label: str | None = None,
        **options: Any,
    ) -> TradeOffDisplay:
        """Create the display from results as mappings, such as the JSON results of a benchmark.

        Parameters
        ----------
        results : iterable of mapping
            One mapping for each point. Other keys are ignored. None and NaN mean that a value is missing.
        name, x, y : str
            Keys of the method, of x and of y. A result may lack x. The optional ends of the intervals have the same
            keys followed by "_low" and "_high".
        label : str, optional
            Key of the text next to the points. Numbers are shortened.
        **options
            Parameters of the constructor. By default, the names of the axes are the keys of x and y.

        Raises
        ------
        ValueError
            If a result lacks its name or y, or if a value is not a finite number within its interval.
        """
        points = []
        for number, row in enumerate(results):
            lacking = [key for key in (name, y) if _value(row, key) is None]
            if lacking:
                raise ValueError(f"Result {number} lacks {', '.join(lacking)}.")
            ends = {f"{axis}{end}": _value(row, f"{key}{end}") for axis, key in (("x", x), ("y", y)) for end in _ENDS}
            beside = None if label is None else _value(row, label)
            text = f"{beside:g}" if isinstance(beside, Real) else str(beside or "")
            try:
                points.append(TradeOffPoint(str(row[name]), label=text, **ends))
            except ValueError as error:
                raise ValueError(f"Result {number}: {error}") from None
        return cls(points, **{"x_name": x, "y_name": y} | options)

    @classmethod
    def from_histories(cls, histories: Mapping[str, Any], **options: Any) -> TradeOffDisplay:
        """Create the display of F1 over local epochs, from the histories of distributed trainings.

        A line shows the mean over the workers. A band reaches from the worst to the best worker.

        Parameters
        ----------
        histories : mapping of str to federated.History
            ``history_`` of ensembles with held-out patients (``validation_fraction``). The keys are the names of the
            lines.
        **options
            Parameters of the constructor.

        Raises
        ------
        ValueError
            If a history has no F1.

        References
        ----------
        Festag & Spreckelsen (2020), figure 6.
        """
        points = []
        for name, history in histories.items():
            table = list(history.table("f1").values())
            for place in range(max(map(len, table), default=0)):
                # After an interruption some workers have fewer epochs than others.
                values = [float(column[place]) for column in table if place < len(column)]
                if np.isnan(values).any():
                    raise ValueError(f"The history of {name!r} has no 'f1': set 'validation_fraction'.")
                # The band shows the range over the workers.
                low, high = min(values), max(values)
                mean = min(max(float(np.mean(values)), low), high)  # rounding of the mean of equal values
                points.append(TradeOffPoint(name, mean, place + 1, low, high))
        names = {"x_name": "Local epochs of each worker", "y_name": "F1 on held-out patients, mean and range"}
        return cls(points, **{"ranges": "band"} | names | options)

    @classmethod
    def from_noise_study(cls, study: NoiseStudy, **options: Any) -> TradeOffDisplay:
        """Create the display of the words that are recovered from noisy vectors, against the scale of the noise.

        The figure shows one line for each rank, with the 95 % interval as a band, and a line with the mean cosine
        between the noisy and the original vector. The figure follows Friedrich (2018), figure 6.2 (left).

        Parameters
        ----------
        study : NoiseStudy
            Result of :func:`sklearn_deid.embeddings.noise_study`.
        **options
            Parameters of the constructor.

        Examples
        --------
        >>> from matplotlib import pyplot
        >>> from sklearn_deid.embeddings import WordVectors, noise_study
        >>> vectors = WordVectors(["pain", "fever"], [[1.0, 0.0], [0.0, 1.0]])
        >>> study = noise_study(vectors, [0, 1], [0.0, 0.5, 1.0], n_draws=50, random_state=0)
        >>> display = TradeOffDisplay.from_noise_study(study).plot()
        >>> list(display.lines_)
        ['nearest', 'among 5 nearest', 'among 10 nearest', 'mean cosine to the original']
        >>> pyplot.close(display.figure_)
        """
        points = []
        for i, rank in enumerate(study.ranks):
            name = "nearest" if rank == 1 else f"among {rank} nearest"
            # study.low, study.high, study.found: shape (n_scales, n_ranks)
            rows = zip(study.scales, study.found[:, i], study.low[:, i], study.high[:, i], strict=True)
            points += [TradeOffPoint(name, y, x, low, high) for x, y, low, high in rows]
        cosines = zip(study.scales, study.mean_cosine, strict=True)
        points += [TradeOffPoint("mean cosine to the original", cosine, x) for x, cosine in cosines]
        names = {"x_name": "Standard deviation of the noise in each dimension of a unit vector"}
        names |= {"y_name": f"Share of originals found (n = {study.n})"}
        return cls(points, **{"ranges": "band"} | names | options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        *,
        privacy: str = "privacy",
        f1: str = "f1",
        parameter: str | None = None,
        **options: Any,
    ) -> TradeOffDisplay:
        """Create the display of F1 against the privacy score, from the ``cv_results_`` of a search with two scorers.

        The best candidates lie in the upper right corner. Each bar is one standard deviation over the folds, not a
        confidence interval. A privacy score of 0 can also mean that an audit failed. The title shows the number of
        candidates without a score, because their fit or audit ended with an error.

        Parameters
        ----------
        cv_results : mapping
            Results with "params", and with the means and standard deviations of both scorers.
        privacy, f1 : str, default="privacy", "f1"
            Names of the scorers.
        parameter : str, optional
            Parameter whose values are written next to the points. Pass the full name, or the name without the steps
            before the last "__". A line joins the candidates that differ only in this parameter. By default, the values
            of all parameters that differ are written, and no line joins candidates.
        **options
            Parameters of the constructor.

        Raises
        ------
        ValueError
            If a column or the parameter is missing, if a mean score is not between 0 and 1, or if no candidate has both
            scores.

        Examples
        --------
        >>> from matplotlib import pyplot
        >>> results = {"params": [{"n_neighbors": 10}, {"n_neighbors": 100}], "mean_test_privacy": [0.8, 0.9],
        ...            "std_test_privacy": [0.02, 0.01], "mean_test_f1": [0.97, 0.96], "std_test_f1": [0.01, 0.01]}
        >>> display = TradeOffDisplay.from_cv_results(results, parameter="n_neighbors").plot()
        >>> [label.get_text() for label in display.labels_]
        ['10', '100']
        >>> pyplot.close(display.figure_)
        """
        columns = [f"{part}_test_{name}" for name in (privacy, f1) for part in ("mean", "std")]
        lacking = [name for name in ("params", *columns) if name not in cv_results]
        if lacking:
            raise ValueError(f"The 'cv_results' parameter lacks {', '.join(lacking)}.")
        # Only parameters that differ between candidates are written beside the points.
        labels_and_lines = candidate_names(list(cv_results["params"]), parameter)
        points = []
        # scikit-learn writes NaN as the score of a candidate whose fit or scorer failed.
        for (label, line), *scores in zip(labels_and_lines, *(cv_results[c] for c in columns), strict=True):
            if np.isfinite(scores).all():
                x, dx, y, dy = map(float, scores)
                if not 0.0 <= min(x, y) <= max(x, y) <= 1.0:
                    raise ValueError(f"The scores {privacy!r} and {f1!r} must be from 0 to 1. Got {x} and {y} instead.")
                points.append(TradeOffPoint(line, y, x, y - dy, y + dy, x - dx, x + dx, label))
        if not points:
            raise ValueError("No candidate of 'cv_results' has both scores.")
        n_left_out = len(labels_and_lines) - len(points)
        title = [f"Beside the points: {parameter}"] if parameter else []
        title += [f"candidates without a score: {n_left_out}"] if n_left_out else []
        names = {"x_name": "Privacy score of the audit (0 to 1; right: more private)"}
        names |= {"y_name": "F1 (0 to 1; up: more useful)", "title": "; ".join(title)}
        return cls(points, **names | {"joined": parameter is not None} | options)

    def plot(self, ax: Axes | None = None) -> TradeOffDisplay:
        """Draw the lines, the reference lines and the labels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure.

        Returns
        -------
        TradeOffDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        self.ax_, self.figure_ = axes_or_new(ax)
        self.lines_: dict[str, Any] = {}
        self.bars_: dict[str, Any] = {}
        self.bands_: dict[str, Any] = {}
        self._scale()
        self._draw_references()
        # Styles are numbered over all names, also those without x: a method then looks the same in all displays of
        # the same results.
        looks = {name: line_style(number) for number, name in enumerate(dict.fromkeys(p.name for p in self.points))}
        draw = self._draw_bars if self.ranges == "bars" else self._draw_band
        for name, line in self._lines().items():
            draw(name, line, looks[name])
        self.ax_.set_xlabel(self.x_name)
        self.ax_.set_ylabel(self.y_name)
        if self.title:
            self.ax_.set_title(self.title, fontsize="medium", loc="left")
        grid_behind(self.ax_)
        if any(looks):  # a single line needs no name
            legend_beside(self.ax_, fontsize="small", handlelength=3.0)
        self._draw_labels(looks)
        return self

    def _lines(self) -> dict[str, list[TradeOffPoint]]:
        lines: dict[str, list[TradeOffPoint]] = {}
        for point in self.points:
            if point.x is not None:
                lines.setdefault(point.name, []).append(point)
        if self.ranges == "band":
            return {name: sorted(line, key=lambda point: point.x or 0.0) for name, line in lines.items()}
        return lines

    def _scale(self) -> None:
        ax = self.ax_
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        ax.margins(x=0.1, y=0.1)
        if not self.log_x:
            return
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        # An interval may end at 0, which a logarithmic axis cannot show: this end is cut off.
        ends = [end for point in self.points for end in (point.x, point.x_low, point.x_high) if end]
        # shape: (n_ends,)
        shown = np.log10(ends or [1.0])
        # More than two decades have no room for labels between the powers of ten.
        ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0,) if np.ptp(shown) > 2 else (1.0, 2.0, 5.0)))
        if ends:
            margin = max(0.08 * float(np.ptp(shown)), 0.1)
            ax.set_xlim(10 ** (shown.min() - margin), 10 ** (shown.max() + margin))

    def _draw_references(self) -> None:
        for number, point in enumerate(point for point in self.points if point.x is None):
            # A reference has no x, so that its line crosses the whole figure.
            dash = _DASHES[number % len(_DASHES)]
            self.ax_.axhline(point.y, color=GRAY, linestyle=dash, linewidth=1.3, label=point.name, zorder=1)
            if point.y_low is not None and point.y_high is not None:
                self.ax_.axhspan(point.y_low, point.y_high, color=GRAY, alpha=0.12, linewidth=0, zorder=0)

    def _draw_bars(self, name: str, line: list[TradeOffPoint], look: dict[str, Any]) -> None:
        x, y = ([getattr(point, axis) for point in line] for axis in ("x", "y"))
        self.bars_[name] = self.ax_.errorbar(
            x,
            y,
            xerr=error_lengths(line, "x"),
            yerr=error_lengths(line, "y"),
            label=name,
            linestyle="-" if self.joined else "none",
            linewidth=1.2,
            elinewidth=0.8,
            markersize=5.5,
            capsize=2.5,
            zorder=3,
            **look,
        )
        self.lines_[name] = self.bars_[name].lines[0]

    def _draw_band(self, name: str, line: list[TradeOffPoint], look: dict[str, Any]) -> None:
        x, y, low, high = ([getattr(point, end) for point in line] for end in ("x", "y", "y_low", "y_high"))
        shown = max(1, len(line) // _SYMBOLS_SHOWN)
        (self.lines_[name],) = self.ax_.plot(
            x, y, label=name, linewidth=1.5, markersize=5, markevery=shown, zorder=3, **look
        )
        if None not in (*low, *high):
            self.bands_[name] = self.ax_.fill_between(
                x, low, high, color=look["color"], alpha=0.18, linewidth=0, zorder=2
            )

    def _draw_labels(self, looks: dict[str, dict[str, Any]]) -> None:
        points = [point for point in self.points if point.x is not None and point.label]
        self.labels_ = []
        # Without labels, the costly drawing that their placement needs is saved.
        if points:
            ends = self.ax_.get_xlim()
            strokes = (
                strokes_of(self.bars_.values()) if self.bars_ else [li.get_xydata() for li in self.lines_.values()]
            )
            strokes += [np.array([[end, point.y] for end in ends]) for point in self.points if point.x is None]
            at = np.array([[point.x, point.y] for point in points], dtype=float)  # shape: (n_labels, 2)
            colors = [looks[point.name]["color"] for point in points]
            self.labels_ = place_labels(self.ax_, at, [point.label for point in points], colors, strokes)


_ENDS = ("", "_low", "_high")


def _value(row: Mapping[str, Any], key: str) -> Any:
    """Value of the row under this key; None if the value is missing or NaN."""
    value = row.get(key)
    return None if isinstance(value, Real) and math.isnan(value) else value


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
    """Write a label next to each point.

    The labels are placed in their order. Each label takes the cheapest of 40 positions. A position is very costly if
    the label leaves the axes or covers a point, an earlier label or the legend. Among the other positions, positions
    near the point that cross few lines are cheap. The limits and the size of the axes must not change after the call.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes that contain the points.
    points : ndarray of float, shape (n, 2)
        Points in data coordinates.
    labels : sequence of str, length n
        Texts of the labels.
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

    figure = figure_of(ax)
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
    """Box of the label (x0, y0, x1, y1), and offset of the edge next to the point, in pixels."""
    inside, taken, drawn = scene
    found: list[tuple[float, np.ndarray, np.ndarray]] = []
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
        found.append((_COVERED * (outside + covered) + _CROSSED * crossed + distance, box, offset))
    # Of equally good places, the first.
    return min(found, key=lambda place: place[0])[1:]


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
