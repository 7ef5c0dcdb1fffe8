"""Base class of all releases of vectors: the data that several attacks on vectors use."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._randomness import n_signed_zeros
from ..._skorch import resolve_device
from ...sequences import TokenSequences, TokenVectors
from ...text import CASING_CLASSES, casing_ids
from ..attacks.kept_by_property import word_properties
from ..attacks.released_tokens import ReleasedTokens
from ..attacks.sentence_pairs import ReleasedSentences
from ..audit_data import AuditData


class VectorRelease:
    """Released vectors of all parts of an audit's sentences.

    Parameters
    ----------
    data : AuditData
        Sentences of the audit.
    device : str, default="cpu"
        Device on which attacks compute.
    """

    def __init__(self, data: AuditData, device: str = "cpu") -> None:
        self.data, self.device = data, resolve_device(device)

    @property
    def table(self) -> np.ndarray:
        """Public word vectors, shape (n_words, e)."""
        raise NotImplementedError

    @property
    def words(self) -> np.ndarray:
        """Row in the table for each token."""
        raise NotImplementedError

    def vectors(self, part: str) -> np.ndarray:
        """Released vectors of a part, without casing columns, shape (n_tokens, d)."""
        raise NotImplementedError

    def casing(self, part: str) -> np.ndarray | None:
        """Released casing class of each token of a part, shape (n_tokens,); None if the casing was not released."""
        raise NotImplementedError

    def surroundings(self, part: str) -> np.ndarray | None:
        """Release of the same sentences with masked PHI words; None if this release cannot be made."""
        return None

    def offsets(self, part: str) -> np.ndarray:
        """Position of the first token of each sentence of a part, and the number of tokens at the end."""
        return np.concatenate([[0], np.cumsum(self.data.X.lengths[self.data.parts[part]])])

    def tokens(self, part: str) -> ReleasedTokens:
        """Sentences of a part, with the original words of the vectors."""
        rows = self.data.parts[part]
        item = items_of(self.data.X, rows)
        return ReleasedTokens(
            self.vectors(part),
            self.offsets(part),
            self.words[item],
            self.data.phi[item],
            self.casing(part),
            self._labels[item],
            self.data.groups_of(rows),
            self.surroundings(part),
        )

    def sentences(self, part: str) -> ReleasedSentences:
        """Sentences of a part, in the form that a linkage attacker sees."""
        rows, offsets, casing = self.data.parts[part], self.offsets(part), self.casing(part)
        vectors = TokenVectors(self.vectors(part), offsets)
        by_sentence = None if casing is None else np.split(casing, offsets[1:-1])
        return ReleasedSentences(vectors, self.data.groups_of(rows), self.data.y[rows], by_sentence)

    def _properties(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """Properties of the tokens on which the noise must not depend; ``places`` are positions in the sentences of the
        audit."""
        words = self.data.X.data[places].tolist()
        found = {"word": self.words[places], "label": self._labels[places], "casing": casing_ids(words)}
        found |= word_properties(words)[0]
        if self.data.groups is not None:
            patient = np.unique(np.asarray(self.data.groups).astype(str), return_inverse=True)[1].reshape(-1)
            found["patient"] = np.repeat(patient, self.data.X.lengths)[places]
        return found

    @cached_property
    def _labels(self) -> np.ndarray:
        return np.unique(self.data.y.data.astype(str), return_inverse=True)[1].reshape(-1)


def check_columns(released: TokenVectors, X: TokenSequences, d: int, casing: bool, *, drawn: bool = False) -> None:
    """Check the shape of released vectors, and the casing columns, which have no noise.

    Parameters
    ----------
    released : TokenVectors
        Release of X.
    X : TokenSequences
        Original words of the release.
    d : int
        Number of columns of the vectors.
    casing : bool
        Whether the casing of each token follows in one-hot columns.
    drawn : bool, default=False
        Whether the casing classes were drawn at random instead of taken from the words.

    Raises
    ------
    ValueError
        If the estimator released other sentences or columns than it declares.
    """
    width = d + len(CASING_CLASSES) * casing
    if not isinstance(released, TokenVectors) or not np.array_equal(released.offsets, X.offsets):
        raise ValueError("The estimator under attack returned other sentences than it was given.")
    if released.d != width:
        raise ValueError(f"The estimator under attack released {released.d} columns and declares {width}.")
    columns = np.asarray(released.data)[:, d:]
    classes = columns.argmax(axis=1) if drawn else casing_ids(X.data.tolist())
    # A zero with a minus sign equals zero, and its sign could be a bit of a note.
    if casing and (not np.array_equal(columns, np.eye(len(CASING_CLASSES))[classes]) or n_signed_zeros(columns)):
        raise ValueError("The columns of the casing hold something else than the casing class of each token.")


def items_of(X: TokenSequences, rows: np.ndarray) -> np.ndarray:
    """Positions of the tokens of the given sentences, in order."""
    parts = [np.arange(X.offsets[row], X.offsets[row + 1]) for row in rows]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
