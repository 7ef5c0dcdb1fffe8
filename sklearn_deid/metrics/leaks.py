"""What was missed, by document and patient: ids, labels and offsets, never text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..text import Document, LabelScheme, Span, patient_of
from .pairing import infer_label_scheme, pair_documents

__all__ = ["Leak", "LeakList", "leak_list"]


@dataclass(frozen=True)
class Leak:
    """A gold span of which characters were left uncovered."""

    doc_id: str
    patient_id: str
    span: Span
    uncovered: int
    """Characters (white space apart) that no predicted span covers."""
    hipaa: bool


@dataclass(frozen=True)
class LeakList:
    """All leaks of a corpus.

    Attributes
    ----------
    leaks : tuple of Leak
    n_documents, n_patients, n_sentences : int
        Sizes of the corpus; ``n_sentences`` is None where it is not known.
    """

    leaks: tuple[Leak, ...]
    n_documents: int
    n_patients: int
    n_sentences: int | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """Documents with a leak."""
        return tuple(dict.fromkeys(leak.doc_id for leak in self.leaks))

    @property
    def patients(self) -> tuple[str, ...]:
        """Patients with a leak in any of their documents."""
        return tuple(dict.fromkeys(leak.patient_id for leak in self.leaks))

    @property
    def patients_with_direct_identifier(self) -> tuple[str, ...]:
        """Patients with a leak that the label scheme counts as HIPAA identifier."""
        return tuple(dict.fromkeys(leak.patient_id for leak in self.leaks if leak.hipaa))

    @property
    def share_of_patients(self) -> float:
        """Share of the patients with a leak."""
        return len(self.patients) / self.n_patients if self.n_patients else 0.0

    @property
    def per_sentence(self) -> float | None:
        """Leaks per sentence (MEDDOCAN's leak score counts missed spans); None without sentence counts."""
        return len(self.leaks) / self.n_sentences if self.n_sentences else None


def leak_list(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    scheme: str | LabelScheme | None = None,
    missing: str = "raise",
    n_sentences: int | None = None,
) -> LeakList:
    """Gold spans that predicted spans, of whatever label, do not cover wholly.

    Parameters
    ----------
    gold, predicted : Corpus or sequence of Document
    scheme : str or LabelScheme, optional
        Says which labels are direct identifiers; where none is known all are.
    missing : {"raise", "count"}, default="raise"
        Whether a gold document without prediction is an error or leaks everything.
    n_sentences : int, optional
        Sentences of the corpus, for ``per_sentence``.

    Returns
    -------
    LeakList

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> gold = [Document("n", "Ana Mar", (Span(0, 7, "PATIENT"),), patient_id="p")]
    >>> leaks = leak_list(gold, [Document("n", "Ana Mar", (Span(0, 3, "DOCTOR"),))])
    >>> leaks.patients, leaks.leaks[0].uncovered
    (('p',), 3)
    """
    pairs = pair_documents(gold, predicted, missing)
    known = infer_label_scheme(scheme, [d for d, _ in pairs])
    leaks = []
    for document, other in pairs:
        covered = {i for span in other.spans for i in range(span.start, span.end)}
        for span in document.spans:
            left = sum(i not in covered and not document.text[i].isspace() for i in range(span.start, span.end))
            if left:
                direct = known is None or known.is_hipaa(span.label)
                leaks.append(Leak(document.doc_id, patient_of(document), span, left, direct))
    patients = {patient_of(d) for d, _ in pairs}
    return LeakList(tuple(leaks), len(pairs), len(patients), n_sentences)
