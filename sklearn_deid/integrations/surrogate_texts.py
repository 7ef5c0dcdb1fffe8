"""Surrogates for the PHI that spaCy pipelines and Presidio's analyzer find."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..surrogates import SurrogateEngine, rewrite_note
from ..text import Document, Span
from .deidentifiers import check_spans_of_surrogates
from .token_spans import expand_to_tokens


def surrogate_text(
    text: str, results: Iterable[Any], engine: SurrogateEngine, *, patient_id: str | None = None
) -> Document:
    """Replace the results of Presidio's analyzer by surrogates.

    Presidio's anonymizer passes an operator one entity at a time. Surrogates depend on the whole note: on the order of
    day and month, the town next to a postal code, and the other names of the patient. This function therefore replaces
    the anonymizer.

    Parameters
    ----------
    text : str
        Text that was analyzed.
    results : iterable of RecognizerResult
        Results of the analyzer. The ``label`` in their metadata, which `DeidRecognizer` writes, has priority over
        their entity, since Presidio's entities are coarser.
    engine : SurrogateEngine
        Source of the surrogates.
    patient_id : str, optional
        Patient of the text. None treats the text as a patient of its own.

    Returns
    -------
    Document
        New text with the spans of the surrogates.

    Raises
    ------
    DeidError
        If the results are of a `DeidRecognizer` that leaves bare years in the text. Beside the moved dates, the years
        would reveal the shift of the dates.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> found = [SimpleNamespace(entity_type="AGE", start=0, end=3, recognition_metadata=None)]
    >>> surrogate_text("101 years", found, SurrogateEngine(locale="en")).text
    '90+ years'
    """
    results = list(results)
    check_spans_of_surrogates(map(labels_of_result, results))
    spans = [Span(found.start, found.end, label_of_result(found)) for found in results]
    return rewrite_note(text, spans, engine.rewrite, patient_id=patient_id)


def surrogate_doc(doc: Any, engine: SurrogateEngine, *, spans_key: str = "phi", patient_id: str | None = None) -> Any:
    """Make a new spaCy doc with surrogates for the spans of a doc.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        Doc with the spans of the component ``sklearn_deid``.
    engine : SurrogateEngine
        Source of the surrogates.
    spans_key : str, default="phi"
        Key of the spans in ``doc.spans``.
    patient_id : str, optional
        Patient of the doc. None treats the doc as a patient of its own.

    Returns
    -------
    spacy.tokens.Doc
        New doc with the vocabulary of the old doc, split at white space, with the surrogates in ``doc.spans``. Nothing
        else of the old doc is kept: run your pipeline on the new doc. The vocabulary contains the words of the old doc,
        and a pickle of the new doc contains the vocabulary. Save docs with ``to_disk`` or ``DocBin``.

    Raises
    ------
    ValueError
        If the doc has no spans with the key. Otherwise, an unmarked doc would be returned like a doc without PHI.
    DeidError
        If the spans are of a component that leaves bare years in the text, as for `surrogate_text`.

    Examples
    --------
    >>> import spacy
    >>> from spacy.tokens import Span as SpacySpan
    >>> doc = spacy.blank("en")("101 years")
    >>> doc.spans["phi"] = [SpacySpan(doc, 0, 1, label="AGE")]
    >>> surrogate_doc(doc, SurrogateEngine(locale="en")).text
    '90+ years'
    """
    from spacy.tokens import Doc
    from spacy.tokens import Span as SpacySpan
    from spacy.util import get_words_and_spaces

    if spans_key not in doc.spans:
        raise ValueError(f"The 'spans_key' parameter must be a key of doc.spans. Got {spans_key!r} instead.")
    check_spans_of_surrogates([doc.spans[spans_key].attrs.get("labels")])
    marked = [Span(span.start_char, span.end_char, span.label_) for span in doc.spans[spans_key]]
    new = rewrite_note(doc.text, marked, engine.rewrite, patient_id=patient_id)
    words, spaces = get_words_and_spaces(new.text.split(), new.text)
    made = Doc(doc.vocab, words=words, spaces=spaces)
    starts = [token.idx for token in made]
    ends = [token.idx + len(token) for token in made]
    found = expand_to_tokens(new.spans, starts, ends, doc_id=new.doc_id)
    made.spans[spans_key] = [SpacySpan(made, span.first, span.stop, label=span.label) for span in found]
    return made


def label_of_result(found: Any) -> str:
    """Label of a result of Presidio's analyzer: the label of `DeidRecognizer`, or the entity."""
    return (getattr(found, "recognition_metadata", None) or {}).get("label") or found.entity_type


def labels_of_result(found: Any) -> str | None:
    """Parameter ``labels`` of the model of a `DeidRecognizer`; None if the model returns all PHI, and for others."""
    asked: str | None = (getattr(found, "recognition_metadata", None) or {}).get("labels")
    return asked
