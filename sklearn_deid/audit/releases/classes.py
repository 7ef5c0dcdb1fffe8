"""Release of word classes: by an estimator, or as a saved folder."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...representations.sharing import SharedRepresentation
from ..attacks.class_check import ReleasedClassVectors
from ..audit_data import AuditData
from ..released_step import CLASS_FILE, CLASSES
from .file import check_same_representer
from .vectors import ReleasedVectors

_NEIGHBORS = 100  # of the pairs of a PHI token and a near word, as in `WordClassRepresenter.certify`


class ReleasedClasses(ReleasedVectors):
    """Word classes that a `WordClassRepresenter` releases through its public `transform`.

    Parameters
    ----------
    representer : WordClassRepresenter
        Fitted representer.
    data : AuditData
        Sentences of the audit.
    """

    kind = CLASSES

    def __init__(self, representer: Any, data: AuditData) -> None:
        self._representer, d = representer, representer.centroids_.shape[1]
        self._first, self._again = (np.asarray(representer.transform(data.X).data)[:, :d] for _ in range(2))
        super().__init__(self._first, representer._vectors, data)

    @cached_property
    def released_classes(self) -> ReleasedClassVectors:
        """Vectors and published classes."""
        words, distinct = self._distinct
        rows = self._public.indices(distinct)
        known = np.where(rows >= 0, self._representer.classes_of_words_[rows], len(self._representer.centroids_) - 1)
        near = min(_NEIGHBORS, len(self._public))
        figures = self._representer.certify(self.data.X, self.data.y, n_neighbors=near).to_dict()
        return published(self._representer, self._first, expected=known[words], again=self._again, figures=figures)


class ReleasedClassFolder:
    """Word classes of a saved folder.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : WordClassRepresenter, optional
        Published classes.

    Raises
    ------
    BundleError
        If the vectors were made by another representer.
    """

    kind = CLASS_FILE

    def __init__(self, shared: SharedRepresentation, representer: Any = None) -> None:
        check_same_representer(shared, representer)
        rows, none = np.arange(len(shared)), np.zeros(0, dtype=np.int64)
        # The words are not known. The check does not read them, and the tags have the same sentences.
        self.data = AuditData(shared.y, shared.y, shared.groups, none, none, rows, rows, 0)
        self._shared, self._representer = shared, representer

    def digest(self) -> None:
        """Return None: the check of a folder is quick, and a folder may change."""

    @property
    def released_classes(self) -> ReleasedClassVectors | None:
        """Vectors and published classes; None if the classes are not given."""
        if self._representer is None:
            return None
        d = self._representer.centroids_.shape[1]
        return published(self._representer, np.asarray(self._shared.X.data[:, :d]))


def published(representer: Any, vectors: np.ndarray, **more: Any) -> ReleasedClassVectors:
    """Combine released vectors with the classes that a representer publishes."""
    return ReleasedClassVectors(
        vectors,
        representer._table,
        representer.classes_of_words_,
        representer.centroids_,
        int(representer.class_size),
        kinds=representer._kinds,
        **more,
    )
