"""`NoteDeidentifier`: spans of PHI and redacted notes from raw notes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import signature
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._compat import Interval, StrOptions, check_constraints
from ..exceptions import DeidError, WithheldWarning
from ..metrics import Counts, compare
from ..sequences import TokenSequences, TokenVectors, check_tags
from ..surrogates import SurrogateEngine, note_rewriter, rewrite_note
from ..text import Corpus, Document, Segmentation, Span, normalize, segment, tags_to_spans, unreadable_reason
from .note_input import checked_notes
from .safe_harbor import is_safe_harbor
from .tagger_failure import TaggerFailure


class NoteDeidentifier(BaseEstimator):
    """Find and redact PHI in raw notes with any tagger or pipeline.

    The estimator cuts each note into sentences and tokens, tags the tokens, and converts the tags to character offsets
    of the original note. The tagger reads letters, digits and punctuation in unusual forms as the usual ones
    (`text.normalize`). Notes may have any length and come from any iterable. The estimator processes notes in
    batches.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger, or a pipeline that ends with a tagger. You can pass a fitted estimator and skip `fit`.
    batch_size : int, default=64
        Number of notes that are tagged together. Larger batches are faster up to a point and need more memory.
    labels : {"all", "hipaa"}, default="all"
        PHI to return and to redact. "all" is every span of the tagger. "hipaa" is what the Safe Harbor rule removes
        (`is_safe_harbor`): states, countries, professions, departments, bare years and ages under 90 stay.
    on_error : {"raise", "withhold"}, default="raise"
        Reaction to a note that cannot be processed. "raise" stops with an error that names the note. "withhold"
        continues, returns None instead of the note and warns. Neither setting returns the unprocessed note. Every error
        of the tagger withholds the note, a bug of the tagger and `MemoryError` included. Only exceptions that end the
        process, such as `KeyboardInterrupt` and `SystemExit`, pass through.

    Attributes
    ----------
    estimator_ : estimator
        Fitted tagger or pipeline.
    categories_ : dict
        Category of each label in the corpus of `fit`.
    alignment_report_ : AlignmentReport
        Spans in the corpus of `fit` whose borders are not token borders, by document id and offsets.

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
        "labels": [StrOptions({"all", "hipaa"})],
        "on_error": [StrOptions({"raise", "withhold"})],
    }

    def __init__(
        self, estimator: Any = None, *, batch_size: int = 64, labels: str = "all", on_error: str = "raise"
    ) -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        self.labels = labels
        self.on_error = on_error

    def fit(self, corpus: Corpus | Sequence[Document], y: None = None) -> NoteDeidentifier:
        """Train the tagger on annotated notes.

        Parameters
        ----------
        corpus : Corpus or sequence of Document
            Notes with gold spans. If the tagger holds patients out, no patient is in both parts.
        y : None
            Ignored.

        Returns
        -------
        self

        Warns
        -----
        AlignmentWarning
            If span borders are not token borders.
        """
        check_constraints(self)
        corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
        data = corpus.to_sentences()
        estimator = default_tagger() if self.estimator is None else clone(self.estimator)
        self.estimator_ = estimator.fit(data.X, data.y, **group_parameters(estimator, data.groups))
        self.alignment_report_ = data.report
        self.categories_ = {s.label: s.category for document in corpus for s in document.spans if s.category}
        return self

    def annotate(self, texts: Iterable[str | Document]) -> list[tuple[Span, ...] | None]:
        """Find the PHI spans of each note, with the confidence of the tagger.

        Parameters
        ----------
        texts : iterable of str or Document, or Document
            Raw notes: a list, a generator, a `Corpus` or a column of a table. A single text is not an iterable of
            notes: pass ``[text]``.

        Returns
        -------
        list of tuple of Span
            Spans of each note, sorted and without overlap. Offsets count characters of the original text.
            ``confidence`` is the smallest probability among the tokens of the span, or None if the tagger returns no
            probabilities. The entry of a withheld note is None.

        Raises
        ------
        SequenceError
            If ``texts`` is a single text, bytes, a table, a mapping or no iterable.
        DeidError
            If a note is not a text, if the tagger fails on the note, or if the note is text of another kind
            (`text.unreadable_reason`): with control characters, not decoded, RTF, quoted-printable or base64. The
            message holds the number or id of the note.
            Not raised with ``on_error="withhold"``.

        Warns
        -----
        WithheldWarning
            For each withheld note.
        """
        return [spans for _, spans in self._annotated(checked_notes(texts, "annotate"))]

    def iter_annotate(
        self, texts: Iterable[str | Document]
    ) -> Iterator[tuple[str | Document, tuple[Span, ...] | None]]:
        """Yield the pairs (note, spans) of `annotate`; only one batch of notes is in memory at a time."""
        return self._annotated(checked_notes(texts, "iter_annotate"))

    def redact(
        self,
        texts: Iterable[str | Document],
        mode: str | SurrogateEngine = "label",
        *,
        return_documents: bool = False,
        locale: str | None = None,
        key: bytes | None = None,
        date_shift: int | None = None,
    ) -> list[str | Document | None]:
        """Redact the PHI of each note.

        Parameters
        ----------
        texts : iterable of str or Document, or Document
            Raw notes, as for `annotate`. A string is a patient of its own; a Document tells its patient.
        mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
            Replacement of a span: the label in brackets, asterisks, nothing, or invented PHI of the same kind and form.
            A `SurrogateEngine` is the mode "surrogate" with choices of your own; use one engine for all notes of a
            patient.
        return_documents : bool, default=False
            Whether to return each note as a Document with the spans of the new text. Labels and surrogates are spans;
            asterisks are not. ``meta`` is left out. Strings get the ids ``note-0``, ``note-1`` and so on.
        locale : {"auto", "en", "es", "de", "fr", "nb", "it", "nl", "pt"}, optional
            Language of the surrogates. None means "auto". This parameter and the next two need mode="surrogate".
        key : bytes, optional
            Secret key of the surrogates, of at least 16 bytes. None draws a new key at each call.
        date_shift : int, optional
            Largest shift of dates in days. None means 3650.

        Returns
        -------
        list of str, Document or None
            Redacted notes. The entry of a withheld note is None.

        Raises
        ------
        SequenceError, DeidError
            In the same cases as `annotate`.
        ValueError
            If ``mode`` is unknown, or if a setting does not fit the mode.

        Notes
        -----
        PHI that the tagger does not find stays in the text in every mode. Among surrogates, a reader may see less
        easily which names were missed; whoever knows the patient sees it as before.
        """
        given = {"locale": locale, "key": key, "date_shift": date_shift}
        return list(self._redacted(checked_notes(texts, "redact"), mode, return_documents, given))

    def iter_redact(
        self,
        texts: Iterable[str | Document],
        mode: str | SurrogateEngine = "label",
        *,
        return_documents: bool = False,
        locale: str | None = None,
        key: bytes | None = None,
        date_shift: int | None = None,
    ) -> Iterator[str | Document | None]:
        """Yield the redacted notes of `redact`; only one batch of notes is in memory at a time."""
        given = {"locale": locale, "key": key, "date_shift": date_shift}
        return self._redacted(checked_notes(texts, "iter_redact"), mode, return_documents, given)

    def score(self, corpus: Corpus | Sequence[Document], y: None = None, sample_weight: None = None) -> float:
        """Micro F1 of typed spans, called "strict" in `deid_report`.

        A span counts as found if its borders and its label are right. The spans of a withheld note count as missed.
        With ``labels="hipaa"``, other spans of the gold annotation do not count.

        Parameters
        ----------
        corpus : Corpus or sequence of Document
            Notes with gold spans.
        y : None
            Ignored.
        sample_weight : None
            Not supported: the metric counts spans and has no average over samples.

        Returns
        -------
        float
            F1 between 0 and 1.

        Examples
        --------
        >>> from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span
        >>> note = Document("n1", "Mail to roe@example.org", (Span(8, 23, "EMAIL"),))
        >>> NoteDeidentifier(RuleTagger().fit([])).score([note])
        1.0
        """
        if sample_weight is not None:
            raise ValueError("NoteDeidentifier.score does not take sample weights: spans are counted, not averaged.")
        notes = list(corpus)
        found = self.annotate(notes)
        pairs = zip(notes, found, strict=True)
        counts = (compare("strict", note, self._asked(note.spans, note.text), spans or ()) for note, spans in pairs)
        return sum(counts, Counts()).f1

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # The input is a list of notes: no table of numbers, and no separate labels.
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        try:
            self.fitted_estimator()
        except NotFittedError:
            return False
        return True

    def fitted_estimator(self) -> Any:
        """Return the fitted tagger: ``estimator_`` after `fit`, else ``estimator``.

        Raises
        ------
        NotFittedError
            If there is no ``estimator_`` and ``estimator`` is not fitted.
        """
        if hasattr(self, "estimator_"):
            return self.estimator_
        if self.estimator is None:
            raise NotFittedError("This NoteDeidentifier is not fitted: call fit, or give it a fitted estimator.")
        check_is_fitted(self.estimator)
        return self.estimator

    def _redacted(
        self, notes: Iterable[Any], mode: str | SurrogateEngine, return_documents: bool, settings: dict[str, Any]
    ) -> Iterator[str | Document | None]:
        rewrite = note_rewriter(mode, **{name: value for name, value in settings.items() if value is not None})
        rewritten = (
            None if spans is None else self._rewritten(number, item, spans, rewrite)
            for number, (item, spans) in enumerate(self._annotated(notes))
        )
        return (note if note is None or return_documents else note.text for note in rewritten)

    def _rewritten(
        self, number: int, item: Any, spans: tuple[Span, ...], rewrite: Callable[[Document], Document]
    ) -> Document | None:
        with TaggerFailure() as failure:
            return rewrite_note(item, spans, rewrite, name=f"note-{number}")
        # Surrogates are made from the note, so that an error of theirs could hold its text.
        self._give_up(number, item, f"The note cannot be rewritten: {type(failure.error).__name__}.", failure.error)
        return None

    def _annotated(self, notes: Iterable[Any]) -> Iterator[tuple[Any, tuple[Span, ...] | None]]:
        # A generator would report a wrong parameter only when its first item is asked for.
        check_constraints(self)
        return self._in_batches(self.fitted_estimator(), notes)

    def _in_batches(self, estimator: Any, notes: Iterable[Any]) -> Iterator[tuple[Any, tuple[Span, ...] | None]]:
        stream = enumerate(notes)
        while batch := list(islice(stream, self.batch_size)):
            for (_, item), spans in zip(batch, self._annotate_batch(estimator, batch), strict=True):
                yield item, spans

    def _annotate_batch(self, estimator: Any, batch: list[tuple[int, Any]]) -> Iterator[tuple[Span, ...] | None]:
        # An entry is None if the note is not a text and ``on_error="withhold"``.
        texts = [self._checked_text(number, item) for number, item in batch]
        found: list[tuple[Span, ...]] = []
        with TaggerFailure() as failure:
            found = self._spans(estimator, [text for text in texts if text is not None])
        if failure.error is not None:
            # Retry one note at a time: a bad note must not withhold its batch, and the error must name the bad note.
            for (number, item), text in zip(batch, texts, strict=True):
                yield None if text is None else self._spans_of_one(estimator, number, item)
            return
        rest = iter(found)
        for text in texts:
            yield None if text is None else next(rest)

    def _spans_of_one(self, estimator: Any, number: int, item: Any) -> tuple[Span, ...] | None:
        with TaggerFailure() as failure:
            return self._spans(estimator, [_text_of(item)])[0]
        # Only the type of the error is passed on: its message could hold text of the note.
        name = type(failure.error).__name__
        self._give_up(number, item, f"The note cannot be processed: {name}.", failure.error)
        return None

    def _checked_text(self, number: int, item: Any) -> str | None:
        text = _text_of(item)
        if isinstance(text, str):
            reason = unreadable_reason(text)
        else:
            reason = f"A note must be a str or a Document. Got {type(text).__name__} instead."
        if reason is None:
            return text
        self._give_up(number, item, reason)
        return None

    def _give_up(self, number: int, item: Any, message: str, cause: Exception | None = None) -> None:
        """Raise, or warn with ``on_error="withhold"``."""
        error = DeidError(message, doc_id=item.doc_id if isinstance(item, Document) else f"number {number}")
        if self.on_error == "raise":
            # A traceback shows the message of the cause, and only the messages of a DeidError never hold note text.
            raise error from (cause if isinstance(cause, DeidError) else None)
        warning = WithheldWarning(f"Note withheld: {error}")
        warning.error = error
        warnings.warn(warning, stacklevel=2)

    def _spans(self, estimator: Any, texts: list[str]) -> list[tuple[Span, ...]]:
        """Tag the sentences of all notes at once and return the spans of each note."""
        # The tagger reads the normalised text; its spans are mapped back to the unchanged note.
        readings = [normalize(text) for text in texts]
        segmented = [_without_endless_sentences(segment(reading.text)) for reading in readings]
        X = TokenSequences.from_rows(row for cut in segmented for row in cut.rows())
        counts = np.array([len(cut.sentences) for cut in segmented], dtype=np.int64)
        # Each sentence carries the number of its note, for taggers that read a sentence in its context.
        tags, confidences = flat_tags(estimator, X.with_documents(np.repeat(np.arange(len(texts)), counts)))
        categories = getattr(self, "categories_", {})
        spans, position = [], 0
        for text, reading, cut in zip(texts, readings, segmented, strict=True):
            stop = position + len(cut.tokens.starts)
            starts, ends = reading.originals(cut.tokens.starts, cut.tokens.ends)
            sure = None if confidences is None else confidences[position:stop]
            found = tags_to_spans(
                tags[position:stop],
                starts,
                ends,
                confidences=sure,
                category_of=categories.get,
                sentences=cut.sentences,
            )
            spans.append(self._asked(found, text))
            position = stop
        return spans

    def _asked(self, spans: Iterable[Span], text: str) -> tuple[Span, ...]:
        """The spans that ``labels`` asks for."""
        # A model that was fitted or pickled by version 0.1.0 has no such parameter.
        everything = getattr(self, "labels", "all") == "all"
        return tuple(span for span in spans if everything or is_safe_harbor(span, text))


