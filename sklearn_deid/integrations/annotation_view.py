"""Annotations of a note as HTML for notebooks and browsers, and as input of displaCy. By default no text is shown.

You choose among three levels:

- no text (the default): three dots replace each word outside of a span, regardless of its length. The label replaces
  each span. Line breaks are kept, so that the place of the PHI in the note is visible.
- ``"redacted"``: the text outside of the spans. The label replaces each span. PHI that the tagger missed is visible.
- full text (``show_text=True``): the text with marked spans.

The view shows the ids of the documents at each level. Ids that are names of files may contain names of people. The
first level shows confidences, too: with them, the model and the redacted text of the note, an attacker can check a
guess of a span.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from ..text import Document, Span
from .token_spans import overlap_groups

_HIDDEN_WORD = "\u00b7\u00b7\u00b7"
# Light enough for black text. Readers who cannot distinguish the colours have the written labels.
_COLORS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#e5c494", "#8dd3c7", "#fccde5", "#d9d9d9")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
# Control characters, characters that change the direction of writing, and code points that HTML does not allow.
_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_STYLE = (
    ".deid-note{font:14px/2.1 system-ui,sans-serif;color:#111;background:#fff;border:1px solid #bbb;border-radius:6px;"
    "padding:10px 14px;margin:8px 0;overflow-wrap:anywhere}"
    ".deid-note header{font-size:12px;line-height:1.5;color:#444;margin-bottom:6px}"
    ".deid-note pre{font:inherit;margin:0;white-space:pre-wrap}"
    ".deid-note mark{color:#111;padding:2px 4px;border-radius:4px;unicode-bidi:isolate}"
    ".deid-note mark b{font-size:10px;letter-spacing:.03em}"
)


class AnnotationView:
    """View of documents with marked spans, for a notebook or a file.

    A notebook displays the view if the view is the last value of a cell. The ``repr`` of a view holds counts only. The
    view shows the ids of the documents, also if it shows no text.

    Parameters
    ----------
    documents : Document or iterable of Document
        Documents to show: a Corpus, or ``Document(id, text, spans)`` with the spans of `NoteDeidentifier.annotate`.
    show_text : {False, "redacted", True}, default=False
        Text to show: no text, the text without the spans, or the full text. The file of the notebook contains all text
        that the view shows.
    colors : mapping of str to str, optional
        Background colours of labels, such as ``{"DATE": "#ffe0b0"}``. Ten default colours are assigned to the other
        labels in alphabetical order.

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
            raise ValueError("The 'show_text' parameter of AnnotationView must be False, 'redacted' or True.")
        self.documents = (documents,) if isinstance(documents, Document) else tuple(documents)
        self.show_text = show_text
        self.colors = _colors({span.label for document in self.documents for span in document.spans}, colors or {})

    def to_html(self, *, page: bool = False) -> str:
        """Return the view as HTML. The HTML loads no resources and runs no script.

        Parameters
        ----------
        page : bool, default=False
            Whether to return a complete page. False returns a part that you can insert into another page.

        Returns
        -------
        str
            HTML of the view.
        """
        body = f"<style>{_STYLE}</style>" + "".join(self._note(document) for document in self.documents)
        # In a notebook the fragment is part of a page. As a file it needs its own head.
        if not page:
            return body
        # The policy forbids scripts and remote resources, also those that a note could contain as text.
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
        # Beside the redacted text, the number of characters would be the length of the hidden spans.
        length = f"{len(document.text)} characters &middot; " if self.show_text is True else ""
        head = f"<header>{_shown(document.doc_id)} &middot; {length}{counts}</header>"
        parts = [
            _shown(self._plain(piece.text)) if not piece.spans else self._mark(piece) for piece in _pieces(document)
        ]
        return f'<div class="deid-note">{head}<pre dir="auto">{"".join(parts)}</pre></div>'

    def _plain(self, text: str) -> str:
        return text if self.show_text else _hide_words(text)

    def _mark(self, piece: _Piece) -> str:
        labels = " + ".join(dict.fromkeys(span.label for span in piece.spans))
        sure = [span.confidence for span in piece.spans if span.confidence is not None]
        # The lowest confidence of overlapping spans: a reader should check such a span.
        # With the model and the text around a span, a reader could compute the confidence of a guess, and compare.
        title = f' title="confidence {min(sure):.2f}"' if sure and self.show_text != "redacted" else ""
        text = f"{_shown(piece.text)} " if self.show_text is True else ""
        # The longest span determines the colour, and the labels of all spans are written.
        color = self.colors[max(piece.spans, key=lambda span: span.length).label]
        return f'<mark style="background:{color}"{title}>{text}<b>{_shown(labels)}</b></mark>'


def displacy_input(document: Document, *, show_text: bool = False) -> dict[str, Any]:
    """Convert a document to the input of ``spacy.displacy.render(..., style="ent", manual=True)``.

    Parameters
    ----------
    document : Document
        Document to show.
    show_text : bool, default=False
        Whether the result contains the text of the note. By default, three dots replace each word, and the label in
        brackets replaces each span.

    Returns
    -------
    dict
        Input of displaCy with ``text``, ``ents`` and ``title``. The title is the document id. Overlapping spans are
        joined, because displaCy cannot draw them.

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
    """Part of a text with its spans: no span, or a group of spans that overlap."""

    text: str
    spans: Sequence[Span]

    def __repr__(self) -> str:
        return f"_Piece({len(self.text)} characters, {len(self.spans)} spans)"


def _pieces(document: Document) -> Iterator[_Piece]:
    position = 0
    for group in overlap_groups(document.spans):
        start, end = group[0].start, max(span.end for span in group)
        if start > position:
            yield _Piece(document.text[position:start], ())
        yield _Piece(document.text[start:end], group)
        position = end
    if position < len(document.text):
        yield _Piece(document.text[position:], ())


def _hide_words(text: str) -> str:
    """Replace each word by three dots, whatever its length, and white space by one space or its line feeds."""
    # Lengths of words and of gaps would help to guess the words.

    # Line feeds stay, so that the view keeps the lines of the note.
    def hidden(run: re.Match[str]) -> str:
        return ("\n" * run[0].count("\n") or " ") if run[0].isspace() else _HIDDEN_WORD

    return re.sub(r"\s+|\S+", hidden, text)


def _shown(text: str) -> str:
    return escape(_NOT_SHOWN.sub("\ufffd", text), quote=True)


def _colors(labels: set[str], wanted: Mapping[str, str]) -> dict[str, str]:
    for label, color in wanted.items():
        if not isinstance(color, str) or not _COLOR.fullmatch(color):
            raise ValueError(f"The color of {label!r} must be written as #rrggbb.")
    # Labels are sorted, so that the same set of labels has the same colours in every view.
    free = {label: _COLORS[number % len(_COLORS)] for number, label in enumerate(sorted(labels))}
    return {**free, **wanted}
