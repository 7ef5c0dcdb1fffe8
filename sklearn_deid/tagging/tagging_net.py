"""What `DeidTagger` does once it is trained: tags, probabilities, score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import phi_f1_score
from ..sequences import object_rows
from .token_net import TokenNet

__all__ = ["TaggingNet"]


class TaggingNet(TokenNet):
    """The public methods of a fitted tagger."""

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        return_confidence : bool, default=False
            Also return the probability of each chosen tag.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence; only with ``return_confidence``.
        """
        dataset, table = self._tagging_data(X)
        tags: list[list[str]] = [[] for _ in range(len(dataset))]
        confidence = [np.zeros(0, dtype=np.float32) for _ in range(len(dataset) if return_confidence else 0)]
        for rows, batch, emissions in self._outputs(dataset, table):
            paths = self.module_.decode(emissions, batch.mask)
            for row, path in zip(rows, paths, strict=True):
                tags[row] = self._outer_tags(path)
            if return_confidence:
                probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
                for i, (row, path) in enumerate(zip(rows, paths, strict=True)):
                    confidence[row] = probabilities[i, np.arange(len(path)), path]
        return (object_rows(tags), object_rows(confidence)) if return_confidence else object_rows(tags)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginal probability of each tag at each token.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`

        Returns
        -------
        ndarray of shape (n,), dtype object
            Of float32 arrays of shape (n_tokens, n_classes); columns as in ``classes_``.
        """
        dataset, table = self._tagging_data(X)
        out = [np.zeros((0, len(self.classes_)), dtype=np.float32) for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset, table):
            probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
            for i, row in enumerate(rows):
                out[row] = probabilities[i, : dataset.lengths[row]].copy()
        return object_rows(out)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Micro F1 of typed spans.

        Parameters
        ----------
        X, y
            As in `fit`; tags that were not seen in training count as missed.
        sample_weight : None
            Not supported; here because scikit-learn's Pipeline passes it on.
        """
        if sample_weight is not None:
            raise ValueError("DeidTagger.score does not take sample weights: spans are counted, not averaged.")
        return float(phi_f1_score(y, self.predict(X)))
