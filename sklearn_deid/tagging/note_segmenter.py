"""`NoteSegmenter`: any segmenter, with checked results and sentences of bounded length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..text import Corpus, Document, LearnedSegmenter, Segmentation, Span, normalize, patient_of, segment
from ..text.normalized_text import NormalizedText
from ..text.segmentation import bounded, check_segmentation


class NoteSegmenter:
    """Check the results of a segmenter of the user, and limit the length of sentences. By default, `text.segment` is
    used.

    Parameters
    ----------
    segmenter : object with a method ``segment(text)``, optional
        The segmenter. None means `text.segment`.

    Examples
    --------
    >>> NoteSegmenter().segment("Seen. Well.").sentences
    [(0, 2), (2, 4)]
    """

    def __init__(self, segmenter: Any = None) -> None:
        self.segmenter = segmenter

    def segment(self, text: str) -> Segmentation:
        """Split a note into tokens and sentences."""
        if self.segmenter is None:
            return bounded(segment(text))
        if type(self.segmenter) is LearnedSegmenter:
            return self.segmenter.segment(text)
        return bounded(check_segmentation(text, self.segmenter.segment(text)))


def fitted_segmenter(segmenter: Any, corpus: Corpus, raw: Sequence[Document] = ()) -> Any:
    """Segmenter of a corpus, trained on its notes and on raw notes if the segmenter can be trained."""
    if isinstance(segmenter, str):
        segmenter = LearnedSegmenter() if segmenter == "learned" else NoteSegmenter()
    if not hasattr(segmenter, "fit"):
        return segmenter
    texts = [normalize(document.text) for document in (*corpus, *raw)]
    patients = np.array([*corpus.groups, *map(patient_of, raw)], dtype=object)
    # Segmenters of users may not accept annotations. The segmenter of the library ignores words that occur in PHI
    # alone.
    known = {}
    if type(segmenter) is LearnedSegmenter:
        known["y"] = [*(_spans_of(text, d) for text, d in zip(texts, corpus, strict=False)), *(None for _ in raw)]
    return clone(segmenter, safe=False).fit([text.text for text in texts], **known, groups=patients)


def _spans_of(text: NormalizedText, document: Document) -> list[Span]:
    """Passages of a normalized text that contain a character of a span."""
    n = len(text.text)
    starts, ends = (np.asarray(offsets) for offsets in text.originals(range(n), range(1, n + 1)))
    covered = np.zeros(n + 2, dtype=bool)
    for span in document.spans:
        # Both offsets never decrease.
        covered[1 + np.searchsorted(ends, span.start, "right") : 1 + np.searchsorted(starts, span.end)] = True
    borders = np.flatnonzero(np.diff(covered)).reshape(-1, 2).tolist()
    return [Span(start, end, "PHI") for start, end in borders]
