"""Conversion of corpora to data sets of the Hugging Face package ``datasets``, and back (extra ``datasets``).

All data stay on this machine: nothing is downloaded and nothing is sent. There are two layouts.

- ``"spans"``: each row is a note. No information is lost.
- ``"tokens"``: each row is a sentence with ``tokens`` and ``ner_tags``, the input of scripts for token classification.
  Each row also holds its part of the text, the offset of this part in the note, and the length of the note. The notes
  can therefore be put together again. Rows may be shuffled. A missing row of a note raises an error, unless all rows
  of the note are missing.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from .._optional import import_optional
from .._parameters import check_parameter
from .._strict_json import load_strict
from ..exceptions import CorpusFormatError
from ..text import Corpus, Document, Span, convert_tags, segment, spans_to_tags, tags_to_spans
from ..text.patient_ids import known_id
from .given_span import SPAN_FIELDS, given_span

_LAYOUTS = ("spans", "tokens")
_OFFSETS = ("text", "offset", "length", "starts", "ends")


def corpus_to_dataset(
    corpus: Iterable[Document], layout: str = "spans", *, tag_scheme: str = "iob2", lossy: bool = False
) -> Any:
    """Convert a corpus to a ``datasets.Dataset``.

    Parameters
    ----------
    corpus : Corpus or iterable of Document
        Notes to convert.
    layout : {"spans", "tokens"}, default="spans"
        Layout of the rows.

        - "spans": a row for each note with ``doc_id``, ``patient_id``, ``text``, ``spans`` (``start``, ``end``,
          ``label``, ``category``, ``confidence``) and ``meta`` (JSON).
        - "tokens": a row for each sentence with ``doc_id``, ``patient_id``, ``meta``, ``text``, ``offset``, ``length``,
          ``tokens``, ``starts``, ``ends`` (offsets in ``text``) and ``ner_tags``. The layout "tokens" does not hold
          categories and confidences.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the tags in the layout "tokens".
    lossy : bool, default=False
        Whether the layout "tokens" may change spans that token tags cannot express. With ``lossy``, spans that tags
        cannot express are widened to whole tokens, or dropped if they overlap another span. Sentences are not cut
        inside a span.

    Returns
    -------
    datasets.Dataset
        Data set with the notes.

    Raises
    ------
    CorpusFormatError
        If the layout cannot hold a document. The error gives the document and the offsets.
    MissingDependencyError
        If ``datasets`` is not installed.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> dataset = corpus_to_dataset([Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),))], "tokens")
    >>> dataset[0]["tokens"], dataset.features["ner_tags"].feature.int2str(dataset[0]["ner_tags"])
    (['Seen', 'by', 'Who', '.'], ['O', 'O', 'B-DOCTOR', 'O'])
    """
    check_parameter("corpus_to_dataset", "layout", layout, layout in _LAYOUTS, f"one of {_LAYOUTS}")
    datasets = _datasets()
    text, number = datasets.Value("string"), datasets.Value("int64")
    # Corpus checks that all ids are distinct. Rows are put together by their ids on the way back.
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
    # Columns with explicit features: types that are guessed from the first rows could be wrong for empty lists.
    columns = {name: [row[name] for row in rows] for name in features}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def corpus_from_dataset(dataset: Any) -> Corpus:
    """Convert a ``datasets.Dataset`` to a corpus.

    The columns ``doc_id``, ``patient_id``, ``meta``, category and confidence are optional. The id of a row without
    ``doc_id`` is its row number. Other columns are ignored.

    Rows with ``tokens`` and ``ner_tags`` (or ``tags``) need no further columns. The tags of such rows are names or
    class labels, in IOB2 or BIOES. The text of rows without ``text`` is reconstructed: single spaces join the tokens,
    and line feeds join the rows of a document.

    Parameters
    ----------
    dataset : datasets.Dataset
        Data set in one of the layouts of `corpus_to_dataset`.

    Returns
    -------
    Corpus
        Notes of the data set.

    Raises
    ------
    CorpusFormatError
        If the data set has neither ``text`` and ``spans`` nor ``tokens`` and tags, if rows of a document are missing or
        name several patients, or if a row is invalid. The error gives the document and the offsets and holds no text.
        Also if the data set has a transform (``with_transform``, ``set_transform``), which would not be applied.

    Examples
    --------
    >>> from sklearn_deid import make_clinical_notes
    >>> notes = make_clinical_notes(2, random_state=0)
    >>> corpus_from_dataset(corpus_to_dataset(notes)) == notes
    True
    """
    columns = getattr(dataset, "column_names", None)
    if not isinstance(columns, list):
        raise TypeError(f"The data set must be a Dataset. Got {type(dataset).__name__} instead. Pass a single split.")
    # The stored texts can be the raw notes whose redaction the transform returns.
    if (getattr(dataset, "format", None) or {}).get("type") == "custom":
        raise CorpusFormatError("The data set has a transform. Apply its function with 'map' instead.")
    # Formats such as "torch" would return tensors instead of lists.
    rows = dataset.with_format(None)
    if {"text", "spans"} <= set(columns):
        return Corpus(_document(row, f"row-{number}") for number, row in enumerate(rows))
    tags = next((name for name in ("ner_tags", "tags") if name in columns), None)
    if tags is None or "tokens" not in columns:
        raise CorpusFormatError("The data set needs the columns 'text' and 'spans', or 'tokens' and 'ner_tags'.")
    return Corpus(_documents_of_token_rows(_with_tag_names(rows, tags)))


def _datasets() -> Any:
    return import_optional("datasets", extra="datasets", purpose="Hugging Face data sets")


def _about(document: Document) -> dict[str, Any]:
    meta = dict(document.meta)
    try:
        written = json.dumps(meta, ensure_ascii=False, allow_nan=False)
        problem = None if json.loads(written) == meta else "The document's meta has values that JSON would change."
        # Arrow stores UTF-8, which cannot hold a lone surrogate.
        document.text.encode(), document.doc_id.encode(), written.encode()
    except UnicodeError:
        problem = "The document holds a lone surrogate, which is not a character."
    except (TypeError, ValueError, RecursionError):
        problem = "The document's meta has values that JSON cannot hold."
    if problem:
        raise CorpusFormatError(problem, doc_id=document.doc_id)
    return {"doc_id": document.doc_id, "patient_id": document.patient_id, "meta": written}


def _span_row(document: Document) -> dict[str, Any]:
    spans = [{name: getattr(span, name) for name in SPAN_FIELDS} for span in document.spans]
    return {**_about(document), "text": document.text, "spans": spans}


def _token_rows(document: Document, tag_scheme: str, lossy: bool) -> Iterator[dict[str, Any]]:
    text, cut = document.text, segment(document.text)
    texts, starts, ends = cut.tokens
    tags, _ = spans_to_tags(document.spans, starts, ends, doc_id=document.doc_id)
    if not lossy:
        _check_expressed(document, tags_to_spans(tags, starts, ends))
    # A sentence that begins with an I- tag is joined to the sentence before it, so no span is cut. The first sentence
    # begins with the note, and the last sentence ends with the note: white space at both ends is kept.
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
    # A list, not a set: a document may hold the same span twice, and tags can express it once.
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
    found = tuple(given_span(span, doc_id, number) for number, span in enumerate(spans, start=1))
    return Document(doc_id, text, found, known_id(row.get("patient_id")), _parse_meta(row.get("meta"), doc_id))


def _with_tag_names(rows: Any, column: str) -> Iterator[dict[str, Any]]:
    """Rows with tag names in ``ner_tags``, converted from class labels and from other columns."""
    kind = getattr((rows.features or {}).get(column), "feature", None)
    names = getattr(kind, "names", None)
    for number, row in enumerate(rows):
        tags = row[column]
        for values, kind in ((tags, str if names is None else int), (row["tokens"], str)):
            if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
                raise CorpusFormatError("A row needs lists of tokens and tags.", doc_id=f"row-{number}")
        if names is not None:
            if not all(0 <= tag < len(names) for tag in tags):
                raise CorpusFormatError("A tag is not among the class labels.", doc_id=f"row-{number}")
            tags = [names[tag] for tag in tags]
        yield {**row, "ner_tags": tags}


def _documents_of_token_rows(rows: Iterable[dict[str, Any]]) -> Iterator[Document]:
    """Put together the documents, in the order of their first rows.

    Parameters
    ----------
    rows : iterable of dict
        Rows with ``tokens`` and ``ner_tags`` (names in IOB2 or BIOES). The keys ``doc_id``, ``patient_id`` and ``meta``
        (JSON) are optional. Rows with ``text``, ``offset``, ``length``, ``starts`` and ``ends`` give the original text.
        For other rows the text is reconstructed: single spaces join the tokens, and line feeds join the rows.

    Yields
    ------
    Document

    Raises
    ------
    CorpusFormatError
        If a row is invalid, or if rows of a document are missing.

    Examples
    --------
    >>> rows = [{"doc_id": "n1", "tokens": ["by", "Who"], "ner_tags": ["O", "S-DOCTOR"]}]
    >>> next(_documents_of_token_rows(rows)).spans
    (Span(start=3, end=6, label='DOCTOR', category=None, confidence=None),)
    """
    by_document: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(rows):
        doc_id = row.get("doc_id") or f"row-{number}"
        if not isinstance(doc_id, str) or len(row["tokens"]) != len(row["ner_tags"]):
            raise CorpusFormatError(
                "A row needs a tag for each token, and an id that is a string.", doc_id=f"row-{number}"
            )
        by_document.setdefault(doc_id, []).append(row)
    for doc_id, own in by_document.items():
        # Offsets are used only if all rows of the document have them; a mixture could not be put together.
        known = all(row.get(name) is not None for row in own for name in _OFFSETS)
        yield _put_together(doc_id, sorted(own, key=lambda row: row["offset"]) if known else _made_up(own))


def _parse_meta(written: str | None, doc_id: str) -> dict[str, Any]:
    """Parse meta data written as JSON. An empty or missing text gives an empty dict.

    Raises
    ------
    CorpusFormatError
        If the text is not a JSON object.

    Examples
    --------
    >>> _parse_meta('{"ward": 3}', "n1")
    {'ward': 3}
    """
    try:
        meta = load_strict(written or "{}")
    except (TypeError, ValueError, RecursionError):
        # A JSON error holds the text that could not be parsed, so the error is not passed on.
        meta = None
    if not isinstance(meta, dict):
        raise CorpusFormatError("The document's meta must be a JSON object.", doc_id=doc_id)
    return meta


def _made_up(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with a reconstructed text: tokens joined by spaces, and a line feed after each row but the last."""
    out, offset = [], 0
    for number, row in enumerate(rows):
        ends = list(accumulate(len(token) + 1 for token in row["tokens"]))
        starts = [end - len(token) - 1 for end, token in zip(ends, row["tokens"], strict=True)]
        text = " ".join(row["tokens"]) + ("\n" if number < len(rows) - 1 else "")
        out.append({**row, "text": text, "offset": offset, "starts": starts, "ends": [end - 1 for end in ends]})
        offset += len(text)
    return [{**row, "length": offset} for row in out]


