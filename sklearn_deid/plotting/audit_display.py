"""Figure of an audit: success of each attack, of random guesses and of the controls."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import GRAY, figure_of, grid_behind, line_style, panels_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from ..audit.report import AuditReport

_NEEDED = ("label", "threat", "status", "is_bound", "attack", "attack_low", "attack_high", "baseline")
# Arm, name in the legend, number of the colour, marker, and vertical offset within the row. The controls and the attack
# have different offsets, so that their intervals do not cover one another.
_CONTROLS = (
    ("positive_control", "control: nothing hidden", 2, "^", -0.2),
    ("negative_control", "control: nothing to learn", 1, "s", -0.2),
)
# Characters per line of a label, inches per row, and distance of the attack's mark from the middle of its row.
_LABEL_WIDTH, _ROW_HEIGHT, _ATTACK_AT = 48, 0.52, 0.1


class AuditDisplay:
    """Figure of an audit: one panel for each threat, one row for each attack.

    Each row shows the attack with its interval, the guessing baseline, and the positive and the negative control. All
    values are proportions from 0 to 1. The ``measure`` of a result describes the cases that its attack counts. The
    label of an invalid result contains the word "invalid". Skipped attacks are not drawn.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of `AuditReport.to_rows`. Rows without an attack are left out.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One axes for each threat.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    threats : tuple of str
        Threats of the panels, in the order of the rows.

    Raises
    ------
    ValueError
        If a row lacks a key, or no attack was carried out.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> from sklearn_deid.audit import AttackResult, AuditReport
    >>> from sklearn_deid.metrics import Estimate
    >>> found = AttackResult("pairs", "representation", "A recipient.", "share", Estimate.from_counts(62, 100), 0.5)
    >>> display = AuditDisplay.from_report(AuditReport([found])).plot()
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['pairs']
    >>> pyplot.close(display.figure_)
    """

    axes_: np.ndarray
    figure_: Figure | SubFigure

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        rows = list(rows)
        for number, row in enumerate(rows):
            lacking = [key for key in _NEEDED if key not in row]
            if lacking:
                raise ValueError(f"Row {number} lacks {', '.join(lacking)}.")
        # Attacks that were skipped have no value.
        self.rows = tuple(row for row in rows if not math.isnan(row["attack"]))
        if not self.rows:
            raise ValueError("There is nothing to draw: no attack was carried out.")
        # Threats in the order of their first attack.
        self.threats = tuple(dict.fromkeys(row["threat"] for row in self.rows))

    @classmethod
    def from_report(cls, report: AuditReport) -> AuditDisplay:
        """Create the display of a report without drawing; call :meth:`plot` to draw.

        Parameters
        ----------
        report : AuditReport
            Report of the audit.
        """
        return cls(report.to_rows())

    def plot(self, axes: Sequence[Axes] | None = None) -> AuditDisplay:
        """Draw one panel for each threat.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One axes for each threat. ``None`` creates a new figure.

        Returns
        -------
        AuditDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        ValueError
            If the number of axes differs from the number of threats.
        """
        own = [[row for row in self.rows if row["threat"] == threat] for threat in self.threats]
        drawn = panels_or_new(
            axes,
            len(own),
            figsize=(10.5, 1.0 + 0.5 * len(own) + _ROW_HEIGHT * len(self.rows)),
            height_ratios=[len(rows) + 0.4 for rows in own],
        )
        self.axes_, self.figure_ = np.array(drawn, dtype=object), figure_of(drawn[0])
        for ax, threat, rows in zip(drawn, self.threats, own, strict=True):
            self._draw_panel(ax, threat, rows)
        # The panels share the x axis, so only the last panel names the axis.
        drawn[-1].set_xlabel("Share that is right (0 to 1)")
        self._draw_legend(drawn, axes is None)
        return self

    def _draw_panel(self, ax: Axes, threat: str, rows: list[Mapping[str, Any]]) -> None:
        for at, row in enumerate(rows):
            _draw_row(ax, row, at)
        ax.set_yticks(range(len(rows)), [_label(row) for row in rows], fontsize="small")
        # The y axis points down, so that the first attack is at the top.
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(-0.03, 1.03)
        ax.tick_params(axis="y", length=0)
        ax.set_title(threat, loc="left", fontsize="medium", fontweight="bold")
        grid_behind(ax)
        ax.grid(False, axis="y")

    def _draw_legend(self, axes: Sequence[Axes], own_figure: bool) -> None:
        """List each kind of mark once: above the panels of a new figure, or in the first of the given axes."""
        # A mark may be absent from the first panel, so the handles of all panels are collected.
        found: dict[str, Any] = {}
        for ax in axes:
            for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
                found.setdefault(name, handle)
        marks: dict[str, Any] = {"handles": list(found.values()), "labels": list(found), "fontsize": "small"}
        if own_figure:
            self.figure_.legend(**marks, loc="outside upper center", ncols=len(found), frameon=False)
        else:
            axes[0].legend(**marks, loc="best")


def _label(row: Mapping[str, Any]) -> str:
    label = row["label"]
    if row["status"] == "invalid":
        invalid = " (FAULT)" if row.get("fault") else " (INVALID)"
        label += " (too weak to prove anything)" if row.get("weak") else invalid
    return textwrap.fill(label, _LABEL_WIDTH)


def _draw_row(ax: Axes, row: Mapping[str, Any], at: int) -> None:
    if not math.isnan(row["baseline"]):
        ax.plot(
            [row["baseline"]] * 2, [at - 0.4, at + 0.4], color=GRAY, linestyle="--", linewidth=1.5, label="guessing"
        )
    for arm, name, color, marker, place in _CONTROLS:
        look = {"color": line_style(color)["color"], "marker": marker, "markerfacecolor": "white"}
        _draw_arm(ax, row, arm, at + place, label=name, markersize=5, elinewidth=0.9, **look)
    if row["is_bound"]:
        look = {"color": "black", "marker": "D", "label": "certified bound"}
    else:
        look = {"color": line_style(0)["color"], "marker": "o", "label": "attack"}
    _draw_arm(ax, row, "attack", at + _ATTACK_AT, markersize=6, elinewidth=2.2, **look)


def _draw_arm(ax: Axes, row: Mapping[str, Any], arm: str, at: float, **look: Any) -> None:
    value = row.get(arm, math.nan)
    if math.isnan(value):
        return
    # matplotlib takes lengths below and above the value, not the ends of the interval. Shape: (2, 1)
    lengths = [[value - row[f"{arm}_low"]], [row[f"{arm}_high"] - value]]
    ax.errorbar([value], [at], xerr=lengths, linestyle="none", zorder=3, **look)
