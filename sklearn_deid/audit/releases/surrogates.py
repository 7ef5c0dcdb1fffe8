"""Release of sentences with surrogates."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np

from ..attacks.sentence_pairs import ReleasedSentences
from ..attacks.surrogate_spans import SurrogateSpans, spans_of_sentences
from ..audit_data import AuditData
from ..released_step import SURROGATES


class ReleasedSurrogates:
    """Sentences whose PHI was replaced by surrogates, with the estimator that replaced it.

    Parameters
    ----------
    released : TokenSequences
        Released version of all sentences in ``data``.
    data : AuditData
        Original sentences of the audit.
    pseudonymizer : fitted SurrogatePseudonymizer
        Estimator that makes further releases with other keys.
    """

    kind = SURROGATES

    def __init__(self, released: Any, data: AuditData, pseudonymizer: Any) -> None:
        self.released, self.data, self.pseudonymizer = released, data, pseudonymizer

    def digest(self) -> str | None:
        """Hash the released text; None if each audit has other surrogates."""
        if self.pseudonymizer.random_state is None:
            return None
        plain = sorted((k, v) for k, v in self.pseudonymizer.get_params(deep=False).items() if k != "random_state")
        return str(joblib.hash((type(self.pseudonymizer).__qualname__, plain, self.released.tolist())))

    def spans(self, parts: Sequence[str], n_releases: int = 1) -> SurrogateSpans:
        """Spans of parts of the data with their surrogates in one or several releases."""
        data = self.data
        rows = np.sort(np.concatenate([data.parts[part] for part in parts]))
        own, tags, groups = data.X[rows], data.y[rows], data.groups_of(rows)
        releases = [self.released[rows], *self._further(own, tags, groups, n_releases - 1)]
        return spans_of_sentences(
            own, releases, tags, groups, locale=self.pseudonymizer.locale, kinds=self.pseudonymizer.kinds
        )

    def sentences(self, part: str) -> ReleasedSentences:
        """Sentences of a part, in the form that a linkage attacker sees."""
        rows = self.data.parts[part]
        return ReleasedSentences(self.released[rows], self.data.groups_of(rows), self.data.y[rows])

    def _further(self, X: Any, y: Any, groups: Any, n_releases: int) -> list[Any]:
        """Releases of the same sentences with other keys."""
        drawing = copy.copy(self.pseudonymizer)
        is_seeded = drawing.random_state is not None
        out = []
        for number in range(1, n_releases + 1):
            drawing.random_state = (self.data.seed + number) % 2**32 if is_seeded else None
            out.append(drawing.sample(X, y, groups))
        return out
