"""Phases of a training as shaded regions behind its curves, with their names above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .training_history import PhaseStretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch
    from matplotlib.text import Text

__all__ = ["shade_phases"]

# Names of a phase, the longest first: the first that fits is written.
_NAMES = {
    "P1": ("P1: representer and tagger", "P1\ntagger", "P1"),
    "P2": ("P2: adversaries", "P2\nadversaries", "P2"),
    "P3": ("P3: one against the other", "P3\nalternating", "P3"),
    "DANN": ("gradient reversal", "gradient\nreversal", "DANN"),
    "bounded": ("bounded training", "bounded\ntraining", "bounded"),
    "finish": ("tagger alone", "tagger\nalone", "tagger"),
}
_GRAYS = ("0.93", "1.0")
_GAP = 6.0  # pixels that stay free beside a name


def shade_phases(axes: Sequence[Axes], stretches: Sequence[PhaseStretch]) -> tuple[dict[str, list[Patch]], list[Text]]:
    """Shade every other phase in all axes, and write the names above the first.

    Parameters
    ----------
    axes : sequence of matplotlib Axes
        Over the same epochs, one above the other; all else must be drawn.
    stretches : sequence of PhaseStretch

    Returns
    -------
    patches : dict of str to list of matplotlib Patch
        For each phase one region in each of the axes.
    labels : list of matplotlib Text
    """
    patches: dict[str, list[Patch]] = {}
    for number, stretch in enumerate(stretches):
        for ax in axes:
            patch = ax.axvspan(
                stretch.first - 0.5, stretch.last + 0.5, facecolor=_GRAYS[number % 2], linewidth=0, zorder=-1
            )
            patches.setdefault(stretch.name, []).append(patch)
            if number:
                ax.axvline(stretch.first - 0.5, color="0.6", linewidth=0.8, zorder=-0.5)
    for ax in axes:
        ax.set_xlim(stretches[0].first - 0.5, stretches[-1].last + 0.5)
    return patches, _write_names(axes[0], stretches)


def _write_names(ax: Axes, stretches: Sequence[PhaseStretch]) -> list[Text]:
    figure = ax.get_figure()
    assert figure is not None  # axes that are drawn belong to one
    figure.draw_without_rendering()  # type: ignore[union-attr]
    labels: list[Text] = []
    for stretch in stretches:
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
        for name in _NAMES.get(stretch.name, (stretch.name,)):
            label.set_text(name)
            if label.get_window_extent().width + _GAP <= ends[1] - ends[0]:
                break
        labels.append(label)
    return labels
