"""`Corpus` is a sequence of notes. `SentenceData` holds the sentences of a corpus as X, y and groups."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ..exceptions import AlignmentWarning, SequenceError
from ..sequences import TokenSequences, object_rows
from .alignment import AlignmentReport, spans_to_tags, tags_to_spans
from .documents import Document, Span
from .patient_ids import known_id
from .segmentation import Segmentation, segment_normalized


class Corpus(Sequence[Document]):
    """An immutable sequence of documents with distinct ids.

    An integer index returns a document. A slice, a list of integers or a boolean mask (the indices of scikit-learn's
    splitters) returns a Corpus that shares the documents. The operator ``+`` joins two corpora.

    Parameters
    ----------
    documents : iterable of Document
        Documents with distinct ids.

    Raises
    ------
    SequenceError
        If two documents have the same id. The message contains the first repeated id.
    TypeError
        If an item is not a Document.

    Examples
    --------
    >>> from sklearn_deid import Corpus, Document, Span
    >>> corpus = Corpus([Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),), patient_id="p1")])
    >>> corpus
    Corpus(1 document, 1 patient, 1 span)
    >>> data = corpus.to_sentences()
    >>> data.X[0], data.y[0]
    (['Seen', 'by', 'Who', '.'], ['O', 'O', 'B-DOCTOR', 'O'])
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        if isinstance(documents, Document):
            raise TypeError("A Corpus holds a list of Document objects. Got one Document: put it in a list.")
        self._documents = tuple(documents)
        for document in self._documents:
            if not isinstance(document, Document):
                # A path is a sequence of letters.
                hint = " Annotated files are read by read_corpus." if isinstance(document, str) else ""
                raise TypeError(f"A Corpus holds Document objects. Got {type(document).__name__} instead.{hint}")
        # Ids name the documents in reports and output files, so that two documents with one id could overwrite each
        # other.
        repeated = [doc_id for doc_id, n in Counter(d.doc_id for d in self._documents).items() if n > 1]
        if repeated:
            message = f"Document ids must be distinct. {len(repeated)} are repeated, and the first one is named here."
            raise SequenceError(message, doc_id=repeated[0])

    @property
    def groups(self) -> np.ndarray:
        """Patient id of each document, or document id if there is no patient id; shape (n_documents,), dtype object.

        If a document id without a patient id is also the id of a patient, it has an addition.
        """
        return np.array(patients_of(self._documents), dtype=object)

    @property
    def patients(self) -> tuple[str, ...]:
        """Distinct patient ids, in order of appearance."""
        return tuple(dict.fromkeys(self.groups))

    @property
    def n_spans(self) -> int:
        """Number of spans in all documents."""
        return sum(len(d.spans) for d in self._documents)

    @property
    def label_counts(self) -> dict[str, int]:
        """Number of spans of each label, the most frequent label first."""
        return dict(Counter(span.label for d in self._documents for span in d.spans).most_common())

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    @property
    def shape(self) -> tuple[int]:
        """Number of documents, as the tuple ``(n,)``. Without this attribute, ``train_test_split`` returns lists."""
        return (len(self),)

    @overload
    def __getitem__(self, key: int) -> Document: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | np.ndarray) -> Corpus: ...
    def __getitem__(self, key: Any) -> Document | Corpus:
        # scikit-learn indexes objects with a shape as X[key, ...].
        if isinstance(key, tuple) and key[1:] == (Ellipsis,):
            key = key[0]
        if isinstance(key, (int, np.integer)):
            return self._documents[key]
        if isinstance(key, slice):
            return Corpus(self._documents[key])
        if isinstance(key, str):
            raise IndexError(
                "The index of a Corpus is a position, positions or a mask. Got a str, such as an id, instead."
            )
        index = np.asarray(key)
        if index.ndim != 1:
            raise IndexError(f"An index needs one dimension. Got {index.ndim} instead.")
        # numpy makes a float64 array of an empty list, and float64 is no valid index.
        rows = np.arange(len(self))[index if index.size else index.astype(np.intp)]
        return Corpus(self._documents[i] for i in rows)

    def __add__(self, other: Corpus) -> Corpus:
        if not isinstance(other, Corpus):
            return NotImplemented
        return Corpus((*self._documents, *other._documents))

    def __eq__(self, other: object) -> bool:
        return self._documents == other._documents if isinstance(other, Corpus) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Corpus({_counted(document=len(self), patient=len(self.patients), span=self.n_spans)})"

    def to_sentences(self, tag_scheme: str = "iob2", *, segmenter: Any = None) -> SentenceData:
        """Split all notes into sentences with tags.

        The notes are normalised as in `NoteDeidentifier`: without invisible characters, and with plain quotes, dashes
        and digits (`text.normalize`). Offsets refer to the unchanged notes.

        Parameters
        ----------
        tag_scheme : {"iob2", "bioes"}, default="iob2"
            Scheme of the tags.
        segmenter : object with a method ``segment(text)``, optional
            Object that splits an unchanged note into tokens and sentences, such as a fitted `text.LearnedSegmenter`. By
            default `text.segment` splits the normalised note.

        Returns
        -------
        SentenceData
            Sentences and tags. The attribute ``report`` lists every span that tokens cannot express exactly, by
            document id and offsets.

        Warns
        -----
        AlignmentWarning
            If the tags lose spans or change their borders. A span across a sentence border causes no warning by itself:
            all its tokens are tagged, and redaction hides the same text.
        """
        cut_note = segment_normalized if segmenter is None else segmenter.segment
        pieces = [cut_note(document.text) for document in self._documents]
        tags, reports = [], []
        for document, cut in zip(self._documents, pieces, strict=True):
            row, one = spans_to_tags(
                document.spans,
                cut.tokens.starts,
                cut.tokens.ends,
                tag_scheme,
                doc_id=document.doc_id,
                sentences=cut.sentences,
            )
            tags.append(row)
            reports.append(one)
        report = AlignmentReport.total(reports)
        # Spans cut at a sentence border lose no character and need no warning.
        if report.n_lost or report.inside_token or report.trimmed or report.collisions or report.overlapping:
            warnings.warn(
                f"{report.summary()}. SentenceData.report lists the positions.", AlignmentWarning, stacklevel=2
            )
        return SentenceData(self, tag_scheme, pieces, tags, report)


