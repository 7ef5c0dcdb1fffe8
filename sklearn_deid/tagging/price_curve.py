"""`PriceCurve`: recall, precision and hidden text at each decision bias, on held-out patients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics import recall_lower_bounds
from ..sequences import check_groups, check_sequences, check_tags
from .held_out import HeldOut, gold_items, labels_in, threshold_of
from .marginals import read_marginals

_BIASES = tuple(np.arange(0.0, 10.01, 0.5).tolist())


@dataclass(frozen=True)
class PriceCurve:
    """Price of recall: one point for each decision bias, measured on held-out patients.

    Parameters
    ----------
    biases : sequence of float
        Decision biases in ascending order, added to the log odds of PHI.
    recall : sequence of float
        Proportion of PHI tokens or spans that are found.
    reachable : sequence of float
        Lower confidence bound of the recall: the highest ``target_recall`` that the held-out patients show at the bias.
    precision : sequence of float
        Proportion of tagged tokens that are PHI of any label; NaN if no token is tagged.
    hidden : sequence of float
        Proportion of all tokens that are tagged.

    Examples
    --------
    >>> curve = PriceCurve([0.0, 2.0], [0.9, 0.98], [0.87, 0.96], [0.95, 0.7], [0.1, 0.14])
    >>> curve.best_target(min_precision=0.8), curve.best_target(min_precision=0.99)
    (0.87, None)
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

    @classmethod
    def from_tagger(
        cls, tagger: Any, X: Any, y: Any, *, groups: Any = None, level: str = "token", confidence: float = 0.95
    ) -> PriceCurve:
        """Measure the price of recall on patients that a fitted tagger was not trained on.

        Parameters
        ----------
        tagger : fitted tagger with ``predict_proba``
            Tagger that was trained on other patients.
        X, y : sequences of n sentences and n tag sequences
            Sentences of held-out patients, and their IOB2 tags.
        groups : array-like of shape (n,), optional
            Patient of each sentence. Without groups, every sentence counts as a patient of its own.
        level : {"token", "span"}, default="token"
            Unit of the recall.
        confidence : float in (0.5, 1), default=0.95
            Confidence level of the lower bound of the recall.

        Returns
        -------
        PriceCurve

        Raises
        ------
        ValueError
            If y holds no PHI.

        Examples
        --------
        >>> from sklearn_deid import RuleTagger, VotingTagger
        >>> X, y = [["Mail", "to", "a@b.de"]] * 9, [["O", "O", "B-EMAIL"]] * 9
        >>> curve = PriceCurve.from_tagger(VotingTagger([("rules", RuleTagger())]).fit(X, y), X, y)
        >>> curve.recall[0], curve.precision[0]
        (1.0, 1.0)
        """
        X = check_sequences(X)
        tags = check_tags(y, X)
        patients = check_groups(groups, len(X))
        marginals = read_marginals(tagger, X, X, labels_in(tagger.classes_, tags.data))
        held = HeldOut(marginals, tags, np.arange(len(X)) if patients is None else patients)
        return curve_of(held, gold_items(held, level, True), confidence)

    def best_target(self, min_precision: float) -> float | None:
        """Highest ``target_recall`` that keeps a precision, or None if no bias keeps the precision."""
        points = zip(self.reachable, self.precision, strict=True)
        return max((target for target, precision in points if precision >= min_precision), default=None)

    def __str__(self) -> str:
        rows = zip(self.biases, self.recall, self.reachable, self.precision, self.hidden, strict=True)
        lines = [
            f"{bias:4.1f} {100 * recall:6.1f} % {100 * target:5.1f} % {100 * precision:8.1f} % {100 * hidden:10.1f} %"
            for bias, recall, target, precision, hidden in rows
        ]
        return "\n".join(["bias   recall  target  precision  hidden text", *lines])


def curve_of(held: HeldOut, items: tuple[np.ndarray, np.ndarray], confidence: float) -> PriceCurve:
    """Price curve of held-out marginals; ``items`` are the scores and patients of the gold items."""
    scores, patients = items
    thresholds = np.array([threshold_of(bias) for bias in _BIASES])
    # Raises without PHI, of which no recall can be measured.
    reachable = recall_lower_bounds(scores, patients, thresholds, confidence)
    phi, gold = held.marginals.phi, held.tags.data != "O"
    # shape: (n_biases, n_tokens)
    tagged = phi >= thresholds[:, None]
    n_tagged = tagged.sum(1)
    with np.errstate(invalid="ignore"):
        precision = (tagged & gold).sum(1) / n_tagged
    return PriceCurve(
        _BIASES,
        tuple((scores >= thresholds[:, None]).mean(1).tolist()),
        tuple(reachable.tolist()),
        tuple(precision.tolist()),
        tuple((n_tagged / max(1, len(phi))).tolist()),
    )
