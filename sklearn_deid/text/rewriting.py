"""Put something else in the place of spans, and nothing else anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from .documents import Span

__all__ = ["REDACTION_MODES", "Rewriting", "merge_spans", "redact", "rewrite"]

REDACTION_MODES = ("label", "mask", "remove")
_MASK = "***"  # of one length for all: the length of a name is a hint at the name


class Rewriting(NamedTuple):
    """A rewritten text, and where the replacements stand in it.

    ``spans`` leaves out replacements of no length.
    """

    text: str
    spans: tuple[Span, ...]


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; the longest gives label, category and confidence.

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
    """Replace each span by what ``replacement`` says.

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

    Examples
    --------
    >>> rewrite("Seen by Who.", [Span(8, 11, "DOCTOR")], lambda span: "Dr. X")
    Rewriting(text='Seen by Dr. X.', spans=(Span(start=8, end=13, label='DOCTOR', category=None, confidence=None),))
    """
    parts: list[str] = []
    moved: list[Span] = []
    position = written = 0
    for span in merge_spans(spans):
        if span.end > len(text):
            raise ValueError(f"A span ends at character {span.end} of a text of {len(text)} characters.")
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
    mode : {"label", "mask", "remove"}, default="label"
        ``[LABEL]``, three asterisks whatever the length, or nothing.

    Examples
    --------
    >>> redact("Seen by Who.", [Span(8, 11, "DOCTOR")])
    'Seen by [DOCTOR].'
    """
    if mode not in REDACTION_MODES:
        raise ValueError(f"The 'mode' parameter must be one of {REDACTION_MODES}. Got {mode!r} instead.")
    put = {"label": lambda span: f"[{span.label}]", "mask": lambda span: _MASK, "remove": lambda span: ""}[mode]
    return rewrite(text, spans, put).text
