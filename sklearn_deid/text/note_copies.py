"""Notes with the same text, which belong to one patient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .corpus import patients_of
from .documents import Document
from .patient_ids import known_id


def without_blanks(text: str) -> str:
    """Text without white space, in which copies of a note may differ: many formats and editors change line ends.

    Examples
    --------
    >>> without_blanks("Seen today.\\r\\n") == without_blanks("Seen today.")
    True
    """
    return "".join(text.split())


def copies_together(documents: Sequence[Document]) -> list[Document]:
    """Documents in the same order, in which a note without a patient id has the patient of the notes with its text.

    Exports hold notes twice. If both copies counted as patients, the words of one note would count as words of several
    patients, and a note would be held out for a score of a model that was trained on its copy.

    Parameters
    ----------
    documents : sequence of Document
        Documents with distinct ids. Patient ids that are given stay. Notes without any word never count as copies.

    Returns
    -------
    list of Document
        If no text is repeated, the given documents.

    Examples
    --------
    >>> notes = [Document("a", "Seen."), Document("b", "Seen.\\n"), Document("c", "Well."), Document("d", "")]
    >>> [note.patient_id for note in copies_together(notes)]
    ['a', 'a', None, None]
    """
    texts = [without_blanks(document.text) for document in documents]
    names = patients_of(documents)
    known = [known_id(document.patient_id) is not None for document in documents]
    owners: dict[str, str] = {}
    repeated: set[str] = set()
    # Stable: of several patients with the text, the first one. Known patients come before notes without a patient.
    for place in sorted(range(len(documents)), key=lambda place: not known[place]):
        text = texts[place]
        repeated |= {text} if text and text in owners else set()
        owners.setdefault(text, names[place])
    return [
        replace(document, patient_id=owners[text]) if text in repeated and not given else document
        for document, text, given in zip(documents, texts, known, strict=True)
    ]
