"""`Corpus`: a sequence of notes, and its sentences as X, y and groups."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ..exceptions import AlignmentWarning, SequenceError
from ..sequences import TokenSequences, object_rows
from .alignment import AlignmentReport, spans_to_tags, tags_to_spans
from .documents import Document
from .segmentation import Segmentation, segment


class Corpus(Sequence[Document]):
    """An immutable sequence of documents with distinct ids.

    Indexed by a number it gives a document; by a slice, numbers or a mask, as splitters do, a Corpus that shares the
    documents. Two are joined by ``+``.

    Parameters
    ----------
    documents : iterable of Document

    Raises
    ------
    SequenceError
        If two documents have the same id; it names the first.
    TypeError
        If something else than a Document is in it.

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
        self._documents = tuple(documents)
        for document in self._documents:
            if not isinstance(document, Document):
                raise TypeError(f"A Corpus holds Document objects. Got {type(document).__name__} instead.")
        repeated = [doc_id for doc_id, n in Counter(d.doc_id for d in self._documents).items() if n > 1]
        if repeated:
            message = f"Document ids must be distinct. {len(repeated)} occur more than once; the first is named here."
            raise SequenceError(message, doc_id=repeated[0])

    @property
    def groups(self) -> np.ndarray:
        """Patient id of each document, its own id where it has none; shape (n_documents,), dtype object."""
        return np.array([patient_of(d) for d in self._documents], dtype=object)

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
        """Number of spans with each label, most frequent first."""
        return dict(Counter(span.label for d in self._documents for span in d.spans).most_common())

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    @overload
    def __getitem__(self, key: int) -> Document: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | np.ndarray) -> Corpus: ...
    def __getitem__(self, key: Any) -> Document | Corpus:
        if isinstance(key, (int, np.integer)):
            return self._documents[key]
        if isinstance(key, slice):
            return Corpus(self._documents[key])
        index = np.asarray(key)
        if index.ndim != 1:
            raise IndexError(f"An index needs one dimension. Got {index.ndim}.")
        rows = np.arange(len(self))[index if index.size else index.astype(np.intp)]  # an empty list is float64
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

    def to_sentences(self, tag_scheme: str = "iob2") -> SentenceData:
        """Cut all notes into sentences with tags.

        Parameters
        ----------
        tag_scheme : {"iob2", "bioes"}, default="iob2"

        Returns
        -------
        SentenceData
            ``.report`` lists every span that tokens cannot express, by document id and offsets.

        Warns
        -----
        AlignmentWarning
            If spans are lost or come back with other borders. Spans over a sentence border alone do not warn: all their
            tokens are tagged, and redaction hides the same text.
        """
        pieces = [segment(document.text) for document in self._documents]
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
        if report.n_lost or report.inside_token or report.trimmed or report.collisions or report.overlapping:
            warnings.warn(f"{report.summary()}. See SentenceData.report for where.", AlignmentWarning, stacklevel=2)
        return SentenceData(self, tag_scheme, pieces, tags, report)


@dataclass(frozen=True, repr=False)
class SentenceData:
    """Sentences of a corpus as scikit-learn wants them, and the way back.

    Attributes
    ----------
    X : TokenSequences
        Sentences of all documents, in order; they know their documents.
    y : ndarray of shape (n_sentences,), dtype object
        One list of tags for each sentence.
    groups : ndarray of shape (n_sentences,)
        Patient of each sentence.
    doc_ids : ndarray of shape (n_sentences,)
        Document of each sentence.
    report : AlignmentReport
        What tokens could not express.
    corpus : Corpus
        The documents.
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

    def to_documents(
        self, tags: Iterable[Sequence[str]], confidences: Iterable[Sequence[float]] | None = None
    ) -> Corpus:
        """The documents with the spans of other tags, such as predicted ones.

        Parameters
        ----------
        tags : sequence of n_sentences tag sequences
            In the scheme of ``y``; illegal sequences are repaired within their sentence.
        confidences : sequence of n_sentences float sequences, optional
            Probability of each tag; a span gets the smallest one of its tokens.

        Returns
        -------
        Corpus
            Same texts, ids, order and patients, documents without a sentence included. A span gets the category that
            its label has in the corpus, None where it has none there.

        Raises
        ------
        SequenceError
            If a row of tags or confidences does not fit its sentence.
        """
        rows = TokenSequences.from_rows(tags, name="tags")
        self._check_rows(rows.lengths.tolist(), "tags")
        sure = None if confidences is None else self._flat(confidences)
        categories = {s.label: s.category for d in self.corpus for s in d.spans if s.category is not None}
        documents, position = [], 0
        for document, cut in zip(self.corpus, self._segmentations, strict=True):
            stop = position + len(cut.tokens.starts)
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
        # A row that is too short would move the tags of all later notes.
        expected = self.X.lengths.tolist()
        if len(lengths) != len(expected):
            raise SequenceError(
                f"'{name}' must have one row for each of {len(expected)} sentences. Got {len(lengths)}."
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
    """Patient id of a document, its own id where it has none."""
    return document.doc_id if document.patient_id is None else document.patient_id


def _counted(**counts: int) -> str:
    return ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items())
