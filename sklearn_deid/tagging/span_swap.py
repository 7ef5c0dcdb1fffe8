"""Augmentation: a span of PHI takes the place of another one with the same label.

The network then sees known names in new sentences and known sentences with new names, and has to learn from the
context. On MEDDOCAN it is worth more than any change of the architecture (see docs/architecture.md).
"""

from __future__ import annotations

import numpy as np


class SpanSwapper:
    """Draw a new version of ragged training data in which spans have changed places.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
        Sentence i holds the items ``offsets[i]:offsets[i + 1]``.
    starts, ends : ndarray of shape (n_spans,)
        Item ranges of the spans, sorted, not overlapping, each within one sentence.
    labels : ndarray of shape (n_spans,)
        Integer label of each span.
    share : float
        Probability that a span is replaced by one drawn from all spans of its label, itself included.
    """

    def __init__(
        self, offsets: np.ndarray, starts: np.ndarray, ends: np.ndarray, labels: np.ndarray, share: float
    ) -> None:
        self.offsets, self.starts, self.ends, self.share = offsets, starts, ends, share
        self.lengths = ends - starts
        # Spans of one label stand together in `order`; `first` and `count` say where, for each span.
        self.order = np.argsort(labels, kind="stable")
        _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.count = counts[inverse]
        self.first = (np.cumsum(counts) - counts)[inverse]

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Item indices of the new data, and its offsets: new items are ``items[index]``."""
        n = len(self.starts)
        drawn = self.order[self.first + (rng.random(n) * self.count).astype(np.int64)]
        source = np.where(rng.random(n) < self.share, drawn, np.arange(n))
        # Pieces: what stands before each span, the span's substitute, ..., what stands after the last one.
        begin = np.empty(2 * n + 1, dtype=np.int64)
        size = np.empty(2 * n + 1, dtype=np.int64)
        gaps = np.concatenate(([0], self.ends))
        begin[0::2], size[0::2] = gaps, np.concatenate((self.starts, self.offsets[-1:])) - gaps
        begin[1::2], size[1::2] = self.starts[source], self.lengths[source]
        stop = np.cumsum(size)
        index = np.arange(stop[-1]) + np.repeat(begin - (stop - size), size)
        # A sentence border moves by what the spans before it gained.
        gained = np.concatenate(([0], np.cumsum(self.lengths[source] - self.lengths)))
        return index, self.offsets + gained[np.searchsorted(self.ends, self.offsets, side="right")]