@dataclass(frozen=True, repr=False)
class SentenceData:
    """Sentences of a corpus in the form that scikit-learn expects, and the conversion back to documents.

    Attributes
    ----------
    X : TokenSequences
        Sentences of all documents, in order. ``X`` also stores the document of each sentence.
    y : ndarray of shape (n_sentences,), dtype object
        List of tags of each sentence.
    groups : ndarray of shape (n_sentences,)
        Patient of each sentence.
    doc_ids : ndarray of shape (n_sentences,)
        Document id of each sentence.
    report : AlignmentReport
        Spans that tokens cannot express exactly.
    corpus : Corpus
        Documents of the sentences.
    tag_scheme : str
        Scheme of ``y``.

    Examples
    --------
    >>> from sklearn_deid import Corpus, Document, Span
    >>> data = Corpus([Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR", "NAME"),))]).to_sentences("bioes")
    >>> data, data.y[0], data.groups[0]
    (SentenceData(1 sentence, 4 tokens, 1 document), ['O', 'O', 'S-DOCTOR', 'O'], 'n1')
    >>> data.to_documents(data.y) == data.corpus
    True
    """

    corpus: Corpus
    tag_scheme: str
    _segmentations: list[Segmentation]
    _tags: list[list[str]]
    report: AlignmentReport

    @cached_property
    def X(self) -> TokenSequences:
        rows = TokenSequences.from_rows(row for cut in self._segmentations for row in cut.rows())
        # shape: (n_sentences,), the number of the document of each sentence
        return rows.with_documents(np.repeat(np.arange(len(self.corpus)), np.array(self._counts, dtype=np.int64)))

    @cached_property
    def y(self) -> np.ndarray:
        both = zip(self._segmentations, self._tags, strict=True)
        return object_rows(tags[first:stop] for cut, tags in both for first, stop in cut.sentences)

    @cached_property
    def groups(self) -> np.ndarray:
        return np.repeat(self.corpus.groups, self._counts)

    @cached_property
    def doc_ids(self) -> np.ndarray:
        return np.repeat(np.array([d.doc_id for d in self.corpus], dtype=object), self._counts)

    @property
    def _counts(self) -> list[int]:
        return [len(cut.sentences) for cut in self._segmentations]

    def __repr__(self) -> str:
        return f"SentenceData({_counted(sentence=len(self.X), token=len(self.X.data), document=len(self.corpus))})"

    def border_counts(self) -> BorderCounts:
        """For each label: number of sentence borders inside one gold span, and number with the label on both sides.

        Examples
        --------
        >>> from sklearn_deid import Corpus, Document, Span
        >>> note = Document("n1", "Clinic Roe\\nCity Ward", (Span(0, 20, "HOSPITAL"),))
        >>> Corpus([note]).to_sentences().border_counts()
        {'HOSPITAL': (1, 1)}
        """
        return border_counts(self.corpus, self._segmentations)

    def to_documents(
        self, tags: Iterable[Sequence[str]], confidences: Iterable[Sequence[float]] | None = None
    ) -> Corpus:
        """Convert tags, such as predicted tags, to documents with spans.

        Parameters
        ----------
        tags : sequence of n_sentences tag sequences
            Tags in the scheme of ``y``. Illegal sequences are repaired within their sentence.
        confidences : sequence of n_sentences float sequences, optional
            Probability of each tag. The confidence of a span is the smallest probability of its tokens.

        Returns
        -------
        Corpus
            Documents with the same texts, ids, order and patients. Documents without a sentence are included. The
            category of a span is the category of its label in this corpus, or None for a label without a category.

        Raises
        ------
        SequenceError
            If a row of tags or confidences differs in length from its sentence.
        """
        rows = TokenSequences.from_rows(tags, name="tags")
        self._check_rows(rows.lengths.tolist(), "tags")
        sure = None if confidences is None else self._flat(confidences)
        categories = {s.label: s.category for d in self.corpus for s in d.spans if s.category is not None}
        documents, position = [], 0
        for document, cut in zip(self.corpus, self._segmentations, strict=True):
            stop = position + len(cut.tokens.starts)
            # Sentence rows lie one after the other, so that the rows of a document are one slice of the flat tags.
            spans = tags_to_spans(
                rows.data[position:stop].tolist(),
                cut.tokens.starts,
                cut.tokens.ends,
                self.tag_scheme,
                confidences=None if sure is None else sure[position:stop],
                category_of=categories.get,
                sentences=cut.sentences,
            )
            documents.append(replace(document, spans=tuple(spans)))
            position = stop
        return Corpus(documents)

    def _check_rows(self, lengths: list[int], name: str) -> None:
        # A row that is too short would shift the tags of all later notes, so the lengths are checked row by row.
        expected = self.X.lengths.tolist()
        if len(lengths) != len(expected):
            raise SequenceError(
                f"'{name}' must have one row for each of {len(expected)} sentences. Got {len(lengths)} instead."
            )
        for row, (given, wanted) in enumerate(zip(lengths, expected, strict=True)):
            if given != wanted:
                message = f"Row {row} of '{name}' holds {given} items for a sentence of {wanted} tokens."
                raise SequenceError(message, doc_id=str(self.doc_ids[row]))

    def _flat(self, confidences: Iterable[Sequence[float]]) -> list[float]:
        listed = [list(row) for row in confidences]
        self._check_rows([len(row) for row in listed], "confidences")
        return [float(value) for row in listed for value in row]


