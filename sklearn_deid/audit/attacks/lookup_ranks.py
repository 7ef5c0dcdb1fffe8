"""Where released sentences stand among their candidates."""

from __future__ import annotations

import numpy as np

from ..protocol import Estimate

__all__ = ["MEASURES", "LookupRanks"]

MEASURES = {
    "top1": "share of sentences whose original is ranked first among the candidates",
    "top5": "share of sentences whose original is among the first five candidates",
    "pairwise": "share of choices between two candidates, one of which was released, that are right",
}


class LookupRanks:
    """Where the released candidates stand; ties are broken at random, which is counted by its expectation."""

    def __init__(self, groups: np.ndarray | None) -> None:
        self.groups = groups
        self.rows: list[int] = []
        self._n: list[int] = []
        self._possible: list[int] = []
        self._hits: dict[str, list[float]] = {name: [] for name in MEASURES}

    def add(self, row: int, truths: tuple[int, int], scores: np.ndarray) -> None:
        """Scores of shape (2, C): given the release of the original, and of another candidate."""
        truth, other = truths
        own = scores[0, truth]
        n_better, n_tied = int((scores[0] > own).sum()), int((scores[0] == own).sum())
        for name, k in (("top1", 1), ("top5", 5)):
            self._hits[name].append(min(1.0, max(0.0, (k - n_better) / n_tied)))
        beaten = (scores.shape[1] - n_better - n_tied + (n_tied - 1) / 2) / (scores.shape[1] - 1)
        back = float(np.sign(scores[1, other] - scores[1, truth]))
        self._hits["pairwise"].append((beaten + (1.0 + back) / 2) / 2)
        self.rows.append(row)
        self._n.append(scores.shape[1])
        self._possible.append(int(np.isfinite(scores[0]).sum()))

    def estimate(self, name: str, confidence: float) -> Estimate:
        where = np.asarray(self.rows) if self.groups is None else np.asarray(self.groups)[self.rows]
        return Estimate.from_hits(self._hits[name], where, confidence)

    def chance(self, name: str) -> float:
        """Of a guess among the candidates."""
        if name == "pairwise":
            return 0.5
        return float(np.mean([min(1.0, (1 if name == "top1" else 5) / n) for n in self._n]))

    @property
    def mean_candidates(self) -> float:
        return float(np.mean(self._n))

    @property
    def mean_compatible(self) -> float:
        return float(np.mean(self._possible))
