"""How much a row of an update, of a word or a tag, looks as if it had occurred."""

from __future__ import annotations

import numpy as np

__all__ = ["rows_by_bias", "rows_by_norm", "rows_by_span"]

# Singular values below this share of the largest are rounding in any case; above it, a gap of this factor shows it.
_ROUNDING, _GAP = 1e-7, 10.0


def rows_by_norm(part: np.ndarray) -> np.ndarray:
    """Length of each row of an update, shape (n_rows,)."""
    return np.linalg.norm(part, axis=1)


def rows_by_bias(part: np.ndarray) -> np.ndarray:
    """The update of each bias itself: against the gradient, it is positive where the tag occurred."""
    return np.asarray(part, dtype=np.float64)


def rows_by_span(part: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Minus the share of each word's vector that lies outside the row space of an update.

    Parameters
    ----------
    part : ndarray of shape (n_units, d)
    table : ndarray of shape (n_words, d)

    Returns
    -------
    ndarray of shape (n_words,)
        From -1 to 0; all 0 where the row space is the whole space, and the update tells nothing.

    Examples
    --------
    >>> rows_by_span(np.array([[1.0, 0.0, 0.0]]), np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).round(6).tolist()
    [-0.0, -1.0]
    """
    _, values, directions = np.linalg.svd(np.asarray(part, dtype=np.float64), full_matrices=False)
    kept = directions[: _rank(values)]
    norms = np.linalg.norm(table, axis=1)
    if len(kept) == table.shape[1]:
        return np.zeros(len(table))
    outside = np.linalg.norm(table - (table @ kept.T) @ kept, axis=1)
    # A word without a vector leaves no trace.
    return -np.where(norms > 0, outside / np.maximum(norms, 1e-300), 1.0)


def _rank(values: np.ndarray) -> int:
    """How many singular values are more than rounding; updates are differences of float32 numbers."""
    above = int((values > _ROUNDING * values.max(initial=0.0)).sum())
    if above < 2:
        return above
    ratios = values[: above - 1] / values[1:above]
    largest = int(ratios.argmax())
    return largest + 1 if ratios[largest] > _GAP else above
