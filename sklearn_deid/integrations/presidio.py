"""A recogniser for Presidio's `AnalyzerEngine` around a trained de-identifier (extra ``presidio``).

The only module of the library that cannot be imported without its extra: its class inherits from one of Presidio.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._optional import import_optional
from ..text import Document
from .deidentifiers import as_deidentifier, labels_of_model
from .presidio_entities import PRESIDIO_ENTITIES, entity_of

_presidio = import_optional("presidio_analyzer", extra="presidio", purpose="DeidRecognizer")

_LEAST_SCORE = 1e-6


class DeidRecognizer(_presidio.EntityRecognizer):  # type: ignore[name-defined]
    """Finds PHI for Presidio with what this library has trained.

    The score of a result is the confidence of the span, 1.0 where the tagger gives none. A threshold of the analyzer
    therefore drops what the tagger is less sure of; leave it at 0 unless that is meant. ``recognition_metadata`` holds
    the label and its category.

    A text that cannot be processed raises, so that the analyzer raises too: nothing is passed on unseen.

    Parameters
    ----------
    model : path, NoteDeidentifier or tagger
        What `save` has written, or something fitted.
    supported_language : str, default="en"
        Language in which the analyzer asks this recogniser.
    entities : mapping of str to str, optional
        Presidio's entity of each label; None is `PRESIDIO_ENTITIES`. A label that is not in it keeps its name.
    device : str, optional
        As for `load`; only for a path.
    name : str, default="DeidRecognizer"
        Name in the analyzer's registry.

    Raises
    ------
    BundleError
        If what is at the path is no saved model.
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model does not say which labels it gives: the analyzer would not ask for them.

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
    ) -> None:
        self.deidentifier = as_deidentifier(model, device)
        self.entities = dict(PRESIDIO_ENTITIES if entities is None else entities)
        names = sorted({entity_of(label, self.entities) for label in labels_of_model(self.deidentifier)})
        if not names:
            raise ValueError(
                "The model must say which tags it gives, by 'classes_'; the analyzer would not ask for it."
            )
        super().__init__(supported_entities=names, supported_language=supported_language, name=name)

    def load(self) -> None:
        """Nothing to do: the model is loaded when the recogniser is made."""

    def analyze(self, text: str, entities: list[str] | None, nlp_artifacts: Any = None) -> list[Any]:
        """PHI in a text, as the analyzer asks for it.

        Parameters
        ----------
        text : str
        entities : list of str
            Entities that are asked for; empty or None is all of them.
        nlp_artifacts : object, optional
            Not used: the recogniser cuts tokens and sentences by itself.

        Returns
        -------
        list of RecognizerResult

        Raises
        ------
        DeidError
            If the text cannot be processed; without any of it.
        """
        (spans,) = self.deidentifier.annotate([Document("given to the analyzer", text)])
        results = []
        for span in spans:
            entity = entity_of(span.label, self.entities)
            if entities and entity not in entities:
                continue
            metadata = {
                _presidio.RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
                _presidio.RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
                "label": span.label,
                "category": span.category,
            }
            # The analyzer drops results with a score of 0, whatever its threshold.
            score = self.MAX_SCORE if span.confidence is None else max(span.confidence, _LEAST_SCORE)
            results.append(
                _presidio.RecognizerResult(entity, span.start, span.end, score, recognition_metadata=metadata)
            )
        return results
