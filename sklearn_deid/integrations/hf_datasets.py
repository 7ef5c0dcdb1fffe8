"""Corpora as data sets of the package ``datasets`` by Hugging Face, and back (extra ``datasets``).

Everything stays on this machine: nothing is downloaded and nothing is sent. Two layouts:

- ``"spans"``: a row is a note. Nothing is lost. - ``"tokens"``: a row is a sentence with ``tokens`` and ``ner_tags``,
as scripts for token classification want it, and with
  what is needed to put the notes together again: the stretch of text that it stands for, where it begins in the note,
  and how long the note is. Rows may be shuffled; a row that is missing is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .._optional import import_optional
from ..exceptions import CorpusFormatError
from ..text import Corpus, Document, Span, convert_tags, segment, spans_to_tags, tags_to_spans
from .token_rows import documents_of_token_rows, parse_meta

__all__ = ["corpus_from_dataset", "corpus_to_dataset"]

_LAYOUTS = ("spans", "tokens")


def corpus_to_dataset(
    corpus: Iterable[Document], layout: str = "spans", *, tag_scheme: str = "iob2", lossy: bool = False
) -> Any:
    """A ``datasets.Dataset`` with the notes of a corpus.

    Parameters
    ----------
    corpus : Corpus or iterable of Document
    layout : {"spans", "tokens"}, default="spans"
        A row for each note with ``doc_id``, ``patient_id``, ``text``, ``spans`` (``start``, ``end``, ``label``,
        ``category``, ``confidence``) and ``meta`` (JSON), or a row for each sentence with ``doc_id``, ``patient_id``,
        ``meta``, ``text``, ``offset``, ``length``, ``tokens``, ``starts``, ``ends`` (in ``text``) and ``ner_tags``.
        The latter does not hold categories and confidences.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Of the tags; for the layout "tokens".
    lossy : bool, default=False
        Whether spans that token tags cannot express may be widened to tokens or dropped where another one is; for the
        layout "tokens". Sentences are not cut inside a span.

    Returns
    -------
    datasets.Dataset

    Raises
    ------
    CorpusFormatError
        If the layout cannot hold a document; with id and offsets.
    MissingDependencyError
        If ``datasets`` is not installed.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> dataset = corpus_to_dataset([Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),))], "tokens")
    >>> dataset[0]["tokens"], dataset.features["ner_tags"].feature.int2str(dataset[0]["ner_tags"])
    (['Seen', 'by', 'Who', '.'], ['O', 'O', 'B-DOCTOR', 'O'])
    """
    if layout not in _LAYOUTS:
        raise ValueError(f"The 'layout' parameter must be one of {_LAYOUTS}. Got {layout!r} instead.")
    datasets = _datasets()
    text, number = datasets.Value("string"), datasets.Value("int64")
    documents = list(Corpus(corpus))
    about = {"doc_id": text, "patient_id": text, "meta": text, "text": text}
    if layout == "spans":
        rows = [_span_row(document) for document in documents]
        names = {"label": text, "category": text, "confidence": datasets.Value("float64")}
        features = {**about, "spans": [{"start": number, "end": number, **names}]}
    else:
        rows = [row for document in documents for row in _token_rows(document, tag_scheme, lossy)]
        tags = sorted({tag for row in rows for tag in row["ner_tags"]} - {"O"})
        kind = datasets.ClassLabel(names=["O", *tags])
        offsets = {"offset": number, "length": number, "starts": [number], "ends": [number]}
        features = {**about, **offsets, "tokens": [text], "ner_tags": [kind]}
    columns = {name: [row[name] for row in rows] for name in features}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def corpus_from_dataset(dataset: Any) -> Corpus:
    """The notes of a ``datasets.Dataset``.

    Parameters
    ----------
    dataset : datasets.Dataset
        In one of the layouts of `corpus_to_dataset`. Without ``doc_id`` a row gets its number as an id; without
        ``patient_id``, ``meta``, category and confidence there are none. Rows with ``tokens`` and ``ner_tags`` (or
        ``tags``; names or class labels; IOB2 or BIOES) need nothing else: their text is then made up, tokens joined by
        single spaces and rows of a document by line feeds. Other columns are left out.

    Returns
    -------
    Corpus

    Raises
    ------
    CorpusFormatError
        If neither ``text`` and ``spans`` nor ``tokens`` and tags are there, rows of a document are missing, or a row is
        broken; with id and offsets, without text.

    Examples
    --------
    >>> from sklearn_deid import make_clinical_notes
    >>> notes = make_clinical_notes(2, random_state=0)
    >>> corpus_from_dataset(corpus_to_dataset(notes)) == notes
    True
    """
    columns = getattr(dataset, "column_names", None)
    if not isinstance(columns, list):
        raise TypeError(f"The data set must be one Dataset, not a {type(dataset).__name__}. Take one of its splits.")
    rows = dataset.with_format(None)
    if {"text", "spans"} <= set(columns):
        return Corpus(_document(row, f"row-{number}") for number, row in enumerate(rows))
    tags = next((name for name in ("ner_tags", "tags") if name in columns), None)
    if tags is None or "tokens" not in columns:
        raise CorpusFormatError("The data set needs the columns 'text' and 'spans', or 'tokens' and 'ner_tags'.")
    return Corpus(documents_of_token_rows(_with_tag_names(rows, tags)))


def _datasets() -> Any:
    return import_optional("datasets", extra="datasets", purpose="Hugging Face data sets")


def _about(document: Document) -> dict[str, Any]:
    meta = dict(document.meta)
    try:
        written = json.dumps(meta, ensure_ascii=False, allow_nan=False)
        problem = None if json.loads(written) == meta else "The document's meta holds something that JSON would change."
        document.text.encode(), document.doc_id.encode(), written.encode()
    except UnicodeError:
        problem = "The document holds a lone surrogate, which is no character."
    except (TypeError, ValueError, RecursionError):
        problem = "The document's meta holds something that JSON cannot hold."
    if problem:
        raise CorpusFormatError(problem, doc_id=document.doc_id)
    return {"doc_id": document.doc_id, "patient_id": document.patient_id, "meta": written}


def _span_row(document: Document) -> dict[str, Any]:
    names = ("start", "end", "label", "category", "confidence")
    spans = [{name: getattr(span, name) for name in names} for span in document.spans]
    return {**_about(document), "text": document.text, "spans": spans}


def _token_rows(document: Document, tag_scheme: str, lossy: bool) -> Iterator[dict[str, Any]]:
    text, cut = document.text, segment(document.text)
    texts, starts, ends = cut.tokens
    tags, _ = spans_to_tags(document.spans, starts, ends, doc_id=document.doc_id)
    if not lossy:
        _check_expressed(document, tags_to_spans(tags, starts, ends))
    # No sentence ends inside a span, and the first one begins with the note.
    firsts = [first for first, _ in cut.sentences if first == 0 or not tags[first].startswith("I-")] or [0]
    for first, stop in zip(firsts, [*firsts[1:], len(texts)], strict=True):
        begin = 0 if first == 0 else starts[first]
        end = len(text) if stop == len(texts) else starts[stop]
        yield {
            **_about(document),
            "text": text[begin:end],
            "offset": begin,
            "length": len(text),
            "tokens": texts[first:stop],
            "starts": [start - begin for start in starts[first:stop]],
            "ends": [end - begin for end in ends[first:stop]],
            "ner_tags": convert_tags(tags[first:stop], "iob2", tag_scheme),
        }


def _check_expressed(document: Document, expressed: list[Span]) -> None:
    left = [(span.start, span.end, span.label) for span in expressed]
    for number, span in enumerate(document.spans, start=1):
        if (span.start, span.end, span.label) not in left:
            raise CorpusFormatError(
                "Token tags cannot express this span: it does not begin and end with tokens, or overlaps another one. "
                "Use layout='spans', or pass lossy=True.",
                doc_id=document.doc_id,
                annotation_id=f"number {number}",
                start=span.start,
                end=span.end,
            )
        left.remove((span.start, span.end, span.label))


def _document(row: dict[str, Any], name: str) -> Document:
    doc_id, text, spans = row.get("doc_id") or name, row["text"], row["spans"]
    if not isinstance(doc_id, str) or not isinstance(text, str) or not isinstance(spans, list):
        raise CorpusFormatError("A row needs a text and a list of spans, and ids that are strings.", doc_id=name)
    found = []
    for number, span in enumerate(spans, start=1):
        start, end, label = (span.get(key) for key in ("start", "end", "label"))
        if type(start) is not int or type(end) is not int or not isinstance(label, str) or not label:
            message = "A span needs whole numbers as 'start' and 'end', and a 'label'."
            raise CorpusFormatError(message, doc_id=doc_id, annotation_id=f"number {number}")
        found.append(Span(start, end, label, span.get("category"), span.get("confidence")))
    return Document(doc_id, text, tuple(found), row.get("patient_id"), parse_meta(row.get("meta"), doc_id))


def _with_tag_names(rows: Any, column: str) -> Iterator[dict[str, Any]]:
    """Rows whose ``ner_tags`` are names, whatever numbers or column they come from."""
    kind = getattr((rows.features or {}).get(column), "feature", None)
    names = getattr(kind, "names", None)
    for number, row in enumerate(rows):
        tags = row[column]
        if names is not None:
            if not all(0 <= tag < len(names) for tag in tags):
                raise CorpusFormatError("A tag is none of the class labels.", doc_id=f"row-{number}")
            tags = [names[tag] for tag in tags]
        yield {**row, "ner_tags": tags}
