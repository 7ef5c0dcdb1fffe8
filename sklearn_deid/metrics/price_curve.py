"""`PriceCurve`: recall, precision and hidden text at each decision bias, on held-out patients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .rounding import rounded


@dataclass(frozen=True)
class PriceCurve:
    """Precision and hidden text against recall: one point for each decision bias, measured on held-out patients.

    Parameters
    ----------
    biases : sequence of float
        Decision biases in ascending order, added to the log odds of PHI.
    recall : sequence of float
        Proportion of PHI tokens or spans that are found.
    reachable : sequence of float
        Lower confidence bound of the recall: the highest ``target_recall`` that the held-out patients prove at the
        bias.
    precision : sequence of float
        Proportion of tagged tokens that are PHI of any label; NaN if no token is tagged.
    hidden : sequence of float
        Proportion of all tokens that are tagged.

    Examples
    --------
    >>> curve = PriceCurve([0.0, 2.0], [0.9, 0.98], [0.87, 0.96], [0.95, 0.7], [0.1, 0.14])
    >>> curve.best_target(min_precision=0.8), curve.best_target(min_precision=0.99)
    (0.87, None)
    >>> curve.largest_bias(min_precision=0.6), curve.largest_bias(min_precision=0.8)
    (2.0, 0.0)
    >>> print(curve)
    bias   recall  target  precision  hidden text
     0.0   90.0 %  87.0 %     95.0 %       10.0 %
     2.0   98.0 %  96.0 %     70.0 %       14.0 %
    """

    biases: Sequence[float]
    recall: Sequence[float]
    reachable: Sequence[float]
    precision: Sequence[float]
    hidden: Sequence[float]

    def best_target(self, min_precision: float) -> float | None:
        """Highest ``target_recall`` at which the precision is at least ``min_precision``; None if no bias reaches this
        precision."""
        points = zip(self.reachable, self.precision, strict=True)
        return max((target for target, precision in points if precision >= min_precision), default=None)

    def largest_bias(self, min_precision: float) -> float:
        """Largest bias at which the precision is at least ``min_precision``; the smallest bias if no bias reaches this
        precision."""
        points = zip(self.biases, self.precision, strict=True)
        return max((bias for bias, precision in points if precision >= min_precision), default=min(self.biases))

    def __str__(self) -> str:
        # Rounded down: a target that is rounded up is not proved.
        proved = [math.floor(round(1000 * bound, 6)) / 1000 for bound in self.reachable]
        rows = zip(self.biases, self.recall, proved, self.precision, self.hidden, strict=True)
        lines = [
            f"{bias:4.1f}" + "".join(f" {rounded(v, 1, 100):>{n}} %" for v, n in zip(row, (6, 5, 8, 10), strict=True))
            for bias, *row in rows
        ]
        return "\n".join(["bias   recall  target  precision  hidden text", *lines])
