"""Release of word classes by an estimator or as a saved folder."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...exceptions import SequenceError
from ...representations.sharing import SharedRepresentation
from ...sequences import TokenSequences, TokenVectors
from ..attacks.class_check import ReleasedClassVectors
from ..audit_data import AuditData
from ..released_step import CLASS_FILE, CLASSES, is_of_private_notes
from .file import ReleasedFile
from .matched_file import MatchedNotes, candidates_of
from .vector_release import check_columns
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
        self._representer = representer
        self._first, self._again = self._releases(data)
        super().__init__(self._first, representer._vectors, data)

    def _releases(self, data: AuditData) -> tuple[np.ndarray, np.ndarray | None]:
        """Vectors of the release and, if the step can make a second release, vectors of the second release."""
        d, found = self._representer.centroids_.shape[1], []
        for _ in range(2):
            released = self._representer.transform(data.X)
            check_columns(released, data.X, d, bool(self._representer.casing))
            found.append(np.asarray(released.data)[:, :d])
        return found[0], found[1]

    @cached_property
    def released_classes(self) -> ReleasedClassVectors:
        """Vectors and published classes."""
        words, distinct = self._distinct
        rows = self._public.indices(distinct)
        known = np.where(rows >= 0, self._representer.classes_of_words_[rows], len(self._representer.centroids_) - 1)
        near = min(_NEIGHBORS, len(self._public))
        figures = self._representer.certify(self.data.X, self.data.y, n_neighbors=near).to_dict()
        return published(self._representer, self._first, expected=known[words], again=self._again, figures=figures)


class MatchedClasses(ReleasedClasses):
    """Word classes of a saved folder, in the order of the original notes.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : WordClassRepresenter
        Published classes.
    data : AuditData
        Sentences of the audit.
    notes : MatchedNotes
        Original notes of the folder, see `notes_of_classes`.
    """

    def __init__(self, shared: SharedRepresentation, representer: Any, data: AuditData, notes: MatchedNotes) -> None:
        self._shared, self._notes = shared, notes
        super().__init__(representer, data)

    def _releases(self, data: AuditData) -> tuple[np.ndarray, np.ndarray | None]:
        """Vectors of the folder; the audit makes no release."""
        d = self._representer.centroids_.shape[1]
        return np.asarray(self._shared.X[self._notes.rows[data.rows]].data)[:, :d], None


class ReleasedClassFolder(ReleasedFile):
    """Word classes of a saved folder, in the order of the folder; `ReleasedFile` describes the parameters."""

    kind = CLASS_FILE

    @property
    def released_classes(self) -> ReleasedClassVectors | None:
        """Vectors and published classes; None if the classes are not given."""
        return None if self.representer is None else published(self.representer, self.vectors)

    def _wrong_statements(self) -> list[str]:
        """Statements of the manifest that are wrong without any test."""
        found = self._wrong_parts()
        if self.representer is not None:
            # When vectors of a file are read again, it is not known whether they are public. The digests of the classes
            # are also compared, because their order could carry a message.
            own, told = (
                (one.n_components, one.n_neighbors, one.noise, one.casing, one.settings)
                for one in (self.representer.transform([]).origin, self.origin)
            )
            if own != told:
                found.append("The folder states other classes or settings than the published representer has.")
        return found


def notes_of_classes(
    shared: SharedRepresentation, representer: Any, X: TokenSequences, y: TokenSequences, groups: Any = None
) -> MatchedNotes:
    """Match each sentence of the notes with its sentence in a folder of word classes.

    Candidates are the sentences of the folder with equal length, tags and casing. The function chooses the candidate
    that agrees with the classes of the words at the most tokens. `matched_notes` describes the parameters.

    Raises
    ------
    SequenceError
        If the folder was not made from these notes.
    """
    own, there = candidates_of(shared, X, y)
    rows, sure = np.full(len(X), -1, dtype=np.int64), np.zeros(len(X), dtype=bool)
    rng, number = np.random.default_rng(0), dict[bytes, int]()
    told = _numbered(shared.X, number)
    expected = None if representer is None else _numbered(representer.transform(X), number)
    for key, members in own.items():
        # Rows are in random order. If the classes cannot decide, the matching must not follow the order of the file.
        found = rng.permutation(np.array(there[key]))
        if len(found) > len(members):
            raise SequenceError("The notes are not those behind the release: they lack some of its sentences.")
        if len(found) == 1:
            rows[members], sure[members] = found[0], True
            continue
        if expected is None:
            continue
        classes = np.stack([told[row] for row in found.tolist()])  # shape: (n_found, length)
        for row in members:
            n_other = (classes != expected[row]).sum(axis=1)
            rows[row], sure[row] = found[n_other.argmin()], n_other.min() == 0
    return MatchedNotes(X, rows, sure, y, groups)


def _numbered(R: TokenVectors, number: dict[bytes, int]) -> list[np.ndarray]:
    """Number of the vector of each token, by sentence; ``number`` contains the numbers that were assigned before."""
    assert R.origin is not None
    vectors = np.ascontiguousarray(R.data[:, : R.origin.n_components])
    flat = np.array([number.setdefault(row.tobytes(), len(number)) for row in vectors], dtype=np.int64)
    return np.split(flat, R.offsets[1:-1])


def published(representer: Any, vectors: np.ndarray, **more: Any) -> ReleasedClassVectors:
    """Combine released vectors with the classes that a representer publishes."""
    return ReleasedClassVectors(
        vectors,
        representer._table,
        representer.classes_of_words_,
        representer.centroids_,
        int(representer.class_size),
        kinds=representer._kinds,
        is_public=not is_of_private_notes(representer, representer._vectors),
        **more,
    )
