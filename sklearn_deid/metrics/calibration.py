"""Calibration: whether predictions with confidence p are correct in a proportion p of the cases."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..sequences import RaggedArray, check_tags
from ..text import labels_of


class ReliabilityCurve(NamedTuple):
    """Mean confidence and proportion of correct predictions in each non-empty bin.

    Parameters
    ----------
    confidence, right : ndarray of shape (n_bins,)
        Mean confidence and proportion of correct predictions in each bin.
    cases : ndarray of shape (n_bins,), dtype int64
        Number of cases in each bin.
    """

    confidence: np.ndarray
    right: np.ndarray
    cases: np.ndarray


def reliability_curve(
    right: np.ndarray, confidence: np.ndarray, n_bins: int = 10, strategy: str = "uniform"
) -> ReliabilityCurve:
    """Proportion of correct predictions as a function of the confidence.

    The function extends scikit-learn's `calibration_curve` by the number of cases in each bin.

    Parameters
    ----------
    right : ndarray of shape (n,), of bool
        Whether each prediction is correct.
    confidence : ndarray of shape (n,), in [0, 1]
        Confidence of each prediction.
    n_bins : int, default=10
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        ``"uniform"`` makes bins of equal width. ``"quantile"`` makes bins with about equally many cases.

    Returns
    -------
    ReliabilityCurve
        Values of the non-empty bins.

    Raises
    ------
    ValueError
        If there is no case, or a parameter has a value that is not listed above.

    Examples
    --------
    >>> curve = reliability_curve(np.array([True, False, True]), np.array([0.2, 0.4, 0.9]), n_bins=2)
    >>> curve.confidence.round(2).tolist(), curve.right.tolist(), curve.cases.tolist()
    ([0.3, 0.9], [0.5, 1.0], [2, 1])
    """
    right, confidence = np.asarray(right, dtype=float), np.asarray(confidence, dtype=float)
    if right.shape != confidence.shape or right.ndim != 1 or not len(right):
        raise ValueError("'right' and 'confidence' must hold one value for each of at least one case.")
    if not ((confidence >= 0) & (confidence <= 1) & np.isin(right, (0, 1))).all():
        raise ValueError("'confidence' must hold probabilities, and 'right' must hold booleans.")
    if n_bins < 1:
        raise ValueError(f"The 'n_bins' parameter must be at least 1. Got {n_bins!r} instead.")
    # shape: (n_bins + 1,)
    edges = np.linspace(0, 1, n_bins + 1)
    if strategy == "quantile":
        edges = np.quantile(confidence, edges)
    elif strategy != "uniform":
        raise ValueError(f"The 'strategy' parameter must be 'uniform' or 'quantile'. Got {strategy!r} instead.")
    # Bin of each case; the inner edges suffice, so that confidences of 0 and 1 fall into the outer bins.
    # shape: (n,)
    place = np.searchsorted(edges[1:-1], confidence, side="left")
    count = np.bincount(place, minlength=n_bins)
    # Empty bins have no mean and are left out of the curve.
    held = count > 0
    # shape of each: (n_non_empty_bins,)
    means = [np.bincount(place, weights=values, minlength=n_bins)[held] / count[held] for values in (confidence, right)]
    return ReliabilityCurve(means[0], means[1], count[held])


def expected_calibration_error(
    right: np.ndarray, confidence: np.ndarray, n_bins: int = 15, strategy: str = "uniform"
) -> float:
    """Mean absolute difference between confidence and proportion of correct predictions, weighted by bin size.

    Almost all confidences of tokens are near 0 or 1. With bins of equal width, most cases are then in the first and the
    last bin. Use ``strategy="quantile"`` to compare cases within the first and the last bin.

    Parameters
    ----------
    right, confidence, n_bins, strategy
        Same parameters as in `reliability_curve`.

    Returns
    -------
    float
        Expected calibration error in [0, 1]; 0 is best.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), On calibration of modern neural networks, ICML, equation 3.

    Examples
    --------
    >>> expected_calibration_error(np.array([True, True, False, True]), np.array([0.75, 0.75, 0.75, 0.75]))
    0.0
    """
    curve = reliability_curve(right, confidence, n_bins, strategy)
    return float((curve.cases * np.abs(curve.right - curve.confidence)).sum() / curve.cases.sum())


def phi_confidences(y_true: Any, probabilities: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each token, whether the token is PHI, and the tagger's probability of PHI.

    Parameters
    ----------
    y_true : sequence of n tag sequences
        Gold tags.
    probabilities : sequence of n arrays of shape (n_tokens, n_classes)
        Result of ``predict_proba``.
    classes : sequence of str
        Attribute ``classes_`` of the tagger.

    Returns
    -------
    right : ndarray of shape (n_tokens,), of bool
        Whether each token is gold PHI.
    confidence : ndarray of shape (n_tokens,)
        Predicted probability that each token is PHI.

    Raises
    ------
    SequenceError
        If the gold tags and the probabilities have different sentences.

    Examples
    --------
    >>> phi_confidences([["O", "B-AGE"]], [[[0.75, 0.25], [0.0, 1.0]]], ["O", "B-AGE"])
    (array([False,  True]), array([0.25, 1.  ]))
    """
    rows = [np.asarray(row, dtype=float).reshape(-1, len(classes)) for row in probabilities]
    tags = check_tags(y_true, _ragged(rows))
    columns = [i for i, tag in enumerate(classes) if tag != "O"]
    # The empty first block keeps the number of columns when there is no sentence.
    # shape: (n_tokens, n_classes)
    flat = np.concatenate([np.zeros((0, len(classes))), *rows])
    return tags.data != "O", np.clip(flat[:, columns].sum(axis=1), 0.0, 1.0)


def span_confidences(y_true: Any, y_pred: Any, confidences: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each predicted span, whether a gold span has the same borders and label, and the tagger's confidence.

    Parameters
    ----------
    y_true, y_pred : sequences of n tag sequences
        Gold and predicted tags.
    confidences : sequence of n arrays of shape (n_tokens,)
        Confidences of the tokens from ``predict(..., return_confidence=True)``. The confidence of a span is the
        smallest confidence of its tokens, as in `NoteDeidentifier.annotate`.

    Returns
    -------
    right : ndarray of shape (n_spans,), of bool
        Whether each predicted span is correct.
    confidence : ndarray of shape (n_spans,)
        Confidence of each predicted span.

    Raises
    ------
    SequenceError
        If gold tags, predicted tags and confidences have different sentences.

    Examples
    --------
    >>> span_confidences([["B-AGE", "I-AGE"]], [["B-AGE", "B-AGE"]], [[0.5, 0.9]])
    (array([False, False]), array([0.5, 0.9]))
    """
    rows = [np.asarray(row, dtype=float).ravel() for row in confidences]
    shape = _ragged(rows)
    gold, predicted = check_tags(y_true, shape), check_tags(y_pred, shape)
    right, sure = [], []
    for wanted, given, row in zip(gold, predicted, rows, strict=True):
        spans = set(labels_of(wanted))
        for span in labels_of(given):
            right.append(span in spans)
            # A span is as certain as its least certain token.
            sure.append(row[span[0] : span[1]].min())
    return np.array(right, dtype=bool), np.clip(np.array(sure, dtype=float), 0.0, 1.0)


def _ragged(rows: list[np.ndarray]) -> RaggedArray:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    return RaggedArray(np.zeros(int(offsets[-1])), offsets)
