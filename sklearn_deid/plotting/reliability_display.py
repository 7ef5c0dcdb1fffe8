"""Reliability diagram: accuracy against confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parameters import check_parameter
from ..metrics import ReliabilityCurve, expected_calibration_error, phi_confidences, reliability_curve, span_confidences
from ..metrics.rounding import rounded
from .drawing import GRAY, axes_or_new, grid_behind, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class ReliabilityDisplay:
    """Reliability diagram: proportion of correct spans or tokens against the confidence of the tagger.

    The diagram follows scikit-learn's `CalibrationDisplay` and shows one point for each bin of confidences. A point on
    the diagonal shows a calibrated tagger. A point below the diagonal shows an overconfident tagger. The number next to
    a point is the number of cases in the bin.

    Parameters
    ----------
    curve : ReliabilityCurve
        Mean confidence, proportion of correct cases and number of cases for each bin.
    calibration_error : float
        Expected calibration error with the same bins.
    name : str, default=None
        Name of the tagger in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Line through the points of the bins.
    ax_ : matplotlib Axes
        Axes of the figure.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    TemperatureScaledTagger : Calibrates a tagger, so that the points lie nearer to the diagonal.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> from sklearn_deid.plotting import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_confidences([True, False, True, True], [0.6, 0.6, 0.9, 0.9], n_bins=2)
    >>> round(display.calibration_error, 2)
    0.0
    >>> pyplot.close(display.figure_)
    """

    line_: Any
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, curve: ReliabilityCurve, calibration_error: float, *, name: str | None = None) -> None:
        self.curve = curve
        self.calibration_error = calibration_error
        self.name = name

    @classmethod
    def from_confidences(
        cls,
        right: Any,
        confidence: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the diagram from cases and their confidences.

        Parameters
        ----------
        right : array-like of shape (n,), of bool
            Whether each case is correct.
        confidence : array-like of shape (n,)
            Confidence of each case, from `metrics.span_confidences` or `metrics.phi_confidences`.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or bins with equally many cases.
        name : str, default=None
            Name of the tagger in the legend.
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        ValueError
            If there is no case.
        """
        right, confidence = np.asarray(right), np.asarray(confidence)
        curve = reliability_curve(right, confidence, n_bins, strategy)
        error = expected_calibration_error(right, confidence, n_bins, strategy)
        return cls(curve, error, name=name).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        level: str = "span",
        n_bins: int = 10,
        strategy: str = "uniform",
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the diagram of a fitted tagger.

        Use sentences of patients who were not in the training data.

        Parameters
        ----------
        estimator : fitted estimator
            Tagger with ``predict(X, return_confidence=True)`` for spans, or with ``predict_proba`` for tokens.
        X : sequence of n sentences
            Sentences to tag.
        y : sequence of n tag sequences
            Gold tags of the sentences.
        level : {"span", "token"}, default="span"
            Cases of the diagram. "span" uses predicted spans with the confidence of `NoteDeidentifier.annotate`.
            "token" uses all tokens with their probability of PHI.
        n_bins, strategy, ax
            Parameters of `from_confidences`.
        """
        owner = "ReliabilityDisplay.from_estimator"
        check_parameter(owner, "level", level, level in ("span", "token"), "'span' or 'token'")
        if level == "token":
            cases = phi_confidences(y, estimator.predict_proba(X), estimator.classes_)
        else:
            # Confidences of predicted spans. Tokens have probabilities instead.
            cases = span_confidences(y, *estimator.predict(X, return_confidence=True))
        return cls.from_confidences(*cases, n_bins=n_bins, strategy=strategy, name=type(estimator).__name__, ax=ax)

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure. If the axes already contain another reliability diagram,
            both diagrams are shown.

        Returns
        -------
        ReliabilityDisplay
            This object.
        """
        drawn, self.figure_ = axes_or_new(ax)
        self.ax_ = drawn
        curve = self.curve
        # Earlier displays mark their lines with a group id: the diagonal is drawn once, and colours do not repeat.
        earlier = [line for line in drawn.lines if line.get_gid() == "reliability"]
        if not earlier:
            drawn.plot([0, 1], [0, 1], "--", color=GRAY, linewidth=1.0, label="as sure as right")
        name = "" if self.name is None else f"{self.name}: "
        (self.line_,) = drawn.plot(
            curve.confidence,
            curve.right,
            label=f"{name}calibration error {rounded(self.calibration_error, 2, 100)} %",
            gid="reliability",
            markersize=5,
            linewidth=1.2,
            **line_style(len(earlier)),
        )
        # Few cases in a bin make its accuracy uncertain, so that the counts are written beside the points.
        for x, y, n in zip(*curve, strict=True):
            drawn.annotate(f"{n}", (x, y), xytext=(4, -9), textcoords="offset points", fontsize=7, color=GRAY)
        drawn.set_xlabel("Mean confidence")
        drawn.set_ylabel("Share that is right")
        drawn.set_xlim(-0.02, 1.06)
        drawn.set_ylim(-0.04, 1.04)
        grid_behind(drawn)
        drawn.legend(loc="upper left")
        return self
