"""Replacement of given spans, as in Presidio's anonymizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..token_spans import overlap_groups


class GivenSpan(NamedTuple):
    """Span of an entity in a text.

    Parameters
    ----------
    start, end : int
        Half-open character offsets.
    entity : str
        Name of the entity.
    score : float
        Probability. Among spans that overlap, the span with the highest score determines the operator.
    """

    start: int
    end: int
    entity: str
    score: float = 1.0


def anonymized(text: str, spans: Iterable[GivenSpan], operators: Mapping[str, Any]) -> dict[str, Any]:
    """Replace each span with the operator of its entity, else with the operator ``DEFAULT``, else by ``<ENTITY>``.

    Spans that overlap are joined, so that no character of any span remains.

    If spans with different offsets overlap, the operator "keep" applies only if all these spans are kept, and a mask
    covers all characters. Otherwise, one operator could show characters that another operator hides.

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
    for group in overlap_groups(sorted(spans)):
        deciding = _deciding(group, operators)
        span = _joined(deciding, group)
        if not 0 <= span.start < span.end <= len(text):
            raise ValueError("A span lies outside of the text.")
        operator = _operator(span, operators)
        new = _replacement(text[span.start : span.end], span.entity, operator, whole=_is_joined(group))
        length += span.start - position + len(new)
        parts += [text[position : span.start], new]
        name = "replace" if operator is None else operator.type
        place = {"start": length - len(new), "end": length, "entity_type": span.entity}
        items.append({**place, "text": new, "operator": name})
        position = span.end
    return {"text": "".join([*parts, text[position:]]), "items": items}


def _is_joined(group: list[GivenSpan]) -> bool:
    """Whether spans with different offsets are in a group."""
    return len({(span.start, span.end) for span in group}) > 1


def _operator(span: GivenSpan, operators: Mapping[str, Any]) -> Any:
    return operators.get(span.entity) or operators.get("DEFAULT")


def _deciding(group: list[GivenSpan], operators: Mapping[str, Any]) -> list[GivenSpan]:
    """Spans of a group that may decide on its operator."""
    if not _is_joined(group):
        return group
    return [span for span in group if getattr(_operator(span, operators), "type", None) != "keep"] or group


def _joined(deciding: list[GivenSpan], group: list[GivenSpan]) -> GivenSpan:
    """Span over a group, with the entity of the deciding span of the highest score."""
    best = max(deciding, key=lambda one: (one.score, one.end - one.start))
    return best._replace(start=min(span.start for span in group), end=max(span.end for span in group))


def _replacement(original: str, entity: str, operator: Any, *, whole: bool) -> str:
    if operator is None or operator.type == "replace":
        given = None if operator is None else operator.new_value
        return f"<{entity}>" if given is None else given
    if operator.type == "mask":
        is_all = whole or operator.chars_to_mask is None
        n = len(original) if is_all else min(operator.chars_to_mask, len(original))
        hidden = operator.masking_char * n
        return original[: len(original) - n] + hidden if operator.from_end else hidden + original[n:]
    return original if operator.type == "keep" else ""
