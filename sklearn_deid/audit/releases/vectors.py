"""Releases of word vectors whose mechanism is not known."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...representations.pair_data import embedding_table
from ...tagging.tagger_data import distinct_words
from ...text import casing_ids
from ..audit_data import AuditData
from ..released_step import VECTORS
from .vector_release import VectorRelease, items_of


class ReleasedVectors(VectorRelease):
    """Released word vectors, perturbed or not, whose mechanism is unknown.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Vectors of the sentences in ``data``, without casing columns.
    public : WordVectors
        Public vectors in which the attacker searches for the words.
    data : AuditData
        Sentences of the audit.
    """

    kind = VECTORS

    def __init__(self, vectors: np.ndarray, public: Any, data: AuditData) -> None:
        super().__init__(data)
        self._released, self._public = vectors, public

    def digest(self) -> None:
        """Return None: the mechanism is unknown, and audits of given vectors are made anew."""

    def vectors(self, part: str) -> np.ndarray:
        """Released vectors of a part."""
        return self._released[items_of(self.data.X, self.data.parts[part])]

    def casing(self, part: str) -> np.ndarray:
        """Casing classes of the words: whoever shares vectors of words may share their casing too."""
        return self._casing[items_of(self.data.X, self.data.parts[part])]

    @cached_property
    def table(self) -> np.ndarray:
        return embedding_table(self._public, self._distinct[1])

    @cached_property
    def words(self) -> np.ndarray:
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, list[str]]:
        """Number of the word of each token, and the distinct words."""
        return distinct_words(self.data.X)

    @cached_property
    def _casing(self) -> np.ndarray:
        return casing_ids(self.data.X.data.tolist())
