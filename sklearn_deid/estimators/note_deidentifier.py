"""`NoteDeidentifier`: raw notes in, spans or redacted notes out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._compat import Interval, StrOptions, check_constraints
from .._sequences import TokenSequences
from ..exceptions import DeidError, WithheldWarning
from ..text import Corpus, Document, Segmentation, Span, redact, segment, tags_to_spans

__all__ = ["NoteDeidentifier"]

REDACTION_MODES = ("label", "mask", "remove")


class NoteDeidentifier(BaseEstimator):
    """Find PHI in raw notes and redact it, around any tagger or pipeline.

    Cuts notes into tokens and sentences, lets the tagger tag them, and brings the tags back to character offsets of the
    untouched note. Notes may have any length and come from any iterable; they are worked on in batches.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger, or a pipeline that ends with one. A fitted one is used as it is until `fit` is called.
    batch_size : int, default=64
        Notes that are tagged together. More is faster up to a point and needs more memory.
    on_error : {"raise", "withhold"}, default="raise"
        What happens to a note that cannot be processed. "raise" stops with an error that names the note; "withhold"
        goes on, gives None in the place of the note and warns. It is never passed on as if it were clean.

    Attributes
    ----------
    estimator_ : estimator
        The fitted tagger or pipeline.
    categories_ : dict
        Category of each label, as seen in the corpus of `fit`.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes
    >>> notes = make_clinical_notes(20, random_state=0)
    >>> deidentifier = NoteDeidentifier(DeidTagger(max_epochs=1, hidden_size=8, random_state=0)).fit(notes)
    >>> len(deidentifier.redact(["Seen on 3 May by Dr. Alder.", ""]))
    2
    """

    _parameter_constraints: dict[str, list] = {
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "on_error": [StrOptions({"raise", "withhold"})],
    }

    def __init__(self, estimator: Any = None, *, batch_size: int = 64, on_error: str = "raise") -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        self.on_error = on_error

    def fit(self, corpus: Corpus | Sequence[Document], y: None = None) -> NoteDeidentifier:
        """Train the tagger on annotated notes.

        Parameters
        ----------
        corpus : Corpus or sequence of Document
            Notes with gold spans; patients are kept apart where the tagger holds some out.
        y : None
            Ignored.

        Returns
        -------
        self

        Warns
        -----
        AlignmentWarning
            If spans do not agree with token borders.
        """
        check_constraints(self)
        corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
        data = corpus.to_sentences()
        estimator = self._default_estimator() if self.estimator is None else clone(self.estimator)
        groups = {"groups": data.groups} if has_fit_parameter(estimator, "groups") else {}
        self.estimator_ = estimator.fit(data.X, data.y, **groups)
        self.categories_ = {s.label: s.category for document in corpus for s in document.spans if s.category}
        return self

    def annotate(self, texts: Iterable[str | Document]) -> list[tuple[Span, ...] | None]:
        """PHI spans of each note, with the tagger's confidence.

        Parameters
        ----------
        texts : iterable of str or Document

        Returns
        -------
        list of tuple of Span
            Sorted, not overlapping; offsets count characters of the untouched text. ``confidence`` is the smallest
            probability of the span's tokens, or None if the tagger gives none.

        Raises
        ------
        DeidError
            If a note is no text, with the number or id of the note.
        """
        return [spans for _, spans in self.iter_annotate(texts)]

    def iter_annotate(
        self, texts: Iterable[str | Document]
    ) -> Iterator[tuple[str | Document, tuple[Span, ...] | None]]:
        """As `annotate`, one (note, spans) at a time; holds one batch of notes in memory."""
        check_constraints(self)
        estimator = self.fitted_estimator()
        stream = enumerate(texts)
        while batch := list(islice(stream, self.batch_size)):
            checked = [self._checked_text(number, item) for number, item in batch]
            segmented = [None if text is None else segment(text) for text in checked]
            spans = self._spans(estimator, [s for s in segmented if s is not None])
            for (_, item), cut in zip(batch, segmented, strict=True):
                yield item, None if cut is None else next(spans)

    def redact(self, texts: Iterable[str | Document], mode: str = "label") -> list[str | None]:
        """Notes without their PHI.

        Parameters
        ----------
        texts : iterable of str or Document
        mode : {"label", "mask", "remove"}, default="label"
            Put the label in brackets, asterisks, or nothing in the place of a span.

        Returns
        -------
        list of str
            None for a note that was withheld.
        """
        return list(self.iter_redact(texts, mode))

    def iter_redact(self, texts: Iterable[str | Document], mode: str = "label") -> Iterator[str | None]:
        """As `redact`, one note at a time; holds one batch of notes in memory."""
        if mode not in REDACTION_MODES:
            raise ValueError(f"The 'mode' parameter must be one of {REDACTION_MODES}. Got {mode!r} instead.")
        for item, spans in self.iter_annotate(texts):
            yield None if spans is None else redact(_text_of(item), spans, mode)

    def __sklearn_is_fitted__(self) -> bool:
        try:
            self.fitted_estimator()
        except NotFittedError:
            return False
        return True

    @staticmethod
    def _default_estimator() -> Any:
        from .tagger import DeidTagger

        return DeidTagger()

    def fitted_estimator(self) -> Any:
        """The tagger in use: that of `fit`, else ``estimator`` itself.

        Raises
        ------
        NotFittedError
            If neither is fitted.
        """
        if hasattr(self, "estimator_"):
            return self.estimator_
        if self.estimator is None:
            raise NotFittedError("This NoteDeidentifier is not fitted: call fit, or give it a fitted estimator.")
        check_is_fitted(self.estimator)
        return self.estimator

    def _checked_text(self, number: int, item: Any) -> str | None:
        text = _text_of(item)
        if isinstance(text, str):
            return text
        name = item.doc_id if isinstance(item, Document) else f"number {number}"
        error = DeidError(f"A note must be a str or a Document. Got {type(text).__name__} instead.", doc_id=name)
        if self.on_error == "raise":
            raise error
        warnings.warn(f"Note withheld: {error}", WithheldWarning, stacklevel=4)
        return None

    def _spans(self, estimator: Any, segmented: list[Segmentation]) -> Iterator[tuple[Span, ...]]:
        """Tag the sentences of all notes at once and give each note its spans back."""
        rows = [row for cut in segmented for row in cut.rows()]
        tags, confidences = _tag(estimator, TokenSequences.from_rows(rows))
        categories = getattr(self, "categories_", {})
        position = 0
        for cut in segmented:
            stop = position + len(cut.sentences)
            flat = [tag for row in tags[position:stop] for tag in row]
            sure = None if confidences is None else [c for row in confidences[position:stop] for c in row]
            starts, ends = cut.tokens.starts, cut.tokens.ends
            yield tuple(tags_to_spans(flat, starts, ends, confidences=sure, category_of=categories.get))
            position = stop


def _text_of(item: Any) -> Any:
    return item.text if isinstance(item, Document) else item


def _tag(estimator: Any, X: TokenSequences) -> tuple[Any, Any]:
    """Tags and, where the tagger gives them, the probabilities of the tags."""
    if not len(X):
        return [], None
    tagger: Any = estimator
    data: Any = X
    while isinstance(tagger, Pipeline):
        data = tagger[:-1].transform(data) if len(tagger.steps) > 1 else data
        tagger = tagger.steps[-1][1]
    if "return_confidence" in signature(tagger.predict).parameters:
        tags, confidences = tagger.predict(data, return_confidence=True)
        return tags, [np.asarray(c).tolist() for c in confidences]
    return tagger.predict(data), None
