"""Conversion of spans from data frames and data sets."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from ..exceptions import CorpusFormatError
from ..text import Span

#: Fields of a span in the order of a tuple.
SPAN_FIELDS = ("start", "end", "label", "category", "confidence")


def given_span(value: Any, place: str, number: int) -> Span:
    """Create a span from a dict, from a tuple in the order of the fields of `Span`, or from a span.

    Parameters
    ----------
    value : mapping, tuple, list or Span
        Value from a frame or a data set.
    place : str
        Name of the note in the error.
    number : int
        Number of the span in the note, from 1.

    Raises
    ------
    CorpusFormatError
        If the value is not a span. The error contains no text.
    SpanError
        If the offsets are not a valid interval.

    Examples
    --------
    >>> given_span({"start": 8, "end": 13, "label": "DOCTOR", "confidence": float("nan")}, "n1", 1)
    Span(start=8, end=13, label='DOCTOR', category=None, confidence=None)
    """
    if isinstance(value, Span):
        return value
    value = dict(zip(SPAN_FIELDS, value, strict=False)) if isinstance(value, list | tuple) else value
    given = value if isinstance(value, Mapping) else {}
    start, end, label, category, confidence = (given.get(name) for name in SPAN_FIELDS)
    if confidence is not None and confidence != confidence:
        confidence = None  # a missing value of pandas
    is_span = (
        all(isinstance(offset, Integral) and not isinstance(offset, bool) for offset in (start, end))
        and isinstance(label, str)
        and label
        and isinstance(category, str | None)
        and (confidence is None or (isinstance(confidence, Real) and 0 <= float(confidence) <= 1))
    )
    if not is_span:
        message = "A span needs whole numbers as 'start' and 'end', a 'label', and a confidence of at most 1 or none."
        raise CorpusFormatError(message, doc_id=place, annotation_id=f"number {number}")
    return Span(int(start), int(end), label, category, None if confidence is None else float(confidence))  # type: ignore[arg-type]