def patient_of(document: Document) -> str:
    """Patient id of a document without blanks around; without a patient id, the document id.

    Examples
    --------
    >>> [patient_of(Document("n1", "", patient_id=patient)) for patient in ("p1 ", "NULL", "", None)]
    ['p1', 'n1', 'n1', 'n1']
    """
    return known_id(document.patient_id) or document.doc_id


def patients_of(documents: Sequence[Document]) -> list[str]:
    """`patient_of` each document. Without a patient id, a document is no note of a patient whose id it has.

    Examples
    --------
    >>> patients_of([Document("7", ""), Document("8", ""), Document("9", "", patient_id="7")])
    ['7 (note)', '8', '7']
    """
    known = [known_id(document.patient_id) for document in documents]
    patients = set(known)
    taken = patients.union(document.doc_id for document in documents)
    names = []
    for document, patient in zip(documents, known, strict=True):
        name = patient or document.doc_id
        if patient is None and name in patients:
            while name in taken:
                name += " (note)"
        names.append(name)
    return names


def _counted(**counts: int) -> str:
    return ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items())


BorderCounts = dict[str, tuple[int, int]]
"""For each label: borders of sentences inside one span, and borders between two tokens of the label."""


def border_counts(documents: Iterable[Document], cuts: Iterable[Segmentation]) -> BorderCounts:
    """Count for each label how often a span continues across the border of two sentences.

    Parameters
    ----------
    documents : iterable of Document
        Notes with gold spans.
    cuts : iterable of Segmentation
        Sentences of each note.

    Returns
    -------
    dict of str to (int, int)
        Number of sentence borders inside a span of the label, and number of sentence borders with a token of the label
        on both sides. Labels are left out if no sentence border has their tokens on both sides.

    Examples
    --------
    >>> from sklearn_deid.text import segment
    >>> note = Document("n1", "Clinic Roe\\nCity Ward", (Span(0, 20, "HOSPITAL"),))
    >>> border_counts([note], [segment(note.text)])
    {'HOSPITAL': (1, 1)}
    """
    counts: BorderCounts = {}
    for document, (tokens, sentences) in zip(documents, cuts, strict=True):
        spans = sorted(document.spans, key=lambda span: span.start)
        starts = [span.start for span in spans]
        for first, _ in sentences[1:]:
            # The last span that starts before the end of a token holds the token, or no span does. Of overlapping
            # spans, the later one holds it.
            before, after = (
                spans[place - 1] if place and spans[place - 1].end > tokens.starts[token] else None
                for token in (first - 1, first)
                for place in [bisect_left(starts, tokens.ends[token])]
            )
            if before is not None and after is not None and before.label == after.label:
                inside, both = counts.get(after.label, (0, 0))
                counts[after.label] = (inside + (before is after), both + 1)
    return counts


