"""The score that taggers share."""

from __future__ import annotations

from typing import Any

from ..metrics import phi_f1_score

__all__ = ["SpanScore"]


class SpanScore:
    """Gives a tagger with ``predict`` its `score`."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Micro F1 of typed spans.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        y : sequence of n tag sequences
        sample_weight : None
            Not supported; here because scikit-learn's Pipeline passes it on.
        """
        if sample_weight is not None:
            name = type(self).__name__
            raise ValueError(f"{name}.score does not take sample weights: spans are counted, not averaged.")
        return float(phi_f1_score(y, self.predict(X)))  # type: ignore[attr-defined]
