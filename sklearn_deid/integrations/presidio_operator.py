"""Operator for Presidio's `AnonymizerEngine` that writes surrogates (extra ``presidio``).

You cannot import this module without its extra, because its class inherits from a class of Presidio.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._optional import import_optional
from ..surrogates import Replacement, SurrogateEngine, joined_overlaps, rewrite_note, rewritten
from ..text import Document, Span
from .deidentifiers import check_spans_of_surrogates
from .surrogate_texts import label_of_result, labels_of_result

_presidio = import_optional("presidio_anonymizer", extra="presidio", purpose="SurrogateOperator")
_operators = import_optional("presidio_anonymizer.operators", extra="presidio", purpose="SurrogateOperator")

_NAME = "surrogate"


class SurrogateOperator(_operators.Operator):  # type: ignore[name-defined]
    """Presidio operator that replaces the entities of a text by surrogates.

    Presidio passes an operator one entity at a time. Surrogates depend on the whole note: on the order of day and
    month, the town next to a postal code, and the other names of the patient. Therefore `surrogate_operators` draws the
    surrogates of the text first, and the operator writes them. If the anonymizer passes another entity than the next
    one, the operator raises an error. The operator cannot distinguish two texts with the same entities, and would write
    the surrogates of another patient. Make the operators of each text with `surrogate_operators`.

    Examples
    --------
    >>> from presidio_anonymizer import AnonymizerEngine, RecognizerResult
    >>> anonymizer = AnonymizerEngine()
    >>> anonymizer.add_anonymizer(SurrogateOperator)
    >>> found = [RecognizerResult("AGE", 0, 3, 1.0)]
    >>> results, operators = surrogate_operators("101 years", found, SurrogateEngine(locale="en"))
    >>> anonymizer.anonymize("101 years", results, operators).text
    '90+ years'
    """

    def operate(self, text: str, params: dict[str, Any]) -> str:
        """Return the surrogate of the next entity of the text. The anonymizer calls this method."""
        surrogate: str = params["surrogates"].of(text, params["entity_type"])
        return surrogate

    def validate(self, params: dict[str, Any]) -> None:
        """Refuse parameters that `surrogate_operators` did not create."""
        if not isinstance(params.get("surrogates"), SurrogatesOfText):
            raise _presidio.InvalidParamError("Make the operators of each text with surrogate_operators.")

    def operator_name(self) -> str:
        """Name of the operator in an ``OperatorConfig``."""
        return _NAME

    def operator_type(self) -> Any:
        """Type of the operator: an anonymizer."""
        return _operators.OperatorType.Anonymize


class SurrogatesOfText:
    """Surrogates of one text, in the order of requests by Presidio's anonymizer: from the last to the first.

    Parameters
    ----------
    text : str
        Original text.
    entities : list of str
        Presidio's entity of each replacement.
    replacements : list of Replacement
        Replacements in the order of the text.
    """

    def __init__(self, text: str, entities: list[str], replacements: list[Replacement]) -> None:
        self._text, self._all = text, list(zip(entities, replacements, strict=True))
        self._rest = list(self._all)

    def __repr__(self) -> str:  # an OperatorConfig shows its parameters: no text
        return f"SurrogatesOfText({len(self._all)} entities)"

    def of(self, text: str, entity: str) -> str:
        """Surrogate of the next entity; after the first entity of the text, begin again with the last entity."""
        expected, replacement = self._rest.pop() if self._rest else ("", None)
        self._rest = self._rest or list(self._all)
        if replacement is None or (self._text[replacement.span.start : replacement.span.end], expected) != (
            text,
            entity,
        ):
            raise _presidio.InvalidParamError(
                "Pass the text of surrogate_operators and the results that it returned to the anonymizer."
            )
        return replacement.surrogate


def surrogate_operators(
    text: str, results: Iterable[Any], engine: SurrogateEngine, *, patient_id: str | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Draw the surrogates of a text, for `SurrogateOperator` in Presidio's anonymizer.

    Parameters
    ----------
    text : str
        Text that was analyzed.
    results : iterable of RecognizerResult
        Results of the analyzer. The ``label`` in their metadata, which `DeidRecognizer` writes, has priority over
        their entity, since Presidio's entities are coarser.
    engine : SurrogateEngine
        Source of the surrogates.
    patient_id : str, optional
        Patient of the text. None treats the text as a patient of its own.

    Returns
    -------
    results : list of RecognizerResult
        Results for the anonymizer. Results that overlap, or that have one entity and only spaces between them, are
        joined as in the anonymizer.
    operators : dict of str to OperatorConfig
        Operators for the anonymizer, for all entities.

    Raises
    ------
    DeidError
        If the results are of a `DeidRecognizer` that leaves bare years in the text, as for `surrogate_text`.

    Examples
    --------
    >>> from presidio_anonymizer import RecognizerResult
    >>> found = [RecognizerResult("PERSON", 0, 3, 1.0), RecognizerResult("PERSON", 4, 9, 1.0)]
    >>> results, operators = surrogate_operators("Ann Alder left.", found, SurrogateEngine(locale="en"))
    >>> [(result.start, result.end) for result in results], operators["DEFAULT"].operator_name
    ([(0, 9)], 'surrogate')
    """
    found = list(results)
    check_spans_of_surrogates(map(labels_of_result, found))
    # The spans have Presidio's entity as category, so that joining keeps entity and label together.
    spans = [Span(each.start, each.end, label_of_result(each), category=each.entity_type) for each in found]
    marked = engine.with_time_zones(Document("text", text, tuple(joined_overlaps(spans))))
    joined = _joined_over_spaces(text, list(marked.spans))
    entities = [str(span.category) for span in joined]
    replacements: list[Replacement] = []

    def rewrite(note: Document) -> Document:
        replacements.extend(engine.replacements(note))
        return rewritten(note, replacements)

    # Not engine.replacements alone: a text without a patient has the surrogates that surrogate_text gives it.
    rewrite_note(text, joined, rewrite, patient_id=patient_id)
    surrogates = SurrogatesOfText(text, entities, replacements)
    # Time zones are in no result.
    scores = [max((e.score for e in found if e.start < s.end and s.start < e.end), default=1.0) for s in joined]
    made = [
        _presidio.RecognizerResult(entity, span.start, span.end, score)
        for entity, span, score in zip(entities, joined, scores, strict=True)
    ]
    return made, {"DEFAULT": _presidio.OperatorConfig(_NAME, {"surrogates": surrogates})}


def _joined_over_spaces(text: str, spans: list[Span]) -> list[Span]:
    """Join neighbours of one entity as the anonymizer does, with the label of the first neighbour.

    Neighbours have only spaces between them. A line feed may follow the spaces, because ``$`` in the anonymizer's
    pattern also matches before a line feed.
    """
    joined: list[Span] = []
    for span in spans:
        between = text[joined[-1].end : span.start] if joined else ""
        if re.fullmatch(" +\n?", between) and joined[-1].category == span.category:
            last = joined.pop()
            span = Span(last.start, span.end, last.label, category=last.category)
        joined.append(span)
    return joined
