"""The best legal tags of runs of tokens that are all PHI."""

from __future__ import annotations

import numpy as np

__all__ = ["label_runs"]

_FLOOR = 1e-12


def label_runs(
    begins: np.ndarray, goes_on: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Legal IOB2 tags without O that have the largest product of marginals (Viterbi), for all runs at once.

    Parameters
    ----------
    begins, goes_on : ndarray of shape (n_tokens, n_labels)
        Probabilities of B and of I of each label.
    starts, lengths : ndarray of shape (n_runs,)
        Runs of tokens; they do not overlap.

    Returns
    -------
    label : ndarray of shape (n_tokens,)
        Number of the label; 0 outside of the runs.
    inside : ndarray of shape (n_tokens,), of bool
        Whether the tag is I; False outside of the runs.

    Examples
    --------
    >>> begins, goes_on = np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([[0.0, 0.0], [0.3, 0.2]])
    >>> [part.tolist() for part in label_runs(begins, goes_on, np.array([0]), np.array([2]))]
    [[0, 0], [False, True]]
    """
    label, inside = np.zeros(len(begins), dtype=np.intp), np.zeros(len(begins), dtype=bool)
    if not len(starts):
        return label, inside
    order = np.argsort(-lengths, kind="stable")  # those that are not at their end yet then come first
    starts, lengths = starts[order], lengths[order]
    log_begins, log_goes_on = np.log(begins + _FLOOR), np.log(goes_on + _FLOOR)
    best_b, best_i = log_begins[starts], np.full((len(starts), begins.shape[1]), -np.inf)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for t in range(1, int(lengths[0])):
        n = int((lengths > t).sum())
        best, from_i = np.maximum(best_b[:n], best_i[:n]), best_i[:n] > best_b[:n]
        steps.append((best.argmax(axis=1), from_i))
        best_b[:n] = best.max(axis=1, keepdims=True) + log_begins[starts[:n] + t]
        best_i[:n] = best + log_goes_on[starts[:n] + t]
    here = np.arange(len(starts))
    current = np.maximum(best_b, best_i).argmax(axis=1)
    current_i = best_i[here, current] > best_b[here, current]
    for t in range(int(lengths[0]) - 1, -1, -1):
        n = int((lengths > t).sum())
        label[starts[:n] + t], inside[starts[:n] + t] = current[:n], current_i[:n]
        if t:
            before, from_i = steps[t - 1]
            current[:n] = np.where(current_i[:n], current[:n], before)
            current_i[:n] = from_i[here[:n], current[:n]]
    return label, inside
