"""What was missed, by document and patient: ids, labels and offsets, never text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category as character_category

from ..text import Document, LabelScheme, Span, patient_of
from .pairing import infer_label_scheme, pair_documents

_DIRECT_CATEGORIES = ("CONTACT", "ID")


@dataclass(frozen=True)
class Leak:
    """A gold span that predicted spans do not cover.

    Attributes
    ----------
    doc_id, patient_id : str
        The document, and its patient (the document's own id where it names none).
    span : Span
        The gold span: offsets and label.
    uncovered : int
        Characters that no predicted span covers; white space and punctuation do not count.
    partial : bool
        Whether predicted spans cover some of it.
    direct : bool
        Whether its label is a direct identifier.
    """

    doc_id: str
    patient_id: str
    span: Span
    uncovered: int
    partial: bool
    direct: bool

    def as_dict(self) -> dict[str, Any]:
        """A flat record, for a file or a DataFrame."""
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
        In the order of the documents and of their spans.
    n_documents, n_patients : int
        Sizes of the corpus.
    missing_documents : tuple of str
        Documents without a prediction, of which every span leaks.
    """

    leaks: tuple[Leak, ...]
    n_documents: int
    n_patients: int
    missing_documents: tuple[str, ...] = ()

    @property
    def by_document(self) -> dict[str, tuple[Leak, ...]]:
        """Leaks of each document that has any."""
        return _grouped(self.leaks, lambda leak: leak.doc_id)

    @property
    def by_patient(self) -> dict[str, tuple[Leak, ...]]:
        """Leaks of each patient who has any."""
        return _grouped(self.leaks, lambda leak: leak.patient_id)

    @property
    def by_label(self) -> dict[str, int]:
        """Number of leaks with each label, most frequent first."""
        return dict(Counter(leak.span.label for leak in self.leaks).most_common())

    @property
    def documents(self) -> tuple[str, ...]:
        """Documents with a leak."""
        return tuple(self.by_document)

    @property
    def patients(self) -> tuple[str, ...]:
        """Patients with a leak in any of their documents."""
        return tuple(self.by_patient)

    @property
    def patients_with_direct_identifier(self) -> tuple[str, ...]:
        """Patients of whom a direct identifier leaks."""
        return tuple(dict.fromkeys(leak.patient_id for leak in self.leaks if leak.direct))

    @property
    def share_of_patients(self) -> float:
        """Share of the patients with a leak; 0 without patients."""
        return len(self.patients) / self.n_patients if self.n_patients else 0.0

    def records(self) -> list[dict[str, Any]]:
        """One flat dict for each leak, as ``pandas.DataFrame`` and ``csv.DictWriter`` take them."""
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
    """Gold spans that predicted spans, of whatever label, do not cover wholly.

    What would be readable if everything predicted were redacted. Stricter about hiding than the scores are, and blind
    to types and borders: a name tagged as a city, or as two names, is hidden.

    Parameters
    ----------
    gold, predicted : Corpus or sequence of Document
        Documents with the same ids and texts, in whatever order.
    label_scheme : str or LabelScheme, optional
        Says which labels are direct identifiers: its HIPAA labels and everything of the categories ID and CONTACT
        (the official HIPAA counts leave some of these out). By default the known scheme that has all labels; a label
        that the scheme does not know, and every label where none is known, counts as direct.
    missing : {"raise", "count"}, default="raise"
        Whether a gold document without a prediction is an error or leaks everything.

    Returns
    -------
    LeakList

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
    pairs, without = pair_documents(gold, predicted, missing)
    known = infer_label_scheme(label_scheme, [document for document, _ in pairs])
    leaks = [leak for document, other in pairs for leak in _leaks_of(document, other.spans, known)]
    patients = {patient_of(document) for document, _ in pairs}
    return LeakList(tuple(leaks), len(pairs), len(patients), without)


def _leaks_of(document: Document, predicted: Iterable[Span], label_scheme: LabelScheme | None) -> Iterable[Leak]:
    covered = {i for span in predicted for i in range(span.start, span.end)}
    for span in document.spans:
        telling = _telling(document.text, span)
        left = sum(i not in covered for i in telling)
        if left:
            direct = _is_direct(span.label, label_scheme)
            yield Leak(document.doc_id, patient_of(document), span, left, left < len(telling), direct)


def _telling(text: str, span: Span) -> Sequence[int]:
    """Where the characters of a span stand that tell something; all, where there is nothing but punctuation."""
    places = range(span.start, span.end)
    return [i for i in places if not text[i].isspace() and character_category(text[i])[0] != "P"] or places


def _is_direct(label: str, label_scheme: LabelScheme | None) -> bool:
    if label_scheme is None or label_scheme.category(label) is None:
        return True
    return label_scheme.is_hipaa(label) or label_scheme.category(label) in _DIRECT_CATEGORIES


def _grouped(leaks: Iterable[Leak], key: Callable[[Leak], str]) -> dict[str, tuple[Leak, ...]]:
    groups: dict[str, list[Leak]] = {}
    for leak in leaks:
        groups.setdefault(key(leak), []).append(leak)
    return {name: tuple(group) for name, group in groups.items()}
