"""Categories and confidences of spans, for formats that store only offsets and labels.

A detail is the list ``[start, end, label, category, confidence]``; the first three values identify the span. If an
annotator has changed a span, its details are no longer valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .checking import is_share


def known_details(details: Iterable[list[Any]]) -> list[list[Any]]:
    """The details; an empty list if no span has a category or a confidence."""
    listed = list(details)
    return listed if any(detail[3:] != [None, None] for detail in listed) else []


def is_detail(row: Any) -> bool:
    """Whether a value of JSON is a detail.

    Examples
    --------
    >>> is_detail([8, 11, "DOCTOR", "NAME", 0.5]), is_detail([8, 11, "DOCTOR", "NAME", True])
    (True, False)
    """
    return (
        isinstance(row, list)
        and len(row) == 5
        and all(type(offset) is int for offset in row[:2])
        and isinstance(row[2], str)
        and isinstance(row[3], str | None)
        and is_share(row[4])
    )


class SpanDetails:
    """Details by start, end and label. The details of two equal spans are in the order of the spans.

    Examples
    --------
    >>> details = SpanDetails([[8, 11, "DOCTOR", "NAME", 0.5]])
    >>> details.take(8, 11, "DOCTOR"), details.take(8, 12, "DOCTOR")
    (['NAME', 0.5], (None, None))
    """

    def __init__(self, rows: Iterable[list[Any]]) -> None:
        self._known: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            self._known.setdefault(tuple(row[:3]), []).append(row[3:])

    def take(self, *span: Any) -> Any:
        """Category and confidence of a span; each detail is returned once."""
        known = self._known.get(span)
        return known.pop(0) if known else (None, None)
