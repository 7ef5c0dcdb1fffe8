"""Replace the spans of a text and leave all other characters unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from ..exceptions import SpanError
from .documents import Document, Span

REDACTION_MODES = ("label", "mask", "remove")
_MASK = "***"


class Rewriting(NamedTuple):
    """A rewritten text and the positions of the replacements. The repr shows counts only.

    Parameters
    ----------
    text : str
        The text after rewriting.
    spans : tuple of Span
        Label and category of each replaced span, with the offsets of its replacement in the new text. Empty
        replacements are left out. The spans have no confidence, since a reader could check guesses of the original
        against the confidence.
    """

    text: str
    spans: tuple[Span, ...]

    def __repr__(self) -> str:
        return f"Rewriting({len(self.text)} characters, {len(self.spans)} span{'s' * (len(self.spans) != 1)})"


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch.

    A joined span has the label, category and confidence of its longest part. If several parts are longest, the first of
    these parts counts.

    Parameters
    ----------
    spans : iterable of Span
        Spans in any order.

    Returns
    -------
    list of Span
        Joined spans in order, with at least one character between neighbours. The joined spans cover the same
        characters as ``spans``.

    Examples
    --------
    >>> [(s.start, s.end, s.label) for s in merge_spans([Span(0, 3, "CITY"), Span(2, 9, "STREET")])]
    [(0, 9, 'STREET')]
    """
    return joined_spans(spans, gap=0)


def joined_spans(spans: Iterable[Span], *, gap: int) -> list[Span]:
    """Join spans as in `merge_spans`: with ``gap=0`` spans that touch, too; with ``gap=-1`` only spans that overlap."""
    joined: list[Span] = []
    longest = 0
    # Sorted by start, a span can only overlap or touch the last joined span.
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if not joined or span.start > joined[-1].end + gap:
            joined.append(span)
            longest = span.length
            continue
        last = joined[-1]
        # The label of the longest part wins. The joined passage covers all parts.
        leading = span if span.length > longest else last
        longest = max(longest, span.length)
        joined[-1] = replace(leading, start=last.start, end=max(last.end, span.end))
    return joined


def rewrite(text: str, spans: Iterable[Span], replacement: Callable[[Span], str]) -> Rewriting:
    """Replace each span by the result of ``replacement``. The text between the spans is copied unchanged.

    Parameters
    ----------
    text : str
        Text to rewrite.
    spans : iterable of Span
        Spans to replace. Overlapping and touching spans are joined first (`merge_spans`).
    replacement : callable
        Function from a span to its replacement text.

    Returns
    -------
    Rewriting
        New text and positions of the replacements.

    Raises
    ------
    SpanError
        If a span ends beyond the text. The message contains offsets but no text.

    Examples
    --------
    >>> done = rewrite("Seen by Who.", [Span(8, 11, "DOCTOR")], lambda span: "Dr. X")
    >>> done, done.text, done.spans[0].end
    (Rewriting(14 characters, 1 span), 'Seen by Dr. X.', 13)
    """
    merged = merge_spans(spans)
    for span in merged:
        if span.end > len(text):
            message = f"A span ends after the last of {len(text)} characters."
            raise SpanError(message, start=span.start, end=span.end)
    whole, places = inserted(text, ((span, replacement(span)) for span in merged))
    # No confidence: whoever has the model computes it for a guess of the original, and compares.
    return Rewriting(whole, tuple(replace(old, start=at, end=end, confidence=None) for old, at, end in places))


def inserted(text: str, replacements: Iterable[tuple[Span, str]]) -> tuple[str, list[tuple[Span, int, int]]]:
    """Replace spans that are sorted and do not overlap; spans may touch.

    Returns
    -------
    str
        The new text.
    list of (Span, int, int)
        Replaced spans with start and end of their replacements in the new text. Empty replacements are left out.

    Examples
    --------
    >>> inserted("AnnBo", [(Span(0, 3, "PATIENT"), "Zelda"), (Span(3, 5, "PATIENT"), "Al")])[0]
    'ZeldaAl'
    """
    parts: list[str] = []
    places: list[tuple[Span, int, int]] = []
    position = written = 0
    for span, put in replacements:
        parts += [text[position : span.start], put]
        written += span.start - position
        # An empty replacement leaves no passage to which a span could point.
        if put:
            places.append((span, written, written + len(put)))
        written += len(put)
        position = span.end
    parts.append(text[position:])
    return "".join(parts), places


def redact(text: str, spans: Iterable[Span], mode: str = "label") -> str:
    """Redact the spans of a text.

    Parameters
    ----------
    text : str
        Text to redact.
    spans : iterable of Span
        Spans to redact. Overlapping and touching spans are joined first (`merge_spans`).
    mode : {"label", "mask", "remove"}, default="label"
        Replacement of a span. ``"label"`` writes ``[LABEL]``. ``"mask"`` always writes three asterisks, because the
        length of a mask would reveal the length of the name. ``"remove"`` writes nothing.

    Returns
    -------
    str
        Redacted text.

    Raises
    ------
    ValueError
        If the mode is unknown.
    SpanError
        If a span ends beyond the text.

    Examples
    --------
    >>> redact("Seen by Who.", [Span(8, 11, "DOCTOR")])
    'Seen by [DOCTOR].'
    """
    return rewrite(text, spans, span_replacement(mode)).text


def redact_document(document: Document, mode: str = "label") -> Document:
    """Redact the spans of a note, and return the note with the spans of its new text.

    Parameters
    ----------
    document : Document
        Note with the spans to redact.
    mode : {"label", "mask", "remove"}, default="label"
        Replacement of a span, as in `redact`. The new note has spans for labels, but not for asterisks.

    Returns
    -------
    Document
        Redacted note with the same id and patient id. ``meta`` is left out, since it may hold PHI.

    Raises
    ------
    ValueError
        If the mode is unknown.

    Examples
    --------
    >>> redact_document(Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),))).spans[0].end
    16
    """
    done = rewrite(document.text, document.spans, span_replacement(mode))
    return Document(document.doc_id, done.text, done.spans if mode == "label" else (), document.patient_id)


def span_replacement(mode: str) -> Callable[[Span], str]:
    """Return the function from a span to its replacement text for a mode of `redact`.

    Examples
    --------
    >>> span_replacement("label")(Span(8, 11, "DOCTOR"))
    '[DOCTOR]'
    """
    if mode not in REDACTION_MODES:
        raise ValueError(f"The 'mode' parameter of redact must be one of {REDACTION_MODES}. Got {mode!r} instead.")
    return {"label": lambda span: f"[{span.label}]", "mask": lambda span: _MASK, "remove": lambda span: ""}[mode]