def _put_together(doc_id: str, rows: list[dict[str, Any]]) -> Document:
    spans, position = [], 0
    for row in rows:
        # Rows are sorted by offset, so that a gap is a missing row and a step back is a repeated row.
        if row["offset"] != position:
            raise CorpusFormatError("Rows of this document are missing or repeated.", doc_id=doc_id, start=position)
        _check_tokens(doc_id, row)
        starts, ends = ([position + offset for offset in row[name]] for name in ("starts", "ends"))
        spans += tags_to_spans(row["ner_tags"], starts, ends, _scheme_of(row["ner_tags"]))
        position += len(row["text"])
    if rows and position != rows[-1]["length"]:
        raise CorpusFormatError("The last rows of this document are missing.", doc_id=doc_id, start=position)
    text = "".join(row["text"] for row in rows)
    return Document(doc_id, text, tuple(spans), _patient_of(doc_id, rows), _parse_meta(rows[0].get("meta"), doc_id))


def _patient_of(doc_id: str, rows: list[dict[str, Any]]) -> str | None:
    """Patient of a document. Numbers of notes that begin anew with each patient would join notes of several patients.

    Raises
    ------
    CorpusFormatError
        If the rows name several patients.

    Examples
    --------
    >>> _patient_of("n1", [{"patient_id": None}, {"patient_id": "p1"}])
    'p1'
    """
    known = {known_id(row.get("patient_id")) for row in rows} - {None}
    if len(known) > 1:
        raise CorpusFormatError(
            f"Rows of {len(known)} patients have the id of this document. Put the patient into the doc_id of each row.",
            doc_id=doc_id,
        )
    return known.pop() if known else None


def _scheme_of(tags: list[str]) -> str:
    return "bioes" if any(tag[:2] in ("E-", "S-") for tag in tags) else "iob2"


def _check_tokens(doc_id: str, row: dict[str, Any]) -> None:
    last = 0
    if not len(row["starts"]) == len(row["ends"]) == len(row["tokens"]):
        raise CorpusFormatError("A row needs a start and an end for each token.", doc_id=doc_id)
    for token, start, end in zip(row["tokens"], row["starts"], row["ends"], strict=True):
        # The token of an HTML entity is its unescaped character.
        covered = row["text"][start:end]
        if not last <= start < end <= len(row["text"]) or token not in (covered, html.unescape(covered)):
            message = "The offsets of a token are not those of its text."
            raise CorpusFormatError(message, doc_id=doc_id, start=row["offset"] + start, end=row["offset"] + end)
        last = end