def default_tagger() -> Any:
    """Build a `DeidTagger` with default parameters. The import of torch is lazy because torch loads slowly."""
    from .tagger import DeidTagger

    return DeidTagger()


def group_parameters(estimator: Any, groups: np.ndarray) -> dict[str, np.ndarray]:
    """Keyword arguments that pass the patient of each sentence to ``fit``; empty if ``fit`` takes no groups."""
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        return {"groups": groups} if estimator.get_metadata_routing().consumes("fit", ["groups"]) else {}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in group_parameters(last, groups).items()}
    searches = isinstance(estimator, (GridSearchCV, RandomizedSearchCV))
    return {"groups": groups} if searches or has_fit_parameter(estimator, "groups") else {}


# Tokens of the longest sentence that is tagged as a whole. Text without the end of a sentence, such as a table without
# line breaks, would otherwise take a time and memory that grow faster than its length.
_LONGEST_SENTENCE = 2000


def _without_endless_sentences(cut: Segmentation) -> Segmentation:
    """Cut sentences that are far longer than any written one."""
    if all(end - start <= _LONGEST_SENTENCE for start, end in cut.sentences):
        return cut
    parts = [
        (first, min(first + _LONGEST_SENTENCE, end))
        for start, end in cut.sentences
        for first in range(start, end, _LONGEST_SENTENCE)
    ]
    return cut._replace(sentences=parts)


def _text_of(item: Any) -> Any:
    return item.text if isinstance(item, Document) else item


def flat_tags(estimator: Any, X: TokenSequences | TokenVectors) -> tuple[list[str], list[float] | None]:
    """Tags of all tokens, and the probabilities of the tags (None if the tagger returns none)."""
    if not len(X):
        return [], None
    tagger: Any = estimator
    data: Any = X
    # The steps run here, because Pipeline.predict hides whether the last step takes `return_confidence`.
    while isinstance(tagger, Pipeline):
        data = tagger[:-1].transform(data) if len(tagger.steps) > 1 else data
        tagger = tagger.steps[-1][1]
    if "return_confidence" not in signature(tagger.predict).parameters:
        return check_tags(tagger.predict(data), X).data.tolist(), None
    tags, confidences = tagger.predict(data, return_confidence=True)
    # A HybridTagger returns None if its inner tagger has no probabilities.
    if confidences is None:
        return check_tags(tags, X).data.tolist(), None
    # `check_tags` also checks the lengths: a row that is too short would shift the tags of all later notes.
    return check_tags(tags, X).data.tolist(), np.clip(np.concatenate([*confidences]), 0.0, 1.0).tolist()
