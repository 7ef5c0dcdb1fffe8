"""`NoteSegmenter`: any segmenter, with checked results and sentences of bounded length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..text import Corpus, Document, LearnedSegmenter, Segmentation, normalize, patient_of, segment
from ..text.segmentation import bounded, check_segmentation


class NoteSegmenter:
    """Check and bound the results of a segmenter of the user. Without one, `text.segment` splits by its rules.

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
    texts = [normalize(document.text).text for document in (*corpus, *raw)]
    patients = np.array([*corpus.groups, *map(patient_of, raw)], dtype=object)
    return clone(segmenter, safe=False).fit(texts, groups=patients)