def joined_at_borders(
    spans: Sequence[Span],
    starts: Sequence[int],
    ends: Sequence[int],
    sentences: Sequence[tuple[int, int]],
    counts: Mapping[str, tuple[int, int]],
) -> list[Span]:
    """Join spans of a label at sentence borders, if most gold spans of the label continue across borders.

    Parameters
    ----------
    spans : sequence of Span
        Spans of a note in order, without overlaps.
    starts, ends : sequences of int, length n_tokens
        Half-open character offsets of the tokens.
    sentences : sequence of (first token, token past the last)
        Token ranges of the sentences.
    counts : mapping of str to (int, int)
        Result of `border_counts` on annotated notes.

    Returns
    -------
    list of Span
        Spans in order. The confidence of a joined span is the smallest confidence of its parts.

    Examples
    --------
    >>> parts = [Span(0, 6, "HOSPITAL"), Span(7, 11, "HOSPITAL")]
    >>> joined_at_borders(parts, [0, 7], [6, 11], [(0, 1), (1, 2)], {"HOSPITAL": (1, 1)})
    [Span(start=0, end=11, label='HOSPITAL', category=None, confidence=None)]
    """
    borders = {first for first, _ in sentences[1:]}
    joined: list[Span] = []
    for span in spans:
        inside, both = counts.get(span.label, (0, 0))
        last = joined[-1] if joined else None
        if last is not None and last.label == span.label and 2 * inside > both:
            # Number of the first token of the span, and of the token past the last span.
            first, stop = bisect_right(ends, span.start), bisect_left(starts, last.end)
            if first == stop and first in borders:
                sure = [part.confidence for part in (last, span) if part.confidence is not None]
                joined[-1] = replace(last, end=span.end, confidence=min(sure) if sure else None)
                continue
        joined.append(span)
    return joined
