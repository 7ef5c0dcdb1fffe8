"""Gold and predicted documents side by side; nothing is left out in silence."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..exceptions import DeidError
from ..text import I2B2_2014, MEDDOCAN, Corpus, Document, LabelScheme, get_label_scheme

__all__ = ["infer_label_scheme", "pair_documents"]


def pair_documents(
    gold: Iterable[Document], predicted: Iterable[Document], missing: str = "raise"
) -> list[tuple[Document, Document]]:
    """Pair documents by id.

    Parameters
    ----------
    gold, predicted : Corpus or iterable of Document
    missing : {"raise", "count"}, default="raise"
        What happens to a gold document without a prediction: an error, or all its spans count as missed, with a warning
        that names the first such documents. The official scripts leave it out, which makes the scores too good.

    Raises
    ------
    DeidError
        If a document has no counterpart, or its text differs.
    """
    if missing not in ("raise", "count"):
        raise ValueError(f"The 'missing' parameter must be 'raise' or 'count'. Got {missing!r} instead.")
    wanted, given = Corpus(gold), {d.doc_id: d for d in Corpus(predicted)}
    without = [d.doc_id for d in wanted if d.doc_id not in given]
    if without and missing == "raise":
        raise DeidError(
            f"{len(without)} gold documents have no prediction; pass missing='count' to count their spans as missed.",
            doc_id=without[0],
        )
    if without:
        warnings.warn(f"{len(without)} documents without prediction count as missed: {without[:5]}", stacklevel=3)
    pairs = [(d, given.pop(d.doc_id, replace(d, spans=()))) for d in wanted]
    if given:
        raise DeidError(f"{len(given)} predicted documents are not among the gold ones.", doc_id=next(iter(given)))
    for a, b in pairs:
        if a.text != b.text:
            raise DeidError("The predicted document has another text than the gold one.", doc_id=a.doc_id)
    return pairs


def infer_label_scheme(scheme: str | LabelScheme | None, documents: Iterable[Document]) -> LabelScheme | None:
    """The given scheme, or the known one that has all the labels; None where there is none."""
    if scheme is not None:
        return get_label_scheme(scheme)
    labels = set(_labels(documents))
    return next((s for s in (I2B2_2014, MEDDOCAN) if labels <= set(s.labels)), None)


def _labels(documents: Iterable[Document]) -> Iterator[str]:
    return (span.label for document in documents for span in document.spans)
