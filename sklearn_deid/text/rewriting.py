"""Put something else in the place of spans, and nothing else anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from ..exceptions import SpanError
from .documents import Span

REDACTION_MODES = ("label", "mask", "remove")
_MASK = "***"


class Rewriting(NamedTuple):
    """A rewritten text, and where the replacements stand in it; its repr shows counts only.

    Parameters
    ----------
    text : str
        The text after rewriting.
    spans : tuple of Span
        Label, category and confidence of what was replaced, with the offsets of what now stands in its place.
        Replacements of no length are left out.
    """

    text: str
    spans: tuple[Span, ...]

    def __repr__(self) -> str:
        return f"Rewriting({len(self.text)} characters, {len(self.spans)} span{'s' * (len(self.spans) != 1)})"


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; the longest (of equal ones the first) gives label, category and confidence.

    Parameters
    ----------
    spans : iterable of Span
        In any order.

    Returns
    -------
    list of Span
        In order, with at least one character between two of them; they cover the same characters as ``spans``.

    Examples
    --------
    >>> [(s.start, s.end, s.label) for s in merge_spans([Span(0, 3, "CITY"), Span(2, 9, "STREET")])]
    [(0, 9, 'STREET')]
    """
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if not merged or span.start > merged[-1].end:
            merged.append(span)
            longest = span.length
            continue
        last = merged[-1]
        leading = span if span.length > longest else last
        longest = max(longest, span.length)
        merged[-1] = replace(leading, start=last.start, end=max(last.end, span.end))
    return merged


def rewrite(text: str, spans: Iterable[Span], replacement: Callable[[Span], str]) -> Rewriting:
    """Replace each span by what ``replacement`` says; the text between the spans is copied as it is.

    Parameters
    ----------
    text : str
    spans : iterable of Span
        Merged first (`merge_spans`).
    replacement : callable
        Takes a span, returns the text that stands in its place.

    Returns
    -------
    Rewriting

    Raises
    ------
    SpanError
        If a span reaches beyond the text; the message holds offsets, no text.

    Examples
    --------
    >>> done = rewrite("Seen by Who.", [Span(8, 11, "DOCTOR")], lambda span: "Dr. X")
    >>> done, done.text, done.spans[0].end
    (Rewriting(14 characters, 1 span), 'Seen by Dr. X.', 13)
    """
    parts: list[str] = []
    moved: list[Span] = []
    position = written = 0
    for span in merge_spans(spans):
        if span.end > len(text):
            message = f"A span ends after the last of {len(text)} characters."
            raise SpanError(message, start=span.start, end=span.end)
        put = replacement(span)
        parts += [text[position : span.start], put]
        written += span.start - position
        if put:
            moved.append(replace(span, start=written, end=written + len(put)))
        written += len(put)
        position = span.end
    parts.append(text[position:])
    return Rewriting("".join(parts), tuple(moved))


def redact(text: str, spans: Iterable[Span], mode: str = "label") -> str:
    """Take the spans out of a text.

    Parameters
    ----------
    text : str
    spans : iterable of Span
        Overlapping and touching ones are merged first (`merge_spans`).
    mode : {"label", "mask", "remove"}, default="label"
        ``[LABEL]``, three asterisks whatever the length (the length of a name is a hint at the name), or nothing.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the mode is not known.
    SpanError
        If a span reaches beyond the text.

    Examples
    --------
    >>> redact("Seen by Who.", [Span(8, 11, "DOCTOR")])
    'Seen by [DOCTOR].'
    """
    if mode not in REDACTION_MODES:
        raise ValueError(f"The 'mode' parameter must be one of {REDACTION_MODES}. Got {mode!r} instead.")
    put = {"label": lambda span: f"[{span.label}]", "mask": lambda span: _MASK, "remove": lambda span: ""}[mode]
    return rewrite(text, spans, put).text
