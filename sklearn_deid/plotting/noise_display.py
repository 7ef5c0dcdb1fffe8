"""A noise study as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..embeddings import NoiseStudy
from .drawing import axes_or_new, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class NoiseStudyDisplay:
    """How often a word is still found from its noisy vector, against the scale of the noise.

    One line for each rank with its 95 % interval as a band, and the mean cosine between noisy and own vector, as in
    Friedrich (2018), figure 6.2 (left).

    Parameters
    ----------
    study : NoiseStudy
        From :func:`sklearn_deid.embeddings.noise_study`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each rank, then the mean cosine.

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
        """Display of a study; not yet drawn, see :meth:`plot`."""
        return cls(study)

    def plot(self, ax: Axes | None = None) -> NoiseStudyDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Made if ``None``.

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
            style = line_style(i)
            drawn.fill_between(
                study.scales, study.low[:, i], study.high[:, i], color=style["color"], alpha=0.15, linewidth=0
            )
            name = "nearest" if rank == 1 else f"among {rank} nearest"
            self.lines_ += drawn.plot(study.scales, study.found[:, i], label=name, markersize=5, linewidth=1.2, **style)
        self.lines_ += drawn.plot(
            study.scales, study.mean_cosine, "--", color="#555555", label="mean cosine to the original"
        )
        drawn.set_xlabel("Standard deviation of the noise in each dimension of a unit vector")
        drawn.set_ylabel(f"Share of originals found (n = {study.n})")
        drawn.set_ylim(min(-0.03, float(study.mean_cosine.min()) - 0.03), 1.03)
        drawn.grid(True, color="0.9", linewidth=0.6)
        drawn.set_axisbelow(True)
        drawn.legend()
        return self
