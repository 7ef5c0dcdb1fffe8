"""Data of an audit: check the sentences, limit them by patient, and split them for training, validation and
measurement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import joblib
import numpy as np
import torch

from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_groups, check_sequences, check_tags
from ..tagging.splits import hold_out_patients


@dataclass(frozen=True, repr=False)
class AuditData:
    """Annotated sentences of an audit, split into three parts by patient.

    Attributes
    ----------
    X, y : TokenSequences of n sentences
        Words and tags.
    groups : ndarray of shape (n,) or None
        Patient of each sentence. None means that each sentence counts as a patient.
    train, valid, test : ndarray
        Rows for training the attackers, rows for choosing their settings, and rows for measuring their success. No
        patient belongs to two parts.
    rows : ndarray of shape (n,)
        Position of each sentence in the data that the user passed.
    seed : int
        Random seed of the attacks.
    """

    X: TokenSequences
    y: TokenSequences
    groups: np.ndarray | None
    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray
    rows: np.ndarray
    seed: int

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """Rows of each part, by the name of the part."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    def groups_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Patients of the given rows."""
        return None if self.groups is None else self.groups[rows]

    @property
    def n_measured_patients(self) -> int | None:
        """Number of patients on whom the attacks are measured; None if the patients are not known."""
        groups = self.groups_of(self.test)
        return None if groups is None else len(np.unique(groups))

    @cached_property
    def phi(self) -> np.ndarray:
        """Whether each token is PHI, shape (n_tokens,)."""
        return np.array([tag != "O" for tag in self.y.data], dtype=bool)


def audit_data(X: Any, y: Any, groups: Any, max_sentences: int | None, rng: np.random.Generator) -> AuditData:
    """Check the data, draw whole patients up to the limit, and split the sentences by patient.

    Raises
    ------
    SequenceError
        If y is missing or does not match X, X contains vectors, or there are fewer than three patients.
    """
    X, y, groups = _checked(X, y, groups)
    rows = np.arange(len(X))
    if max_sentences is not None and len(X) > max_sentences:
        rows = _some_patients(len(X), groups, max_sentences, rng)
        X, y, groups = X[rows], y[rows], None if groups is None else groups[rows]
    seed = int(rng.integers(2**31))
    if len(X) < 3 or (groups is not None and len(np.unique(groups)) < 3):
        raise SequenceError("An audit needs at least three patients: for training, for selection and for measurement.")
    return AuditData(X, y, groups, *three_patient_splits(len(X), groups, seed), rows, seed)


def whole_data(X: Any, y: Any, groups: Any, rng: np.random.Generator) -> AuditData:
    """Prepare data in which every sentence is measured, for attackers who need no training sentences.

    Raises
    ------
    SequenceError
        If y is missing or does not match X, or X contains vectors.
    """
    X, y, groups = _checked(X, y, groups)
    rows, nobody = np.arange(len(X)), np.zeros(0, dtype=np.int64)
    return AuditData(X, y, groups, nobody, nobody, rows, rows, int(rng.integers(2**31)))


def digest_of(X: Any, y: Any, groups: Any) -> str:
    """Hash annotated sentences and their patients, so that an audit can recognise equal data.

    Examples
    --------
    >>> digest_of([["a", "b"]], [["O", "O"]], None) == digest_of([["ab"]], [["O"]], None)
    False
    """
    X = check_sequences(X)
    # Numbers instead of names: only the partition into patients matters.
    numbers = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].tolist()
    return str(joblib.hash((X.tolist(), check_tags(y, X).tolist(), numbers)))


def _checked(X: Any, y: Any, groups: Any) -> tuple[TokenSequences, TokenSequences, np.ndarray | None]:
    """Check that the sentences contain words, and that tags and groups match the sentences."""
    X = check_sequences(X)
    if not isinstance(X, TokenSequences):
        raise SequenceError("An audit compares the release with the original words, but X holds vectors.")
    return X, check_tags(y, X), check_groups(groups, len(X))


def _some_patients(n: int, groups: np.ndarray | None, limit: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of whole patients, drawn at random up to the limit; at least three patients."""
    if groups is None:
        return np.sort(rng.permutation(n)[:limit])
    numbers = np.unique(groups, return_inverse=True)[1]
    order = rng.permutation(numbers.max() + 1)
    # Number of sentences up to and including each patient, in the drawn order.
    total = np.cumsum(np.bincount(numbers)[order])
    kept = order[: max(3, int((total <= limit).sum()))]
    return np.flatnonzero(np.isin(numbers, kept))


def random_streams(
    random_state: Any, device: torch.device | str = "cpu"
) -> tuple[np.random.Generator, torch.Generator]:
    """Return two random generators: a NumPy generator for orders, and a torch generator for draws on the device.

    Parameters
    ----------
    random_state : int, numpy Generator or RandomState, or None
        Random seed. None takes the seed from the operating system; an int always gives the same streams.
    device : torch.device or str, default="cpu"
        Device of the torch generator.

    Examples
    --------
    >>> from sklearn_deid.audit import random_streams
    >>> bool(random_streams(0)[0].random() == random_streams(0)[0].random())
    True
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    rng = np.random.default_rng(random_state)
    return rng, torch.Generator(device).manual_seed(int(rng.integers(2**62)))


def three_patient_splits(n: int, groups: np.ndarray | None, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split sentences by patient into training, validation and test rows.

    Attackers train on the first part and choose their settings on the second part. The third part is for measurement.
    No patient belongs to two parts. The second part contains a fifth of the patients, and the third part 30 %.

    Parameters
    ----------
    n : int
        Number of sentences.
    groups : ndarray of shape (n,) or None
        Patient of each sentence; with None every sentence counts as a patient.
    seed : int
        Random seed of the split.

    Returns
    -------
    train, valid, test : ndarray
        Rows of the three parts.

    Raises
    ------
    SequenceError
        If there are fewer than three patients.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit import three_patient_splits
    >>> [len(rows) for rows in three_patient_splits(20, np.repeat(np.arange(10), 2), seed=0)]
    [10, 4, 6]
    """
    rest, test = hold_out_patients(n, groups, 0.3, seed)
    left = None if groups is None else np.asarray(groups)[rest]
    # `hold_out_patients` rounds up: without the small subtraction, 2.0000001 patients would become 3.
    train, valid = hold_out_patients(len(rest), left, 0.2 / (1.0 - 0.3) - 1e-9, seed)
    # Both proportions are above 0, so that neither part is None.
    assert test is not None and valid is not None
    return rest[train], rest[valid], np.asarray(test)


def first_of_each(X: TokenSequences) -> np.ndarray:
    """Row of the first occurrence of each distinct sentence."""
    first: dict[tuple[str, ...], int] = {}
    for row, tokens in enumerate(X):
        first.setdefault(tuple(tokens), row)
    return np.fromiter(first.values(), dtype=np.int64, count=len(first))
