"""`NoteTagger`: spans of PHI of a batch of texts, or the reason why a text was not tagged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np
from sklearn.pipeline import Pipeline

from ..exceptions import DeidError, SequenceError
from ..sequences import TokenSequences, TokenVectors, check_tags
from ..surrogates.label_kinds import known_labels
from ..text import Segmentation, Span, joined_at_borders, tags_to_spans, unreadable_reason
from .dates_in_rows import with_dates_in_rows
from .dates_over_lines import with_dates_over_lines
from .names_of_places import with_names_of_places
from .note_likeness import NoteLikeness, measure
from .note_sentences import CutNotes, cut_notes
from .parts_of_numbers import with_parts_of_numbers
from .parts_of_years import with_parts_of_years
from .proven_rules import ProvenRules
from .rearranged_notes import rearranged, with_spans_of
from .safe_harbor import asked_spans
from .second_reading import FlatTags, with_labelled_values
from .tagger_failure import TaggerFailure
from .weight_checks import class_problem
from .whole_dates import with_whole_dates

# Categories of characters that are no letters in any spelling. Signs of currencies look like letters, and a letter in a
# circle is one of the other symbols.
_SIGNS = frozenset("Pc Pd Ps Pe Pi Pf Po Zs Zl Zp Cc Sm Sk".split())
# The last digits of float32 depend on the other notes of a batch. With them, a resumed run often wrote other bytes; a
# number of digits that never differs does not exist, because every number of digits has borders.
_DIGITS = 6
_DOUBT = 0.5  # confidence of dates that the tagger has not found


class NoteFailure(NamedTuple):
    """Reason why a text was not tagged.

    Parameters
    ----------
    reason : str
        Reason as a sentence, without text of the note.
    cause : DeidError or None, default=None
        Error of the tagger, if the message is known to contain no text of the note.
    """

    reason: str
    cause: DeidError | None = None


@dataclass(frozen=True)
class UnlikeNote:
    """Spans of a note that is unlike the training notes, and the reason.

    Parameters
    ----------
    spans : tuple of Span
        Spans that the tagger found.
    reason : str
        Reason as a sentence, without text of the note.
    """

    spans: tuple[Span, ...]
    reason: str


@dataclass(frozen=True, repr=False, eq=False)
class NoteTagger:
    """Tag batches of texts. If a text causes an error, the result of the text is a `NoteFailure`.

    Parameters
    ----------
    estimator : estimator
        Fitted tagger or pipeline.
    categories : mapping of str to str
        Category of each label.
    segmenter : object with a method ``segment(text)``, optional
        Splits texts into tokens and sentences. None means `text.segment`.
    borders : mapping of str to pair of int, optional
        Borders of sentences inside spans, for each label, in the format of `text.joined_at_borders`.
    likeness : NoteLikeness, optional
        Statistics of the training notes. None means that no note counts as unlike.
    labels : {"all", "hipaa", "hipaa-wide", "hipaa-surrogate"}, default="all"
        "hipaa" keeps the spans for which `is_safe_harbor` is true, and "hipaa-surrogate" also states and bare years.
        "hipaa-wide" keeps also states, and names get the titles in front of them.
    rules : ProvenRules, optional
        Rules for PHI that the tagger misses. None means no rules.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> tagger = NoteTagger(RuleTagger().fit([]), {})
    >>> [span.label for span in tagger(["Mail to roe@example.org"])[0]], tagger([7])[0].reason
    (['EMAIL'], 'A note must be a str or a Document. Got int instead.')
    """

    estimator: Any
    categories: Mapping[str, str]
    segmenter: Any = None
    borders: Mapping[str, Any] = field(default_factory=dict)
    likeness: NoteLikeness | None = None
    labels: str = "all"
    rules: ProvenRules | None = None

    def __call__(
        self, texts: Sequence[Any], patients: Sequence[int] | None = None
    ) -> list[tuple[Span, ...] | UnlikeNote | NoteFailure]:
        """Spans of each text, sorted and without overlap, with offsets in the unchanged text.

        Texts with the same number in ``patients`` share the memory of PHI words. Without numbers, each text has its own
        memory.
        """
        results: list[Any] = [_failure_of(text) for text in texts]
        readable = [n for n, result in enumerate(results) if result is None]
        read, owners = [texts[n] for n in readable], None if patients is None else [patients[n] for n in readable]
        found: list[Any] = []
        with TaggerFailure() as failure:
            found = self._spans(read, owners)
        if failure.error is not None:
            # Retry one note at a time: a bad note must not withhold its batch, and the error must name the bad note.
            found = [self._spans_together([text])[0] for text in read]
            if owners is not None:
                self._read_with_memory(read, owners, found)
        for n, spans in zip(readable, found, strict=True):
            results[n] = spans
        return results

    def read(self, notes: CutNotes) -> FlatTags:
        """Tags of all tokens, and their probabilities or None, with the values of forms behind their labels."""
        read = partial(flat_tags, self.estimator)
        return with_labelled_values(read, notes, read(notes.X))

    def _read_with_memory(self, texts: list[str], patients: list[int], found: list[Any]) -> None:
        """Replace the results of notes that were read one by one by results with the memory of their patients."""
        good: dict[int, list[int]] = {}
        for n, (patient, spans) in enumerate(zip(patients, found, strict=True)):
            if not isinstance(spans, NoteFailure):
                good.setdefault(patient, []).append(n)
        for numbers in good.values():
            if len(numbers) > 1:
                # If the notes fail together, they are withheld: names that only the memory finds would stay.
                together = self._spans_together([texts[n] for n in numbers], [0] * len(numbers))
                for n, spans in zip(numbers, together, strict=True):
                    found[n] = spans

    def _spans_together(self, texts: list[str], patients: list[int] | None = None) -> list[Any]:
        """Spans of each note, or the same failure for all notes."""
        with TaggerFailure() as failure:
            return list(self._spans(texts, patients))
        error = failure.error
        reason = NoteFailure(failure.reason("processed"), error if isinstance(error, DeidError) else None)
        return [reason] * len(texts)

    def _spans(self, texts: list[str], patients: list[int] | None = None) -> list[tuple[Span, ...] | UnlikeNote]:
        """Tag the sentences of all notes at once and return the spans of each note."""
        further = [(n, reading) for n, text in enumerate(texts) if (reading := rearranged(text)) is not None]
        owners = None if patients is None else [*patients, *(patients[n] for n, _ in further)]
        found = self._read([*texts, *(reading.text for _, reading in further)], owners)
        for (n, reading), more in zip(further, found[len(texts) :], strict=True):
            first = found[n]
            spans = tuple(with_spans_of(_spans_of(first), _spans_of(more), reading, texts[n]))
            found[n] = replace(first, spans=spans) if isinstance(first, UnlikeNote) else spans
        return found[: len(texts)]

    def _read(self, texts: list[str], patients: list[int] | None) -> list[tuple[Span, ...] | UnlikeNote]:
        # The tagger reads the normalised text; its spans are mapped back to the unchanged note.
        notes = cut_notes(texts, self.segmenter, patients)
        tags, confidences = self.read(notes)
        spans: list[tuple[Span, ...] | UnlikeNote] = []
        position = 0
        for text, cut in zip(texts, notes.segmented, strict=True):
            stop = position + len(cut.tokens.starts)
            sure = None if confidences is None else confidences[position:stop]
            spans.append(self._of_note(text, cut, tags[position:stop], sure))
            position = stop
        return spans

    def _of_note(
        self, text: str, cut: Segmentation, tags: list[str], sure: list[float] | None
    ) -> tuple[Span, ...] | UnlikeNote:
        _, starts, ends = cut.tokens
        found = tags_to_spans(
            tags, starts, ends, confidences=sure, category_of=self.categories.get, sentences=cut.sentences
        )
        joined = joined_at_borders(found, starts, ends, cut.sentences, self.borders)
        joined = with_dates_over_lines(joined, text)
        if self.rules is not None:
            joined = self.rules.with_missed(text, joined, self.categories, sure is not None)
        # A low threshold also reaches signs beside a name ("Dayton, Ohio"), which then become spans of their own.
        joined = [span for span in joined if not _is_signs(text[span.start : span.end])]
        joined = with_names_of_places(joined, text, self._new("person", sure is not None))
        new = None if self.rules is None else self._new("date", sure is not None)
        joined = with_dates_in_rows(with_whole_dates(joined, text, new), text, new)
        joined = with_parts_of_years(joined, text)
        joined = with_parts_of_numbers(joined, text)
        asked = asked_spans(joined, text, self.labels)
        problem = None
        if self.likeness is not None:
            problem = self.likeness.problem(measure(cut, len(tags) - tags.count("O"), text))
            problem = problem or self.likeness.language_problem(cut.tokens.texts)
        return asked if problem is None else UnlikeNote(asked, problem)

    def _new(self, kind: str, has_confidences: bool) -> Span | None:
        """Label, category and confidence of PHI that the tagger has not found; None if no label fits the kind."""
        label = next((label for label in self.categories if known_labels().get(label) == kind), None)
        return Span(0, 1, label, self.categories[label], _DOUBT if has_confidences else None) if label else None


def _spans_of(found: tuple[Span, ...] | UnlikeNote) -> tuple[Span, ...]:
    return found.spans if isinstance(found, UnlikeNote) else found


def _is_signs(text: str) -> bool:
    return all(category(character) in _SIGNS for character in text)


def _failure_of(text: Any) -> NoteFailure | None:
    if not isinstance(text, str):
        return NoteFailure(f"A note must be a str or a Document. Got {type(text).__name__} instead.")
    reason = unreadable_reason(text)
    return None if reason is None else NoteFailure(reason)


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
    has_confidences = "return_confidence" in signature(tagger.predict).parameters
    found = tagger.predict(data, return_confidence=True) if has_confidences else (tagger.predict(data), None)
    # `check_tags` also checks the lengths: a row that is too short would shift the tags of all later notes.
    checked, confidences = check_tags(found[0], X), found[1]
    # The labels appear in redacted notes. A class that this library did not fit may return any label.
    problem = class_problem({"B-PHI", *checked.data})
    if problem is not None:
        raise SequenceError(f"The tagger returns tags that cannot be used. {problem}")
    # A HybridTagger returns None if its inner tagger has no probabilities.
    if confidences is None:
        return checked.data.tolist(), None
    sure = np.concatenate([*confidences])
    if [*map(len, confidences)] != checked.lengths.tolist() or not np.isfinite(sure).all():
        # NaN is neither below nor above a threshold: whether a span is hidden would depend on the comparison.
        raise ValueError("The tagger returns confidences that are no numbers, or not one for each token.")
    return checked.data.tolist(), np.clip(sure, 0.0, 1.0).astype(float).round(_DIGITS).tolist()
