"""Figure of a noise study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..embeddings import NoiseStudy
from .drawing import GRAY, axes_or_new, grid_behind, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class NoiseStudyDisplay:
    """Proportion of words that are found again from their noisy vectors, against the scale of the noise.

    The figure shows one line for each rank, with the 95 % interval as a band. A dashed line shows the mean cosine
    between the noisy and the original vector. The figure follows Friedrich (2018), figure 6.2 (left).

    Parameters
    ----------
    study : NoiseStudy
        Result of :func:`sklearn_deid.embeddings.noise_study`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the figure.
    figure_ : matplotlib Figure
        Figure that holds the axes.
    lines_ : list of matplotlib Line2D
        One line for each rank, then the line of the mean cosine.

    Examples
    --------
    >>> from matplotlib import pyplot
    >>> from sklearn_deid.embeddings import WordVectors, noise_study
    >>> vectors = WordVectors(["pain", "fever"], [[1.0, 0.0], [0.0, 1.0]])
    >>> study = noise_study(vectors, [0, 1], [0.0, 0.5, 1.0], n_draws=50, random_state=0)
    >>> display = NoiseStudyDisplay.from_study(study).plot()
    >>> [line.get_label() for line in display.lines_]
    ['nearest', 'among 5 nearest', 'among 10 nearest', 'mean cosine to the original']
    >>> pyplot.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, study: NoiseStudy) -> None:
        self.study = study

    @classmethod
    def from_study(cls, study: NoiseStudy) -> NoiseStudyDisplay:
        """Create the display of a study without drawing; call :meth:`plot` to draw."""
        return cls(study)

    def plot(self, ax: Axes | None = None) -> NoiseStudyDisplay:
        """Draw one line for each rank, and the mean cosine.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. ``None`` creates a new figure.

        Returns
        -------
        NoiseStudyDisplay
            This object.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        drawn, self.figure_ = axes_or_new(ax)
        self.ax_ = drawn
        study = self.study
        self.lines_ = []
        for i, rank in enumerate(study.ranks):
            # The band and its line have one colour.
            style = line_style(i)
            # study.low, study.high, study.found: shape (n_scales, n_ranks)
            drawn.fill_between(
                study.scales, study.low[:, i], study.high[:, i], color=style["color"], alpha=0.15, linewidth=0
            )
            name = "nearest" if rank == 1 else f"among {rank} nearest"
            self.lines_ += drawn.plot(study.scales, study.found[:, i], label=name, markersize=5, linewidth=1.2, **style)
        self.lines_ += drawn.plot(
            study.scales, study.mean_cosine, "--", color=GRAY, label="mean cosine to the original"
        )
        drawn.set_xlabel("Standard deviation of the noise in each dimension of a unit vector")
        drawn.set_ylabel(f"Share of originals found (n = {study.n})")
        # With strong noise the mean cosine can be negative.
        drawn.set_ylim(min(-0.03, float(study.mean_cosine.min()) - 0.03), 1.03)
        grid_behind(drawn)
        drawn.legend()
        return self
