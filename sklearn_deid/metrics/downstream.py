"""Compare text classifiers trained on redacted notes with classifiers trained on the original notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from ..exceptions import SequenceError
from .estimate import Estimate


class Accuracy(NamedTuple):
    """Accuracy of a classifier trained and tested on one version of the notes.

    Attributes
    ----------
    accuracy : Estimate
        Accuracy with an interval over patients.
    difference : Estimate
        Accuracy minus the accuracy on the first version of the notes, paired by note.
    """

    accuracy: Estimate
    difference: Estimate


def default_classifier() -> Any:
    """Pipeline of TF-IDF word features and logistic regression."""
    return make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))


def check_labels(labels: Sequence[Any], groups: np.ndarray, n_splits: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the labelled notes, and their labels.

    Parameters
    ----------
    labels : sequence of n_notes labels
        Class of each note. None or NaN excludes the note.
    groups : ndarray of shape (n_notes,)
        Patient of each note.
    n_splits : int
        Number of folds. Each class must have notes of at least ``n_splits`` patients.

    Returns
    -------
    rows : ndarray of int
        Indices of the labelled notes.
    y : ndarray of shape (len(rows),)
        Labels of these notes.

    Raises
    ------
    SequenceError
        If the number of labels differs from the number of notes.
    ValueError
        If there are fewer than two classes, or a class has too few patients.

    Examples
    --------
    >>> rows, y = check_labels(["a", None, "b"], np.array(["p", "q", "r"]), 1)
    >>> rows.tolist(), y.tolist()
    ([0, 2], ['a', 'b'])
    """
    listed = list(labels)
    if len(listed) != len(groups):
        raise SequenceError(f"'labels' must hold one class for each of {len(groups)} notes. Got {len(listed)} instead.")
    # shape: (n_labelled,), numbers of the labelled notes
    rows = np.array([i for i, label in enumerate(listed) if not _is_missing(label)], dtype=np.intp)
    y = np.array([listed[i] for i in rows])
    if y.ndim != 1 or len(np.unique(y)) < 2:
        raise ValueError("'labels' must hold at least two classes, one for each note.")
    # Each fold needs notes of each class, and a patient is in a single fold.
    patients = [len(np.unique(groups[rows][y == label].astype(str))) for label in np.unique(y)]
    rare = [n for n in patients if n < n_splits]
    if rare:
        raise ValueError(
            f"Each class of 'labels' must have notes of at least n_splits={n_splits} patients; {len(rare)} of "
            f"{len(patients)} classes have fewer, the smallest {min(rare)}. "
            "Merge rare classes, leave their notes out with the label None, or set a smaller 'n_splits'."
        )
    return rows, y


def _is_missing(label: Any) -> bool:
    # pandas marks a missing label with NaN, which would become the class "nan" beside classes that are texts.
    return label is None or (isinstance(label, float) and label != label)


def downstream_accuracy(
    versions: Mapping[str, Sequence[str]],
    y: np.ndarray,
    groups: np.ndarray,
    classifier: Any = None,
    *,
    n_splits: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Accuracy]:
    """Cross-validated accuracy on each version of the same notes, with the same folds.

    Parameters
    ----------
    versions : mapping of str to sequence of n_notes texts
        Texts of each version. All versions of the notes are compared with the first version.
    y : ndarray of shape (n_notes,)
        Class of each note.
    groups : ndarray of shape (n_notes,)
        Patient of each note. All notes of a patient are in the same fold.
    classifier : estimator, default=default_classifier()
        Classifier that is fitted on lists of str. The function clones the classifier for each fold. Set the
        ``random_state`` of a randomized classifier to make the results reproducible.
    n_splits : int, default=5
        Number of folds.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    seed : int, default=0
        Random seed of the folds.

    Returns
    -------
    dict of str to Accuracy
        Accuracy on each version.

    Raises
    ------
    ValueError
        If no note of a version has a word.

    Notes
    -----
    The intervals are over patients. The classifiers of the folds share most of their training notes; the intervals
    ignore this dependence.

    References
    ----------
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10,
    table 5a: models trained on each version of the notes.
    """
    estimator = default_classifier() if classifier is None else classifier
    for name, texts in versions.items():
        if not any(map(str.isalnum, "".join(texts))):
            raise ValueError(f"No note of {name!r} has a word: no classifier can be trained. Leave 'labels' out.")
    folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    # The features play no role in the split, so that zeros replace them.
    splits = list(folds.split(np.zeros(len(y)), y, groups.astype(str)))
    # All versions have the same folds. The differences between versions are therefore paired. Each fold has a new clone
    # of the classifier: its test notes influence no vocabulary and no weight.
    right = {
        name: (cross_val_predict(estimator, list(texts), y, cv=splits) == y).astype(float)
        for name, texts in versions.items()
    }
    first = next(iter(right.values()))
    ones = np.ones(len(y))
    return {
        name: Accuracy(
            Estimate.from_groups(hits, ones, groups, confidence),
            Estimate.from_differences(hits - first, groups, confidence),
        )
        for name, hits in right.items()
    }
