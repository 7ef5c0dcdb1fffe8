"""What is marked in a note, as HTML for notebooks and browsers, and as input of displaCy. No text is shown unasked.

Three degrees of what is seen:

- nothing of the note (the default): each word outside of a span is three dots, whatever its length, and a span is its
  label. Lines stay, so that one sees where PHI was found.
- ``"redacted"``: the text outside of the spans, and labels in their place. What was missed is seen.
- everything (``show_text=True``): the text with the spans marked in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from ..text import Document, Span

_HIDDEN_WORD = "\u00b7\u00b7\u00b7"
# Light enough for black text, and told apart by people who see fewer colours: labels are written out as well.
_COLORS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#e5c494", "#8dd3c7", "#fccde5", "#d9d9d9")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
# What would end the markup's line order or is no character of HTML.
_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_STYLE = (
    ".deid-note{font:14px/2.1 system-ui,sans-serif;color:#111;background:#fff;border:1px solid #bbb;border-radius:6px;"
    "padding:10px 14px;margin:8px 0}"
    ".deid-note header{font-size:12px;line-height:1.5;color:#444;margin-bottom:6px}"
    ".deid-note pre{font:inherit;margin:0;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".deid-note mark{color:#111;padding:2px 4px;border-radius:4px;unicode-bidi:isolate}"
    ".deid-note mark b{font-size:10px;letter-spacing:.03em}"
)


class AnnotationView:
    """Documents with their spans marked, for a notebook or a file.

    In a notebook the view shows itself as the last value of a cell. Its ``repr`` holds counts only.

    Parameters
    ----------
    documents : Document or iterable of Document
        Such as a Corpus, or ``Document(id, text, spans)`` with the spans of `NoteDeidentifier.annotate`.
    show_text : {False, "redacted", True}, default=False
        Nothing of the notes, their text without the spans, or everything. What is shown is saved with the notebook.
    colors : mapping of str to str, optional
        Background of labels, such as ``{"DATE": "#ffe0b0"}``; other labels get one of ten colours in the order of the
        alphabet.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> note = Document("n1", "Seen by Ann Roe.", (Span(8, 15, "DOCTOR", confidence=0.87),))
    >>> view = AnnotationView(note)
    >>> view, "Ann" in view.to_html(), "DOCTOR" in view.to_html()
    (AnnotationView(1 document, 1 span), False, True)
    >>> "Ann" in AnnotationView(note, show_text=True).to_html()
    True
    """

    def __init__(
        self,
        documents: Document | Iterable[Document],
        *,
        show_text: bool | str = False,
        colors: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(show_text, bool) and show_text != "redacted":
            raise ValueError("The 'show_text' parameter must be False, 'redacted' or True.")
        self.documents = (documents,) if isinstance(documents, Document) else tuple(documents)
        self.show_text = show_text
        self.colors = _colors({span.label for document in self.documents for span in document.spans}, colors or {})

    def to_html(self, *, page: bool = False) -> str:
        """The view as HTML; it loads nothing and runs no script.

        Parameters
        ----------
        page : bool, default=False
            Whether it is a page of its own, or goes into another one.

        Returns
        -------
        str
        """
        body = f"<style>{_STYLE}</style>" + "".join(self._note(document) for document in self.documents)
        if not page:
            return body
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return (
            '<!DOCTYPE html><html><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>Annotations</title></head>'
            f"<body>{body}</body></html>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        n_spans = sum(len(document.spans) for document in self.documents)
        n = len(self.documents)
        return f"AnnotationView({n} document{'s' * (n != 1)}, {n_spans} span{'s' * (n_spans != 1)})"

    def _note(self, document: Document) -> str:
        counts = f"{len(document.spans)} span{'s' * (len(document.spans) != 1)}"
        head = f"<header>{_shown(document.doc_id)} &middot; {len(document.text)} characters &middot; {counts}</header>"
        parts = [
            _shown(self._plain(piece.text)) if not piece.spans else self._mark(piece) for piece in _pieces(document)
        ]
        return f'<div class="deid-note">{head}<pre dir="auto">{"".join(parts)}</pre></div>'

    def _plain(self, text: str) -> str:
        return text if self.show_text else _hide_words(text)

    def _mark(self, piece: _Piece) -> str:
        labels = " + ".join(dict.fromkeys(span.label for span in piece.spans))
        sure = [span.confidence for span in piece.spans if span.confidence is not None]
        # The least sure one: it is what a reader should look at.
        title = f' title="confidence {min(sure):.2f}"' if sure else ""
        text = f"{_shown(piece.text)} " if self.show_text is True else ""
        color = self.colors[max(piece.spans, key=lambda span: span.length).label]
        return f'<mark style="background:{color}"{title}>{text}<b>{_shown(labels)}</b></mark>'


def displacy_input(document: Document, *, show_text: bool = False) -> dict[str, Any]:
    """What ``spacy.displacy.render(..., style="ent", manual=True)`` takes.

    Parameters
    ----------
    document : Document
    show_text : bool, default=False
        Whether the text of the note is in it; else each word is three dots and each span its label in brackets.

    Returns
    -------
    dict
        ``text``, ``ents`` (overlapping ones joined, as displaCy draws none) and ``title``, the document id.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> displacy_input(Document("n1", "By Ann Roe.", (Span(3, 10, "DOCTOR"),)))["ents"]
    [{'start': 4, 'end': 12, 'label': 'DOCTOR'}]
    """
    text, ents, position = [], [], 0
    for piece in _pieces(document):
        labels = " + ".join(dict.fromkeys(span.label for span in piece.spans))
        part = piece.text if show_text else f"[{labels}]" if piece.spans else _hide_words(piece.text)
        if piece.spans:
            ents.append({"start": position, "end": position + len(part), "label": labels})
        text.append(part)
        position += len(part)
    return {"text": "".join(text), "ents": ents, "title": document.doc_id}


class _Piece(NamedTuple):
    """A stretch of text and the spans that cover it: none, or those that overlap with one another."""

    text: str
    spans: Sequence[Span]

    def __repr__(self) -> str:
        return f"_Piece({len(self.text)} characters, {len(self.spans)} spans)"


def _pieces(document: Document) -> Iterator[_Piece]:
    position = 0
    for group in _overlapping(document.spans):
        start, end = group[0].start, max(span.end for span in group)
        if start > position:
            yield _Piece(document.text[position:start], ())
        yield _Piece(document.text[start:end], group)
        position = end
    if position < len(document.text):
        yield _Piece(document.text[position:], ())


def _overlapping(spans: Iterable[Span]) -> list[list[Span]]:
    """Spans in groups that share characters; those of a document are sorted by their start."""
    groups: list[list[Span]] = []
    end = 0
    for span in spans:
        if groups and span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return groups


def _hide_words(text: str) -> str:
    """Three dots for each word, however long, and only single spaces or line feeds between them."""

    def hidden(run: re.Match[str]) -> str:
        return ("\n" * run[0].count("\n") or " ") if run[0].isspace() else _HIDDEN_WORD

    return re.sub(r"\s+|\S+", hidden, text)


def _shown(text: str) -> str:
    return escape(_NOT_SHOWN.sub("\ufffd", text), quote=True)


def _colors(labels: set[str], wanted: Mapping[str, str]) -> dict[str, str]:
    for label, color in wanted.items():
        if not isinstance(color, str) or not _COLOR.fullmatch(color):
            raise ValueError(f"The color of {label!r} must be written as #rrggbb.")
    free = {label: _COLORS[number % len(_COLORS)] for number, label in enumerate(sorted(labels))}
    return {**free, **wanted}
