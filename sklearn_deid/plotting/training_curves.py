"""Learning curves of a private representation: losses, F1, and accuracies of attackers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from .._optional import import_optional
from .drawing import GRAY, figure_of, grid_behind, legend_beside, line_style, panels_or_new
from .training_history import PhaseStretch, TrainingHistory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

_ADVERSARIES = {"t1": "T1", "t2": "T2", "average": "mean of T1 and T2"}
# Largest number of markers (approximately) on a line, however many epochs the line has.
_SYMBOLS_SHOWN = 12
# Results measured between epochs: marker, size of the marker, name in the legend.
_BETWEEN = {"control": ("*", 13.0, "positive control"), "probe": ("X", 8.0, "fresh probe")}
# Names of each phase, the longest first: the first name that fits above the phase is written.
_PHASES = {
    "P1": ("P1: representer and tagger", "P1\ntagger", "P1"),
    "P2": ("P2: adversaries", "P2\nadversaries", "P2"),
    "P3": ("P3: one against the other", "P3\nalternating", "P3"),
    "DANN": ("gradient reversal", "gradient\nreversal", "DANN"),
    "bounded": ("bounded training", "bounded\ntraining", "bounded"),
    "finish": ("tagger alone", "tagger\nalone", "tagger"),
}
_SHADES = ("0.93", "1.0")
# Pixels that stay free beside the name of a phase.
_GAP = 6.0


class _Curve(NamedTuple):
    """Key of a curve in the rows, name in the legend, and style; training curves are dashed, with hollow markers."""

    key: str
    label: str
    style: int
    held_out: bool = True


class TrainingCurvesDisplay:
    """Learning curves of a private representation: losses, F1, and accuracies of attackers, from top to bottom.

    Phases are shaded and named. Solid lines show results on held-out patients. Dashed lines show results on the
    training data, measured while the network was learning.

    Three-part training and gradient reversal show three kinds of attackers: the adversaries of the training, their
    positive control, and fresh probes. An accuracy near 0.5 is no evidence of privacy if the positive control of the
    adversary failed. Bounded training has no adversary. For bounded training, the curves show the accuracies of the
    best possible attacker on single tokens, under ideal noise: the mean over pairs, and the requested quantile over
    pairs.

    Parameters
    ----------
    history : iterable of mapping
        Rows such as those of ``PrivateRepresenter.history_``.
    selected_round : int, optional
        Round of phase P3 that was kept or, for trainings without P3, epoch that was kept.
    max_attack_accuracy, quantile_attack_accuracy : float, optional
        Requested bounds of bounded training.

    Attributes
    ----------
    axes_ : dict of str to matplotlib Axes
        Axes by name: "loss" always, "f1" if F1 was recorded, and "accuracy" if accuracies were recorded.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    lines_ : dict of str to matplotlib Line2D
        Lines by the key of the rows. For example, "control_t2" and "probe_t2" contain results measured between epochs.
    phases_ : dict of str to list of matplotlib Patch
        Shaded regions of each phase, one in each of the axes.
    phase_labels_ : list of matplotlib Text
        Names of the phases above the first axes.
    selected_ : list of matplotlib Line2D
        Vertical lines at the round that was kept, one in each of the axes.

    Raises
    ------
    ValueError
        If the history has no epoch or an invalid row, or if ``selected_round`` is not a round of the history.

    References
    ----------
    Friedrich (2018), figures 7.3 and 7.4.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> history = [{"phase": "P1", "epoch": 1, "deid_loss": 9.0}, {"phase": "P1", "epoch": 2, "deid_loss": 4.0},
    ...            {"phase": "P2", "epoch": 1, "t2_loss": 0.3, "valid_t2_accuracy": 0.9},
    ...            {"phase": "P3b", "epoch": 1, "deid_loss": 5.0, "t2_loss": 0.6},
    ...            {"phase": "P3a", "epoch": 1, "deid_loss": 4.5, "t2_loss": 0.7, "valid_t2_accuracy": 0.5}]
    >>> display = TrainingCurvesDisplay(history, selected_round=1).plot()
    >>> list(display.axes_), list(display.phases_)
    (['loss', 'accuracy'], ['P1', 'P2', 'P3'])
    >>> pyplot.close(display.figure_)
    """

    axes_: dict[str, Axes]
    figure_: Figure | SubFigure
    lines_: dict[str, Line2D]

    def __init__(
        self,
        history: Iterable[Mapping[str, Any]],
        *,
        selected_round: int | None = None,
        max_attack_accuracy: float | None = None,
        quantile_attack_accuracy: float | None = None,
    ) -> None:
        self.history, self.selected_round = TrainingHistory(history), selected_round
        self.max_attack_accuracy, self.quantile_attack_accuracy = max_attack_accuracy, quantile_attack_accuracy
        if selected_round is not None and self.history.place_of(selected_round) is None:
            raise ValueError(
                f"The 'selected_round' parameter must be one of the {self.history.n_rounds} rounds of the history. "
                f"Got {selected_round!r} instead."
            )

    @classmethod
    def from_estimator(cls, estimator: Any) -> TrainingCurvesDisplay:
        """Create the display from a fitted `PrivateRepresenter`; call :meth:`plot` to draw.

        Parameters
        ----------
        estimator : PrivateRepresenter
            Fitted representer.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator, "history_")
        return cls(
            estimator.history_,
            selected_round=estimator.selected_round_ or None,
            max_attack_accuracy=getattr(estimator.training_, "max_attack_accuracy", None),
            quantile_attack_accuracy=getattr(estimator.training_, "quantile_attack_accuracy", None),
        )

    @property
    def panels(self) -> list[str]:
        """Names of the axes that the display needs, from top to bottom."""
        accuracies = ["mean_accuracy"] + [
            f"{start}{name}_accuracy" for name in _ADVERSARIES for start in ("", "valid_")
        ]
        f1 = ["f1"] if self.history.has("valid_token_f1") else []
        return ["loss", *f1, *(["accuracy"] if self.history.has(*accuracies) else [])]

    def plot(self, axes: Sequence[Axes] | None = None) -> TrainingCurvesDisplay:
        """Draw the curves, the phases and the selected round.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One axes for each of the `panels`. ``None`` creates a new figure.

        Returns
        -------
        TrainingCurvesDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        ValueError
            If the number of axes differs from the number of panels.
        """
        names = self.panels
        heights = [{"loss": 1.2, "f1": 0.8, "accuracy": 1.3}[name] for name in names]
        drawn = panels_or_new(
            axes,
            len(names),
            figsize=(9.0, 0.8 + 2.1 * sum(heights)),
            height_ratios=heights,
        )
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        self.axes_, self.figure_, self.lines_ = dict(zip(names, drawn, strict=True)), figure_of(drawn[0]), {}
        self._draw_losses()
        if "f1" in self.axes_:
            self._draw_curves("f1", [_Curve("valid_token_f1", "tagger, held out", 0)])
            self.axes_["f1"].set_ylabel("Token F1, any\nlabel (0 to 1)")
        if "accuracy" in self.axes_:
            self._draw_accuracies()
        # The selected round is marked in every panel.
        self.selected_ = [line for ax in drawn for line in self._mark_selected(ax)]
        rounds = any(row["phase"] == "P3b" for row in self.history.epochs)
        several = "Epoch over all phases" if len(self.history.stretches) > 1 else "Epoch"
        drawn[-1].set_xlabel(f"{several} (a round of P3 has two)" if rounds else several)
        drawn[-1].xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
        for ax in drawn:
            grid_behind(ax)
            legend_beside(ax, fontsize="small")
        # Phases come last: their names must fit the final width of the axes, which the legends reduce.
        self.phases_, self.phase_labels_ = _shade_phases(drawn, self.history.stretches)
        return self

    def _draw_losses(self) -> None:
        ticker = import_optional("matplotlib.ticker", extra="plot", purpose="the axes")
        ax = self.axes_["loss"]
        curves = [
            _Curve("valid_deid_loss", "tagger, held out", 0),
            _Curve("deid_loss", "tagger, training", 0, False),
            _Curve("train_deid_loss", "tagger, training", 0, False),
        ]
        self._draw_curves("loss", curves + self._adversary_curves("loss", self._judges()))
        if self.history.has(*(f"{name}_loss" for name in _ADVERSARIES)):
            # Cross-entropy of an adversary who answers 1/2 for every pair: -ln(1/2) = ln 2.
            ax.axhline(math.log(2.0), color=GRAY, linestyle=":", linewidth=1.2, label="guess of an adversary (ln 2)")
            ax.set_ylabel("Loss (nats per sentence\nor pair, log scale)")
        else:
            ax.set_ylabel("Loss (nats per\nsentence, log scale)")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(ticker.NullFormatter())

    def _draw_accuracies(self) -> None:
        ax = self.axes_["accuracy"]
        # An attacker who guesses between two sentences is right in half of the pairs.
        ax.axhline(0.5, color=GRAY, linestyle=":", linewidth=1.2, label="chance")
        bounds = {"mean": self.max_attack_accuracy, "quantile": self.quantile_attack_accuracy}
        for style, (name, asked) in enumerate(bounds.items(), 1):
            self._draw_curves("accuracy", [_Curve(f"{name}_accuracy", f"best attacker, {name} of pairs", style)])
            if asked is not None:
                color, dash = line_style(style)["color"], {"mean": "--", "quantile": "-."}[name]
                ax.axhline(asked, color=color, linestyle=dash, linewidth=1.2, label=f"{name} asked for: {asked:g}")
        judges = self._judges()
        apart = [name for name in _ADVERSARIES if name not in judges]
        curves = self._adversary_curves("accuracy", judges)
        curves += [curve for curve in self._adversary_curves("accuracy", apart) if curve.held_out]
        self._draw_curves("accuracy", curves)
        for phase in _BETWEEN:
            # Only T2 must pass the control: T1 is the harder task, and may fail where T2 succeeds.
            self._draw_between(phase, ["t2"] if phase == "control" else list(_ADVERSARIES))
        ax.set_ylabel("Accuracy of attackers\n(0 to 1)")

    def _judges(self) -> list[str]:
        """Adversaries of the training: the mean of tasks T1 and T2 if the history contains a mean, otherwise T1 and
        T2."""
        return ["average"] if self.history.has("average_loss", "valid_average_loss") else ["t1", "t2"]

    def _adversary_curves(self, measure: str, names: list[str]) -> list[_Curve]:
        styles = {name: number for number, name in enumerate(_ADVERSARIES, 1)}
        return [
            _Curve(f"{start}{name}_{measure}", f"{_ADVERSARIES[name]}, {data}", styles[name], bool(start))
            for name in names
            for start, data in (("valid_", "held out"), ("", "training"))
        ]

    def _draw_curves(self, panel: str, curves: list[_Curve]) -> None:
        for curve in curves:
            x, y = self.history.curve(curve.key)
            if not len(x):
                continue
            look = line_style(curve.style)
            filled = {} if curve.held_out else {"linestyle": "--", "markerfacecolor": "white", "linewidth": 0.9}
            every = max(1, len(x) // _SYMBOLS_SHOWN)
            options = {"linewidth": 1.4, "markersize": 4.5, "markevery": every, "zorder": 2 + curve.held_out}
            (self.lines_[curve.key],) = self.axes_[panel].plot(x, y, label=curve.label, **{**options, **look, **filled})

    def _draw_between(self, phase: str, names: list[str]) -> None:
        marker, size, label = _BETWEEN[phase]
        for number, (name, shown) in enumerate(_ADVERSARIES.items(), 1):
            x, y = self.history.measured(phase, f"{name}_accuracy")
            if name not in names or not len(x):
                continue
            look = {"color": line_style(number)["color"], "markeredgecolor": "black", "markeredgewidth": 0.7}
            (self.lines_[f"{phase}_{name}"],) = self.axes_["accuracy"].plot(
                x, y, linestyle="none", marker=marker, markersize=size, label=f"{shown}, {label}", zorder=5, **look
            )

    def _mark_selected(self, ax: Axes) -> list[Line2D]:
        if self.selected_round is None:
            return []
        place = self.history.place_of(self.selected_round)
        assert place is not None  # the constructor refuses others
        unit = "round" if self.history.stretches[-1].name == "P3" else "epoch"
        name = f"kept: {unit} {self.selected_round}"
        return [ax.axvline(place, color="black", linestyle=(0, (6, 2)), linewidth=1.1, label=name, zorder=1.5)]


def _shade_phases(axes: Sequence[Axes], stretches: Sequence[PhaseStretch]) -> tuple[dict[str, list[Patch]], list[Text]]:
    """Shade every second phase in all axes, and write the names of the phases above the first axes.

    Parameters
    ----------
    axes : sequence of matplotlib Axes
        Axes over the same epochs, from top to bottom. Draw all curves and legends before you call this function.
    stretches : sequence of PhaseStretch
        Phases with their first and last epochs.

    Returns
    -------
    patches : dict of str to list of matplotlib Patch
        Regions of each phase, one in each of the axes.
    labels : list of matplotlib Text
        Names of the phases.
    """
    patches: dict[str, list[Patch]] = {}
    for number, stretch in enumerate(stretches):
        for ax in axes:
            patch = ax.axvspan(
                stretch.first - 0.5, stretch.last + 0.5, facecolor=_SHADES[number % 2], linewidth=0, zorder=-1
            )
            patches.setdefault(stretch.name, []).append(patch)
            if number:
                ax.axvline(stretch.first - 0.5, color="0.6", linewidth=0.8, zorder=-0.5)
    for ax in axes:
        ax.set_xlim(stretches[0].first - 0.5, stretches[-1].last + 0.5)
    return patches, _write_phases(axes[0], stretches)


def _write_phases(ax: Axes, stretches: Sequence[PhaseStretch]) -> list[Text]:
    # The layout must be computed first: only then do pixel positions and sizes of texts exist.
    figure_of(ax).draw_without_rendering()  # type: ignore[union-attr]
    labels: list[Text] = []
    for stretch in stretches:
        # shape: (2,), left and right end of the phase in pixels
        ends = ax.transData.transform([(stretch.first - 0.5, 1.0), (stretch.last + 0.5, 1.0)])[:, 0]
        label = ax.annotate(
            stretch.name,
            ((stretch.first + stretch.last) / 2, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
        )
        for name in _PHASES.get(stretch.name, (stretch.name,)):
            label.set_text(name)
            if label.get_window_extent().width + _GAP <= ends[1] - ends[0]:
                break
        labels.append(label)
    return labels
