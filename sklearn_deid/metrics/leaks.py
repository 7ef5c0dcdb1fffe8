"""Missed PHI by document and patient. The lists contain ids, labels and offsets, never note text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category as character_category

from ..text import Document, LabelScheme, Span
from ..text.corpus import patients_of
from .pairing import infer_label_scheme, pair_documents

_DIRECT_CATEGORIES = ("CONTACT", "ID")


@dataclass(frozen=True)
class Leak:
    """A gold span that predicted spans do not cover completely.

    Attributes
    ----------
    doc_id, patient_id : str
        Ids of the document and of its patient. A document without a patient id counts as a separate patient.
    span : Span
        Offsets and label of the gold span.
    uncovered : int
        Number of characters that no predicted span covers; white space and punctuation do not count.
    partial : bool
        Whether predicted spans cover part of the gold span.
    direct : bool
        Whether the label of the gold span is a direct identifier.
    """

    doc_id: str
    patient_id: str
    span: Span
    uncovered: int
    partial: bool
    direct: bool

    def as_dict(self) -> dict[str, Any]:
        """Flat dict of the leak, for a file or a DataFrame."""
        return {
            "patient_id": self.patient_id,
            "doc_id": self.doc_id,
            "label": self.span.label,
            "start": self.span.start,
            "end": self.span.end,
            "uncovered": self.uncovered,
            "partial": self.partial,
            "direct": self.direct,
        }


@dataclass(frozen=True, repr=False)
class LeakList:
    """All leaks of a corpus.

    Attributes
    ----------
    leaks : tuple of Leak
        All leaks, in the order of the documents and of their spans.
    n_documents, n_patients : int
        Numbers of documents and of patients in the corpus.
    missing_documents : tuple of str
        Ids of documents without a prediction. Every span of a document without a prediction leaks.
    """

    leaks: tuple[Leak, ...]
    n_documents: int
    n_patients: int
    missing_documents: tuple[str, ...] = ()

    @property
    def by_document(self) -> dict[str, tuple[Leak, ...]]:
        """Leaks of each document with at least one leak."""
        return _grouped(self.leaks, lambda leak: leak.doc_id)

    @property
    def by_patient(self) -> dict[str, tuple[Leak, ...]]:
        """Leaks of each patient with at least one leak."""
        return _grouped(self.leaks, lambda leak: leak.patient_id)

    @property
    def by_label(self) -> dict[str, int]:
        """Number of leaks of each label, the most frequent label first."""
        return dict(Counter(leak.span.label for leak in self.leaks).most_common())

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the documents with a leak."""
        return tuple(self.by_document)

    @property
    def patients(self) -> tuple[str, ...]:
        """Ids of the patients with a leak in any of their documents."""
        return tuple(self.by_patient)

    @property
    def share_of_patients(self) -> float:
        """Proportion of patients with a leak; NaN for a corpus without patients."""
        return len(self.patients) / self.n_patients if self.n_patients else math.nan

    def records(self) -> list[dict[str, Any]]:
        """One flat dict for each leak, ready for ``pandas.DataFrame`` and ``csv.DictWriter``."""
        return [leak.as_dict() for leak in self.leaks]

    def __len__(self) -> int:
        return len(self.leaks)

    def __repr__(self) -> str:
        return (
            f"LeakList({len(self.leaks)} leaks in {len(self.documents)} of {self.n_documents} documents, "
            f"of {len(self.patients)} of {self.n_patients} patients)"
        )


def leak_list(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    label_scheme: str | LabelScheme | None = None,
    missing: str = "raise",
) -> LeakList:
    """List the gold spans that the predicted spans do not cover completely.

    The list shows the PHI that remains readable if all predicted spans are redacted. The list is stricter than the
    scores: every letter and digit of a gold span must be covered. The list ignores labels and span borders: a name that
    is tagged as a city, or as two names, counts as hidden.

    Parameters
    ----------
    gold, predicted : Corpus or sequence of Document
        Documents with the same ids and texts, in any order.
    label_scheme : str or LabelScheme, optional
        Scheme that defines the direct identifiers: its HIPAA labels and all labels of the categories ID and CONTACT
        (the official HIPAA counts leave out some labels of these categories). By default the first known scheme that
        contains all labels of the corpus. A label outside of the scheme counts as direct. Without a known scheme, every
        label counts as direct.
    missing : {"raise", "count"}, default="raise"
        Treatment of a gold document without a prediction. ``"raise"`` raises an error. ``"count"`` lists all spans of
        the document as leaks.

    Returns
    -------
    LeakList
        All leaks of the corpus.

    Raises
    ------
    DeidError
        If documents or texts do not match.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> gold = [Document("n", "Ana Mar", (Span(0, 7, "PATIENT"),), patient_id="p")]
    >>> leaks = leak_list(gold, [Document("n", "Ana Mar", (Span(0, 3, "DOCTOR"),))])
    >>> leaks.patients, leaks.share_of_patients, leaks.leaks[0].uncovered
    (('p',), 1.0, 3)
    """
    # A gold document without prediction leaks all of its spans.
    pairs, without = pair_documents(gold, predicted, missing)
    known = infer_label_scheme(label_scheme, [document for document, _ in pairs])
    patients = patients_of([document for document, _ in pairs])
    leaks = [
        leak
        for (document, other), patient in zip(pairs, patients, strict=True)
        for leak in _leaks_of(document, patient, other.spans, known)
    ]
    return LeakList(tuple(leaks), len(pairs), len(set(patients)), without)


def _leaks_of(
    document: Document, patient: str, predicted: Iterable[Span], label_scheme: LabelScheme | None
) -> Iterable[Leak]:
    # A set of characters, because predicted spans may overlap.
    covered = {i for span in predicted for i in range(span.start, span.end)}
    for span in document.spans:
        # A hyphen between two masked digits is no leak, and a missed digit beside a masked digit is a leak.
        telling = _telling(document.text, span)
        # Letters, digits and symbols reveal something. Spaces and punctuation around covered parts do not.
        left = sum(i not in covered for i in telling)
        if left:
            direct = _is_direct(span.label, label_scheme)
            yield Leak(document.doc_id, patient, span, left, left < len(telling), direct)


def _telling(text: str, span: Span) -> Sequence[int]:
    """Positions of the letters, digits and symbols of a span; all positions if the span has only punctuation."""
    places = range(span.start, span.end)
    return [i for i in places if not text[i].isspace() and character_category(text[i])[0] != "P"] or places


def _is_direct(label: str, label_scheme: LabelScheme | None) -> bool:
    # Fail closed: an unknown label counts as a direct identifier.
    if label_scheme is None or label_scheme.category(label) is None:
        return True
    return label_scheme.is_hipaa(label) or label_scheme.category(label) in _DIRECT_CATEGORIES


def _grouped(leaks: Iterable[Leak], key: Callable[[Leak], str]) -> dict[str, tuple[Leak, ...]]:
    groups: dict[str, list[Leak]] = {}
    for leak in leaks:
        groups.setdefault(key(leak), []).append(leak)
    return {name: tuple(group) for name, group in groups.items()}
