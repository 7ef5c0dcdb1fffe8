"""Batches of notes that are tagged together. With ``unit="patient"``, all notes of a patient are in one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..text import Document, known_id

# Notes of a batch for each note of ``size``: the words of a patient with more notes are remembered in parts.
_MOST = 10


class NoteBatch(NamedTuple):
    """Texts that are tagged together, and their patient numbers, or None if each text is tagged without the other
    texts.

    With numbers, the ids of patients are not passed to other processes.
    """

    texts: list[Any]
    patients: list[int] | None

    @classmethod
    def of(cls, notes: list[Any], unit: str) -> NoteBatch:
        """Batch of notes of any kind. An item that is not a Document is tagged unchanged and belongs to no patient.

        Only consecutive notes of a patient have the same number. Otherwise, the spans of a note would depend on the
        other notes of the batch.

        Examples
        --------
        >>> notes = [Document("a", "x", patient_id="p"), Document("b", "y", patient_id="p"), "z"]
        >>> NoteBatch.of(notes, "patient")
        NoteBatch(texts=['x', 'y', 'z'], patients=[1, 1, 2])
        """
        texts = [note.text if isinstance(note, Document) else note for note in notes]
        if unit == "note":
            return cls(texts, None)
        known = [None, *map(_patient, notes)]
        begins = [after is None or after != before for before, after in zip(known, known[1:], strict=False)]
        return cls(texts, np.cumsum(begins).tolist())


def note_batches(notes: Iterable[Any], size: int, unit: str) -> Iterator[list[Any]]:
    """Yield lists of notes in their order.

    Parameters
    ----------
    notes : iterable of str or Document
        Notes. Items of other kinds are returned unchanged.
    size : int
        Number of notes of a batch.
    unit : {"note", "patient"}
        With "patient", a batch ends only after the last note of a patient, or after ten times ``size`` notes of this
        patient.

    Examples
    --------
    >>> notes = [Document(str(i), "", patient_id=p) for i, p in enumerate("aabbbc")]
    >>> [len(batch) for batch in note_batches(notes, 3, "note")], [len(b) for b in note_batches(notes, 3, "patient")]
    ([3, 3], [5, 1])
    """
    stream = iter(notes)
    if unit == "note":
        while batch := list(islice(stream, size)):
            yield batch
        return
    batch = []
    n_own = 0  # notes of the patient in the batch: the notes of other patients must not decide where it is divided
    for note in stream:
        patient = _patient(note)
        is_same = bool(batch) and patient is not None and patient == _patient(batch[-1])
        if n_own >= _MOST * size if is_same else len(batch) >= size:
            yield batch
            batch, is_same = [], False
        batch.append(note)
        n_own = n_own + 1 if is_same else 1
    if batch:
        yield batch


def _patient(note: Any) -> str | None:
    return known_id(note.patient_id) if isinstance(note, Document) else None
