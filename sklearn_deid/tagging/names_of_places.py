"""Names of persons that are names of states and countries, too, such as Georgia, Virginia and Ireland."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..surrogates.folding import fold
from ..surrogates.label_kinds import known_labels
from ..surrogates.locale_words import locale_words
from ..text import Span
from .forms.label_words import SIGNS, is_label_word, label_kind

_PLACES = frozenset(("region", "country"))
# A label and a colon on the line of a value, or a label alone on the line before.
_LABEL = re.compile(
    r"(?:\A|[\r\n\t|;,]|  |[.]\s)[ ]?(?P<label>[^\W\d_](?:[^\r\n\t|;,:=.]|\.(?!\s)){0,40}?)\s?[:=][ \t]{0,4}\Z"
)
_LINE = re.compile(r"(?:\A|[\r\n])(?P<label>[^\W\d_][^\r\n\t|:=]{0,40}?):?[ \t]{0,4}(?:\r\n|[\r\n])[ \t]{0,4}\Z")
_LINE_END = re.compile(r"[ \t.,]*(?:[\r\n]|\Z)")
_RELATIVE = re.compile(r"(?<![^\W_])([^\W\d_]{3,20}),? \Z")
_POSTAL_CODE = re.compile(r",?\s\d{5}")
_WORDS = re.compile(r"[^\W_]+|[^\w\s]")
_NEAR = 60


def with_names_of_places(spans: Sequence[Span], text: str, new: Span | None = None) -> list[Span]:
    """Let states and countries that are names of persons have a label for persons.

    The Safe Harbor rule keeps states and countries: of "Name: Smith, Georgia", the given name would stay. A state is a
    name behind a label of persons ("Attending: Ireland") or a relative ("daughter, Virginia"), and behind a name that
    has such a label or that only a space divides from it.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the text, sorted and without overlap.
    text : str
        Text of the note.
    new : Span, optional
        Label and category of such a name in a note without a name before it. Without them, it keeps its label.

    Returns
    -------
    list of Span
        Spans, sorted and without overlap.

    Examples
    --------
    >>> text = "Name: Smith, Georgia"
    >>> found = with_names_of_places([Span(6, 11, "PATIENT"), Span(13, 20, "STATE")], text)
    >>> [(text[span.start : span.end], span.label) for span in found]
    [('Smith, Georgia', 'PATIENT')]
    """
    found: list[Span] = []
    like = new
    for span in spans:
        if _kind(span) in _PLACES:
            if found and _kind(found[-1]) == "person" and _goes_on(found[-1], span, text):
                found[-1] = replace(found[-1], end=span.end)
                continue
            if like is not None and _has_label(span.start, span.end, text):
                span = replace(span, label=like.label, category=like.category)
        if _kind(span) == "person":
            like = span
        found.append(span)
    return found


def _goes_on(name: Span, place: Span, text: str) -> bool:
    """Whether a name goes on behind a space, or behind a comma if it has a label; an address has a postal code."""
    between = text[name.end : place.start]
    if between.isspace() and len(between) == 1 and between not in "\r\n\t":
        return True
    is_address = _POSTAL_CODE.match(text, place.end) is not None
    return between.rstrip(" ") == "," and not is_address and _has_label(name.start, place.end, text)


def _has_label(start: int, end: int, text: str) -> bool:
    """Whether the label of a person or a relative is directly before a range of the text."""
    first = max(0, start - _NEAR)
    relative = _RELATIVE.search(text, first, start)
    if relative is not None and fold(relative[1]) in locale_words("en").numbered("relatives"):
        return True
    label = _LABEL.search(text, first, start)
    if label is None and _LINE_END.match(text, end):
        label = _LINE.search(text, first, start)
    return label is not None and _is_of_person(label["label"])


def _is_of_person(label: str) -> bool:
    """Whether a label is one of persons, unlike "Patient location" and "Mother's country"."""
    words = [word for word in _WORDS.findall(label) if word not in SIGNS]
    if not words or label_kind(words) != "person":
        return False
    return words[-1].lower() == "by" or (label_kind(words[-1:]) == "person" and all(map(is_label_word, words)))


def _kind(span: Span) -> str | None:
    return known_labels().get(span.label)
