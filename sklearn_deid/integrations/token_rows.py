"""Notes out of rows of tokens and tags."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..exceptions import CorpusFormatError
from ..text import Document, tags_to_spans

__all__ = ["documents_of_token_rows", "parse_meta"]

_OFFSETS = ("text", "offset", "length", "starts", "ends")


def documents_of_token_rows(rows: Iterable[dict[str, Any]]) -> Iterator[Document]:
    """Documents in the order in which their first rows come.

    Parameters
    ----------
    rows : iterable of dict
        ``tokens`` and ``ner_tags`` (names in IOB2 or BIOES), and as far as known ``doc_id``, ``patient_id``, ``meta``
        (JSON). With ``text``, ``offset``, ``length``, ``starts`` and ``ends`` the text is that of the notes, else it is
        made up: tokens joined by single spaces, rows by line feeds.

    Yields
    ------
    Document

    Raises
    ------
    CorpusFormatError
        If a row is broken, or rows of a document are missing.

    Examples
    --------
    >>> rows = [{"doc_id": "n1", "tokens": ["by", "Who"], "ner_tags": ["O", "S-DOCTOR"]}]
    >>> next(documents_of_token_rows(rows)).spans
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
        known = all(row.get(name) is not None for row in own for name in _OFFSETS)
        yield _put_together(doc_id, sorted(own, key=lambda row: row["offset"]) if known else _made_up(own))


def parse_meta(written: str | None, doc_id: str) -> dict[str, Any]:
    """Meta data that were written as JSON; none where nothing is written.

    Raises
    ------
    CorpusFormatError
        If it is no JSON object.

    Examples
    --------
    >>> parse_meta('{"ward": 3}', "n1")
    {'ward': 3}
    """
    try:
        meta = json.loads(written or "{}")
    except (TypeError, ValueError, RecursionError):
        meta = None  # the error holds what it failed on, and is not passed on
    if not isinstance(meta, dict):
        raise CorpusFormatError("The document's meta must be a JSON object.", doc_id=doc_id)
    return meta


def _made_up(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with a text of tokens joined by spaces, and a line feed behind all but the last."""
    out, offset = [], 0
    for number, row in enumerate(rows):
        starts, position = [], 0
        for token in row["tokens"]:
            starts.append(position)
            position += len(token) + 1
        text = " ".join(row["tokens"]) + ("\n" if number < len(rows) - 1 else "")
        ends = [start + len(token) for start, token in zip(starts, row["tokens"], strict=True)]
        out.append({**row, "text": text, "offset": offset, "starts": starts, "ends": ends})
        offset += len(text)
    return [{**row, "length": offset} for row in out]


def _put_together(doc_id: str, rows: list[dict[str, Any]]) -> Document:
    spans, position = [], 0
    for row in rows:
        if row["offset"] != position:
            raise CorpusFormatError("Rows of this document are missing or there twice.", doc_id=doc_id, start=position)
        _check_tokens(doc_id, row)
        starts, ends = ([position + offset for offset in row[name]] for name in ("starts", "ends"))
        spans += tags_to_spans(row["ner_tags"], starts, ends, _scheme_of(row["ner_tags"]))
        position += len(row["text"])
    if rows and position != rows[-1]["length"]:
        raise CorpusFormatError("The last rows of this document are missing.", doc_id=doc_id, start=position)
    first = rows[0]
    text = "".join(row["text"] for row in rows)
    return Document(doc_id, text, tuple(spans), first.get("patient_id"), parse_meta(first.get("meta"), doc_id))


def _scheme_of(tags: list[str]) -> str:
    return "bioes" if any(tag[:2] in ("E-", "S-") for tag in tags) else "iob2"


def _check_tokens(doc_id: str, row: dict[str, Any]) -> None:
    last = 0
    if not len(row["starts"]) == len(row["ends"]) == len(row["tokens"]):
        raise CorpusFormatError("A row needs a start and an end for each token.", doc_id=doc_id)
    for token, start, end in zip(row["tokens"], row["starts"], row["ends"], strict=True):
        covered = row["text"][start:end]
        if not last <= start < end <= len(row["text"]) or token not in (covered, html.unescape(covered)):
            message = "The offsets of a token are not those of its text."
            raise CorpusFormatError(message, doc_id=doc_id, start=row["offset"] + start, end=row["offset"] + end)
        last = end
