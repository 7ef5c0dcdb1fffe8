"""Data augmentation: replace a span of PHI by another span with the same label.

With swapped spans, the network reads the same names in other sentences and other names in the same sentences, and must
learn from the context. The other span comes from the training sentences or is invented (`invented_spans`). On MEDDOCAN,
span swapping raises F1 more than any change of the architecture (see docs/measurements/default_tagger.md).
"""

from __future__ import annotations

import numpy as np

Spans = tuple[np.ndarray, np.ndarray, np.ndarray]


class SpanSwapper:
    """Draw new versions of training data in which spans are replaced by other spans of the same label.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
        Border of each sentence. Sentence i holds the items ``offsets[i]:offsets[i + 1]``.
    starts, ends : ndarray of shape (n_spans,)
        First item and end of each span. Spans are sorted, do not overlap, and do not cross the border of a sentence.
    labels : ndarray of shape (n_spans,)
        Integer label of each span.
    share : float
        Probability that a span is replaced. The new span is drawn from all spans of the same label, including the
        replaced span.
    more : tuple of three ndarrays of shape (n_more,), optional
        Starts, ends and labels of further spans, which are stored after the sentences. These spans may replace other
        spans, and are never replaced.
    """

    def __init__(
        self,
        offsets: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        labels: np.ndarray,
        share: float,
        more: Spans | None = None,
    ) -> None:
        self.offsets, self.starts, self.ends, self.share = offsets, starts, ends, share
        # shape: (n_spans + n_more,): spans that can be drawn
        added = tuple(np.empty(0, dtype=np.int64) for _ in range(3)) if more is None else more
        self.begins = np.concatenate([starts, added[0]])
        self.lengths = np.concatenate([ends, added[1]]) - self.begins
        labels = np.concatenate([labels, added[2]])
        # `order` lists the spans by label. For each span, `first` is the place of the first span of the same label in
        # `order`, and `count` is the number of spans of this label.
        self.order = np.argsort(labels, kind="stable")
        _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.count = counts[inverse][: len(starts)]
        self.first = (np.cumsum(counts) - counts)[inverse][: len(starts)]

    def draw(self, rng: np.random.Generator, is_free: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw new data.

        Parameters
        ----------
        rng : Generator
            Source of the random numbers. The number of random numbers does not depend on ``is_free``.
        is_free : ndarray of shape (n_spans + n_more,), bool, optional
            Whether each span may replace other spans. If the drawn span may not, the original span stays. By default,
            every span may replace other spans.

        Returns
        -------
        index : ndarray of shape (n_new_items,)
            Number of each new item in the old data: the new items are ``items[index]``.
        offsets : ndarray of shape (n + 1,)
            Borders of the sentences in the new data.
        """
        n = len(self.starts)
        # The spans of a label are a row in `order`, so that a uniform number times their count picks one of them.
        drawn = self.order[self.first + (rng.random(n) * self.count).astype(np.int64)]
        is_replaced = rng.random(n) < self.share
        if is_free is not None:
            is_replaced &= is_free[drawn]
        source = np.where(is_replaced, drawn, np.arange(n))
        # The new data is a list of 2 * n + 1 pieces: text before the first span, first replacement, text between the
        # first two spans, second replacement, ..., text after the last span.
        begin = np.empty(2 * n + 1, dtype=np.int64)
        size = np.empty(2 * n + 1, dtype=np.int64)
        gaps = np.concatenate(([0], self.ends))
        begin[0::2], size[0::2] = gaps, np.concatenate((self.starts, self.offsets[-1:])) - gaps
        begin[1::2], size[1::2] = self.begins[source], self.lengths[source]
        stop = np.cumsum(size)
        # Each piece is a range: running numbers, shifted from the place in the new data to the place in the old data.
        index = np.arange(stop[-1]) + np.repeat(begin - (stop - size), size)
        # Each border of a sentence moves by the length that the spans before the border have gained.
        gained = np.concatenate(([0], np.cumsum(self.lengths[source] - self.lengths[:n])))
        return index, self.offsets + gained[np.searchsorted(self.ends, self.offsets, side="right")]
