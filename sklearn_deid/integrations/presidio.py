"""Recogniser for Presidio's `AnalyzerEngine` that uses a trained de-identifier (extra ``presidio``).

You cannot import this module without its extra, because its class inherits from a class of Presidio.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._optional import import_optional
from ..text import Document
from .deidentifiers import as_deidentifier, labels_of_model, labels_of_spans
from .presidio_entities import PRESIDIO_ENTITIES, entity_of

_presidio = import_optional("presidio_analyzer", extra="presidio", purpose="DeidRecognizer")

_LEAST_SCORE = 1e-6


class DeidRecognizer(_presidio.EntityRecognizer):  # type: ignore[name-defined]
    """Presidio recogniser that finds PHI with a trained model of this library.

    The score of a result is the confidence of the span, or 1.0 if the tagger gives no confidence. A score threshold of
    the analyzer therefore drops the spans with lower confidence. Leave the threshold at 0 unless you want to drop such
    spans. ``recognition_metadata`` holds the label and its category, and the parameter ``labels`` of a model that
    returns a part of the PHI.

    The recogniser and the analyzer raise an error for a text that cannot be processed. No text is passed on
    unprocessed.

    Parameters
    ----------
    model : path, NoteDeidentifier or tagger
        Path of a model that `save` wrote, or a fitted model.
    supported_language : str, default="en"
        Language of the texts for which the analyzer calls this recogniser.
    entities : mapping of str to str, optional
        Presidio's entity of each label. None means `PRESIDIO_ENTITIES`. A label outside of the mapping keeps its name.
    device : str, optional
        Device of `load`, for a path only.
    name : str, default="DeidRecognizer"
        Name in the analyzer's registry.
    labels : {"all", "hipaa", "hipaa-wide", "hipaa-surrogate"}, optional
        PHI to find, as in `NoteDeidentifier`. None means the value of the model. For surrogates, use "hipaa-surrogate"
        instead of "hipaa" and "hipaa-wide", whose results `surrogate_text` and `surrogate_operators` refuse.

    Raises
    ------
    BundleError
        If the path does not hold a saved model.
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model does not list its labels, because the analyzer would then never request the labels.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> recognizer = DeidRecognizer(RuleTagger(recognizers=["date"]).fit([]))
    >>> [(found.entity_type, found.start, found.end) for found in recognizer.analyze("Seen on 3/5/2019.", None)]
    [('DATE_TIME', 8, 16)]
    """

    def __init__(
        self,
        model: Any,
        *,
        supported_language: str = "en",
        entities: Mapping[str, str] | None = None,
        device: str | None = None,
        name: str = "DeidRecognizer",
        labels: str | None = None,
    ) -> None:
        self.deidentifier = as_deidentifier(model, device, labels)
        self.entities = dict(PRESIDIO_ENTITIES if entities is None else entities)
        # Presidio asks a recogniser only for entities that it has announced.
        names = sorted({entity_of(label, self.entities) for label in labels_of_model(self.deidentifier)})
        if not names:
            raise ValueError("The model must list its tags in 'classes_': the analyzer asks only for known entities.")
        super().__init__(supported_entities=names, supported_language=supported_language, name=name)

    def load(self) -> None:
        """Do nothing: the constructor has loaded the model."""

    def analyze(self, text: str, entities: list[str] | None, nlp_artifacts: Any = None) -> list[Any]:
        """Find the PHI in a text. The analyzer calls this method.

        Parameters
        ----------
        text : str
            Text to search.
        entities : list of str
            Requested entities. An empty list or None requests all entities.
        nlp_artifacts : object, optional
            Ignored, because the recogniser splits the text into tokens and sentences itself.

        Returns
        -------
        list of RecognizerResult
            One result for each span of a requested entity.

        Raises
        ------
        DeidError
            If the text cannot be processed. The error holds no text.
        """
        (spans,) = self.deidentifier.annotate([Document("given to the analyzer", text)])
        results, asked = [], labels_of_spans(self.deidentifier)
        for span in spans:
            entity = entity_of(span.label, self.entities)
            if entities and entity not in entities:
                continue
            metadata = {
                _presidio.RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
                _presidio.RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
                "label": span.label,
                "category": span.category,
                **({} if asked is None else {"labels": asked}),
            }
            # The analyzer drops results with a score of 0, whatever its threshold.
            score = self.MAX_SCORE if span.confidence is None else max(span.confidence, _LEAST_SCORE)
            results.append(
                _presidio.RecognizerResult(entity, span.start, span.end, score, recognition_metadata=metadata)
            )
        return results
