"""`NoteDeidentifier`: spans of PHI and redacted notes from raw notes."""

from __future__ import annotations

import io
import warnings
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from copy import copy
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions, check_constraints, unfitted_if_failed
from ..exceptions import DeidError, SequenceError, UnlikeNoteWarning, WithheldWarning
from ..metrics import Counts, compare
from ..surrogates import SurrogateEngine, note_rewriter, rewrite_note
from ..text import Corpus, Document, SentenceData, Span, patient_of, unreadable_reason
from ..text.note_copies import copies_together, without_blanks
from .held_out import default_tagger
from .note_batches import NoteBatch, note_batches
from .note_likeness import learned_likeness
from .note_processes import tag_batches
from .note_segmenter import fitted_segmenter
from .note_sentences import NormalizedSegmenter, cut_notes
from .note_tagger import NoteFailure, NoteTagger, UnlikeNote
from .proven_rules import ProvenRules
from .safe_harbor import LABELS, asked_spans, labels_to_rewrite, with_staying
from .splits import group_parameters
from .tagger_failure import TaggerFailure


class NoteDeidentifier(BaseEstimator):
    """Find and redact PHI in raw notes with any tagger or pipeline.

    The estimator cuts each note into sentences and tokens, tags the tokens, and converts the tags to character offsets
    of the original note. The tagger reads usual characters instead of unusual Unicode forms of letters, digits and
    punctuation (`text.normalize`), and reads values in forms and tables also behind their labels. Notes may have any
    length and come from any iterable. The estimator processes notes in batches.

    Parameters
    ----------
    estimator : estimator, optional
        Tagger, or a pipeline that ends with a tagger. You can pass a fitted estimator and skip `fit`. None means
        ``DeidTagger(context="block")``, which starts from "starter-en" if the training notes are in a language of
        `sklearn_deid.surrogates.LOCALES` and have at most 300,000 characters together. If the notes have more
        characters, None means ``DeidTagger(context=ContextBlock(random_borders=True))``.
    batch_size : int, default=128
        Number of notes that are tagged together. Larger batches are faster up to a point and need more memory.
    labels : {"all", "hipaa", "hipaa-wide", "hipaa-surrogate"}, default="all"
        PHI to return and to redact. "all" is every span of the tagger. "hipaa" is the PHI that the Safe Harbor rule
        lists (`is_safe_harbor`): states, countries, professions, departments, bare years and ages under 90 stay in the
        text. "hipaa-wide" is "hipaa" plus states, and names include the titles in front of them ("Mrs.", "Prof. Dr.").
        "hipaa-surrogate" is "hipaa" plus states and bare years. If ``labels`` is "hipaa" or "hipaa-wide", `redact` with
        surrogates uses "hipaa-surrogate", because a bare year in a note with shifted dates would reveal the shift. In
        addition, a state would not fit the invented town. With every value except "all", a `DeidTagger` that starts
        from "starter-en" assumes in `fit` that the notes are annotated by the Safe Harbor rule. The tagger is then also
        trained on spans of the starter that the rule does not list. Such spans are removed from the results.
    on_error : {"raise", "withhold"}, default="raise"
        Reaction to a note that cannot be processed. "raise" stops with an error that contains the number or id of the
        note. "withhold" continues, returns None instead of the note and warns. No value of ``on_error`` returns the
        unprocessed note. Every error of the tagger withholds the note, a bug of the tagger and `MemoryError` included.
        Only exceptions that end the process, such as `KeyboardInterrupt` and `SystemExit`, are not caught.
    on_unlike : {"withhold", "warn", "pass"}, default="warn"
        Reaction to a note that is unlike the training notes, such as a note in another language: the model may miss
        more PHI in the note. "withhold" treats the note as a note that cannot be processed (``on_error``). "warn" emits
        an `UnlikeNoteWarning` and returns the result of the note. "pass" ignores ``likeness_``.
    segmenter : {"learned", "rules"} or segmenter, default="learned"
        Splits a note into tokens and sentences. "learned" is a `text.LearnedSegmenter`, which `fit` trains on the notes
        of the corpus. "rules" is `text.segment`, which has lists of English and Spanish abbreviations. A segmenter of
        your own is an object with a method ``segment(text)`` that returns a `text.Segmentation`. If the segmenter has a
        method ``fit(texts, groups=patients)``, `fit` trains a clone. Without `fit`, "learned" is the same as "rules".
    rules : {"proven"} or None, default="proven"
        Rules for PHI that the tagger misses (`tagging.rules`). "proven" means the rules whose matches in the notes of
        `fit` are nearly always PHI of one label, such as dates in digits (`ProvenRules.learn`). A match of such a rule
        becomes a span if the tagger has found nothing there. Dates with a form that has no other meaning (3/4/1960,
        3/4/60, or 3/4, 3/5 and 3/6 in one line) become spans of taggers with a label for dates, whatever the notes of
        `fit` hold. Without `fit`, and with None, no rules are used.
    memory_unit : {"note", "patient"}, default="note"
        Range of notes over which a `DeidTagger` remembers the words that are PHI. "note" is each note alone. "patient"
        means consecutive notes with the same ``Document.patient_id``; pass the notes of a patient one after the other.
        The notes of a patient are tagged in one batch, if there are at most ten times ``batch_size`` notes. With
        "patient", the spans of a note depend on the other notes of the patient. `save` does not store ``memory_unit``.
    self_training : SelfTraining, optional
        Settings with which `fit` learns from raw notes (``unlabelled=``). None means ``SelfTraining()``.
    n_jobs : int, optional
        Number of processes that tag batches at the same time, this process included; -1 means all processor cores. None
        means 1, unless a ``joblib.parallel_config`` sets another number. The other processes start with the second
        batch of a call and share large arrays of the model. The threads of this process are divided equally among the
        ``n_jobs`` processes. Spans and their order do not depend on ``n_jobs``. `fit` ignores the parameter.

    Attributes
    ----------
    estimator_ : estimator
        Fitted tagger or pipeline.
    categories_ : dict
        Category of each label in the corpus of `fit`.
    likeness_ : NoteLikeness or None
        Statistics of the training notes, to recognise notes that are unlike the training notes. None with too few
        training notes.
    alignment_report_ : AlignmentReport
        Spans in the corpus of `fit` whose borders are not token borders, by document id and offsets.
    border_counts_ : dict
        For each label, two counts of sentence borders in the corpus of `fit`: borders inside one span of the label, and
        all borders with the label on both sides. `annotate` joins two spans at a sentence border if most of these
        borders are inside one span.
    segmenter_ : segmenter
        Fitted segmenter.
    rules_ : ProvenRules or None
        Rules whose matches were PHI in the notes of `fit`.
    raw_notes_ : dict
        Counts after `fit` with ``unlabelled``. "read": raw notes that were read. "left out": raw notes that are not
        readable text. "annotated": raw notes that were left out because they are annotated. "sentences" and "used
        sentences": sentences of the raw notes, and sentences that the training used.

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
        "labels": [StrOptions(set(LABELS))],
        "on_error": [StrOptions({"raise", "withhold"})],
        "on_unlike": [StrOptions({"withhold", "warn", "pass"})],
        "segmenter": [StrOptions({"learned", "rules"}), HasMethods(["segment"])],
        "rules": [StrOptions({"proven"}), None],
        "memory_unit": [StrOptions({"note", "patient"})],
        "self_training": [HasMethods(["fit_student"]), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        batch_size: int = 128,
        labels: str = "all",
        on_error: str = "raise",
        on_unlike: str = "warn",
        segmenter: Any = "learned",
        rules: str | None = "proven",
        memory_unit: str = "note",
        self_training: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        self.labels = labels
        self.on_error, self.on_unlike = on_error, on_unlike
        self.segmenter = segmenter
        self.rules = rules
        self.memory_unit = memory_unit
        self.self_training = self_training
        self.n_jobs = n_jobs

    def fit(
        self,
        corpus: Corpus | Sequence[Document],
        y: None = None,
        *,
        unlabelled: Iterable[str | Document] | None = None,
    ) -> NoteDeidentifier:
        """Train the tagger on annotated notes, and on raw notes if there are any.

        Parameters
        ----------
        corpus : Corpus or sequence of Document
            Notes with gold spans. If the tagger holds patients out, no patient is both held out and in the training
            data. Without a patient id, a note and its copies count as one patient.
        y : None
            Ignored.
        unlabelled : iterable of str or Document, optional
            Raw notes of the same kind, which ``self_training`` and the segmenter learn from. The model depends on the
            raw notes as well as on the annotated notes. Annotations of a Document are ignored, and notes of ``corpus``
            are left out.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If ``unlabelled`` holds no note to learn from.

        Warns
        -----
        AlignmentWarning
            If span borders are not token borders.
        WithheldWarning
            For each raw note that is left out because it is not readable text.
        """
        check_constraints(self)
        corpus = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
        raw, counts = ([], {}) if unlabelled is None else readable_notes(unlabelled, corpus)
        with unfitted_if_failed(self):
            self._fit(corpus, raw, None if unlabelled is None else counts)
        return self

    def _fit(self, corpus: Corpus, raw: list[Document], counts: dict[str, int] | None) -> None:
        """Fit segmenter, tagger and statistics of the notes; ``counts`` are the counts of the raw notes, if any."""
        self.__dict__.pop("raw_notes_", None)  # of an earlier fit
        estimator = _note_tagger(corpus) if self.estimator is None else clone(self.estimator)
        # The n-gram vectors, the segmenter and tuned thresholds count patients.
        corpus = self._with_staying(Corpus(copies_together(corpus)), estimator)
        self.segmenter_ = fitted_segmenter(self.segmenter, corpus, raw)
        data = corpus.to_sentences(segmenter=NormalizedSegmenter(self.segmenter_))
        if counts is None:
            self.estimator_ = estimator.fit(data.X, data.y, **group_parameters(estimator, data.groups))
        else:
            self.estimator_, used = self._fit_student(estimator, data, raw)
            self.raw_notes_ = {**counts, **used}
        any_casing = getattr(self.estimator_, "lowers_uniform_casing_", False)
        self.likeness_ = learned_likeness(corpus, any_casing, self.segmenter_)
        self.alignment_report_, self.border_counts_ = data.report, data.border_counts()
        self.rules_ = None if self.rules is None else ProvenRules.learn(corpus)
        self.categories_ = {s.label: s.category for document in corpus for s in document.spans if s.category}

    def _with_staying(self, corpus: Corpus, estimator: Any) -> Corpus:
        """Return the corpus; if the training starts from a model with the Safe Harbor rule, add spans that the rule
        keeps."""
        from .warm_start import loaded_start

        if self.labels == "all":
            return corpus
        # Not for a tagger inside of a `RecallTunedTagger`, which would count the kept PHI as PHI that it has found.
        start = loaded_start(estimator.get_params(deep=False).get("warm_start_from"))
        if not isinstance(start, NoteDeidentifier) or start.labels == "all":
            return corpus
        return Corpus(with_staying(corpus, start.finding_all()))

    def finding_all(self) -> NoteDeidentifier:
        """Return the same fitted model with settings to return all PHI, also in notes unlike the training notes."""
        finder = copy(self)
        finder.labels, finder.on_unlike, finder.on_error = "all", "pass", "withhold"
        return finder

    def _fit_student(self, estimator: Any, data: SentenceData, raw: list[Document]) -> tuple[Any, dict[str, int]]:
        from .self_training import SelfTraining

        # Raw notes are read as `annotate` reads them.
        X = cut_notes([document.text for document in raw], self.segmenter_).X
        training = SelfTraining() if self.self_training is None else self.self_training
        patients = np.array([patient_of(document) for document in raw], dtype=object)[X.documents]
        student, n_used = training.fit_student(estimator, data.X, data.y, data.groups, X, patients)
        return student, {"sentences": len(X), "used sentences": n_used}

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
            ``confidence`` is the smallest probability among the tokens of the span, or the precision of the rule if a
            rule found the span. If the tagger returns no probabilities, ``confidence`` is None. The entry of a withheld
            note is None.

        Raises
        ------
        SequenceError
            If ``texts`` is a single text, bytes, a table or a mapping, or is not iterable.
        DeidError
            If a note is not a text, or if the tagger fails on the note. Also if the note is not plain text
            (`text.unreadable_reason`), but has control characters or undecoded bytes, or is RTF, quoted-printable or
            base64. The message contains the number or id of the note. Not raised with ``on_error="withhold"``.

        Warns
        -----
        WithheldWarning
            For each withheld note.
        """
        return [spans for _, spans in self._annotated(checked_notes(texts, "annotate"))]

    def iter_annotate(
        self, texts: Iterable[str | Document]
    ) -> Iterator[tuple[str | Document, tuple[Span, ...] | None]]:
        """Yield the pairs (note, spans) of `annotate`.

        One batch of notes is in memory at a time; with several processes, two batches for each process.
        """
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
            Raw notes, as for `annotate`. A string counts as a patient of its own; a Document has a patient id.
        mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
            Replacement of a span: the label in brackets, asterisks, nothing, or invented PHI of the same kind and form.
            With a `SurrogateEngine`, spans are replaced as in mode "surrogate", with the settings of the engine; use
            one engine for all notes of a patient.
        return_documents : bool, default=False
            Whether to return each note as a Document with the spans of the new text. Labels and surrogates are marked
            as spans, asterisks are not. ``meta`` and confidences are left out. Strings get the ids ``note-0``,
            ``note-1`` and so on.
        locale : {"auto", "en", "es", "de", "fr", "nb", "it", "nl", "pt"}, optional
            Language of the surrogates. None means "auto". ``locale``, ``key`` and ``date_shift`` need mode="surrogate".
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
            If ``mode`` is unknown, or if a setting is not allowed in this mode.

        Notes
        -----
        In every mode, PHI that the tagger misses stays in the text. Next to surrogates, missed names are difficult to
        notice, except for readers who know the patient.
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
        """Yield the redacted notes of `redact`; as many notes are in memory as in `iter_annotate`."""
        given = {"locale": locale, "key": key, "date_shift": date_shift}
        return self._redacted(checked_notes(texts, "iter_redact"), mode, return_documents, given)

    def score(self, corpus: Corpus | Sequence[Document], y: None = None, sample_weight: None = None) -> float:
        """Micro F1 of typed spans, called "strict" in `deid_report`.

        A span counts as found if its borders and its label are correct. The spans of a withheld note count as missed.
        With ``labels="hipaa"``, gold spans that the Safe Harbor rule does not list are ignored. With
        ``labels="hipaa-wide"``, gold names also include the titles in front of them.

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

        Raises
        ------
        TypeError
            If a note is no Document.
        ValueError
            If weights are passed.

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
        if other := [type(note).__name__ for note in notes if not isinstance(note, Document)]:
            raise TypeError(f"NoteDeidentifier.score needs Document objects with gold spans. Got {other[0]} instead.")
        found = self.annotate(notes)
        pairs = zip(notes, found, strict=True)
        counts = (
            compare("strict", note, asked_spans(note.spans, note.text, self.labels), spans or ())
            for note, spans in pairs
        )
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
        if isinstance(self.estimator, (str, PathLike)):
            raise TypeError(
                "The 'estimator' parameter of NoteDeidentifier must be a tagger. Got a name or a path instead. "
                "load_model(name) and load(path) return a whole NoteDeidentifier."
            )
        check_is_fitted(self.estimator)
        return self.estimator

    def note_tagger(self, mode: str | SurrogateEngine | None = None) -> NoteTagger:
        """Return a function from texts to spans, or to the reason why a text has no spans.

        Parameters
        ----------
        mode : str, SurrogateEngine or None, default=None
            Mode of `redact` for which the spans are used. None means that no redaction follows.

        Raises
        ------
        NotFittedError
            If the tagger is not fitted, as in `fitted_estimator`.
        """
        categories, borders = getattr(self, "categories_", {}), getattr(self, "border_counts_", {})
        likeness = None if self.on_unlike == "pass" else getattr(self, "likeness_", None)
        # A model that was fitted or pickled by version 0.1.0 has no such parameter.
        labels = labels_to_rewrite(getattr(self, "labels", "all"), mode)
        rules = getattr(self, "rules_", None)
        return NoteTagger(self.fitted_estimator(), categories, self._segmenter(), borders, likeness, labels, rules)

    def _segmenter(self) -> Any:
        """Segmenter of `annotate`: None means rules, for a tagger that was not fitted by this estimator."""
        if hasattr(self, "segmenter_"):
            return self.segmenter_
        return None if isinstance(self.segmenter, str) else self.segmenter

    def _redacted(
        self, notes: Iterable[Any], mode: str | SurrogateEngine, return_documents: bool, settings: dict[str, Any]
    ) -> Iterator[str | Document | None]:
        rewrite = note_rewriter(mode, **{name: value for name, value in settings.items() if value is not None})
        rewritten = (
            None if spans is None else self._rewritten(number, item, spans, rewrite)
            for number, (item, spans) in enumerate(self._annotated(notes, mode))
        )
        return (note if note is None or return_documents else note.text for note in rewritten)

    def _rewritten(
        self, number: int, item: Any, spans: tuple[Span, ...], rewrite: Callable[[Document], Document]
    ) -> Document | None:
        with TaggerFailure() as failure:
            return rewrite_note(item, spans, rewrite, name=f"note-{number}")
        self._give_up(number, item, failure.reason(), failure.error)
        return None

    def _annotated(
        self, notes: Iterable[Any], mode: str | SurrogateEngine | None = None
    ) -> Iterator[tuple[Any, tuple[Span, ...] | None]]:
        # A generator would report a wrong parameter only when its first item is asked for.
        check_constraints(self)
        return self._in_batches(self.note_tagger(mode), notes, effective_n_jobs(self.n_jobs))

    def _in_batches(
        self, tagger: NoteTagger, notes: Iterable[Any], n_jobs: int
    ) -> Iterator[tuple[Any, tuple[Span, ...] | None]]:
        # Items are kept here until their results arrive: processes get the texts only, and return no text.
        waiting: deque[list[Any]] = deque()
        number = 0
        with closing(tag_batches(tagger, self._batches(notes, waiting), n_jobs)) as results:
            for found in results:
                for item, spans in zip(waiting.popleft(), found, strict=True):
                    yield item, self._accepted(number, item, spans)
                    number += 1

    def _accepted(self, number: int, item: Any, found: Any) -> tuple[Span, ...] | None:
        """Spans of a note; None if the note is withheld."""
        if isinstance(found, NoteFailure):
            self._give_up(number, item, found.reason, found.cause)
            return None
        if not isinstance(found, UnlikeNote):
            return found
        if self.on_unlike == "withhold":
            self._give_up(number, item, found.reason)
            return None
        error = DeidError(found.reason, doc_id=_name(number, item))
        warnings.warn(UnlikeNoteWarning(str(error), error), stacklevel=2)
        return found.spans

    def _batches(self, notes: Iterable[Any], waiting: deque[list[Any]]) -> Iterator[NoteBatch]:
        for items in note_batches(notes, self.batch_size, self.memory_unit):
            waiting.append(items)
            yield NoteBatch.of(items, self.memory_unit)

    def _give_up(self, number: int, item: Any, message: str, cause: Exception | None = None) -> None:
        """Raise the error of a note, or warn with ``on_error="withhold"``."""
        error = DeidError(message, doc_id=_name(number, item))
        if self.on_error == "raise":
            # A traceback shows the message of the cause, and only the messages of a DeidError never hold note text.
            raise error from (cause if isinstance(cause, DeidError) else None)
        warnings.warn(WithheldWarning(f"Note withheld: {error}", error), stacklevel=2)


def _note_tagger(notes: Sequence[Document]) -> Any:
    from .default_start import default_settings

    return default_tagger(**default_settings(notes))


def _name(number: int, item: Any) -> str:
    return item.doc_id if isinstance(item, Document) else f"number {number}"


# A text is an iterable of letters, a table an iterable of column names, and a mapping an iterable of keys. Read as
# notes, they would return without redaction and without an error.
_WAYS_OUT = {
    "text": "A text is read letter by letter. Pass a list with one text: {method}([text]).",
    "bytes": "Decode the bytes and pass a list: {method}([data.decode('utf-8')]).",
    "table": "A table is read by its column names. Pass the column of the notes: {method}(table['text']).",
    "mapping": "A mapping is read by its keys. Pass its values: {method}(list(notes.values())).",
    "set": "A set has no order, so that nobody could tell which result belongs to which note. Pass a list.",
    "file": "A file is read line by line, each as a note. Pass a list with its text: {method}([file.read()]).",
    "other": "Pass a list with one text: {method}([text]).",
}


def checked_notes(notes: Any, method: str, name: str = "texts") -> Iterable[Any]:
    """Check the argument of a method, and return the notes to read one by one.

    Parameters
    ----------
    notes : iterable of str or Document, or Document
        A list, a generator, a `Corpus`, a one-dimensional array, or a column of a table. A single `Document` is one
        note.
    method : str
        Name of the called method, for the message.
    name : str, default="texts"
        Name of the parameter, for the message.

    Returns
    -------
    iterable of str or Document
        Iterable of the notes, which are read and checked later, one by one.

    Raises
    ------
    SequenceError
        If ``notes`` is a text, bytes, a table, a mapping, a set or a file, or is not iterable. The message shows the
        right call.

    Examples
    --------
    >>> checked_notes(["Seen today."], "redact")
    ['Seen today.']
    """
    if isinstance(notes, Document):
        return [notes]
    kind = _kind(notes)
    if kind is None:
        return notes
    raise SequenceError(
        f"The {name!r} parameter of NoteDeidentifier.{method} must be an iterable of notes (str or Document). "
        f"Got {type(notes).__name__} instead. {_WAYS_OUT[kind].format(method=method)}"
    )


def readable_notes(notes: Any, annotated: Iterable[Document]) -> tuple[list[Document], dict[str, int]]:
    """Raw notes to learn from, and the numbers of notes that were read, left out, and annotated already.

    Parameters
    ----------
    notes : iterable of str or Document
        Raw notes. The annotations of a Document are ignored.
    annotated : iterable of Document
        Annotated notes. A raw note with the text of an annotated note is left out, also with other white space.

    Raises
    ------
    SequenceError
        If ``notes`` is not an iterable of notes, or if no note is left.

    Warns
    -----
    WithheldWarning
        For each note that is not a text, or is not plain text (`text.unreadable_reason`).
    """
    known = {without_blanks(document.text) for document in annotated}
    kept: list[Document] = []
    counts = {"read": 0, "left out": 0, "annotated": 0}
    for number, note in enumerate(checked_notes(notes, "fit", "unlabelled")):
        text = note.text if isinstance(note, Document) else note
        reason = unreadable_reason(text) if isinstance(text, str) else f"Got {type(text).__name__} instead of a text."
        if reason is not None:
            error = DeidError(reason, doc_id=_name(number, note))
            warnings.warn(WithheldWarning(f"Raw note left out: {error}"), stacklevel=3)
            counts["left out"] += 1
        elif without_blanks(text) in known:
            counts["annotated"] += 1
        else:
            counts["read"] += 1
            patient = note.patient_id if isinstance(note, Document) else None
            kept.append(Document(f"raw-{number}", text, patient_id=patient))
    if not kept:
        raise SequenceError(
            f"The 'unlabelled' parameter of NoteDeidentifier.fit holds no note to learn from: {counts}."
        )
    return copies_together(kept), counts


def _kind(notes: Any) -> str | None:
    """Kind of a wrong argument, as in ``_WAYS_OUT``; None for an iterable of notes."""
    if isinstance(notes, (str, array)):
        return "text"
    if isinstance(notes, (bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(notes, Mapping):
        return "mapping"
    # This includes the keys of a mapping.
    if isinstance(notes, Set):
        return "set"
    if isinstance(notes, io.IOBase):
        return "file"
    # pandas, polars and pyarrow need not be installed, so tables are known by their attributes.
    if hasattr(notes, "columns") or getattr(notes, "ndim", 1) > 1:
        return "table"
    # An array without dimensions has __iter__, which fails.
    return None if isinstance(notes, Iterable) and getattr(notes, "ndim", 1) == 1 else "other"
