"""Replacement of given spans, as Presidio's anonymizer does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class GivenSpan(NamedTuple):
    """Span of an entity in a text.

    Parameters
    ----------
    start, end : int
        Half-open character offsets.
    entity : str
        Name of the entity.
    score : float
        Probability. Among spans that overlap, the highest score decides on the operator.
    """

    start: int
    end: int
    entity: str
    score: float = 1.0


def merged(spans: Iterable[GivenSpan]) -> list[GivenSpan]:
    """Join spans that overlap, so that no character of any span stays.

    Examples
    --------
    >>> [tuple(span) for span in merged([GivenSpan(0, 5, "PERSON", 0.9), GivenSpan(3, 8, "DATE", 0.5)])]
    [(0, 8, 'PERSON', 0.9)]
    """
    out: list[GivenSpan] = []
    for span in sorted(spans):
        if out and span.start < out[-1].end:
            best = max(out[-1], span, key=lambda one: (one.score, one.end - one.start))
            out[-1] = best._replace(start=out[-1].start, end=max(out[-1].end, span.end))
        else:
            out.append(span)
    return out


def anonymized(text: str, spans: Iterable[GivenSpan], operators: Mapping[str, Any]) -> dict[str, Any]:
    """Replace spans by the operator of their entity, of ``DEFAULT``, or by ``<ENTITY>``.

    Parameters
    ----------
    text : str
        Text.
    spans : iterable of GivenSpan
        Spans inside of the text.
    operators : mapping of str to Operator
        Operators by entity.

    Returns
    -------
    dict
        Presidio's answer: ``text``, and ``items`` with the places of the replacements in the new text.

    Raises
    ------
    ValueError
        If a span lies outside of the text.

    Examples
    --------
    >>> anonymized("Ann left.", [GivenSpan(0, 3, "PERSON")], {})["text"]
    '<PERSON> left.'
    """
    parts: list[str] = []
    items, position, length = [], 0, 0
    for span in merged(spans):
        if not 0 <= span.start < span.end <= len(text):
            raise ValueError("A span lies outside of the text.")
        operator = operators.get(span.entity) or operators.get("DEFAULT")
        new = _replacement(text[span.start : span.end], span.entity, operator)
        length += span.start - position + len(new)
        parts += [text[position : span.start], new]
        name = "replace" if operator is None else operator.type
        place = {"start": length - len(new), "end": length, "entity_type": span.entity}
        items.append({**place, "text": new, "operator": name})
        position = span.end
    return {"text": "".join([*parts, text[position:]]), "items": items}


def _replacement(original: str, entity: str, operator: Any) -> str:
    if operator is None or operator.type == "replace":
        given = None if operator is None else operator.new_value
        return f"<{entity}>" if given is None else given
    if operator.type == "mask":
        n = len(original) if operator.chars_to_mask is None else min(operator.chars_to_mask, len(original))
        hidden = operator.masking_char * n
        return original[: len(original) - n] + hidden if operator.from_end else hidden + original[n:]
    return original if operator.type == "keep" else ""
