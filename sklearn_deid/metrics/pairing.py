"""Pair gold and predicted documents; every document without a counterpart is an error or is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import NamedTuple

from ..exceptions import DeidError
from ..text import I2B2_2014, MEDDOCAN, Corpus, Document, LabelScheme, get_label_scheme, segment


class Pairing(NamedTuple):
    """Pairs of gold and predicted documents.

    Attributes
    ----------
    pairs : list of (Document, Document)
        Gold and predicted document of each pair, in the order of the gold documents.
    missing : tuple of str
        Ids of the gold documents without a prediction. In ``pairs``, the predicted document of a missing document has
        no spans.
    """

    pairs: list[tuple[Document, Document]]
    missing: tuple[str, ...]


def pair_documents(gold: Iterable[Document], predicted: Iterable[Document], missing: str = "raise") -> Pairing:
    """Pair documents by id.

    Parameters
    ----------
    gold, predicted : Corpus or iterable of Document
        Gold and predicted documents, in any order.
    missing : {"raise", "count"}, default="raise"
        Treatment of a gold document without a prediction. ``"raise"`` raises an error. ``"count"`` counts all spans of
        the document as missed and reports its id. The official scripts omit documents without a prediction, so that
        their scores are too high.

    Returns
    -------
    Pairing
        Pairs of documents, and ids without a prediction.

    Raises
    ------
    DeidError
        If a gold document has no prediction and ``missing="raise"``, if a predicted document has no gold document, or
        if the two texts of a document differ.
    ValueError
        If ``missing`` has another value.
    SequenceError
        If an id occurs twice among the gold or among the predicted documents.

    Examples
    --------
    >>> gold = [Document("a", "Ana works"), Document("b", "Ben works")]
    >>> pair_documents(gold, gold[:1], missing="count").missing
    ('b',)
    """
    if missing not in ("raise", "count"):
        raise ValueError(f"The 'missing' parameter must be 'raise' or 'count'. Got {missing!r} instead.")
    wanted, given = Corpus(gold), {d.doc_id: d for d in Corpus(predicted)}
    without = tuple(d.doc_id for d in wanted if d.doc_id not in given)
    if without and missing == "raise":
        raise DeidError(
            f"{len(without)} gold documents have no prediction; pass missing='count' to count their spans as missed.",
            doc_id=without[0],
        )
    # A gold document without prediction becomes a document without spans, so that all of its spans count as missed.
    pairs = [(d, given.pop(d.doc_id) if d.doc_id in given else replace(d, spans=())) for d in wanted]
    if given:
        raise DeidError(f"{len(given)} predicted documents are not among the gold documents.", doc_id=next(iter(given)))
    for document, other in pairs:
        _check_same_text(document, other)
    return Pairing(pairs, without)


def _check_same_text(document: Document, other: Document) -> None:
    a, b = document.text, other.text
    if a != b:
        shorter = min(len(a), len(b))
        # The message names the first different position, but not the different text.
        first = next((i for i in range(shorter) if a[i] != b[i]), shorter)
        raise DeidError(
            f"The predicted and the gold document have different texts, of {len(b)} and {len(a)} characters; they "
            f"differ from character {first} on. Offsets cannot be compared.",
            doc_id=document.doc_id,
        )


def infer_label_scheme(scheme: str | LabelScheme | None, documents: Iterable[Document]) -> LabelScheme | None:
    """The given scheme or, by default, the first known scheme (i2b2 2014, MEDDOCAN) with all labels, or None."""
    if scheme is not None:
        return get_label_scheme(scheme)
    labels = {span.label for document in documents for span in document.spans}
    # The first scheme wins if the labels belong to both schemes.
    return next((s for s in (I2B2_2014, MEDDOCAN) if labels <= set(s.labels)), None)


def count_sentences(documents: Iterable[Document], sentences: str | Mapping[str, int] | None) -> dict[str, int] | None:
    """Number of sentences of each document, for MEDDOCAN's leak score.

    Parameters
    ----------
    documents : iterable of Document
        Documents whose sentences are counted.
    sentences : {"count"}, mapping of str to int, or None
        ``"count"`` counts sentences with the sentence splitter of this library. A mapping contains the number of
        sentences for each document id. If None, the function returns None.

    Returns
    -------
    dict of str to int, or None
        Number of sentences for each document id.

    Raises
    ------
    DeidError
        If the mapping lacks a document, or a number is negative or not an integer.
    ValueError
        If ``sentences`` has another value.

    Examples
    --------
    >>> count_sentences([Document("n", "Seen today.\\n\\nSent home.")], "count")
    {'n': 2}
    """
    if sentences is None:
        return None
    if isinstance(sentences, Mapping):
        counts = {document.doc_id: sentences.get(document.doc_id, -1) for document in documents}
        for doc_id, n in counts.items():
            if not isinstance(n, Integral) or n < 0:
                raise DeidError("'sentences' has no number of sentences for this document.", doc_id=doc_id)
        return counts
    if sentences != "count":
        raise ValueError(
            "The 'sentences' parameter of deid_report must be 'count', a mapping of document ids to numbers, or None. "
            f"Got {type(sentences).__name__} instead."
        )
    return {document.doc_id: len(segment(document.text).sentences) for document in documents}
